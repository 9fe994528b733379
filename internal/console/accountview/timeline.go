package accountview

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"landfall"
)

// TimelineEntry is something that happened to an account.
type TimelineEntry struct {
	At     time.Time
	What   string
	Detail string
	By     string
	Kind   string // "staged", "event" or "audit"
	event  landfall.EventType
}

// timeline merges revisions, events and audit entries into one list, newest first.
// Entries with the same time stay on one page.
func timeline(history landfall.History, rows int) ([]TimelineEntry, time.Time) {
	var all []TimelineEntry
	for _, staged := range history.Revisions {
		all = append(all, TimelineEntry{At: staged.StagedAt, Kind: "staged", What: "Revision " + strconv.Itoa(staged.Revision) + " staged", By: authorName(staged.By)})
	}
	for _, event := range history.Events {
		all = append(all, TimelineEntry{At: event.At, Kind: "event", event: event.Type, What: eventSentence(event), Detail: formatDetails(event.Details), By: authorName(event.By)})
	}
	for _, entry := range history.Audit {
		if !mergeAuditEntry(all, entry) {
			all = append(all, TimelineEntry{At: entry.At, Kind: "audit", What: cmp.Or(auditSentences[entry.Action], entry.Action), Detail: entry.Detail, By: entry.Actor})
		}
	}
	slices.SortStableFunc(all, func(a, b TimelineEntry) int { return b.At.Compare(a.At) })
	end := min(rows, len(all))
	for end > 0 && end < len(all) && all[end].At.Equal(all[end-1].At) {
		end++
	}
	// The zero time means that this is the last page.
	if end == len(all) {
		return all, time.Time{}
	}
	return all[:end], all[end-1].At
}

// eventSentences describe events.
var eventSentences = map[landfall.EventType]string{
	landfall.EventImportCompleted: "Account created", landfall.EventImportFailed: "Attempt to create the account failed",
	landfall.EventDryRunCompleted: "Dry run passed", landfall.EventDryRunFailed: "Dry run failed",
	landfall.EventSkipped: "Account skipped", landfall.EventUnskipped: "Account unskipped",
	landfall.EventUndone: "Account undone", landfall.EventNotesCreated: "Notes added",
	landfall.EventTransactionsCreated: "Transactions added", landfall.EventStatementsCreated: "Historical statements added",
	landfall.EventInstructionCreated: "Payment instruction added",
}

// auditSentences describe what operators did.
var auditSentences = map[string]string{
	"account.reveal": "Personal data revealed", "account.check": "Caller checked", "account.export": "All data exported", "account.erase": "Personal data erased",
	"account.release": "Claim freed",
	"account.skip":    eventSentences[landfall.EventSkipped], "account.unskip": eventSentences[landfall.EventUnskipped], "account.undo": eventSentences[landfall.EventUndone],
}

// eventsOfActions are the events of audited actions. Other actions have the name of
// their event.
var eventsOfActions = map[string]landfall.EventType{
	"account.skip": landfall.EventSkipped, "account.unskip": landfall.EventUnskipped, "account.undo": landfall.EventUndone,
}

// mergeAuditEntry adds the actor and details of an audit entry to the event of the
// same action, so that the timeline has it once. It returns false if there is none.
func mergeAuditEntry(all []TimelineEntry, entry landfall.AuditEntry) bool {
	event := cmp.Or(eventsOfActions[entry.Action], landfall.EventType(entry.Action))
	for i := range all {
		one := &all[i]
		// An event with an author came from a key, or has its audit entry already.
		// The two are written one after the other, so their times may differ a little.
		if one.event != event || one.By != "" || one.At.Sub(entry.At).Abs() > time.Second {
			continue
		}
		one.By = entry.Actor
		if entry.Detail != "" && one.Detail != "" {
			one.Detail += ", "
		}
		one.Detail += entry.Detail
		return true
	}
	return false
}

// eventSentence describes an event. Unknown events are shown with their type.
func eventSentence(event landfall.Event) string {
	sentence := cmp.Or(eventSentences[event.Type], string(event.Type))
	if event.AccountNumber != "" && (event.Type == landfall.EventImportCompleted || event.Type == landfall.EventUndone) {
		sentence += ": " + event.AccountNumber
	}
	return sentence
}

// formatDetails writes the details of an event in a stable order.
func formatDetails(details map[string]string) string {
	var parts []string
	for name, value := range details {
		parts = append(parts, name+" "+value)
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}

// authorName includes the key, because an organisation may have several.
func authorName(by landfall.Author) string {
	if by.KeyID == "" {
		return ""
	}
	return by.Organisation + ", key " + by.KeyID
}
