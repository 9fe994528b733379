package limits

import (
	"flag"
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write docs/limits.md")

const page = "../../../docs/limits.md"

// TestPageIsCurrent compares docs/limits.md with the declarations.
func TestPageIsCurrent(t *testing.T) {
	got := render(t)
	if *update {
		if err := os.WriteFile(page, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if have, _ := os.ReadFile(page); string(have) != got {
		t.Error("docs/limits.md is out of date: run go generate ./internal/lib/limits")
	}
}

// clock imports the part of package time that the declarations use. The real one
// cannot be read by a test that was built with -trimpath.
type clock struct{}

func (clock) Import(string) (*types.Package, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "time.go", `package time
		type Duration int64
		const (
			Millisecond Duration = 1000_000
			Second = 1000 * Millisecond
			Minute = 60 * Second
			Hour = 60 * Minute
		)`, 0)
	if err != nil {
		return nil, err
	}
	return (&types.Config{}).Check("time", files, []*ast.File{file}, nil)
}

// render writes the page from the comments and values of the constants.
func render(t *testing.T) string {
	t.Helper()
	files := token.NewFileSet()
	var parsed []*ast.File
	var declarations []ast.Decl
	for _, name := range []string{"limits.go", "background.go"} {
		file, err := parser.ParseFile(files, name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		parsed, declarations = append(parsed, file), append(declarations, file.Decls...)
	}
	info := &types.Info{Defs: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: clock{}}
	if _, err := config.Check("limits", files, parsed, info); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	text.WriteString("# Limits\n\nEvery limit and duration that a request or a background task of the server meets. " +
		"The code takes its values from `internal/lib/limits`, from which this page is generated (`make generate`). " +
		"A limit with a setting can be changed ([settings.md](settings.md)).\n")
	for _, declaration := range declarations {
		group, ok := declaration.(*ast.GenDecl)
		if !ok || group.Tok != token.CONST {
			continue
		}
		fmt.Fprintf(&text, "\n## %s\n\n| limit | value | setting | what it bounds |\n|---|---|---|---|\n",
			strings.TrimSuffix(strings.TrimSpace(group.Doc.Text()), "."))
		for _, spec := range group.Specs {
			declared, _ := spec.(*ast.ValueSpec)
			name := declared.Names[0]
			comment := strings.TrimSpace(declared.Doc.Text())
			about, found := strings.CutPrefix(comment, name.Name+" is ")
			if !found {
				t.Errorf("the comment of %s does not start with %q", name.Name, name.Name+" is ")
			}
			about, setting, _ := strings.Cut(about, " Setting: ")
			if setting = strings.TrimSuffix(setting, "."); setting != "" {
				setting = "`" + setting + "`"
			}
			fmt.Fprintf(&text, "| %s | %s | %s | %s |\n", name.Name, value(t, declared, info.Defs[name]), setting, strings.TrimSuffix(about, "."))
		}
	}
	return text.String()
}

// value writes a duration or a size with its unit, and a number as it is. A size
// is a number that is declared with a shift.
func value(t *testing.T, spec *ast.ValueSpec, object types.Object) string {
	t.Helper()
	declared, ok := object.(*types.Const)
	if !ok {
		t.Fatalf("%v is no constant", object)
	}
	number, _ := constant.Int64Val(declared.Val())
	if shift, is := spec.Values[0].(*ast.BinaryExpr); is && shift.Op == token.SHL {
		unit := map[string]string{"10": "KiB", "20": "MiB", "30": "GiB"}[shift.Y.(*ast.BasicLit).Value]
		return fmt.Sprintf("%s %s", shift.X.(*ast.BasicLit).Value, unit)
	}
	if declared.Type().String() != "time.Duration" {
		return fmt.Sprint(number)
	}
	length := time.Duration(number)
	for _, unit := range []struct {
		length time.Duration
		name   string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "min"}, {time.Second, "s"}, {time.Millisecond, "ms"}} {
		if length >= unit.length && length%unit.length == 0 && (unit.name != "d" || length > 72*time.Hour) {
			return fmt.Sprintf("%d %s", length/unit.length, unit.name)
		}
	}
	return length.String()
}

// While a synchronous standby is silent, a caller used to wait 14 seconds for an
// answer.
func TestSilentStandbyIsAnsweredWithinSevenSeconds(t *testing.T) {
	if longest := QueueWait + Commit + CommitLookup; longest > 7*time.Second {
		t.Errorf("a caller may wait %s", longest)
	}
}
