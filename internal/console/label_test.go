package console

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/console/accountview"
	"landfall/internal/service/operate"
)

// pageLabels is how pages write the constants of a type of the domain. No page shows the
// types with nil.
var pageLabels = map[string]func(string) string{
	"DeliveryState": stateWord, "MailState": stateWord, "ProcessState": stateWord, "RunState": stateWord, "SupplierStatus": stateWord,
	"TargetDeliveryState": stateWord, "TargetState": stateWord, "WebhookState": stateWord, "Severity": stateWord,
	"IdentifierKind": codeWord, "MailKind": codeWord, "OperatorRole": codeWord, "PostingKind": codeWord, "Role": codeWord,
	"TargetDeliveryKind": codeWord, "TransactionType": codeWord,
	"EventType":     accountview.ActionSentence,
	"MeasureKind":   func(code string) string { return measureLabel(landfall.Measure{Kind: landfall.MeasureKind(code)}) },
	"PauseReason":   func(code string) string { return pauseReasons[landfall.PauseReason(code)] },
	"Reason":        func(code string) string { return reasonLabels[landfall.Reason(code)] },
	"RunSelection":  func(code string) string { return selectionLabel(code) },
	"TermKind":      func(code string) string { return landfall.TermKind(code).Label() },
	"AccountStatus": nil, "AmountUnit": nil, "EntryKind": nil, "TokenUse": nil,
}

func stateWord(code string) string { return stateLabel(code) }
func codeWord(code string) string  { return codeLabel(code) }

// goodLabel reports whether a label is words and not a code.
func goodLabel(label string) bool {
	return label != "" && !strings.ContainsAny(label, "_.") && label != strings.ToUpper(label)
}

// parseFolder reads the Go files of a folder and those below it, without tests.
func parseFolder(t *testing.T, root string, below bool) (files []*ast.File) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && path != root && !below {
			return filepath.SkipDir
		}
		if entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		files = append(files, file)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestEveryCodeHasALabel finds the constants of the domain in its source, so that a new
// one fails here until pages have words for it.
func TestEveryCodeHasALabel(t *testing.T) {
	seen := 0
	for _, file := range parseFolder(t, "../..", false) {
		ast.Inspect(file, func(node ast.Node) bool {
			constant, is := node.(*ast.ValueSpec)
			if !is || len(constant.Values) != 1 {
				return true
			}
			kind, named := constant.Type.(*ast.Ident)
			value, text := constant.Values[0].(*ast.BasicLit)
			if !named || !text || value.Kind != token.STRING || !ast.IsExported(kind.Name) {
				return true
			}
			code, err := strconv.Unquote(value.Value)
			label, known := pageLabels[kind.Name]
			switch {
			case err != nil:
				t.Error(err)
			case !known:
				t.Errorf("do pages show the type %s of %s?", kind.Name, constant.Names[0])
			case label != nil && code != "" && !goodLabel(label(code)):
				t.Errorf("%s, %q, has the label %q", constant.Names[0], code, label(code))
			}
			seen++
			return true
		})
	}
	if seen < 80 {
		t.Errorf("only %d constants were found", seen)
	}
	codes := append([]string{}, landfall.InstructionTypes...)
	for _, one := range contract.Codes() { // of responses, violations and rules
		codes = append(codes, one.Code)
	}
	for _, code := range codes {
		if !goodLabel(codeLabel(code)) {
			t.Errorf("the code %s has the label %q", code, codeLabel(code))
		}
	}
	if label := codeLabel("SUPPLY_CHARGE"); label != "Supply charge" {
		t.Errorf("got %q", label)
	}
	for _, fact := range operate.CallerFacts {
		if fact.Label() == "" {
			t.Errorf("%s has no label", fact)
		}
	}
}

// auditedAction is an action of the audit, such as key.create.
var auditedAction = regexp.MustCompile(`^[a-z_]+\.[a-z_]+$`)

// writesAudit matches the functions that get an action of the audit.
var writesAudit = regexp.MustCompile(`^(change|alter|entry$|Add$|Audit$|.*Audit)`)

// TestEveryActionHasALabel finds the actions of the audit in the source of what writes
// them: the action of an entry, and what is passed to functions that make one.
func TestEveryActionHasALabel(t *testing.T) {
	actions := map[string]bool{}
	collect := func(node ast.Node) {
		ast.Inspect(node, func(node ast.Node) bool {
			if text, is := node.(*ast.BasicLit); is && text.Kind == token.STRING {
				if code, err := strconv.Unquote(text.Value); err == nil && auditedAction.MatchString(code) {
					actions[code] = true
				}
			}
			return true
		})
	}
	for _, file := range append(parseFolder(t, "../service", true), append(parseFolder(t, "../store/sqlstore", true), parseFolder(t, "../outbound", true)...)...) {
		ast.Inspect(file, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.KeyValueExpr:
				if name, is := node.Key.(*ast.Ident); is && strings.EqualFold(name.Name, "action") {
					collect(node.Value)
				}
			case *ast.ValueSpec:
				for _, name := range node.Names {
					if strings.HasSuffix(name.Name, "Action") {
						collect(node)
					}
				}
			case *ast.CallExpr:
				name := ""
				switch called := node.Fun.(type) {
				case *ast.SelectorExpr:
					name = called.Sel.Name
				case *ast.Ident:
					name = called.Name
				}
				if writesAudit.MatchString(name) {
					for _, argument := range node.Args {
						if text, is := argument.(*ast.BasicLit); is {
							collect(text)
						}
					}
				}
			case *ast.CompositeLit:
				if kind, is := node.Type.(*ast.Ident); is && strings.HasSuffix(kind.Name, "Decision") {
					collect(node)
				}
			}
			return true
		})
	}
	if len(actions) < 50 {
		t.Errorf("only %d actions were found", len(actions))
	}
	for code := range actions {
		if !goodLabel(accountview.ActionSentence(code)) {
			t.Errorf("the action %s has no label", code)
		}
	}
}
