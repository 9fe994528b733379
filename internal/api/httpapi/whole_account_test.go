package httpapi

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"landfall"
)

// reads returns the audit entries about reading whole accounts.
func (h *testAPI) reads() (found []string) {
	h.t.Helper()
	ctx := h.t.Context()
	if err := h.store.View(ctx, func(view landfall.View) error {
		trail, err := view.AuditTrail(ctx, landfall.AuditQuery{Limit: 1000})
		for _, entry := range trail {
			if strings.HasPrefix(entry.Action, "account.read") {
				if entry.RequestID == "" || entry.Source == "" || !strings.HasPrefix(entry.Actor, "key:") {
					h.t.Errorf("the entry does not say who read: %+v", entry)
				}
				found = append(found, entry.Action+" "+entry.Subject+" "+entry.Detail)
			}
		}
		return err
	}); err != nil {
		h.t.Fatal(err)
	}
	return found
}

// Reading personal data leaves an audit entry; a stream leaves one with its
// count, also when it was cut off.
func TestReadsOfWholeAccountsAreAudited(t *testing.T) {
	h := newTestAPI(t)
	for i := range 3 {
		h.create("importer", "OURS", fmt.Sprint("A", i))
	}
	const accounts = importPath + "/accounts/OURS/"
	for path, status := range map[string]int{accounts + "A1/": 200, accounts + "nobody/": 404, accounts: 200, accounts + "?limit=2": 200} {
		if got := h.call("reader", "GET", path, ""); got.status != status {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
	if got := h.call("viewer", "GET", accounts, ""); got.status != 403 {
		t.Errorf("viewer: %d", got.status)
	}
	got := strings.Join(h.reads(), "\n")
	for _, want := range []string{"account.read OURS/A1 A-", "account.read_all OURS 3 accounts", "account.read_all OURS 2 accounts"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in the audit:\n%s", want, got)
		}
	}
	if count := strings.Count(got, "account.read"); count != 3 {
		t.Errorf("%d entries:\n%s", count, got)
	}
}

// A caller that leaves in the middle has read something too.
func TestStreamsOfWholeAccountsThatAreCutOffAreAudited(t *testing.T) {
	h := newTestAPI(t)
	h.create("importer", "OURS", "A0")
	for i := range 40 {
		body := fmt.Sprintf(`{"import_supplier":"OURS","external_account_number":"A0","notes":[{"body":"%d %s"}]}`, i, strings.Repeat("x", 19_000))
		if got := h.call("importer", "POST", notesPath, body); got.status != 201 {
			t.Fatal(got.status, got.body)
		}
	}
	for range 50 {
		h.create("importer", "OURS", fmt.Sprint("B", time.Now().UnixNano()))
	}
	request, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, h.server.URL+importPath+"/accounts/OURS/", nil)
	request.Header.Set("Authorization", "Token "+h.tokens["reader"])
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(response.Body, make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	http.DefaultClient.CloseIdleConnections()
	for end := time.Now().Add(30 * time.Second); len(h.reads()) == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the stream is not in the audit")
		}
	}
}

// An account with long lists is sent in pieces and is still one JSON object
// with everything in it.
func TestLongWholeAccountIsComplete(t *testing.T) {
	h := newTestAPI(t)
	h.create("importer", "OURS", "A0")
	const count = 450
	for from := 0; from < count; from += 50 {
		var notes []string
		for i := range 50 {
			notes = append(notes, fmt.Sprintf(`{"body":"note %d %s"}`, from+i, strings.Repeat("x", 10_000)))
		}
		body := `{"import_supplier":"OURS","external_account_number":"A0","notes":[` + strings.Join(notes, ",") + `]}`
		if got := h.call("importer", "POST", notesPath, body); got.status != 201 {
			t.Fatal(got.status, got.body)
		}
	}
	for _, path := range []string{importPath + "/accounts/OURS/A0/", importPath + "/accounts/OURS/"} {
		got := h.call("reader", "GET", path, "")
		var account struct {
			Notes []struct{ Body string }
		}
		if err := json.Unmarshal([]byte(got.body), &account); err != nil {
			t.Fatal(err)
		}
		if got.status != 200 || len(account.Notes) != count {
			t.Fatalf("%s: %d with %d notes", path, got.status, len(account.Notes))
		}
		for i, note := range account.Notes {
			if !strings.HasPrefix(note.Body, fmt.Sprintf("note %d x", i)) {
				t.Fatalf("note %d is %.20s", i, note.Body)
			}
		}
	}
}

