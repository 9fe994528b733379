package ledger_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"landfall"
	"landfall/internal/lib/calendar"
	"landfall/internal/lib/money"
	"landfall/internal/service/ledger"
)

var today = calendar.Date(2026, time.August, 20)

func day(text string) calendar.Day {
	parsed, err := calendar.ParseDay(text)
	if err != nil {
		panic(err)
	}
	return parsed
}

func amount(minor money.Amount) *money.Amount { return new(minor) }

func transaction(id string, kind landfall.TransactionType, minor money.Amount, on string) landfall.Transaction {
	return landfall.Transaction{ID: id, Type: kind, Amount: minor, On: day(on)}
}

// TestOpeningBalanceIsAlwaysExplained opens ledgers from every combination of
// what suppliers send. A balance that differs from the sum of its entries cannot
// be explained to a customer.
func TestOpeningBalanceIsAlwaysExplained(t *testing.T) {
	historical := []landfall.Transaction{
		transaction("h1", landfall.SupplyCharge, 10000, "2026-05-01"),
		transaction("h2", landfall.Payment, 4000, "2026-05-20"),
	}
	current := []landfall.Transaction{
		transaction("c1", landfall.Payment, 2500, "2026-07-05"),
		transaction("c2", landfall.Charge, 100, "2026-07-06"),
		transaction("c3", landfall.Repayment, 50, "2026-07-07"),
		transaction("c4", landfall.Credit, 10, "2026-07-08"),
	}
	for name, test := range map[string]struct {
		data    landfall.AccountData
		balance money.Amount
		opening money.Amount // 0: no opening entry
	}{
		"nothing at all":                {landfall.AccountData{}, 0, 0},
		"transactions alone":            {landfall.AccountData{HistoricalTransactions: historical, CurrentTransactions: current, LastStatementClosingOn: day("2026-06-30")}, -3640, 0},
		"a last balance alone":          {landfall.AccountData{LastStatementBalance: amount(-4210), LastStatementClosingOn: day("2026-06-30")}, -4210, -4210},
		"a last balance and current":    {landfall.AccountData{LastStatementBalance: amount(-4210), CurrentTransactions: current}, -1850, -4210},
		"the transfer balance decides":  {landfall.AccountData{LastStatementBalance: amount(-4210), TransferBalance: amount(7), CurrentTransactions: current}, 7, -2353},
		"historical explains the last":  {landfall.AccountData{LastStatementBalance: amount(-6000), HistoricalTransactions: historical, LastBilledToOn: day("2026-06-30")}, -6000, 0},
		"historical explains it partly": {landfall.AccountData{LastStatementBalance: amount(-6001), HistoricalTransactions: historical, LastBilledToOn: day("2026-06-30")}, -6001, -1},
	} {
		t.Run(name, func(t *testing.T) {
			_, ledger, balance := ledger.Open(test.data, today)
			if balance != test.balance {
				t.Errorf("balance %d, want %d", balance, test.balance)
			}
			var sum, opening money.Amount
			for i, entry := range ledger {
				sum += entry.Signed
				if entry.Sequence != i+1 || entry.Balance != sum {
					t.Errorf("entry %d has sequence %d and balance %d, want %d and %d", i, entry.Sequence, entry.Balance, i+1, sum)
				}
				if entry.Kind == landfall.OpeningEntry {
					opening += entry.Signed
				}
			}
			if sum != balance || opening != test.opening {
				t.Errorf("entries sum to %d with an opening entry of %d, want %d and %d", sum, opening, balance, test.opening)
			}
		})
	}
}

