package storetest

import (
	"bytes"
	"sync/atomic"
	"testing"
	"time"

	"landfall"
)

// claimDryRun claims a process for a dry run.
func claimDryRun(t *testing.T, store landfall.Store, key landfall.Key) landfall.Claim {
	t.Helper()
	request := claimRequest(key)
	request.DryRun = true
	return claimFor(t, store, request, landfall.ClaimGranted)
}

// createDryRun makes a dry run and compares the verdict.
func createDryRun(t *testing.T, store landfall.Store, claim landfall.Claim, verdict landfall.CreateVerdict) {
	t.Helper()
	outcome, err := store.Create(t.Context(), landfall.Creation{
		Claim: claim, Account: sampleAccount(), Mails: []landfall.Mail{{Kind: "account_migrated", To: "a@b.co"}},
	})
	if err != nil || outcome.Verdict != verdict || outcome.Number != "" {
		t.Fatalf("dry run of %v: %+v, %v", claim.Key, outcome, err)
	}
}

// failedDryRun is the recorded result of a dry run that found an error.
func failedDryRun() landfall.Attempt {
	return landfall.Attempt{
		Failure: &landfall.Failure{Code: "account_failed_validation", DryRun: true},
		Event:   landfall.Event{Type: landfall.EventDryRunFailed},
	}
}

