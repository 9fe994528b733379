package storetest

import (
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"landfall"
)

// runs are processed by many replicas that may die at any moment. Each account is
// settled once, the sums match the members, and a run ends.
var runs = []promiseCheck{
	// Two runs over the same accounts would spend half of their work on refusing
	// each other, and the figures of neither would show the supplier's progress.
	// Callers that come too late get the live run, so that they can follow it
	// without having to look it up.
	{"one of many concurrent runs of a supplier is created", func(t *testing.T, store landfall.Store) {
		staged(t, store, "1")
		var kept atomic.Int64
		named := make([]string, 16)
		atOnce(len(named), func(number int) {
			err := store.Update(t.Context(), func(tx landfall.Tx) error {
				run, err := tx.CreateRun(t.Context(), landfall.Run{Plan: landfall.RunPlan{Supplier: supplierCode, Team: teamName, Select: landfall.SelectPending}})
				named[number] = run.ID
				return err
			})
			switch {
			case err == nil:
				kept.Add(1)
			case !errors.Is(err, landfall.ErrExists):
				t.Error(err)
			}
		})
		if slices.Sort(named); len(slices.Compact(named)) != 1 {
			t.Errorf("the live run is reported as %v", named)
		}
		if kept.Load() != 1 {
			t.Errorf("%d runs were created", kept.Load())
		}
		var live []landfall.Run
		inView(t, store, func(view landfall.View) (err error) {
			live, err = view.LiveRuns(t.Context())
			return err
		})
		if len(live) != 1 || live[0].State != landfall.RunWaiting {
			t.Fatalf("live runs %+v", live)
		}
		// Only a run that has not ended blocks the next one.
		changeRun(t, store, live[0].ID, func(run *landfall.Run) { run.Cancel = true; run.CompleteStop() })
		second := newRun(t, store, landfall.RunPlan{DryRun: true, Sample: 3, Limit: 4, Concurrency: 5})
		if second.Plan.Sample != 3 || second.Plan.Limit != 4 || second.Plan.Concurrency != 5 || !second.Plan.DryRun || second.Plan.Team != teamName {
			t.Errorf("%+v", second)
		}
		recent(t, second.CreatedAt)
		var listed []landfall.Run
		inView(t, store, func(view landfall.View) (err error) {
			listed, err = view.Runs(t.Context(), landfall.RunQuery{Supplier: supplierCode, Limit: 10})
			return err
		})
		if len(listed) != 2 || listed[0].ID != second.ID || listed[1].ID != live[0].ID {
			t.Errorf("listed %+v", listed)
		}
		inView(t, store, func(view landfall.View) (err error) {
			listed, err = view.Runs(t.Context(), landfall.RunQuery{Supplier: supplierCode, After: second.ID, Limit: 10})
			return err
		})
		if len(listed) != 1 || listed[0].ID != live[0].ID || listed[0].State != landfall.RunCancelled || listed[0].EndedAt.IsZero() {
			t.Errorf("listed behind the newest %+v", listed)
		}
		inView(t, store, func(view landfall.View) (err error) {
			listed, err = view.LastRuns(t.Context())
			return err
		})
		if len(listed) != 1 || listed[0].ID != second.ID {
			t.Errorf("the newest of each supplier %+v", listed)
		}
	}},
	// A run is announced with a number of accounts, and people sign for that
	// number. Accounts staged later must not be added, imported or skipped ones
	// must not be counted, and a sample must select the same accounts whoever
	// draws it.
	{"a run selects what is pending when it starts", func(t *testing.T, store landfall.Store) {
		staged(t, store, accountNumbers(12)...)
		own := func(number int) landfall.Key {
			return landfall.Key{Supplier: supplierCode, External: accountNumbers(12)[number]}
		}
		create(t, store, claimFor(t, store, claimRequest(own(2)), landfall.ClaimGranted), sampleAccount())
		update(t, store, func(tx landfall.Tx) error {
			_, err := tx.Skip(t.Context(), own(3), "no")
			return err
		})
		for _, number := range []int{5, 8, 9} {
			fail(t, store, own(number), landfall.Failure{Code: "bad"})
		}
		for _, test := range []struct {
			plan landfall.RunPlan
			want []int
		}{
			{landfall.RunPlan{}, []int{0, 1, 4, 5, 6, 7, 8, 9, 10, 11}},
			{landfall.RunPlan{Select: landfall.SelectFailed}, []int{5, 8, 9}},
			{landfall.RunPlan{Select: landfall.SelectUntried}, []int{0, 1, 4, 6, 7, 10, 11}},
			{landfall.RunPlan{Sample: 4}, []int{0, 6, 10}},
			{landfall.RunPlan{Limit: 2}, []int{0, 1}},
			{landfall.RunPlan{Sample: 2, Limit: 3, Select: landfall.SelectUntried}, []int{0, 4, 7}},
		} {
			run := newRun(t, store, test.plan)
			began := choose(t, store, run.ID)
			// This account is staged after the selection has ended, and
			// selecting once more must not find it.
			stage(t, store, newStaging(landfall.Key{Supplier: supplierCode, External: "late " + run.ID}, ""), landfall.StagedFirst, 1)
			if done, err := store.ChooseRun(t.Context(), run.ID); err != nil || !done {
				t.Errorf("choosing what is chosen: %t, %v", done, err)
			}
			var want []string
			for _, number := range test.want {
				want = append(want, own(number).External)
			}
			slice := takeSlice(t, store, run.ID, time.Minute, len(want))
			if got := memberNumbers(slice); !slices.Equal(got, want) {
				t.Errorf("%+v selects %v, want %v", test.plan, got, want)
			}
			if began.Tally.Selected != len(want) || began.State != landfall.RunRunning || began.StartedAt.IsZero() {
				t.Errorf("%+v begins as %+v", test.plan, began)
			}
			update(t, store, func(tx landfall.Tx) error {
				// The next plan would select it, but all plans must begin with
				// the same accounts.
				_, err := tx.Skip(t.Context(), landfall.Key{Supplier: supplierCode, External: "late " + run.ID}, "")
				return err
			})
			changeRun(t, store, run.ID, func(run *landfall.Run) { run.Cancel = true; run.CompleteStop() })
		}
	}},
	// A run over one delivery must not create what others staged, and one over
	// listed accounts or codes only those. The conditions can be combined.
	{"a run selects by delivery, list and code", func(t *testing.T, store landfall.Store) {
		staged(t, store)
		all := accountNumbers(12)
		own := func(number int) landfall.Key { return landfall.Key{Supplier: supplierCode, External: all[number]} }
		deliver := func(number int, delivery, content string, verdict landfall.StageVerdict, revision int) {
			staging := newStaging(own(number), content)
			staging.By.Delivery = delivery
			stage(t, store, staging, verdict, revision)
		}
		for number := range 12 {
			deliver(number, map[bool]string{true: "one", false: "two"}[number < 8], "", landfall.StagedFirst, 1)
		}
		deliver(0, "two", "", landfall.StagedAgain, 1) // unchanged, but now in another delivery
		deliver(1, "two", "other", landfall.StagedAgain, 2)
		deliver(2, "", "", landfall.StagedAgain, 1)      // unchanged, and in no delivery: stays where it was
		deliver(3, "", "other", landfall.StagedAgain, 2) // changed by a request without a delivery
		create(t, store, claimFor(t, store, claimRequest(own(7)), landfall.ClaimGranted), sampleAccount())
		update(t, store, func(tx landfall.Tx) error {
			_, err := tx.Skip(t.Context(), own(11), "no")
			return err
		})
		fail(t, store, own(4), landfall.Failure{Code: "bad"})
		fail(t, store, own(5), landfall.Failure{Code: "account_failed_validation", Violations: []landfall.Violation{{Code: "phone", Attr: "a"}, {Code: "zip", Attr: "b"}}})
		fail(t, store, own(8), landfall.Failure{Code: "account_failed_validation", Violations: []landfall.Violation{{Code: "zip", Attr: "b"}}})
		for _, test := range []struct {
			plan landfall.RunPlan
			want []int
		}{
			{landfall.RunPlan{Delivery: "one"}, []int{2, 4, 5, 6}},
			{landfall.RunPlan{Delivery: "two"}, []int{0, 1, 8, 9, 10}},
			{landfall.RunPlan{Delivery: "none"}, nil},
			{landfall.RunPlan{Delivery: "one", Select: landfall.SelectFailed}, []int{4, 5}},
			{landfall.RunPlan{Delivery: "two", Select: landfall.SelectUntried, Sample: 2}, []int{0, 9}},
			{landfall.RunPlan{Codes: []string{"bad"}}, []int{4}},
			{landfall.RunPlan{Codes: []string{"zip", "other"}}, []int{5, 8}},
			{landfall.RunPlan{Codes: []string{"account_failed_validation"}, Delivery: "two"}, []int{8}},
			{landfall.RunPlan{Accounts: []string{all[9], "nobody", all[3], all[9], all[7], all[11]}}, []int{3, 9}},
			{landfall.RunPlan{Accounts: []string{all[4], all[8], all[9]}, Delivery: "two", Codes: []string{"zip"}}, []int{8}},
			{landfall.RunPlan{Accounts: all, Limit: 2, Sample: 3}, []int{0, 3}},
		} {
			run := newRun(t, store, test.plan)
			if run.Plan.Delivery != test.plan.Delivery || !slices.Equal(run.Plan.Codes, test.plan.Codes) || run.Plan.AccountCount != len(test.plan.Accounts) {
				t.Errorf("%+v is stored as %+v", test.plan, run.Plan)
			}
			began := choose(t, store, run.ID)
			var want []string
			for _, number := range test.want {
				want = append(want, own(number).External)
			}
			if began.Tally.Selected != len(want) {
				t.Errorf("%+v selects %d accounts, want %v", test.plan, began.Tally.Selected, want)
			} else if len(want) > 0 {
				if got := memberNumbers(takeSlice(t, store, run.ID, time.Minute, len(want))); !slices.Equal(got, want) {
					t.Errorf("%+v selects %v, want %v", test.plan, got, want)
				}
			}
			changeRun(t, store, run.ID, func(run *landfall.Run) { run.Cancel = true; run.CompleteStop() })
		}
	}},
	// Every replica that finds the run continues the selection where it is. An
	// account selected twice would be counted twice, and one that each replica
	// left to the other would never be imported.
	{"several servers can choose a run's accounts concurrently", func(t *testing.T, store landfall.Store) {
		staged(t, store, accountNumbers(30)...)
		run := newRun(t, store, landfall.RunPlan{})
		atOnce(8, func(int) {
			for done := false; !done; {
				var err error
				if done, err = store.ChooseRun(t.Context(), run.ID); err != nil {
					t.Error(err)
					return
				}
			}
		})
		changeRun(t, store, run.ID, func(run *landfall.Run) { run.Start() })
		if got := memberNumbers(takeSlice(t, store, run.ID, time.Minute, 30)); !slices.Equal(got, accountNumbers(30)) {
			t.Errorf("chosen %v", got)
		}
	}},
	// An operator who pauses a run wants to know when it has actually stopped,
	// which is not at the time of the request: a worker may be in the middle of
	// its slice. The time of the pause does not count as running time, or the
	// throughput of the run would seem lower with every pause.
	{"a stopping run gives out no slice and becomes idle", func(t *testing.T, store landfall.Store) {
		staged(t, store, "a")
		run := choose(t, store, newRun(t, store, landfall.RunPlan{}).ID)
		rest := func() (resting bool) {
			update(t, store, func(tx landfall.Tx) (err error) {
				resting, err = tx.RunIdle(t.Context(), run.ID)
				return err
			})
			return resting
		}
		slice := takeSlice(t, store, run.ID, time.Minute, 1)
		changeRun(t, store, run.ID, func(run *landfall.Run) { run.Pause(landfall.PauseRequested) })
		if rest() {
			t.Error("the run is idle while a slice is held")
		}
		if !settleSlice(t, store, slice, landfall.Settlement{}).Stop {
			t.Error("the holder is not told to stop")
		}
		if err := store.ReturnSlice(t.Context(), slice, 0); err != nil {
			t.Fatal(err)
		}
		noSlice(t, store, run.ID)
		if !rest() {
			t.Error("the run does not become idle")
		}
		// From here on the running time does not change; the sleep is there to
		// show it.
		paused := changeRun(t, store, run.ID, func(run *landfall.Run) { run.CompleteStop() })
		time.Sleep(20 * time.Millisecond)
		if later := readRun(t, store, run.ID); paused.State != landfall.RunPaused || later.RunningTime != paused.RunningTime || later.RunningTime <= 0 {
			t.Errorf("paused %+v, later %+v", paused, later)
		}
		changeRun(t, store, run.ID, func(run *landfall.Run) { run.Resume() })
		// Pausing the supplier stops a run without changing it: when the
		// supplier resumes, so does the run, and the operator need not remember
		// to resume it.
		if err := setStatus(t.Context(), store, landfall.Paused); err != nil {
			t.Fatal(err)
		}
		noSlice(t, store, run.ID)
		if err := setStatus(t.Context(), store, landfall.Ongoing); err != nil {
			t.Fatal(err)
		}
		takeSlice(t, store, run.ID, time.Minute, 1)
	}},
	// A run goes on for hours after its request was answered. A key that is
	// revoked because it was stolen must not go on creating accounts through a
	// run that it began. The account is pending again afterwards, so that it
	// can be claimed without waiting for a lease.
	{"a run writes nothing for a key that is no longer valid", func(t *testing.T, store landfall.Store) {
		ctx := t.Context()
		staged(t, store, "a")
		update(t, store, func(tx landfall.Tx) error { return tx.CreateOrganisation(ctx, organisation) })
		update(t, store, func(tx landfall.Tx) error {
			return tx.CreateKey(ctx, landfall.APIKey{ID: "k", Organisation: organisation, Role: landfall.RoleImporter})
		})
		var run landfall.Run
		update(t, store, func(tx landfall.Tx) (err error) {
			run, err = tx.CreateRun(ctx, landfall.Run{
				Plan:      landfall.RunPlan{Supplier: supplierCode, Team: teamName, Select: landfall.SelectPending},
				CreatedBy: landfall.Author{KeyID: "k", RequestID: "r"},
			})
			return err
		})
		// The request did not name the organisation: the store looks it up by
		// the key.
		by := landfall.Author{Organisation: organisation, KeyID: "k", RequestID: "r"}
		if run.CreatedBy != by || run.ActsFor != by {
			t.Errorf("created by %+v, acts for %+v", run.CreatedBy, run.ActsFor)
		}
		run = choose(t, store, run.ID)
		slice := takeSlice(t, store, run.ID, time.Minute, 1)
		claims := claimAll(t, store, slice)
		update(t, store, func(tx landfall.Tx) error { return tx.RevokeKey(ctx, "k") })
		time.Sleep(revocationDelay)
		_, err := store.SettleSlice(ctx, slice, landfall.Settlement{Created: []landfall.RunCreation{memberCreated(slice, 0, claims[0])}})
		wantError(t, err, landfall.ErrRevoked)
		if state := readProcess(t, store, slice.Members[0].Key).State; state != landfall.Staged {
			t.Errorf("the account is %s", state)
		}
		wantEqual(t, readRun(t, store, run.ID).Tally, landfall.RunTally{Selected: 1})
	}},
}
