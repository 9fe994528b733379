package landfall_test

import (
	"go/ast"
	"go/token"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"landfall/internal/store/engine"
)

// loggerName matches the names that fields and variables with a logger may have.
var loggerName = regexp.MustCompile(`^([lL]og|[lL]ogger)$`)

// Every warning and error that a server may log is a constant text with a row in
// docs/messages.md, and the page has no other rows. So has every code of a database
// that has words.
func TestMessagesPageListsEveryWarning(t *testing.T) {
	logged := map[string]bool{}
	for _, file := range parseTree(t) {
		if file.test || strings.HasPrefix(file.name, "bench/") {
			continue
		}
		ast.Inspect(file.ast, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.Field:
				checkLoggerNames(t, file.name, node)
			case *ast.CallExpr:
				if text, is := loggedText(node); is {
					if text == "" {
						t.Errorf("%s: a message of a log line is not constant", file.name)
					}
					logged[text] = true
				}
			}
			return true
		})
	}
	codes := map[string]bool{}
	for code, words := range engine.PostgresWords {
		codes[code+"|"+words] = true
	}
	for code, words := range engine.SQLiteWords {
		codes[strconv.Itoa(code)+"|"+words] = true
	}
	messages, words := messagesPage(t)
	for _, pair := range []struct{ want, found map[string]bool }{{logged, messages}, {codes, words}} {
		for _, text := range slices.Sorted(maps.Keys(pair.want)) {
			if !pair.found[text] {
				t.Errorf("docs/messages.md has no row for %q", text)
			}
		}
		for _, text := range slices.Sorted(maps.Keys(pair.found)) {
			if !pair.want[text] {
				t.Errorf("docs/messages.md has a row for %q, which nothing logs", text)
			}
		}
	}
}

// checkLoggerNames checks that a logger has a name by which its calls are found.
func checkLoggerNames(t *testing.T, file string, field *ast.Field) {
	pointer, ok := field.Type.(*ast.StarExpr)
	if !ok {
		return
	}
	typed, ok := pointer.X.(*ast.SelectorExpr)
	if !ok || typed.Sel.Name != "Logger" {
		return
	}
	if origin, ok := typed.X.(*ast.Ident); !ok || origin.Name != "slog" {
		return
	}
	for _, name := range field.Names {
		if !loggerName.MatchString(name.Name) {
			t.Errorf("%s: name the logger %s log or logger, so that its messages are found", file, name.Name)
		}
	}
}

// loggedText returns the message of a call that logs a warning or an error, or a line
// whose level is not constant; "" if it is not a literal.
func loggedText(call *ast.CallExpr) (text string, is bool) {
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return "", false
	}
	var receiver string
	switch x := method.X.(type) {
	case *ast.Ident:
		receiver = x.Name
	case *ast.SelectorExpr:
		receiver = x.Sel.Name
	}
	at, known := map[string]int{"Warn": 0, "Error": 0, "WarnContext": 1, "ErrorContext": 1, "Log": 2, "LogAttrs": 2}[method.Sel.Name]
	if !known || !loggerName.MatchString(receiver) || len(call.Args) <= at {
		return "", false
	}
	if at == 2 {
		if level, ok := call.Args[1].(*ast.SelectorExpr); ok && (level.Sel.Name == "LevelInfo" || level.Sel.Name == "LevelDebug") {
			return "", false
		}
	}
	literal, ok := call.Args[at].(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return "", true
	}
	text, err := strconv.Unquote(literal.Value)
	if err != nil {
		return "", true
	}
	return text, true
}

// messagesPage returns the first cells of the tables of messages, and the codes with
// their words.
func messagesPage(t *testing.T) (messages, codes map[string]bool) {
	t.Helper()
	page, err := os.ReadFile("docs/messages.md")
	if err != nil {
		t.Fatal(err)
	}
	messages, codes = map[string]bool{}, map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\| ([^|]+) \\| ([^|]+) \\|$").FindAllStringSubmatch(string(page), -1) {
		if regexp.MustCompile(`^([0-9A-Z]{5}|[0-9]+)$`).MatchString(row[1]) {
			codes[row[1]+"|"+row[2]] = true
			continue
		}
		messages[row[1]] = true
	}
	return messages, codes
}
