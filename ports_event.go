package landfall

import (
	"context"
	"time"
)

// EventLog is the log of events as one who follows it sees it.
type EventLog interface {
	// Watermark takes a sounding of the log and gives the watermark after the
	// one given; the zero one begins. An event at or below Complete that is not
	// there never will be. The log of an account is in the order of its commits.
	// While anybody writes events the first sounding is complete up to nothing;
	// it takes another one, after those writers have ended.
	Watermark(ctx context.Context, before Watermark) (Watermark, error)
}

// EventReader reads the log.
type EventReader interface {
	// EventsAfter gives events in the order of the log, with their ids.
	EventsAfter(ctx context.Context, query EventQuery) ([]Event, error)
	// LoggedEvent gives one event by its id, or ErrNotFound.
	LoggedEvent(ctx context.Context, id int64) (Event, error)
	// SuppliersWithEvents names those with events after one id and up to another.
	SuppliersWithEvents(ctx context.Context, after, upTo int64) ([]string, error)
	// PurgedEvents says of each supplier whose events were purged up to which
	// place they were, with the latest time of them.
	PurgedEvents(ctx context.Context) (map[string]EventPosition, error)
	// WebhooksHoldingEvents names the webhooks because of which events of a supplier stay
	// that are older than a length of time: they have not received them.
	WebhooksHoldingEvents(ctx context.Context, supplier string, older time.Duration) ([]string, error)
	// LastEventBefore gives the place behind which everything is that happened
	// at an instant or later; 0 is the beginning.
	LastEventBefore(ctx context.Context, at time.Time) (int64, error)
	// GrantedSuppliers names the suppliers an organisation was granted, sorted.
	GrantedSuppliers(ctx context.Context, organisation string) ([]string, error)
}
