package accountview

import (
	"testing"
	"time"

	"landfall"
)

// An event and the audit entry of the same action are one line with actor and
// reason. An action without an event has its own line.
func TestTimelineMergesEventsAndAudit(t *testing.T) {
	at := time.Date(2026, 11, 16, 3, 0, 0, 0, time.UTC)
	by := landfall.Author{Organisation: "Acme", KeyID: "k1"}
	history := landfall.History{
		Events: []landfall.Event{
			{Type: landfall.EventImportCompleted, AccountNumber: "A-1", At: at, By: by},
			{Type: landfall.EventUndone, AccountNumber: "A-1", At: at.Add(time.Minute), Details: map[string]string{"run": "R-1"}},
			{Type: landfall.EventImportCompleted, AccountNumber: "A-2", At: at.Add(2 * time.Minute)},
			{Type: landfall.EventSkipped, At: at.Add(9 * time.Minute)},
		},
		Audit: []landfall.AuditEntry{
			{Action: "account.undo", Actor: "operator:ada", Detail: "A-1: the wrong book", At: at.Add(time.Minute + time.Millisecond)},
			{Action: "account_import.completed", Actor: "operator:ada", At: at.Add(2 * time.Minute)},
			{Action: "account_import.completed", Actor: "operator:bob", At: at}, // by a key
			{Action: "account.reveal", Actor: "operator:sam", Detail: "she called", At: at.Add(3 * time.Minute)},
			{Action: "account.skip", Actor: "operator:ada", At: at.Add(5 * time.Minute)}, // at another time
		},
	}
	got, before := timeline(history, 50)
	want := []TimelineEntry{
		{What: "Account skipped"},
		{What: "Account skipped", By: "operator:ada"},
		{What: "Personal data revealed", By: "operator:sam", Detail: "she called"},
		{What: "Account created: A-2", By: "operator:ada"},
		{What: "Account undone: A-1", By: "operator:ada", Detail: "run R-1, A-1: the wrong book"},
		{What: "Account created: A-1", By: "Acme, key k1"},
		{What: "Account created", By: "operator:bob"},
	}
	if len(got) != len(want) || !before.IsZero() {
		t.Fatalf("%d lines, more before %v: %+v", len(got), before, got)
	}
	for i, one := range got {
		if one.What != want[i].What || one.By != want[i].By || one.Detail != want[i].Detail {
			t.Errorf("line %d is %+v, want %+v", i, one, want[i])
		}
	}
}
