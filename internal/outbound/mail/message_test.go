package mail_test

import (
	"bytes"
	"encoding/json"
	"mime"
	netmail "net/mail"
	"os/exec"
	"strings"
	"testing"

	"landfall"
	"landfall/internal/outbound/mail"
	"landfall/internal/test/tooltest"
)

// parsedMessage is a message as Python's email package reads it.
type parsedMessage struct {
	Headers [][2]string `json:"headers"`
	Text    string      `json:"text"`
	HTML    string      `json:"html"`
	Defects []string    `json:"defects"`
}

const parseScript = `
import email, email.policy, json, sys
m = email.message_from_bytes(sys.stdin.buffer.read(), policy=email.policy.default)
part = lambda kind: next((p.get_content().replace("\r\n", "\n") for p in m.walk() if p.get_content_type() == kind), "")
json.dump({"headers": [[k, str(v)] for k, v in m.items()], "text": part("text/plain"), "html": part("text/html"),
  "defects": [str(d) for p in m.walk() for d in p.defects] + [str(d) for v in m.values() for d in getattr(v, "defects", ())]}, sys.stdout)`

func parseMessage(t *testing.T, message []byte) (parsedMessage, map[string]string) {
	t.Helper()
	tooltest.Debian(t, "python3")
	command := exec.CommandContext(t.Context(), "/usr/bin/python3", "-c", parseScript)
	command.Stdin = bytes.NewReader(message)
	output, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	var got parsedMessage
	if err := json.Unmarshal(output, &got); err != nil {
		t.Fatal(err)
	}
	headers := map[string]string{}
	for _, header := range got.Headers {
		if _, twice := headers[strings.ToLower(header[0])]; twice {
			t.Errorf("header %s is there twice", header[0])
		}
		headers[strings.ToLower(header[0])] = header[1]
	}
	return got, headers
}

func TestMessageIsParsedByPython(t *testing.T) {
	written := compose(t, newComposer(t, ""), "NORTH", "")
	got, headers := parseMessage(t, written.Raw)
	for name, want := range map[string]string{
		"from": "Acme Énergie <hello@acme.example>", "reply-to": "help@acme.example", "to": "ada@lovelace.example",
		"subject": "Your NORTH account has moved", "message-id": "<1.a-7k3m9q2b@acme.example>",
		"date": "Sun, 01 Mar 2026 12:00:00 +0000", "auto-submitted": "auto-generated", "content-language": "en", "mime-version": "1.0",
	} {
		if headers[name] != want {
			t.Errorf("%s: %q, want %q", name, headers[name], want)
		}
	}
	if len(got.Defects) > 0 || got.Text != written.Text || got.HTML != written.HTML {
		t.Errorf("got %+v", got)
	}
	for _, part := range []string{"Hello Ada Lovelace,", "A-7K3M9Q2B", "1001", "help@acme.example"} {
		if !strings.Contains(got.Text, part) || !strings.Contains(got.HTML, part) {
			t.Errorf("%q is missing in\n%s\n%s", part, got.Text, got.HTML)
		}
	}
	for _, foreign := range []string{"<img", "http:", "https:", "src=", "url("} {
		if strings.Contains(got.HTML, foreign) {
			t.Errorf("the built-in template loads a remote resource: %s", foreign)
		}
	}
	if again := compose(t, newComposer(t, ""), "NORTH", ""); !bytes.Equal(again.Raw, written.Raw) {
		t.Error("the same mail gave a different message")
	}
	checkLines(t, written.Raw)
}

// checkLines fails unless every line is short ASCII that ends with CRLF.
func checkLines(t *testing.T, message []byte) {
	t.Helper()
	for line := range bytes.Lines(message) {
		if len(line) > 100 || !bytes.HasSuffix(line, []byte("\r\n")) || bytes.ContainsFunc(line, func(r rune) bool { return r > 0x7e }) {
			t.Errorf("line %q", line)
		}
	}
}

