package storetest

import (
	"slices"
	"testing"
	"time"

	"landfall"
)

// runSlices are about the part of a run that one worker holds. Whatever happens
// to the worker, each of its accounts has one outcome and the sums add up to the
// run.
var runSlices = []promiseCheck{
	// The sums of a run are what people watch, and they are added up from
	// settlements. A worker that gets no response settles again, so the second
	// time must neither count nor create anything. The last member has no
	// outcome at first and is released: it must come back in the same slice,
	// and the run is done only after it.
	{"a slice is settled once and its sums add up", func(t *testing.T, store landfall.Store) {
		staged(t, store, "a", "b", "c", "d")
		run := choose(t, store, newRun(t, store, landfall.RunPlan{}).ID)
		slice := takeSlice(t, store, run.ID, time.Minute, 4)
		// All members are in the slice that is held, so there is no other slice
		// to take.
		noSlice(t, store, run.ID)
		claims := claimAll(t, store, slice)
		settlement := landfall.Settlement{
			Created: []landfall.RunCreation{memberCreated(slice, 0, claims[0])},
			Failed:  []landfall.RunFailure{memberFailed(slice, 1, claims[1])}, Refused: []int{slice.Members[2].Ordinal},
			Released: []landfall.Claim{claims[2], claims[3]},
		}
		settled := settleSlice(t, store, slice, settlement)
		if settled.Stop || len(settled.Created) != 1 || settled.Created[0].Verdict != landfall.Created || settled.Created[0].Number == "" {
			t.Errorf("settled %+v", settled)
		}
		tally := landfall.RunTally{Selected: 4, Succeeded: 1, Failed: 1, Refused: 1}
		wantEqual(t, readRun(t, store, run.ID).Tally, tally)
		// The response was lost, so the settlement is sent again.
		settled = settleSlice(t, store, slice, settlement)
		if settled.Created[0].Verdict != landfall.CreateFenced {
			t.Errorf("settled again %+v", settled)
		}
		wantEqual(t, readRun(t, store, run.ID).Tally, tally)
		for number, state := range map[string]landfall.ProcessState{
			"a": landfall.Imported, "b": landfall.Staged, "c": landfall.Staged, "d": landfall.Staged,
		} {
			if found := readProcess(t, store, landfall.Key{Supplier: supplierCode, External: number}); found.State != state {
				t.Errorf("%s is %s", number, found.State)
			}
		}
		if err := store.ReturnSlice(t.Context(), slice, 0); err != nil {
			t.Fatal(err)
		}
		slice = takeSlice(t, store, run.ID, time.Minute, 1)
		claims = claimAll(t, store, slice)
		settleSlice(t, store, slice, landfall.Settlement{Created: []landfall.RunCreation{memberCreated(slice, 0, claims[0])}})
		noSlice(t, store, run.ID)
		update(t, store, func(tx landfall.Tx) error {
			done, err := tx.RunIsDone(t.Context(), run.ID)
			if !done {
				t.Error("the run is not done")
			}
			return err
		})
		var failed []string
		for row, err := range store.RunFailures(t.Context(), landfall.RunFailureQuery{Run: run.ID}) {
			if err != nil {
				t.Fatal(err)
			}
			failed = append(failed, row.External+" "+row.Failure.Code)
		}
		wantEqual(t, failed, []string{"b bad"})
		var created []string
		for key, err := range store.RunCreated(t.Context(), run.ID) {
			if err != nil {
				t.Fatal(err)
			}
			created = append(created, key.External)
		}
		wantEqual(t, created, []string{"a", "d"})
		// The event tells its receiver which run imported the account.
		for event := range slices.Values(readEvents(t, store, landfall.Key{Supplier: supplierCode, External: "a"})) {
			if event.Details["run"] != run.ID {
				t.Errorf("the event does not name the run: %+v", event)
			}
		}
	}},
	// A dry run leaves no account that would tell a second settlement from the
	// first. It is fenced because its slice is done. Counted twice, it would
	// predict more accounts than there are.
	{"a dry run of a run's member is recorded once", func(t *testing.T, store landfall.Store) {
		staged(t, store, "a", "b")
		run := choose(t, store, newRun(t, store, landfall.RunPlan{DryRun: true}).ID)
		slice := takeSlice(t, store, run.ID, time.Minute, 2)
		claims := claimAll(t, store, slice)
		settlement := landfall.Settlement{
			Created: []landfall.RunCreation{memberCreated(slice, 0, claims[0])}, Failed: []landfall.RunFailure{memberFailed(slice, 1, claims[1])},
		}
		if settled := settleSlice(t, store, slice, settlement); settled.Created[0].Verdict != landfall.CreateRolledBack {
			t.Errorf("settled %+v", settled)
		}
		// The slice is done, so it has no holder.
		_, err := store.SettleSlice(t.Context(), slice, settlement)
		wantError(t, err, landfall.ErrFenced)
		wantEqual(t, readRun(t, store, run.ID).Tally, landfall.RunTally{Selected: 2, Succeeded: 1, Failed: 1})
		for _, number := range []string{"a", "b"} {
			if kept := readEvents(t, store, landfall.Key{Supplier: supplierCode, External: number}); len(kept) != 1 {
				t.Errorf("%d events about %s", len(kept), number)
			}
		}
		for range store.RunCreated(t.Context(), run.ID) {
			t.Error("a dry run created something")
		}
	}},
	// A worker that was suspended for longer than its lease still has its claims,
	// which have their own leases, so the token of the slice alone must stop it.
	// This is tried while the slice is free and again when it has a new holder.
	{"a worker that lost a slice writes nothing", func(t *testing.T, store landfall.Store) {
		staged(t, store, "a")
		run := choose(t, store, newRun(t, store, landfall.RunPlan{}).ID)
		lost := takeSlice(t, store, run.ID, time.Millisecond, 1)
		claims := claimAll(t, store, lost)
		// The lease was a millisecond, so by now it has expired by any clock.
		time.Sleep(5 * time.Millisecond)
		settlement := landfall.Settlement{Created: []landfall.RunCreation{memberCreated(lost, 0, claims[0])}}
		_, err := store.SettleSlice(t.Context(), lost, settlement)
		wantError(t, err, landfall.ErrFenced)
		wantError(t, store.RenewSlice(t.Context(), lost, claims), landfall.ErrFenced)
		slice := takeSlice(t, store, run.ID, time.Minute, 1)
		_, err = store.SettleSlice(t.Context(), lost, settlement)
		wantError(t, err, landfall.ErrFenced)
		// Returning a slice that another worker holds by now is not an error,
		// and must not delay that worker's slice for an hour.
		if err := store.ReturnSlice(t.Context(), lost, time.Hour); err != nil {
			t.Fatal(err)
		}
		if err := store.RenewSlice(t.Context(), slice, claims); err != nil {
			t.Errorf("the holder: %v", err)
		}
		wantEqual(t, readRun(t, store, run.ID).Tally, landfall.RunTally{Selected: 1})
		if state := readProcess(t, store, lost.Members[0].Key).State; state != landfall.Claimed {
			t.Errorf("state %s", state)
		}
	}},
	// A slice returned because a vendor or document store is down would be
	// taken at once by the next worker, and all of them would only retry. The
	// pauses grow with the count of tries, so the count must survive a change
	// of worker.
	{"a returned slice waits for its pause", func(t *testing.T, store landfall.Store) {
		staged(t, store, "a")
		run := choose(t, store, newRun(t, store, landfall.RunPlan{}).ID)
		slice := takeSlice(t, store, run.ID, time.Minute, 1)
		if err := store.ReturnSlice(t.Context(), slice, time.Second); err != nil {
			t.Fatal(err)
		}
		noSlice(t, store, run.ID)
		time.Sleep(time.Second + 10*time.Millisecond)
		if again := takeSlice(t, store, run.ID, time.Minute, 1); again.Tries != 1 {
			t.Errorf("tries %d", again.Tries)
		}
	}},
	// The limit applies to all workers together. Seventy is not a multiple of
	// what a worker takes, so the second gets only the rest. When the
	// supplier's limit is lowered in the middle of a run, it applies to the
	// next slice taken.
	{"a run's concurrency limit is kept", func(t *testing.T, store landfall.Store) {
		staged(t, store, accountNumbers(landfall.SliceSize*2+1)...)
		run := choose(t, store, newRun(t, store, landfall.RunPlan{Concurrency: 70}).ID)
		first := takeSlice(t, store, run.ID, time.Minute, landfall.SliceSize)
		second := takeSlice(t, store, run.ID, time.Minute, landfall.SliceSize)
		if first.Concurrency != 64 || second.Concurrency != 6 {
			t.Errorf("widths %d and %d", first.Concurrency, second.Concurrency)
		}
		noSlice(t, store, run.ID)
		setLimit(t, store, 3)
		if err := store.ReturnSlice(t.Context(), first, 0); err != nil {
			t.Fatal(err)
		}
		if again := takeSlice(t, store, run.ID, time.Minute, landfall.SliceSize); again.Concurrency != 3 || again.Number != first.Number {
			t.Errorf("width %d of slice %d under the supplier's limit", again.Concurrency, again.Number)
		}
		if last := takeSlice(t, store, run.ID, time.Minute, 1); last.Number != 2 {
			t.Errorf("slice %d", last.Number)
		}
	}},
}
