package storetest

import (
	"strings"
	"testing"
	"time"

	"landfall"
)

// recordIsNeverPurged purges everything that may be purged, again and again.
func recordIsNeverPurged(t *testing.T, store landfall.Store) {
	staged(t, store, "1")
	create(t, store, claimFor(t, store, claimRequest(numbered("1")), landfall.ClaimGranted), sampleAccount())
	setRetention(t, store, landfall.Retention{Staged: shortRetention, Failures: shortRetention, Mails: shortRetention}, 0)
	for range 2 {
		if gone := purge(t, store, false); gone != (landfall.PurgeCounts{}) {
			t.Errorf("%+v", gone)
		}
	}
	if found := readWholeAccount(t, store, numbered("1")); string(found.Record) != string(newStaging(numbered("1"), "1").Document) {
		t.Errorf("%+v", found)
	}
	outcome, err := store.Stage(t.Context(), newStaging(numbered("1"), "1"))
	if err != nil || outcome.Verdict != landfall.RefusedImported || !outcome.SameDocument {
		t.Errorf("%+v, %v", outcome, err)
	}
	checkInspection(t, store)
}

// undoneAfterAPurge raises the undo window after a purge. Undoing the account used to
// leave nothing to create it from: the purge had removed its document.
func undoneAfterAPurge(t *testing.T, store landfall.Store) {
	staged(t, store, "1")
	create(t, store, claimFor(t, store, claimRequest(numbered("1")), landfall.ClaimGranted), sampleAccount())
	setRetention(t, store, landfall.Retention{Staged: shortRetention}, 0)
	purge(t, store, false)
	setRetention(t, store, landfall.Retention{}, time.Hour)
	undo(t, store, landfall.UndoRequest{Key: numbered("1")}, landfall.Undone)
	again := claimFor(t, store, claimRequest(numbered("1")), landfall.ClaimGranted)
	create(t, store, again, sampleAccount())
	checkTallies(t, store)
	checkInspection(t, store)
}

// unskippedWithoutDocument removes a skip mark after the document was purged. The
// account was pending and could never be created, and no list said why.
func unskippedWithoutDocument(t *testing.T, store landfall.Store) {
	staged(t, store, "1")
	skip(t, store, numbered("1"))
	setRetention(t, store, landfall.Retention{Staged: shortRetention}, 0)
	purge(t, store, false)
	update(t, store, func(tx landfall.Tx) error { return tx.Unskip(t.Context(), numbered("1")) })
	wantEqual(t, failedNumbers(t, store, landfall.FailureQuery{}), []string{"1 false " + landfall.CodeProcessUnknown})
	checkTallies(t, store)
	checkInspection(t, store)
}

// lateReplyAfterErasure settles mails after their account was erased. A reply that
// names the address used to be stored in the erased row, which is never purged
// again.
func lateReplyAfterErasure(t *testing.T, store landfall.Store) {
	staged(t, store, testKey.External)
	enableMails(t, store, supplierCode)
	createWithMails(t, store, testKey, "sent@mail.co.uk", "refused@mail.co.uk", "again@mail.co.uk")
	claimed := claimMails(t, store, mailDemand)
	if len(claimed) != 3 {
		t.Fatalf("claimed %+v", claimed)
	}
	erase(t, store, testKey)
	for _, mail := range claimed {
		reply := "250 2.1.5 <" + mail.To + "> ok"
		switch mail.To {
		case "sent@mail.co.uk":
			settle(t, store, mail, landfall.MailResult{State: landfall.MailSent, Reply: reply}, nil)
		case "refused@mail.co.uk":
			settle(t, store, mail, landfall.MailResult{State: landfall.MailRefused, Reply: reply}, landfall.ErrFenced)
		default:
			settle(t, store, mail, landfall.MailResult{State: landfall.MailQueued, Reply: reply}, landfall.ErrFenced)
		}
	}
	states := map[landfall.MailState]int{}
	for _, mail := range mailsOf(t, store, testKey) {
		states[mail.State]++
		if mail.Reply != "" || !mail.RecipientRemoved || strings.Contains(mail.To, "mail.co.uk") {
			t.Errorf("%+v", mail)
		}
	}
	wantEqual(t, states, map[landfall.MailState]int{landfall.MailSent: 1, landfall.MailWithdrawn: 2})
	checkInspection(t, store)
}
