package contract

import (
	"slices"
	"time"

	"landfall"
)

// EventKind declares one type of event: when it happens and what its data
// says. The same declaration writes the data, describes it as JSON Schema and
// shows an example.
type EventKind struct {
	Type    landfall.EventType
	Doc     string
	account bool // it is about one account, else about a supplier
	number  presence
	members []eventMember
}

// presence says whether something stands in the data of a type.
type presence uint8

const (
	never presence = iota
	optionalNumber
	always
)

// eventMember is one of the details of an event, under its own name.
type eventMember struct {
	name    string
	doc     string
	schema  map[string]any
	always  bool
	example string
}

// What details can be. They are kept as texts and leave as what they are.
func textDetail(name, doc, example string) eventMember {
	return eventMember{name: name, doc: doc, schema: stringSchema, always: true, example: example}
}

// countDetail is a number in an event's data.
func countDetail(name, doc, example string) eventMember {
	return eventMember{name: name, doc: doc, schema: integerSchema, always: true, example: example}
}

// flagDetail is yes or absent.
func flagDetail(name, doc string) eventMember {
	return eventMember{name: name, doc: doc, schema: booleanSchema, example: "true"}
}

// optional says that not every event of the type has it.
func (m eventMember) optional() eventMember {
	m.always = false
	return m
}

var (
	runDetail   = textDetail("run", "Id of the run that did it, if one did.", "R-7K2M9QXD").optional()
	addedDetail = countDetail("count", "How many were added.", "2")
	codeDetail  = textDetail("code", "Why, as the code of the call's answer.", "account_failed_validation")
)

// runDetails is what every event about a run tells.
var runDetails = []eventMember{
	textDetail("run", "Id of the run.", "R-7K2M9QXD"), textDetail("state", "What became of it.", "FINISHED"),
	countDetail("selected", "Accounts chosen when it started.", "1000"), countDetail("succeeded", "Of these.", "990"),
	countDetail("failed", "Of these.", "8"), countDetail("refused", "Of these: taken by others or skipped meanwhile.", "2"),
	flagDetail("dry_run", "Accounts are tried and nothing is kept."), textDetail("reason", "Why it paused or ended, if not by itself.", "operator").optional(),
}

// eventKinds is every type of event there is. A test keeps it in step with the
// constants of the dictionary.
var eventKinds = []EventKind{
	{landfall.EventImportCompleted, "An account was created from its staged data.", true, always, []eventMember{runDetail}},
	{landfall.EventImportFailed, "An attempt to create an account failed.", true, never, []eventMember{codeDetail, runDetail}},
	{landfall.EventDryRunCompleted, "A dry run passed: the account would be created.", true, never, []eventMember{runDetail}},
	{landfall.EventDryRunFailed, "A dry run found why an account cannot be created.", true, never, []eventMember{codeDetail, runDetail}},
	{landfall.EventSkipped, "The operator marked an account to be skipped.", true, never, nil},
	{landfall.EventUnskipped, "The operator took such a mark away.", true, never, nil},
	{landfall.EventUndone, "The operator took an account back: it is staged again, and its number is retired.", true, always, []eventMember{runDetail}},
	{landfall.EventNotesCreated, "Notes were added to an account.", true, always, []eventMember{addedDetail}},
	{landfall.EventTransactionsCreated, "Transactions were added to an account.", true, always, []eventMember{addedDetail}},
	{landfall.EventStatementsCreated, "Historical statements were added to an account.", true, always, []eventMember{addedDetail}},
	{landfall.EventInstructionCreated, "A payment instruction was added to an account.", true, always, []eventMember{addedDetail}},
	{landfall.EventSupplierStatusChanged, "The operator changed the status of an import supplier.", false, never, []eventMember{
		textDetail("from", "The status before.", "Ongoing"), textDetail("to", "The status from now on.", "Paused"),
	}},
	{landfall.EventRunStarted, "A run began to create accounts.", false, never, runDetails},
	{landfall.EventRunPaused, "A run was paused, or paused itself with its supplier.", false, never, runDetails},
	{landfall.EventRunFinished, "A run has done all it selected.", false, never, runDetails},
	{landfall.EventRunCancelled, "A run was cancelled.", false, never, runDetails},
	{landfall.EventSignedOff, "The operator signed a reconciliation off.", false, never, []eventMember{
		textDetail("report", "The number of the sealed report.", "3").optional(),
		textDetail("sha256", "Of the sealed report, in hexadecimal.", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08").optional(),
	}},
	{landfall.EventWebhookTest, "The operator tries a webhook out. It stands for nothing and is in no feed.", false, never, nil},
}

// EventKinds gives every type of event.
func EventKinds() []EventKind { return eventKinds }

// eventKind finds the declaration of a type; an event of a later version of the
// program has none.
func eventKind(of landfall.EventType) *EventKind {
	at := slices.IndexFunc(eventKinds, func(kind EventKind) bool { return kind.Type == of })
	if at < 0 {
		return nil
	}
	return &eventKinds[at]
}

// Example is an event of this type.
func (k EventKind) Example() CloudEvent {
	event := landfall.Event{
		ID: 1042, Type: k.Type, Key: landfall.Key{Supplier: exampleSupplier},
		At: time.Date(2026, 3, 2, 9, 30, 15, 250_000_000, time.UTC), Details: map[string]string{},
	}
	if k.account {
		event.Key.External = exampleExternal
	}
	if k.number != never {
		event.AccountNumber = exampleNumber
	}
	for _, member := range k.members {
		event.Details[member.name] = member.example
	}
	return CloudEvent{Event: event, Source: "https://landfall.example.com"}
}
