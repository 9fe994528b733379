package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"landfall"
	"landfall/internal/document"
	"landfall/internal/money"
	"landfall/internal/operate"
)

// busy is an account with a long ledger and notes pinned, unpinned and plain.
func busy(t *testing.T) *account {
	t.Helper()
	places, err := document.Place("s3://papers")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	created := &landfall.Account{Number: "A-00000000", Revision: 1, Data: landfall.AccountData{Currency: "GBP", Notes: []landfall.Note{
		{Body: "oldest", HasBody: true, CreatedAt: now.Add(-5 * time.Hour)},
		{Body: "pinned", HasBody: true, CreatedAt: now.Add(-4 * time.Hour), Pinned: true, UnpinAt: now.Add(time.Hour)},
		{Body: "was pinned", HasBody: true, CreatedAt: now.Add(-3 * time.Hour), Pinned: true, UnpinAt: now.Add(-time.Hour)},
		{Body: "newest\n\x1b[31mred", HasBody: true, CreatedAt: now.Add(-2 * time.Hour), DocumentPaths: []string{"a/b.pdf", "../c"}},
	}}}
	for i := range 25 {
		created.Balance += 100
		created.Ledger = append(created.Ledger, landfall.LedgerEntry{
			Sequence: i + 1, Kind: landfall.TransactionEntry, Signed: 100, Balance: created.Balance,
			Transaction: landfall.Transaction{ID: fmt.Sprintf("T-%d", i+1), Type: landfall.Payment, Note: "from Ada"},
		})
	}
	return &account{places: places, AccountFacts: operate.AccountFacts{
		Account: created, Supplier: landfall.Supplier{Code: "NORTH", DocumentRoot: "north"},
	}}
}

func printed(a *account) string {
	var out strings.Builder
	a.print(&out)
	return out.String()
}

// What is pinned now stands on top, then the newest; a pin that has ended
// counts for nothing.
func TestNotesAreShownPinnedFirst(t *testing.T) {
	shown := busy(t)
	shown.personal = true
	text := printed(shown)
	at := -1
	for _, body := range []string{"    pinned", "    newest", "    was pinned", "    oldest"} {
		next := strings.Index(text, body+"\n")
		if next <= at {
			t.Fatalf("%q is out of order in\n%s", body, text)
		}
		at = next
	}
	if !strings.Contains(text, `    \x1b[31mred`) || strings.Contains(text, "\x1b") {
		t.Errorf("control characters are not escaped:\n%s", text)
	}
	if !strings.Contains(text, "s3://papers/north/a/b.pdf ../c") {
		t.Errorf("locations are missing:\n%s", text)
	}
}

func TestLongLedgerIsCut(t *testing.T) {
	shown := busy(t)
	text := printed(shown)
	if strings.Contains(text, "T-5 ") || !strings.Contains(text, "T-6 ") || !strings.Contains(text, "5 earlier entries are not shown") {
		t.Errorf("the ledger is not cut to its last entries:\n%s", text)
	}
	if strings.Contains(text, "from Ada") {
		t.Errorf("a transaction's note is shown unasked:\n%s", text)
	}
	shown.all, shown.personal = true, true
	text = printed(shown)
	if !strings.Contains(text, "T-1 ") || strings.Contains(text, "earlier entries") || !strings.Contains(text, "from Ada") {
		t.Errorf("not everything is shown:\n%s", text)
	}
	if entries := shown.entry().Account.Ledger; len(entries) != 25 || entries[24].Balance != "25.00" {
		t.Errorf("machines get %d entries", len(entries))
	}
}

func TestBalanceSaysWhoseItIs(t *testing.T) {
	for amount, want := range map[money.Amount]string{
		1: "0.01 GBP, in the customer's favour", -4210: "-42.10 GBP, the customer owes it", 0: "0.00 GBP",
	} {
		if got := balance(amount, "GBP"); got != want {
			t.Errorf("balance(%d) = %q, want %q", amount, got, want)
		}
	}
}
