package accountview

import (
	"cmp"
	"encoding/json"
	"strings"

	"landfall"
	"landfall/internal/lib/money"
)

// Period is a statement period; the open one has no last day.
type Period struct {
	From    NullString `json:"from"`
	To      NullString `json:"to"`
	Balance NullString `json:"closing_balance"`
	Open    bool       `json:"open"`
}

// Entry is one ledger entry and the balance after it.
type Entry struct {
	Sequence     int             `json:"sequence"`
	Kind         string          `json:"kind"`
	Date         NullString      `json:"date"`
	OriginalDate NullString      `json:"original_date"`
	MoveReason   string          `json:"moved_because,omitempty"`
	ID           string          `json:"transaction_id,omitempty"`
	Type         string          `json:"type,omitempty"`
	Reason       string          `json:"reason,omitempty"`
	Amount       string          `json:"signed_amount"`
	Balance      string          `json:"balance"`
	Closed       bool            `json:"on_closed_statement"`
	Note         string          `json:"note,omitempty"`        // personal
	Transaction  json.RawMessage `json:"transaction,omitempty"` // personal, as it was sent
}

// Label names an entry with the code of its type.
func (e Entry) Label() string { return strings.TrimSpace(cmp.Or(e.Type, e.Kind) + " " + e.Reason) }

// Words names an entry for people.
func (e Entry) Words() string {
	words := CodeLabel(cmp.Or(e.Type, e.Kind))
	switch {
	case e.Reason == "":
		return words
	case e.Reason == strings.ToUpper(e.Reason): // a code
		return words + ": " + CodeLabel(e.Reason)
	}
	return words + ": " + e.Reason
}

// SignedBalance adds words to an amount, because its sign could be misread.
func SignedBalance(amount money.Amount, currency string) string {
	written := amount.String() + " " + currency
	switch {
	case amount > 0:
		return written + ", in the customer's favour"
	case amount < 0:
		return written + ", the customer owes it"
	}
	return written
}

// newPeriod has a balance only if the period is closed.
func newPeriod(p landfall.Period) Period {
	shown := Period{From: formatDay(p.FromOn), To: formatDay(p.ToOn), Open: p.Open()}
	if !p.Open() {
		shown.Balance = formatAmount(&p.Balance)
	}
	return shown
}

// newEntry includes free text only if personal data is shown.
func newEntry(e landfall.LedgerEntry, personal bool) Entry {
	transaction := e.Transaction
	shown := Entry{
		Sequence: e.Sequence, Kind: string(e.Kind), Date: formatDay(transaction.On), OriginalDate: formatDay(transaction.OriginalOn),
		ID: transaction.ID, Type: string(transaction.Type), Reason: transaction.Reason,
		Amount: e.Signed.String(), Balance: e.Balance.String(), Closed: e.Closed,
	}
	// Customers compare dates with their old bills, so explain a changed one.
	if !transaction.OriginalOn.IsZero() {
		side := "before"
		if transaction.On.Before(transaction.OriginalOn) {
			side = "after"
		}
		shown.MoveReason = "dated " + transaction.OriginalOn.String() + " by the old supplier, " + side +
			" the open statement period, and moved into it"
	}
	if personal {
		shown.Note, shown.Transaction = transaction.Note, transaction.Document
	}
	return shown
}

// formatAmount writes money as text. No amount is empty.
func formatAmount(amount *money.Amount) NullString {
	if amount == nil {
		return ""
	}
	return NullString(amount.String())
}
