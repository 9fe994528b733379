package sqlstore

import (
	"context"
	"errors"
	"fmt"

	"landfall"
)

// inspectSums compares the stored sums of every supplier with its rows, and
// checks that signed reconciliations are unchanged. Each supplier is checked in
// one snapshot, so that concurrent changes do not matter.
func (s *Store) inspectSums(ctx context.Context, done int, yield func(landfall.Inspection, error) bool) {
	var suppliers []landfall.Supplier
	err := s.View(ctx, func(reader landfall.View) (err error) {
		suppliers, err = reader.Suppliers(ctx)
		return err
	})
	for i := 0; err == nil && i < len(suppliers); i++ {
		var found []landfall.Finding
		err = s.View(ctx, func(reader landfall.View) (err error) {
			found, err = inspectSupplier(ctx, reader, suppliers[i].Code)
			return err
		})
		for j := range found {
			if !yield(landfall.Inspection{Processes: done, Finding: &found[j]}, nil) {
				return
			}
		}
	}
	if err != nil {
		yield(landfall.Inspection{Processes: done}, err)
	}
}

// inspectSupplier counts all rows of a supplier and compares the result with
// the stored sums.
func inspectSupplier(ctx context.Context, reader landfall.View, code string) (found []landfall.Finding, err error) {
	note := func(what string) {
		found = append(found, landfall.Finding{Key: landfall.Key{Supplier: code}, What: what})
	}
	kept, err := reader.Tallies(ctx, code)
	if err != nil {
		return nil, err
	}
	counted, err := reader.Recount(ctx, code)
	if err != nil {
		return nil, err
	}
	for _, difference := range kept.Differences(&counted) {
		note("its " + difference)
	}
	signed, err := reader.SignOffs(ctx, code)
	for _, one := range signed {
		if _, err := reader.SignOff(ctx, one.ID); errors.Is(err, errBroken) {
			note(fmt.Sprintf("its signed reconciliation %d is not the one that was sealed", one.ID))
		} else if err != nil {
			return nil, err
		}
	}
	return found, err
}
