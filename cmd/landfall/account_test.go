package main

import (
	"fmt"
	"strings"
	"testing"

	"landfall/internal/console/accountview"
)

// busyAccount is an account with a long ledger and a note with control characters.
func busyAccount() accountview.View {
	body := "red\n\x1b[31mred"
	account := &accountview.Account{Notes: []accountview.Note{{Body: &body, Characters: 11}}}
	for i := range 25 {
		account.Ledger = append(account.Ledger, accountview.Entry{
			Sequence: i + 1, ID: fmt.Sprintf("T-%d", i+1), Date: "2024-04-01", Note: "from Ada",
		})
	}
	account.Ledger[24].OriginalDate, account.Ledger[24].MoveReason = "2024-03-15", "it was too early"
	return accountview.View{Account: account}
}

func renderAccount(shown accountview.View, whole bool) string {
	var out strings.Builder
	printAccount(&out, shown, whole)
	return out.String()
}

func TestNotesAreEscaped(t *testing.T) {
	if text := renderAccount(busyAccount(), false); !strings.Contains(text, `    \x1b[31mred`) || strings.Contains(text, "\x1b") {
		t.Errorf("control characters are not escaped:\n%s", text)
	}
}

func TestLongLedgerIsTruncated(t *testing.T) {
	shown := busyAccount()
	shown.Account.People.Masked = true
	text := renderAccount(shown, false)
	if strings.Contains(text, "T-5 ") || !strings.Contains(text, "T-6 ") || !strings.Contains(text, "5 earlier entries are hidden") {
		t.Errorf("the ledger is not cut to its last entries:\n%s", text)
	}
	if strings.Contains(text, "from Ada") {
		t.Errorf("a transaction's note is shown unasked:\n%s", text)
	}
	if !strings.Contains(text, "2024-04-01 (was 2024-03-15)") || !strings.Contains(text, "\n25: it was too early\n") {
		t.Errorf("a moved date is not explained:\n%s", text)
	}
	shown.Account.People.Masked = false
	text = renderAccount(shown, true)
	if !strings.Contains(text, "T-1 ") || strings.Contains(text, "earlier entries") || !strings.Contains(text, "from Ada") {
		t.Errorf("not everything is shown:\n%s", text)
	}
}
