package export

import (
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"landfall"
	"landfall/internal/api/contract"
)

// recorder collects rows.
type recorder struct {
	tables map[string]*tableLayout
	rows   map[string][][]cell
}

func (r *recorder) begin(l *layout) error {
	r.tables, r.rows = map[string]*tableLayout{}, map[string][][]cell{}
	for _, t := range l.tables {
		r.tables[t.name] = t
	}
	return nil
}

func (r *recorder) row(t *tableLayout, row []cell) error {
	r.rows[t.name] = append(r.rows[t.name], slices.Clone(row))
	return nil
}
func (r *recorder) page(int) error            { return nil }
func (r *recorder) checkpoint() (bool, error) { return true, nil }
func (r *recorder) finish() error             { return nil }

// text returns a cell of a row.
func (r *recorder) text(t *testing.T, table string, row int, name string) string {
	t.Helper()
	at := slices.IndexFunc(r.tables[table].columns, func(c columnLayout) bool { return c.name == name })
	if at < 0 || row >= len(r.rows[table]) {
		t.Fatalf("%s has no row %d or column %s", table, row, name)
	}
	return r.rows[table][row][at].text
}

// tablesOf puts an account with a record into tables.
func tablesOf(t *testing.T, schema *contract.Schema, hide *pseudonyms, record, lists string) *recorder {
	t.Helper()
	out := &recorder{}
	line := fmt.Sprintf(`{"import_supplier":"NORTH","external_account_number":"A-1","platform_account_number":"P-1","created_at":"2026-07-01T09:00:00Z",`+
		`"revision":1,"data":%s,"balance":"-5.00","currency":"GBP","open_period":{"from_date":"2026-07-01"},"delivery":"NONE"%s}`+"\n", record, lists)
	if _, err := newTableSink(schema, hide, out).add(&accountPage{accounts: 1, memory: []byte(line)}); err != nil {
		t.Fatal(err)
	}
	return out
}

// The example account has every documented field, with packs and without. Every one has a column.
func TestEveryFieldHasAColumn(t *testing.T) {
	for _, packs := range [][]string{{}, {"gb-energy@1"}, {"au-energy@1"}} {
		schema, err := contract.OpenSchema(packs, nil)
		if err != nil {
			t.Fatal(err)
		}
		out := tablesOf(t, schema, nil, string(schema.Example()), "")
		for _, row := range out.rows["other_values"] {
			t.Errorf("%q: %s = %s has no column", packs, row[2].text, row[3].text)
		}
		for name, one := range out.tables {
			names := map[string]bool{}
			for _, c := range one.columns {
				if names[c.name] || c.doc == "" && len(packs) == 0 {
					t.Errorf("%s.%s is there twice or has no description", name, c.name)
				}
				names[c.name] = true
			}
		}
	}
}

// Whatever fits no column is in the table of other values.
func TestNothingIsLeftOutOfTables(t *testing.T) {
	out := tablesOf(t, contract.PlainSchema(), nil, `{"customers":[{"given_name":"Ada","shoe_size":{"eu":38}},7],"date_of_sale":"soon","account_type":["x"]}`,
		`,"ledger":[{"sequence":1,"kind":"OPENING","closed":true,"date":"2026-06-30","amount":"-5.00","balance":"-5.00","transaction":null}],`+
			`"notes":[{"body":"x","mood":"good"}],"statements":[],"payment_instructions":[]`)
	var got []string
	for _, row := range out.rows["other_values"] {
		got = append(got, row[2].text+" "+row[3].text)
	}
	want := []string{`data.customers.0.shoe_size {"eu":38}`, `data.customers.1 7`, `data.date_of_sale "soon"`, `data.account_type ["x"]`, `notes.0.mood "good"`}
	if !slices.Equal(got, want) {
		t.Errorf("other values %q, want %q", got, want)
	}
	if name := out.text(t, "customers", 0, "given_name"); name != "Ada" {
		t.Errorf("given name %q", name)
	}
	if amount := out.rows["ledger"][0][7]; amount.number != -5000 {
		t.Errorf("amount %+v", amount)
	}
}

func TestPseudonymsHidePeople(t *testing.T) {
	const record = `{"import_supplier":"NORTH","external_account_number":"A-1","customers":[{"given_name":"Ada","family_name":"Lovelace","title":"Ms",` +
		`"email":"Ada@mail.example","mobile":"+44 7400 123456","landline":"","date_of_birth":"1985-12-10","role":"HOLDER","label":"likes tea","secret":["Ada",4]}],` +
		`"billing_name":"Ada","billing_email":"ada@mail.example","billing_address1":"12 St James's Square","billing_postcode":"SW1Y 4JH",` +
		`"billing_address":{"country":"AU","postal_code":"2600","sorting_code":"123456789"},"transfer_balance":-5.00,"date_of_sale":"2024-03-01",` +
		`"metadata":[{"key":"nickname","value":{"Ada":"Countess"}}]}`
	hide := func(key string) string {
		p := newPseudonyms([]byte(key), contract.PlainSchema())
		of := parseValue([]byte(record))
		return string(p.object(nil, contract.BookTable("accounts"), &of))
	}
	got := hide("one secret of the tests")
	for _, person := range []string{"Ada\"", "Lovelace", "mail.example", "123456", "12-10", "tea", "James", "4JH", "Countess", "600\""} {
		if strings.Contains(got, person) {
			t.Errorf("%s is in %s", person, got)
		}
	}
	for _, kept := range []string{`"title":"Ms"`, `"date_of_birth":"1985-01-01"`, `"role":"HOLDER"`, `"landline":""`, `"billing_postcode":"SW"`, `"country":"AU","postal_code":"26"`,
		`"transfer_balance":-5.00`, `"date_of_sale":"2024-03-01"`, `"external_account_number":"A-1"`, `"key":"nickname"`, `,4]`, `"mobile":"+447700900`} {
		if !strings.Contains(got, kept) {
			t.Errorf("%s is not in %s", kept, got)
		}
	}
	of := parseValue([]byte(got))
	customer := &of.member("customers").items[0]
	if customer.member("given_name").plain() != of.member("billing_name").plain() || customer.member("email").plain() != of.member("billing_email").plain() {
		t.Errorf("the same text has two pseudonyms in %s", got)
	}
	if again := hide("one secret of the tests"); again != got {
		t.Errorf("another export has %s, not %s", again, got)
	}
	if other := hide("another secret of the tests"); strings.Contains(other, of.member("billing_name").plain()) {
		t.Errorf("the secret does not matter: %s", other)
	}
}

