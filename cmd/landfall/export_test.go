package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"landfall/internal/kit/export"
	"landfall/internal/kit/importer"
	"landfall/internal/test/tooltest"
)

// exportTest is a server with imported accounts and a key that may read them.
type exportTest struct {
	*importTest
	reader string
}

func newExportTest(t *testing.T, database string, accounts string) *exportTest {
	t.Helper()
	m := newImportTestOn(t, database, nil, "--accounts", accounts)
	m.finish(t)
	return &exportTest{m, strings.TrimSpace(m.command(t, "key", "create", "Acme", "--role", "reader"))}
}

// export runs an export in its own process through an address.
func (e *exportTest) export(t *testing.T, server, folder string, args ...string) *exec.Cmd {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := &exec.Cmd{
		Path: program, Args: append([]string{"landfall", "export", "NORTH", "--to", folder, "--reason", "a test", "--json"}, args...),
		Env: append(os.Environ(), "LANDFALL_SERVER="+server, "LANDFALL_API_KEY="+e.reader, "LANDFALL_PSEUDONYM_KEY=a secret of the tests"),
	}
	command.Stdout, command.Stderr = &bytes.Buffer{}, &bytes.Buffer{}
	return command
}

// whole runs an export to its end and returns what it printed.
func (e *exportTest) whole(t *testing.T, server, folder string, args ...string) export.Result {
	t.Helper()
	command := e.export(t, server, folder, args...)
	if err := command.Run(); err != nil {
		t.Fatalf("%q: %v: %s", args, err, command.Stderr)
	}
	var result export.Result
	if err := json.Unmarshal(command.Stdout.(*bytes.Buffer).Bytes(), &result); err != nil {
		t.Fatal(err)
	}
	return result
}

// rows reads a CSV file.
func csvRows(t *testing.T, path string) []map[string]string {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	all, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var rows []map[string]string
	for _, cells := range all[1:] {
		row := map[string]string{}
		for i, cell := range cells {
			row[all[0][i]] = cell
		}
		rows = append(rows, row)
	}
	return rows
}

// An exported book imports into an empty server without any difference, with real data and with
// pseudonyms.
func TestAnExportedBookImportsWithoutDifference(t *testing.T) {
	tooltest.SkipIfShort(t)
	onBoth(t, func(t *testing.T, fresh func(testing.TB) string) {
		e := newExportTest(t, fresh(t), "150")
		for _, options := range [][]string{{}, {"--pseudonymise"}} {
			folder := filepath.Join(t.TempDir(), "out")
			e.whole(t, e.base, folder, append(options, "--format", "book")...)
			other := newImportTestOn(t, fresh(t), nil, "--accounts", "1")
			other.book = folder
			for phase, tally := range other.finish(t) {
				if tally.Done != tally.Lines || tally.Lines == 0 && phase == importer.Phases()[0] {
					t.Errorf("%s: %+v", phase, tally)
				}
			}
			t.Setenv("LANDFALL_SERVER", other.base)
			t.Setenv("LANDFALL_API_KEY", strings.TrimSpace(other.command(t, "key", "create", "Acme", "--role", "reader")))
			var out, complaint bytes.Buffer
			if code := runMain([]string{"reconcile", folder}, &out, &complaint); code != exitDone ||
				!strings.Contains(out.String(), "The control totals on the server match those of the book.\n") {
				t.Errorf("exit %d: %s %s", code, out.String(), complaint.String())
			}
			// What the first server says about itself must hold for the second.
			if got, want := other.totals(t), e.totals(t); got != want {
				t.Errorf("%q: the sums are\n%s, on the first server\n%s", options, got, want)
			}
		}
	})
}

