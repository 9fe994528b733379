package storetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"landfall"
)

// auditEntries reads the whole audit log.
func auditEntries(t *testing.T, store landfall.Store) (links []landfall.AuditLink, chain landfall.AuditChain) {
	t.Helper()
	inView(t, store, func(view landfall.View) (err error) {
		if chain, err = view.AuditChain(t.Context()); err != nil {
			return err
		}
		links, err = view.AuditTrail(t.Context(), landfall.AuditQuery{Limit: 1 << 20})
		return err
	})
	return links, chain
}

// chainAll chains every entry written so far.
func chainAll(t *testing.T, store landfall.Store) {
	t.Helper()
	var mark landfall.Watermark
	var step landfall.ChainStep
	var err error
	for newest := int64(-1); mark.Complete < newest || newest < 0 || step.More; newest = max(newest, mark.Newest) {
		// Poll until every entry that was visible at the first call is
		// complete. A single call proves nothing while others write.
		if mark, step, err = store.ChainAudit(t.Context(), mark); err != nil {
			t.Fatalf("ChainAudit: %v", err)
		}
	}
}

// chained fails the test unless every entry has the expected position and hash.
func chained(t *testing.T, store landfall.Store) []landfall.AuditLink {
	t.Helper()
	links, chain := auditEntries(t, store)
	var hash landfall.AuditHash
	for i, link := range links {
		hash = link.HashAfter(hash)
		if link.Position != int64(i+1) || link.Hash != hash {
			t.Fatalf("entry %d is at place %d of %d, want %d", link.ID, link.Position, len(links), i+1)
		}
	}
	if chain.Position != int64(len(links)) || chain.Hash != hash || chain.Name == "" {
		t.Fatalf("the chain ends at %+v, want %d entries", chain, len(links))
	}
	return links
}

// appendAuditEntry writes an entry and keeps its transaction open for a while,
// so that one that began later can commit earlier. The chain must have a
// position for both.
func appendAuditEntry(ctx context.Context, store landfall.Store, detail string, linger func()) error {
	return store.Update(ctx, func(tx landfall.Tx) error {
		if err := tx.AppendAudit(ctx, landfall.AuditEntry{Actor: "operator:ada", Action: "a", Subject: "s", Detail: detail}); err != nil {
			return err
		}
		linger()
		return nil
	})
}

