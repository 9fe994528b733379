package intake

import (
	"context"
	"errors"
	"time"

	"landfall"
	"landfall/internal/api/contract"
)

// Quota limits how much of the service organisations may use.
type Quota interface {
	// Begin admits one more creation of an organisation or refuses it; call done
	// at the end. Places is the limit of the whole service, 0 for none.
	Begin(who landfall.Principal, places int) (done func(), err error)
	// BytesLeft returns how many bytes an organisation that has a quota of them may
	// still send today.
	BytesLeft(ctx context.Context, who landfall.Principal) (int64, error)
	// Refuse counts a refusal by another quota and returns its error.
	Refuse(who landfall.Principal, quota string, limit int64, wait time.Duration) error
}

// BeginCreation admits one creation, or refuses it.
func (s *Service) BeginCreation(who landfall.Principal) (done func(), err error) {
	if s.quota == nil {
		return func() {}, nil
	}
	return s.quota.Begin(who, s.limit())
}

// checkRevisionQuota refuses a staging that exceeds the quota of revisions. Old
// revisions are never dropped: they are evidence. Requests that race for the last
// revision may all pass. Only organisations with this quota pay for the query.
func (s *Service) checkRevisionQuota(ctx context.Context, who landfall.Principal, account *contract.Account) error {
	limit := who.Quotas.RevisionsPerAccount
	if limit <= 0 || s.quota == nil {
		return nil
	}
	var process landfall.Process
	err := s.store.For(who.Caller()).View(ctx, func(view landfall.View) (err error) {
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
