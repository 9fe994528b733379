package storetest

import (
	"errors"
	"testing"
	"time"

	"landfall"
)

// unlimitedRate is a rate per minute that delays no mail.
const unlimitedRate = 60_000

// mailDemand asks for more mails than any case has.
var mailDemand = landfall.MailRequest{Max: 100, PerMinute: unlimitedRate, Lease: time.Minute}

// enableMails turns on mails for suppliers.
func enableMails(t *testing.T, store landfall.Store, codes ...string) {
	t.Helper()
	for _, code := range codes {
		update(t, store, func(tx landfall.Tx) error {
			supplier, err := tx.Supplier(t.Context(), code)
			if err != nil {
				return err
			}
			supplier.SendCustomerEmails = true
			return tx.SaveSupplier(t.Context(), supplier)
		})
	}
}

// createWithMails creates an account with mails to addresses.
func createWithMails(t *testing.T, store landfall.Store, key landfall.Key, addresses ...string) landfall.CreateOutcome {
	t.Helper()
	creation := landfall.Creation{Claim: claimFor(t, store, claimRequest(key), landfall.ClaimGranted), Account: sampleAccount()}
	for _, address := range addresses {
		creation.Mails = append(creation.Mails, landfall.Mail{Kind: landfall.MailMigrated, To: address, Language: "cy"})
	}
	outcome, err := store.Create(t.Context(), creation)
	if err != nil || outcome.Verdict != landfall.Created {
		t.Fatalf("Create(%v) = %+v, %v", key, outcome, err)
	}
	return outcome
}

// claimMails claims mails that are due.
func claimMails(t *testing.T, store landfall.Store, demand landfall.MailRequest) []landfall.OutgoingMail {
	t.Helper()
	supply, err := store.ClaimMails(t.Context(), demand)
	if err != nil {
		t.Fatalf("TakeMails: %v", err)
	}
	return supply.Mails
}

// settle settles a mail with the token of its claim, and compares the error.
func settle(t *testing.T, store landfall.Store, mail landfall.OutgoingMail, result landfall.MailResult, promised error) {
	t.Helper()
	result.ID, result.Token = mail.ID, mail.Token
	wantError(t, store.SettleMail(t.Context(), result), promised)
}

// mailsOf returns an account's mails as an operator sees them.
func mailsOf(t *testing.T, store landfall.Store, key landfall.Key) (found []landfall.MailRecord) {
	t.Helper()
	inView(t, store, func(view landfall.View) (err error) {
		found, err = view.MailsOf(t.Context(), key)
		return err
	})
	return found
}

// retract does what an undo does with the mails.
func retract(t *testing.T, store landfall.Store, key landfall.Key) (told bool) {
	t.Helper()
	update(t, store, func(tx landfall.Tx) (err error) {
		told, err = tx.RetractMails(t.Context(), key)
		return err
	})
	return told
}

