package storetest

import (
	"testing"
	"time"

	"landfall"
)

// Loose claims, by which a run creates what it need not wait for: they hold
// nobody off, so that whatever happened to a process meanwhile has to be found
// by the transaction that writes.
var looseClaims = []check{
	// Each neighbour of the first account is touched in another way between the look
	// and the settlement. Creating one of them all the same would lose a newer
	// document, bring back what was erased, or make an account twice.
	{"a loose claim holds nobody off and writes only what nobody touched", func(t *testing.T, store landfall.Store) {
		staged(t, store, "a", "created", "held", "purged", "skipped", "staged")
		run := choose(t, store, newRun(t, store, landfall.RunPlan{}).ID)
		slice := takeSlice(t, store, run.ID, time.Minute, 6)
		claims := claimLoosely(t, store, slice)
		for _, member := range slice.Members {
			if found := process(t, store, member.Key); found.State != landfall.Staged {
				t.Errorf("%s is %s", member.Key.External, found.State)
			}
		}
		create(t, store, claim(t, store, wish(numbered("created")), landfall.ClaimGranted), house())
		claim(t, store, wish(numbered("held")), landfall.ClaimGranted)
		skip(t, store, numbered("skipped"))
		stage(t, store, document(numbered("staged"), "newer"), landfall.StagedAgain, 2)
		// The first is staged anew afterwards, since a purge asks nobody's name.
		keeping(t, store, landfall.Retention{Staged: shortly}, 0)
		purge(t, store, false)
		keeping(t, store, landfall.Retention{}, 0)
		stage(t, store, document(numbered("a"), "a"), landfall.StagedAgain, 2)
		claims[0] = claimLoosely(t, store, landfall.RunSlice{Run: slice.Run, Members: slice.Members[:1]})[0]

		var settlement landfall.Settlement
		for i, claim := range claims {
			settlement.Created = append(settlement.Created, made(slice, i, claim))
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
		same(t, seen(t, store, run.ID).Tally, landfall.RunTally{Selected: 6, Succeeded: 1})
		tallied(t, store)
		holds(t, store)
	}},
	// What is kept of a failed attempt speaks of a document. Kept of another one it
	// would say that data which nobody has tried is wrong.
	{"the failure of a loose claim is kept where nobody touched the process", func(t *testing.T, store landfall.Store) {
		staged(t, store, "a", "b")
		run := choose(t, store, newRun(t, store, landfall.RunPlan{}).ID)
		slice := takeSlice(t, store, run.ID, time.Minute, 2)
		claims := claimLoosely(t, store, slice)
		stage(t, store, document(numbered("b"), "newer"), landfall.StagedAgain, 2)
		settleSlice(t, store, slice, landfall.Settlement{
			Failed: []landfall.RunFailure{broken(slice, 0, claims[0]), broken(slice, 1, claims[1])},
		})
		same(t, failing(t, store, landfall.FailureQuery{}), []string{"a false bad"})
		if kept := events(t, store, numbered("b")); len(kept) != 0 {
			t.Errorf("an attempt that counts for nothing is told: %+v", kept)
		}
		same(t, seen(t, store, run.ID).Tally, landfall.RunTally{Selected: 2, Failed: 1})
		// Nothing was held, so there is nothing to let go or to renew.
		if err := store.RenewSlice(t.Context(), slice, claims[1:]); err != nil {
			t.Error(err)
		}
		settleSlice(t, store, slice, landfall.Settlement{LetGo: claims[1:]})
		tallied(t, store)
		holds(t, store)
	}},
	// A lease that has ended holds nobody off either, and neither does a row that
	// still bears its token.
	{"a loose claim is refused while somebody holds the process, and no longer", func(t *testing.T, store landfall.Store) {
		staged(t, store, "held", "left")
		run := choose(t, store, newRun(t, store, landfall.RunPlan{}).ID)
		slice := takeSlice(t, store, run.ID, time.Minute, 2)
		claim(t, store, wish(numbered("held")), landfall.ClaimGranted)
		request := wish(numbered("held"))
		request.Loose = true
		outcomes, err := store.ClaimSlice(t.Context(), []landfall.ClaimRequest{request})
		if err != nil || outcomes[0].Verdict != landfall.ClaimTaken || outcomes[0].Left <= 0 {
			t.Errorf("%+v, %v", outcomes, err)
		}
		short := wish(numbered("left"))
		short.Lease = time.Millisecond
		claim(t, store, short, landfall.ClaimGranted)
		expire(t, store, numbered("left"))
		left := landfall.RunSlice{Run: slice.Run, Members: slice.Members[1:]}
		claims := claimLoosely(t, store, left)
		settled := settleSlice(t, store, slice, landfall.Settlement{Created: []landfall.RunCreation{made(left, 0, claims[0])}})
		if settled.Created[0].Verdict != landfall.Created {
			t.Errorf("%+v", settled)
		}
		holds(t, store)
	}},
	// A limit counts who holds a process, so that there a claim cannot be loose.
	{"under a limit a loose claim is a firm one and counts", func(t *testing.T, store landfall.Store) {
		staged(t, store, "a", "b")
		limit(t, store, 1)
		run := choose(t, store, newRun(t, store, landfall.RunPlan{}).ID)
		slice := takeSlice(t, store, run.ID, time.Minute, 2)
		var requests []landfall.ClaimRequest
		for _, member := range slice.Members {
			request := wish(member.Key)
			request.Loose = true
			requests = append(requests, request)
		}
		outcomes, err := store.ClaimSlice(t.Context(), requests)
		if err != nil || outcomes[0].Verdict != landfall.ClaimGranted || outcomes[0].Claim.Token == "" ||
			outcomes[1].Verdict != landfall.ClaimOverLimit {
			t.Fatalf("%+v, %v", outcomes, err)
		}
		settled := settleSlice(t, store, slice, landfall.Settlement{Created: []landfall.RunCreation{made(slice, 0, outcomes[0].Claim)}})
		if settled.Created[0].Verdict != landfall.Created {
			t.Errorf("%+v", settled)
		}
		holds(t, store)
	}},
}