// TestPeriodsOpenTheDayAfterTheLastStatement checks when the open period begins.
// If it is off by one day, a charge is billed twice or not at all.
func TestPeriodsOpenTheDayAfterTheLastStatement(t *testing.T) {
	for name, test := range map[string]struct {
		data landfall.AccountData
		want []landfall.Period
	}{
		"closing date":            {landfall.AccountData{LastStatementClosingOn: day("2026-06-30"), LastBilledToOn: day("2026-05-31")}, []landfall.Period{{ToOn: day("2026-06-30")}, {FromOn: day("2026-07-01")}}},
		"else billed-to date":     {landfall.AccountData{LastBilledToOn: day("2026-05-31")}, []landfall.Period{{ToOn: day("2026-05-31")}, {FromOn: day("2026-06-01")}}},
		"else the day of opening": {landfall.AccountData{}, []landfall.Period{{FromOn: today}}},
		"else the first supply": {landfall.AccountData{CurrentTransactions: []landfall.Transaction{transaction("T", landfall.Payment, 1, "2026-05-02")},
			SupplyAddresses: []landfall.SupplyAddress{{SupplyPoints: []landfall.SupplyPoint{{StartOn: day("2026-05-03")}, {StartOn: day("2026-05-01")}}}}}, []landfall.Period{{FromOn: day("2026-05-01")}}},
		"else the first current transaction": {landfall.AccountData{CurrentTransactions: []landfall.Transaction{transaction("T", landfall.Payment, 1, "2026-05-02")}}, []landfall.Period{{FromOn: day("2026-05-02")}}},
		"never after today":                  {landfall.AccountData{SupplyAddresses: []landfall.SupplyAddress{{SupplyPoints: []landfall.SupplyPoint{{StartOn: day("2026-09-01")}}}}}, []landfall.Period{{FromOn: today}}},
		"the end of time":                    {landfall.AccountData{LastBilledToOn: calendar.Last}, []landfall.Period{{ToOn: calendar.Last}, {FromOn: calendar.Last}}},
	} {
		t.Run(name, func(t *testing.T) {
			periods, _, _ := ledger.Open(test.data, today)
			if difference := cmp.Diff(test.want, periods, cmp.Comparer(func(a, b calendar.Day) bool { return a == b })); difference != "" {
				t.Error(difference)
			}
		})
	}
}

// Without a closing date there is no closed period, if the supplier lowers the
// rule that requires one. Historical transactions were entered as closed all the
// same, into a period that does not exist.
func TestNothingIsClosedWithoutAClosedPeriod(t *testing.T) {
	data := landfall.AccountData{
		HistoricalTransactions: []landfall.Transaction{transaction("h", landfall.Charge, 500, "2025-03-04")},
		CurrentTransactions:    []landfall.Transaction{transaction("c", landfall.Payment, 200, "2026-05-02")},
	}
	periods, entries, balance := ledger.Open(data, today)
	if len(periods) != 1 || periods[0].FromOn != day("2025-03-04") || balance != -300 {
		t.Errorf("periods %+v, balance %d", periods, balance)
	}
	for _, entry := range entries {
		if entry.Closed {
			t.Errorf("%+v is closed", entry)
		}
	}
}

// TestNoteRuleIsAsymmetric compares notes with and without a time in both
// orders: the one that was there first decides.
func TestNoteRuleIsAsymmetric(t *testing.T) {
	first, second := time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC), time.Date(2026, 1, 2, 9, 0, 0, 0, time.UTC)
	body := func(text string, at time.Time) landfall.Note {
		return landfall.Note{Body: text, HasBody: true, CreatedAt: at}
	}
	paths := func(paths ...string) landfall.Note { return landfall.Note{DocumentPaths: paths} }
	for name, test := range map[string]struct {
		posted []landfall.Note
		want   string // c for created, e for exists
	}{
		"with and without a time":                  {[]landfall.Note{body("X", first), body("X", time.Time{}), body("X", second), body("X", first)}, "cece"},
		"without a time first":                     {[]landfall.Note{body("X", time.Time{}), body("X", first), body("X", time.Time{})}, "cce"},
		"twice in one post":                        {[]landfall.Note{body("X", time.Time{}), body("X", time.Time{})}, "ce"},
		"documents are told apart by their paths":  {[]landfall.Note{paths("a", "b"), paths("b", "a"), paths("a"), paths("a", "a")}, "cece"},
		"a slash in front of a path means nothing": {[]landfall.Note{paths("/a"), paths("a"), paths("a", "/b"), paths("/a", "/a", "b")}, "cece"},
		"an empty body is none":                    {[]landfall.Note{{HasBody: true, DocumentPaths: []string{"a"}}, paths("b"), {HasBody: true, DocumentPaths: []string{"c"}}, paths("a")}, "ccce"},
		"a path is no body":                        {[]landfall.Note{body("a", time.Time{}), paths("a")}, "cc"},
	} {
		t.Run(name, func(t *testing.T) {
			var existing []landfall.Note
			var got strings.Builder
			for _, note := range test.posted { // one by one, and all at once below
				results, fresh := ledger.PrepareNotes([]landfall.Note{note}).Onto(existing, second)
				existing = append(existing, fresh...)
				got.WriteString(verdict(results))
			}
			together, fresh := ledger.PrepareNotes(test.posted).Onto(nil, second)
			if got.String() != test.want || verdict(together) != test.want {
				t.Errorf("one by one %s, together %s, want %s", got.String(), verdict(together), test.want)
			}
			if len(fresh) != strings.Count(test.want, "c") {
				t.Errorf("%d notes to keep, want %d", len(fresh), strings.Count(test.want, "c"))
			}
		})
	}
}

