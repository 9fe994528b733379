package storetest

import (
	"sync/atomic"
	"testing"
	"time"

	"landfall"
)

// Every undo has a reason and an actor who answers for it.
const (
	undoReason = "the wrong tariff"
	undoActor  = "operator:ada"
)

// undo undoes an account and compares the verdict.
func undo(t *testing.T, store landfall.Store, undoing landfall.UndoRequest, verdict landfall.UndoVerdict) landfall.UndoOutcome {
	t.Helper()
	undoing.Actor, undoing.Reason = undoActor, undoReason
	outcome, err := store.Undo(t.Context(), undoing)
	if err != nil || outcome.Verdict != verdict {
		t.Fatalf("Undo(%v) = %+v, %v, want verdict %d", undoing.Key, outcome, err, verdict)
	}
	return outcome
}

// setWindow changes the supplier's undo window.
func setWindow(t *testing.T, store landfall.Store, window time.Duration) {
	t.Helper()
	update(t, store, func(tx landfall.Tx) error {
		supplier, err := tx.Supplier(t.Context(), supplierCode)
		if err != nil {
			return err
		}
		supplier.UndoWindow = window
		return tx.SaveSupplier(t.Context(), supplier)
	})
}

// undoneAccounts returns the records of an account's undos.
func undoneAccounts(t *testing.T, store landfall.Store, key landfall.Key) (found []landfall.UndoneAccount) {
	t.Helper()
	inView(t, store, func(view landfall.View) (err error) {
		found, err = view.UndoneAccounts(t.Context(), key)
		return err
	})
	return found
}

// wantGone fails the test unless there is no account under the key or the number,
// and the process is pending as it was staged.
func wantGone(t *testing.T, store landfall.Store, key landfall.Key, number string) {
	t.Helper()
	inView(t, store, func(view landfall.View) error {
		_, err := view.Account(t.Context(), key)
		wantError(t, err, landfall.ErrNotFound)
		_, err = view.AccountByNumber(t.Context(), number)
		wantError(t, err, landfall.ErrNotFound)
		return nil
	})
	found := readProcess(t, store, key)
	if found.State != landfall.Staged || found.AccountNumber != "" || !found.AccountCreatedAt.IsZero() || found.Failure != nil {
		t.Errorf("process %+v", found)
	}
}

// additions has one of each kind of data that can be added to an account.
var additions = map[string]func(landfall.AccountState) landfall.Additions{
	"a note": func(landfall.AccountState) landfall.Additions {
		return landfall.Additions{Notes: []landfall.Note{{Body: "late", HasBody: true}}}
	},
	"a statement": func(landfall.AccountState) landfall.Additions {
		return landfall.Additions{Statements: []landfall.Statement{{ID: "late"}}}
	},
	"a payment instruction": func(landfall.AccountState) landfall.Additions {
		return landfall.Additions{Instructions: []landfall.Instruction{{Vendor: "V", Reference: "late"}}}
	},
	"a transaction": func(books landfall.AccountState) landfall.Additions {
		return landfall.Additions{Entries: addEntries(books, payment("late", 1))}
	},
}