// totals are the sums of what was created, as the database says.
func (m *importTest) totals(t *testing.T) string {
	t.Helper()
	var found struct {
		Measures []struct {
			Measure string          `json:"measure"`
			Created json.RawMessage `json:"created"`
		} `json:"measures"`
	}
	if err := json.Unmarshal([]byte(m.command(t, "reconcile", "NORTH", "--json")), &found); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(found)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// An export that is killed and cut off continues, and has the bytes of one that was not.
func TestAnExportKilledAnywhereContinues(t *testing.T) {
	tooltest.SkipIfShort(t)
	onBoth(t, func(t *testing.T, fresh func(testing.TB) string) {
		e := newExportTest(t, fresh(t), "400")
		formats := export.Formats()
		if strings.HasSuffix(t.Name(), "postgres") {
			formats = formats[:1] // how files are written does not depend on the database
		}
		for _, format := range formats {
			proxy := newCuttingProxy(t, e.base)
			want, got := filepath.Join(t.TempDir(), "want"), filepath.Join(t.TempDir(), "got")
			e.whole(t, proxy.URL, want, "--format", format)
			proxy.cut.Store(true)
			proxy.slow.Store(true)
			for kill := range 2 {
				proxy.pages.Store(0)
				command := e.export(t, proxy.URL, got, "--format", format)
				if err := command.Start(); err != nil {
					t.Fatal(err)
				}
				// Long enough for a checkpoint, then at another place each time.
				proxy.waitForPages(t, 14+int64(kill))
				if err := command.Process.Signal(syscall.SIGKILL); err != nil {
					t.Fatal(err)
				}
				_ = command.Wait()
			}
			proxy.first.Store("")
			proxy.slow.Store(false)
			e.whole(t, proxy.URL, got, "--format", format)
			if first, _ := proxy.first.Load().(string); format != "parquet" && !strings.Contains(first, "after=") {
				t.Errorf("%s starts over: %q", format, first)
			}
			sameFiles(t, want, got)
		}
	})
}

// sameFiles compares the files of two exports.
func sameFiles(t *testing.T, want, got string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(want, "*"))
	if err != nil || len(files) < 2 {
		t.Fatal(files, err)
	}
	for _, path := range files {
		if filepath.Base(path) == ".landfall" {
			continue
		}
		one, err := os.ReadFile(path)
		other, otherErr := os.ReadFile(filepath.Join(got, filepath.Base(path)))
		if err != nil || otherErr != nil || !bytes.Equal(one, other) {
			t.Errorf("%s differs: %d and %d bytes, %v %v", filepath.Base(path), len(one), len(other), err, otherErr)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(got, "*.part")); len(left) > 0 {
		t.Errorf("incomplete files are left: %q", left)
	}
}

// cuttingProxy makes pages short and slow, and cuts some of them off.
type cuttingProxy struct {
	*httptest.Server
	cut   atomic.Bool
	slow  atomic.Bool
	pages atomic.Int64
	first atomic.Value // query of the first page since it was cleared
}

func newCuttingProxy(t *testing.T, base string) *cuttingProxy {
	t.Helper()
	target, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	p := &cuttingProxy{}
	p.first.Store("")
	forward := httputil.NewSingleHostReverseProxy(target)
	forward.ErrorLog = log.New(io.Discard, "", 0)
	forward.ModifyResponse = func(response *http.Response) error {
		if strings.Contains(response.Request.URL.Path, "/accounts/") && p.cut.Load() && p.pages.Load()%7 == 3 {
			response.Body = struct {
				io.Reader
				io.Closer
			}{io.MultiReader(io.LimitReader(response.Body, 30_000), failingReader{}), response.Body}
		}
		return nil
	}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/accounts/") {
			p.first.CompareAndSwap("", r.URL.RawQuery)
			p.pages.Add(1)
			query := r.URL.Query()
			query.Set("limit", "10")
			r.URL.RawQuery = query.Encode()
			if p.slow.Load() {
				time.Sleep(100 * time.Millisecond) // so that checkpoints come between pages
			}
		}
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(p.Close)
	return p
}

// waitForPages waits until some pages were requested.
func (p *cuttingProxy) waitForPages(t *testing.T, count int64) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); p.pages.Load() < count; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("only %d pages were requested", p.pages.Load())
		}
	}
}

type failingReader struct{}

func (failingReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// A program that knows nothing of Landfall reads the Parquet files, with exact sums and types.
func TestDuckDBReadsAnExport(t *testing.T) {
	tooltest.SkipIfShort(t)
	folder := tooltest.Node(t, "testdata/duckdb")
	e := newExportTest(t, fileDatabase(t), "300")
	out := filepath.Join(t.TempDir(), "out")
	e.whole(t, e.base, out, "--format", "parquet")
	script, err := os.ReadFile("testdata/duckdb/read.mjs")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "read.mjs"), script, 0o600); err != nil {
		t.Fatal(err)
	}
	node := exec.CommandContext(t.Context(), "node", "read.mjs", out)
	node.Dir = folder
	output, err := node.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	var found map[string][]map[string]string
	if err := json.Unmarshal(output, &found); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	accounts := found["accounts"][0]
	if accounts["rows"] != "300" || accounts["amount"] != "DECIMAL(18,3)" || accounts["instant"] != "TIMESTAMP WITH TIME ZONE" || accounts["day"] != "DATE" {
		t.Errorf("accounts %v", accounts)
	}
	// The service writes pounds with two decimals.
	if !strings.Contains(e.totals(t), `"amount":"`+strings.TrimSuffix(accounts["balances"], "0")+`"`) || found["ledger"][0]["balances"] != accounts["balances"] {
		t.Errorf("balances %s, ledger %v, server %s", accounts["balances"], found["ledger"][0], e.totals(t))
	}
	if readings := found["readings"][0]; readings["type"] != "DECIMAL(22,10)" || readings["rows"] == "0" {
		t.Errorf("readings %v", readings)
	}
	if found["orphans"][0]["rows"] != "0" || found["others"][0]["rows"] != "0" || found["columns"][0]["column_name"] != "import_supplier" {
		t.Errorf("%v %v %v", found["orphans"], found["others"], found["columns"])
	}
}