// audits check that the audit log can be relied on: every act is recorded, no
// entry changes unnoticed, and writers do not block each other because of it.
var audits = []promiseCheck{
	// After an incident, the audit log is the only record of what a key was used
	// for. A staging that changed nothing leaves no entry: there is nothing to
	// account for, and books that are sent again would bury everything else.
	{"the audit records what organisations do, with actor, source and request", func(t *testing.T, store landfall.Store) {
		staged(t, store)
		by := author(t, store)
		by.Source = "192.0.2.7"
		request := func(id string) landfall.Author { by.RequestID = id; return by }
		staging := newStaging(testKey, "x")
		staging.By = request("r1")
		stage(t, store, staging, landfall.StagedFirst, 1)
		stage(t, store, staging, landfall.StagedAgain, 1) // changes nothing
		mine := claimFor(t, store, claimRequest(testKey), landfall.ClaimGranted)
		failed := landfall.Attempt{
			Failure: &landfall.Failure{Code: "x"}, By: request("r2"),
			Event: landfall.Event{Type: landfall.EventImportFailed, Details: map[string]string{"code": "x"}},
		}
		if err := store.Release(t.Context(), mine, failed); err != nil {
			t.Fatal(err)
		}
		// A dry run is recorded like every other action.
		dry := claimRequest(testKey)
		dry.DryRun = true
		mine = claimFor(t, store, dry, landfall.ClaimGranted)
		if _, err := store.Create(t.Context(), landfall.Creation{Claim: mine, Account: sampleAccount(), By: request("r3")}); err != nil {
			t.Fatal(err)
		}
		mine = claimFor(t, store, claimRequest(testKey), landfall.ClaimGranted)
		made, err := store.Create(t.Context(), landfall.Creation{Claim: mine, Account: sampleAccount(), By: request("r4")})
		if err != nil {
			t.Fatal(err)
		}
		post(t, store, landfall.Posting{Key: testKey, By: request("r5"), Decide: func(landfall.AccountState) (landfall.Additions, error) {
			return landfall.Additions{Notes: []landfall.Note{{Body: "n"}}}, nil
		}}, landfall.Posted)
		var acts []landfall.AuditEntry
		links, _ := auditEntries(t, store)
		for _, link := range links {
			acts = append(acts, link.Expand()...)
		}
		want := [][3]string{
			{"account.stage", "r1", "revision 1"}, {"account_import.failed", "r2", "x"}, {"account_import.dry_run_completed", "r3", ""},
			{"account_import.completed", "r4", made.Number}, {"account.post", "r5", "1 notes"},
		}
		if len(acts) != len(want) {
			t.Fatalf("the audit has %+v", acts)
		}
		for i, act := range acts {
			recent(t, act.At)
			if [3]string{act.Action, act.RequestID, act.Detail} != want[i] || act.Actor != "key:k1" || act.Source != by.Source ||
				act.Subject != supplierCode+"/"+testKey.External {
				t.Errorf("act %d is %+v, want %q", i, act, want[i])
			}
		}
	}},
	// Operators have more power than any key, so their actions are recorded
	// under a person's name. The events do not name the person: external
	// receivers learn about the account, not about the staff.
	{"the audit records what an operator tries, by name", func(t *testing.T, store landfall.Store) {
		staged(t, store)
		stage(t, store, newStaging(testKey, "x"), landfall.StagedFirst, 1)
		by := landfall.Author{Operator: "operator:ada", Source: "192.0.2.7"}
		failed := landfall.Attempt{
			Failure: &landfall.Failure{Code: "x"}, By: by,
			Event: landfall.Event{Type: landfall.EventImportFailed, Details: map[string]string{"code": "x"}},
		}
		if err := store.Release(t.Context(), claimFor(t, store, claimRequest(testKey), landfall.ClaimGranted), failed); err != nil {
			t.Fatal(err)
		}
		dry := claimRequest(testKey)
		dry.DryRun = true
		for _, request := range []landfall.ClaimRequest{dry, claimRequest(testKey)} {
			mine := claimFor(t, store, request, landfall.ClaimGranted)
			if _, err := store.Create(t.Context(), landfall.Creation{Claim: mine, Account: sampleAccount(), By: by}); err != nil {
				t.Fatal(err)
			}
		}
		made := readProcess(t, store, testKey).AccountNumber
		links, _ := auditEntries(t, store)
		want := [][2]string{{"account_import.failed", "x"}, {"account_import.dry_run_completed", ""}, {"account_import.completed", made}}
		if len(links) != len(want) {
			t.Fatalf("the audit has %+v", links)
		}
		for i, link := range links {
			if link.Actor != by.Operator || link.Source != by.Source || link.Subject != supplierCode+"/"+testKey.External || link.Batch != "" ||
				[2]string{link.Action, link.Detail} != want[i] {
				t.Errorf("entry %d is %+v, want %q", i, link, want[i])
			}
		}
		inView(t, store, func(view landfall.View) error {
			events, err := view.Events(t.Context(), testKey)
			for _, event := range events {
				if event.By != (landfall.Author{}) {
					t.Errorf("%s names %+v", event.Type, event.By)
				}
			}
			return err
		})
	}},
	// Every act must be recorded, but a book of a thousand accounts must not
	// write a thousand entries: the chain would grow faster than the data it
	// describes.
	{"the audit records every staging of a batch", func(t *testing.T, store landfall.Store) {
		createSupplier(t, store)
		by := author(t, store)
		var stagings []landfall.Staging
		for i := range 100 {
			one := newStaging(landfall.Key{Supplier: supplierCode, External: fmt.Sprintf("B-%d", i)}, "x")
			one.By = by
			stagings = append(stagings, one)
		}
		for _, result := range store.StageAll(t.Context(), stagings, nil) {
			if result.Err != nil {
				t.Fatal(result.Err)
			}
		}
		links, _ := auditEntries(t, store)
		acts := 0
		for _, link := range links {
			acts += len(link.Expand())
		}
		if acts != len(stagings) || len(links) > 4 {
			t.Errorf("%d acts in %d entries", acts, len(links))
		}
	}},
	// An entry about something that did not happen is as bad as a missing one: it
	// would make the other entries untrustworthy.
	{"the audit does not record what failed", func(t *testing.T, store landfall.Store) {
		err := store.Update(t.Context(), func(tx landfall.Tx) error {
			if err := tx.AppendAudit(t.Context(), landfall.AuditEntry{Actor: "a"}); err != nil {
				return err
			}
			return context.Canceled
		})
		wantError(t, err, context.Canceled)
		if links, _ := auditEntries(t, store); len(links) != 0 {
			t.Errorf("%+v", links)
		}
	}},
	// Several replicas chain entries, and writers commit in a different order
	// than they began. A chain that used a position twice or left an entry out
	// would look the same as a forged one.
	{"entries are chained in order during concurrent writes and chainings", func(t *testing.T, store landfall.Store) {
		const writers, each = 16, 8
		ended := make(chan struct{})
		var sealing sync.WaitGroup
		for range 3 {
			sealing.Go(func() {
				for mark := (landfall.Watermark{}); ; time.Sleep(time.Millisecond) {
					var err error
					if mark, _, err = store.ChainAudit(t.Context(), mark); err != nil {
						t.Errorf("ChainAudit: %v", err)
						return
					}
					select {
					case <-ended:
						return
					default:
					}
				}
			})
		}
		atOnce(writers, func(writer int) {
			for number := range each {
				err := landfall.ErrOverloaded
				for errors.Is(err, landfall.ErrOverloaded) { // nothing was written
					err = appendAuditEntry(t.Context(), store, fmt.Sprintf("%d/%d", writer, number), func() { time.Sleep(rand.N(3 * time.Millisecond)) })
				}
				if err != nil {
					t.Errorf("writing: %v", err)
				}
			}
		})
		close(ended)
		sealing.Wait()
		chainAll(t, store)
		if links := chained(t, store); len(links) != writers*each {
			t.Errorf("%d entries of %d", len(links), writers*each)
		}
	}},
	// The late entry has the lower id and is not visible yet. Chaining only
	// what is visible would move the chain past it, and it could never be
	// chained.
	{"an entry that commits late is chained in order", func(t *testing.T, store landfall.Store) {
		begun, release, overtaken := make(chan struct{}, 5), make(chan struct{}), make(chan struct{})
		var both sync.WaitGroup
		both.Go(func() {
			if err := appendAuditEntry(t.Context(), store, "late", func() { begun <- struct{}{}; <-release }); err != nil {
				t.Errorf("the first writer: %v", err)
			}
		})
		<-begun
		both.Go(func() {
			if err := appendAuditEntry(t.Context(), store, "soon", func() {}); err != nil {
				t.Errorf("the second writer: %v", err)
			}
			close(overtaken)
		})
		select {
		case <-overtaken: // on a database with several concurrent writers
		case <-time.After(300 * time.Millisecond):
		}
		var mark landfall.Watermark
		for range 3 {
			var err error
			if mark, _, err = store.ChainAudit(t.Context(), mark); err != nil {
				select {
				case <-overtaken:
					t.Fatal(err)
				default: // the only writer is busy
				}
			}
		}
		close(release)
		both.Wait()
		chainAll(t, store)
		links := chained(t, store)
		if !slices.ContainsFunc(links, func(l landfall.AuditLink) bool { return l.Detail == "late" }) || len(links) != 2 {
			t.Errorf("%+v", links)
		}
	}},
	// After an hour without a chainer there may be a million entries. One call
	// must not take as long as all of them.
	{"a long backlog is chained in steps", func(t *testing.T, store landfall.Store) {
		const count = 1100
		update(t, store, func(tx landfall.Tx) error {
			for range count {
				if err := tx.AppendAudit(t.Context(), landfall.AuditEntry{Actor: "service", Action: "test"}); err != nil {
					return err
				}
			}
			return nil
		})
		var mark landfall.Watermark
		total, steps := 0, 0
		for more := true; more || mark.Complete < mark.Newest; steps++ {
			after, step, err := store.ChainAudit(t.Context(), mark)
			if err != nil || step.More && step.Chained == 0 {
				t.Fatalf("ChainAudit: %+v, %v", step, err)
			}
			mark, more, total = after, step.More, total+step.Chained
		}
		if total != count || steps < 2 {
			t.Errorf("%d entries were chained in %d steps, want %d in several", total, steps, count)
		}
		chained(t, store)
	}},
	// An entry that is not chained yet can still be changed unnoticed, so it
	// must be visible when chaining has stopped. The count stops at the
	// requested limit: a backlog is largest when there is least time to count
	// it.
	{"the backlog counts entries that are not chained yet", func(t *testing.T, store landfall.Store) {
		for range 3 {
			if err := appendAuditEntry(t.Context(), store, "", func() {}); err != nil {
				t.Fatal(err)
			}
		}
		backlog := func() (found landfall.AuditBacklog) {
			inView(t, store, func(view landfall.View) (err error) {
				found, err = view.AuditBacklog(t.Context(), 2)
				return err
			})
			return found
		}
		if found := backlog(); found.Entries != 2 || found.Age <= 0 {
			t.Errorf("%+v, want two counted", found)
		}
		chainAll(t, store)
		if found := backlog(); found != (landfall.AuditBacklog{}) {
			t.Errorf("%+v wait after sealing", found)
		}
		inView(t, store, func(view landfall.View) error {
			_, _, err := view.AuditPosition(t.Context(), 4)
			wantError(t, err, landfall.ErrNotFound)
			id, there, err := view.AuditPosition(t.Context(), 3)
			if id != 3 || !there {
				t.Errorf("place 3 has entry %d, %v", id, there)
			}
			return err
		})
	}},
}
