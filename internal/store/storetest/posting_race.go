package storetest

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"landfall"
)

// postingRaces are concurrent postings: the decision or failure of one must not
// affect the others.
var postingRaces = []promiseCheck{
	// Callers repeat requests that got no response. A payment booked twice is
	// money that the customer does not have. All three kinds are posted to the
	// same account at once, since the lock covers the account, not the kind of
	// data added.
	{"identical concurrent postings add once", func(t *testing.T, store landfall.Store) {
		importAccounts(t, store, testKey.External)
		var notes, transactions, instructions atomic.Int32
		instruction := landfall.Instruction{Vendor: "V", Reference: "r"}
		atOnce(3*callerCount, func(number int) {
			var posting landfall.Posting
			switch number % 3 {
			case 0:
				posting = pay(testKey, &transactions, payment("X", 5))
			case 1:
				posting = landfall.Posting{Key: testKey, Notes: []landfall.Note{{Body: "once"}}, Decide: func(books landfall.AccountState) (landfall.Additions, error) {
					if len(books.Notes) > 0 {
						return landfall.Additions{}, nil
					}
					notes.Add(1)
					return landfall.Additions{Notes: []landfall.Note{{Body: "once", HasBody: true}}}, nil
				}}
			default:
				posting = landfall.Posting{Key: testKey, Instructions: []landfall.Instruction{instruction}, Decide: func(books landfall.AccountState) (landfall.Additions, error) {
					if slices.ContainsFunc(books.Instructions, instruction.Same) {
						return landfall.Additions{}, nil
					}
					instructions.Add(1)
					return landfall.Additions{Instructions: []landfall.Instruction{instruction}}, nil
				}}
			}
			if outcome, err := store.Post(t.Context(), posting); err != nil || outcome.Verdict != landfall.Posted {
				t.Errorf("got %+v, %v", outcome, err)
			}
		})
		found, given := readAccount(t, store, testKey), sampleAccount()
		if len(found.Ledger) != len(given.Ledger)+1 || len(found.Data.Notes) != len(given.Data.Notes)+1 || len(found.Data.Instructions) != 2 {
			t.Errorf("%d entries, %d notes, %d instructions", len(found.Ledger), len(found.Data.Notes), len(found.Data.Instructions))
		}
	}},
	// Postings that are written together may lock several accounts, and their
	// order of arrival must not cause a deadlock. Each transaction counts once,
	// so only one balance is right.
	{"postings to overlapping accounts in any order do not deadlock", func(t *testing.T, store landfall.Store) {
		numbers := []string{"a", "b", "c", "d", "e", "f"}
		importAccounts(t, store, numbers...)
		var added atomic.Int32
		atOnce(8, func(number int) {
			order := slices.Clone(numbers)
			if number%2 == 1 {
				slices.Reverse(order)
			}
			atOnce(len(order), func(at int) {
				own := landfall.Key{Supplier: supplierCode, External: order[at]}
				transactions := []landfall.Transaction{payment("T1", 1), payment("T2", 2)}
				if number%2 == 1 {
					slices.Reverse(transactions)
				}
				if _, err := store.Post(t.Context(), pay(own, &added, transactions...)); err != nil {
					t.Error(err)
				}
			})
		})
		for _, number := range numbers {
			if found := readAccount(t, store, landfall.Key{Supplier: supplierCode, External: number}); found.Balance != 693 {
				t.Errorf("%s has balance %v", number, found.Balance)
			}
		}
	}},
	// Postings of different callers share a transaction. One of them refuses, one
	// has books that do not add up, and one panics. Each caller must get its own
	// error, and the others must never see it: they would repeat postings that
	// succeeded.
	{"a failing decision does not affect other postings", func(t *testing.T, store landfall.Store) {
		var numbers []string
		for number := range callerCount {
			numbers = append(numbers, fmt.Sprint(number))
		}
		importAccounts(t, store, numbers...)
		atOnce(callerCount, func(number int) {
			own := landfall.Key{Supplier: supplierCode, External: numbers[number]}
			var added atomic.Int32
			posting := pay(own, &added, payment("T", 1))
			switch number % 4 {
			case 1:
				posting.Decide = func(landfall.AccountState) (landfall.Additions, error) {
					return landfall.Additions{Notes: []landfall.Note{{Body: "b", HasBody: true}}}, errDecided
				}
			case 2: // books that do not add up
				posting.Decide = func(books landfall.AccountState) (landfall.Additions, error) {
					entries := addEntries(books, payment("T", 1))
					entries[0].Balance++
					return landfall.Additions{Entries: entries}, nil
				}
			case 3:
				posting.Decide = func(landfall.AccountState) (landfall.Additions, error) { panic(errDecided) }
			}
			var err error
			func() {
				defer func() {
					if number%4 == 3 {
						err, _ = recover().(error)
					}
				}()
				_, err = store.Post(t.Context(), posting)
			}()
			switch number % 4 {
			case 0, 2:
				if (err != nil) != (number%4 == 2) {
					t.Errorf("%d: %v", number, err)
				}
			default:
				wantError(t, err, errDecided)
			}
		})
		for at, number := range numbers {
			found := readAccount(t, store, landfall.Key{Supplier: supplierCode, External: number})
			if added := len(found.Ledger) - 3; (added == 1) != (at%4 == 0) || len(found.Data.Notes) != 3 {
				t.Errorf("%s: %d entries added, %d notes", number, added, len(found.Data.Notes))
			}
		}
	}},
}
