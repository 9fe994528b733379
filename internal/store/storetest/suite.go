// Package storetest is a conformance suite for implementations of
// landfall.Store. Every promise in the comments of the port has a case here, and
// so has every difference between databases that a store must hide.
package storetest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"landfall"
)

// promiseCheck is one promise and the case that checks it.
type promiseCheck struct {
	name string
	run  func(*testing.T, landfall.Store)
}

// Run checks every promise, each on a fresh store.
func Run(t *testing.T, open func(*testing.T) landfall.Store) {
	runChecks(t, open, [][]promiseCheck{
		searches, accountPages, wholeAccounts, dashboardFigures,
		transactionChecks, supplierChecks, packChecks, credentials, records, stagingChecks, identifierChecks, lists, races, databaseDifferences, claimChecks, creations, creationRaces, dryRuns, postings, postingRefusals, postingRaces,
		failures, vendors, quotas, families, revocations, mailChecks, sharedMails, eventLogs, webhooks, targets, runs, runSlices, optimisticClaims, undos, tallies, reconciliations, restoredCopies, operators, audits, erasures, retentions, runRetentions, eventRetentions,
	})
}

// RunSealed checks the promises about personal data, for a store that encrypts
// it.
func RunSealed(t *testing.T, open func(*testing.T) landfall.Store) {
	runChecks(t, open, [][]promiseCheck{
		searches, accountPages, wholeAccounts, stagingChecks, identifierChecks, creations, creationRaces, postings, postingRefusals, postingRaces, failures, mailChecks, sharedMails, targets, operators, erasures, retentions,
	})
}

// runChecks gives every case its own store and runs cases in parallel: many of
// them wait for leases or for each other's locks.
func runChecks(t *testing.T, open func(*testing.T) landfall.Store, parts [][]promiseCheck) {
	for _, checks := range parts {
		for _, check := range checks {
			t.Run(check.name, func(t *testing.T) {
				t.Parallel()
				check.run(t, open(t))
			})
		}
	}
}

// These are the names that most cases use.
const (
	supplierCode = "ACME"
	organisation = "Acme Imports"
)

// testKey is the account of most cases.
var testKey = landfall.Key{Supplier: supplierCode, External: "A-1"}

// update runs an update that must succeed.
func update(t *testing.T, store landfall.Store, fn func(landfall.Tx) error) {
	t.Helper()
	if err := store.Update(t.Context(), fn); err != nil {
		t.Fatalf("Update: %v", err)
	}
}

// inView reads in one snapshot, as everything that shows an account does.
func inView(t *testing.T, store landfall.Store, fn func(landfall.View) error) {
	t.Helper()
	if err := store.View(t.Context(), fn); err != nil {
		t.Fatalf("View: %v", err)
	}
}

// wantError fails the test unless err is the promised error.
func wantError(t *testing.T, err, promised error) {
	t.Helper()
	if !errors.Is(err, promised) {
		t.Errorf("got error %v, want %v", err, promised)
	}
}

// createSupplier creates the supplier that most cases use.
func createSupplier(t *testing.T, store landfall.Store) {
	t.Helper()
	update(t, store, func(tx landfall.Tx) error {
		return tx.CreateSupplier(t.Context(), landfall.NewSupplier(supplierCode))
	})
}

// setStatus changes the supplier's status, as an operator does.
func setStatus(ctx context.Context, store landfall.Store, status landfall.SupplierStatus) error {
	return store.Update(ctx, func(tx landfall.Tx) error {
		supplier, err := tx.Supplier(ctx, supplierCode)
		if err != nil {
			return err
		}
		supplier.Status = status
		// Read and save in one update: cases change the status while others
		// work, and must not overwrite newer settings with old ones.
		return tx.SaveSupplier(ctx, supplier)
	})
}

// newStaging returns a staging whose content is distinguished by a text.
func newStaging(key landfall.Key, content string) landfall.Staging {
	text := fmt.Appendf(nil, `{"content": %q}`, content)
	return landfall.Staging{Key: key, Document: text, Hash: sha256.Sum256(text)}
}

// stage stages and compares the verdict and the revision.
func stage(t *testing.T, store landfall.Store, staging landfall.Staging, verdict landfall.StageVerdict, revision int) {
	t.Helper()
	outcome, err := store.Stage(t.Context(), staging)
	if err != nil {
		t.Fatalf("Stage: %v", err)
	}
	if outcome.Verdict != verdict || outcome.Revision != revision {
		t.Errorf("Stage(%v) = %+v, want verdict %d, revision %d", staging.Key, outcome, verdict, revision)
	}
}

// readProcess returns the process of an account.
func readProcess(t *testing.T, store landfall.Store, key landfall.Key) (found landfall.Process) {
	t.Helper()
	inView(t, store, func(view landfall.View) (err error) {
		found, err = view.Process(t.Context(), key)
		return err
	})
	return found
}

// readRevisions returns the staged revisions, oldest first.
func readRevisions(t *testing.T, store landfall.Store, key landfall.Key) (found []landfall.StagedRevision) {
	t.Helper()
	inView(t, store, func(view landfall.View) (err error) {
		found, err = view.Revisions(t.Context(), key)
		return err
	})
	return found
}

// externals lists the external numbers that a query returns.
func externals(t *testing.T, store landfall.Store, query landfall.ProcessQuery) []string {
	t.Helper()
	var found []string
	for entry, err := range store.List(t.Context(), query) {
		if err != nil {
			t.Fatalf("List: %v", err)
		}
		found = append(found, entry.External)
	}
	return found
}

// atOnce runs fn in parallel as many times as given and waits for all.
func atOnce(times int, fn func(number int)) {
	var all sync.WaitGroup
	start := make(chan struct{})
	for number := range times {
		all.Go(func() {
			<-start
			fn(number)
		})
	}
	// By now all of them wait for this, or soon will. Started one by one, the
	// first would often be done before the last begins, and they would not
	// overlap.
	close(start)
	all.Wait()
}

// recent fails the test unless an instant is about now.
func recent(t *testing.T, at time.Time) {
	t.Helper()
	// The instant comes from the database's clock and is compared with this
	// program's, so it may be before or after now.
	if age := time.Since(at); age < -time.Minute || age > time.Minute || at.Location() != time.UTC {
		t.Errorf("%v is not now in UTC", at)
	}
}
