package mail_test

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"landfall"
	"landfall/internal/outbound/mail"
)

// writeFolder writes files into a new folder and returns its path.
func writeFolder(t *testing.T, files map[string]string) string {
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

// templateIn returns the files of a template with this subject.
func templateIn(folder, subject string) map[string]string {
	return map[string]string{
		folder + "/subject.txt": subject, folder + "/body.txt": "text for {{.AccountNumber}}\n", folder + "/body.html": "<p>{{.AccountNumber}}</p>",
	}
}

// templatesIn returns templates whose subjects are their folders.
func templatesIn(folders ...string) map[string]string {
	all := map[string]string{}
	for _, folder := range folders {
		maps.Copy(all, templateIn(folder, folder))
	}
	return all
}

func newComposer(t *testing.T, folder string) *mail.Composer {
	t.Helper()
	templates, err := mail.OpenTemplates(folder)
	if err != nil {
		t.Fatal(err)
	}
	composer, err := mail.NewComposer(templates, "Acme Énergie <hello@acme.example>", "help@acme.example")
	if err != nil {
		t.Fatal(err)
	}
	return composer
}

func compose(t *testing.T, composer *mail.Composer, code, language string) mail.Message {
	t.Helper()
	outgoing := mail.Sample(landfall.NewSupplier(code))
	outgoing.Language = language
	written, err := composer.Compose(outgoing)
	if err != nil {
		t.Fatal(err)
	}
	return written
}

// The customer's language comes first, then the supplier's own template, then
// English, then the built-in template.
func TestTemplateOrder(t *testing.T) {
	all := newComposer(t, writeFolder(t, templatesIn("NORTH/en", "NORTH/cy", "_default/en", "_default/cy-GB", "_default/zh-Hant", "SOUTH/de")))
	for asked, want := range map[[2]string]string{
		{"NORTH", "cy-GB"}: "NORTH/cy", {"NORTH", "cy"}: "NORTH/cy", {"SOUTH", "CY-gb"}: "_default/cy-GB",
		{"NORTH", "zh-Hant-TW"}: "_default/zh-Hant", {"SOUTH", "de-AT"}: "SOUTH/de", {"NORTH", "de"}: "NORTH/en",
		{"SOUTH", "fr"}: "_default/en", {"EAST", ""}: "_default/en", {"NORTH", ""}: "NORTH/en",
	} {
		if got := compose(t, all, asked[0], asked[1]); got.Subject != want {
			t.Errorf("%v: %s, want %s", asked, got.Subject, want)
		}
	}
	few := newComposer(t, writeFolder(t, templatesIn("NORTH/cy")))
	if got := compose(t, few, "NORTH", "fr"); got.Subject != "Your NORTH account has moved" || got.Language != "en" {
		t.Errorf("got %+v", got)
	}
}

func TestAllTemplateErrorsAreReported(t *testing.T) {
	files := templatesIn("_default/en", "NORTH/cy", "SOUTH/de", "EAST/fr")
	files["NORTH/cy/body.txt"] = "Dear {{.Nummer}}"
	files["SOUTH/de/subject.html"] = "?"
	delete(files, "EAST/fr/body.html")
	files["bad code/en/subject.txt"] = "x"
	files["WEST/englisch sprache/subject.txt"] = "x"
	_, err := mail.OpenTemplates(writeFolder(t, files))
	if err == nil {
		t.Fatal("want an error")
	}
	for _, part := range []string{
		"NORTH/cy: body.txt", ".Nummer", ".AccountNumber", "SOUTH/de: subject.html is not one of", "EAST/fr: body.html is missing",
		"bad code is neither", "WEST/englisch sprache is not a language tag",
	} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not in\n%v", part, err)
		}
	}
	if _, err := mail.OpenTemplates(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a missing folder: want an error")
	}
	if _, err := mail.OpenTemplates(t.TempDir()); err == nil {
		t.Error("an empty folder: want an error")
	}
}

// No template can run forever, grow without bound, or fail only when a mail is sent.
func TestUnsafeTemplates(t *testing.T) {
	for content, part := range map[string]string{
		"{{.Unknown}}":                                          "no field .Unknown",
		"{{if false}}{{.Unknown}}{{end}}":                       "no field .Unknown",
		"{{$.Unknown}}":                                         "no field .Unknown",
		"{{.Name.Foo}}":                                         "no field .Name.Foo",
		"{{with .Name}}{{.Supplier}}{{end}}":                    "$.Supplier",
		"{{range .Names}}{{.AccountNumber}}{{end}}":             "$.AccountNumber",
		"{{range 1000000000}}{{end}}":                           "range works only on .Names",
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
		files := templatesIn("_default/en")
		files["_default/en/body.txt"] = content
		if _, err := mail.OpenTemplates(writeFolder(t, files)); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%.60q: %v, want %q", content, err, part)
		}
	}
	files := templatesIn("_default/en")
	files["_default/en/body.txt"] = `{{if .Names}}{{range $i, $name := .Names}}{{if $i}}, {{end}}{{$name}} ({{$.Supplier}}){{else}}you{{end}}{{end}}{{if eq .Language "en"}}.{{end}}` +
		`{{.Name}}{{.FormerAccountNumber}}{{.SupplierCode}}{{.MovedOn}}{{.ReplyTo}}{{html .Name}}`
	if _, err := mail.OpenTemplates(writeFolder(t, files)); err != nil {
		t.Error(err)
	}
	files["_default/en/subject.txt"] = "{{if eq .Supplier `Acme`}}x{{end}}\n"
	if _, err := mail.OpenTemplates(writeFolder(t, files)); err != nil {
		t.Error(err)
	}
	if _, err := newComposer(t, writeFolder(t, files)).Compose(mail.Sample(landfall.NewSupplier("NORTH"))); err == nil {
		t.Error("a mail without a subject was composed")
	}
}
