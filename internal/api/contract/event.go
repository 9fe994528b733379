package contract

import (
	"slices"
	"time"

	"landfall"
)

// EventKind declares an event type: when it occurs and what its data contains.
// The declaration writes the data, its JSON Schema and an example.
type EventKind struct {
	Type    landfall.EventType
	Doc     string
	account bool // about one account, otherwise about a supplier
	number  bool // it has the platform's account number
	members []eventMember
}

// eventMember is one detail of an event.
type eventMember struct {
	name    string
	doc     string
	schema  map[string]any
	always  bool
	example string
}

// textDetail is a string in an event's data. Details are stored as strings and
// written as their declared type.
func textDetail(name, doc, example string) eventMember {
	return eventMember{name: name, doc: doc, schema: stringSchema, always: true, example: example}
}

// countDetail is a number in an event's data.
func countDetail(name, doc, example string) eventMember {
	return eventMember{name: name, doc: doc, schema: integerSchema, always: true, example: example}
}

// flagDetail is true or absent.
func flagDetail(name, doc string) eventMember {
	return eventMember{name: name, doc: doc, schema: booleanSchema, example: "true"}
}

// optional marks a detail that not every event of the type has.
func (m eventMember) optional() eventMember {
	m.always = false
	return m
}

var (
	runDetail   = textDetail("run", "Id of the run that caused the event, if any.", "R-7K2M9QXD").optional()
	addedDetail = countDetail("count", "Number of items added.", "2")
	codeDetail  = textDetail("code", "Error code of the failure.", "account_failed_validation")
)

// runDetails are the details of every event about a run.
var runDetails = []eventMember{
	textDetail("run", "Id of the run.", "R-7K2M9QXD"), textDetail("state", "State of the run.", "FINISHED"),
	countDetail("selected", "Number of accounts in the run.", "1000"), countDetail("succeeded", "Number of accounts that succeeded.", "990"),
	countDetail("failed", "Number of accounts that failed.", "8"), countDetail("refused", "Number of accounts processed by someone else or skipped in the meantime.", "2"),
	flagDetail("dry_run", "True for a dry run."), textDetail("reason", "Why the run paused or ended, unless it finished by itself.", "operator").optional(),
}

// deliveryDetails are the details of every event about a delivery to a target.
var deliveryDetails = []eventMember{
	textDetail("target", "Code of the target.", "BILLING"),
	textDetail("kind", "What was delivered: `account`, `notes`, `transactions`, `statements` or `payment-instructions`.", "account"),
}

// eventKinds lists every event type. A test compares it with the constants of
// the root package.
var eventKinds = []EventKind{
	{landfall.EventImportCompleted, "An account was created from its staged data.", true, true, []eventMember{runDetail}},
	{landfall.EventImportFailed, "An attempt to create an account failed.", true, false, []eventMember{codeDetail, runDetail}},
	{landfall.EventDryRunCompleted, "A dry run succeeded: the account would be created.", true, false, []eventMember{runDetail}},
	{landfall.EventDryRunFailed, "A dry run failed: the account cannot be created.", true, false, []eventMember{codeDetail, runDetail}},
	{landfall.EventSkipped, "The operator marked an account as skipped.", true, false, nil},
	{landfall.EventUnskipped, "The operator removed the skipped mark from an account.", true, false, nil},
	{landfall.EventUndone, "The operator undid an account: it is staged again. Created again, it has the same number.", true, true, []eventMember{runDetail}},
	{landfall.EventDelivered, "An account was delivered to its target, and the target has it.", true, true, append(deliveryDetails[:2:2],
		textDetail("target_id", "The target's name for the account, if it gave one.", "T-1").optional(),
		textDetail("former_target_id", "The name that the target gave before, if it is another one.", "T-0").optional())},
	{landfall.EventDeliveryRefused, "A target refused an account, or what was added to it.", true, true, deliveryDetails},
	{landfall.EventNotesCreated, "Notes were added to an account.", true, true, []eventMember{addedDetail}},
	{landfall.EventTransactionsCreated, "Transactions were added to an account.", true, true, []eventMember{addedDetail}},
	{landfall.EventStatementsCreated, "Historical statements were added to an account.", true, true, []eventMember{addedDetail}},
	{landfall.EventInstructionCreated, "A payment instruction was added to an account.", true, true, []eventMember{addedDetail}},
	{landfall.EventPostingFailed, "Something could not be added to an account.", true, true, []eventMember{
		textDetail("at", "What could not be added: `NOTES`, `TRANSACTIONS`, `STATEMENTS` or `PAYMENT_INSTRUCTION`.", "TRANSACTIONS"), codeDetail,
	}},
	{landfall.EventSupplierStatusChanged, "The operator changed the status of an import supplier.", false, false, []eventMember{
		textDetail("from", "Previous status.", "Ongoing"), textDetail("to", "New status.", "Paused"),
	}},
	{landfall.EventRunStarted, "A run started.", false, false, runDetails},
	{landfall.EventRunPaused, "A run was paused, by a user or because its supplier was paused.", false, false, runDetails},
	{landfall.EventRunFinished, "A run finished all of its accounts.", false, false, runDetails},
	{landfall.EventRunCancelled, "A run was cancelled.", false, false, runDetails},
	{landfall.EventSignedOff, "The operator signed off a reconciliation.", false, false, []eventMember{
		textDetail("report", "Number of the sealed report.", "3").optional(),
		textDetail("sha256", "SHA-256 of the sealed report, in hexadecimal.", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08").optional(),
	}},
	{landfall.EventWebhookTest, "A test event sent by the operator to a webhook. It does not appear in the feed.", false, false, nil},
}

// EventKinds returns every event type.
func EventKinds() []EventKind { return eventKinds }

// eventKind returns the declaration of a type, or nil for an event of a later
// version.
func eventKind(of landfall.EventType) *EventKind {
	at := slices.IndexFunc(eventKinds, func(kind EventKind) bool { return kind.Type == of })
	if at < 0 {
		return nil
	}
	return &eventKinds[at]
}

// Example returns an event of this type.
func (k EventKind) Example() CloudEvent {
	event := landfall.Event{
		ID: 1042, Type: k.Type, Key: landfall.Key{Supplier: exampleSupplier},
		At: time.Date(2026, 3, 2, 9, 30, 15, 250_000_000, time.UTC), Details: map[string]string{},
	}
	if k.account {
		event.Key.External = exampleExternal
	}
	if k.number {
		event.AccountNumber = exampleNumber
	}
	for _, member := range k.members {
		event.Details[member.name] = member.example
	}
	return CloudEvent{Event: event, Source: "https://landfall.example.com"}
}
