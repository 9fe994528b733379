package console

import (
	"go/ast"
	"go/parser"
	"go/token"
	"html/template"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"landfall"
	"landfall/internal/api/contract"
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

// A code in a text: words with underscores between them.
var snakeCase = regexp.MustCompile(`\b[A-Za-z]+(_[A-Za-z]+)+\b`)

// TestRenderedPagesUseWords reads every page with data on it, as it is sent: no
// expression that people did not understand, no command line, and codes only in small
// print beside their label.
func TestRenderedPagesUseWords(t *testing.T) {
	w := newTestWorld(t)
	paths := w.paths()
	ada := w.signedIn(landfall.ConsoleAdministrator)
	unseen := regexp.MustCompile(`(?s)<(code|script|option value)\b.*?</(code|script|option)>|<[^>]*>`)
	for _, path := range paths {
		status, body := ada.get(path)
		if status != http.StatusOK && path != "/console/nowhere/" {
			t.Errorf("%s: %d", path, status)
		}
		lower := strings.ToLower(body)
		for _, words := range unwantedWords {
			if strings.Contains(lower, words) {
				t.Errorf("%s says %q", path, words)
			}
		}
		text := unseen.ReplaceAllString(body, " ")
		for _, one := range contract.Codes() { // these explain fields of the API by their names
			text = strings.ReplaceAll(text, template.HTMLEscapeString(one.Meaning), " ")
		}
		if found := commandLine.FindString(text); found != "" {
			t.Errorf("%s has a command line or a file: %q", path, found)
		}
		for _, found := range snakeCase.FindAllStringIndex(text, 5) {
			t.Errorf("%s has a code without a label: %q", path, strings.Join(strings.Fields(text[max(0, found[0]-60):min(len(text), found[1]+20)]), " "))
		}
	}
}