// Line breaks inside a document must not break the lines of the stream, also those inside its
// transactions.
func TestWholeAccountsAreOneLineEach(t *testing.T) {
	h := newTestAPI(t)
	body := "{\r\n\"import_supplier\": \"OURS\",\n \"external_account_number\": \"A0\", \"customers\": [\n{}\n],\n\"current_statement_transactions\": [{" +
		"\"transaction_id\": \"1\", \"transaction_date\": \"2026-01-31\",\n\"amount\": 5, \"type\": \"SUPPLY_CHARGE\", \"product_code\": \"P\", \"reference\": null,\n\"line_items\": [\n{" +
		"\"rate_band\": \"A\", \"start_date\": \"2026-01-01\", \"end_date\": \"2026-01-31\",\r\n\"number_of_units\": 1, \"net_amount\": 5}\n]\n}]}"
	if got := h.call("importer", "POST", stagePath, body); got.status != 201 {
		t.Fatal(got.status, got.body)
	}
	if got := h.call("importer", "POST", processPath, creation("OURS", "A0")); got.status != 201 {
		t.Fatal(got.status, got.body)
	}
	got := h.call("reader", "GET", importPath+"/accounts/OURS/?fingerprint=false", "")
	if strings.Count(got.body, "\n") != 1 || !json.Valid([]byte(got.body)) || strings.Contains(got.body, "fingerprint") || !strings.Contains(got.body, `"delivery":"NONE"`) {
		t.Errorf("%q", got.body)
	}
	// The transaction is as in the response to adding it: without null, and with a normal amount.
	var account struct {
		Ledger []struct{ Transaction map[string]any }
	}
	if err := json.Unmarshal([]byte(got.body), &account); err != nil {
		t.Fatal(err)
	}
	transaction := account.Ledger[0].Transaction
	if _, given := transaction["reference"]; given || transaction["amount"] != "5.00" || len(transaction) != 6 {
		t.Errorf("%v", transaction)
	}
}

// The cursor of a stream is one of the feed: reading what changed since returns what changed since.
func TestCursorOfWholeAccounts(t *testing.T) {
	h := newTestAPI(t)
	const accounts = importPath + "/accounts/OURS/"
	for i, want := range []int{0, 0, 1, 2} {
		first := h.call("reader", "GET", accounts+"?limit=1&reason=a+nightly+copy", "")
		cursor := first.header.Get("Landfall-Cursor")
		if first.status != 200 || cursor == "" {
			t.Fatal(first.status, first.body, first.header)
		}
		for n := range want {
			h.create("importer", "OURS", fmt.Sprint("A", i, n))
		}
		got := h.call("reader", "GET", accounts+"?changed_since="+cursor, "")
		if got.status != 200 || strings.Count(got.body, "\n") != want {
			t.Errorf("%d %s, want %d accounts", got.status, got.body, want)
		}
	}
	if got := strings.Join(h.reads(), "\n"); !strings.Contains(got, "account.read_all OURS 1 accounts: a nightly copy") {
		t.Errorf("the reason is not in the audit:\n%s", got)
	}
	for _, reason := range []string{"two%0Alines", strings.Repeat("x", 201), "%ff"} {
		if got := h.call("reader", "GET", accounts+"?reason="+reason, ""); got.status != 400 || !strings.Contains(got.body, `"attr":"reason"`) {
			t.Errorf("%.20s: %d %s", reason, got.status, got.body)
		}
	}
}

// A page of the feed with whole accounts ends early when it has become long, its cursor
// continues behind it, and what was sent is in the audit.
func TestEventsWithWholeAccounts(t *testing.T) {
	h := newTestAPI(t)
	const accounts = 30
	for i := range accounts {
		external := fmt.Sprint("A", i)
		h.create("importer", "OURS", external)
		notes := make([]string, 12)
		for n := range notes {
			notes[n] = fmt.Sprintf(`{"body":"%d %s"}`, n, strings.Repeat("x", 19_000))
		}
		body := fmt.Sprintf(`{"import_supplier":"OURS","external_account_number":%q,"notes":[%s]}`, external, strings.Join(notes, ","))
		if got := h.call("importer", "POST", notesPath, body); got.status != 201 {
			t.Fatal(got.status, got.body)
		}
	}
	seen, sent, pages := map[string]bool{}, 0, 0
	for path := importPath + "/events/?include_data=true"; ; pages++ {
		got := h.call("reader", "GET", path, "")
		if len(got.body) > 5<<20 {
			t.Errorf("a page has %d bytes", len(got.body))
		}
		var page struct {
			Events []struct {
				Type string
				Data struct {
					External string `json:"external_account_number"`
					Account  struct{ Notes []any }
				}
			}
			Next string
		}
		if err := json.Unmarshal([]byte(got.body), &page); err != nil || got.status != 200 {
			t.Fatal(got.status, err)
		}
		if len(page.Events) == 0 {
			break
		}
		for _, event := range page.Events {
			if len(event.Data.Account.Notes) != 12 {
				t.Errorf("%s of %s has %d notes", event.Type, event.Data.External, len(event.Data.Account.Notes))
			}
			if event.Type == "account_import.completed" && seen[event.Data.External] {
				t.Errorf("%s came twice", event.Data.External)
			}
			seen[event.Data.External] = true
			sent++
		}
		path = importPath + "/events/?include_data=true&after=" + page.Next
	}
	recorded := 0
	for _, entry := range h.reads() {
		var count int
		if _, err := fmt.Sscanf(entry, "account.read_all OURS %d accounts: in events", &count); err == nil {
			recorded += count
		}
	}
	if len(seen) != accounts || pages < 2 || recorded != sent {
		t.Errorf("%d accounts in %d pages; %d were sent and %d are in the audit", len(seen), pages, sent, recorded)
	}
}
