package contract

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"landfall"
	"landfall/internal/api/rules"
	"landfall/internal/lib/calendar"
)

func TestDifferences(t *testing.T) {
	const one = `{"transaction_id":"1","transaction_date":"2025-01-01","amount":5,"type":"SUPPLY_CHARGE","note":"a","product_code":"P",
		"line_items":[{"rate_band":"R","start_date":"2025-01-01","end_date":"2025-01-31","number_of_units":10,"net_amount":5,"units":[1,11]}]}`
	for name, c := range map[string]struct {
		change [2]string
		want   []string
	}{
		"nothing":                    {[2]string{"", ""}, nil},
		"another spelling":           {[2]string{`"amount":5`, `"amount":"5.00"`}, nil},
		"a decimal's spelling":       {[2]string{`"number_of_units":10`, `"number_of_units":"10.0"`}, nil},
		"an escape":                  {[2]string{`"note":"a"`, `"note":"\u0061"`}, nil},
		"the order":                  {[2]string{`"amount":5,"type":"SUPPLY_CHARGE"`, `"type":"SUPPLY_CHARGE","amount":5`}, nil},
		"null is nothing":            {[2]string{`"amount":5`, `"reference":null,"amount":5`}, nil},
		"an amount":                  {[2]string{`"amount":5`, `"amount":5.01`}, []string{"amount"}},
		"a date":                     {[2]string{`"transaction_date":"2025-01-01"`, `"transaction_date":"2025-01-02"`}, []string{"transaction_date"}},
		"two texts":                  {[2]string{`"note":"a","product_code":"P"`, `"note":"b","product_code":"Q"`}, []string{"note", "product_code"}},
		"one gone":                   {[2]string{`"note":"a",`, ``}, []string{"note"}},
		"one more":                   {[2]string{`"note":"a"`, `"note":"a","reference":""`}, []string{"reference"}},
		"deep inside":                {[2]string{`"net_amount":5`, `"net_amount":6`}, []string{"line_items.0.net_amount"}},
		"a list of numbers":          {[2]string{`[1,11]`, `[1,12,13]`}, []string{"line_items.0.units.1", "line_items.0.units.2"}},
		"a list that is not there":   {[2]string{`,"units":[1,11]`, ``}, []string{"line_items.0.units"}},
		"a list that became shorter": {[2]string{`[1,11]`, `[1]`}, []string{"line_items.0.units.1"}},
	} {
		t.Run(name, func(t *testing.T) {
			if c.change[0] != "" && !strings.Contains(one, c.change[0]) {
				t.Fatalf("%s changes nothing", c.change[0])
			}
			got := PlainSchema().TransactionDifferences([]byte(one), []byte(strings.Replace(one, c.change[0], c.change[1], 1)))
			if difference := cmp.Diff(c.want, got); difference != "" {
				t.Error(difference)
			}
		})
	}
}

