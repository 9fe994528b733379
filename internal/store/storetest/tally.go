package storetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"landfall"
	"landfall/internal/lib/money"
)

// checkTallies returns the tallies and compares them with a recount in the same
// view.
func checkTallies(t *testing.T, store landfall.Store) (found landfall.Tallies) {
	t.Helper()
	inView(t, store, func(view landfall.View) (err error) {
		if found, err = view.Tallies(t.Context(), supplierCode); err != nil {
			return err
		}
		counted, err := view.Recount(t.Context(), supplierCode)
		for _, difference := range found.Differences(&counted) {
			t.Error(difference)
		}
		if found.Refused != counted.Refused {
			t.Errorf("%d refused, and %d counted", found.Refused, counted.Refused)
		}
		return err
	})
	return found
}

// sampleFigures returns the figures of sampleAccount.
func sampleFigures() landfall.Figures {
	built := sampleAccount()
	figures := landfall.Figures{
		Currency: "GBP", Accounts: 1, Customers: 2, SupplyPoints: 3,
		Notes: int64(len(built.Data.Notes)), Statements: int64(len(built.Data.Statements)),
		Instructions: int64(len(built.Data.Instructions)),
	}
	figures.CountEntries(built.Ledger)
	return figures
}

// sums fails unless the sums of a status are the given figures, times over.
func sums(t *testing.T, found landfall.Tallies, standing landfall.AccountStatus, times int, figures landfall.Figures) {
	t.Helper()
	var want landfall.Sums
	for range times {
		want.Add(figures)
	}
	if got := *found.Of(standing, figures.Currency); got != want {
		t.Errorf("%s in %s is %v, want %d times %+v", standing, figures.Currency, got, times, figures)
	}
}

// stageWithFigures stages a document with the given figures.
func stageWithFigures(t *testing.T, store landfall.Store, number, content string, figures landfall.Figures) {
	t.Helper()
	staging := newStaging(landfall.Key{Supplier: supplierCode, External: number}, content)
	staging.Figures = figures
	stageAny(t, store, staging)
}