func TestValuesAreSplitAsJSONIs(t *testing.T) {
	const text = ` { "a" : [ 1 , -2.5e3 , "x\"]}" , [] , {} ] , "b\n" : { "c" : null , "d":true } } `
	of := parseValue([]byte(text))
	items := of.member("a").items
	if len(items) != 5 || items[1].plain() != "-2.5e3" || items[2].plain() != `x"]}` || !items[3].isList() || !items[4].isObject() {
		t.Errorf("%+v", items)
	}
	if inner := of.member("b\n"); !inner.member("c").null() || inner.member("d").plain() != "true" || string(inner.text) != `{ "c" : null , "d":true }` {
		t.Errorf("%+v", inner)
	}
}

func TestDecimalsKeepTheirDigits(t *testing.T) {
	for text, want := range map[string]string{"0": "0", "1.5": "15000000000", "-0.0000000001": "-1", "999999999999.9999999999": "9999999999999999999999"} {
		number := new(big.Int).SetBytes(decimalBytesOf(text))
		if number.Bit(8*decimalBytes-1) == 1 {
			number.Sub(number, new(big.Int).Lsh(big.NewInt(1), 8*decimalBytes))
		}
		if number.String() != want {
			t.Errorf("%s is %s, want %s", text, number, want)
		}
	}
}

// A posting that was in the record is not written again, and one with the same content as another is.
func TestABookHasRecordAndPostingsOnce(t *testing.T) {
	j := &journal{path: t.TempDir(), files: map[string]*growingFile{}, state: progress{Files: map[string]fileState{}, Totals: map[string]*landfall.Figures{}}}
	sink := newBookSink(Options{Schema: contract.PlainSchema()}, nil, j)
	line := `{"import_supplier":"NORTH","external_account_number":"A-1","platform_account_number":"P-1","data":{"import_supplier":"NORTH",` +
		`"external_account_number":"A-1","customers":[{},{}],"notes":[{"body":"hello"},{"body":"hello"},{"body":"timed","created_at":"2026-01-01T00:00:00+01:00"}],` +
		`"current_statement_transactions":[{"transaction_id":"T1","amount":5,"type":"PAYMENT"}],"supply_addresses":[{"supply_points":[{},{}]}]},` +
		`"balance":"12.00","currency":"GBP","ledger":[{"transaction":null},{"transaction":{"transaction_id":"T1","amount":"5.00","type":"PAYMENT"}},` +
		`{"transaction":{"transaction_id":"T2","amount":"7.00","type":"CREDIT","transaction_date":"2026-07-01","original_transaction_date":"2026-06-01"},` +
		`"sent":{"transaction_id":"T2","amount":7,"type":"CREDIT","transaction_date":"2026-06-01"}}],` +
		`"notes":[{"created_at":"2026-07-01T09:00:00Z","body":"hello"},{"created_at":"2025-12-31T23:00:00Z","body":"timed"},` +
		`{"created_at":"2026-07-02T00:00:00Z","body":"hello"},{"body":"` + landfall.MovedNoteStart + `\nT2"}],"statements":[],` +
		`"payment_instructions":[{"vendor":"V","reference":"R","type":"CARD","status":"active"}]}` + "\n" +
		`{"import_supplier":"NORTH","external_account_number":"A-2","data":null,"balance":"1.00","currency":"GBP","ledger":[{"transaction":{"transaction_id":"X","amount":"1.00"}}]}` + "\n"
	leftOut, err := sink.add(&accountPage{accounts: 2, memory: []byte(line)})
	if err == nil {
		err = sink.finish()
	}
	if err == nil {
		err = j.sync()
	}
	if err != nil || leftOut != 1 {
		t.Fatal(leftOut, err)
	}
	const account = `{"import_supplier":"NORTH","external_account_number":"A-1",`
	for name, want := range map[string]string{
		"notes.ndjson.part":                account + `"notes":[{"created_at":"2026-07-02T00:00:00Z","body":"hello"}]}` + "\n",
		"transactions.ndjson.part":         account + `"transactions":[{"transaction_id":"T2","amount":7,"type":"CREDIT","transaction_date":"2026-06-01"}]}` + "\n",
		"payment-instructions.ndjson.part": account + `"vendor":"V","reference":"R","type":"CARD"}` + "\n",
	} {
		if got, err := os.ReadFile(filepath.Join(j.path, name)); string(got) != want {
			t.Errorf("%s has %s %v, want %s", name, got, err, want)
		}
	}
	totals, err := os.ReadFile(filepath.Join(j.path, "control-totals.json"))
	for _, want := range []string{`"accounts": 1,`, `"customers": 2,`, `"supply_points": 2,`, `"notes": 3,`, `"payment_instructions": 1,`, `"balances": "12.00"`} {
		if err != nil || !strings.Contains(string(totals), want) {
			t.Errorf("%s is not in %s %v", want, totals, err)
		}
	}
}
