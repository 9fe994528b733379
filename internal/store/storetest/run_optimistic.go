package storetest

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"landfall"
)

// optimisticClaims are about optimistic claims, with which a run creates
// accounts that need no waiting. They do not hold the process, so the
// transaction that writes must detect whatever happened to it meanwhile.
var optimisticClaims = []promiseCheck{
	// Every account but the first is changed in a different way between the
	// claim and the settlement. Creating one of them anyway would lose a newer
	// document, bring back deleted data, or create an account twice.
	{"an optimistic claim blocks nobody and writes only unchanged accounts", func(t *testing.T, store landfall.Store) {
		staged(t, store, "a", "created", "held", "purged", "skipped", "staged")
		run := choose(t, store, newRun(t, store, landfall.RunPlan{}).ID)
		slice := takeSlice(t, store, run.ID, time.Minute, 6)
		claims := claimOptimistically(t, store, slice)
		for _, member := range slice.Members {
			if found := readProcess(t, store, member.Key); found.State != landfall.Staged {
				t.Errorf("%s is %s", member.Key.External, found.State)
			}
		}
		create(t, store, claimFor(t, store, claimRequest(numbered("created")), landfall.ClaimGranted), sampleAccount())
		claimFor(t, store, claimRequest(numbered("held")), landfall.ClaimGranted)
		skip(t, store, numbered("skipped"))
		stage(t, store, newStaging(numbered("staged"), "newer"), landfall.StagedAgain, 2)
		// The purge affects every account, so the first one is staged again
		// afterwards.
		setRetention(t, store, landfall.Retention{Staged: shortRetention}, 0)
		purge(t, store, false)
		setRetention(t, store, landfall.Retention{}, 0)
		stage(t, store, newStaging(numbered("a"), "a"), landfall.StagedAgain, 2)
		claims[0] = claimOptimistically(t, store, landfall.RunSlice{Run: slice.Run, Members: slice.Members[:1]})[0]

		var settlement landfall.Settlement
		for i, claim := range claims {
			settlement.Created = append(settlement.Created, memberCreated(slice, i, claim))
		}
		settled := settleSlice(t, store, slice, settlement)
		for i, outcome := range settled.Created {
			wanted := landfall.CreateFenced
			if i == 0 {
				wanted = landfall.Created
			}
			if outcome.Verdict != wanted {
				t.Errorf("%s: verdict %d, want %d", slice.Members[i].Key.External, outcome.Verdict, wanted)
			}
		}
		wantEqual(t, readRun(t, store, run.ID).Tally, landfall.RunTally{Selected: 6, Succeeded: 1})
		checkTallies(t, store)
		checkInspection(t, store)
	}},
	// A recorded failure describes one document. Recorded for another one, it
	// would report an error in data that was never tried.
	{"the failure of an optimistic claim is stored if the process is unchanged", func(t *testing.T, store landfall.Store) {
		staged(t, store, "a", "b")
		run := choose(t, store, newRun(t, store, landfall.RunPlan{}).ID)
		slice := takeSlice(t, store, run.ID, time.Minute, 2)
		claims := claimOptimistically(t, store, slice)
		stage(t, store, newStaging(numbered("b"), "newer"), landfall.StagedAgain, 2)
		settleSlice(t, store, slice, landfall.Settlement{
			Failed: []landfall.RunFailure{memberFailed(slice, 0, claims[0]), memberFailed(slice, 1, claims[1])},
		})
		wantEqual(t, failedNumbers(t, store, landfall.FailureQuery{}), []string{"a false bad"})
		if kept := readEvents(t, store, numbered("b")); len(kept) != 0 {
			t.Errorf("an attempt without effect is recorded: %+v", kept)
		}
		wantEqual(t, readRun(t, store, run.ID).Tally, landfall.RunTally{Selected: 2, Failed: 1})
		// Nothing was held, so there is nothing to release or to renew.
		if err := store.RenewSlice(t.Context(), slice, claims[1:]); err != nil {
			t.Error(err)
		}
		settleSlice(t, store, slice, landfall.Settlement{Released: claims[1:]})
		checkTallies(t, store)
		checkInspection(t, store)
	}},
	// An expired lease does not block an optimistic claim, even if the row
	// still has its token.
	{"an optimistic claim is refused only while the process is claimed", func(t *testing.T, store landfall.Store) {
		staged(t, store, "held", "left")
		run := choose(t, store, newRun(t, store, landfall.RunPlan{}).ID)
		slice := takeSlice(t, store, run.ID, time.Minute, 2)
		claimFor(t, store, claimRequest(numbered("held")), landfall.ClaimGranted)
		request := claimRequest(numbered("held"))
		request.Optimistic = true
		outcomes, err := store.ClaimSlice(t.Context(), []landfall.ClaimRequest{request})
		if err != nil || outcomes[0].Verdict != landfall.ClaimTaken || outcomes[0].LeaseLeft <= 0 {
			t.Errorf("%+v, %v", outcomes, err)
		}
		short := claimRequest(numbered("left"))
		short.Lease = time.Millisecond
		claimFor(t, store, short, landfall.ClaimGranted)
		expire(t, store, numbered("left"))
		left := landfall.RunSlice{Run: slice.Run, Members: slice.Members[1:]}
		claims := claimOptimistically(t, store, left)
		settled := settleSlice(t, store, slice, landfall.Settlement{Created: []landfall.RunCreation{memberCreated(left, 0, claims[0])}})
		if settled.Created[0].Verdict != landfall.Created {
			t.Errorf("%+v", settled)
		}
		checkInspection(t, store)
	}},
	// A limit counts the holders of processes, so under a limit every claim must
	// hold its process.
	{"under a limit an optimistic claim becomes a counted claim", func(t *testing.T, store landfall.Store) {
		staged(t, store, "a", "b")
		setLimit(t, store, 1)
		run := choose(t, store, newRun(t, store, landfall.RunPlan{}).ID)
		slice := takeSlice(t, store, run.ID, time.Minute, 2)
		var requests []landfall.ClaimRequest
		for _, member := range slice.Members {
			request := claimRequest(member.Key)
			request.Optimistic = true
			requests = append(requests, request)
		}
		outcomes, err := store.ClaimSlice(t.Context(), requests)
		if err != nil || outcomes[0].Verdict != landfall.ClaimGranted || outcomes[0].Claim.Token == "" ||
			outcomes[1].Verdict != landfall.ClaimOverLimit {
			t.Fatalf("%+v, %v", outcomes, err)
		}
		settled := settleSlice(t, store, slice, landfall.Settlement{Created: []landfall.RunCreation{memberCreated(slice, 0, outcomes[0].Claim)}})
		if settled.Created[0].Verdict != landfall.Created {
			t.Errorf("%+v", settled)
		}
		checkInspection(t, store)
	}},
	// A failure that will be retried leaves its member open, so only the process
	// itself shows that the failure was already recorded.
	{"the failure of an optimistic claim that is sent twice is stored once", func(t *testing.T, store landfall.Store) {
		staged(t, store, "new", "old")
		run := choose(t, store, newRun(t, store, landfall.RunPlan{}).ID)
		failed := claimFor(t, store, claimRequest(numbered("old")), landfall.ClaimGranted)
		if err := store.Release(t.Context(), failed, memberFailed(landfall.RunSlice{Members: make([]landfall.RunMember, 1)}, 0, failed).Attempt); err != nil {
			t.Fatal(err)
		}
		slice := takeSlice(t, store, run.ID, time.Minute, 2)
		claims := claimOptimistically(t, store, slice)
		var settlement landfall.Settlement
		for i, claim := range claims {
			failure := memberFailed(slice, i, claim)
			failure.Final = false
			settlement.Failed = append(settlement.Failed, failure)
		}
		for range 2 { // the first response is lost
			settleSlice(t, store, slice, settlement)
		}
		for i, wanted := range []int{1, 2} {
			if told := readEvents(t, store, slice.Members[i].Key); len(told) != wanted {
				t.Errorf("%s failed %d times, want %d", slice.Members[i].Key.External, len(told), wanted)
			}
		}
		wantEqual(t, readRun(t, store, run.ID).Tally, landfall.RunTally{Selected: 2})
		checkTallies(t, store)
		checkInspection(t, store)
	}},
	// Nothing is held between the claim and the settlement, so all callers meet
	// in the database, each with its accounts in its own order. A newer
	// document that was acknowledged must not be overridden by an account
	// created from the older one.
	{"optimistic claims, stagings, skips and creations at once: one wins per account", mixOptimisticClaims},
}

