package contract

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"landfall/internal/api/pack"
)

// sources parses every Go file of the program, except tests and packages that
// invent codes for tests.
func sources(t *testing.T) map[string]*ast.File {
	t.Helper()
	// The last three have their own codes, which the service never returns.
	skipped := []string{"testdata", "tools", "storetest", "client", "check", "report"}
	files := make(map[string]*ast.File)
	set := token.NewFileSet()
	err := filepath.WalkDir("../../..", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (slices.Contains(skipped, entry.Name()) || strings.HasPrefix(entry.Name(), ".") && len(entry.Name()) > 2) {
			return filepath.SkipDir
		}
		if strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			files[name] = file
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// declaredCodes returns the code constants of the program, by name.
func declaredCodes(files map[string]*ast.File) map[string]string {
	declared := make(map[string]string)
	for _, file := range files {
		for _, declaration := range file.Decls {
			block, is := declaration.(*ast.GenDecl)
			if !is || block.Tok != token.CONST {
				continue
			}
			for _, spec := range block.Specs {
				constant := spec.(*ast.ValueSpec)
				for i, name := range constant.Names {
					if !regexp.MustCompile(`^Code[A-Z]`).MatchString(name.Name) || i >= len(constant.Values) {
						continue
					}
					if literal, is := constant.Values[i].(*ast.BasicLit); is && literal.Kind == token.STRING {
						declared[name.Name], _ = strconv.Unquote(literal.Value)
					}
				}
			}
		}
	}
	return declared
}

// writtenCodes returns the codes that are written as literals in violations and
// errors, without a constant.
func writtenCodes(files map[string]*ast.File) []string {
	var written []string
	for _, file := range files {
		ast.Inspect(file, func(node ast.Node) bool {
			pair, is := node.(*ast.KeyValueExpr)
			if !is {
				return true
			}
			name, isName := pair.Key.(*ast.Ident)
			literal, isLiteral := pair.Value.(*ast.BasicLit)
			if isName && isLiteral && name.Name == "Code" {
				if code, _ := strconv.Unquote(literal.Value); regexp.MustCompile(`^[a-z_]+$`).MatchString(code) {
					written = append(written, code)
				}
			}
			return true
		})
	}
	return written
}

// TestCatalogueIsComplete compares the catalogue with the code constants of the
// whole tree, in both directions.
func TestCatalogueIsComplete(t *testing.T) {
	listed := make(map[string]bool)
	for _, entry := range Codes() {
		if listed[entry.Code] {
			t.Errorf("%s is listed twice", entry.Code)
		}
		listed[entry.Code] = true
		if entry.Meaning == "" || entry.Where == "" || len(entry.Status) == 0 || entry.Severity == "" {
			t.Errorf("%s is not explained", entry.Code)
		}
	}
	files := sources(t)
	declared := declaredCodes(files)
	if len(declared) < 80 {
		t.Fatalf("only %d code constants found: the scan is broken", len(declared))
	}
	known := make(map[string]bool)
	for name, code := range declared {
		known[code] = true
		if !listed[code] {
			t.Errorf("%s (%s) is not in the catalogue", name, code)
		}
	}
	for _, code := range writtenCodes(files) {
		known[code] = true
		if !listed[code] {
			t.Errorf("%s is not in the catalogue", code)
		}
	}
	for code := range listed {
		if !known[code] {
			t.Errorf("%s is in the catalogue but nowhere in the program", code)
		}
	}
}

// TestRulesAreUsed looks for a check behind every rule and format code.
func TestRulesAreUsed(t *testing.T) {
	used := make(map[string]bool)
	for name, file := range sources(t) {
		base := filepath.Base(name)
		if !strings.Contains(name, "internal/api/contract/") || base == "rulebook.go" || base == "catalogue.go" {
			continue
		}
		ast.Inspect(file, func(node ast.Node) bool {
			if identifier, is := node.(*ast.Ident); is {
				used[identifier.Name] = true
			}
			return true
		})
	}
	byCode := make(map[string]string)
	for name, code := range declaredCodes(sources(t)) {
		byCode[code] = name
	}
	for _, rule := range RuleBook() {
		if !used[byCode[rule.Code]] {
			t.Errorf("nothing checks %s", rule.Code)
		}
	}
}

// TestFieldsExist looks up every field name that the code requests from a node. A
// name that no table declares would always read as absent.
func TestFieldsExist(t *testing.T) {
	declared := make(map[string]bool)
	for _, table := range requestTables {
		for _, each := range reachable(table) {
			for _, field := range each.Fields {
				declared[field.Name] = true
				if field.Doc == "" || !strings.HasSuffix(field.Doc, ".") {
					t.Errorf("%s.%s has no sentence of documentation", each.Name, field.Name)
				}
			}
		}
	}
	for _, name := range pack.BuiltinNames() {
		schema, err := OpenSchema([]string{name}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, each := range reachable(schema.account) {
			for _, field := range each.Fields {
				declared[field.Name] = true
			}
		}
	}
	asked := 0
	for name, file := range sources(t) {
		if !strings.Contains(name, "internal/api/contract/") {
			continue
		}
		ast.Inspect(file, func(node ast.Node) bool {
			call, is := node.(*ast.CallExpr)
			if !is {
				return true
			}
			selector, is := call.Fun.(*ast.SelectorExpr)
			if !is || selector.Sel.Name != "Field" || len(call.Args) != 1 {
				return true
			}
			if literal, is := call.Args[0].(*ast.BasicLit); is {
				asked++
				if field, _ := strconv.Unquote(literal.Value); !declared[field] {
					t.Errorf("%s asks for %s, which no table declares", name, field)
				}
			}
			return true
		})
	}
	if asked < 80 {
		t.Fatalf("only %d questions found: the scan is broken", asked)
	}
	for _, names := range []addressNames{billingAddressNames, supplyAddressNames} {
		for _, name := range append(names.lines[:], names.postcode, names.structured) {
			if !declared[name] {
				t.Errorf("no table declares %s", name)
			}
		}
	}
}

func TestRuleBookJSON(t *testing.T) {
	var book struct {
		Rules []struct {
			Severity string `json:"severity"`
		} `json:"rules"`
		Codes []struct {
			Code   string `json:"code"`
			Status []int  `json:"status"`
		} `json:"codes"`
	}
	if err := json.Unmarshal(RuleBookJSON(), &book); err != nil {
		t.Fatal(err)
	}
	if len(book.Rules) != len(RuleBook()) || len(book.Codes) != len(Codes()) || book.Rules[0].Severity != "error" {
		t.Errorf("%d rules, %d codes", len(book.Rules), len(book.Codes))
	}
}
