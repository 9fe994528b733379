// Package intake holds the verbs of the API, one file each. A verb takes who
// is asking and what was sent, decides, and answers with a typed result or a
// *landfall.Error; it knows neither HTTP nor SQL.
package intake

import (
	"context"
	"errors"
	"time"

	"landfall"
)

// retryAfter is what a caller is told to wait when the database is away: long
// enough to spare it, short enough that a migration run hardly notices.
const retryAfter = 2 * time.Second

// Desk is where requests are handed in. It keeps nothing but a short-lived
// memory of suppliers, so any number of replicas may run side by side.
type Desk struct {
	store     landfall.Store
	now       func() time.Time
	suppliers lookups
}

// New opens a desk over a store. The clock decides what "today" means to the
// rules; everything that orders or expires things uses the database's own.
func New(store landfall.Store, now func() time.Time) *Desk {
	return &Desk{store: store, now: now, suppliers: lookups{known: map[grant]*lookup{}}}
}

// trouble turns what a store could not do into what a caller is told. An
// unknown outcome is reported like an absent database, never as a refusal:
// sending the same request again is safe and right in both cases.
func trouble(err error) *landfall.Error {
	var known *landfall.Error
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, landfall.ErrUnavailable),
		errors.Is(err, landfall.ErrUnknownOutcome),
		errors.Is(err, context.DeadlineExceeded),
		errors.Is(err, context.Canceled):
		return &landfall.Error{
			Kind: landfall.Unavailable, Code: landfall.CodeServiceUnavailable,
			Detail:     "The service cannot do this right now. Send the same request again later.",
			RetryAfter: retryAfter, Cause: err,
		}
	}
	return &landfall.Error{
		Kind: landfall.Internal, Code: landfall.CodeInternalError,
		Detail: "Something went wrong on our side.", Cause: err,
	}
}
