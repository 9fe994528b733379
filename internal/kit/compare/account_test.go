package compare

import (
	"fmt"
	"testing"

	"landfall"
	"landfall/internal/kit/book"
)

// readLine parses a line of a book as a comparison does.
func readLine(t *testing.T, kind book.Kind, text string) *bookLine {
	t.Helper()
	p := parseLine(t.Context(), kind, book.Line{Number: 1, Text: []byte(text)}, "GBP")
	if !p.readable || p.key != (landfall.Key{Supplier: "N", External: "1"}) {
		t.Fatalf("%+v", p)
	}
	return &p
}

const testKey = `"import_supplier":"N","external_account_number":"1"`

// TestDuplicatesCountOnce adds what an account already has, in every form that the service
// treats as the same.
func TestDuplicatesCountOnce(t *testing.T) {
	a := &accountState{found: serverAccount{State: Missing}}
	a.add(readLine(t, book.Accounts, `{`+testKey+`,"customers":[{}],"transfer_balance":"10.00","notes":[{"body":"a"},{"body":"b","created_at":"2026-01-01T00:00:00Z"}],
		"current_statement_transactions":[{"transaction_id":"t1","transaction_date":"2026-01-02","amount":"3.00","type":"PAYMENT"}]}`))
	for _, notes := range []string{
		`{"body":"a"}`, // the same
		`{"body":"b"}`, // without a time it is the same as any
		`{"body":"b","created_at":"2026-01-01T00:00:00Z"}`, // the same
		`{"body":"b","created_at":"2026-01-02T00:00:00Z"}`, // another
		`{"body":"c"},{"body":"c"}`,                        // one
	} {
		a.add(readLine(t, book.Notes, `{`+testKey+`,"notes":[`+notes+`]}`))
	}
	for range 2 {
		a.add(readLine(t, book.Transactions, `{`+testKey+`,"transactions":[{"transaction_id":"t1","transaction_date":"2026-01-02","amount":"3.00","type":"PAYMENT"},
			{"transaction_id":"t2","transaction_date":"2026-01-02","amount":"4.00","type":"CHARGE","reason":"FEE"}]}`))
		a.add(readLine(t, book.Statements, `{`+testKey+`,"statements":[{"statement_id":"s","bill_period_from_date":"2026-01-01","bill_period_to_date":"2026-01-31"}]}`))
		a.add(readLine(t, book.Instructions, `{`+testKey+`,"vendor":"v","reference":"r","type":"CARD"}`))
	}
	want := landfall.Figures{Currency: "GBP", Accounts: 1, Customers: 1, Notes: 4, Statements: 1, Instructions: 1, Balance: 6000}
	want.CountTransaction(landfall.Payment, 3000)
	want.CountTransaction(landfall.Charge, 4000)
	if a.figures != want {
		t.Errorf("it comes to %+v, want %+v", a.figures, want)
	}
}

// TestAccountStates compares an account of the book with every state on the server.
func TestAccountStates(t *testing.T) {
	there := serverAccount{State: Same, Number: "A-1", Currency: "GBP", Balance: 10_000, Notes: 1}
	for name, c := range map[string]struct {
		told []serverAccount
		want State
		why  string
	}{
		"the same":               {[]serverAccount{there}, Same, "[]"},
		"nothing":                {nil, Missing, "[]"},
		"waiting":                {[]serverAccount{{State: Staged}}, Staged, "[]"},
		"failed and waiting":     {[]serverAccount{{State: Failed, Code: "x"}, {State: Staged}}, Failed, "[]"},
		"refused, then imported": {[]serverAccount{{State: Refused}, there}, Same, "[]"},
		"skipped":                {[]serverAccount{{State: Skipped}, {State: Failed}}, Skipped, "[]"},
		"another balance": {[]serverAccount{{State: Same, Currency: "GBP", Balance: 9990, Notes: 1}}, Differs,
			"[balance 10.00 9.99]"},
		"a note more, of the server's own": {[]serverAccount{
			{State: Same, Currency: "GBP", Balance: 10_000, Notes: 2}, {OnlyDeviation: true, Deviation: deviation{Notes: -1}},
		}, Other, "[notes 1 2]"},
		"a note more, of nobody": {[]serverAccount{{State: Same, Currency: "GBP", Balance: 10_000, Notes: 2}}, Differs, "[notes 1 2]"},
	} {
		t.Run(name, func(t *testing.T) {
			a := &accountState{found: serverAccount{State: Missing}}
			a.add(readLine(t, book.Accounts, `{`+testKey+`,"customers":[{}],"transfer_balance":"10.00","notes":[{"body":"a"}]}`))
			for _, one := range c.told {
				a.merge(one)
			}
			state, differences := a.state()
			why := []string{}
			for _, one := range differences {
				why = append(why, one.Attr+" "+one.Book+" "+one.Server)
			}
			if state != c.want || fmt.Sprint(why) != c.why {
				t.Errorf("%s %v, want %s %s", state, why, c.want, c.why)
			}
		})
	}
	extra := &accountState{found: there}
	if state, _ := extra.state(); state != Extra {
		t.Errorf("an account that is in no book is %s", state)
	}
}
