package compare

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"landfall"
	"landfall/client"
	"landfall/internal/kit/book"
	"landfall/internal/kit/check"
	"landfall/internal/lib/money"
)

// Supplier is the comparison of one import supplier.
type Supplier struct {
	Code    string
	Unknown bool // the server has no such supplier, or the key has no access
	Claims  Claims

	created map[landfall.Measure]landfall.Value // on the server
	tallies *landfall.Tallies                   // in the book
}

// Rows compares the totals: Claimed is the book without duplicates, Created the server.
func (s *Supplier) Rows() []landfall.ReconciliationRow {
	rows := landfall.Reconcile(s.Code, s.tallies, &landfall.ControlTotals{Claims: s.created}).Rows
	for i, row := range rows {
		rows[i] = landfall.ReconciliationRow{Measure: row.Measure, Claimed: row.Created, Created: row.Claimed}
		if row.Measure.Kind == landfall.MeasureBalances {
			rows[i].Claimed.Count = nil
		}
	}
	return rows
}

// Claims compares the control totals of the book with those on the server.
type Claims struct {
	InBook, OnServer bool
	Different        []string // measures
}

// Agree reports whether the server has the control totals of the book.
func (c Claims) Agree() bool { return !c.InBook || c.OnServer && len(c.Different) == 0 }

// addTotals stores the server's totals, and compares the control totals if the book has a single
// supplier.
func (s *Supplier) addTotals(ctx context.Context, of *book.Book, alone bool, compared client.Reconciliation) error {
	s.created = map[landfall.Measure]landfall.Value{}
	claimed := map[landfall.Measure]landfall.Value{}
	for _, row := range compared.Measures {
		measure, known := landfall.ParseMeasure(row.Name)
		if !known {
			continue
		}
		s.created[measure] = convertValue(row.Created)
		if value := convertValue(row.Claimed); value.Known() {
			claimed[measure] = value
		}
	}
	s.Claims.OnServer = compared.TotalsSetAt != nil
	totals, err := check.ReadTotals(ctx, of)
	if err != nil || totals == nil || !alone {
		return err
	}
	s.Claims.InBook = true
	for _, row := range landfall.Reconcile(s.Code, &landfall.Tallies{}, totals).Rows {
		if row.Claimed.Known() && !row.Claimed.Equal(claimed[row.Measure]) {
			s.Claims.Different = append(s.Claims.Different, row.Measure.String())
		}
		delete(claimed, row.Measure)
	}
	for measure := range claimed { // only on the server
		s.Claims.Different = append(s.Claims.Different, measure.String())
	}
	slices.Sort(s.Claims.Different)
	return nil
}

// setTotals sets the control totals of the book on the server. It needs a book with a single
// supplier.
func (c *comparison) setTotals(ctx context.Context) error {
	if c.options.Book.Totals == "" {
		return errors.New("the book has no " + book.TotalsName + " to set")
	}
	if len(c.result.Suppliers) != 1 {
		return fmt.Errorf("the book names %d import suppliers, so its control totals cannot be set", len(c.result.Suppliers))
	}
	if _, err := check.ReadTotals(ctx, c.options.Book); err != nil {
		return err
	}
	text, err := os.ReadFile(c.options.Book.Totals)
	if err != nil {
		return err
	}
	_, err = c.server.SetControlTotals(ctx, c.result.Suppliers[0].Code, text)
	return err
}

// convertValue keeps missing values missing: nothing is not the same as zero.
func convertValue(value client.Value) (kept landfall.Value) {
	if value.Count != nil {
		total := money.TotalOf(*value.Count)
		kept.Count = &total
	}
	if amount, err := money.ParseTotal(value.Amount); err == nil {
		kept.Amount = &amount
	}
	return kept
}
