package landfall

import (
	"slices"
	"strings"

	"landfall/internal/lib/money"
)

// MeasureKind is a kind of measure that a reconciliation compares.
type MeasureKind string

// The kinds. Balances and transactions are measured per currency, transactions
// per type as well.
const (
	MeasureAccounts     MeasureKind = "accounts"
	MeasureCustomers    MeasureKind = "customers"
	MeasureSupplyPoints MeasureKind = "supply_points"
	MeasureNotes        MeasureKind = "notes"
	MeasureStatements   MeasureKind = "statements"
	MeasureInstructions MeasureKind = "payment_instructions"
	MeasureBalances     MeasureKind = "balances"
	MeasureTransactions MeasureKind = "transactions"
)

// countedKinds are the kinds without money, in the order of their figures.
var countedKinds = []MeasureKind{
	MeasureAccounts, MeasureCustomers, MeasureSupplyPoints, MeasureNotes, MeasureStatements, MeasureInstructions,
}

// Measure is one figure that is compared.
type Measure struct {
	Kind     MeasureKind
	Currency string          // of balances and transactions
	Type     TransactionType // of transactions
}

// String returns the name of a measure: accounts, balances.GBP, transactions.GBP.PAYMENT.
func (m Measure) String() string {
	parts := []string{string(m.Kind)}
	if m.Currency != "" {
		parts = append(parts, m.Currency)
	}
	if m.Type != "" {
		parts = append(parts, string(m.Type))
	}
	return strings.Join(parts, ".")
}

// ParseMeasure parses what String returns.
func ParseMeasure(text string) (Measure, bool) {
	parts := strings.Split(text, ".")
	m := Measure{Kind: MeasureKind(parts[0])}
	switch {
	case len(parts) == 1:
		return m, slices.Contains(countedKinds, m.Kind)
	case len(parts) == 2 && m.Kind == MeasureBalances:
		m.Currency = parts[1]
		return m, m.Currency != ""
	case len(parts) == 3 && m.Kind == MeasureTransactions:
		m.Currency, m.Type = parts[1], TransactionType(parts[2])
		return m, m.Currency != "" && slices.Contains(TransactionTypes[:], m.Type)
	}
	return Measure{}, false
}

// Value is the value of a measure: a count, an amount of money or both. nil means
// not measured or unknown.
type Value struct {
	Count  *money.Total
	Amount *money.Total
}

// Plus returns the sum of what both have.
func (v Value) Plus(other Value) Value {
	return Value{both(v.Count, other.Count, money.Total.Plus), both(v.Amount, other.Amount, money.Total.Plus)}
}

// Minus returns the difference of what both have.
func (v Value) Minus(other Value) Value {
	return Value{both(v.Count, other.Count, money.Total.Minus), both(v.Amount, other.Amount, money.Total.Minus)}
}

// Zero reports whether the value is zero. What is not measured counts as zero.
func (v Value) Zero() bool {
	return (v.Count == nil || v.Count.Zero()) && (v.Amount == nil || v.Amount.Zero())
}

// Equal reports whether both are the same.
func (v Value) Equal(other Value) bool {
	same := func(a, b *money.Total) bool { return a == b || a != nil && b != nil && *a == *b }
	return same(v.Count, other.Count) && same(v.Amount, other.Amount)
}

// Known reports whether a count or an amount is known.
func (v Value) Known() bool { return v.Count != nil || v.Amount != nil }

func both(a, b *money.Total, of func(money.Total, money.Total) money.Total) *money.Total {
	if a == nil || b == nil {
		return nil
	}
	total := of(*a, *b)
	return &total
}

// Of returns the value of the measure in sums, which must be of its currency if it
// has one.
func (m Measure) Of(sums Sums) Value {
	switch m.Kind {
	case MeasureBalances:
		return Value{Count: &sums[AtAccounts], Amount: &sums[AtBalance]}
	case MeasureTransactions:
		at := AtTransactions + 2*slices.Index(TransactionTypes[:], m.Type)
		return Value{Count: &sums[at], Amount: &sums[at+1]}
	}
	return Value{Count: &sums[slices.Index(countedKinds, m.Kind)]}
}

// In returns the value of the measure in figures. Figures of another currency
// contribute nothing.
func (m Measure) In(figures Figures) Value {
	var sums Sums
	if m.Currency == "" || m.Currency == figures.Currency {
		sums.Add(figures)
	}
	return m.Of(sums)
}