func verdict(results []ledger.NoteResult) string {
	var text strings.Builder
	for _, result := range results {
		if result.Created() {
			text.WriteByte('c')
		} else {
			text.WriteByte('e')
		}
	}
	return text.String()
}

// TestTransactionsOutsideThePeriodAreMovedOrRefused posts days around both ends
// of the period. A moved transaction must keep its original day, or nobody could
// tell later what happened when.
func TestTransactionsOutsideThePeriodAreMovedOrRefused(t *testing.T) {
	account := landfall.AccountState{Period: landfall.Period{FromOn: day("2026-07-01")}, Balance: 100, LastSequence: 4}
	post := ledger.TransactionPost{Today: today, CheckAdded: true, ForceDates: true, Transactions: []landfall.Transaction{
		transaction("first day", landfall.Payment, 1, "2026-07-01"),
		transaction("last day", landfall.Payment, 1, "2026-08-20"),
		transaction("too early", landfall.Payment, 1, "2026-06-30"),
		transaction("too late", landfall.Charge, 1, "2026-08-21"),
	}}
	results, additions, err := ledger.PostTransactions(account, post)
	if err != nil {
		t.Fatal(err)
	}
	var days, balances []string
	for i, entry := range additions.Entries {
		days = append(days, results[i].Transaction.On.String()+"<"+results[i].Transaction.OriginalOn.String())
		balances = append(balances, fmt.Sprint(entry.Sequence, "=", int64(entry.Balance)))
	}
	if difference := cmp.Diff([]string{"2026-07-01<", "2026-08-20<", "2026-07-01<2026-06-30", "2026-08-20<2026-08-21"}, days); difference != "" {
		t.Error(difference)
	}
	if difference := cmp.Diff([]string{"5=101", "6=102", "7=103", "8=102"}, balances); difference != "" {
		t.Error(difference)
	}
	if len(additions.Notes) != 1 || !additions.Notes[0].Pinned || !strings.Contains(additions.Notes[0].Body, "too early from 2026-06-30 to 2026-07-01") {
		t.Errorf("notes %+v, want one pinned note that names the moved transactions", additions.Notes)
	}
	if !strings.Contains(results[2].Transaction.Note, "2026-06-30") {
		t.Errorf("note %q does not explain the move", results[2].Transaction.Note)
	}

	post.ForceDates = false
	var refusal *ledger.RefusedError
	if _, _, err := ledger.PostTransactions(account, post); !errors.As(err, &refusal) || refusal.Index != 2 || refusal.Code != landfall.CodeOutsideOpenPeriod {
		t.Errorf("got %v, want a refusal of the third transaction", err)
	}
}

// Ledgers closed today or billed in advance once dated today's payment tomorrow
// or later.
func TestTheOpenPeriodAlwaysContainsToday(t *testing.T) {
	for name, from := range map[string]calendar.Day{"closed today": today.AddDays(1), "billed in advance": today.AddDays(300), "closed at the end of time": calendar.Last} {
		account := landfall.AccountState{Period: landfall.Period{FromOn: from}}
		for on, want := range map[string]string{"2026-08-19": "2026-08-20", "2026-08-20": "2026-08-20", "2026-08-21": "2026-08-20", "9999-12-31": "2026-08-20"} {
			post := ledger.TransactionPost{Today: today, ForceDates: true, Transactions: []landfall.Transaction{transaction("T", landfall.Payment, 1, on)}}
			results, _, err := ledger.PostTransactions(account, post)
			if err != nil || results[0].Transaction.On.String() != want {
				t.Errorf("%s: a payment of %s became %v (%v), want %s", name, on, results, err, want)
			}
			post.ForceDates = false
			if _, _, err := ledger.PostTransactions(account, post); (err == nil) != (on == want) {
				t.Errorf("%s: a payment of %s that may not be moved: %v", name, on, err)
			}
		}
	}
}

// A balance that the previous supplier billed in advance is owed from today, not
// from a later day.
func TestOpeningEntryIsNotInTheFuture(t *testing.T) {
	_, ledger, _ := ledger.Open(landfall.AccountData{LastStatementBalance: amount(-100), LastBilledToOn: today.AddDays(30)}, today)
	if ledger[0].Transaction.On != today {
		t.Errorf("the opening entry is dated %s", ledger[0].Transaction.On)
	}
}

