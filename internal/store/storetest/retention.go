package storetest

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"landfall"
)

// shortRetention is a retention that ends at once.
const shortRetention = time.Microsecond

// setRetention sets the supplier's retention and undo window.
func setRetention(t *testing.T, store landfall.Store, keep landfall.Retention, window time.Duration) {
	t.Helper()
	update(t, store, func(tx landfall.Tx) error {
		supplier, err := tx.Supplier(t.Context(), supplierCode)
		if err != nil {
			return err
		}
		supplier.Retention, supplier.UndoWindow = keep, window
		return tx.SaveSupplier(t.Context(), supplier)
	})
}

// purge runs all steps of a purge.
func purge(t *testing.T, store landfall.Store, dryRun bool) (gone landfall.PurgeCounts) {
	t.Helper()
	for order := (landfall.PurgeRequest{Supplier: supplierCode, DryRun: dryRun}); ; {
		step, err := store.Purge(t.Context(), order)
		if err != nil {
			t.Fatalf("Purge(%+v): %v", order, err)
		}
		if gone.Add(step.Removed); step.Done {
			return gone
		}
		order.After = step.Next
	}
}

// checkInspection fails unless the inspection finds nothing.
func checkInspection(t *testing.T, store landfall.Store) {
	t.Helper()
	for seen, err := range store.Inspect(t.Context()) {
		if err != nil || seen.Finding != nil {
			t.Errorf("%+v, %v", seen.Finding, err)
		}
	}
}

// numbered returns a key of the supplier that most cases use.
func numbered(external string) landfall.Key {
	return landfall.Key{Supplier: supplierCode, External: external}
}

// skip marks an account as skipped.
func skip(t *testing.T, store landfall.Store, key landfall.Key) {
	t.Helper()
	update(t, store, func(tx landfall.Tx) error {
		_, err := tx.Skip(t.Context(), key, "no")
		return err
	})
}

