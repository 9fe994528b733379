package intake

import (
	"context"
	"errors"
	"time"

	"landfall"
	"landfall/internal/api/contract"
)

// Quota shares the service between organisations.
type Quota interface {
	// Begin lets an organisation create one more account or refuses; done must
	// be called at the end. Places are those of the whole service, 0 for no limit.
	Begin(who landfall.Principal, places int) (done func(), err error)
	// Refuse tells of something else that a quota does not allow, and gives its
	// answer.
	Refuse(who landfall.Principal, quota string, limit int64, wait time.Duration) error
}

// BeginCreation takes a place for a creation.
func (s *Service) BeginCreation(who landfall.Principal) (done func(), err error) {
	if s.quota == nil {
		return func() {}, nil
	}
	return s.quota.Begin(who, s.serviceLimit)
}

// checkRevisionQuota refuses a staging that would be one revision too many for its
// organisation. Nothing is dropped to make room: what was staged is evidence.
// Requests that race for the last place may all get it; only organisations with
// this quota pay for the question.
func (s *Service) checkRevisionQuota(ctx context.Context, who landfall.Principal, account *contract.Account) error {
	limit := who.Quotas.RevisionsPerAccount
	if limit <= 0 || s.quota == nil {
		return nil
	}
	var process landfall.Process
	err := s.store.View(ctx, func(view landfall.View) (err error) {
		process, err = view.Process(ctx, account.Key())
		return err
	})
	switch {
	case errors.Is(err, landfall.ErrNotFound):
		return nil
	case err != nil:
		return userError(err)
	}
	another := process.State == landfall.Staged && process.ContentHash != account.Hash()
	if another && int64(process.Revision) >= limit {
		return s.quota.Refuse(who, landfall.QuotaRevisions, limit, 0)
	}
	return nil
}
