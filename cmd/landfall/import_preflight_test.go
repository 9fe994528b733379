package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"landfall/internal/lib/limits"
	"landfall/internal/test/pgtest"
	"landfall/internal/test/tooltest"
)

// An import finds out before it sends anything what the server would refuse for every line, and says
// what to do.
func TestPreflightOfAnImport(t *testing.T) { testPreflight(t, fileDatabase) }

func TestPreflightOfAnImportOnPostgres(t *testing.T) {
	tooltest.SkipIfShort(t) // it waits for caches, not for the database
	testPreflight(t, pgtest.URL)
}

func testPreflight(t *testing.T, fresh func(testing.TB) string) {
	t.Helper()
	documents := t.TempDir()
	m := newImportTestOn(t, fresh(t), []string{"--documents", "file://" + documents}, "--accounts", "1")
	go io.Copy(io.Discard, m.read)
	book := filepath.Join(t.TempDir(), "book")
	write := func(name string, lines ...string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(book, name), []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(book, 0o700); err != nil {
		t.Fatal(err)
	}
	const key = `{"import_supplier":"NORTH","external_account_number":"P1"`
	write("accounts.ndjson", key+`,"customers":[{"family_name":"N"}],"payment_instructions":[{"vendor":"NOPE","reference":"r","type":"CARD"}]}`)
	write("notes.ndjson", key+`,"notes":[{"body":"n","document_paths":[{"document_path":"a/1.pdf"}]}]}`)
	write("statements.ndjson", key+`,"statements":[{"statement_id":"1","bill_period_from_date":"2024-01-01","bill_period_to_date":"2024-01-31","statement_path":"a/2.pdf"}]}`)
	server := m.base
	// sends runs the import of the book and reports its complaint.
	team := []string{"--team", "Migration Team"}
	sends := func(args ...string) (code int, complaint string) {
		time.Sleep(limits.SupplierCache) // a change of the supplier is seen after this
		var out bytes.Buffer
		code = runMain(slices.Concat([]string{"import", book, "--server", server, "--api-key", m.key}, team, args), &out, &out)
		return code, out.String()
	}
	refused := func(want string) {
		t.Helper()
		code, complaint := sends()
		if code != exitUsage || !regexp.MustCompile(`nothing was sent: .*`+want).MatchString(complaint) {
			t.Errorf("exit %d, want %s: %s", code, want, complaint)
		}
		if entries, _ := os.ReadDir(book); len(entries) != 3 {
			t.Errorf("it left something: %v", entries)
		}
	}
	refused(`supplier NORTH cannot use the payment vendor NOPE \(it has none\)`)
	m.command(t, "vendor", "set", "GOOD", "--adapter", "sandbox")
	refused(`supplier NORTH cannot use the payment vendor NOPE \(it has GOOD\)`)
	write("accounts.ndjson", key+`,"customers":[{"family_name":"N"}]}`)

	m.command(t, "supplier", "set", "NORTH", "--status", "Paused")
	refused(`supplier NORTH is Paused and takes no accounts; .* landfall supplier set NORTH --status Ongoing`)
	m.command(t, "supplier", "set", "NORTH", "--status", "Complete")
	refused(`supplier NORTH is Complete and takes no accounts`)
	m.command(t, "supplier", "set", "NORTH", "--status", "Ongoing", "--verify-documents")
	refused(`none of the first 2 documents of supplier NORTH is in its document store, such as a/1.pdf; check the paths`)

	m.command(t, "organisation", "set", "Acme", "--bytes-per-day", "100000")
	if err := os.MkdirAll(filepath.Join(documents, "NORTH", "a"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(documents, "NORTH", "a", "1.pdf"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	write("notes.ndjson", key+`,"notes":[{"body":"n","document_paths":[{"document_path":"a/1.pdf"}]}]}`, key+`,"notes":[{"body":"`+strings.Repeat("n", 200_000)+`"}]}`)
	refused(`the book has 196 KiB, and your organisation may send \d+ KiB more today \(its quota is 98 KiB a day\); ask`)
	m.command(t, "organisation", "set", "Acme", "--bytes-per-day", "0")
	write("notes.ndjson", key+`,"notes":[{"body":"n","document_paths":[{"document_path":"a/1.pdf"}]}]}`)

	proxied := wrongClock(t, m.base)
	server = proxied
	refused(`the clock of the server and of this computer differ by (59m\S+|1h0m0s) \(.* and .*\); set the wrong one right`)
	server = m.base

	// Some documents are missing: it warns, and the line fails.
	code, complaint := sends()
	if code != exitRefused || !strings.Contains(complaint, "1 of the first 2 documents of supplier NORTH are not in its document store, such as a/2.pdf") {
		t.Errorf("exit %d: %s", code, complaint)
	}
	// Late postings of a complete supplier are accepted.
	if err := os.WriteFile(filepath.Join(documents, "NORTH", "a", "2.pdf"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(book, "accounts.ndjson")); err != nil {
		t.Fatal(err)
	}
	m.command(t, "supplier", "set", "NORTH", "--status", "Complete")
	team = nil // nothing is created; a folder of saved postings is imported without
	if code, complaint := sends("--restart"); code != exitDone {
		t.Errorf("exit %d: %s", code, complaint)
	}
	if problems := checkSpace(book, 1<<60); len(problems) != 1 || !strings.Contains(problems[0], "MiB free, and the journal and the report need about") {
		t.Errorf("%q", problems)
	}
	if problems := checkSpace(book, 0); len(problems) > 0 {
		t.Errorf("%q", problems)
	}
}

// wrongClock returns a proxy of a server whose clock is an hour ahead.
func wrongClock(t *testing.T, base string) string {
	t.Helper()
	target, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	at := regexp.MustCompile(`"server_time": "[^"]*"`)
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.ModifyResponse = func(response *http.Response) error {
		if !strings.HasSuffix(response.Request.URL.Path, "/openapi.json") {
			return nil
		}
		text, err := io.ReadAll(response.Body)
		if err != nil {
			return err
		}
		text = at.ReplaceAll(text, []byte(`"server_time": "`+time.Now().Add(time.Hour).UTC().Format(time.RFC3339Nano)+`"`))
		response.Body = io.NopCloser(bytes.NewReader(text))
		response.ContentLength = int64(len(text))
		response.Header.Del("Content-Length")
		return nil
	}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	return server.URL
}