// mailChecks are about mails to customers, who notice every mistake: a mail is
// sent once, with the data from when the account was created, or its record says
// why it was not.
var mailChecks = []promiseCheck{
	// A customer who gets the same mail twice doubts both. A mail names only
	// the people with exactly its address, ignoring case, since a mail to one
	// member of a household must not greet another.
	{"a mail is claimed with its data, settled, and never claimed again", func(t *testing.T, store landfall.Store) {
		staged(t, store, testKey.External)
		enableMails(t, store, supplierCode)
		made := createWithMails(t, store, testKey, "ADA@mail.co.uk", "other@mail.co.uk")
		if due, err := store.MailsDue(t.Context()); !due || err != nil {
			t.Errorf("due %v, %v", due, err)
		}
		taken := claimMails(t, store, mailDemand)
		if len(taken) != 2 {
			t.Fatalf("took %+v", taken)
		}
		mail := taken[0]
		if mail.To != "ADA@mail.co.uk" || mail.Key != testKey || mail.AccountNumber != made.Number || mail.Kind != landfall.MailMigrated ||
			mail.Language != "cy" || mail.SupplierName != supplierCode || mail.Token == "" || !mail.CreatedAt.Equal(made.At) || mail.State != landfall.MailSending {
			t.Errorf("took %+v", mail)
		}
		wantEqual(t, mail.Customers, []landfall.Customer{{Title: "Ms", GivenName: "Ada", FamilyName: "Lovelace", Email: "ada@mail.co.uk"}})
		if len(taken[1].Customers) != 0 {
			t.Errorf("the other is for %+v", taken[1].Customers)
		}
		settle(t, store, mail, landfall.MailResult{State: landfall.MailSent, Reply: "250 ok"}, nil)
		settle(t, store, taken[1], landfall.MailResult{State: landfall.MailRefused, Attempted: true, Reply: "550 no"}, nil)
		if again := claimMails(t, store, mailDemand); len(again) != 0 {
			t.Errorf("took %+v again", again)
		}
		if due, err := store.MailsDue(t.Context()); due || err != nil {
			t.Errorf("due %v, %v", due, err)
		}
		found := mailsOf(t, store, testKey)
		if len(found) != 2 || found[0].State != landfall.MailSent || found[0].Reply != "250 ok" || found[1].State != landfall.MailRefused ||
			found[1].Attempts != 1 || !found[1].DueAt.IsZero() || found[1].MayHaveArrived() || !found[0].MayHaveArrived() {
			t.Errorf("found %+v", found)
		}
		recent(t, found[0].QueuedAt)
		recent(t, found[1].SettledAt)
	}},
	// A mail server that says "later" must not be tried again at once, and a
	// mail that is never retried is lost. An attempt that ended without a reply
	// may have delivered the mail, and from then on the customer counts as
	// told.
	{"a postponed mail is due again after its pause", func(t *testing.T, store landfall.Store) {
		staged(t, store, testKey.External)
		enableMails(t, store, supplierCode)
		createWithMails(t, store, testKey, "a@mail.co.uk")
		first := claimMails(t, store, mailDemand)[0]
		settle(t, store, first, landfall.MailResult{State: landfall.MailQueued, Pause: time.Hour, Attempted: true, Reply: "450 later"}, nil)
		if early := claimMails(t, store, mailDemand); len(early) != 0 {
			t.Errorf("took %+v", early)
		}
		if found := mailsOf(t, store, testKey)[0]; found.State != landfall.MailQueued || found.Attempts != 1 || found.MayHaveArrived() || found.DueAt.Before(found.QueuedAt.Add(time.Hour)) {
			t.Errorf("found %+v", found)
		}
		update(t, store, func(tx landfall.Tx) error {
			// The operator can send it at once instead of waiting an hour, with
			// the attempts reset.
			return tx.SetMailState(t.Context(), first.ID, landfall.MailQueued, "")
		})
		second := claimMails(t, store, mailDemand)
		if len(second) != 1 || second[0].Attempts != 0 {
			t.Fatalf("took %+v", second)
		}
		settle(t, store, second[0], landfall.MailResult{State: landfall.MailQueued, Attempted: true, Uncertain: true}, nil)
		if found := mailsOf(t, store, testKey)[0]; !found.MayHaveArrived() {
			t.Errorf("nothing was indexed, but found %+v", found)
		}
	}},
	// It is unknown how far the dead sender got, so the mail is marked as
	// uncertain. If the sender turns out to be alive, its results are ignored,
	// except that the mail was sent: that is a fact whoever reports it, and it
	// prevents the next sender from sending the mail again.
	{"a mail whose sender died is claimed again and marked uncertain", func(t *testing.T, store landfall.Store) {
		staged(t, store, testKey.External)
		enableMails(t, store, supplierCode)
		createWithMails(t, store, testKey, "a@mail.co.uk")
		short := mailDemand
		// The sender is as good as dead: its lease ends before it can do
		// anything.
		short.Lease = time.Millisecond
		dead := claimMails(t, store, short)[0]
		time.Sleep(5 * time.Millisecond)
		next := claimMails(t, store, mailDemand)
		if len(next) != 1 || next[0].ID != dead.ID || next[0].Token == dead.Token || !next[0].Uncertain {
			t.Fatalf("took %+v", next)
		}
		settle(t, store, dead, landfall.MailResult{State: landfall.MailRefused}, landfall.ErrFenced)
		settle(t, store, dead, landfall.MailResult{State: landfall.MailQueued}, landfall.ErrFenced)
		settle(t, store, dead, landfall.MailResult{State: landfall.MailSent}, nil)
		settle(t, store, next[0], landfall.MailResult{State: landfall.MailQueued}, landfall.ErrFenced)
		if found := mailsOf(t, store, testKey)[0]; found.State != landfall.MailSent {
			t.Errorf("found %+v", found)
		}
	}},
	// An account may be undone and created again several times until it is
	// right, and the customer must hear of it only once. An address that was
	// refused is not tried again. Mails that were still queued are removed with
	// the first account and queued again with the second.
	{"an account created again mails nobody twice", func(t *testing.T, store landfall.Store) {
		staged(t, store, testKey.External)
		enableMails(t, store, supplierCode)
		createWithMails(t, store, testKey, "no@mail.co.uk", "waits@mail.co.uk")
		refused := claimMails(t, store, landfall.MailRequest{Max: 1, PerMinute: unlimitedRate, Lease: time.Minute})[0]
		settle(t, store, refused, landfall.MailResult{State: landfall.MailRefused, Reply: "550"}, nil)
		outcome, err := store.Undo(t.Context(), landfall.UndoRequest{Key: testKey, Reason: "mistake"})
		if err != nil || outcome.Verdict != landfall.Undone {
			t.Fatalf("undo: %+v, %v", outcome, err)
		}
		again := createWithMails(t, store, testKey, "no@mail.co.uk", "waits@mail.co.uk", "new@mail.co.uk")
		found := mailsOf(t, store, testKey)
		if len(found) != 3 || found[0].State != landfall.MailRefused || found[0].ID != refused.ID ||
			found[1].State != landfall.MailQueued || found[2].State != landfall.MailQueued || found[2].AccountNumber != again.Number {
			t.Errorf("found %+v", found)
		}
		if taken := claimMails(t, store, mailDemand); len(taken) != 2 {
			t.Errorf("took %+v", taken)
		}
		if outcome, err := store.Undo(t.Context(), landfall.UndoRequest{Key: testKey, Reason: "mistake"}); err != nil || outcome.Kept != landfall.KeptCustomersTold {
			t.Errorf("during the mailing: %+v, %v", outcome, err)
		}
	}},
	// The mails stay queued and are not lost. A complete supplier still sends its
	// remaining mails: its last accounts were created just before.
	{"a paused supplier and one without mails send none", func(t *testing.T, store landfall.Store) {
		staged(t, store, testKey.External)
		createWithMails(t, store, testKey, "a@mail.co.uk")
		if taken := claimMails(t, store, mailDemand); len(taken) != 0 {
			t.Errorf("took %+v while disabled", taken)
		}
		enableMails(t, store, supplierCode)
		if err := setStatus(t.Context(), store, landfall.Paused); err != nil {
			t.Fatal(err)
		}
		if due, err := store.MailsDue(t.Context()); due || err != nil {
			t.Errorf("due %v, %v", due, err)
		}
		if taken := claimMails(t, store, mailDemand); len(taken) != 0 {
			t.Errorf("took %+v while paused", taken)
		}
		if err := setStatus(t.Context(), store, landfall.Complete); err != nil {
			t.Fatal(err)
		}
		if taken := claimMails(t, store, mailDemand); len(taken) != 1 {
			t.Errorf("took %d when complete", len(taken))
		}
	}},
	// The undo of an account depends on this result. Reporting "told" too often
	// keeps accounts that could be undone. Reporting it too rarely leaves a
	// customer with a mail about an account that does not exist.
	{"an undo deletes only mails that cannot have arrived", func(t *testing.T, store landfall.Store) {
		staged(t, store, "1", "2", "3")
		enableMails(t, store, supplierCode)
		waiting, sending, refused := landfall.Key{Supplier: supplierCode, External: "1"}, landfall.Key{Supplier: supplierCode, External: "2"}, landfall.Key{Supplier: supplierCode, External: "3"}
		createWithMails(t, store, sending, "b@mail.co.uk")
		mail := claimMails(t, store, mailDemand)[0]
		createWithMails(t, store, waiting, "a@mail.co.uk")
		if retract(t, store, waiting) || len(mailsOf(t, store, waiting)) != 0 {
			t.Errorf("left %+v", mailsOf(t, store, waiting))
		}
		if !retract(t, store, sending) {
			t.Error("a mail being sent was deleted")
		}
		settle(t, store, mail, landfall.MailResult{State: landfall.MailSent}, nil)
		if !retract(t, store, sending) || len(mailsOf(t, store, sending)) != 1 {
			t.Error("a mail that was sent was deleted")
		}
		createWithMails(t, store, refused, "c@mail.co.uk", "d@mail.co.uk")
		taken := claimMails(t, store, landfall.MailRequest{Max: 1, PerMinute: unlimitedRate, Lease: time.Minute})
		settle(t, store, taken[0], landfall.MailResult{State: landfall.MailRefused}, nil)
		if retract(t, store, refused) {
			t.Error("a refused mail counts as arrived")
		}
		if left := mailsOf(t, store, refused); len(left) != 1 || left[0].State != landfall.MailRefused {
			t.Errorf("left %+v", left)
		}
	}},
	// An operator withdraws a mail because it must not be sent, so no sender
	// may claim it after the operator got the response. Once a sender has
	// claimed it, it is too late, and the operator must be told. A bounce
	// arrives long after the mail was sent, so a settled mail can still be
	// changed.
	{"an operator can cancel, retry and mark mails", func(t *testing.T, store landfall.Store) {
		staged(t, store, testKey.External)
		enableMails(t, store, supplierCode)
		createWithMails(t, store, testKey, "a@mail.co.uk", "b@mail.co.uk")
		decide := func(id int64, state landfall.MailState, promised error) {
			t.Helper()
			wantError(t, store.Update(t.Context(), func(tx landfall.Tx) error { return tx.SetMailState(t.Context(), id, state, "because") }), promised)
		}
		held := claimMails(t, store, landfall.MailRequest{Max: 1, PerMinute: unlimitedRate, Lease: time.Minute})[0]
		decide(held.ID, landfall.MailWithdrawn, landfall.ErrFenced)
		decide(held.ID+100, landfall.MailWithdrawn, landfall.ErrNotFound)
		decide(held.ID+1, landfall.MailWithdrawn, nil)
		if taken := claimMails(t, store, mailDemand); len(taken) != 0 {
			t.Errorf("took %+v", taken)
		}
		settle(t, store, held, landfall.MailResult{State: landfall.MailSent}, nil)
		decide(held.ID, landfall.MailBounced, nil)
		inView(t, store, func(view landfall.View) error {
			bounced, err := view.Mails(t.Context(), landfall.MailQuery{Supplier: supplierCode, State: landfall.MailBounced, Limit: 10})
			if len(bounced) != 1 || bounced[0].Reply != "because" || bounced[0].ID != held.ID {
				t.Errorf("bounced %+v", bounced)
			}
			all, err2 := view.Mails(t.Context(), landfall.MailQuery{After: held.ID, Limit: 10})
			if len(all) != 1 || all[0].State != landfall.MailWithdrawn {
				t.Errorf("after it %+v", all)
			}
			newest, err5 := view.Mails(t.Context(), landfall.MailQuery{Newest: true, Limit: 1})
			before, err6 := view.Mails(t.Context(), landfall.MailQuery{Newest: true, After: held.ID + 1, Limit: 10})
			if len(newest) != 1 || newest[0].ID != held.ID+1 || len(before) != 1 || before[0].ID != held.ID {
				t.Errorf("newest first %+v, then %+v", newest, before)
			}
			none, err3 := view.Mails(t.Context(), landfall.MailQuery{Supplier: "ELSE", Limit: 10})
			count, since, err4 := view.MailsWaiting(t.Context(), 10)
			if len(none) != 0 || count != 0 || !since.IsZero() {
				t.Errorf("%+v, %d since %v", none, count, since)
			}
			return errors.Join(err, err2, err3, err4, err5, err6)
		})
		decide(held.ID+1, landfall.MailQueued, nil)
		inView(t, store, func(view landfall.View) error {
			count, since, err := view.MailsWaiting(t.Context(), 10)
			if count != 1 {
				t.Errorf("%d wait", count)
			}
			recent(t, since)
			return err
		})
	}},
	// If several servers can send, one that promises a shorter time must not
	// shorten what another promised.
	{"mail can be sent for as long as the last server announced", func(t *testing.T, store landfall.Store) {
		until := func() (until time.Time) {
			inView(t, store, func(view landfall.View) error {
				found, err := view.MailSenderUntil(t.Context())
				until = found
				return err
			})
			return until
		}
		if until().After(time.Now().Add(-time.Hour)) {
			t.Errorf("promised until %v", until())
		}
		for _, length := range []time.Duration{time.Hour, time.Minute} {
			update(t, store, func(tx landfall.Tx) error { return tx.AnnounceMailSender(t.Context(), length) })
			recent(t, until().Add(-time.Hour))
		}
		update(t, store, func(tx landfall.Tx) error { return tx.AnnounceMailSender(t.Context(), 0) })
		if until().After(time.Now().Add(-time.Hour)) {
			t.Errorf("promised until %v", until())
		}
	}},
}
