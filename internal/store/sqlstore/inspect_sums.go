package sqlstore

import (
	"context"
	"errors"
	"fmt"

	"landfall"
)

// inspectSums compares the stored sums of the next supplier with its rows, and
// checks that its signed reconciliations are unchanged. It does so in one
// snapshot, so that concurrent changes do not matter.
func inspectSums(ctx context.Context, s *Store, after string) (part inspectPart, err error) {
	err = s.View(ctx, func(reader landfall.View) error {
		part = inspectPart{}
		suppliers, err := reader.Suppliers(ctx)
		for _, supplier := range suppliers {
			if supplier.Code > after && (part.next == "" || supplier.Code < part.next) {
				part.next = supplier.Code
			}
		}
		if err == nil && part.next != "" {
			part.findings, err = inspectSupplier(ctx, reader, part.next)
		}
		return err
	})
	return part, err
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
		found = append(found, landfall.Finding{Key: landfall.Key{Supplier: code}, What: "its " + difference, Sums: true})
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
