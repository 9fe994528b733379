package app_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"landfall/internal/app"
	"landfall/internal/test/tooltest"
)

// Real clients send a book whose answers exceed every buffer on the way. Most
// send everything before they read anything. Client and server must not deadlock.
func TestClientsThatSendBeforeTheyRead(t *testing.T) {
	tooltest.SkipIfShort(t)
	const lines = 40_000
	spool := t.TempDir()
	w := newWorld(t, databases["sqlite"](t), func(settings *app.Settings) { settings.BulkSpool = spool })
	var book bytes.Buffer
	for i := range lines {
		fmt.Fprintf(&book, `{"import_supplier":"NORTH","external_account_number":"%d","customers":[{}],"billing_name":"%s"}`+"\n", i, strings.Repeat("x", 200))
	}
	file := filepath.Join(t.TempDir(), "book.ndjson")
	if err := os.WriteFile(file, book.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	path := w.server.URL + "/v1/data-import/bulk/validate-account/"
	headers := []string{"-sS", "-H", "Authorization: Token " + w.words["token"], "-H", "Content-Type: application/x-ndjson", path}
	curl, python := tooltest.Debian(t, "curl"), tooltest.Debian(t, "python3")
	for name, command := range map[string]*exec.Cmd{
		"curl with a file in memory": exec.CommandContext(t.Context(), curl, append(headers, "--data-binary", "@"+file)...),
		"curl from standard input":   exec.CommandContext(t.Context(), curl, append(headers, "-X", "POST", "-T", "-")...),
		"curl whose reader is slow": exec.CommandContext(t.Context(), "sh", "-c", `"$@" | (sleep 3; cat)`, "sh", curl,
			"-sS", "-H", headers[2], "-H", headers[4], path, "--data-binary", "@"+file),
		"python": exec.CommandContext(t.Context(), python, "-c", `
import sys, urllib.request
request = urllib.request.Request(sys.argv[1], data=open(sys.argv[2], "rb").read(), method="POST",
    headers={"Authorization": "Token " + sys.argv[3], "Content-Type": "application/x-ndjson"})
sys.stdout.buffer.write(urllib.request.urlopen(request, timeout=120).read())`, path, file, w.words["token"]),
		"python in chunks": exec.CommandContext(t.Context(), python, "-c", `
import sys, http.client, urllib.parse
address = urllib.parse.urlsplit(sys.argv[1])
connection = http.client.HTTPConnection(address.hostname, address.port, timeout=120)
connection.request("POST", address.path, body=iter(open(sys.argv[2], "rb")), encode_chunked=True,
    headers={"Transfer-Encoding": "chunked", "Authorization": "Token " + sys.argv[3], "Content-Type": "application/x-ndjson"})
sys.stdout.buffer.write(connection.getresponse().read())`, path, file, w.words["token"]),
	} {
		t.Run(name, func(t *testing.T) {
			if strings.Contains(name, "standard input") {
				command.Stdin = bytes.NewReader(book.Bytes())
			}
			var complaint bytes.Buffer
			command.Stderr = &complaint
			answer, err := command.Output()
			if err != nil {
				t.Fatalf("%v: %s", err, complaint.String())
			}
			want := fmt.Sprintf(`{"summary":{"lines":%d,"statuses":{"200":%d},"complete":true}}`+"\n", lines, lines)
			if count := bytes.Count(answer, []byte("\n")); count != lines+1 || !bytes.HasSuffix(answer, []byte(want)) {
				t.Errorf("%d lines, at last %.300s", count, answer[max(0, len(answer)-300):])
			}
		})
	}
	if left, err := os.ReadDir(spool); err != nil || len(left) > 0 {
		t.Errorf("in the spool there is still %v, %v", left, err)
	}
}

// When the spool is full, the stream ends and the summary tells the client where
// to continue. The client receives it even if it sends everything first.
func TestFullSpoolEndsTheStream(t *testing.T) {
	tooltest.SkipIfShort(t)
	w := newWorld(t, databases["sqlite"](t), func(settings *app.Settings) { settings.BulkSpoolSize = 1 << 20 })
	var book bytes.Buffer
	for i := range 60_000 {
		fmt.Fprintf(&book, `{"import_supplier":"NORTH","external_account_number":"%d","customers":[{}],"billing_name":"%s"}`+"\n", i, strings.Repeat("x", 250))
	}
	file := filepath.Join(t.TempDir(), "book.ndjson")
	if err := os.WriteFile(file, book.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), tooltest.Debian(t, "python3"), "-c", `
import sys, urllib.request
request = urllib.request.Request(sys.argv[1], data=open(sys.argv[2], "rb").read(), method="POST",
    headers={"Authorization": "Token " + sys.argv[3], "Content-Type": "application/x-ndjson"})
sys.stdout.buffer.write(urllib.request.urlopen(request, timeout=120).read())`,
		w.server.URL+"/v1/data-import/bulk/validate-account/", file, w.words["token"])
	answer, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(answer)), "\n")
	last := lines[len(lines)-1]
	if !strings.Contains(last, `"code":"too_many_requests"`) || !strings.Contains(last, fmt.Sprintf(`"next_line":%d,`, len(lines))) {
		t.Errorf("%d lines and %s", len(lines), last)
	}
}
