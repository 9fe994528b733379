package accountview

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"landfall"
)

// TimelineEntry is one line of what happened to an account.
type TimelineEntry struct {
	At     time.Time
	What   string
	Detail string
	By     string
	Kind   string // "staged", "event" or "audit"
	event  landfall.EventType
}

// timeline puts everything that happened into one list, the newest first. What
// happened in the same instant stays on one page.
func timeline(history landfall.History, rows int) ([]TimelineEntry, time.Time) {
	var all []TimelineEntry
	for _, staged := range history.Revisions {
		all = append(all, TimelineEntry{At: staged.StagedAt, Kind: "staged", What: "Revision " + itoa(staged.Revision) + " was staged", By: authorName(staged.By)})
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
	// No instant says that there is no further page.
	if end == len(all) {
		return all, time.Time{}
	}
	return all[:end], all[end-1].At
}

// eventSentences say what events mean to a person.
var eventSentences = map[landfall.EventType]string{
	landfall.EventImportCompleted: "The account was created", landfall.EventImportFailed: "An attempt to create the account failed",
	landfall.EventDryRunCompleted: "A dry run passed", landfall.EventDryRunFailed: "A dry run failed",
	landfall.EventSkipped: "The account was marked as skipped", landfall.EventUnskipped: "The mark was taken away",
	landfall.EventUndone: "The account was taken back", landfall.EventNotesCreated: "Notes were added",
	landfall.EventTransactionsCreated: "Transactions were added", landfall.EventStatementsCreated: "Old statements were added",
	landfall.EventInstructionCreated: "A payment instruction was added",
}

// auditSentences is what operators do to an account, as a sentence.
var auditSentences = map[string]string{
	"account.reveal": "Personal data was revealed", "account.export": "Everything known was exported", "account.erase": "What was personal was erased",
	"account.skip": eventSentences[landfall.EventSkipped], "account.unskip": eventSentences[landfall.EventUnskipped], "account.undo": eventSentences[landfall.EventUndone],
}

// eventsOfActions is what the world was told of a deed. Other deeds are named after it.
var eventsOfActions = map[string]landfall.EventType{
	"account.skip": landfall.EventSkipped, "account.unskip": landfall.EventUnskipped, "account.undo": landfall.EventUndone,
}

// mergeAuditEntry looks for the event that an entry of the audit is the other side of, and
// lets that say who did it and why: readers want each thing once.
func mergeAuditEntry(all []TimelineEntry, entry landfall.AuditEntry) bool {
	event := cmp.Or(eventsOfActions[entry.Action], landfall.EventType(entry.Action))
	for i := range all {
		one := &all[i]
		// An event with an author was done by a key, or has its entry already: each
		// answers for one. The two sides are written one after the other, so they
		// may lie a moment apart.
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

// eventSentence falls back to the bare type, so that an event this program is too old to
// know is shown all the same.
func eventSentence(event landfall.Event) string {
	sentence := cmp.Or(eventSentences[event.Type], string(event.Type))
	if event.AccountNumber != "" && (event.Type == landfall.EventImportCompleted || event.Type == landfall.EventUndone) {
		sentence += ": " + event.AccountNumber
	}
	return sentence
}

// formatDetails writes what an event says, in the same order every time.
func formatDetails(said map[string]string) string {
	var parts []string
	for name, value := range said {
		parts = append(parts, name+" "+value)
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}

// authorName names the key too: an organisation may have several, and one may be stolen.
func authorName(by landfall.Author) string {
	if by.KeyID == "" {
		return ""
	}
	return by.Organisation + ", key " + by.KeyID
}
