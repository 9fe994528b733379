package app_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"text/template"

	"github.com/rogpeppe/go-internal/txtar"

	"landfall/internal/app"
)

// Stories are requests and their answers, readable without knowing Go. A story
// file consists of these parts:
//
//	-- NAME.request --   a request as it goes over the wire, without the token
//	                     and the length, which are added
//	-- NAME.answer --    the expected answer: the status, the relevant headers
//	                     and the body. … matches anything, …as x matches
//	                     anything and later requests refer to it as {x};
//	                     …more matches anything, including quotes
//	-- NAME.operator --  what the operator does in between, one verb per line
func TestStories(t *testing.T) {
	files, err := filepath.Glob("testdata/scenario/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no stories: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			onBoth(t, func(t *testing.T, database string) { runStory(t, file, database) })
		})
	}
}

func runStory(t *testing.T, file, database string) {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	documents := t.TempDir()
	w := newWorld(t, database, func(settings *app.Settings) {
		settings.MaxBody, settings.Documents = 64<<10, "file://"+documents
	})
	w.documents = documents
	var last *storyResponse
	changed := false
	for i := range archive.Files {
		part := &archive.Files[i]
		name, kind, _ := strings.Cut(part.Name, ".")
		switch text := strings.TrimSpace(string(part.Data)); kind {
		case "operator":
			for line := range strings.Lines(text) {
				w.operate(t, strings.TrimSpace(line))
			}
		case "request":
			last = w.send(t, text)
		case "answer":
			if err := w.compare(text, last); err == nil {
				continue
			} else if !*update {
				t.Errorf("%s: %v\ngot:\n%s", name, err, last)
				continue
			}
			part.Data = []byte(w.nameDays(last.String()))
			changed = true
		default:
			t.Fatalf("%s: want .request, .answer or .operator", part.Name)
		}
	}
	if changed {
		if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// send writes a request byte by byte as the story has it. A client library would
// correct exactly what some stories are about.
func (w *world) send(t *testing.T, text string) *storyResponse {
	t.Helper()
	head, body, _ := strings.Cut(text, "\n\n")
	lines := strings.Split(w.fill(head), "\n")
	headers, authorised, typed := "", false, false
	for _, line := range lines[1:] {
		name, value, _ := strings.Cut(line, ":")
		authorised = authorised || strings.EqualFold(name, "Authorization")
		typed = typed || strings.EqualFold(name, "Content-Type")
		switch {
		case name == "@template":
			body = expand(t, body)
		case name == "@fields": // this many header fields
			count, _ := strconv.Atoi(strings.TrimSpace(value))
			headers += strings.Repeat("X-Field: 1\r\n", count)
		case strings.TrimSpace(value) != "none":
			headers += line + "\r\n"
		}
	}
	if !authorised {
		headers += "Authorization: Token " + w.words["token"] + "\r\n"
	}
	if !typed && body != "" {
		headers += "Content-Type: application/json\r\n"
	}
	body = w.fill(body)
	if body != "" || strings.HasPrefix(head, "POST") {
		headers += fmt.Sprintf("Content-Length: %d\r\n", len(body))
	}
	connection, err := net.Dial("tcp", w.server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	go func() {
		// A refusal may arrive before the whole body is sent.
		fmt.Fprintf(connection, "%s HTTP/1.1\r\nHost: api.example\r\n%sConnection: close\r\n\r\n%s", lines[0], headers, body)
	}()
	method, _, _ := strings.Cut(lines[0], " ")
	answer, err := http.ReadResponse(bufio.NewReader(connection), &http.Request{Method: method})
	if err != nil {
		t.Fatalf("%s: %v", lines[0], err)
	}
	defer answer.Body.Close()
	read, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatalf("%s: %v", lines[0], err)
	}
	return &storyResponse{answer.StatusCode, answer.Header, string(read)}
}

// expand replaces what a story cannot contain literally: {{"\xff"}} for bytes
// that are not text, {{repeat "[" 40}} for repetition.
func expand(t *testing.T, body string) string {
	t.Helper()
	parsed, err := template.New("body").Funcs(template.FuncMap{"repeat": strings.Repeat}).Parse(body)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := parsed.Execute(&out, nil); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// fill replaces names in braces with their values.
func (w *world) fill(text string) string {
	for name, word := range w.words {
		text = strings.ReplaceAll(text, "{"+name+"}", word)
	}
	return text
}

// storyResponse is an answer in the form that stories use.
type storyResponse struct {
	status int
	header http.Header
	body   string
}

// worthSaying lists the headers that an updated answer shows if present.
var worthSaying = []string{"Content-Type", "Allow", "Location", "Link", "Retry-After", "Www-Authenticate"}

// volatile matches what differs from run to run: tokens, cursors and times.
var volatile = regexp.MustCompile(`lf[ar]_\w{20,}|20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ`)

func (r *storyResponse) String() string {
	out := fmt.Sprintln(r.status)
	for _, name := range worthSaying {
		if value := r.header.Get(name); value != "" {
			out += name + ": " + value + "\n"
		}
	}
	if r.body == "" {
		return out + "\n(empty)\n"
	}
	if strings.HasPrefix(r.header.Get("Content-Type"), "text/") || len(r.body) > 5000 {
		return out // too long for a story
	}
	var indented bytes.Buffer
	if json.Indent(&indented, []byte(r.body), "", "  ") == nil {
		return volatile.ReplaceAllString(out+"\n"+strings.TrimSpace(indented.String())+"\n", "…")
	}
	return out + "\n" + r.body + "\n"
}

// compare returns how an answer differs from the story. JSON bodies are compared
// byte by byte, ignoring white space between tokens.
func (w *world) compare(text string, got *storyResponse) error {
	head, body, received := strings.Cut(text, "\n\n")
	lines := strings.Split(head, "\n")
	if want, err := strconv.Atoi(lines[0]); err != nil || want != got.status {
		return fmt.Errorf("status %d, want %s", got.status, lines[0])
	}
	for _, line := range lines[1:] {
		name, value, _ := strings.Cut(line, ": ")
		if !w.match(value, strings.Join(got.header.Values(name), ", ")) {
			return fmt.Errorf("header %s: %q, want %q", name, got.header.Values(name), value)
		}
	}
	if !received {
		return nil
	}
	if body == "(empty)" {
		body = ""
	}
	if !w.match(compact(body), compact(got.body)) {
		return fmt.Errorf("the body differs")
	}
	return nil
}

// anyNumber replaces … in place of a number while JSON is parsed.
const anyNumber = "-987654321e-99"

func compact(text string) string {
	var out bytes.Buffer
	if json.Compact(&out, []byte(strings.ReplaceAll(text, ": …", ": "+anyNumber))) != nil {
		return strings.TrimSpace(text)
	}
	return strings.ReplaceAll(out.String(), anyNumber, "…")
}

var anything = regexp.MustCompile(`…(?:as (\w+)|(more))?`)

// match compares a text with a pattern and stores the values that the pattern
// names.
func (w *world) match(pattern, text string) bool {
	expression, rest := "^", w.fill(pattern)
	names := []string{}
	for {
		at := anything.FindStringSubmatchIndex(rest)
		if at == nil {
			break
		}
		gap := `([^"<>]*)`
		if at[4] >= 0 {
			gap = `(?s)(.*)`
		}
		expression += regexp.QuoteMeta(rest[:at[0]]) + gap
		name := ""
		if at[2] >= 0 {
			name = rest[at[2]:at[3]]
		}
		names = append(names, name)
		rest = rest[at[1]:]
	}
	found := regexp.MustCompile(expression + regexp.QuoteMeta(rest) + "$").FindStringSubmatch(text)
	if found == nil {
		return false
	}
	for i, name := range names {
		if name != "" {
			w.words[name] = found[i+1]
		}
	}
	return true
}
