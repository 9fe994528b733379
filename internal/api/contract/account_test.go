package contract

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"landfall"
	"landfall/internal/lib/money"
)

// smallest is the smallest valid account.
const smallest = `{"import_supplier":"S","external_account_number":"1","customers":[{}]}`

// testNow is noon in London on 15 June 2024.
var testNow = time.Date(2024, 6, 15, 11, 0, 0, 0, time.UTC)

func testSupplier() *landfall.Supplier {
	supplier := landfall.NewSupplier("S")
	return &supplier
}

func readTestFile(t testing.TB, name string) []byte {
	t.Helper()
	body, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func mustRead(t testing.TB, body string) *Account {
	t.Helper()
	account, err := ReadAccount(t.Context(), []byte(body))
	if err != nil {
		t.Fatalf("ReadAccount: %v", err)
	}
	return account
}

func codesOf(violations []landfall.Violation) []string {
	short := []string{}
	for _, violation := range violations {
		short = append(short, violation.Code+" "+violation.Attr)
	}
	return short
}

func TestGoodAccounts(t *testing.T) {
	cases := map[string]struct {
		body     []byte
		warnings []string
	}{
		"smallest": {[]byte(smallest), []string{"customer_family_name_required customers.0.family_name"}},
		"typical":  {readTestFile(t, "typical.json"), []string{}},
		"large":    {readTestFile(t, "large.json"), []string{}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			account := mustRead(t, string(c.body))
			verdict := account.Check(testSupplier(), testNow)
			if err := verdict.Err(); err != nil {
				t.Fatalf("refused: %v", codesOf(err.Violations))
			}
			if diff := cmp.Diff(c.warnings, codesOf(verdict.Warnings)); diff != "" {
				t.Error(diff)
			}
			if !bytes.Equal(account.Body(), c.body) || account.Hash() != sha256.Sum256(c.body) {
				t.Error("the body or its hash is another than the bytes sent")
			}
		})
	}
}

func TestMalformedBodyIsRejected(t *testing.T) {
	for _, body := range []string{"", "null", "[]", `"x"`, smallest + "x", smallest + smallest, `{"a":1,"a":2}`, "{\"a\":\"\xff\"}"} {
		_, err := ReadAccount(t.Context(), []byte(body))
		var refusal *landfall.Error
		if !errors.As(err, &refusal) || refusal.Code != "malformed_json" || refusal.Kind != landfall.Invalid {
			t.Errorf("%q: %v", body, err)
		}
	}
}

func TestUnknownSupplierIsOneMoreViolation(t *testing.T) {
	account := mustRead(t, `{"external_account_number":" 1","import_supplier":"NOPE","customers":[{"landline":"1"}],"currency":"EUR"}`)
	verdict := account.Check(nil, testNow)
	want := []string{
		"invalid_characters external_account_number",
		"import_supplier_does_not_exist import_supplier",
		"invalid_phone_number customers.0.landline",
	}
	if diff := cmp.Diff(want, codesOf(verdict.Errors)); diff != "" {
		t.Error(diff)
	}
	if err := verdict.Err(); err.Code != landfall.CodeAccountFailedValidation || err.Kind != landfall.Invalid {
		t.Errorf("refused with %v", err)
	}
}

func TestMissingSupplierIsReportedOnce(t *testing.T) {
	account := mustRead(t, `{"external_account_number":"1","customers":[{}]}`)
	if diff := cmp.Diff([]string{"required import_supplier"}, codesOf(account.Check(nil, testNow).Errors)); diff != "" {
		t.Error(diff)
	}
	if key := account.Key(); key != (landfall.Key{External: "1"}) {
		t.Errorf("key %v", key)
	}
}

func TestDataOfTheLargeAccount(t *testing.T) {
	data := mustRead(t, string(readTestFile(t, "large.json"))).Data()
	if data.Key != (landfall.Key{Supplier: "DEMO_ENERGY", External: "Kunde Nr. 4711/ß"}) {
		t.Errorf("key %v", data.Key)
	}
	address := landfall.Address{
		Lines:    []string{"Accounts", "Ó Briain & Daughters", "Unit 4\nMill Lane", "Harraby", "Cumbria"},
		Locality: "Carlisle", PostalCode: "CA1 2SS", Country: "GB",
	}
	if diff := cmp.Diff(address, data.BillingAddress); diff != "" {
		t.Error(diff)
	}
	free := []string{"The Old Forge", "High Street", "Wigton", "Cumbria", "England"}
	if diff := cmp.Diff(free, data.SupplyAddresses[1].Address.Lines); diff != "" {
		t.Error(diff)
	}
	var historical money.Amount
	for _, transaction := range data.HistoricalTransactions {
		historical += transaction.Signed()
	}
	if historical != *data.LastStatementBalance || historical != -89_500 {
		t.Errorf("historical sum %v, balance %v", historical, data.LastStatementBalance)
	}
	reading := data.SupplyAddresses[0].SupplyPoints[0].Meters[1].Registers[0].Readings[0]
	if reading.Value.String() != "123456.5000000001" || reading.On.String() != "2024-03-31" {
		t.Errorf("reading %v", reading)
	}
	notes := data.Notes
	if len(notes) != 2 || notes[1].HasBody || notes[1].DocumentPaths[0] != "/letters/2023/complaint.pdf" {
		t.Errorf("notes %+v", notes)
	}
	if notes[0].CreatedAt != time.Date(2023, 11, 2, 16, 45, 0, 0, time.UTC) || !notes[0].Pinned {
		t.Errorf("first note %+v", notes[0])
	}
	schedule := data.PaymentSchedules[2]
	if schedule.DayOfMonth != 28 || *schedule.Amount != 50_000 || !schedule.EndOn.IsZero() {
		t.Errorf("schedule %+v", schedule)
	}
	if got := string(data.CurrentTransactions[1].Document); got[0] != '{' || !strings.Contains(got, `"10.00"`) {
		t.Errorf("transaction document %s", got)
	}
}

func TestAccountTypeDefaultsToDomestic(t *testing.T) {
	if got := mustRead(t, smallest).Data().AccountType; got != "DOMESTIC" {
		t.Errorf("account type %q", got)
	}
}

func FuzzReadAccount(f *testing.F) {
	f.Add([]byte(smallest))
	f.Add(readTestFile(f, "typical.json"))
	f.Add(readTestFile(f, "large.json"))
	f.Add([]byte(`{"import_supplier":"S","external_account_number":"\u202e","customers":null,"metadata":[{"key":"a","value":{"b":[]}}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		account, err := ReadAccount(t.Context(), body)
		if err != nil {
			return
		}
		verdict := account.Check(testSupplier(), testNow)
		data := account.Data()
		if len(verdict.Errors) > 0 {
			return
		}
		if !ValidExternalNumber(data.Key.External) || data.Key.Supplier == "" {
			t.Errorf("accepted with the key %q", data.Key)
		}
		if len(verdict.Errors) > 101 || len(verdict.Warnings) > 101 {
			t.Error("more violations than the limit")
		}
	})
}
