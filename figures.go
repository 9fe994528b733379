package landfall

import "landfall/internal/lib/money"

// TransactionTypes lists all types in the order of Figures.Transactions.
var TransactionTypes = [...]TransactionType{Charge, Credit, Payment, Repayment, SupplyCharge}

// TransactionFigures is the number and sum of the transactions of one type.
// Amounts count as they were sent: a charge of ten and a payment of ten are both
// ten.
type TransactionFigures struct {
	Count  int64
	Amount money.Amount
}

// Figures is the totals of an account, or of several in one currency, that a
// reconciliation counts. They may be negative when they are a difference.
type Figures struct { //nolint:recvcheck // it is copied where it is only read
	Currency string

	Accounts     int64
	Customers    int64
	SupplyPoints int64
	Notes        int64
	Statements   int64
	Instructions int64
	Balance      money.Amount
	Transactions [len(TransactionTypes)]TransactionFigures
}

// The indexes of the numbers in Figures. Each transaction type has two: its count
// and then its amount.
const (
	AtAccounts = iota
	AtCustomers
	AtSupplyPoints
	AtNotes
	AtStatements
	AtInstructions
	AtBalance
	AtTransactions
)

// FigureCount is how many numbers Figures has.
const FigureCount = AtTransactions + 2*len(TransactionTypes)

// Numbers returns pointers to all numbers by index, for adding up, storing and
// comparing. The currency is not included.
func (f *Figures) Numbers() [FigureCount]*int64 {
	numbers := [FigureCount]*int64{
		&f.Accounts, &f.Customers, &f.SupplyPoints, &f.Notes, &f.Statements, &f.Instructions, (*int64)(&f.Balance),
	}
	for i := range f.Transactions {
		numbers[AtTransactions+2*i], numbers[AtTransactions+2*i+1] = &f.Transactions[i].Count, (*int64)(&f.Transactions[i].Amount)
	}
	return numbers
}

// Add adds others. When a sum would overflow, nothing changes and it returns
// false.
func (f *Figures) Add(others Figures) bool {
	sum := *f
	to, from := sum.Numbers(), others.Numbers()
	for i := range to {
		total := *to[i] + *from[i]
		if (total > *to[i]) != (*from[i] > 0) && *from[i] != 0 {
			return false
		}
		*to[i] = total
	}
	*f = sum
	return true
}

// Negated returns the figures with the opposite signs.
func (f Figures) Negated() Figures {
	for _, number := range f.Numbers() {
		*number = -*number
	}
	return f
}

// Empty reports whether all numbers are zero.
func (f Figures) Empty() bool {
	for _, number := range f.Numbers() {
		if *number != 0 {
			return false
		}
	}
	return true
}

// CountTransaction counts one transaction, but not towards the balance.
func (f *Figures) CountTransaction(kind TransactionType, amount money.Amount) {
	for i, known := range TransactionTypes {
		if kind == known {
			f.Transactions[i].Count++
			f.Transactions[i].Amount += amount
		}
	}
}

// CountEntries counts ledger entries: each changes the balance, and transactions
// count as such too.
func (f *Figures) CountEntries(entries []LedgerEntry) {
	for i := range entries {
		f.Balance += entries[i].Signed
		if entries[i].Kind == TransactionEntry {
			f.CountTransaction(entries[i].Transaction.Type, entries[i].Transaction.Amount)
		}
	}
}

// Differences returns what has to be added to others to get these figures: one
// part, or one for each currency when the currencies differ.
func (f Figures) Differences(others Figures) []Figures {
	if f.Currency != others.Currency {
		return []Figures{f, others.Negated()}
	}
	f.Add(others.Negated()) // both are of one account, far from overflowing
	if f.Empty() {
		return nil
	}
	return []Figures{f}
}

// OpeningBalance is the balance that an account begins with: the transferred
// balance if the other supplier sent one, otherwise the balance of the last
// statement and the transactions since, otherwise the sum of the transactions.
func OpeningBalance(transfer, lastStatement *money.Amount, historical, current money.Amount) money.Amount {
	switch {
	case transfer != nil:
		return *transfer
	case lastStatement != nil:
		return *lastStatement + current
	}
	return historical + current
}
