package landfall

import (
	"context"
	"time"
)

// EventType is the type of an event as receivers see it.
type EventType string

// The event types. An event is written in the transaction of the fact it reports.
const (
	EventImportCompleted       EventType = "account_import.completed"
	EventImportFailed          EventType = "account_import.failed"
	EventDryRunCompleted       EventType = "account_import.dry_run_completed"
	EventDryRunFailed          EventType = "account_import.dry_run_failed"
	EventSkipped               EventType = "account_import.skipped"
	EventUnskipped             EventType = "account_import.unskipped"
	EventUndone                EventType = "account_import.undone"
	EventDelivered             EventType = "account_import.delivered"
	EventDeliveryRefused       EventType = "account_import.delivery_refused"
	EventNotesCreated          EventType = "post_import.notes_created"
	EventTransactionsCreated   EventType = "post_import.transactions_created"
	EventStatementsCreated     EventType = "post_import.statements_created"
	EventInstructionCreated    EventType = "post_import.payment_instruction_created"
	EventPostingFailed         EventType = "post_import.failed"
	EventSupplierStatusChanged EventType = "import_supplier.status_changed"
	EventRunStarted            EventType = "run.started"
	EventRunPaused             EventType = "run.paused"
	EventRunFinished           EventType = "run.finished"
	EventRunCancelled          EventType = "run.cancelled"
	EventSignedOff             EventType = "reconciliation.signed_off"
	EventWebhookTest           EventType = "webhook.test"
)

// Event is a fact that is published. It contains no personal data except the two
// account numbers.
type Event struct {
	ID            int64 // its position in the log; set when the log is read
	Type          EventType
	Key           Key // External is "" for events about a supplier
	AccountNumber string
	At            time.Time
	Details       map[string]string
	By            Author // zero for operators
}

// EventQuery asks for a part of the log.
type EventQuery struct {
	Suppliers []string // whose events; none selects nothing
	After     int64    // only events with a greater id
	UpTo      int64    // only events up to this id
	Limit     int
}

// EventPosition is a position in the log: directly after an event. Its time
// shows whether the event is still the same one. The zero position is the
// beginning.
type EventPosition struct {
	ID int64
	At time.Time
	// PurgedThrough is how far events had been purged when the reader began. Up
	// to that position, missing events need not be reported to the reader.
	PurgedThrough int64
}

// Position returns where an event is in the log.
func (e Event) Position() EventPosition { return EventPosition{ID: e.ID, At: e.At} }

// Matches reports whether an event is the one the position was given for.
func (p EventPosition) Matches(event Event) bool { return p.ID == event.ID && p.At.Equal(event.At) }

// EventLog lets readers follow the log of events.
type EventLog interface {
	// Watermark polls the log and returns the watermark after the one given;
	// start with the zero one. An event at or below Complete that is not visible
	// never will be. The events of an account are in the order of their commits.
	// While events are being written, the first poll cannot tell up to where the
	// log is complete; a poll after those writers have ended can.
	Watermark(ctx context.Context, before Watermark) (Watermark, error)
}

// EventReader reads the log of events.
type EventReader interface {
	// Instance returns the random name of this installation, which its events have
	// in their source when the service has no base URL.
	Instance(ctx context.Context) (string, error)
	// Events returns the events about one process, oldest first.
	Events(ctx context.Context, key Key) ([]Event, error)
	// EventsAfter returns events in the order of the log, with their ids.
	EventsAfter(ctx context.Context, query EventQuery) ([]Event, error)
	// LoggedEvent returns one event by its id, or ErrNotFound.
	LoggedEvent(ctx context.Context, id int64) (Event, error)
	// LastEvent returns the last event of a supplier up to an id, or ErrNotFound.
	LastEvent(ctx context.Context, supplier string, upTo int64) (Event, error)
	// SuppliersWithEvents returns the suppliers that have events after one id and
	// up to another.
	SuppliersWithEvents(ctx context.Context, after, upTo int64) ([]string, error)
	// PurgedEvents returns, for each supplier whose events were purged, the
	// position up to which they were, with the latest time among them.
	PurgedEvents(ctx context.Context) (map[string]EventPosition, error)
	// WebhooksHoldingEvents returns the webhooks that have not received events of a
	// supplier which are older than a duration, so that those events are kept.
	WebhooksHoldingEvents(ctx context.Context, supplier string, older time.Duration) ([]string, error)
	// LastEventBefore returns an id such that all events from an instant on have
	// greater ids; 0 is the beginning.
	LastEventBefore(ctx context.Context, at time.Time) (int64, error)
}

// EventWriter appends events, in the transaction of the fact they report.
type EventWriter interface {
	AppendEvent(ctx context.Context, event Event) error // sets At
}
