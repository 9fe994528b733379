package storetest

import (
	"strings"
	"testing"
	"time"

	"landfall"
)

// documentGoneIsNotUndone raises the undo window after a document was purged.
// Undoing the account used to delete it and left nothing to create it from.
func documentGoneIsNotUndone(t *testing.T, store landfall.Store) {
	staged(t, store, "1")
	enableMails(t, store, supplierCode)
	run := choose(t, store, newRun(t, store, landfall.RunPlan{}).ID)
	slice := takeSlice(t, store, run.ID, time.Minute, 1)
	one := memberCreated(slice, 0, claimAll(t, store, slice)[0])
	one.Creation.Mails = []landfall.Mail{{Kind: landfall.MailMigrated, To: "ada@mail.co.uk"}}
	settleSlice(t, store, slice, landfall.Settlement{Created: []landfall.RunCreation{one}})
	setRetention(t, store, landfall.Retention{Staged: shortRetention}, 0)
	if gone := purge(t, store, false); gone != (landfall.PurgeCounts{Documents: 1}) {
		t.Fatalf("%+v", gone)
	}
	setWindow(t, store, time.Hour)
	inView(t, store, func(view landfall.View) error {
		forecast, err := view.UndoForecast(t.Context(), run.ID, 0, 10)
		wantEqual(t, forecast, landfall.UndoForecast{Kept: map[landfall.KeptReason]int{landfall.KeptDocumentGone: 1}})
		return err
	})
	outcome := undo(t, store, landfall.UndoRequest{Key: numbered("1")}, landfall.UndoKept)
	if outcome.Kept != landfall.KeptDocumentGone || outcome.Number == "" {
		t.Errorf("%+v", outcome)
	}
	if found := readProcess(t, store, numbered("1")); found.State != landfall.Imported {
		t.Errorf("%+v", found)
	}
	// Its mail is still queued: nothing of the account was changed.
	if mails := mailsOf(t, store, numbered("1")); len(mails) != 1 || mails[0].State != landfall.MailQueued {
		t.Errorf("%+v", mails)
	}
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
