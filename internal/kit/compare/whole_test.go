package compare

import (
	"fmt"
	"strings"
	"testing"

	"landfall"
	"landfall/internal/kit/book"
)

// compareWhole compares the lines of a book with a whole account of the server and returns the state
// and what differs.
func compareWhole(t *testing.T, there string, lines map[book.Kind]string) string {
	t.Helper()
	c := &comparison{options: Options{Book: &book.Book{}, Currency: "GBP"}, sent: newSentRecords()}
	key := landfall.Key{Supplier: "N", External: "1"}
	told := &toldAccount{}
	for _, kind := range book.Kinds() {
		if text, known := lines[kind]; known {
			told.lines = append(told.lines, record{kind: bookRecord, key: key, file: len(c.options.Book.Files), line: 1, text: []byte(text)})
			c.options.Book.Files = append(c.options.Book.Files, book.File{Path: kind.Stem + ".ndjson", Kind: kind})
			if kind == book.Accounts {
				c.sent.hashes[c.sent.hash([]byte(text))[0]] = struct{}{}
			}
		}
	}
	kept := c.sent.keepWhole([]byte(there))
	if kept.err != nil || kept.external != key.External {
		t.Fatalf("%+v", kept)
	}
	told.said = []record{{kind: wholeRecord, key: key, text: kept.text}}
	compared := c.compareAccount(t.Context(), key, told)
	if compared.err != nil {
		t.Fatal(compared.err)
	}
	state, differences := compared.finding.State, compared.finding.Differences
	text := string(state)
	for _, one := range differences {
		text += fmt.Sprintf("; %s %s: %q is %q", one.At, one.Attr, one.Book, one.Server)
	}
	return text
}

// TestWholeAccounts compares an account with everything that a pack adds to it, and with what only one
// side has.
func TestWholeAccounts(t *testing.T) {
	lines := map[book.Kind]string{
		book.Accounts: `{` + testKey + `,"customers":[{"family_name":"A","nickname":"B"}],"notes":[{"body":"first"}]}`,
		book.Notes: `{` + testKey + `,"notes":[{"body":"x","created_at":"2025-01-01T00:00:00Z"},{"body":"x"},
			{"external_id":"N","body":"y","created_at":"2025-01-03T00:00:00Z","channel":["web"]}]}`,
		book.Transactions: `{` + testKey + `,"transactions":[{"transaction_id":"T","transaction_date":"2026-01-02","amount":"3.00","type":"PAYMENT","mood":1}]}`,
		book.Statements:   `{` + testKey + `,"statements":[{"statement_id":"S","bill_period_from_date":"2026-01-01","bill_period_to_date":"2026-01-31","statement_path":"/a.pdf"}]}`,
		book.Instructions: `{` + testKey + `,"vendor":"v","reference":"r","type":"CARD"}`,
	}
	const there = `{` + testKey + `,"currency":"GBP","balance":"3.00","created_at":"2026-02-01T00:00:00Z","data":{` + testKey + `,"customers":[{"family_name":"A","nickname":"B"}],"notes":[{"body":"first"}]},
		"notes":[{"body":"first","created_at":"2026-02-01T00:00:00Z"},{"body":"x","created_at":"2025-01-01T00:00:00Z"},
			{"external_id":"N","body":"y","created_at":"2025-01-03T00:00:00Z","pack_fields":{"channel":[ "web" ]}}],
		"ledger":[{"transaction":null},{"transaction":{"transaction_id":"T","transaction_date":"2026-01-02","amount":"3.00","type":"PAYMENT","mood":1}}],
		"statements":[{"statement_id":"S","bill_period_from_date":"2026-01-01","bill_period_to_date":"2026-01-31","statement_path":"a.pdf"}],
		"payment_instructions":[{"vendor":"v","reference":"r","type":"CARD"}]}`
	for _, c := range []struct{ name, old, new, want string }{
		{"the same", "", "", "same"},
		{"a field of a pack in the account", `"nickname":"B"`, `"nickname":"C"`, `differs; accounts.ndjson:1 customers.0.nickname: "\"B\"" is "\"C\""`},
		{"a field of a pack in a note", `[ "web" ]`, `["post"]`, `differs; notes.ndjson:1 notes.2.channel: "[\"web\"]" is "[\"post\"]"`},
		{"a field of a pack in a transaction", `"mood":1`, `"mood":2`, `differs; transactions.ndjson:1 transactions.0.mood: "1" is "2"`},
		{"the time of a note with an identifier", `2025-01-03`, `2025-01-04`, `differs; notes.ndjson:1 notes.2.created_at: "2025-01-03T00:00:00Z" is "2025-01-04T00:00:00Z"`},
		{"another identity", `"transaction_id":"T"`, `"transaction_id":"U"`, `differs; transactions.ndjson:1 transactions.0.transaction_id: "T" is "U"`},
		{"only in the book", `{"vendor":"v","reference":"r","type":"CARD"}`, ``, `differs; payment-instructions.ndjson:1 payment_instructions: "v r" is ""`},
		{"only on the server", `"statements":[`, `"statements":[{"statement_id":"S0","bill_period_from_date":"2025-01-01","bill_period_to_date":"2025-01-31"},`,
			`differs;  statements: "" is "S0"`},
		{"a note of the record is lost", `{"body":"first","created_at":"2026-02-01T00:00:00Z"},`, ``, `differs;  notes.0: "first" is ""`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := compareWhole(t, strings.Replace(there, c.old, c.new, 1), lines); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
	// A book that only adds to an account says nothing about the rest of it.
	delete(lines, book.Accounts)
	delete(lines, book.Statements)
	if got := compareWhole(t, there, lines); got != "same" {
		t.Errorf("without the account: %s", got)
	}
	if got := compareWhole(t, strings.Replace(there, `"body":"x"`, `"body":"z"`, 1), lines); got != `differs; notes.ndjson:1 notes.0: "x" is ""; notes.ndjson:1 notes.1: "x" is ""` {
		t.Errorf("a note that is missing: %s", got)
	}
}
