package landfall

import (
	"context"
)

// TallyReader reads what a supplier's accounts come to.
type TallyReader interface {
	// Tallies gives the figures of everything known of a supplier, or
	// ErrNotFound. They are exact: what was written in one transaction is in
	// them whole or not at all, and they take no longer with more accounts.
	Tallies(ctx context.Context, supplier string) (Tallies, error)
	// Recount gives the same from the rows themselves, which takes the longer
	// the more there are: created accounts come from the ledger and from what
	// they consist of. In one view it is what Tallies gives.
	Recount(ctx context.Context, supplier string) (Tallies, error)
	// InProgress says by supplier how many accounts are being created now; those
	// without any are left out. In the tallies they are pending or failed until
	// that has ended.
	InProgress(ctx context.Context) (map[string]int64, error)
}

// ReconciliationReader reads what was claimed and what was signed.
type ReconciliationReader interface {
	// ControlTotals gives the newest of a supplier, or ErrNotFound.
	ControlTotals(ctx context.Context, supplier string) (ControlTotals, error)
	// ControlTotalsHistory gives all there ever were, the newest first.
	ControlTotalsHistory(ctx context.Context, supplier string) ([]ControlTotals, error)
	// SignOffs gives what was signed of a supplier, or of all with "", the
	// newest first, without the documents.
	SignOffs(ctx context.Context, supplier string) ([]SignOff, error)
	// SignOff gives one with its documents, or ErrNotFound. Documents that are
	// not the ones that were sealed are an error.
	SignOff(ctx context.Context, id int64) (SignOff, error)
}

// ReconciliationWriter writes down what is claimed and signed. Nothing of it is
// ever changed afterwards.
type ReconciliationWriter interface {
	// SetControlTotals keeps new totals, which count from now on; or
	// ErrNotFound when there is no such supplier. SetAt is set here.
	SetControlTotals(ctx context.Context, supplier string, totals ControlTotals) (ControlTotals, error)
	// CreateSignOff seals a signed reconciliation and gives its number.
	CreateSignOff(ctx context.Context, signed SignOff) (int64, error)
}
