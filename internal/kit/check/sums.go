package check

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/kit/book"
)

// Whatever the lines of a book bring is added up, by currency, so that it can
// be held against what the source says it has before anything is sent.

// addFigures adds what a line brings to the sums of the lines like it: those that
// would be taken, and those that would be refused.
func (r *Checker) addFigures(read checkedLine, currency string) {
	figures := read.figures
	if figures.Currency == "" {
		figures.Currency = currency
	}
	standing := landfall.StatusCreated
	if read.failure.Code != "" {
		standing = landfall.StatusFailed
	}
	r.tallies.Of(standing, figures.Currency).Add(figures)
}

// maxCurrencies is more than there are; a broken book may name anything.
const maxCurrencies = 1 << 10

// currencyNumber keeps an account's currency in two bytes: what is posted onto
// the account later is in it, too.
func (r *Checker) currencyNumber(name string) uint16 {
	at := slices.Index(r.currencies, name)
	if at < 0 {
		if len(r.currencies) == maxCurrencies {
			return 0
		}
		at = len(r.currencies)
		r.currencies = append(r.currencies, name)
	}
	return uint16(at) //nolint:gosec // there are mostCurrencies at most
}

// Rows compares the book with what its source says it has, a row for each
// measure: Claimed is what was said, Staged what is in the book, and what is
// explained by BecauseFailed stands on lines that would be refused.
func (p Result) Rows() []landfall.ReconciliationRow {
	return landfall.Reconcile("", &p.tallies, p.Totals).Rows
}

// Missing is what was claimed of a measure and is not in the book.
func Missing(row landfall.ReconciliationRow) landfall.Value { return row.Claimed.Minus(row.Staged) }

// MatchesTotals reports whether the book comes to what its source says it has; a
// source that says nothing is never contradicted.
func (p Result) MatchesTotals() bool {
	return !slices.ContainsFunc(p.Rows(), func(row landfall.ReconciliationRow) bool { return !Missing(row).Zero() })
}

// ReadTotals reads the control totals of a book, nil when it has none.
func ReadTotals(ctx context.Context, of *book.Book) (*landfall.ControlTotals, error) {
	if of.Totals == "" {
		return nil, nil //nolint:nilnil // none is an answer
	}
	text, err := os.ReadFile(of.Totals)
	if err != nil {
		return nil, err
	}
	totals, err := contract.ReadControlTotals(ctx, text)
	if refusal, wrong := errors.AsType[*landfall.Error](err); wrong && len(refusal.Violations) > 0 {
		first := refusal.Violations[0]
		return nil, fmt.Errorf("%s: %s: %s", of.Totals, first.Attr, first.Detail)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", of.Totals, err)
	}
	return &totals, nil
}
