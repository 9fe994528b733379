package console

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/service/operate"
)

// unwantedWords are expressions that people did not understand, in lower case.
var unwantedWords = []string{
	"so manieth", "in 95 of 100 cases", "taken by others", "what was asked for", "somebody paused", "the run pauses as soon as", "the shortest repair",
	"with nothing else wrong", "are only asked once", "has not said what it has", "keep the settings", "whose today counts", "let somebody in", "shut out",
	"grant it one, or", ">rounds<", "given up", "it answered", "this filter lets through", "without tls only", "is collected by itself", ">done {{",
}

// commandLine matches command lines of landfall, and files and folders of its source.
var commandLine = regexp.MustCompile(`landfall (account|audit|backup|config|doctor|health|key|operator|organisation|purge|recount|rekey|restore|run|schema|supplier|target|team|vendor|verify|webhook) |--[a-z]+-[a-z]+|\bdocs/|[a-z_]+\.(md|go|sql)\b`)

// TestPagesUseWordsOfSupport reads all texts that a page can contain: the views, and the
// texts in the code of the console.
func TestPagesUseWordsOfSupport(t *testing.T) {
	check := func(file, text string) {
		lower := strings.ToLower(text)
		for _, words := range unwantedWords {
			if strings.Contains(lower, words) {
				t.Errorf("%s says %q", file, words)
			}
		}
	}
	views, err := filepath.Glob("views/*.html")
	if err != nil || len(views) < 10 {
		t.Fatal(views, err)
	}
	hidden := regexp.MustCompile(`(?s)\{\{/\*.*?\*/\}\}|href="[^"]*"`) // comments and addresses
	for _, file := range views {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		shown := hidden.ReplaceAllString(string(text), "")
		check(file, shown)
		if found := commandLine.FindString(shown); found != "" {
			t.Errorf("%s has a command line or a file: %q", file, found)
		}
	}
	for _, folder := range []string{".", "accountview"} {
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(tree, func(node ast.Node) bool {
				if text, is := node.(*ast.BasicLit); is && text.Kind == token.STRING {
					check(file, text.Value)
				}
				return true
			})
		}
	}
}

// TestEveryCodeHasALabel walks every enumeration that a page shows.
func TestEveryCodeHasALabel(t *testing.T) {
	var codes []string
	for _, one := range contract.Codes() { // of responses, violations and rules
		codes = append(codes, one.Code)
	}
	for _, state := range landfall.TargetDeliveryStates {
		codes = append(codes, string(state))
	}
	for _, role := range landfall.OperatorRoles {
		codes = append(codes, string(role))
	}
	for _, code := range append(codes, "SUPPLY_CHARGE", "DIRECT_DEBIT", "ELECTRICITY") {
		label := codeLabel(code)
		if label == "" || strings.ContainsAny(label, "_") || strings.ToUpper(label[:1]) != label[:1] || label == strings.ToUpper(label) {
			t.Errorf("the code %s has the label %q", code, label)
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
	for _, kind := range []landfall.TermKind{
		landfall.TermName, landfall.TermEmail, landfall.TermPhone, landfall.TermPostcode, landfall.TermAddress, landfall.TermSupplyPoint, landfall.TermNumber,
		landfall.ByExternalNumber, landfall.ByAccountNumber,
	} {
		if kind.Label() == "" {
			t.Errorf("%s has no label", kind)
		}
	}
}