// retentions delete data that was kept long enough. Only such data is deleted,
// data that is still needed stays however old it is, and it stays known that the
// data existed.
var retentions = []promiseCheck{
	// Suppliers are promised how long personal data is kept. The hash stays, to
	// prove what was staged. The account that is being created needs its document
	// right now: it is old enough, but it must stay.
	{"documents past their retention are removed, and their revisions stay", func(t *testing.T, store landfall.Store) {
		staged(t, store, "imported", "pending", "skipped", "claimed")
		imported := numbered("imported")
		stage(t, store, newStaging(imported, "other"), landfall.StagedAgain, 2)
		create(t, store, claimFor(t, store, claimRequest(imported), landfall.ClaimGranted), sampleAccount())
		skip(t, store, numbered("skipped"))
		busy := claimFor(t, store, claimRequest(numbered("claimed")), landfall.ClaimGranted)
		if gone := purge(t, store, false); gone != (landfall.PurgeCounts{}) {
			t.Errorf("%+v went that is kept for ever", gone)
		}
		setRetention(t, store, landfall.Retention{Staged: shortRetention}, 0)
		// The dry run comes first: it must count the same and leave everything
		// for the real purge.
		for _, dryRun := range []bool{true, false} {
			if gone := purge(t, store, dryRun); gone != (landfall.PurgeCounts{Documents: 3}) {
				t.Errorf("dry run %t: %+v", dryRun, gone)
			}
		}
		if gone := purge(t, store, false); gone != (landfall.PurgeCounts{}) {
			t.Errorf("%+v was sent twice", gone)
		}
		kept := readRevisions(t, store, imported)
		if len(kept) != 2 || kept[0].Hash != newStaging(imported, "imported").Hash || kept[1].Hash != newStaging(imported, "other").Hash {
			t.Errorf("%+v", kept)
		}
		recent(t, kept[0].RemovedAt)
		recent(t, kept[0].StagedAt)
		// The revision that the account was created from is its record.
		if kept[0].Document != nil || string(kept[1].Document) != string(newStaging(imported, "other").Document) || !kept[1].RemovedAt.IsZero() {
			t.Errorf("%+v", kept)
		}
		// The purge ran while the claim was held, and must not have affected the
		// creation.
		create(t, store, busy, sampleAccount())
		checkTallies(t, store)
		checkInspection(t, store)
	}},
	// No documented field may exist only until a purge.
	{"the record of a created account is never purged", recordIsNeverPurged},
	{"an account that is undone after a purge can be created again", undoneAfterAPurge},
	{"an account that is unskipped without a document fails", unskippedWithoutDocument},
	// Such an account is pending but can never be created, and without a
	// failure it would not be visible why. The same content must become a new
	// revision this time: compared by its hash alone it would be "nothing new",
	// and the document would never come back.
	{"an account whose document was purged fails until it is staged again", func(t *testing.T, store landfall.Store) {
		staged(t, store, "1", "2")
		one, two := numbered("1"), numbered("2")
		skip(t, store, two)
		setRetention(t, store, landfall.Retention{Staged: shortRetention}, 0)
		purge(t, store, false)
		found := readProcess(t, store, one)
		if found.State != landfall.Staged || found.Revision != 1 || found.Failure == nil || !strings.Contains(found.Failure.Detail, "Stage it again") {
			t.Errorf("%+v", found)
		}
		wantEqual(t, failedNumbers(t, store, landfall.FailureQuery{}), []string{"1 false " + landfall.CodeProcessUnknown})
		update(t, store, func(tx landfall.Tx) error { return tx.Unskip(t.Context(), two) })
		for _, key := range []landfall.Key{one, two} {
			rehearsal := claimRequest(key)
			rehearsal.DryRun = true
			// Single claims and slices, real and dry runs use different
			// statements.
			for _, request := range []landfall.ClaimRequest{claimRequest(key), rehearsal} {
				claimFor(t, store, request, landfall.ClaimDocumentRemoved)
				outcomes, err := store.ClaimSlice(t.Context(), []landfall.ClaimRequest{request})
				if err != nil || len(outcomes) != 1 || outcomes[0].Verdict != landfall.ClaimDocumentRemoved {
					t.Errorf("%+v, %v", outcomes, err)
				}
			}
			// The same document is a new revision and can be processed.
			stage(t, store, newStaging(key, key.External), landfall.StagedAgain, 2)
			stage(t, store, newStaging(key, key.External), landfall.StagedAgain, 2)
		}
		// From here on everything is kept again, or the new document could be
		// purged before it is used.
		setRetention(t, store, landfall.Retention{}, 0)
		create(t, store, claimFor(t, store, claimRequest(one), landfall.ClaimGranted), sampleAccount())
		if kept := readRevisions(t, store, one); len(kept) != 2 || kept[0].Document != nil || kept[1].Document == nil {
			t.Errorf("%+v", kept)
		}
		checkTallies(t, store)
		checkInspection(t, store)
	}},
	// An undone account is pending again and will be created from its document.
	// The undo window therefore keeps documents longer than their own
	// retention.
	{"documents that are too new or needed for an undo stay", func(t *testing.T, store landfall.Store) {
		staged(t, store, "imported", "pending")
		create(t, store, claimFor(t, store, claimRequest(numbered("imported")), landfall.ClaimGranted), sampleAccount())
		for _, keep := range []landfall.Retention{
			{Staged: time.Hour, Failures: time.Hour, Mails: time.Hour}, {Failures: shortRetention, Mails: shortRetention},
		} {
			setRetention(t, store, keep, time.Hour)
			if gone := purge(t, store, false); gone != (landfall.PurgeCounts{}) {
				t.Errorf("%+v: %+v", keep, gone)
			}
		}
		setRetention(t, store, landfall.Retention{Staged: shortRetention}, time.Hour)
		if gone := purge(t, store, true); gone != (landfall.PurgeCounts{}) {
			t.Errorf("%+v", gone)
		}
		_, err := store.Purge(t.Context(), landfall.PurgeRequest{Supplier: "NONE"})
		wantError(t, err, landfall.ErrNotFound)
	}},
	// The text may quote a person, the codes and positions cannot. Lists and
	// groups of failures are built from codes, so an old failure is still
	// listed as before.
	{"old failures lose their texts and keep their codes", func(t *testing.T, store landfall.Store) {
		const canary = "Kanarienvogel"
		staged(t, store, "failed", "skipped")
		words := landfall.Failure{Code: "x", Detail: canary, Violations: []landfall.Violation{{Code: "v", Attr: "a.0", Detail: canary}}}
		fail(t, store, numbered("failed"), words)
		fail(t, store, numbered("skipped"), words)
		skip(t, store, numbered("skipped"))
		refuse(t, store, "refused", "y")
		setRetention(t, store, landfall.Retention{Failures: shortRetention}, time.Hour)
		before := failedNumbers(t, store, landfall.FailureQuery{})
		for _, dryRun := range []bool{true, false} {
			if gone := purge(t, store, dryRun); gone.Failures < 2 || gone.Documents+gone.Mails > 0 {
				t.Errorf("dry run %t: %+v", dryRun, gone)
			}
		}
		if gone := purge(t, store, false); gone != (landfall.PurgeCounts{}) {
			t.Errorf("%+v was sent twice", gone)
		}
		wantEqual(t, failedNumbers(t, store, landfall.FailureQuery{}), before)
		for _, key := range []landfall.Key{numbered("failed"), numbered("skipped")} {
			wantEqual(t, readProcess(t, store, key).Failure.Violations, []landfall.Violation{{Code: "v", Attr: "a.0"}})
			if text := readAllText(t, store, key); strings.Contains(text, canary) {
				t.Errorf("left over: %s", text)
			}
		}
		checkTallies(t, store)
		checkInspection(t, store)
	}},
	// It must stay known that a customer was told, because such an account is
	// not undone. A reply may repeat the address, so it is deleted too. A mail
	// that is still queued needs its address however old it is.
	{"old mails lose their recipients", func(t *testing.T, store landfall.Store) {
		staged(t, store, testKey.External)
		enableMails(t, store, supplierCode)
		createWithMails(t, store, testKey, "a@mail.co.uk", "b@mail.co.uk")
		sent := claimMails(t, store, landfall.MailRequest{Max: 1, PerMinute: unlimitedRate, Lease: time.Minute})[0]
		settle(t, store, sent, landfall.MailResult{State: landfall.MailSent, Reply: "250 a@mail.co.uk"}, nil)
		setRetention(t, store, landfall.Retention{Mails: shortRetention}, 0)
		for _, dryRun := range []bool{true, false} {
			if gone := purge(t, store, dryRun); gone != (landfall.PurgeCounts{Mails: 1}) {
				t.Errorf("dry run %t: %+v", dryRun, gone)
			}
		}
		found := mailsOf(t, store, testKey)
		if len(found) != 2 || strings.Contains(found[0].To+found[0].Reply, "@") || !found[0].RecipientRemoved || !found[0].MayHaveArrived() || found[0].SettledAt.IsZero() {
			t.Errorf("%+v", found)
		}
		// A mail that is still to be sent must keep everything.
		if waits := found[1]; waits.To != "b@mail.co.uk" || waits.RecipientRemoved {
			t.Errorf("%+v", waits)
		}
		checkInspection(t, store)
	}},
	// A purge of years of data must never block today's work, so each step is
	// bounded and skips locked rows. Skipped rows are found the next time: in the
	// end nothing may be left.
	{"a purge runs in steps during stagings and creations", func(t *testing.T, store landfall.Store) {
		const many = 450 // more than two steps
		staged(t, store)
		setRetention(t, store, landfall.Retention{Staged: shortRetention}, 0)
		atOnce(callerCount, func(number int) {
			for i := number; i < many; i += callerCount {
				own := numbered(fmt.Sprint(i))
				if _, err := store.Stage(t.Context(), newStaging(own, own.External)); err != nil {
					t.Error(err)
				}
				outcome, err := store.Claim(t.Context(), claimRequest(own))
				// Many callers run at once, so an overloaded store is not an
				// error in this case.
				if err != nil && !errors.Is(err, landfall.ErrUnavailable) {
					t.Error(err)
				}
				if err == nil && outcome.Verdict == landfall.ClaimGranted && i%3 == 0 {
					made, err := store.Create(t.Context(), landfall.Creation{Claim: outcome.Claim, Account: sampleAccount()})
					if err != nil || made.Verdict != landfall.Created {
						t.Errorf("%+v, %v", made, err)
					}
				} else if err == nil && outcome.Verdict == landfall.ClaimGranted {
					if err := store.Release(t.Context(), outcome.Claim, landfall.Attempt{Event: landfall.Event{Type: landfall.EventImportFailed}}); err != nil {
						t.Error(err)
					}
				}
				if number == 0 {
					if _, err := store.Purge(t.Context(), landfall.PurgeRequest{Supplier: supplierCode}); err != nil {
						t.Error(err)
					}
				}
			}
		})
		steps := 0
		for order := (landfall.PurgeRequest{Supplier: supplierCode}); ; steps++ {
			step, err := store.Purge(t.Context(), order)
			if err != nil || step.Removed.Documents > 400 {
				t.Fatalf("%+v, %v", step, err)
			}
			if step.Done {
				break
			}
			order.After = step.Next
		}
		if steps < 4 || purge(t, store, false) != (landfall.PurgeCounts{}) {
			t.Errorf("after %d steps something is left", steps)
		}
		for i := range many {
			key := numbered(fmt.Sprint(i))
			created := readProcess(t, store, key).State == landfall.Imported
			for _, revision := range readRevisions(t, store, key) {
				if (revision.Document != nil) != created { // only the records stay
					t.Fatalf("account %d has %+v", i, revision)
				}
			}
		}
		checkTallies(t, store)
		checkInspection(t, store)
	}},
}
