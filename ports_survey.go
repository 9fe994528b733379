package landfall

import (
	"context"
	"time"
)

// SurveyReader counts what operators watch, at a cost that is bounded however
// many accounts there are.
type SurveyReader interface {
	// DeviatingAccounts says how many accounts of a supplier are not what was
	// sent for them, up to 10000; an unknown supplier has none.
	DeviatingAccounts(ctx context.Context, supplier string) (int64, error)
	// SignedOffAt says when the reconciliation of each supplier was signed off
	// last; suppliers without are left out.
	SignedOffAt(ctx context.Context) (map[string]time.Time, error)
	// PurgeEnded says when servers last went through everything that is kept for
	// a time, to the end; the zero time is never.
	PurgeEnded(ctx context.Context) (time.Time, error)
}
