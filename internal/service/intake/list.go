package intake

import (
	"context"
	"iter"

	"landfall"
)

// List streams a supplier's account import processes. The supplier is checked
// before the first row, so that it can still be refused; later errors come out of
// the sequence.
func (s *Service) List(
	ctx context.Context, who landfall.Principal, query landfall.ProcessQuery,
) (iter.Seq2[landfall.ProcessEntry, error], error) {
	if err := s.RequireSupplier(ctx, who, query.Supplier); err != nil {
		return nil, err
	}
	return UserErrors(s.store.For(who.Caller()).List(ctx, query)), nil
}

// Failed streams the failed accounts of a supplier, each with the reason.
func (s *Service) Failed(ctx context.Context, who landfall.Principal, query landfall.FailureQuery) (iter.Seq2[landfall.FailedProcess, error], error) {
	if err := s.RequireSupplier(ctx, who, query.Supplier); err != nil {
		return nil, err
	}
	return UserErrors(s.store.For(who.Caller()).Failed(ctx, query)), nil
}

// Duplicates streams the pairs of accounts that share an identifier. An account of a
// supplier that the caller may not use is not named.
func (s *Service) Duplicates(ctx context.Context, who landfall.Principal, query landfall.DuplicateQuery) iter.Seq2[landfall.Duplicate, error] {
	pairs := UserErrors(s.store.For(who.Caller()).Duplicates(ctx, query))
	return func(yield func(landfall.Duplicate, error) bool) {
		for pair, err := range pairs {
			if err == nil {
				var visible bool
				if visible, err = s.maySee(ctx, who, pair.Supplier); err != nil {
					err = userError(err)
				}
				if !visible {
					pair.Supplier, pair.Second = "", landfall.ProcessEntry{}
				}
			}
			if !yield(pair, err) || err != nil {
				return
			}
		}
	}
}

// ErrorSummary groups those reasons, so that a migration team sees how many
// accounts each mistake affects.
func (s *Service) ErrorSummary(ctx context.Context, who landfall.Principal, code string) (landfall.FailureSummary, error) {
	if err := s.RequireSupplier(ctx, who, code); err != nil {
		return landfall.FailureSummary{}, err
	}
	summary, err := s.store.For(who.Caller()).FailureSummary(ctx, code)
	if err != nil {
		return landfall.FailureSummary{}, userError(err)
	}
	return summary, nil
}

// UserErrors turns the store's errors in a sequence into what callers see; the
// first error ends it.
func UserErrors[T any](rows iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for row, err := range rows {
			if err != nil {
				err = userError(err)
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}
