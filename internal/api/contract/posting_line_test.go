package contract

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"landfall"
	"landfall/internal/lib/calendar"
	"landfall/internal/lib/money"
)

// What was posted is written as the call that posts it again: one line, which is
// read back as the same.
func TestPostingLinesAreReadBack(t *testing.T) {
	key := landfall.Key{Supplier: "S", External: `4"7\n1é`}
	gross, at := money.Amount(-12340), time.Date(2024, 2, 29, 23, 59, 59, 0, time.UTC)
	line := func(item landfall.PostedItem) []byte {
		t.Helper()
		body := AppendPostingLine([]byte("before"), key, item)
		body, found := bytes.CutPrefix(body, []byte("before"))
		if !found || bytes.Count(body, []byte{'\n'}) != 1 || !bytes.HasSuffix(body, []byte("}\n")) || bytes.ContainsRune(body, '\r') {
			t.Errorf("not one line: %q", body)
		}
		return body
	}
	same := func(want, got any, err error) {
		t.Helper()
		if difference := cmp.Diff(want, got, cmp.AllowUnexported(calendar.Day{})); difference != "" || err != nil {
			t.Error(difference, err)
		}
	}
	for _, note := range []landfall.Note{
		{Body: "first\nsecond \u2028\t\"", HasBody: true, CreatedAt: at},
		{DocumentPaths: []string{"/a b.pdf", "c/\"d\".pdf"}, CreatedAt: at, Pinned: true, UnpinAt: at.Add(time.Hour), ExternalID: "N-1"},
	} {
		request, err := ReadNotes(t.Context(), line(landfall.PostedItem{Kind: landfall.PostingNotes, Note: &note}))
		if err != nil {
			t.Errorf("%+v: %v", note, err)
			continue
		}
		same(key, request.Key(), nil)
		same([]landfall.Note{note}, request.Notes(), nil)
	}
	for _, statement := range []landfall.Statement{
		{ID: "B1", FromOn: calendar.Date(2024, 1, 1), ToOn: calendar.Date(2024, 1, 31)},
		{
			ID: "B2", FromOn: calendar.Date(2024, 2, 1), ToOn: calendar.Date(2024, 2, 29), IssuedOn: calendar.Date(2024, 3, 1),
			Number: "7/2024", GrossAmount: &gross, Path: "bills/2.pdf",
		},
	} {
		request, err := ReadStatements(t.Context(), line(landfall.PostedItem{Kind: landfall.PostingStatements, Statement: &statement}))
		if err != nil {
			t.Errorf("%+v: %v", statement, err)
			continue
		}
		same(key, request.Key(), nil)
		same([]landfall.Statement{statement}, request.Statements(), nil)
	}
	for _, instruction := range []landfall.Instruction{
		{Vendor: "V", Reference: "r 1", Type: "CARD"},
		{Vendor: "V", Reference: "r2", Type: "DIRECT_DEBIT", ValidFromOn: calendar.Date(2024, 1, 1), ForSchedules: true},
	} {
		request, err := ReadInstruction(t.Context(), line(landfall.PostedItem{Kind: landfall.PostingInstruction, Instruction: &instruction}))
		same(key, request.Key, err)
		same(instruction, request.Instruction, nil)
	}
	// A transaction is written as it was sent, also one whose date was moved.
	sent := []byte("{\"transaction_id\": \"T1\",\r\n \"transaction_date\":\"2020-01-01\", \"amount\":5.10,\n\"type\":\"CHARGE\", \"reason\":\"R\"}")
	item := landfall.PostedItem{Kind: landfall.PostingTransactions, Transaction: &landfall.Transaction{Document: sent, OriginalOn: calendar.Date(2020, 1, 1)}}
	request, err := ReadTransactions(t.Context(), line(item))
	if err != nil {
		t.Fatal(err)
	}
	same(key, request.Key(), nil)
	if got := request.Transactions()[0]; got.ID != "T1" || got.On != calendar.Date(2020, 1, 1) || got.Amount != 5100 || got.Reason != "R" {
		t.Errorf("%+v", got)
	}
	if bytes.Count(sent, []byte{'\n'}) != 2 {
		t.Error("the transaction itself was changed")
	}
}

// The fields that packs add are members like all others.
func TestPostingLinesWithFieldsOfPacks(t *testing.T) {
	for extra, want := range map[string]string{
		``: ``, `{}`: ``, " { } ": ``, `{"a":{"b":"}"}}`: `,"a":{"b":"}"}`, "{\n\"a\": 1,\n\"b\": [2]\n}": `,"a": 1, "b": [2]`,
	} {
		item := landfall.PostedItem{Kind: landfall.PostingStatements, Statement: &landfall.Statement{
			ID: "1", FromOn: calendar.Date(2024, 1, 1), ToOn: calendar.Date(2024, 1, 2), Extra: extra,
		}}
		got := string(AppendPostingLine(nil, landfall.Key{Supplier: "S", External: "1"}, item))
		if want := `{"import_supplier":"S","external_account_number":"1","statements":[{"statement_id":"1","bill_period_from_date":"2024-01-01","bill_period_to_date":"2024-01-02"` + want + "}]}\n"; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