func TestTransactionResults(t *testing.T) {
	sent := landfall.Transaction{
		Amount: 5000, Document: []byte(`{ "type":"CHARGE","amount":5,"transaction_id":"1","transaction_date":"2020-01-01","reason":"R" }`),
	}
	moved := sent
	moved.OriginalOn, _ = calendar.ParseDay("2020-01-01")
	moved.On = moved.OriginalOn.AddDays(1)
	moved.Note = "why"
	for want, got := range map[string][]byte{
		`{"status":"TRANSACTION_ADDED_TO_ACCOUNT","transaction_data":{"transaction_id":"1","transaction_date":"2020-01-01","amount":"5.00","type":"CHARGE","reason":"R"}}`: postedJSON(sent, true, nil),
		`{"status":"TRANSACTION_ALREADY_EXISTS","transaction_data":{"transaction_id":"1","transaction_date":"2020-01-01","amount":"5.00","type":"CHARGE","reason":"R"}}`:   postedJSON(sent, false, sent.Document),
		`{"status":"TRANSACTION_ALREADY_EXISTS","transaction_data":{"transaction_id":"1","transaction_date":"2020-01-01","amount":"5.00","type":"CHARGE","reason":"R"},"differences":["amount"]}`: postedJSON(sent, false,
			[]byte(strings.Replace(string(sent.Document), ":5", ":6", 1))),
		`{"status":"TRANSACTION_ADDED_TO_ACCOUNT","transaction_data":{"transaction_id":"1","transaction_date":"2020-01-02","amount":"5.00","type":"CHARGE","reason":"R","note":"why","original_transaction_date":"2020-01-01"}}`: postedJSON(moved, true, nil),
	} {
		if string(got) != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// The failing transaction is returned as it was sent, except that its amount is
// formatted like every amount if it can be read.
func TestRefusedTransactionData(t *testing.T) {
	for sent, want := range map[string]string{
		`{"amount":7,"zebra":1,"apple":{"x":[1]},"type":"CHARGE"}`: `{"amount":"7.00","type":"CHARGE","apple":{"x":[1]},"zebra":1}`,
		`{"amount":"7.123","type":"CHARGE"}`:                       `{"amount":"7.123","type":"CHARGE"}`,
		`{"type":5}`:                                               `{"type":5}`,
		`5`:                                                        `5`,
	} {
		request, err := ReadTransactions(t.Context(), []byte(`{"import_supplier":"S","external_account_number":"1","transactions":[`+sent+`]}`))
		if err != nil {
			t.Fatal(err)
		}
		refusal := request.Refusal(request.Check(nil, testNow, true))
		if got := string(ErrorBody.Append(nil, refusal)); !strings.Contains(got, `"transaction_data":`+want+`,"error_detail":"`) {
			t.Errorf("%s was returned as %s", sent, got)
		}
	}
}

func TestDuplicatesAreNamed(t *testing.T) {
	const one = `{"transaction_id":"1","transaction_date":"2025-01-01","amount":5,"type":"PAYMENT"}`
	code := func(second string) string {
		request, _ := ReadTransactions(t.Context(), []byte(`{"import_supplier":"S","external_account_number":"1","transactions":[`+one+`,`+second+`]}`))
		return request.Refusal(request.Check(nil, testNow, true)).Code
	}
	if got := code(one); got != landfall.CodeDuplicateTransactions {
		t.Errorf("twins: %s", got)
	}
	if got := code(strings.Replace(one, "PAYMENT", "GIFT", 1)); got != landfall.CodeValidationFailed {
		t.Errorf("twins and more: %s", got)
	}
}

// Every 400 of a transactions import has the same members. Adding them does not
// change shared refusals.
func TestRefuseTransactions(t *testing.T) {
	shared := landfall.Refuse(landfall.CodeAccountNotFound, "None.")
	if got := string(ErrorBody.Append(nil, RefuseTransactions(shared))); !strings.Contains(got, `"transaction_data":null,"error_detail":"None.","status":"TRANSACTION_IMPORT_ERROR"`) {
		t.Error(got)
	}
	if len(shared.Members) > 0 {
		t.Error("the refusal itself was changed")
	}
	away := &landfall.Error{Kind: landfall.Unavailable}
	if RefuseTransactions(away) != away {
		t.Error("what is no refusal was changed")
	}
}

func TestNoteAnswers(t *testing.T) {
	request, err := ReadNotes(t.Context(), []byte(`{"import_supplier":"S","external_account_number":"1","notes":[
		{"body":"<x>"},{"document_paths":[{"document_path":"a"}],"is_pinned":false,"unpin_at":"2030-01-01T01:00:00+01:00"},{"body":null,"is_pinned":null}]}`))
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 8, 20, 14, 0, 0, 0, time.FixedZone("", 7200))
	for i, want := range []string{
		`{"created_at":"2026-08-20T12:00:00Z","body":"\u003cx\u003e","status":"NOTE_CREATION_SUCCESS"}`,
		`{"created_at":"2026-08-20T12:00:00Z","body":null,"status":"NOTE_CREATION_SUCCESS","document_paths":[{"document_path":"a"}],"is_pinned":false,"unpin_at":"2030-01-01T00:00:00Z"}`,
		`{"created_at":"2026-08-20T12:00:00Z","body":null,"status":"NOTE_CREATION_SUCCESS"}`,
	} {
		if got := string(NoteBody.Append(nil, request.Posted(i, at, nil))); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestWarningsOfOneItem(t *testing.T) {
	all := []landfall.Violation{{Attr: "notes.1.body"}, {Attr: "notes.10.body"}, {Attr: "notes.1"}, {Attr: "notes"}}
	request, err := ReadNotes(t.Context(), []byte(`{"notes":[{},{}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := request.Posted(1, time.Time{}, nil).WithWarnings(all).warnings; len(got) != 2 || got[0] != all[0] || got[1] != all[2] {
		t.Errorf("got %v", got)
	}
}

func TestFailureAnswers(t *testing.T) {
	failed := landfall.FailedProcess{External: "a/b", Failure: landfall.Failure{
		At: time.Date(2026, 8, 20, 12, 0, 0, 0, time.UTC), Code: "c", Detail: "d", DryRun: true,
		Violations: []landfall.Violation{{Code: rules.CodeRequired, Attr: "x", Detail: "y"}},
	}}
	if got := string(FailedBody.Append(nil, failed)); got != `{"external_account_number":"a/b","at":"DRY_RUN","failed_at":"2026-08-20T12:00:00Z","dry_run":true,"code":"c","detail":"d",`+
		`"errors":[{"detail":"y","code":"required","attr":"x"}]}` {
		t.Error(got)
	}
	if got := string(FailureGroupBody.Append(nil, landfall.FailureGroup{Code: "c", Attr: "a.*.b", Accounts: 12, Alone: 3})); got != `{"code":"c","attr":"a.*.b","accounts":12,"alone":3}` {
		t.Error(got)
	}
	if got := string(InstructionBody.Append(nil, PostedInstruction{Number: "A-1", Reference: "r"})); got != `{"platform_account_number":"A-1","reference":"r"}` {
		t.Error(got)
	}
}

// postedJSON returns the answer for a transaction that the account may already have
// had.
func postedJSON(transaction landfall.Transaction, added bool, existing []byte) []byte {
	result := PostedTransaction{Transaction: transaction, Added: added}
	if !added {
		result.Differences = PlainSchema().TransactionDifferences(existing, transaction.Document)
	}
	return TransactionBody.Append(nil, result)
}
