package landfall

import "landfall/internal/lib/money"

// TransactionTypes are all the types there are, in the order figures have them.
var TransactionTypes = [...]TransactionType{Charge, Credit, Payment, Repayment, SupplyCharge}

// TransactionFigures is what the transactions of one type come to. Amounts are
// counted as they were sent: a charge of ten and a payment of ten are both ten.
type TransactionFigures struct {
	Count  int64
	Amount money.Amount
}

// Figures is what an account comes to, or several of one currency together:
// what a reconciliation counts. They may be negative where they tell how
// something changed.
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

// The places of the numbers that figures consist of. Of each transaction type
// there are two, its count and then its amount.
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

// FigureCount is how many numbers there are.
const FigureCount = AtTransactions + 2*len(TransactionTypes)

// Numbers gives every number in its place, for adding up, storing and
// comparing; the currency is not among them.
func (f *Figures) Numbers() [FigureCount]*int64 {
	numbers := [FigureCount]*int64{
		&f.Accounts, &f.Customers, &f.SupplyPoints, &f.Notes, &f.Statements, &f.Instructions, (*int64)(&f.Balance),
	}
	for i := range f.Transactions {
		numbers[AtTransactions+2*i], numbers[AtTransactions+2*i+1] = &f.Transactions[i].Count, (*int64)(&f.Transactions[i].Amount)
	}
	return numbers
}

// Add adds others, if the sums can be kept; otherwise nothing changes and it
// reports false.
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

// Negated gives the figures as they are taken away.
func (f Figures) Negated() Figures {
	for _, number := range f.Numbers() {
		*number = -*number
	}
	return f
}

// Empty reports whether there is nothing in the figures.
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

// CountEntries counts ledger entries: every one moves the balance, and those that are
// transactions count as such.
func (f *Figures) CountEntries(entries []LedgerEntry) {
	for i := range entries {
		f.Balance += entries[i].Signed
		if entries[i].Kind == TransactionEntry {
			f.CountTransaction(entries[i].Transaction.Type, entries[i].Transaction.Amount)
		}
	}
}

// Differences gives what has to be added to other figures to come to these: one
// part, or one for each currency when they are in two.
func (f Figures) Differences(others Figures) []Figures {
	if f.Currency != others.Currency {
		return []Figures{f, others.Negated()}
	}
	f.Add(others.Negated()) // both are one account's, which is far from the limit
	if f.Empty() {
		return nil
	}
	return []Figures{f}
}

// OpeningBalance is what an account begins with: what the other supplier says
// it transfers, and when he does not say, what follows from his last statement
// and the transactions since; failing that, what the transactions come to.
func OpeningBalance(transfer, lastStatement *money.Amount, historical, current money.Amount) money.Amount {
	switch {
	case transfer != nil:
		return *transfer
	case lastStatement != nil:
		return *lastStatement + current
	}
	return historical + current
}
