package storetest

import (
	"bytes"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"landfall"
)

// teamName is the team of most cases. A creation needs one.
const teamName = "Migration Team"

// staged creates a supplier, a team and staged processes with these numbers.
func staged(t *testing.T, store landfall.Store, numbers ...string) {
	t.Helper()
	createSupplier(t, store)
	update(t, store, func(tx landfall.Tx) error { return tx.CreateTeam(t.Context(), teamName) })
	for _, number := range numbers {
		own := landfall.Key{Supplier: supplierCode, External: number}
		stage(t, store, newStaging(own, number), landfall.StagedFirst, 1)
	}
}

// claimRequest asks for a lease of one minute. No case takes that long, so a
// lease ends only if the case ends it.
func claimRequest(key landfall.Key) landfall.ClaimRequest {
	return landfall.ClaimRequest{Key: key, Team: teamName, Lease: time.Minute}
}

// claimFor requests a claim and compares the verdict.
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

// expire waits until a claim has expired by the database's clock.
func expire(t *testing.T, store landfall.Store, key landfall.Key) {
	t.Helper()
	// Poll the process instead of sleeping: only the database's clock decides
	// when a lease has ended, and this program's clock may be ahead of it.
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

// claimChecks are about who may create an account. At most one caller may, it
// gets everything it needs with the claim, and the claim of a dead holder ends by
// itself.
var claimChecks = []promiseCheck{
	// The holder of a claim creates the account from the document that came
	// with it and does not ask again. From an older document, a customer would
	// get an account that the supplier has corrected since. Refused callers
	// learn how much of the lease is left, so that they know when to come back.
	// The ten seconds of slack are for slow machines.
	{"a claim returns the staged document and is visible", func(t *testing.T, store landfall.Store) {
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
		// A revision accepted during a claim would be recorded as the newest,
		// but the account would be created from an older one.
		outcome, err := store.Stage(t.Context(), newStaging(testKey, "third"))
		if err != nil || outcome.Verdict != landfall.RefusedClaimed || outcome.LeaseLeft < 50*time.Second || outcome.LeaseLeft > time.Minute {
			t.Errorf("re-staging: %+v, %v", outcome, err)
		}
	}},
	{"a freed claim can be granted again, and its holder cannot create the account", func(t *testing.T, store landfall.Store) {
		staged(t, store, "1")
		key := landfall.Key{Supplier: supplierCode, External: "1"}
		first := claimFor(t, store, claimRequest(key), landfall.ClaimGranted)
		update(t, store, func(tx landfall.Tx) error { return tx.FreeClaim(t.Context(), key) })
		wantError(t, store.Update(t.Context(), func(tx landfall.Tx) error { return tx.FreeClaim(t.Context(), key) }), landfall.ErrNotFound)
		second := claimFor(t, store, claimRequest(key), landfall.ClaimGranted)
		wantError(t, store.Renew(t.Context(), first), landfall.ErrFenced)
		outcome, err := store.Create(t.Context(), landfall.Creation{Claim: first, Account: sampleAccount()})
		if err != nil || outcome.Verdict != landfall.CreateFenced {
			t.Errorf("creating with the freed claim: %+v, %v", outcome, err)
		}
		create(t, store, second, sampleAccount())
	}},
	// Each reason asks the caller for something else: to stage the account, to
	// remove a skip mark, to name an existing team, or to wait for the
	// operator. A single reason for all of them would leave people guessing,
	// and a refusal that changed the process would make them wait.
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
		// A caller that lost the response of a creation asks again and must get
		// the number. This also applies while the supplier is paused: otherwise
		// it would look as if the account had never been created.
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
			t.Errorf("a refused claim changed the state to %s", state)
		}
	}},
	// With two holders only one account could be written, but all the work before
	// the write would be done twice. Callers that come second are told that the
	// process is taken and get no error: being late needs no investigation.
	{"one of many concurrent claims is granted", func(t *testing.T, store landfall.Store) {
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
	// A replica that dies releases nothing, and one that was only suspended
	// wakes up and goes on as if nothing had happened. The first must not block
	// others forever, and the second must not overwrite the work of the next
	// holder. The token tells them apart.
	{"a lease ends by the database's clock, and its holder is fenced off", func(t *testing.T, store landfall.Store) {
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
			t.Errorf("the fenced caller stored %+v and %v", found, readEvents(t, store, testKey))
		}
		create(t, store, fresh, sampleAccount())
	}},
	// Work that takes longer than a lease depends on renewing it. The first
	// lease is long enough for a slow machine to renew in time. The second is
	// so long that the claim can be free only if the renewal was not stored.
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
	// An expired lease alone does not invalidate a claim; only a new holder
	// does. Refusing here would throw away finished work that no one else has
	// begun. The second creation simulates a caller that lost the first
	// response.
	{"a claim whose ended lease nobody took still creates, once", func(t *testing.T, store landfall.Store) {
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
	// The failure is all that people have to correct an account, so it is read
	// back in full, with the position of every violation. An attempt that finds
	// nothing wrong removes it: people stop trusting a list that keeps
	// corrected failures.
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
		wantEqual(t, *found.Failure, failure)
		again := claimFor(t, store, claimRequest(testKey), landfall.ClaimGranted)
		if err := store.Release(t.Context(), again, landfall.Attempt{Event: landfall.Event{Type: landfall.EventDryRunCompleted}}); err != nil {
			t.Fatal(err)
		}
		if found := readProcess(t, store, testKey); found.Failure != nil {
			t.Errorf("the failure was not cleared: %+v", found.Failure)
		}
		kept := readEvents(t, store, testKey)
		if len(kept) != 2 || kept[0].Type != landfall.EventDryRunFailed || kept[0].Details["code"] != "c" || kept[1].Type != landfall.EventDryRunCompleted {
			t.Errorf("events %+v", kept)
		}
	}},
	// A limit that each replica counted by itself would grow with the number of
	// replicas. A limit that was read first and applied later would be exceeded
	// by concurrent readers.
	{"claims never exceed the supplier's limit", func(t *testing.T, store landfall.Store) {
		claimUnderLimits(t, store, 5, 0)
	}},
	// The supplier has no limit here, so nothing else can hold the callers
	// back: the limit in the request must be enforced by itself.
	{"claims never exceed the service's limit", func(t *testing.T, store landfall.Store) {
		claimUnderLimits(t, store, 0, 7)
	}},
	// An operator who lowers either limit expects fewer concurrent claims.
	{"the lower of two limits applies", func(t *testing.T, store landfall.Store) {
		claimUnderLimits(t, store, 3, 7)
	}},
	// A slot kept by a dead holder would be lost forever, and in the end no
	// account could be created. The limit is one, so that a single lost slot
	// shows at once.
	{"an ended lease and a released claim free their slots", func(t *testing.T, store landfall.Store) {
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
		// Both answers would be true. That the account is in progress says more
		// than that the limit is reached.
		claimFor(t, store, own("2"), landfall.ClaimTaken)
		if err := store.Release(t.Context(), second, landfall.Attempt{Event: landfall.Event{Type: landfall.EventImportFailed}}); err != nil {
			t.Fatal(err)
		}
		create(t, store, claimFor(t, store, own("3"), landfall.ClaimGranted), sampleAccount())
		claimFor(t, store, own("2"), landfall.ClaimGranted)
	}},
}

// claimUnderLimits lets 64 callers claim different processes under limits, and
// checks that exactly as many are granted as the lower limit allows.
func claimUnderLimits(t *testing.T, store landfall.Store, supplier, service int) {
	var numbers []string
	for number := range 64 {
		// Each caller has its own account, so only the limit can refuse it.
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
