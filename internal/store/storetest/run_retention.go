package storetest

import (
	"errors"
	"testing"
	"time"

	"landfall"
)

// runRetentions delete the accounts of ended runs. They were kept for ever: ten
// rehearsals of five million accounts left fifty million rows.
var runRetentions = []promiseCheck{
	{"an ended run loses its accounts after its retention and keeps its totals", func(t *testing.T, store landfall.Store) {
		staged(t, store, "1", "2", "3")
		run := choose(t, store, newRun(t, store, landfall.RunPlan{}).ID)
		slice := takeSlice(t, store, run.ID, time.Minute, 3)
		claims := claimAll(t, store, slice)
		settleSlice(t, store, slice, landfall.Settlement{
			Created: []landfall.RunCreation{memberCreated(slice, 0, claims[0])}, Failed: []landfall.RunFailure{memberFailed(slice, 1, claims[1])},
			Refused: []int{slice.Members[2].Ordinal}, Released: []landfall.Claim{claims[2]},
		})
		setRetention(t, store, landfall.Retention{Runs: shortRetention}, 0)
		if gone := purge(t, store, false); gone != (landfall.PurgeCounts{}) {
			t.Errorf("%+v went of a run that has not ended", gone)
		}
		before := changeRun(t, store, run.ID, func(run *landfall.Run) { run.Finish() })
		wantEqual(t, before.Tally, landfall.RunTally{Selected: 3, Succeeded: 1, Failed: 1, Refused: 1})
		// The window is longer than the retention: the run can still be undone.
		setRetention(t, store, landfall.Retention{Runs: shortRetention}, time.Hour)
		if gone := purge(t, store, false); gone != (landfall.PurgeCounts{}) {
			t.Errorf("%+v went of a run that can be undone", gone)
		}
		setRetention(t, store, landfall.Retention{Runs: shortRetention}, 0)
		for _, dryRun := range []bool{true, false} {
			if gone := purge(t, store, dryRun); gone != (landfall.PurgeCounts{Runs: 1}) {
				t.Errorf("dry run %t: %+v", dryRun, gone)
			}
		}
		if gone := purge(t, store, false); gone != (landfall.PurgeCounts{}) {
			t.Errorf("%+v went twice", gone)
		}
		after := readRun(t, store, run.ID)
		wantEqual(t, after.Tally, before.Tally)
		recent(t, after.PurgedAt)
		// An empty list would look as if nothing had failed.
		for _, err := range store.RunFailures(t.Context(), landfall.RunFailureQuery{Run: run.ID}) {
			if !errors.Is(err, landfall.ErrRunPurged) {
				t.Errorf("its failures: %v", err)
			}
		}
		// The account itself still has its failure.
		wantEqual(t, len(failedNumbers(t, store, landfall.FailureQuery{})), 1)
		checkTallies(t, store)
		checkInspection(t, store)
	}},
}
