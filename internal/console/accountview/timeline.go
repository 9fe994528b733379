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
			all = append(all, TimelineEntry{At: entry.At, Kind: "audit", What: ActionLabel(entry.Action), Detail: entry.Detail, By: entry.Actor})
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

func eventSentence(event landfall.Event) string {
	sentence := ActionLabel(string(event.Type))
	if event.AccountNumber != "" && (event.Type == landfall.EventImportCompleted || event.Type == landfall.EventUndone) {
		sentence += ": " + event.AccountNumber
	}
	return sentence
}

// formatDetails writes the details of an event in a stable order.
func formatDetails(details map[string]string) string {
	var parts []string
	for name, value := range details {
		if name == "code" {
			parts = append(parts, "“"+CodeLabel(value)+"”")
			continue
		}
		parts = append(parts, strings.ReplaceAll(name, "_", " ")+" "+value)
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}

// authorName includes the key, because an organisation may have several.
func authorName(by landfall.Author) string {
	if by.KeyID == "" {
		return ""
	}
	if by.Organisation == "" {
		return "key:" + by.KeyID
	}
	return by.Organisation + ", key " + by.KeyID
}
