package storetest

import (
	"bytes"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"landfall"
)

// teamName is there in most cases; creation needs one.
const teamName = "Migration Team"

// staged makes a supplier, a team and staged processes with these numbers.
func staged(t *testing.T, store landfall.Store, numbers ...string) {
	t.Helper()
	createSupplier(t, store)
	update(t, store, func(tx landfall.Tx) error { return tx.CreateTeam(t.Context(), teamName) })
	for _, number := range numbers {
		own := landfall.Key{Supplier: supplierCode, External: number}
		stage(t, store, newStaging(own, number), landfall.StagedFirst, 1)
	}
}

// claimRequest is for a minute: no case takes so long, so a lease that ends does so because
// the case wants it.
func claimRequest(key landfall.Key) landfall.ClaimRequest {
	return landfall.ClaimRequest{Key: key, Team: teamName, Lease: time.Minute}
}

// claimFor asks for a claim and compares the verdict.
func claimFor(t *testing.T, store landfall.Store, request landfall.ClaimRequest, verdict landfall.ClaimVerdict) landfall.Claim {
	t.Helper()
	outcome, err := store.Claim(t.Context(), request)
	if err != nil {
		t.Fatalf("Claim: %v", err)
	}
	if outcome.Verdict != verdict {
		t.Fatalf("Claim(%v) = verdict %d, want %d", request.Key, outcome.Verdict, verdict)
	}
	return outcome.Claim
}

// expire waits until the database's clock has ended a claim.
func expire(t *testing.T, store landfall.Store, key landfall.Key) {
	t.Helper()
	// The process is asked and no time is slept: only the database's clock decides
	// when a lease has ended, and this program's may be ahead of it.
	for end := time.Now().Add(20 * time.Second); readProcess(t, store, key).State != landfall.Staged; {
		if time.Now().After(end) {
			t.Fatal("the lease never ends")
		}
	}
}

// setLimit sets a supplier's concurrency limit.
func setLimit(t *testing.T, store landfall.Store, most int) {
	t.Helper()
	update(t, store, func(tx landfall.Tx) error {
		supplier, err := tx.Supplier(t.Context(), supplierCode)
		if err != nil {
			return err
		}
		supplier.ConcurrencyLimit = most
		return tx.SaveSupplier(t.Context(), supplier)
	})
}