// tallies are sums that every write updates. A write that forgot to would be
// noticed here, whatever state it leaves an account in.
var tallies = []promiseCheck{
	// The sums are updated by every write instead of being counted, since
	// counting millions of accounts takes too long. One write that forgets them
	// makes all sums wrong from then on, so the account goes through every
	// state and the sums are compared with a recount each time.
	{"an account's figures move with its status", func(t *testing.T, store landfall.Store) {
		staged(t, store)
		figures := sampleFigures()
		stageWithFigures(t, store, "A-1", "{}", landfall.Figures{Currency: "EUR", Customers: 7, Balance: 5})
		sums(t, checkTallies(t, store), landfall.StatusPending, 1, landfall.Figures{Currency: "EUR", Accounts: 1, Customers: 7, Balance: 5})
		stageWithFigures(t, store, "A-1", `{"other": 1}`, figures)
		// The same content once more must not be added a second time.
		stageWithFigures(t, store, "A-1", `{"other": 1}`, figures)
		found := checkTallies(t, store)
		sums(t, found, landfall.StatusPending, 1, figures)
		// The account has changed its currency, and nothing of it may remain in
		// the old one.
		sums(t, found, landfall.StatusPending, 0, landfall.Figures{Currency: "EUR"})

		fail(t, store, testKey, landfall.Failure{Code: "x"})
		fail(t, store, testKey, landfall.Failure{Code: "y"})
		found = checkTallies(t, store)
		sums(t, found, landfall.StatusPending, 0, figures)
		sums(t, found, landfall.StatusFailed, 1, figures)
		stageWithFigures(t, store, "A-1", `{"other": 2}`, figures)
		sums(t, checkTallies(t, store), landfall.StatusFailed, 1, figures)

		createDryRun(t, store, claimDryRun(t, store, testKey), landfall.CreateRolledBack)
		sums(t, checkTallies(t, store), landfall.StatusPending, 1, figures)
		wantError(t, store.Release(t.Context(), claimDryRun(t, store, testKey), failedDryRun()), nil)
		sums(t, checkTallies(t, store), landfall.StatusFailed, 1, figures)

		for _, standing := range []landfall.AccountStatus{landfall.StatusSkipped, landfall.StatusFailed} {
			update(t, store, func(tx landfall.Tx) error {
				if standing == landfall.StatusFailed {
					return tx.Unskip(t.Context(), testKey)
				}
				_, err := tx.Skip(t.Context(), testKey, "gone")
				return err
			})
			sums(t, checkTallies(t, store), standing, 1, figures)
		}

		create(t, store, claimFor(t, store, claimRequest(testKey), landfall.ClaimGranted), sampleAccount())
		found = checkTallies(t, store)
		sums(t, found, landfall.StatusCreated, 1, figures)
		for _, standing := range []landfall.AccountStatus{landfall.StatusFailed, landfall.StatusPending, landfall.StatusDeviating} {
			sums(t, found, standing, 0, figures)
		}
		undo(t, store, landfall.UndoRequest{Key: testKey}, landfall.Undone)
		found = checkTallies(t, store)
		sums(t, found, landfall.StatusPending, 1, figures)
		sums(t, found, landfall.StatusCreated, 0, figures)
		create(t, store, claimFor(t, store, claimRequest(testKey), landfall.ClaimGranted), sampleAccount())
		var added atomic.Int32
		post(t, store, pay(testKey, &added, payment("P-9", 250), payment("P-10", 50)), landfall.Posted)
		figures.Balance += 300
		figures.CountTransaction(landfall.Payment, 250)
		figures.CountTransaction(landfall.Payment, 50)
		sums(t, checkTallies(t, store), landfall.StatusCreated, 1, figures)
	}},
	// This is the difference that people must explain before they sign. Data that
	// the service adds itself was never sent, and would look like an error if it
	// were counted.
	{"differences between an account and what was sent are recorded", func(t *testing.T, store landfall.Store) {
		staged(t, store)
		figures := sampleFigures()
		sent := figures
		sent.Notes, sent.Balance = figures.Notes+2, figures.Balance-100
		stageWithFigures(t, store, "A-1", "{}", sent)
		create(t, store, claimFor(t, store, claimRequest(testKey), landfall.ClaimGranted), sampleAccount())
		found := checkTallies(t, store)
		sums(t, found, landfall.StatusCreated, 1, figures)
		sums(t, found, landfall.StatusDeviating, 1, landfall.Figures{Currency: "GBP", Notes: 2, Balance: -100})
		// The service added a note that was not sent.
		post(t, store, landfall.Posting{Key: testKey, Decide: func(landfall.AccountState) (landfall.Additions, error) {
			return landfall.Additions{Notes: []landfall.Note{{Body: "sent"}, {Body: "own"}}, OwnNotes: 1}, nil
		}}, landfall.Posted)
		found = checkTallies(t, store)
		sums(t, found, landfall.StatusDeviating, 1, landfall.Figures{Currency: "GBP", Notes: 2, Balance: -100})
		sums(t, found, landfall.StatusOwnNotes, 1, landfall.Figures{Currency: "GBP", Notes: -1})
		// In another currency, everything differs: all of one and nothing of
		// the other.
		stageWithFigures(t, store, "A-2", "{}", landfall.Figures{Currency: "EUR", Customers: 2})
		create(t, store, claimFor(t, store, claimRequest(landfall.Key{Supplier: supplierCode, External: "A-2"}), landfall.ClaimGranted), sampleAccount())
		sums(t, checkTallies(t, store), landfall.StatusDeviating, 1, landfall.Figures{Currency: "EUR", Accounts: 1, Customers: 2})
		undo(t, store, landfall.UndoRequest{Key: landfall.Key{Supplier: supplierCode, External: "A-2"}}, landfall.Undone)
		found = checkTallies(t, store)
		sums(t, found, landfall.StatusDeviating, 1, landfall.Figures{Currency: "GBP", Notes: 2, Balance: -100})
		sums(t, found, landfall.StatusOwnNotes, 1, landfall.Figures{Currency: "GBP", Notes: -1})
		sums(t, found, landfall.StatusDeviating, 0, landfall.Figures{Currency: "EUR"})
	}},
	// A supplier states how many accounts it has, and these are among them
	// although they were never staged. An account refused twice is still one
	// account.
	{"unstaged skips and refusals count as accounts", func(t *testing.T, store landfall.Store) {
		staged(t, store)
		update(t, store, func(tx landfall.Tx) error {
			_, err := tx.Skip(t.Context(), testKey, "gone")
			return err
		})
		refuse(t, store, "R-1", "x")
		refuse(t, store, "R-2", "x")
		refuse(t, store, "R-2", "y")
		found := checkTallies(t, store)
		sums(t, found, landfall.StatusUnstaged, 1, landfall.Figures{Accounts: 1})
		if found.Refused != 2 {
			t.Errorf("%d refused", found.Refused)
		}
		stageWithFigures(t, store, "R-1", "{}", landfall.Figures{})
		refuse(t, store, "R-1", "x")
		update(t, store, func(tx landfall.Tx) error { return tx.Unskip(t.Context(), testKey) })
		found = checkTallies(t, store)
		sums(t, found, landfall.StatusUnstaged, 0, landfall.Figures{Accounts: 1})
		if found.Refused != 1 {
			t.Errorf("%d refused after one was staged", found.Refused)
		}
	}},
	// Each amount fits into 64 bits, but twelve of them do not. A sum that
	// wraps around would look like a plausible debt. Compacting adds them up
	// once more, so the sums are read before and after.
	{"sums may exceed the largest amount", func(t *testing.T, store landfall.Store) {
		staged(t, store)
		huge := landfall.Figures{Currency: "GBP", Accounts: 1, Balance: money.Amount(1) << 62}
		atOnce(12, func(number int) { stageWithFigures(t, store, fmt.Sprint(number), "{}", huge) })
		sums(t, checkTallies(t, store), landfall.StatusPending, 12, huge)
		compactTallies(t, store)
		sums(t, checkTallies(t, store), landfall.StatusPending, 12, huge)
	}},
	// Sums of nothing are zero, and zero is what a supplier hopes to see in some
	// places.
	{"tallies of an unknown supplier are not found", func(t *testing.T, store landfall.Store) {
		inView(t, store, func(view landfall.View) error {
			_, err := view.Tallies(t.Context(), "NOBODY")
			wantError(t, err, landfall.ErrNotFound)
			_, err = view.Recount(t.Context(), "NOBODY")
			wantError(t, err, landfall.ErrNotFound)
			return nil
		})
	}},
	// Sums that are right only at night, when nothing happens, could not be
	// signed during the day.
	{"tallies are exact at every moment", exactAtEveryMoment},
}

