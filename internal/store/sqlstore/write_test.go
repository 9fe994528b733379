package sqlstore_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strings"
	"testing"
)

// queryMethods lists the methods of database/sql that run SQL.
var queryMethods = map[string]bool{
	"Exec": true, "ExecContext": true, "Query": true, "QueryContext": true, "QueryRow": true, "QueryRowContext": true,
	"Prepare": true, "PrepareContext": true, "Begin": true, "BeginTx": true,
}

var writeStatement = regexp.MustCompile(`(?i)\b(INSERT\s+INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM)\b`)

// TestWritesStayInTransactions reads the source code: statements reach the
// database only through a session, and statements that write only through methods
// that only the transaction of an update has.
func TestWritesStayInTransactions(t *testing.T) {
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	checked := 0
	for _, entry := range files {
		name := entry.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(set, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(node ast.Node) bool {
			call, ok := node.(*ast.CallExpr)
			if !ok {
				return true
			}
			method, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			// Every statement passes through session.go, except those about the schema
			// itself: there is no session before it is known.
			if queryMethods[method.Sel.Name] && name != "session.go" && name != "schema.go" {
				t.Errorf("%s: %s bypasses the session", set.Position(call.Pos()), method.Sel.Name)
			}
			if sel := method.Sel.Name; sel == "query" || sel == "one" || sel == "collect" || queryMethods[sel] {
				for _, argument := range call.Args {
					ast.Inspect(argument, func(part ast.Node) bool {
						if text, ok := part.(*ast.BasicLit); ok && text.Kind == token.STRING && writeStatement.MatchString(text.Value) {
							t.Errorf("%s: a write outside the transaction of an update", set.Position(text.Pos()))
						}
						return true
					})
				}
			}
			if method.Sel.Name == "exec" || method.Sel.Name == "returning" {
				checked++
			}
			// SQL is built from constants only.
			if method.Sel.Name == "Sprintf" {
				if text, ok := call.Args[0].(*ast.BasicLit); ok && writeStatement.MatchString(text.Value) {
					t.Errorf("%s: SQL built from values", set.Position(call.Pos()))
				}
			}
			return true
		})
	}
	if checked < 10 {
		t.Errorf("only %d writes were looked at", checked)
	}
}