// Tables have every account, --changed-since only what changed, and pseudonyms hide people.
func TestExportsOfTables(t *testing.T) {
	tooltest.SkipIfShort(t)
	onBoth(t, func(t *testing.T, fresh func(testing.TB) string) {
		e := newExportTest(t, fresh(t), "12")
		folder := t.TempDir()
		result := e.whole(t, e.base, filepath.Join(folder, "plain"), "--format", "csv")
		plain := csvRows(t, filepath.Join(folder, "plain", "customers.csv"))
		if accounts := csvRows(t, filepath.Join(folder, "plain", "accounts.csv")); result.Accounts != 12 || len(accounts) != 12 || len(plain) < 12 || len(accounts[0]["fingerprint"]) != 64 {
			t.Fatalf("%+v, %d accounts, %d customers", result, len(accounts), len(plain))
		}
		e.whole(t, e.base, filepath.Join(folder, "hidden"), "--format", "csv", "--pseudonymise")
		hidden := csvRows(t, filepath.Join(folder, "hidden", "customers.csv"))
		for i := range plain {
			for _, column := range []string{"given_name", "family_name", "email", "mobile"} {
				if plain[i][column] != "" && plain[i][column] == hidden[i][column] {
					t.Errorf("%s of %v is not hidden", column, hidden[i])
				}
			}
			if born := plain[i]["date_of_birth"]; born != "" && hidden[i]["date_of_birth"] != born[:4]+"-01-01" {
				t.Errorf("born %s, hidden %s", born, hidden[i]["date_of_birth"])
			}
		}
		sums := func(name string) string {
			text := ""
			for _, row := range csvRows(t, filepath.Join(folder, name, "ledger.csv")) {
				text += row["external_account_number"] + " " + row["date"] + " " + row["amount"] + "\n"
			}
			return text
		}
		if sums("plain") != sums("hidden") {
			t.Error("pseudonyms changed amounts or dates")
		}
		// Nothing has changed since; then a formula is added to one account.
		changed := e.whole(t, e.base, filepath.Join(folder, "none"), "--format", "csv", "--changed-since", result.Cursor)
		if changed.Accounts != 0 || changed.Cursor != result.Cursor {
			t.Errorf("%+v", changed)
		}
		note := filepath.Join(t.TempDir(), "notes.ndjson")
		if err := os.WriteFile(note, []byte(`{"import_supplier":"NORTH","external_account_number":"A-1000003","notes":[{"body":"=1+2"}]}`), 0o600); err != nil {
			t.Fatal(err)
		}
		e.book = note
		e.finish(t)
		if changed = e.whole(t, e.base, filepath.Join(folder, "some"), "--format", "csv", "--changed-since", result.Cursor); changed.Accounts != 1 {
			t.Errorf("%+v", changed)
		}
		notes := csvRows(t, filepath.Join(folder, "some", "notes.csv"))
		if last := notes[len(notes)-1]; last["body"] != "'=1+2" {
			t.Errorf("a spreadsheet would execute %v", last)
		}
		if audit := e.command(t, "audit", "list", "--json"); !strings.Contains(audit, "12 accounts: a test") {
			t.Errorf("the reason is not in the audit: %s", audit)
		}
	})
}