// dryRuns are dry runs. They do all the work of a creation and leave only a
// record of it. Above all, they do not block real creations.
var dryRuns = []promiseCheck{
	// Suppliers test a whole book this way on the real system. Anything left
	// behind would be an account or a mail that was not wanted. The real
	// creation still works, which shows that no claim was left either.
	{"a dry run stores nothing but its event", func(t *testing.T, store landfall.Store) {
		staged(t, store, testKey.External)
		before := readProcess(t, store, testKey)
		createDryRun(t, store, claimDryRun(t, store, testKey), landfall.CreateRolledBack)
		wantEqual(t, readProcess(t, store, testKey), before)
		if kept := readEvents(t, store, testKey); len(kept) != 1 || kept[0].Type != landfall.EventDryRunCompleted {
			t.Errorf("events %+v", kept)
		}
		create(t, store, claimFor(t, store, claimRequest(testKey), landfall.ClaimGranted), sampleAccount())
	}},
	// A dry run is granted while a real claim is held, and neither may affect
	// the other. Once the account exists there is nothing left to try, and the
	// dry run is told so.
	{"a dry run neither blocks others nor waits", func(t *testing.T, store landfall.Store) {
		staged(t, store, testKey.External)
		held := claimFor(t, store, claimRequest(testKey), landfall.ClaimGranted)
		beside := claimDryRun(t, store, testKey)
		if !bytes.Equal(beside.Document, held.Document) || beside.Revision != held.Revision || beside.Team != teamName {
			t.Errorf("got %+v", beside)
		}
		createDryRun(t, store, beside, landfall.CreateRolledBack)
		if state := readProcess(t, store, testKey).State; state != landfall.Claimed {
			t.Errorf("a dry run left the claim as %s", state)
		}
		create(t, store, held, sampleAccount())
		createDryRun(t, store, beside, landfall.CreateFenced)

		other := landfall.Key{Supplier: supplierCode, External: "other"}
		stage(t, store, newStaging(other, "1"), landfall.StagedFirst, 1)
		claimDryRun(t, store, other)
		if state := readProcess(t, store, other).State; state != landfall.Staged {
			t.Errorf("a dry run shows as %s", state)
		}
		stage(t, store, newStaging(other, "2"), landfall.StagedAgain, 2)
		claimFor(t, store, claimRequest(other), landfall.ClaimGranted)
	}},
	// A supplier that corrects an account and tries it again wants to see whether
	// the correction worked.
	{"a dry run's failure is stored until one succeeds", func(t *testing.T, store landfall.Store) {
		staged(t, store, testKey.External)
		tried := claimDryRun(t, store, testKey)
		if err := store.Release(t.Context(), tried, failedDryRun()); err != nil {
			t.Fatal(err)
		}
		if found := readProcess(t, store, testKey); found.Failure == nil || !found.Failure.DryRun || found.State != landfall.Staged {
			t.Fatalf("got %+v", found)
		}
		createDryRun(t, store, claimDryRun(t, store, testKey), landfall.CreateRolledBack)
		if found := readProcess(t, store, testKey); found.Failure != nil {
			t.Errorf("the failure was not cleared: %+v", found.Failure)
		}
	}},
	// The dry run found an error in a document that was replaced meanwhile. The
	// error would be recorded on the corrected account, and people would
	// correct it again. The attempt itself is still recorded.
	{"a dry run's failure does not apply to a later revision", func(t *testing.T, store landfall.Store) {
		staged(t, store, testKey.External)
		tried := claimDryRun(t, store, testKey)
		stage(t, store, newStaging(testKey, "fixed"), landfall.StagedAgain, 2)
		if err := store.Release(t.Context(), tried, failedDryRun()); err != nil {
			t.Fatal(err)
		}
		if found := readProcess(t, store, testKey); found.Failure != nil {
			t.Errorf("the corrected account has the failure %+v", found.Failure)
		}
		if kept := readEvents(t, store, testKey); len(kept) != 1 || kept[0].Type != landfall.EventDryRunFailed {
			t.Errorf("events %+v", kept)
		}
	}},
	// Dry runs do all the work of a creation, so the limits must apply to them
	// too. Each way of ending frees the slot: passing, failing and dying.
	{"dry runs count toward the limits until they end", func(t *testing.T, store landfall.Store) {
		staged(t, store, "1", "2", "3")
		setLimit(t, store, 2)
		own := func(number string, dry bool) landfall.ClaimRequest {
			request := claimRequest(landfall.Key{Supplier: supplierCode, External: number})
			request.DryRun = dry
			return request
		}
		first := claimFor(t, store, own("1", true), landfall.ClaimGranted)
		firm := claimFor(t, store, own("2", false), landfall.ClaimGranted)
		claimFor(t, store, own("3", true), landfall.ClaimOverLimit)
		claimFor(t, store, own("3", false), landfall.ClaimOverLimit)
		createDryRun(t, store, first, landfall.CreateRolledBack)
		second := claimFor(t, store, own("1", true), landfall.ClaimGranted)
		claimFor(t, store, own("3", false), landfall.ClaimOverLimit)
		if err := store.Renew(t.Context(), second); err != nil {
			t.Errorf("renewing: %v", err)
		}
		if err := store.Release(t.Context(), second, failedDryRun()); err != nil {
			t.Fatal(err)
		}
		short := own("1", true)
		short.Lease = time.Millisecond
		// This one is never released. Its lease has to end it.
		claimFor(t, store, short, landfall.ClaimGranted)
		time.Sleep(5 * time.Millisecond)
		claimFor(t, store, own("3", false), landfall.ClaimGranted)
		create(t, store, firm, sampleAccount())
	}},
	// Dry runs take no claims from each other, so many may write about one
	// account at once. Each one that was told it passed is recorded.
	{"many concurrent dry runs all complete", func(t *testing.T, store landfall.Store) {
		staged(t, store, testKey.External, "2")
		other := landfall.Key{Supplier: supplierCode, External: "2"}
		var passed atomic.Int32
		atOnce(callerCount, func(number int) {
			own := testKey
			if number%2 == 0 {
				own = other
			}
			request := claimRequest(own)
			request.DryRun = true
			looked, err := store.Claim(t.Context(), request)
			if err != nil || looked.Verdict != landfall.ClaimGranted {
				t.Errorf("got %+v, %v", looked, err)
				return
			}
			outcome, err := store.Create(t.Context(), landfall.Creation{Claim: looked.Claim, Account: sampleAccount()})
			if err != nil || outcome.Verdict != landfall.CreateRolledBack {
				t.Errorf("got %+v, %v", outcome, err)
				return
			}
			passed.Add(1)
		})
		if kept := len(readEvents(t, store, testKey)) + len(readEvents(t, store, other)); kept != int(passed.Load()) {
			t.Errorf("%d dry runs passed, %d are on record", passed.Load(), kept)
		}
	}},
}
