package operate

import (
	"context"

	"landfall"
	"landfall/internal/api/rules"
)

// RevisionDifferences is what differs between two staged revisions.
type RevisionDifferences struct {
	From, To int
	Attrs    []string
}

// CompareRevisions compares two staged revisions of an account, by default the
// last two.
func (o *Operator) CompareRevisions(ctx context.Context, key landfall.Key, from, to int) (RevisionDifferences, error) {
	var found RevisionDifferences
	err := o.view(ctx, "account.show", func(view landfall.View) error {
		process, err := view.Process(ctx, key)
		if err != nil {
			return processError(ctx, view, key, err)
		}
		if to == 0 {
			to = process.Revision
		}
		if from == 0 {
			from = to - 1
		}
		if from < 1 || to > process.Revision || from >= to {
			return invalid("revision", rules.CodeOutOfRange, "The account has the revisions 1 to %d; compare an earlier one with a later one.", process.Revision)
		}
		supplier, err := view.Supplier(ctx, key.Supplier)
		if err != nil {
			return err
		}
		schema, err := packSchema(ctx, view, supplier, SupplierChange{})
		if err != nil {
			return err
		}
		var documents [2][]byte
		for i, number := range []int{from, to} {
			staged, err := revision(ctx, view, key, number)
			if err != nil {
				return err
			}
			if staged == nil {
				return notFound(landfall.CodeNotFound, "The document of revision %d was removed.", number)
			}
			documents[i] = staged.Document
		}
		found = RevisionDifferences{From: from, To: to}
		found.Attrs, err = schema.AccountDifferences(documents[0], documents[1])
		return err
	})
	return found, err
}
