package accountview

import (
	"testing"
	"time"

	"landfall"
)

// What the world was told and what the audit keeps of the same deed is one line,
// with who did it and why; a deed without an event keeps its own.
func TestTimelineTellsEachThingOnce(t *testing.T) {
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
			{Action: "account_import.completed", Actor: "operator:bob", At: at}, // that one was a key's
			{Action: "account.reveal", Actor: "operator:sam", Detail: "she called", At: at.Add(3 * time.Minute)},
			{Action: "account.skip", Actor: "operator:ada", At: at.Add(5 * time.Minute)}, // of another time
		},
	}
	got, before := timeline(history, 50)
	want := []TimelineEntry{
		{What: "The account was marked as skipped"},
		{What: "The account was marked as skipped", By: "operator:ada"},
		{What: "Personal data was revealed", By: "operator:sam", Detail: "she called"},
		{What: "The account was created: A-2", By: "operator:ada"},
		{What: "The account was taken back: A-1", By: "operator:ada", Detail: "run R-1, A-1: the wrong book"},
		{What: "The account was created: A-1", By: "Acme, key k1"},
		{What: "account_import.completed", By: "operator:bob"},
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
