package landfall

import "time"

// EventType names what happened, as the event's receivers read it.
type EventType string

// The events, each written in the transaction of the fact it tells.
const (
	EventImportCompleted       EventType = "account_import.completed"
	EventImportFailed          EventType = "account_import.failed"
	EventDryRunCompleted       EventType = "account_import.dry_run_completed"
	EventDryRunFailed          EventType = "account_import.dry_run_failed"
	EventSkipped               EventType = "account_import.skipped"
	EventUnskipped             EventType = "account_import.unskipped"
	EventUndone                EventType = "account_import.undone"
	EventNotesCreated          EventType = "post_import.notes_created"
	EventTransactionsCreated   EventType = "post_import.transactions_created"
	EventStatementsCreated     EventType = "post_import.statements_created"
	EventInstructionCreated    EventType = "post_import.payment_instruction_created"
	EventSupplierStatusChanged EventType = "import_supplier.status_changed"
	EventRunStarted            EventType = "run.started"
	EventRunPaused             EventType = "run.paused"
	EventRunFinished           EventType = "run.finished"
	EventRunCancelled          EventType = "run.cancelled"
	EventSignedOff             EventType = "reconciliation.signed_off"
	EventWebhookTest           EventType = "webhook.test"
)

// Event is a fact for the outside world. It holds no personal data beyond the
// two account numbers.
type Event struct {
	ID            int64 // its place in the log; set where the log is read
	Type          EventType
	Key           Key // External is "" for events about a supplier
	AccountNumber string
	At            time.Time
	Details       map[string]string
	By            Author // zero for what an operator did
}
