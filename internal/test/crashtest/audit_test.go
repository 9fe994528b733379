package crashtest_test

import (
	"strings"
	"testing"
	"time"

	"landfall"
	"landfall/internal/service/audit"
	"landfall/internal/test/crashtest"
)

// audited waits until all audit entries are chained, including those written
// just before a kill, verifies the chain from its start and counts its entries.
func (c *caller) audited() crashtest.Audited {
	t := c.t
	t.Helper()
	store := c.open()
	defer store.Close()
	eventually(t, 30*time.Second, "the audit is chained", func() bool {
		var left landfall.AuditBacklog
		err := store.View(t.Context(), func(view landfall.View) (err error) {
			left, err = view.AuditBacklog(t.Context(), 1)
			return err
		})
		return err == nil && left.Entries == 0
	})
	verdict, err := audit.Verify(t.Context(), store, audit.Evidence{})
	if err != nil || verdict.Problem != "" || verdict.Chain.Position == 0 {
		t.Errorf("the audit: %+v, %v", verdict, err)
	}
	counted := crashtest.Audited{}
	for after := int64(0); ; {
		var page []landfall.AuditLink
		if err := store.View(t.Context(), func(view landfall.View) (err error) {
			page, err = view.AuditTrail(t.Context(), landfall.AuditQuery{After: after, Limit: 500})
			return err
		}); err != nil {
			t.Fatal(err)
		}
		for _, link := range page {
			after = link.ID
			for _, entry := range link.Expand() {
				number, external, _ := strings.Cut(entry.Subject, "/")
				key := landfall.Key{Supplier: number, External: external}
				if counted[key] == nil {
					counted[key] = map[string]int{}
				}
				counted[key][entry.Action]++
			}
		}
		if len(page) < 500 {
			return counted
		}
	}
}

// The audit check must find what it is meant to find.
func TestAuditCheckFindsInjectedFaults(t *testing.T) {
	key := landfall.Key{Supplier: supplier, External: "1"}
	state := crashtest.State{Found: map[landfall.Key]*crashtest.Found{key: {
		Revisions: make([]landfall.StagedRevision, 2), Events: []landfall.Event{{Type: landfall.EventImportCompleted}, {Type: landfall.EventNotesCreated}},
	}}}
	sound := func() map[string]int {
		return map[string]int{"account.stage": 2, "account_import.completed": 1, "account.post": 1}
	}
	if faults := crashtest.CheckAudit(state, crashtest.Audited{key: sound()}); len(faults) != 0 {
		t.Error(faults)
	}
	for action := range sound() {
		for _, by := range []int{-1, 1} {
			wrong := sound()
			wrong[action] += by
			if faults := crashtest.CheckAudit(state, crashtest.Audited{key: wrong}); len(faults) != 1 || !strings.Contains(faults[0], action) {
				t.Errorf("%+d %s: %v", by, action, faults)
			}
		}
	}
	if faults := crashtest.CheckAudit(state, crashtest.Audited{key: {"account.stage": 2, "account_import.completed": 1, "account.post": 1, "account.undo": 1}}); len(faults) != 1 {
		t.Errorf("an undo that never was: %v", faults)
	}
}
