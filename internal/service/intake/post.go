package intake

import (
	"context"
	"fmt"
	"strconv"

	"landfall"
)

// post adds something to an existing account. Without an account it returns absent,
// because that error differs between the endpoints.
func (s *Service) post(ctx context.Context, who landfall.Principal, posting landfall.Posting, absent error) (string, error) {
	outcome, err := s.store.For(who.Caller()).Post(ctx, posting)
	if err != nil {
		return "", userError(err)
	}
	switch outcome.Verdict {
	case landfall.Posted:
		return outcome.AccountNumber, nil
	case landfall.PostNoAccount:
		return "", absent
	case landfall.PostNoSupplier:
		return "", ErrSupplierNotOngoing
	}
	return "", userError(fmt.Errorf("unknown post verdict %d", outcome.Verdict))
}

// errNoAccount refuses a posting without an imported account.
var errNoAccount = landfall.Refuse(landfall.CodeAccountNotFound,
	"There is no imported account for this import supplier and external account number.")

// additionEvent returns the event of a posting; nil when nothing was added.
func additionEvent(kind landfall.EventType, key landfall.Key, added int) *landfall.Event {
	if added == 0 {
		return nil
	}
	return &landfall.Event{Type: kind, Key: key, Details: map[string]string{"count": strconv.Itoa(added)}}
}