func mixOptimisticClaims(t *testing.T, store landfall.Store) {
	const accounts = 60
	staged(t, store)
	for round := range 6 {
		var book []landfall.Staging
		for i := range accounts {
			book = append(book, newStaging(numbered(fmt.Sprintf("%d-%02d", round, i)), "first"))
		}
		for _, result := range store.StageAll(t.Context(), book, nil) {
			if result.Err != nil {
				t.Fatal(result.Err)
			}
		}
		run := choose(t, store, newRun(t, store, landfall.RunPlan{}).ID)
		slice, err := store.TakeSlice(t.Context(), landfall.SliceRequest{Run: run.ID, Lease: time.Minute, Concurrency: 64})
		if err != nil {
			t.Fatal(err)
		}
		claims := claimOptimistically(t, store, slice)
		var settlement landfall.Settlement
		for i, claim := range claims {
			if i%5 == 4 {
				settlement.Failed = append(settlement.Failed, memberFailed(slice, i, claim))
			} else {
				settlement.Created = append(settlement.Created, memberCreated(slice, i, claim))
			}
		}
		var settled landfall.SettleResult
		again := map[landfall.Key]bool{}
		single := map[landfall.Key]bool{}
		atOnce(4, func(number int) {
			switch number {
			case 0:
				var err error
				if settled, err = store.SettleSlice(t.Context(), slice, settlement); err != nil {
					t.Error(err)
				}
			case 1:
				var newer []landfall.Staging
				for _, one := range slices.Backward(book[:accounts*2/3]) {
					newer = append(newer, newStaging(one.Key, "newer"))
				}
				for i, result := range store.StageAll(t.Context(), newer, nil) {
					if result.Err != nil {
						t.Error(result.Err)
					}
					again[newer[i].Key] = result.Verdict == landfall.StagedAgain
				}
			case 2:
				for _, one := range slices.Backward(book) {
					if err := store.Update(t.Context(), func(tx landfall.Tx) error {
						if _, err := tx.Skip(t.Context(), one.Key, "no"); err != nil {
							return err
						}
						return tx.Unskip(t.Context(), one.Key)
					}); err != nil && !errors.Is(err, landfall.ErrExists) {
						t.Error(err)
					}
				}
			case 3:
				for _, one := range slices.Backward(book[accounts/3:]) {
					outcome, err := store.Claim(t.Context(), claimRequest(one.Key))
					if err != nil {
						t.Error(err)
					}
					if outcome.Verdict != landfall.ClaimGranted {
						continue
					}
					created, err := store.Create(t.Context(), landfall.Creation{Claim: outcome.Claim, Account: sampleAccount()})
					if err != nil || created.Verdict != landfall.Created {
						t.Errorf("%s was claimed: %+v, %v", one.Key.External, created, err)
					}
					single[one.Key] = true
				}
			}
		})
		for i, outcome := range settled.Created {
			claim := settlement.Created[i].Creation.Claim
			key := claim.Key
			if outcome.Verdict != landfall.Created {
				continue
			}
			if found := readProcess(t, store, key); again[key] || single[key] || found.State != landfall.Imported || found.Revision != claim.Revision {
				t.Errorf("%s: staged again %t, created by another %t, now %s of revision %d", key.External, again[key], single[key], found.State, found.Revision)
			}
		}
		// The next round has its own run.
		changeRun(t, store, run.ID, func(run *landfall.Run) { run.Cancel = true; run.CompleteStop() })
		checkTallies(t, store)
	}
	checkInspection(t, store)
}
