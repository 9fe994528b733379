package letter_test

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"landfall"
	"landfall/internal/outbound/letter"
)

// folder makes the operator's folder: files by their path.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		name = filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// set is a whole template that can be told by its subject.
func set(where, subject string) map[string]string {
	return map[string]string{
		where + "/subject.txt": subject, where + "/body.txt": "text for {{.AccountNumber}}\n", where + "/body.html": "<p>{{.AccountNumber}}</p>",
	}
}

func sets(wheres ...string) map[string]string {
	all := map[string]string{}
	for _, where := range wheres {
		maps.Copy(all, set(where, where))
	}
	return all
}

func writer(t *testing.T, folder string) *letter.Writer {
	t.Helper()
	library, err := letter.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	made, err := letter.NewWriter(library, "Acme Énergie <hello@acme.example>", "help@acme.example")
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func write(t *testing.T, writer *letter.Writer, supplier, language string) letter.Letter {
	t.Helper()
	mail := letter.Sample(landfall.NewSupplier(supplier))
	mail.Language = language
	written, err := writer.Write(mail)
	if err != nil {
		t.Fatal(err)
	}
	return written
}

// The customer's language goes first, then the supplier's own template, then
// English, then what is built in.
func TestTheOrderOfTemplates(t *testing.T) {
	all := writer(t, folder(t, sets("NORTH/en", "NORTH/cy", "_default/en", "_default/cy-GB", "_default/zh-Hant", "SOUTH/de")))
	for asked, want := range map[[2]string]string{
		{"NORTH", "cy-GB"}: "NORTH/cy", {"NORTH", "cy"}: "NORTH/cy", {"SOUTH", "CY-gb"}: "_default/cy-GB",
		{"NORTH", "zh-Hant-TW"}: "_default/zh-Hant", {"SOUTH", "de-AT"}: "SOUTH/de", {"NORTH", "de"}: "NORTH/en",
		{"SOUTH", "fr"}: "_default/en", {"EAST", ""}: "_default/en", {"NORTH", ""}: "NORTH/en",
	} {
		if got := write(t, all, asked[0], asked[1]); got.Subject != want {
			t.Errorf("%v: %s, want %s", asked, got.Subject, want)
		}
	}
	few := writer(t, folder(t, sets("NORTH/cy")))
	if got := write(t, few, "NORTH", "fr"); got.Subject != "Your NORTH account has moved" || got.Language != "en" {
		t.Errorf("got %+v", got)
	}
}

func TestMistakesAreToldAtOnceWithTheirPlace(t *testing.T) {
	files := sets("_default/en", "NORTH/cy", "SOUTH/de", "EAST/fr")
	files["NORTH/cy/body.txt"] = "Dear {{.Nummer}}"
	files["SOUTH/de/subject.html"] = "?"
	delete(files, "EAST/fr/body.html")
	files["bad code/en/subject.txt"] = "x"
	files["WEST/englisch sprache/subject.txt"] = "x"
	_, err := letter.Open(folder(t, files))
	if err == nil {
		t.Fatal("all is well")
	}
	for _, part := range []string{
		"NORTH/cy: body.txt", ".Nummer", ".AccountNumber", "SOUTH/de: subject.html is none of", "EAST/fr: body.html is missing",
		"bad code is neither", "WEST/englisch sprache is not named after a language",
	} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not in\n%v", part, err)
		}
	}
	if _, err := letter.Open(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a folder that is not there is fine")
	}
	if _, err := letter.Open(t.TempDir()); err == nil {
		t.Error("an empty folder is fine")
	}
}

// Nothing a template says can run for ever, grow without bound, or fail only
// when a customer is written to.
func TestTemplatesThatAreNotForLetters(t *testing.T) {
	for content, part := range map[string]string{
		"{{.Unknown}}":                                          "no field .Unknown",
		"{{if false}}{{.Unknown}}{{end}}":                       "no field .Unknown",
		"{{$.Unknown}}":                                         "no field .Unknown",
		"{{.Name.Foo}}":                                         "no field .Name.Foo",
		"{{with .Name}}{{.Supplier}}{{end}}":                    "$.Supplier",
		"{{range .Names}}{{.AccountNumber}}{{end}}":             "$.AccountNumber",
		"{{range 1000000000}}{{end}}":                           "range goes over .Names",
		"{{range .Names}}{{range $.Names}}{{end}}{{end}}":       "not within another range",
		`{{define "a"}}{{template "a"}}{{end}}{{template "a"}}`: "one template",
		`{{printf "%1000000000d" 1}}`:                           "function printf",
		`{{call .Name}}`:                                        "function call",
		`{{index .Names 7}}`:                                    "function index",
		"{{.Name":                                               "unclosed action",
		"":                                                      "empty",
		"{{if .Name}}x{{end}}":                                  "empty text",
		strings.Repeat("x", 200<<10):                            "longer than",
		"\xff":                                                  "UTF-8",
	} {
		files := sets("_default/en")
		files["_default/en/body.txt"] = content
		if _, err := letter.Open(folder(t, files)); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%.60q: %v, want %q", content, err, part)
		}
	}
	files := sets("_default/en")
	files["_default/en/body.txt"] = `{{if .Names}}{{range $i, $name := .Names}}{{if $i}}, {{end}}{{$name}} ({{$.Supplier}}){{else}}you{{end}}{{end}}{{if eq .Language "en"}}.{{end}}` +
		`{{.Name}}{{.FormerAccountNumber}}{{.SupplierCode}}{{.MovedOn}}{{.ReplyTo}}{{html .Name}}`
	if _, err := letter.Open(folder(t, files)); err != nil {
		t.Error(err)
	}
	files["_default/en/subject.txt"] = "{{if eq .Supplier `Acme`}}x{{end}}\n"
	if _, err := letter.Open(folder(t, files)); err != nil {
		t.Error(err)
	}
	if _, err := writer(t, folder(t, files)).Write(letter.Sample(landfall.NewSupplier("NORTH"))); err == nil {
		t.Error("a letter without a subject was written")
	}
}
