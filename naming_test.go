package landfall_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// A local that shadows a package-level name makes a reader look up the wrong
// declaration, and a line that is moved out of its function silently changes
// its meaning.
func TestLocalsShadowNoPackageLevelName(t *testing.T) {
	files := parseTree(t)
	declared := map[string]map[string]bool{}
	for _, file := range files {
		key := shadowScope(file, file.test)
		if declared[key] == nil {
			declared[key] = map[string]bool{}
		}
		for _, name := range packageLevelNames(file.ast) {
			declared[key][name] = true
		}
	}
	for _, file := range files {
		if file.generated {
			continue
		}
		for _, local := range localNames(file.ast) {
			shadows := declared[shadowScope(file, false)][local.Name] || file.test && declared[shadowScope(file, true)][local.Name]
			if !shadows {
				continue
			}
			t.Errorf("%s: local %s shadows the package-level name %s", file.name, local.Name, local.Name)
		}
	}
}

// shadowScope identifies a set of package-level names: those of a package
// itself or those that its tests add.
func shadowScope(file sourceFile, test bool) string {
	return fmt.Sprint(file.pkg, " ", file.ast.Name.Name, " ", test)
}

// packageLevelNames returns the names that a file declares outside functions.
func packageLevelNames(file *ast.File) []string {
	var names []string
	for _, declaration := range file.Decls {
		switch declaration := declaration.(type) {
		case *ast.FuncDecl:
			if declaration.Recv == nil && declaration.Name.Name != "init" {
				names = append(names, declaration.Name.Name)
			}
		case *ast.GenDecl:
			for _, identifier := range declaredBy(declaration) {
				names = append(names, identifier.Name)
			}
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "_" })
}

// declaredBy returns the names of a var, const or type declaration.
func declaredBy(declaration *ast.GenDecl) []*ast.Ident {
	var names []*ast.Ident
	for _, spec := range declaration.Specs {
		switch spec := spec.(type) {
		case *ast.ValueSpec:
			names = append(names, spec.Names...)
		case *ast.TypeSpec:
			names = append(names, spec.Name)
		}
	}
	return names
}

// localNames returns every name that the functions of a file declare:
// receivers, parameters, results, variables, constants and types.
func localNames(file *ast.File) []*ast.Ident {
	var names []*ast.Ident
	fields := func(list *ast.FieldList) {
		if list != nil {
			for _, field := range list.List {
				names = append(names, field.Names...)
			}
		}
	}
	signature := func(function *ast.FuncType) {
		fields(function.TypeParams)
		fields(function.Params)
		fields(function.Results)
	}
	expressions := func(list ...ast.Expr) {
		for _, expression := range list {
			if name, ok := expression.(*ast.Ident); ok {
				names = append(names, name)
			}
		}
	}
	inspect := func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.FuncLit:
			signature(node.Type)
		case *ast.AssignStmt:
			if node.Tok == token.DEFINE {
				expressions(node.Lhs...)
			}
		case *ast.RangeStmt:
			if node.Tok == token.DEFINE {
				expressions(node.Key, node.Value)
			}
		case *ast.GenDecl:
			names = append(names, declaredBy(node)...)
		}
		return true
	}
	for _, declaration := range file.Decls {
		switch declaration := declaration.(type) {
		case *ast.FuncDecl:
			if declaration.Body != nil {
				fields(declaration.Recv)
				signature(declaration.Type)
				ast.Inspect(declaration.Body, inspect)
			}
		case *ast.GenDecl: // function literals in package-level variables
			for _, spec := range declaration.Specs {
				if values, ok := spec.(*ast.ValueSpec); ok {
					for _, value := range values.Values {
						ast.Inspect(value, inspect)
					}
				}
			}
		}
	}
	return names
}

