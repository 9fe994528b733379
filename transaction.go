package landfall

import (
	"landfall/internal/lib/calendar"
	"landfall/internal/lib/money"
)

// TransactionType is one of the five kinds of financial transaction.
type TransactionType string

// The types. Payments and credits raise the balance, the others lower it.
const (
	Charge       TransactionType = "CHARGE"
	Credit       TransactionType = "CREDIT"
	Payment      TransactionType = "PAYMENT"
	Repayment    TransactionType = "REPAYMENT"
	SupplyCharge TransactionType = "SUPPLY_CHARGE"
)

// Transaction is a financial transaction at the other supplier.
type Transaction struct {
	ID         string
	On         calendar.Day
	Amount     money.Amount // as sent; see Signed
	Type       TransactionType
	Reason     string
	Note       string
	Document   []byte       // the whole transaction as sent, for the response and to detect differences
	OriginalOn calendar.Day // set when the date was moved into the open period
}

// Signed returns the amount as it changes the balance: positive when it is in the
// customer's favour.
func (t Transaction) Signed() money.Amount {
	if t.Type == Payment || t.Type == Credit {
		return t.Amount
	}
	return -t.Amount
}
