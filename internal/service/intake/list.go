package intake

import (
	"context"
	"iter"

	"landfall"
)

// List streams a supplier's account import processes. The supplier is looked
// up before the first row, so that a refusal is still a refusal; what goes
// wrong later comes out of the sequence.
func (d *Desk) List(
	ctx context.Context, who landfall.Principal, query landfall.ProcessQuery,
) (iter.Seq2[landfall.ProcessEntry, error], error) {
	if err := d.mustKnow(ctx, who, query.Supplier); err != nil {
		return nil, err
	}
	return untroubled(d.store.List(ctx, query)), nil
}

// mustKnow refuses to list what a supplier has who does not exist for the caller.
func (d *Desk) mustKnow(ctx context.Context, who landfall.Principal, code string) error {
	supplier, err := d.supplier(ctx, who, code)
	if err != nil {
		return trouble(err)
	}
	if supplier == nil {
		return errSupplierUnknown
	}
	return nil
}

// errSupplierUnknown is told of suppliers that are not there and of those that are
// somebody else's: the difference would tell who our customers are.
var errSupplierUnknown = &landfall.Error{
	Kind: landfall.NotFound, Code: landfall.CodeSupplierUnknown,
	Detail: "There is no import supplier with this code.",
}

// untroubled makes the store's errors in a sequence fit for callers; the first
// one ends it.
func untroubled[T any](rows iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for row, err := range rows {
			if err != nil {
				err = trouble(err)
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}
