package storetest

import (
	"bytes"
	"sync/atomic"
	"testing"
	"time"

	"landfall"
)

// rehearse asks what a dry run would create from.
func rehearse(t *testing.T, store landfall.Store, key landfall.Key) landfall.Claim {
	t.Helper()
	request := claimRequest(key)
	request.DryRun = true
	return claimFor(t, store, request, landfall.ClaimGranted)
}

// play makes a dry run and compares what it would have come to.
func play(t *testing.T, store landfall.Store, claim landfall.Claim, verdict landfall.CreateVerdict) {
	t.Helper()
	outcome, err := store.Create(t.Context(), landfall.Creation{
		Claim: claim, Account: sampleAccount(), Mails: []landfall.Mail{{Kind: "account_migrated", To: "a@b.co"}},
	})
	if err != nil || outcome.Verdict != verdict || outcome.Number != "" {
		t.Fatalf("dry run of %v: %+v, %v", claim.Key, outcome, err)
	}
}

// failedDryly is what is kept of a dry run that found a fault.
func failedDryly() landfall.Attempt {
	return landfall.Attempt{
		Failure: &landfall.Failure{Code: "account_failed_validation", DryRun: true},
		Event:   landfall.Event{Type: landfall.EventDryRunFailed},
	}
}

// rehearsals are dry runs. They do all the work and leave nothing but the word of it;
// above all they hold nobody up who means it.
var rehearsals = []promiseCheck{
	// Suppliers try a whole book this way on the real system. Anything that stayed
	// would be an account or a mail that nobody wanted; that the real creation still
	// works shows that no claim stayed either.
	{"a dry run leaves nothing but its record", func(t *testing.T, store landfall.Store) {
		staged(t, store, testKey.External)
		before := readProcess(t, store, testKey)
		play(t, store, rehearse(t, store, testKey), landfall.CreateRolledBack)
		same(t, readProcess(t, store, testKey), before)
		if kept := readEvents(t, store, testKey); len(kept) != 1 || kept[0].Type != landfall.EventDryRunCompleted {
			t.Errorf("events %+v", kept)
		}
		create(t, store, claimFor(t, store, claimRequest(testKey), landfall.ClaimGranted), sampleAccount())
	}},
	// It is granted beside the claim of somebody who means it, and neither may notice
	// the other. Once the account exists there is nothing left to try, and it is told
	// so.
	{"a dry run holds nobody up and waits for nobody", func(t *testing.T, store landfall.Store) {
		staged(t, store, testKey.External)
		held := claimFor(t, store, claimRequest(testKey), landfall.ClaimGranted)
		beside := rehearse(t, store, testKey)
		if !bytes.Equal(beside.Document, held.Document) || beside.Revision != held.Revision || beside.Team != teamName {
			t.Errorf("got %+v", beside)
		}
		play(t, store, beside, landfall.CreateRolledBack)
		if state := readProcess(t, store, testKey).State; state != landfall.Claimed {
			t.Errorf("a dry run left the claim as %s", state)
		}
		create(t, store, held, sampleAccount())
		play(t, store, beside, landfall.CreateFenced)

		other := landfall.Key{Supplier: supplierCode, External: "other"}
		stage(t, store, newStaging(other, "1"), landfall.StagedFirst, 1)
		rehearse(t, store, other)
		if state := readProcess(t, store, other).State; state != landfall.Staged {
			t.Errorf("a dry run shows as %s", state)
		}
		stage(t, store, newStaging(other, "2"), landfall.StagedAgain, 2)
		claimFor(t, store, claimRequest(other), landfall.ClaimGranted)
	}},
	// Whoever mends an account and tries it again wants to see whether it is mended.
	{"a dry run keeps its failure until one passes", func(t *testing.T, store landfall.Store) {
		staged(t, store, testKey.External)
		tried := rehearse(t, store, testKey)
		if err := store.Release(t.Context(), tried, failedDryly()); err != nil {
			t.Fatal(err)
		}
		if found := readProcess(t, store, testKey); found.Failure == nil || !found.Failure.DryRun || found.State != landfall.Staged {
			t.Fatalf("got %+v", found)
		}
		play(t, store, rehearse(t, store, testKey), landfall.CreateRolledBack)
		if found := readProcess(t, store, testKey); found.Failure != nil {
			t.Errorf("the failure stays: %+v", found.Failure)
		}
	}},
	// It found a fault in a document that was replaced while it looked. The fault
	// would stand on the mended account, and somebody would mend it again. That it
	// was tried is on record all the same.
	{"a dry run says nothing about a later revision", func(t *testing.T, store landfall.Store) {
		staged(t, store, testKey.External)
		tried := rehearse(t, store, testKey)
		stage(t, store, newStaging(testKey, "mended"), landfall.StagedAgain, 2)
		if err := store.Release(t.Context(), tried, failedDryly()); err != nil {
			t.Fatal(err)
		}
		if found := readProcess(t, store, testKey); found.Failure != nil {
			t.Errorf("the mended account has the failure %+v", found.Failure)
		}
		if kept := readEvents(t, store, testKey); len(kept) != 1 || kept[0].Type != landfall.EventDryRunFailed {
			t.Errorf("events %+v", kept)
		}
	}},
	// They do all the work of a creation, so the limits have to hold them too. Each
	// way of ending gives the place back: passing, failing and dying.
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
		play(t, store, first, landfall.CreateRolledBack)
		second := claimFor(t, store, own("1", true), landfall.ClaimGranted)
		claimFor(t, store, own("3", false), landfall.ClaimOverLimit)
		if err := store.Renew(t.Context(), second); err != nil {
			t.Errorf("renewing: %v", err)
		}
		if err := store.Release(t.Context(), second, failedDryly()); err != nil {
			t.Fatal(err)
		}
		short := own("1", true)
		short.Lease = time.Millisecond
		// Nobody ends this one. Its lease has to.
		claimFor(t, store, short, landfall.ClaimGranted)
		time.Sleep(5 * time.Millisecond)
		claimFor(t, store, own("3", false), landfall.ClaimGranted)
		create(t, store, firm, sampleAccount())
	}},
	// They take no claim from each other, so many may write about one account at
	// once. Each of those that were told they passed is on record.
	{"many dry runs at once all end", func(t *testing.T, store landfall.Store) {
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
