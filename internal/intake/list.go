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
	supplier, err := d.supplier(ctx, who, query.Supplier)
	if err != nil {
		return nil, trouble(err)
	}
	if supplier == nil {
		return nil, errSupplierUnknown
	}
	rows := d.store.List(ctx, query)
	return func(yield func(landfall.ProcessEntry, error) bool) {
		for entry, err := range rows {
			if err != nil {
				err = trouble(err)
			}
			if !yield(entry, err) || err != nil {
				return
			}
		}
	}, nil
}

var errSupplierUnknown = &landfall.Error{
	Kind: landfall.NotFound, Code: landfall.CodeSupplierUnknown,
	Detail: "There is no import supplier with this code.",
}