// An export says what is wrong and does not touch files of others.
func TestRefusedExports(t *testing.T) {
	tooltest.SkipIfShort(t)
	e := newExportTest(t, fileDatabase(t), "1")
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "mine.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	done := filepath.Join(t.TempDir(), "done")
	e.whole(t, e.base, done)
	for want, args := range map[string][]string{
		"is not empty":                       {"--to", folder},
		"has a complete export":              {"--to", done},
		"--format: want one of ndjson":       {"--format", "xml"},
		"must have at least 16 characters":   {"--pseudonymise", "--pseudonym-key-file", "testdata/duckdb/.npmrc.missing"},
		"no import supplier with this code":  {"--to", filepath.Join(t.TempDir(), "x"), "SOUTH"},
		"is only for --pseudonymise":         {"--pseudonym-key-file", "main.go"},
		"cursor that an earlier export prin": {"--to", filepath.Join(t.TempDir(), "y"), "--changed-since", "nonsense"},
	} {
		command := e.export(t, e.base, filepath.Join(t.TempDir(), "z"), args...)
		if strings.HasPrefix(want, "must have") {
			command.Args = append(command.Args[:len(command.Args)-2], "--pseudonym-key-file", filepath.Join(folder, "mine.txt"))
			if err := os.WriteFile(filepath.Join(folder, "mine.txt"), []byte("short"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if strings.HasPrefix(want, "no import supplier") {
			command.Args = append(command.Args[:len(command.Args)-1], "--json")
			command.Args[2] = "SOUTH"
		}
		if err := command.Run(); err == nil || !strings.Contains(command.Stderr.(*bytes.Buffer).String(), want) {
			t.Errorf("%s: %v %s", want, err, command.Stderr)
		}
	}
	// Another role may not read whole accounts.
	e.reader = e.key
	command := e.export(t, e.base, filepath.Join(t.TempDir(), "z"))
	if err := command.Run(); err == nil || !strings.Contains(command.Stderr.(*bytes.Buffer).String(), "role reader") {
		t.Errorf("%v %s", err, command.Stderr)
	}
}

// A webhook with --include-data gets the whole account, unless it is too large for an event; others
// get numbers only.
func TestWebhooksCarryWholeAccounts(t *testing.T) {
	tooltest.SkipIfShort(t)
	t.Setenv("LANDFALL_WEBHOOK_KEY", strings.Repeat("k", 40))
	t.Setenv("LANDFALL_WEBHOOK_NETWORKS", "127.0.0.0/8")
	t.Setenv("LANDFALL_WEBHOOK_PLAIN_HTTP", "true")
	onBoth(t, func(t *testing.T, fresh func(testing.TB) string) {
		m := newImportTestOn(t, fresh(t), nil, "--accounts", "1")
		m.book = t.TempDir()
		notes := strings.TrimSuffix(strings.Repeat(`{"body":"`+strings.Repeat("x", 1000)+` %"},`, 300), ",")
		for i := range 300 {
			notes = strings.Replace(notes, "%", strconv.Itoa(i), 1)
		}
		const account = `{"import_supplier":"NORTH","customers":[{"family_name":"Lovelace"}],"external_account_number":`
		if err := os.WriteFile(filepath.Join(m.book, "accounts.ndjson"), []byte(account+`"small"}`+"\n"+account+`"large/1","notes":[`+notes+`]}`+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		type event struct {
			hook string
			Data struct {
				Account *struct {
					Number string `json:"platform_account_number"`
					Data   struct {
						Customers []struct {
							Name string `json:"family_name"`
						}
					}
				}
				TooLarge bool   `json:"account_too_large"`
				URL      string `json:"account_url"`
			}
			Subject string
		}
		events := make(chan event, 100)
		receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			got := event{hook: r.URL.Path}
			body, _ := io.ReadAll(r.Body)
			if err := json.Unmarshal(body, &got); err != nil {
				t.Error(err)
			}
			if got.hook == "/plain" && bytes.Contains(body, []byte("Lovelace")) {
				t.Errorf("a webhook without accounts got %s", body)
			}
			events <- got
		}))
		t.Cleanup(receiver.Close)
		m.command(t, "webhook", "add", "whole", "Acme", receiver.URL+"/whole", "--event", "account_import.completed", "--include-data")
		m.command(t, "webhook", "add", "plain", "Acme", receiver.URL+"/plain", "--event", "account_import.completed")
		m.finish(t)
		for range 4 {
			got := <-events
			account := got.Data.Account
			switch got.hook + " " + got.Subject {
			case "/whole NORTH/small":
				if account == nil || account.Number == "" || len(account.Data.Customers) != 1 || account.Data.Customers[0].Name != "Lovelace" || got.Data.TooLarge {
					t.Errorf("%+v", got)
				}
			case "/whole NORTH/large/1":
				if account != nil || !got.Data.TooLarge || got.Data.URL != "/v1/data-import/accounts/NORTH/large%2F1/" {
					t.Errorf("%+v", got)
				}
			case "/plain NORTH/small", "/plain NORTH/large/1":
				if account != nil || got.Data.TooLarge {
					t.Errorf("%+v", got)
				}
			default:
				t.Errorf("%+v", got)
			}
		}
	})
}
