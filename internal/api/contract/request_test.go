package contract

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"landfall"
	"landfall/internal/lib/calendar"
)

func violationsOf(t *testing.T, err error) []string {
	t.Helper()
	var refusal *landfall.Error
	if !errors.As(err, &refusal) || refusal.Code != landfall.CodeValidationFailed || refusal.Kind != landfall.Invalid {
		t.Fatalf("not a refusal: %v", err)
	}
	return codesOf(refusal.Violations)
}

// TestMalformedJSONIsRejected truncates every kind of body. If half a document were
// accepted as a whole one, the account would lose its second half.
func TestMalformedJSONIsRejected(t *testing.T) {
	readers := map[string]func([]byte) error{
		"process":      func(body []byte) error { _, err := ReadProcess(t.Context(), body); return err },
		"instruction":  func(body []byte) error { _, err := ReadInstruction(t.Context(), body); return err },
		"notes":        func(body []byte) error { _, err := ReadNotes(t.Context(), body); return err },
		"statements":   func(body []byte) error { _, err := ReadStatements(t.Context(), body); return err },
		"transactions": func(body []byte) error { _, err := ReadTransactions(t.Context(), body); return err },
	}
	for name, read := range readers {
		if err := read([]byte(`{"external_account_number":"1"`)); !errors.Is(err, &landfall.Error{Code: "malformed_json"}) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Reading a body stops when its sender has disconnected.
func TestReadingStopsWithContext(t *testing.T) {
	gone, leave := context.WithCancel(t.Context())
	leave()
	for name, read := range map[string]func([]byte) error{
		"account":      func(body []byte) error { _, err := ReadAccount(gone, body); return err },
		"notes":        func(body []byte) error { _, err := ReadNotes(gone, body); return err },
		"transactions": func(body []byte) error { _, err := ReadTransactions(gone, body); return err },
		"statements":   func(body []byte) error { _, err := ReadStatements(gone, body); return err },
		"process":      func(body []byte) error { _, err := ReadProcess(gone, body); return err },
		"instruction":  func(body []byte) error { _, err := ReadInstruction(gone, body); return err },
	} {
		if err := read([]byte(`{"unknown":[` + strings.Repeat("0,", 10_000) + `0]`)); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestReadProcess reads the request that creates accounts, with member names that
// resemble those of other requests. Guessing a name could create the wrong
// account.
func TestReadProcess(t *testing.T) {
	request, err := ReadProcess(t.Context(), []byte(`{"external_account_number":"1","import_supplier_code":"S","operations_team_name":"Migration Team","dry_run":true}`))
	want := ProcessRequest{Key: landfall.Key{Supplier: "S", External: "1"}, Team: "Migration Team", DryRun: true}
	if err != nil || request != want {
		t.Errorf("%+v, %v", request, err)
	}
	_, err = ReadProcess(t.Context(), []byte(`{"external_account_number":"1","import_supplier":"S","operations_team_name":"","dry_run":"true"}`))
	wrong := []string{
		"unknown_field import_supplier", "blank operations_team_name", "invalid_type dry_run", "required import_supplier_code",
	}
	if diff := cmp.Diff(wrong, violationsOf(t, err)); diff != "" {
		t.Error(diff)
	}
}

// TestReadInstruction expects all missing fields to be reported at once.
// Otherwise a caller would need one attempt per field.
func TestReadInstruction(t *testing.T) {
	request, err := ReadInstruction(t.Context(), []byte(`{"import_supplier":"S","external_account_number":"1","vendor":"SANDBOX","reference":"r","type":"CARD","valid_from":"2024-01-01"}`))
	want := landfall.Instruction{Vendor: "SANDBOX", Reference: "r", Type: "CARD", ValidFromOn: calendar.Date(2024, time.January, 1)}
	if err != nil || request.Instruction != want || request.Key.External != "1" {
		t.Errorf("%+v, %v", request, err)
	}
	_, err = ReadInstruction(t.Context(), []byte(`{"type":"CASH"}`))
	wrong := []string{
		"invalid_choice type", "required import_supplier", "required external_account_number", "required vendor", "required reference",
	}
	if diff := cmp.Diff(wrong, violationsOf(t, err)); diff != "" {
		t.Error(diff)
	}
}

// TestReadNotes reads notes with a body, with only documents, and with neither.
// The last has no content and is refused.
func TestReadNotes(t *testing.T) {
	request, err := ReadNotes(t.Context(), []byte(`{"import_supplier":"S","external_account_number":"1","notes":[{"body":"x"},{"document_paths":[{"document_path":"a"}]},{"body":""}]}`))
	if err != nil {
		t.Fatal(err)
	}
	verdict := request.Check(testSupplier(), testNow)
	if diff := cmp.Diff([]string{CodeNoteEmpty + " notes.2.body"}, codesOf(verdict.Errors)); diff != "" {
		t.Error(diff)
	}
	if err := verdict.Err(); err.Code != landfall.CodeValidationFailed {
		t.Error(err)
	}
	notes := request.Notes()
	if len(notes) != 3 || notes[0].Body != "x" || notes[1].HasBody || notes[1].DocumentPaths[0] != "a" {
		t.Errorf("%+v", notes)
	}
}

// TestReadStatements expects exactly the bytes of the request, because they are
// the answer.
func TestReadStatements(t *testing.T) {
	body := `{"import_supplier":"S","external_account_number":"1","statements":[{"statement_id":"1","bill_period_from_date":"2024-02-01","bill_period_to_date":"2024-01-01","statement_path":"../x"}]}`
	request, err := ReadStatements(t.Context(), []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{CodeStartAfterEnd + " statements.0.bill_period_from_date", "invalid_path statements.0.statement_path"}
	if diff := cmp.Diff(want, codesOf(request.Check(nil, testNow).Errors)); diff != "" {
		t.Error(diff)
	}
	if request.Key() != (landfall.Key{Supplier: "S", External: "1"}) || string(request.Body()) != body || request.Statements()[0].ID != "1" {
		t.Errorf("%v %v", request.Key(), request.Statements())
	}
}

// TestListsOverTheLimit sends one item more than a request may have. A limit that
// is not enforced does not bound memory.
func TestListsOverTheLimit(t *testing.T) {
	for name, c := range map[string]struct {
		item  string
		limit int
		check func(body []byte) (Verdict, error)
	}{
		"notes": {`{"body":"x"}`, 1_000, func(body []byte) (Verdict, error) {
			request, err := ReadNotes(t.Context(), body)
			return request.Check(nil, testNow), err
		}},
		"transactions": {`{"transaction_id":"#","transaction_date":"2024-01-01","amount":1,"type":"PAYMENT"}`, 10_000, func(body []byte) (Verdict, error) {
			request, err := ReadTransactions(t.Context(), body)
			return request.Check(nil, testNow, false), err
		}},
	} {
		for _, more := range []int{0, 1} {
			body := `{"import_supplier":"S","external_account_number":"1","` + name + `":[` +
				strings.Repeat(c.item+",", c.limit+more-1) + c.item + `]}`
			verdict, err := c.check([]byte(body))
			if err != nil {
				t.Fatal(err)
			}
			want := []string{}
			if more > 0 {
				want = append(want, "max_items "+name)
			}
			if diff := cmp.Diff(want, codesOf(verdict.Errors)); diff != "" {
				t.Errorf("%s + %d: %s", name, more, diff)
			}
		}
	}
}

const twoTransactions = `{"import_supplier":"S","external_account_number":"1","transactions":[
	{"transaction_id":"1","transaction_date":"2024-05-01","amount":"7","type":"PAYMENT"},
	{"transaction_id":"1","transaction_date":"2024-05-02","amount":8.5,"type":"CHARGE","note":"late"}]}`

// TestFirstFailingTransactionIsShown makes one of two transactions invalid. The
// answer shows the invalid one, not the valid one.
func TestFirstFailingTransactionIsShown(t *testing.T) {
	request, err := ReadTransactions(t.Context(), []byte(twoTransactions))
	if err != nil {
		t.Fatal(err)
	}
	refusal := request.Refusal(request.Check(testSupplier(), testNow, true))
	want := []string{
		landfall.CodeDuplicateTransactions + " transactions.1.transaction_id", "required transactions.1.reason",
	}
	if diff := cmp.Diff(want, codesOf(refusal.Violations)); diff != "" {
		t.Error(diff)
	}
	var body struct {
		Code   string            `json:"code"`
		Errors []json.RawMessage `json:"errors"`
		Data   map[string]any    `json:"transaction_data"`
		Reason string            `json:"error_detail"`
		Status string            `json:"status"`
	}
	if err := json.Unmarshal(ErrorBody.Append(nil, refusal), &body); err != nil {
		t.Fatal(err)
	}
	if body.Data["transaction_date"] != "2024-05-02" || body.Status != "TRANSACTION_IMPORT_ERROR" ||
		body.Reason != refusal.Violations[0].Detail || len(body.Errors) != 2 || body.Code != "validation_failed" {
		t.Errorf("%+v", body)
	}
}

// TestDuplicatesAreAllowedWithoutCheck sends duplicates that are both to be
// added, as the caller explicitly requested.
func TestDuplicatesAreAllowedWithoutCheck(t *testing.T) {
	request, _ := ReadTransactions(t.Context(), []byte(strings.Replace(twoTransactions, `"note"`, `"reason":"R","note"`, 1)))
	verdict := request.Check(testSupplier(), testNow, false)
	if request.Refusal(verdict) != nil {
		t.Errorf("%v", codesOf(verdict.Errors))
	}
}

// TestRefusalWithoutATransaction refuses a request that has no transaction to
// show. Callers read the same members in every refusal.
func TestRefusalWithoutATransaction(t *testing.T) {
	request, _ := ReadTransactions(t.Context(), []byte(`{"import_supplier":"S","transactions":[]}`))
	refusal := request.Refusal(request.Check(nil, testNow, true))
	if got := string(ErrorBody.Append(nil, refusal)); !strings.Contains(got, `"transaction_data":null`) {
		t.Error(got)
	}
}

// TestRefuseOneTransaction refuses a transaction for a reason that only the
// account's ledger knows, in the same form as every other refusal.
func TestRefuseOneTransaction(t *testing.T) {
	request, _ := ReadTransactions(t.Context(), []byte(twoTransactions))
	refusal := request.Refuse(0, "transaction_date", landfall.CodeOutsideOpenPeriod, "Too early.", nil)
	got := string(ErrorBody.Append(nil, refusal))
	for _, part := range []string{`"attr":"transactions.0.transaction_date"`, `"error_detail":"Too early."`, `"code":"transaction_outside_open_statement_period"`, `"amount":"7.00"`} {
		if !strings.Contains(got, part) {
			t.Errorf("no %s in %s", part, got)
		}
	}
}

// TestTransactionData returns transactions with their amounts as strings. Many
// JSON parsers would lose pennies with numbers.
func TestTransactionData(t *testing.T) {
	request, _ := ReadTransactions(t.Context(), []byte(twoTransactions))
	transactions := request.Transactions()
	want := `{"transaction_id":"1","transaction_date":"2024-05-01","amount":"7.00","type":"PAYMENT"}`
	if got := string(AppendTransaction(nil, transactions[0])); got != want {
		t.Errorf("got %s", got)
	}
	moved := transactions[1]
	moved.OriginalOn, moved.On, moved.Note = moved.On, calendar.Date(2024, time.June, 1), "late; moved"
	want = `{"transaction_id":"1","transaction_date":"2024-06-01","amount":"8.50","type":"CHARGE","note":"late; moved","original_transaction_date":"2024-05-02"}`
	if got := string(AppendTransaction(nil, moved)); got != want {
		t.Errorf("got %s", got)
	}
}
