package storetest

import (
	"fmt"
	"testing"
	"time"

	"landfall"
)

// newRun starts a run of the supplier that most cases use.
func newRun(t *testing.T, store landfall.Store, plan landfall.RunPlan) (run landfall.Run) {
	t.Helper()
	plan.Supplier, plan.Team = supplierCode, teamName
	if plan.Select == "" {
		plan.Select = landfall.SelectPending
	}
	update(t, store, func(tx landfall.Tx) (err error) {
		run, err = tx.CreateRun(t.Context(), landfall.Run{Plan: plan})
		return err
	})
	return run
}

// choose selects all accounts of a run and starts it.
func choose(t *testing.T, store landfall.Store, id string) landfall.Run {
	t.Helper()
	for done := false; !done; {
		var err error
		if done, err = store.ChooseRun(t.Context(), id); err != nil {
			t.Fatalf("ChooseRun: %v", err)
		}
	}
	return changeRun(t, store, id, func(run *landfall.Run) { run.Start() })
}

// changeRun applies a change to a run and returns the stored run.
func changeRun(t *testing.T, store landfall.Store, id string, how func(*landfall.Run)) (run landfall.Run) {
	t.Helper()
	update(t, store, func(tx landfall.Tx) (err error) {
		if run, err = tx.Run(t.Context(), id); err != nil {
			return err
		}
		how(&run)
		return tx.SaveRun(t.Context(), run)
	})
	return readRun(t, store, id)
}

// readRun returns the stored run.
func readRun(t *testing.T, store landfall.Store, id string) (run landfall.Run) {
	t.Helper()
	inView(t, store, func(view landfall.View) (err error) {
		run, err = view.Run(t.Context(), id)
		return err
	})
	return run
}

// takeSlice takes a slice and checks its number of members.
func takeSlice(t *testing.T, store landfall.Store, id string, lease time.Duration, members int) landfall.RunSlice {
	t.Helper()
	slice, err := store.TakeSlice(t.Context(), landfall.SliceRequest{Run: id, Lease: lease, Concurrency: 64})
	if err != nil || len(slice.Members) != members {
		t.Fatalf("TakeSlice: %d members, want %d, %v", len(slice.Members), members, err)
	}
	return slice
}

// noSlice checks that there is no slice to take, which is how workers notice that
// there is nothing to do.
func noSlice(t *testing.T, store landfall.Store, id string) {
	t.Helper()
	_, err := store.TakeSlice(t.Context(), landfall.SliceRequest{Run: id, Lease: time.Minute, Concurrency: 64})
	wantError(t, err, landfall.ErrNotFound)
}

// claimAll claims the members of a slice, which must all be free, and holds them.
func claimAll(t *testing.T, store landfall.Store, slice landfall.RunSlice) []landfall.Claim {
	t.Helper()
	return claimMembers(t, store, slice, false)
}

// claimOptimistically claims them optimistically, without holding them.
func claimOptimistically(t *testing.T, store landfall.Store, slice landfall.RunSlice) []landfall.Claim {
	t.Helper()
	claims := claimMembers(t, store, slice, true)
	for _, claim := range claims {
		if claim.Token != "" {
			t.Errorf("%s is claimed", claim.Key.External)
		}
	}
	return claims
}

func claimMembers(t *testing.T, store landfall.Store, slice landfall.RunSlice, loose bool) []landfall.Claim {
	t.Helper()
	requests := make([]landfall.ClaimRequest, len(slice.Members))
	for i, member := range slice.Members {
		requests[i] = claimRequest(member.Key)
		requests[i].DryRun, requests[i].Optimistic = slice.Run.Plan.DryRun, loose
	}
	outcomes, err := store.ClaimSlice(t.Context(), requests)
	if err != nil || len(outcomes) != len(requests) {
		t.Fatalf("ClaimSlice: %v, %v", outcomes, err)
	}
	claims := make([]landfall.Claim, len(outcomes))
	for i, outcome := range outcomes {
		if outcome.Verdict != landfall.ClaimGranted || outcome.Claim.Key != slice.Members[i].Key {
			t.Fatalf("ClaimSlice of %v: %+v", slice.Members[i], outcome)
		}
		claims[i] = outcome.Claim
	}
	return claims
}

// memberCreated returns an account of a slice that is ready to be written.
func memberCreated(slice landfall.RunSlice, i int, claim landfall.Claim) landfall.RunCreation {
	return landfall.RunCreation{Ordinal: slice.Members[i].Ordinal, Creation: landfall.Creation{
		Claim: claim, Account: sampleAccount(), Run: slice.Run.ID,
	}}
}

// memberFailed returns the failure of an account of a slice with bad data.
func memberFailed(slice landfall.RunSlice, i int, claim landfall.Claim) landfall.RunFailure {
	event := landfall.EventImportFailed
	if claim.DryRun {
		event = landfall.EventDryRunFailed
	}
	return landfall.RunFailure{Ordinal: slice.Members[i].Ordinal, Claim: claim, Final: true, Attempt: landfall.Attempt{
		Failure: &landfall.Failure{Code: "bad", Detail: "d", DryRun: claim.DryRun}, Event: landfall.Event{Type: event},
	}}
}

// settleSlice settles a slice and fails the test on an error.
func settleSlice(t *testing.T, store landfall.Store, slice landfall.RunSlice, settlement landfall.Settlement) landfall.SettleResult {
	t.Helper()
	settled, err := store.SettleSlice(t.Context(), slice, settlement)
	if err != nil {
		t.Fatalf("SettleSlice: %v", err)
	}
	return settled
}

// accountNumbers returns count external numbers.
func accountNumbers(count int) []string {
	all := make([]string, count)
	for i := range all {
		all[i] = fmt.Sprintf("N-%04d", i)
	}
	return all
}

// memberNumbers returns the external numbers of a slice, which are easier to
// compare than members.
func memberNumbers(slice landfall.RunSlice) (all []string) {
	for _, member := range slice.Members {
		all = append(all, member.Key.External)
	}
	return all
}