// TestTransactionsAddedBefore posts an id again with another amount and day. The
// account keeps what it has, whatever the second post says.
func TestTransactionsAddedBefore(t *testing.T) {
	old := transaction("T1", landfall.Payment, 500, "2026-07-02")
	old.Document = []byte(`{"amount":5}`)
	account := landfall.AccountState{
		Period:  landfall.Period{FromOn: day("2026-07-01")},
		Entries: []landfall.LedgerEntry{{Transaction: old}},
	}
	again := transaction("T1", landfall.Payment, 700, "2020-01-01")
	again.Document = []byte(`{"amount":7}`)
	for name, test := range map[string]struct {
		post  []landfall.Transaction
		check bool
		added int
		fails string
	}{
		"there already, whatever its date": {[]landfall.Transaction{again}, true, 0, ""},
		"not looked for":                   {[]landfall.Transaction{again, again}, false, 2, ""},
		"twins in one request":             {[]landfall.Transaction{transaction("N", landfall.Charge, 1, "2026-07-02"), transaction("N", landfall.Charge, 1, "2026-07-02")}, true, 0, landfall.CodeDuplicateTransactions},
	} {
		t.Run(name, func(t *testing.T) {
			results, additions, err := ledger.PostTransactions(account, ledger.TransactionPost{Transactions: test.post, Today: today, CheckAdded: test.check, ForceDates: true})
			var refusal *ledger.RefusedError
			if errors.As(err, &refusal) != (test.fails != "") || refusal != nil && refusal.Code != test.fails {
				t.Fatalf("got %v, want %q", err, test.fails)
			}
			if len(additions.Entries) != test.added {
				t.Errorf("%d added, want %d", len(additions.Entries), test.added)
			}
			if test.fails == "" && test.check && (results[0].Transaction.Amount != old.Amount || string(results[0].Sent) != `{"amount":7}`) {
				t.Errorf("got %+v, want what the account has", results[0])
			}
		})
	}
}

// TestStatementsAreIdempotent posts statements again, equal and different. A
// repeat must add nothing, and a contradiction must not pass as a repeat.
func TestStatementsAreIdempotent(t *testing.T) {
	june := landfall.Statement{ID: "S1", FromOn: day("2026-06-01"), ToOn: day("2026-06-30"), GrossAmount: amount(1234)}
	same := june
	same.GrossAmount = amount(1234)
	other := june
	other.Number = "7"
	if fresh, conflict := ledger.PostStatements([]landfall.Statement{june}, []landfall.Statement{same, {ID: "S2"}, {ID: "S2"}}); len(fresh) != 1 || conflict != -1 {
		t.Errorf("fresh %v, conflict %d; want S2 once and no conflict", fresh, conflict)
	}
	if _, conflict := ledger.PostStatements([]landfall.Statement{june}, []landfall.Statement{{ID: "S2"}, other}); conflict != 1 {
		t.Errorf("conflict %d, want 1", conflict)
	}
}

// A balance that would be too large is refused and does not overflow.
func TestBalanceStaysInRange(t *testing.T) {
	account := landfall.AccountState{Period: landfall.Period{FromOn: day("2026-07-01")}, Balance: 999_999_999_999_999_999}
	for signed, fails := range map[landfall.TransactionType]bool{landfall.Payment: true, landfall.Charge: false} {
		_, _, err := ledger.PostTransactions(account, ledger.TransactionPost{
			Today: today, Transactions: []landfall.Transaction{transaction("T", signed, 2, "2026-07-02")}})
		var refusal *ledger.RefusedError
		if errors.As(err, &refusal) != fails || fails && refusal.Field != "amount" {
			t.Errorf("%s: %v", signed, err)
		}
	}
}

// Twenty thousand transactions can open an account with a balance beyond the
// largest one. Every posting was refused then, also one that reduces it.
func TestPostingThatReducesATooLargeBalanceIsAccepted(t *testing.T) {
	for _, balance := range []money.Amount{1_500_000_000_000_000_000, -1_500_000_000_000_000_000} {
		account := landfall.AccountState{Period: landfall.Period{FromOn: day("2026-07-01")}, Balance: balance}
		for kind, reduces := range map[landfall.TransactionType]bool{landfall.Payment: balance < 0, landfall.Charge: balance > 0} {
			_, additions, err := ledger.PostTransactions(account, ledger.TransactionPost{
				Today: today, Transactions: []landfall.Transaction{transaction("T", kind, 2, "2026-07-02")}})
			if (err == nil) != reduces || reduces && len(additions.Entries) != 1 {
				t.Errorf("%s on %d: %v", kind, balance, err)
			}
		}
	}
}
