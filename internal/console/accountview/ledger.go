package accountview

import (
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

// Entry is one movement of the balance and the sum after it.
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
	Transaction  json.RawMessage `json:"transaction,omitempty"` // personal: as it was sent
}

// Label says what an entry is for, in the words of the books.
func (e Entry) Label() string {
	if e.Type == "" {
		return e.Kind
	}
	return strings.TrimSpace(e.Type + " " + e.Reason)
}

// SignedBalance says in words whose favour an amount is in: signs are read wrongly.
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

// newPeriod has a balance when it is closed; that of the open one still moves.
func newPeriod(p landfall.Period) Period {
	shown := Period{From: formatDay(p.FromOn), To: formatDay(p.ToOn), Open: p.Open()}
	if !p.Open() {
		shown.Balance = formatAmount(&p.Balance)
	}
	return shown
}

// newEntry shows what moved the balance; the customer's own words only where personal
// data was asked for.
func newEntry(e landfall.LedgerEntry, personal bool) Entry {
	transaction := e.Transaction
	shown := Entry{
		Sequence: e.Sequence, Kind: string(e.Kind), Date: formatDay(transaction.On), OriginalDate: formatDay(transaction.OriginalOn),
		ID: transaction.ID, Type: string(transaction.Type), Reason: transaction.Reason,
		Amount: e.Signed.String(), Balance: e.Balance.String(), Closed: e.Closed,
	}
	// A customer compares dates with his old bills, so a changed one is explained.
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

// formatAmount writes money as a text, so that nobody reads a fraction.
func formatAmount(given *money.Amount) NullString {
	if given == nil {
		return ""
	}
	return NullString(given.String())
}
