package storetest

import (
	"errors"
	"testing"
	"time"

	"landfall"
	"landfall/internal/lib/money"
)

// undoForecast reads the forecast of an undo and then undoes the run: every
// account must end in the group that was predicted.
func undoForecast(t *testing.T, store landfall.Store) {
	staged(t, store, "a", "b", "c", "d", "e")
	last := newStaging(landfall.Key{Supplier: supplierCode, External: "f"}, "f")
	last.By.Delivery = "book"
	stage(t, store, last, landfall.StagedFirst, 1)
	enableMails(t, store, supplierCode)
	run := choose(t, store, newRun(t, store, landfall.RunPlan{}).ID)
	slice := takeSlice(t, store, run.ID, time.Minute, 6)
	var settlement landfall.Settlement
	for i, claim := range claimAll(t, store, slice) {
		one := memberCreated(slice, i, claim)
		// Two accounts have mails. The sender below claims the one of d.
		if external := slice.Members[i].Key.External; external == "d" || external == "e" {
			one.Creation.Mails = []landfall.Mail{{Kind: landfall.MailMigrated, To: external + "@mail.co.uk"}}
		}
		settlement.Created = append(settlement.Created, one)
	}
	settleSlice(t, store, slice, settlement)
	own := func(external string) landfall.Key { return landfall.Key{Supplier: supplierCode, External: external} }
	undo(t, store, landfall.UndoRequest{Key: own("a")}, landfall.Undone)
	create(t, store, claimFor(t, store, claimRequest(own("a")), landfall.ClaimGranted), sampleAccount()) // again, and not by the run
	post(t, store, landfall.Posting{Key: own("b"), Decide: func(books landfall.AccountState) (landfall.Additions, error) {
		return additions["a note"](books), nil
	}}, landfall.Posted)
	post(t, store, landfall.Posting{Key: own("f"), By: landfall.Author{Delivery: "book"}, Decide: func(books landfall.AccountState) (landfall.Additions, error) {
		return additions["a note"](books), nil
	}}, landfall.Posted)
	update(t, store, func(tx landfall.Tx) error {
		_, err := tx.Erase(t.Context(), own("c"))
		return err
	})
	one := mailDemand
	one.Max = 1
	// From now on the customer of d may have been told, while the mail of e is
	// still queued.
	claimMails(t, store, one)
	var kept []landfall.KeptAccount
	forecast := func() (found landfall.UndoForecast) {
		kept = nil
		inView(t, store, func(view landfall.View) (err error) {
			// Count in parts, as for a run of a million accounts.
			for from := 0; from < 9 && err == nil; from += 2 {
				var part landfall.UndoForecast
				part, err = view.UndoForecast(t.Context(), landfall.UndoForecastQuery{Run: run.ID, From: from, Limit: 2})
				kept = append(kept, part.KeptAccounts...)
				found = found.Plus(part)
			}
			return err
		})
		return found
	}
	before := forecast()
	account := sampleAccount()
	wantEqual(t, before, landfall.UndoForecast{Undoable: 2, AlreadyUndone: 1, Kept: map[landfall.KeptReason]int{
		landfall.KeptHasPostings: 1, landfall.KeptErased: 1, landfall.KeptCustomersTold: 1,
	}, Removed: landfall.UndoContent{
		// f has a posting of its own delivery.
		Entries: 2 * len(account.Ledger), Notes: 2*len(account.Data.Notes) + 1, Statements: 2 * len(account.Data.Statements),
		Instructions: 2 * len(account.Data.Instructions), Postings: 1,
		Balances: map[string]money.Amount{account.Data.Currency: 2 * account.Balance},
	}})
	wantEqual(t, before.AllKept(), 3)
	reasons := map[string]landfall.KeptReason{}
	for _, one := range kept {
		reasons[one.Key.External] = one.Reason
		wantEqual(t, one.Number, readProcess(t, store, one.Key).AccountNumber)
		wantEqual(t, one.OtherPostings > 0, one.Key.External == "b")
	}
	wantEqual(t, reasons, map[string]landfall.KeptReason{"b": landfall.KeptHasPostings, "c": landfall.KeptErased, "d": landfall.KeptCustomersTold})
	inView(t, store, func(view landfall.View) error {
		one, err := view.UndoForecast(t.Context(), landfall.UndoForecastQuery{Key: own("b")})
		wantEqual(t, one.KeptAccounts, kept[:1])
		all, err2 := view.UndoForecast(t.Context(), landfall.UndoForecastQuery{Key: own("b"), AllPostings: true})
		wantEqual(t, all.Undoable, 1)
		none, err3 := view.UndoForecast(t.Context(), landfall.UndoForecastQuery{Key: own("nobody")})
		wantEqual(t, none.Undoable+len(none.KeptAccounts), 0)
		return errors.Join(err, err2, err3)
	})
	// If several reasons apply, forecast and undo must report the same one. The
	// window is checked first.
	setWindow(t, store, 0)
	wantEqual(t, forecast(), landfall.UndoForecast{
		AlreadyUndone: 1, Kept: map[landfall.KeptReason]int{landfall.KeptWindowOver: 5}, Removed: landfall.UndoContent{Balances: map[string]money.Amount{}},
	})
	setWindow(t, store, time.Hour)
	became := landfall.UndoForecast{AlreadyUndone: 1, Kept: map[landfall.KeptReason]int{}}
	for key, err := range store.RunCreated(t.Context(), run.ID) {
		if err != nil {
			t.Fatal(err)
		}
		outcome, err := store.Undo(t.Context(), landfall.UndoRequest{Key: key, Run: run.ID, Actor: undoActor, Reason: undoReason})
		switch {
		case err != nil:
			t.Fatal(err)
		case outcome.Verdict == landfall.Undone:
			became.Undoable++
		default:
			became.Kept[outcome.Kept]++
		}
	}
	became.Removed = before.Removed
	wantEqual(t, became, before)
	wantEqual(t, forecast().AlreadyUndone, 3)
	inView(t, store, func(view landfall.View) error {
		none, err := view.UndoForecast(t.Context(), landfall.UndoForecastQuery{Run: "R-00000000", Limit: 10})
		wantEqual(t, none, landfall.UndoForecast{Kept: map[landfall.KeptReason]int{}, Removed: landfall.UndoContent{Balances: map[string]money.Amount{}}})
		return err
	})
}