// compactTallies compacts the store's tallies, if the store supports that.
func compactTallies(t *testing.T, store landfall.Store) {
	t.Helper()
	compacting, is := store.(interface {
		LongTallies(ctx context.Context, rows int) ([]int64, error)
		CompactTally(ctx context.Context, supplier int64) (removed int, more bool, err error)
	})
	if !is {
		return
	}
	suppliers, err := compacting.LongTallies(t.Context(), 256)
	for _, supplier := range suppliers {
		for more := true; more && err == nil; {
			_, more, err = compacting.CompactTally(t.Context(), supplier)
		}
	}
	if err != nil {
		t.Error(err)
	}
}

// exactAtEveryMoment lets many callers do random things to a few accounts at
// once, and checks and compacts the tallies meanwhile.
func exactAtEveryMoment(t *testing.T, store landfall.Store) {
	staged(t, store)
	const callers, steps = 6, 40
	var working, watching sync.WaitGroup
	stop := make(chan struct{})
	watching.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				checkTallies(t, store)
				compactTallies(t, store)
			}
		}
	})
	for caller := range callers {
		working.Go(func() {
			// The random sequence of each caller is fixed, so that a failure
			// can be reproduced; the interleaving is not.
			random := rand.New(rand.NewPCG(7, uint64(caller))) // the same each time
			for range steps {
				// An overloaded store is not an error: nothing was written.
				if err := randomStep(t.Context(), store, random); err != nil && !errors.Is(err, landfall.ErrUnavailable) {
					t.Error(err)
					return
				}
			}
		})
	}
	working.Wait()
	close(stop)
	watching.Wait()
	checkTallies(t, store)
}

// randomStep does one random thing to one of a few accounts. Losing a race is not
// an error.
func randomStep(ctx context.Context, store landfall.Store, random *rand.Rand) (err error) {
	key := landfall.Key{Supplier: supplierCode, External: fmt.Sprint("N-", random.IntN(8))}
	figures := landfall.Figures{Currency: []string{"GBP", "EUR"}[random.IntN(2)], Customers: random.Int64N(5), Balance: money.Amount(random.Int64N(1000) - 500)}
	switch random.IntN(8) {
	case 0, 1:
		staging := newStaging(key, fmt.Sprintf(`{"v": %d}`, random.IntN(4)))
		staging.Figures = figures
		_, err = store.Stage(ctx, staging)
	case 2, 3:
		request := claimRequest(key)
		request.DryRun = random.IntN(2) == 0
		outcome, err := store.Claim(ctx, request)
		if err != nil || outcome.Verdict != landfall.ClaimGranted {
			return err
		}
		if random.IntN(2) == 0 {
			attempt := failedDryRun()
			if random.IntN(4) == 0 {
				attempt.Failure = nil
			}
			err = store.Release(ctx, outcome.Claim, attempt)
		} else {
			_, err = store.Create(ctx, landfall.Creation{Claim: outcome.Claim, Account: sampleAccount()})
		}
		if errors.Is(err, landfall.ErrFenced) {
			err = nil
		}
		return err
	case 4:
		var added atomic.Int32
		_, err = store.Post(ctx, pay(key, &added, payment(fmt.Sprint(random.Int()), money.Amount(random.Int64N(100)+1))))
	case 5:
		err = store.Update(ctx, func(tx landfall.Tx) error {
			if random.IntN(3) > 0 {
				return tx.Unskip(ctx, key)
			}
			_, err := tx.Skip(ctx, key, "gone")
			return err
		})
		if errors.Is(err, landfall.ErrExists) || errors.Is(err, landfall.ErrNotFound) {
			err = nil
		}
	case 6:
		_, err = store.Undo(ctx, landfall.UndoRequest{Key: key, Actor: undoActor, Reason: undoReason})
	case 7:
		err = store.Refuse(ctx, landfall.Refusal{Key: key, Failure: landfall.Failure{Code: "x"}})
	}
	return err
}
