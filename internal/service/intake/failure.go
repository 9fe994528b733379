package intake

import (
	"context"
	"iter"

	"landfall"
)

// Failed streams the accounts of a supplier whose last attempt failed, with the
// reason of each.
func (d *Desk) Failed(ctx context.Context, who landfall.Principal, query landfall.FailureQuery) (iter.Seq2[landfall.FailedProcess, error], error) {
	if err := d.mustKnow(ctx, who, query.Supplier); err != nil {
		return nil, err
	}
	return untroubled(d.store.Failed(ctx, query)), nil
}

// ErrorSummary groups those reasons, so that a migration team sees which few
// mistakes keep how many accounts back.
func (d *Desk) ErrorSummary(ctx context.Context, who landfall.Principal, code string) (landfall.FailureSummary, error) {
	if err := d.mustKnow(ctx, who, code); err != nil {
		return landfall.FailureSummary{}, err
	}
	summary, err := d.store.FailureSummary(ctx, code)
	if err != nil {
		return landfall.FailureSummary{}, trouble(err)
	}
	return summary, nil
}