func TestHostileNames(t *testing.T) {
	for name, greeting := range map[string]string{
		"Zoë \"Q\" O'Hara":                "Hello Zoë \"Q\" O'Hara,",
		"李小龙":                             "Hello 李小龙,",
		"Ada\r\nBcc: everybody@evil.co":   "Hello,",
		"Ada\r\nBcc evil":                 "Hello Ada Bcc evil,",
		"Ada\u202eecalevoL\u0000\u200b":   "Hello AdaecalevoL,",
		"Win now http://evil.example":     "Hello,",
		"visit evil.com today":            "Hello,",
		"www.evil":                        "Hello,",
		"J. R. Smith":                     "Hello J. R. Smith,",
		"=?utf-8?q?Bcc:_evil?=":           "Hello,",
		"=?utf-8?q?evil?=":                "Hello,",
		"{{.AccountNumber}}":              "Hello,",
		"<script>alert(1)<b>":             "Hello,",
		strings.Repeat("Ada ", 60):        "Hello,",
		"call 0900 123 456":               "Hello,",
		"a b c d e f g h i":               "Hello,",
		"Owed money! Call us":             "Hello,",
		"Hughes & Co. (3M) Ltd":           "Hello Hughes & Co. (3M) Ltd,",
		"\xff\xfe":                        "Hello,",
		"--ba20f25d6fd6ebb380bd6bd4fd1d2": "Hello --ba20f25d6fd6ebb380bd6bd4fd1d2,",
	} {
		files := templatesIn("_default/en")
		files["_default/en/subject.txt"] = "{{with .Name}}{{.}}: {{end}}moved {{.FormerAccountNumber}}"
		files["_default/en/body.txt"] = "Hello{{with .Name}} {{.}}{{end}},\n"
		files["_default/en/body.html"] = "<p>Hello{{with .Name}} {{.}}{{end}},</p>"
		outgoing := mail.Sample(landfall.NewSupplier("NORTH"))
		outgoing.Customers = []landfall.Customer{{GivenName: name}}
		outgoing.Key.External = "10\u202e01 =?x?="
		written, err := newComposer(t, writeFolder(t, files)).Compose(outgoing)
		if err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		checkLines(t, written.Raw)
		got, headers := parseMessage(t, written.Raw)
		if len(got.Defects) > 0 || strings.TrimSpace(got.Text) != greeting || len(headers) != 10 {
			t.Errorf("%q: %q, %v, %v", name, got.Text, headers, got.Defects)
		}
		if strings.Contains(got.HTML, "<script>") || strings.Contains(headers["subject"], "\u202e") || headers["subject"] != written.Subject {
			t.Errorf("%q: %q %q", name, got.HTML, headers["subject"])
		}
		// Go's library agrees.
		subject, err := subjectOf(written.Raw)
		if err != nil || subject != written.Subject {
			t.Errorf("%q: %q, %v", name, subject, err)
		}
	}
}

// subjectOf parses the subject with Go's library.
func subjectOf(raw []byte) (string, error) {
	read, err := netmail.ReadMessage(bytes.NewReader(raw))
	if err != nil {
		return "", err
	}
	return new(mime.WordDecoder).DecodeHeader(read.Header.Get("Subject"))
}

func TestAddresses(t *testing.T) {
	composer := newComposer(t, "")
	for address, want := range map[string]string{
		"ada@lovelace.example": "ada@lovelace.example", "ada@bücher.example": "ada@xn--bcher-kva.example", "añada@correo.example": "añada@correo.example",
		"ada": "", "ada@": "", "@b.co": "", "a\r\nb@c.co": "", "a b@c.co": "", "\"a\"@b.co": "", "<a@b.co>": "", "a@b..co": "",
	} {
		outgoing := mail.Sample(landfall.NewSupplier("NORTH"))
		outgoing.To = address
		written, err := composer.Compose(outgoing)
		if (err != nil) != (want == "") || written.To != want {
			t.Errorf("%q: %q, %v", address, written.To, err)
		}
		if err != nil && strings.Contains(err.Error(), "ada") {
			t.Errorf("%q: %v", address, err)
		}
	}
	for _, sender := range []string{"", "nobody", "a@b.co, c@d.co", "Añada <añada@b.co>", "x\r\n <a@b.co>"} {
		if _, err := mail.NewComposer(mail.BuiltinTemplates(), sender, ""); err == nil {
			t.Errorf("%q: want an error", sender)
		}
	}
}

func TestLongSubject(t *testing.T) {
	files := templatesIn("_default/en")
	files["_default/en/subject.txt"] = strings.Repeat("Ünterwegs ", 60)
	written := compose(t, newComposer(t, writeFolder(t, files)), "NORTH", "")
	checkLines(t, written.Raw)
	_, headers := parseMessage(t, written.Raw)
	if headers["subject"] != written.Subject || len([]rune(written.Subject)) != 200 || !strings.HasSuffix(written.Subject, "…") {
		t.Errorf("got %q", headers["subject"])
	}
}