// metaphors are words that named something only its author recognised. The
// comment gives the word that the field already has.
var metaphors = []string{
	"tide", "crew", "bell", // log watcher, worker pool, wake
	"joint", "wish", "pile", "shelf", "stint", // batch, set query, row buffer, sealed scan, time slice
	"desk", "clerk", "scribe", "notary", "conductor", // service, indexer, JSON handler, audit chainer, runner
	"reception", "guest", "doorman", "brake", // sessions, session, session check, login limiter
	"door", "turnstile", "yard", "gatekeeper", // listener, admission
	"portrait", "furniture", "purse", // account view, page layout, budget
	"letter", "mailroom", "courier", // mail
	"safe", "vault", "seam", // sealer
	"landlord", "floor", "house", // owner, layer, tree
	"stranger", "newcomer", "friend", "company", "lonely", "courtesy", // new rows, interactive load, idle, yield
	"hindrance", "restless", "heed", "tend", // stop reason, needs advance, apply stop, advance
	"planted", "takeback", "outward", "memo", // injected, undo, outbound, cache
	"leash", "guardian", "mood", "errand", // pipe, supervisor, behaviour, task
}

// plainUses are names in which one of the words has its ordinary meaning.
var plainUses = []string{
	"letter", "letters", "letterExcept", "idLetters", "PlainLetters", "inwardLetter", // of the alphabet
	"outward", "outwardForm", // the first half of a British postcode
	"CompanyNumber",
	"TestTableIsSafeInASpreadsheet",
}

// Names of files, packages and everything declared use words that a reader
// already knows.
func TestNamesArePlainWords(t *testing.T) {
	note := func(file sourceFile, name string) {
		if slices.Contains(plainUses, name) {
			return
		}
		for _, word := range wordsOf(name) {
			if singular := strings.TrimSuffix(word, "s"); slices.Contains(metaphors, singular) {
				word = singular
			}
			if slices.Contains(metaphors, word) {
				t.Errorf("%s: %s: use a plain word instead of %q", file.name, name, word)
			}
		}
	}
	for _, file := range parseTree(t) {
		if file.name == "naming_test.go" {
			continue
		}
		note(file, strings.TrimSuffix(file.name, ".go"))
		for _, name := range declaredNames(file.ast) {
			note(file, name)
		}
	}
}

// declaredNames returns every name that a file declares, methods, fields and
// locals included.
func declaredNames(file *ast.File) []string {
	names := packageLevelNames(file)
	for _, local := range localNames(file) {
		names = append(names, local.Name)
	}
	ast.Inspect(file, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.FuncDecl:
			names = append(names, node.Name.Name)
		case *ast.Field:
			for _, name := range node.Names {
				names = append(names, name.Name)
			}
		}
		return true
	})
	return names
}

// wordsOf splits a name such as "newSQLStore" or "schema/step_two" into its
// words in lower case.
func wordsOf(name string) []string {
	var words []string
	for _, part := range strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) }) {
		start := 0
		for i, r := range part {
			next, _ := utf8.DecodeRuneInString(part[i+utf8.RuneLen(r):])
			before, _ := utf8.DecodeLastRuneInString(part[:i])
			if i > start && unicode.IsUpper(r) && (unicode.IsLower(before) || unicode.IsLower(next)) {
				words = append(words, strings.ToLower(part[start:i]))
				start = i
			}
		}
		words = append(words, strings.ToLower(part[start:]))
	}
	return words
}

// Templates are reviewed in side-by-side diffs, which cut longer lines off.
func TestTemplateLinesAreShort(t *testing.T) {
	templates, err := filepath.Glob("internal/*/*/*.html")
	if err != nil || len(templates) < 10 {
		t.Fatalf("only %d templates found: %v", len(templates), err)
	}
	for _, name := range templates {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		long := 0
		for line := range strings.Lines(string(text)) {
			if utf8.RuneCountInString(strings.TrimRight(line, "\n")) >= 160 {
				long++
			}
		}
		switch listed := slices.Contains(longTemplates, path.Base(name)); {
		case long > 0 && !listed:
			t.Errorf("%s: %d lines have 160 characters or more", name, long)
		case long == 0 && listed:
			t.Errorf("%s has no long lines any more: remove it from longTemplates in naming_test.go", name)
		}
	}
}

// longTemplates lists templates that still have lines of 160 characters or
// more. Remove a template once it is clean; add none.
var longTemplates = []string{}
