package intake

import (
	"context"
	"errors"

	"landfall"
)

// SupplierFacts returns what a caller has to know about a supplier before it sends
// a book, and which of some documents are missing. It returns nil if there is no
// such supplier for the caller.
func (s *Service) SupplierFacts(ctx context.Context, who landfall.Principal, code string, documents []string) (*landfall.SupplierFacts, error) {
	supplier, err := s.Supplier(ctx, who, code)
	if err != nil || supplier == nil {
		return nil, err
	}
	facts := &landfall.SupplierFacts{
		Status: supplier.Status, StatementAmounts: supplier.StatementAmounts, VerifyDocuments: supplier.VerifyDocuments, Now: s.now(),
		BytesPerDay: who.Quotas.BytesPerDay,
	}
	if facts.Vendors, err = s.supplierVendors(ctx, who, code); err != nil {
		return nil, err
	}
	if facts.BytesPerDay > 0 && s.quota != nil {
		if facts.BytesLeft, err = s.quota.BytesLeft(ctx, who); err != nil {
			return nil, err
		}
	}
	if !supplier.VerifyDocuments {
		return facts, nil
	}
	facts.NoFileStore = s.files == nil && len(documents) > 0
	for _, path := range documents {
		if facts.NoFileStore {
			break
		}
		switch err := s.files.Check(ctx, *supplier, path); {
		case err == nil:
		case isMissing(err):
			facts.MissingDocuments = append(facts.MissingDocuments, path)
		default:
			facts.NoFileStore = true
		}
	}
	return facts, nil
}

// isMissing reports whether a file store says that a file does not exist.
func isMissing(err error) bool {
	refused, is := errors.AsType[*landfall.Error](err)
	return is && refused.Code == landfall.CodeFileMissing
}

// supplierVendors returns the codes of the payment vendors that a supplier may use.
func (s *Service) supplierVendors(ctx context.Context, who landfall.Principal, supplier string) (codes []string, err error) {
	codes = []string{}
	if s.verifier == nil {
		return codes, nil
	}
	err = s.store.For(who.Caller()).View(ctx, func(view landfall.View) error {
		vendors, err := view.Vendors(ctx)
		if err != nil {
			return err
		}
		for _, vendor := range vendors {
			_, err := view.GrantedVendor(ctx, supplier, vendor.Code)
			if errors.Is(err, landfall.ErrNotFound) {
				continue
			}
			if err != nil {
				return err
			}
			codes = append(codes, vendor.Code)
		}
		return nil
	})
	return codes, err
}
