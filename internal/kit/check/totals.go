package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/kit/book"
)

// The figures of all lines are added up by currency, to compare them with the control totals before
// anything is sent.

// addFigures adds the figures of a line to those of valid or invalid lines.
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

// refuseFigures counts a line as invalid that was counted as valid before.
func (r *Checker) refuseFigures(read checkedLine) {
	currency := cmp.Or(read.figures.Currency, r.currencies[r.known[hashAccount(read.key)].currency])
	r.tallies.Of(landfall.StatusFailed, currency).Add(read.figures)
	r.tallies.Of(landfall.StatusCreated, currency).Add(read.figures.Negated())
}

// maxCurrencies is more than there are.
const maxCurrencies = 1 << 10

// currencyNumber stores an account's currency in two bytes. Postings to the account are in the same
// currency.
func (r *Checker) currencyNumber(name string) uint16 {
	at := slices.Index(r.currencies, name)
	if at < 0 {
		if len(r.currencies) == maxCurrencies {
			return 0
		}
		at = len(r.currencies)
		r.currencies = append(r.currencies, name)
	}
	return uint16(at) //nolint:gosec // at most maxCurrencies
}

// Rows compares the book with its control totals, a row per measure. Claimed is the control total,
// Staged what is in the book, and ReasonFailed explains what is on invalid lines.
func (p Result) Rows() []landfall.ReconciliationRow {
	return landfall.Reconcile("", &p.tallies, p.Totals).Rows
}

// Missing is what was claimed but is not in the book.
func Missing(row landfall.ReconciliationRow) landfall.Value { return row.Claimed.Minus(row.Staged) }

// MatchesTotals reports whether the book matches its control totals, if it has any.
func (p Result) MatchesTotals() bool {
	return !slices.ContainsFunc(p.Rows(), func(row landfall.ReconciliationRow) bool { return !Missing(row).Zero() })
}

// ReadTotals reads the control totals of a book, nil if it has none.
func ReadTotals(ctx context.Context, of *book.Book) (*landfall.ControlTotals, error) {
	if of.Totals == "" {
		return nil, nil //nolint:nilnil // none is a valid result
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
