package storetest

import (
	"bytes"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"landfall"
)

// creationRaces are creations that run at the same time as others that want the
// same account, or want it not to exist.
var creationRaces = []promiseCheck{
	// A caller that gets no response sends again, and its first attempt may
	// still be in progress. Two accounts for one customer would both be billed.
	{"many creations with one claim make one account", func(t *testing.T, store landfall.Store) {
		staged(t, store, testKey.External)
		mine := claimFor(t, store, claimRequest(testKey), landfall.ClaimGranted)
		var created, fenced atomic.Int32
		atOnce(callerCount, func(int) {
			outcome, err := store.Create(t.Context(), landfall.Creation{Claim: mine, Account: sampleAccount()})
			switch {
			case err != nil:
				t.Error(err)
			case outcome.Verdict == landfall.Created:
				created.Add(1)
			case outcome.Verdict == landfall.CreateFenced:
				fenced.Add(1)
			}
		})
		if created.Load() != 1 || fenced.Load() != callerCount-1 {
			t.Errorf("%d created, %d fenced", created.Load(), fenced.Load())
		}
		readAccount(t, store, testKey)
	}},
	// The mark says that an account must not be created. If both won, the
	// operator would believe that it never will be, although the customer
	// already has it. There are many rounds because each tests at most one
	// order.
	{"either a creation or a concurrent skip wins", func(t *testing.T, store landfall.Store) {
		staged(t, store)
		for round := range 20 {
			own := landfall.Key{Supplier: supplierCode, External: fmt.Sprint(round)}
			stageAny(t, store, newStaging(own, "x"))
			short := claimRequest(own)
			// A live claim would block the mark, and the creation would always
			// win.
			short.Lease = time.Millisecond // so that either can win
			mine := claimFor(t, store, short, landfall.ClaimGranted)
			expire(t, store, own)
			var created, skipped atomic.Int32
			atOnce(2, func(number int) {
				if number == 0 {
					outcome, err := store.Create(t.Context(), landfall.Creation{Claim: mine, Account: sampleAccount()})
					if err != nil {
						t.Error(err)
					} else if outcome.Verdict == landfall.Created {
						created.Add(1)
					}
					return
				}
				err := store.Update(t.Context(), func(tx landfall.Tx) error {
					_, err := tx.Skip(t.Context(), own, "no")
					return err
				})
				if err == nil {
					skipped.Add(1)
				} else {
					wantError(t, err, landfall.ErrExists)
				}
			})
			state := readProcess(t, store, own).State
			if created.Load()+skipped.Load() != 1 || (state == landfall.Imported) != (created.Load() == 1) {
				t.Errorf("%d created, %d skipped, state %s", created.Load(), skipped.Load(), state)
			}
		}
	}},
	// A claim that read its document before the last staging and its revision
	// number after it would name a revision that the account was not created
	// from, and there would be no way to tell what the supplier had really
	// sent. After the claim no staging is accepted, so the claim's revision
	// must be the last one.
	{"an account is created from one complete staged revision", func(t *testing.T, store landfall.Store) {
		staged(t, store, testKey.External)
		var mine landfall.Claim
		var last atomic.Int32
		// Eight callers stage twenty times each while the ninth claims once, at
		// some point in between.
		atOnce(9, func(number int) {
			if number == 8 {
				outcome, err := store.Claim(t.Context(), claimRequest(testKey))
				if err != nil || outcome.Verdict != landfall.ClaimGranted {
					t.Errorf("got %+v, %v", outcome, err)
				}
				mine = outcome.Claim
				return
			}
			for at := range 20 {
				outcome, err := store.Stage(t.Context(), newStaging(testKey, fmt.Sprintf("%d-%d", number, at)))
				if err != nil {
					t.Error(err)
				}
				if outcome.Verdict == landfall.StagedAgain {
					last.Add(1)
				}
			}
		})
		history := readRevisions(t, store, testKey)
		if int(last.Load()) != len(history)-1 || mine.Revision != len(history) {
			t.Errorf("%d stagings accepted, claim of revision %d of %d", last.Load(), mine.Revision, len(history))
		}
		if !bytes.Equal(mine.Document, history[mine.Revision-1].Document) {
			t.Errorf("the claim has another document than revision %d", mine.Revision)
		}
	}},
	// Concurrent creations may be written together. The small one must not be
	// refused with the large one, nor get rows of its ledger.
	{"accounts of very different sizes are created concurrently", func(t *testing.T, store landfall.Store) {
		const many = 10_000
		staged(t, store, "small", "large")
		accounts := map[string]landfall.Account{"small": sampleAccount(), "large": sampleAccount()}
		large := accounts["large"]
		for number := range many {
			large.Balance += 7
			large.Ledger = append(large.Ledger, landfall.LedgerEntry{
				Sequence: len(large.Ledger) + 1, Kind: landfall.TransactionEntry, Signed: 7, Balance: large.Balance,
				Transaction: landfall.Transaction{ID: fmt.Sprint("T", number), On: parseDay("2026-07-07"), Amount: 7, Type: landfall.Credit, Document: []byte(`{}`)},
			})
		}
		accounts["large"] = large
		atOnce(2, func(number int) {
			own := landfall.Key{Supplier: supplierCode, External: []string{"small", "large"}[number]}
			outcome, err := store.Claim(t.Context(), claimRequest(own))
			if err != nil {
				t.Error(err)
				return
			}
			if made, err := store.Create(t.Context(), landfall.Creation{Claim: outcome.Claim, Account: accounts[own.External]}); err != nil || made.Verdict != landfall.Created {
				t.Errorf("%v: %+v, %v", own, made, err)
			}
		})
		for number, given := range accounts {
			wantEqual(t, readAccount(t, store, landfall.Key{Supplier: supplierCode, External: number}).Ledger, given.Ledger)
		}
	}},
	// Once the operator has the response, they rely on it, perhaps to repair
	// data by hand. The flag is read before each creation begins, so that only
	// creations that certainly began after the response count. Those that began
	// before may end either way.
	{"no account is created once a pause was acknowledged", func(t *testing.T, store landfall.Store) {
		var numbers []string
		for number := range callerCount {
			numbers = append(numbers, fmt.Sprint(number))
		}
		staged(t, store, numbers...)
		var held []landfall.Claim
		for _, number := range numbers {
			held = append(held, claimFor(t, store, claimRequest(landfall.Key{Supplier: supplierCode, External: number}), landfall.ClaimGranted))
		}
		var paused atomic.Bool
		atOnce(callerCount+1, func(number int) {
			if number == callerCount {
				if err := setStatus(t.Context(), store, landfall.Paused); err != nil {
					t.Error(err)
				}
				paused.Store(true)
				return
			}
			after := paused.Load()
			outcome, err := store.Create(t.Context(), landfall.Creation{Claim: held[number], Account: sampleAccount()})
			if err != nil || after && outcome.Verdict == landfall.Created {
				t.Errorf("created after the pause: %+v, %v", outcome, err)
			}
		})
	}},
}
