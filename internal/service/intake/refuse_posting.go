package intake

import (
	"context"
	"errors"

	"landfall"
	"landfall/internal/api/contract"
)

// refusePosting records why something was not added to an account, so that no
// posting disappears just because nobody read the response. It returns the
// reason. If recording fails, the caller gets that error and sends the request
// again. Nothing is recorded about suppliers that the caller may not use.
func (s *Service) refusePosting(ctx context.Context, who landfall.Principal, key landfall.Key, kind landfall.PostingKind, reason error) error {
	var refusal *landfall.Error
	if !errors.As(reason, &refusal) || refusal.Kind != landfall.Invalid || refusal.Code == landfall.CodeAccountNotFound ||
		!contract.ValidExternalNumber(key.External) {
		return reason
	}
	supplier, err := s.Supplier(ctx, who, key.Supplier)
	if err == nil && supplier != nil {
		err = s.store.For(who.Caller()).RefusePosting(ctx, landfall.PostingRefusal{
			Key: key, Kind: kind, By: who.Author(), Failure: landfall.Failure{Code: refusal.Code, Violations: refusal.Violations},
		})
	}
	if err != nil {
		return userError(err)
	}
	return reason
}