// undos restore the state before an account was created. What others already know
// about it, its number and its mails, is kept.
var undos = []promiseCheck{
	// A person may have written the number down before the account was undone
	// and ask about it years later: the number must lead to when, by whom and
	// why it was undone. The reason is for those who answer for it, and is not
	// sent to receivers of events.
	{"an undone account is staged as before, and its number leads to the undo", func(t *testing.T, store landfall.Store) {
		staged(t, store, testKey.External)
		before := readProcess(t, store, testKey)
		made := create(t, store, claimFor(t, store, claimRequest(testKey), landfall.ClaimGranted), sampleAccount())
		outcome := undo(t, store, landfall.UndoRequest{Key: testKey}, landfall.Undone)
		if outcome.Number != made.Number {
			t.Errorf("outcome %+v", outcome)
		}
		recent(t, outcome.At)
		wantGone(t, store, testKey, made.Number)
		wantEqual(t, readProcess(t, store, testKey), before)
		wantEqual(t, externals(t, store, landfall.ProcessQuery{Supplier: supplierCode, Filter: landfall.PendingProcesses}), []string{testKey.External})
		wantEqual(t, externals(t, store, landfall.ProcessQuery{Supplier: supplierCode, Filter: landfall.ImportedProcesses}), []string(nil))
		told := readEvents(t, store, testKey)
		if len(told) != 2 || told[1].Type != landfall.EventUndone || told[1].AccountNumber != made.Number || told[1].Details["reason"] != "" {
			t.Errorf("events %+v", told)
		}
		remains := landfall.UndoneAccount{Key: testKey, Number: made.Number, CreatedAt: made.At, UndoneAt: outcome.At, Actor: undoActor, Reason: undoReason}
		wantEqual(t, undoneAccounts(t, store, testKey), []landfall.UndoneAccount{remains})
		inView(t, store, func(view landfall.View) error {
			found, err := view.UndoneAccount(t.Context(), made.Number)
			wantEqual(t, found, remains)
			entries, err2 := view.Audit(t.Context(), testKey.Supplier+"/"+testKey.External)
			if len(entries) != 1 || entries[0].Action != "account.undo" || entries[0].Actor != undoActor || entries[0].Detail != made.Number+": "+undoReason {
				t.Errorf("audit %+v", entries)
			}
			_, unknown := view.UndoneAccount(t.Context(), "A-00000000")
			wantError(t, unknown, landfall.ErrNotFound)
			if err == nil {
				err = err2
			}
			return err
		})
	}},
	// The second account is smaller than the first in every part. A leftover
	// row of the first would appear on it, as an old address or a wrong charge.
	// The number must be the same, since it may be on a printed letter.
	{"an undone account can be staged and created again without data of the first", func(t *testing.T, store landfall.Store) {
		staged(t, store, testKey.External)
		first := create(t, store, claimFor(t, store, claimRequest(testKey), landfall.ClaimGranted), sampleAccount())
		undo(t, store, landfall.UndoRequest{Key: testKey}, landfall.Undone)
		stage(t, store, newStaging(testKey, "fixed"), landfall.StagedAgain, 2)
		small := sampleAccount()
		small.Data.Notes, small.Data.Statements, small.Data.Instructions, small.Data.SupplyAddresses = nil, nil, nil, nil
		small.Data.Customers, small.Data.PaymentSchedules, small.Data.BillingAddress = small.Data.Customers[:1], nil, landfall.Address{}
		small.Ledger, small.Balance = small.Ledger[:1], small.Ledger[0].Balance
		second := create(t, store, claimFor(t, store, claimRequest(testKey), landfall.ClaimGranted), small)
		wantEqual(t, second.Number, first.Number)
		want := small
		want.Key, want.Data.Key, want.Number, want.Revision, want.Team, want.CreatedAt = testKey, testKey, second.Number, 2, teamName, second.At
		wantEqual(t, readAccount(t, store, testKey), want)
		// Undo once more: each undo leaves a record. An undo of a run must not
		// undo an account that was created again since.
		undo(t, store, landfall.UndoRequest{Key: testKey, Run: "none-of-these"}, landfall.UndoNoAccount)
		undo(t, store, landfall.UndoRequest{Key: testKey}, landfall.Undone)
		lines := undoneAccounts(t, store, testKey)
		if len(lines) != 2 || lines[0].Number != first.Number || lines[1].Number != first.Number || lines[1].Run != "" ||
			!lines[0].CreatedAt.Equal(first.At) || !lines[1].CreatedAt.Equal(second.At) {
			t.Errorf("undone %+v", lines)
		}
		inView(t, store, func(view landfall.View) error {
			last, err := view.UndoneAccount(t.Context(), first.Number)
			wantEqual(t, last, lines[1])
			return err
		})
	}},
	// After the window others rely on the account. The supplier's current setting
	// counts, not the one at the creation, so an operator who needs more time can
	// extend it. Accounts kept for this reason are counted, since the count shows
	// whether the window is too short.
	{"an account is kept once its undo window is over", func(t *testing.T, store landfall.Store) {
		importAccounts(t, store, testKey.External)
		setWindow(t, store, 0)
		if outcome := undo(t, store, landfall.UndoRequest{Key: testKey}, landfall.UndoKept); outcome.Kept != landfall.KeptWindowOver || outcome.Number == "" {
			t.Errorf("outcome %+v", outcome)
		}
		readAccount(t, store, testKey)
		setWindow(t, store, time.Hour)
		undo(t, store, landfall.UndoRequest{Key: testKey}, landfall.Undone)
		inView(t, store, func(view landfall.View) error {
			gone, kept, err := view.UndoFigures(t.Context())
			wantEqual(t, gone, 1)
			wantEqual(t, kept, map[landfall.KeptReason]int{landfall.KeptWindowOver: 1})
			return err
		})
	}},
	// Additions came from other callers, who were told that they are stored. With
	// the account they would disappear without notice. Each kind is tested alone,
	// because each has its own table that an undo could forget to check.
	{"an account to which anything was added from elsewhere is kept", func(t *testing.T, store landfall.Store) {
		createSupplier(t, store)
		update(t, store, func(tx landfall.Tx) error { return tx.CreateTeam(t.Context(), teamName) })
		for name, add := range additions {
			own := landfall.Key{Supplier: supplierCode, External: name}
			stage(t, store, newStaging(own, name), landfall.StagedFirst, 1)
			create(t, store, claimFor(t, store, claimRequest(own), landfall.ClaimGranted), sampleAccount())
			post(t, store, landfall.Posting{Key: own, Decide: func(books landfall.AccountState) (landfall.Additions, error) {
				return add(books), nil
			}}, landfall.Posted)
			before := readAccount(t, store, own)
			if outcome := undo(t, store, landfall.UndoRequest{Key: own}, landfall.UndoKept); outcome.Kept != landfall.KeptHasPostings {
				t.Errorf("%s: outcome %+v", name, outcome)
			}
			wantEqual(t, readAccount(t, store, own), before)
			wantEqual(t, undoneAccounts(t, store, own), []landfall.UndoneAccount(nil))
		}
	}},
	// What one delivery brought goes back as one. A posting from elsewhere keeps
	// exactly its account, also when the delivery posted to it as well.
	{"an undo takes back what the same delivery added", undoDelivery},
	{"an undo with all postings needs them to be saved", undoAllPostings},
	// Callers repeat postings that already exist. If that alone kept the
	// account, a mere repetition would prevent the operator's undo.
	{"a posting that added nothing does not prevent an undo", func(t *testing.T, store landfall.Store) {
		importAccounts(t, store, testKey.External)
		post(t, store, landfall.Posting{Key: testKey, Decide: func(landfall.AccountState) (landfall.Additions, error) {
			return landfall.Additions{}, nil
		}}, landfall.Posted)
		undo(t, store, landfall.UndoRequest{Key: testKey}, landfall.Undone)
	}},
	// An undo that met a claim and reset the process would let two callers
	// create it at once, so the claim must stay unchanged.
	{"only an imported account can be undone", func(t *testing.T, store landfall.Store) {
		undo(t, store, landfall.UndoRequest{Key: testKey}, landfall.UndoNoAccount)
		staged(t, store, testKey.External)
		undo(t, store, landfall.UndoRequest{Key: testKey}, landfall.UndoNoAccount)
		claimFor(t, store, claimRequest(testKey), landfall.ClaimGranted)
		undo(t, store, landfall.UndoRequest{Key: testKey}, landfall.UndoNoAccount)
		if found := readProcess(t, store, testKey); found.State != landfall.Claimed {
			t.Errorf("state %s", found.State)
		}
	}},
	// A supplier is paused because something went wrong, which is exactly when
	// accounts have to be undone.
	{"an undo does not depend on the supplier's status", func(t *testing.T, store landfall.Store) {
		importAccounts(t, store, "1", "2")
		for external, status := range map[string]landfall.SupplierStatus{"1": landfall.Paused, "2": landfall.Complete} {
			if err := setStatus(t.Context(), store, status); err != nil {
				t.Fatal(err)
			}
			undo(t, store, landfall.UndoRequest{Key: landfall.Key{Supplier: supplierCode, External: external}}, landfall.Undone)
		}
	}},
	// Each undo leaves a record, an event and an audit entry. Two of them would
	// say that there were two accounts.
	{"exactly one of many concurrent undos succeeds", func(t *testing.T, store landfall.Store) {
		importAccounts(t, store, testKey.External)
		var done, none atomic.Int32
		atOnce(callerCount, func(int) {
			outcome, err := store.Undo(t.Context(), landfall.UndoRequest{Key: testKey, Actor: undoActor, Reason: undoReason})
			switch {
			case err != nil:
				t.Error(err)
			case outcome.Verdict == landfall.Undone:
				done.Add(1)
			case outcome.Verdict == landfall.UndoNoAccount:
				none.Add(1)
			}
		})
		if done.Load() != 1 || none.Load() != callerCount-1 {
			t.Errorf("%d undone, %d found no account", done.Load(), none.Load())
		}
		wantEqual(t, len(undoneAccounts(t, store, testKey)), 1)
	}},
	// A run is undone account by account, by an operator who may be interrupted
	// and start again. An account that was created again by hand no longer
	// belongs to the run, although its key is the same. The tally of the run
	// stays: it says what the run did.
	{"undoing a run undoes its own accounts and counts them", func(t *testing.T, store landfall.Store) {
		staged(t, store, "a", "b", "c")
		run := choose(t, store, newRun(t, store, landfall.RunPlan{}).ID)
		slice := takeSlice(t, store, run.ID, time.Minute, 3)
		claims := claimAll(t, store, slice)
		settleSlice(t, store, slice, landfall.Settlement{
			Created: []landfall.RunCreation{memberCreated(slice, 0, claims[0]), memberCreated(slice, 1, claims[1]), memberCreated(slice, 2, claims[2])},
		})
		a, b := slice.Members[0].Key, slice.Members[1].Key
		// The account exists, but it does not belong to that run.
		undo(t, store, landfall.UndoRequest{Key: a, Run: "another"}, landfall.UndoNoAccount)
		undo(t, store, landfall.UndoRequest{Key: a, Run: run.ID}, landfall.Undone)
		undo(t, store, landfall.UndoRequest{Key: b}, landfall.Undone) // undone by itself, but still part of the run
		undo(t, store, landfall.UndoRequest{Key: a, Run: run.ID}, landfall.UndoNoAccount)
		create(t, store, claimFor(t, store, claimRequest(a), landfall.ClaimGranted), sampleAccount())
		undo(t, store, landfall.UndoRequest{Key: a, Run: run.ID}, landfall.UndoNoAccount)
		if lines := undoneAccounts(t, store, b); len(lines) != 1 || lines[0].Run != run.ID {
			t.Errorf("undone %+v", lines)
		}
		inView(t, store, func(view landfall.View) error {
			count, err := view.UndoneInRun(t.Context(), run.ID)
			wantEqual(t, count, 2)
			return err
		})
		var left []string
		for key, err := range store.RunCreated(t.Context(), run.ID) {
			if err != nil {
				t.Fatal(err)
			}
			left = append(left, key.External)
		}
		wantEqual(t, left, []string{"c"})
		wantEqual(t, readRun(t, store, run.ID).Tally, landfall.RunTally{Selected: 3, Succeeded: 3})
		if told := readEvents(t, store, b); told[len(told)-1].Details["run"] != run.ID {
			t.Errorf("events %+v", told)
		}
	}},
	// A customer who was told of an account cannot be untold. While a sender
	// holds the mail it is unknown whether it was sent, so the customer counts
	// as told. A refused mail told no one, and its record stays so that the
	// second account does not write to that address again.
	{"an undo deletes queued mails, and a mail being sent prevents it", func(t *testing.T, store landfall.Store) {
		staged(t, store, "1", "2", "3")
		enableMails(t, store, supplierCode)
		own := func(external string) landfall.Key { return landfall.Key{Supplier: supplierCode, External: external} }
		createWithMails(t, store, own("1"), "a@mail.co.uk", "b@mail.co.uk")
		undo(t, store, landfall.UndoRequest{Key: own("1")}, landfall.Undone)
		if taken := claimMails(t, store, mailDemand); len(taken) != 0 {
			t.Fatalf("a mail of an undone account is being sent: %+v", taken)
		}
		createWithMails(t, store, own("2"), "a@mail.co.uk")
		sending := claimMails(t, store, mailDemand)
		if outcome := undo(t, store, landfall.UndoRequest{Key: own("2")}, landfall.UndoKept); outcome.Kept != landfall.KeptCustomersTold {
			t.Errorf("outcome %+v", outcome)
		}
		settle(t, store, sending[0], landfall.MailResult{State: landfall.MailSent}, nil)
		if outcome := undo(t, store, landfall.UndoRequest{Key: own("2")}, landfall.UndoKept); outcome.Kept != landfall.KeptCustomersTold {
			t.Errorf("outcome %+v", outcome)
		}
		createWithMails(t, store, own("3"), "a@mail.co.uk")
		sending = claimMails(t, store, mailDemand)
		settle(t, store, sending[0], landfall.MailResult{State: landfall.MailRefused, Attempted: true, Reply: "550 no"}, nil)
		undo(t, store, landfall.UndoRequest{Key: own("3")}, landfall.Undone)
		// Created again, the account would write to the refused address if the
		// refusal were forgotten.
		createWithMails(t, store, own("3"), "a@mail.co.uk")
		if left := mailsOf(t, store, own("3")); len(left) != 1 || left[0].State != landfall.MailRefused {
			t.Errorf("after a refusal and a second creation: %+v", left)
		}
	}},
	// People decide by the forecast whether to undo thousands of accounts. It is
	// counted with other statements than those that undo, so the two must be
	// compared.
	{"the forecast of an undo equals its result", undoForecast},
	// If both won, a customer would be welcomed to an account that does not
	// exist.
	{"either an undo or a concurrent sender wins", undoAgainstSender},
	// If both won, a payment that was confirmed as booked would be lost.
	{"either an undo or a concurrent posting wins entirely", undoAgainstPosting},
	{"a concurrent posting of the same delivery is undone or finds no account", undoAgainstOwnPosting},
	// Here the two do not concern the same account: under one key, one account
	// may be ending while its successor begins.
	{"concurrent undos and creations create an account once at a time", undoAgainstCreation},
}