// claimChecks are about who may create an account. At most one does, it learns what it
// needs with the claim, and a holder that died gives way without anybody's help.
var claimChecks = []promiseCheck{
	// Whoever holds a claim creates from the document that came with it and does not
	// ask again: with an older one a customer would get the account that the supplier
	// has mended since. What is left of the lease is told to those who are refused,
	// so that they know when it is worth coming back; the ten seconds of room are for
	// slow machines.
	{"a claim holds the staged document and is seen", func(t *testing.T, store landfall.Store) {
		staged(t, store, testKey.External)
		stage(t, store, newStaging(testKey, "second"), landfall.StagedAgain, 2)
		got := claimFor(t, store, claimRequest(testKey), landfall.ClaimGranted)
		if !bytes.Equal(got.Document, newStaging(testKey, "second").Document) || got.Revision != 2 || got.Key != testKey ||
			got.Team != teamName || got.Token == "" || got.Lease != time.Minute {
			t.Errorf("got %+v", got)
		}
		if state := readProcess(t, store, testKey).State; state != landfall.Claimed {
			t.Errorf("state %s", state)
		}
		taken, err := store.Claim(t.Context(), claimRequest(testKey))
		if err != nil || taken.Verdict != landfall.ClaimTaken || taken.LeaseLeft < 50*time.Second || taken.LeaseLeft > time.Minute {
			t.Errorf("claiming it again: %+v, %v", taken, err)
		}
		// A revision that came in behind a claim's back would be on record as the
		// newest, and the account would be made from another.
		outcome, err := store.Stage(t.Context(), newStaging(testKey, "third"))
		if err != nil || outcome.Verdict != landfall.RefusedClaimed || outcome.LeaseLeft < 50*time.Second || outcome.LeaseLeft > time.Minute {
			t.Errorf("re-staging: %+v, %v", outcome, err)
		}
	}},
	// Each reason asks for something else of the caller: to stage, to take a mark
	// away, to name a team that there is, to wait for the operator. One reason for
	// all of them would leave people guessing, and a refusal that changed the process
	// would make them wait.
	{"a claim is refused with its reason", func(t *testing.T, store landfall.Store) {
		staged(t, store, "skipped", "staged", "done")
		own := func(number string) landfall.ClaimRequest {
			return claimRequest(landfall.Key{Supplier: supplierCode, External: number})
		}
		update(t, store, func(tx landfall.Tx) error {
			_, err := tx.Skip(t.Context(), own("skipped").Key, "moved away")
			return err
		})
		claimFor(t, store, own("none"), landfall.ClaimNotStaged)
		claimFor(t, store, own("skipped"), landfall.ClaimSkipped)
		claimFor(t, store, claimRequest(landfall.Key{Supplier: "NONE", External: "1"}), landfall.ClaimNoSupplier)
		teamless := own("staged")
		teamless.Team = "Nobody"
		claimFor(t, store, teamless, landfall.ClaimNoTeam)
		// Who lost the answer of a creation asks again, and must learn the number.
		// That holds in a pause too: it would otherwise look as if the account had
		// never been made.
		made := create(t, store, claimFor(t, store, own("done"), landfall.ClaimGranted), sampleAccount())
		outcome, err := store.Claim(t.Context(), own("done"))
		if err != nil || outcome.Verdict != landfall.ClaimImported || outcome.AccountNumber != made.Number {
			t.Errorf("claim of an imported one: %+v, %v", outcome, err)
		}
		if err := setStatus(t.Context(), store, landfall.Paused); err != nil {
			t.Fatal(err)
		}
		claimFor(t, store, own("staged"), landfall.ClaimNoSupplier)
		if outcome, err := store.Claim(t.Context(), own("done")); err != nil || outcome.Verdict != landfall.ClaimImported || outcome.AccountNumber != made.Number {
			t.Errorf("claim of an imported one while the supplier is paused: %+v, %v", outcome, err)
		}
		if state := readProcess(t, store, own("staged").Key).State; state != landfall.Staged {
			t.Errorf("a refused claim left %s", state)
		}
	}},
	// With two holders only one account could be written, but everything that is done
	// before it is written would be done twice. Those who come second are told that
	// it is taken and get no error: to be late is nothing that anybody has to look
	// into.
	{"of many claims at once one is granted", func(t *testing.T, store landfall.Store) {
		staged(t, store, testKey.External)
		var granted, taken atomic.Int32
		atOnce(64, func(int) {
			outcome, err := store.Claim(t.Context(), claimRequest(testKey))
			switch {
			case err != nil:
				t.Error(err)
			case outcome.Verdict == landfall.ClaimGranted:
				granted.Add(1)
			case outcome.Verdict == landfall.ClaimTaken:
				taken.Add(1)
			}
		})
		if granted.Load() != 1 || taken.Load() != 63 {
			t.Errorf("%d granted, %d taken", granted.Load(), taken.Load())
		}
	}},
	// A replica that dies releases nothing, and one that was only stopped for a while
	// wakes up and goes on as if nothing had happened. The first must hold nobody up
	// for good, and the second must not write over whoever took its place: the token
	// tells them apart.
	{"a lease ends by the clock, and its holder is fenced off", func(t *testing.T, store landfall.Store) {
		staged(t, store, testKey.External)
		short := claimRequest(testKey)
		short.Lease = 30 * time.Millisecond
		old := claimFor(t, store, short, landfall.ClaimGranted)
		expire(t, store, testKey)
		wantError(t, store.Renew(t.Context(), old), landfall.ErrFenced)
		fresh := claimFor(t, store, claimRequest(testKey), landfall.ClaimGranted)
		if fresh.Token == old.Token {
			t.Error("the new claim has the old token")
		}
		outcome, err := store.Create(t.Context(), landfall.Creation{Claim: old, Account: sampleAccount()})
		if err != nil || outcome.Verdict != landfall.CreateFenced || outcome.Number != "" {
			t.Errorf("creating with the old claim: %+v, %v", outcome, err)
		}
		wantError(t, store.Renew(t.Context(), old), landfall.ErrFenced)
		failed := landfall.Attempt{Failure: &landfall.Failure{Code: "x"}, Event: landfall.Event{Type: landfall.EventImportFailed}}
		wantError(t, store.Release(t.Context(), old, failed), landfall.ErrFenced)
		found := readProcess(t, store, testKey)
		if found.State != landfall.Claimed || found.Failure != nil || len(readEvents(t, store, testKey)) != 0 {
			t.Errorf("the fenced one left %+v and %v", found, readEvents(t, store, testKey))
		}
		create(t, store, fresh, sampleAccount())
	}},
	// Work that takes longer than a lease goes on only by renewing. The first lease
	// is long enough for a slow machine to renew it in time, and the second so long
	// that the claim can only be free if the renewal was not kept.
	{"a renewed lease lasts", func(t *testing.T, store landfall.Store) {
		staged(t, store, testKey.External)
		short := claimRequest(testKey)
		short.Lease = 2 * time.Second
		mine := claimFor(t, store, short, landfall.ClaimGranted)
		mine.Lease = time.Hour
		if err := store.Renew(t.Context(), mine); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(short.Lease + 100*time.Millisecond); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
			claimFor(t, store, claimRequest(testKey), landfall.ClaimTaken)
		}
	}},
	// That a lease has ended takes nothing away by itself; that somebody else has the
	// process does. To refuse here would throw away finished work that nobody else
	// has begun. The second creation is what comes when the answer of the first was
	// lost.
	{"a lease that ended unnoticed still creates, once", func(t *testing.T, store landfall.Store) {
		staged(t, store, testKey.External)
		short := claimRequest(testKey)
		short.Lease = 30 * time.Millisecond
		mine := claimFor(t, store, short, landfall.ClaimGranted)
		expire(t, store, testKey)
		create(t, store, mine, sampleAccount())
		outcome, err := store.Create(t.Context(), landfall.Creation{Claim: mine, Account: sampleAccount()})
		if err != nil || outcome.Verdict != landfall.CreateFenced {
			t.Errorf("creating again: %+v, %v", outcome, err)
		}
	}},
	// The failure is all that people have to mend an account by, so it comes back
	// whole, with the place of every violation. An attempt that found nothing wrong
	// takes it away again: a list that keeps what was mended is a list that nobody
	// believes.
	{"a released claim can be claimed again and keeps its failure", func(t *testing.T, store landfall.Store) {
		staged(t, store, testKey.External)
		failure := landfall.Failure{Code: "account_failed_validation", Detail: "No.", DryRun: true, Violations: []landfall.Violation{{Code: "c", Attr: "customers.0.landline", Detail: "d"}}}
		failed := landfall.Attempt{Failure: &failure, Event: landfall.Event{Type: landfall.EventDryRunFailed, Details: map[string]string{"code": "c"}}}
		if err := store.Release(t.Context(), claimFor(t, store, claimRequest(testKey), landfall.ClaimGranted), failed); err != nil {
			t.Fatal(err)
		}
		found := readProcess(t, store, testKey)
		if found.State != landfall.Staged || found.Failure == nil {
			t.Fatalf("got %+v", found)
		}
		recent(t, found.Failure.At)
		failure.At = found.Failure.At
		same(t, *found.Failure, failure)
		again := claimFor(t, store, claimRequest(testKey), landfall.ClaimGranted)
		if err := store.Release(t.Context(), again, landfall.Attempt{Event: landfall.Event{Type: landfall.EventDryRunCompleted}}); err != nil {
			t.Fatal(err)
		}
		if found := readProcess(t, store, testKey); found.Failure != nil {
			t.Errorf("the failure stays: %+v", found.Failure)
		}
		kept := readEvents(t, store, testKey)
		if len(kept) != 2 || kept[0].Type != landfall.EventDryRunFailed || kept[0].Details["code"] != "c" || kept[1].Type != landfall.EventDryRunCompleted {
			t.Errorf("events %+v", kept)
		}
	}},
	// A limit that each replica counted for itself would grow with the number of
	// replicas, and one that was read before it was used would be passed by all who
	// read it at once.
	{"claims never exceed the supplier's limit", func(t *testing.T, store landfall.Store) {
		claimUnderLimits(t, store, 5, 0)
	}},
	// The supplier has no limit here, so nothing else can hold the callers back: the
	// limit that comes with the request has to count by itself.
	{"claims never exceed the service's limit", func(t *testing.T, store landfall.Store) {
		claimUnderLimits(t, store, 0, 7)
	}},
	// An operator who lowers one of the two expects to have less at once, whichever
	// it is.
	{"of two limits the lower one counts", func(t *testing.T, store landfall.Store) {
		claimUnderLimits(t, store, 3, 7)
	}},
	// A place that a dead holder kept would be lost for ever, and in the end nobody
	// could create anything. The limit is one, so that a single lost place is seen at
	// once.
	{"an ended lease and a released claim give their places back", func(t *testing.T, store landfall.Store) {
		staged(t, store, "1", "2", "3")
		setLimit(t, store, 1)
		own := func(number string) landfall.ClaimRequest {
			return claimRequest(landfall.Key{Supplier: supplierCode, External: number})
		}
		short := own("1")
		short.Lease = 30 * time.Millisecond
		claimFor(t, store, short, landfall.ClaimGranted)
		expire(t, store, short.Key)
		second := claimFor(t, store, own("2"), landfall.ClaimGranted)
		claimFor(t, store, own("3"), landfall.ClaimOverLimit)
		// Both would be true; that the account is under way says more than that there
		// is no room.
		claimFor(t, store, own("2"), landfall.ClaimTaken)
		if err := store.Release(t.Context(), second, landfall.Attempt{Event: landfall.Event{Type: landfall.EventImportFailed}}); err != nil {
			t.Fatal(err)
		}
		create(t, store, claimFor(t, store, own("3"), landfall.ClaimGranted), sampleAccount())
		claimFor(t, store, own("2"), landfall.ClaimGranted)
	}},
}

// claimUnderLimits lets 64 callers claim different processes under limits, and checks
// that exactly as many are granted as the lower limit allows.
func claimUnderLimits(t *testing.T, store landfall.Store, supplier, service int) {
	var numbers []string
	for number := range 64 {
		// Each caller has an account of his own, so nothing but the limit can refuse
		// him.
		numbers = append(numbers, fmt.Sprint(number))
	}
	staged(t, store, numbers...)
	setLimit(t, store, supplier)
	var granted, over atomic.Int32
	atOnce(64, func(number int) {
		request := claimRequest(landfall.Key{Supplier: supplierCode, External: numbers[number]})
		request.ServiceLimit = service
		outcome, err := store.Claim(t.Context(), request)
		switch {
		case err != nil:
			t.Error(err)
		case outcome.Verdict == landfall.ClaimGranted:
			granted.Add(1)
		case outcome.Verdict == landfall.ClaimOverLimit:
			over.Add(1)
		}
	})
	most := int32(supplier)
	if most == 0 || service > 0 && service < supplier {
		most = int32(service)
	}
	if granted.Load() != most || over.Load() != 64-most {
		t.Errorf("%d granted and %d over the limit, want %d granted", granted.Load(), over.Load(), most)
	}
}
