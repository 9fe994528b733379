package storetest

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"landfall"
	"landfall/internal/lib/money"
)

// importAccounts creates accounts that can be posted to.
func importAccounts(t *testing.T, store landfall.Store, numbers ...string) {
	t.Helper()
	staged(t, store, numbers...)
	for _, number := range numbers {
		create(t, store, claimFor(t, store, claimRequest(landfall.Key{Supplier: supplierCode, External: number}), landfall.ClaimGranted), sampleAccount())
	}
}

// post posts and compares the verdict.
func post(t *testing.T, store landfall.Store, posting landfall.Posting, verdict landfall.PostVerdict) landfall.PostOutcome {
	t.Helper()
	outcome, err := store.Post(t.Context(), posting)
	if err != nil || outcome.Verdict != verdict {
		t.Fatalf("Post(%v) = %+v, %v, want verdict %d", posting.Key, outcome, err, verdict)
	}
	return outcome
}

// addEntries returns ledger entries for transactions, appended to those of the
// account.
func addEntries(books landfall.AccountState, transactions ...landfall.Transaction) []landfall.LedgerEntry {
	var entries []landfall.LedgerEntry
	balance, sequence := books.Balance, books.LastSequence
	for _, transaction := range transactions {
		balance += transaction.Signed()
		sequence++
		entries = append(entries, landfall.LedgerEntry{
			Sequence: sequence, Kind: landfall.TransactionEntry, Signed: transaction.Signed(), Balance: balance, Transaction: transaction,
		})
	}
	return entries
}

// payment returns a transaction with a document, which is stored as it was sent.
func payment(id string, amount money.Amount) landfall.Transaction {
	return landfall.Transaction{ID: id, On: parseDay("2026-07-09"), Amount: amount, Type: landfall.Payment, Document: []byte(`{"id": 1}`)}
}

// pay adds the transactions that do not exist yet, as the endpoint does.
func pay(key landfall.Key, added *atomic.Int32, transactions ...landfall.Transaction) landfall.Posting {
	posting := landfall.Posting{Key: key}
	for _, transaction := range transactions {
		posting.TransactionIDs = append(posting.TransactionIDs, transaction.ID)
	}
	posting.Decide = func(books landfall.AccountState) (landfall.Additions, error) {
		// Decide may be called more than once, so it must not modify its input.
		fresh := slices.DeleteFunc(slices.Clone(transactions), func(transaction landfall.Transaction) bool {
			return slices.ContainsFunc(books.Entries, func(entry landfall.LedgerEntry) bool { return entry.Transaction.ID == transaction.ID })
		})
		added.Add(int32(len(fresh)))
		return landfall.Additions{Entries: addEntries(books, fresh...)}, nil
	}
	return posting
}

// errDecided is returned by a caller's Decide and must come back unchanged.
var errDecided = errors.New("no")

// postings add to an account under its lock: the state read to decide is still
// current when the decision is written, whoever else posts meanwhile.
var postings = []promiseCheck{
	// A posting decides by the existing data, so everything it asked about must
	// be found, however often and in whichever order it asked. Other data must
	// not be read: an account may have years of notes, and every posting would
	// pay for them.
	{"a posting sees exactly what it looks up", func(t *testing.T, store landfall.Store) {
		importAccounts(t, store, testKey.External)
		given := sampleAccount()
		var seen landfall.AccountState
		outcome := post(t, store, landfall.Posting{
			Key: testKey, Notes: []landfall.Note{{Body: "Hello\nthere"}, {DocumentPaths: []string{"/y", "x", "x"}}, {DocumentPaths: []string{"x"}}, {Body: "none"}}, TransactionIDs: []string{"P-1", "P-1", "none", ""},
			StatementIDs: []string{"S1"}, Instructions: []landfall.Instruction{{Vendor: "STRIPE", Reference: "pm_1"}},
			Decide: func(books landfall.AccountState) (landfall.Additions, error) {
				seen = books
				return landfall.Additions{}, nil
			},
		}, landfall.Posted)
		recent(t, seen.Now)
		seen.Now = time.Time{}
		wantEqual(t, seen, landfall.AccountState{
			AccountNumber: outcome.AccountNumber, Period: landfall.Period{FromOn: parseDay("2026-07-01")}, Balance: 690, LastSequence: 3,
			Notes: given.Data.Notes[:2], Entries: given.Ledger[1:2], Statements: given.Data.Statements[1:], Instructions: given.Data.Instructions,
		})
		post(t, store, landfall.Posting{Key: testKey, Decide: func(books landfall.AccountState) (landfall.Additions, error) {
			if len(books.Notes)+len(books.Entries)+len(books.Statements)+len(books.Instructions) != 0 {
				t.Errorf("not asked for: %+v", books)
			}
			return landfall.Additions{}, nil
		}}, landfall.Posted)
		// Neither posting added anything, so there is no event but the creation.
		if told := readEvents(t, store, testKey); len(told) != 1 {
			t.Errorf("events %+v", told)
		}
	}},
	// When one transaction of a request is malformed, this read tells whether
	// an earlier one would have been refused first. It must return the same
	// state as a posting sees, and reading must never block a posting.
	{"the state that decides transactions can be read without a lock", func(t *testing.T, store landfall.Store) {
		importAccounts(t, store, testKey.External)
		for _, ids := range [][]string{nil, {"P-1", "P-1", "none", ""}} {
			var decided, read landfall.AccountState
			inView(t, store, func(view landfall.View) (err error) {
				read, err = view.AccountState(t.Context(), testKey, ids)
				// Readers do not block postings.
				post(t, store, landfall.Posting{Key: testKey, TransactionIDs: ids, Decide: func(books landfall.AccountState) (landfall.Additions, error) {
					decided = books
					return landfall.Additions{}, nil
				}}, landfall.Posted)
				return err
			})
			recent(t, read.Now)
			read.Now, decided.Now = time.Time{}, time.Time{}
			wantEqual(t, read, decided)
		}
		inView(t, store, func(view landfall.View) error {
			for _, other := range []landfall.Key{{Supplier: testKey.Supplier, External: "nobody"}, {Supplier: "NOBODY", External: testKey.External}} {
				if _, err := view.AccountState(t.Context(), other, nil); !errors.Is(err, landfall.ErrNotFound) {
					t.Errorf("%v: %v", other, err)
				}
			}
			return nil
		})
	}},
	// The order is part of the request, and each entry has the balance up to
	// it. The new ids sort before the old ones on purpose, to detect a store
	// that reads by id.
	{"posted items are read back after the existing ones", func(t *testing.T, store landfall.Store) {
		importAccounts(t, store, testKey.External)
		want := readAccount(t, store, testKey)
		note := landfall.Note{Body: "New", HasBody: true, CreatedAt: time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC), DocumentPaths: []string{"p"}}
		statement := landfall.Statement{ID: "S0", FromOn: parseDay("2026-01-01"), ToOn: parseDay("2026-01-31")}
		instruction := landfall.Instruction{Vendor: "V", Reference: "r", Type: landfall.BPay}
		var entries []landfall.LedgerEntry
		outcome := post(t, store, landfall.Posting{Key: testKey, Decide: func(books landfall.AccountState) (landfall.Additions, error) {
			entries = addEntries(books, payment("N-1", 1), payment("A-1", 2))
			return landfall.Additions{
				Notes: []landfall.Note{note}, Entries: entries, Statements: []landfall.Statement{statement},
				Instructions: []landfall.Instruction{instruction},
				Event:        &landfall.Event{Type: landfall.EventNotesCreated, Details: map[string]string{"count": "1"}},
			}, nil
		}}, landfall.Posted)
		want.Data.Notes = append(want.Data.Notes, note)
		want.Data.Statements = append(want.Data.Statements, statement)
		want.Data.Instructions = append(want.Data.Instructions, instruction)
		want.Ledger = append(want.Ledger, entries...)
		want.Balance += 3
		wantEqual(t, readAccount(t, store, testKey), want)
		told := readEvents(t, store, testKey)
		if len(told) != 2 || told[1].Type != landfall.EventNotesCreated || told[1].AccountNumber != outcome.AccountNumber || told[1].Details["count"] != "1" {
			t.Errorf("events %+v", told)
		}
	}},
	// Decide runs only for a posting that is accepted: its result for an
	// account that cannot be posted to would be meaningless. Complete differs
	// from Paused: payments still arrive after the last account was moved, and
	// refusing them would refuse customers' money.
	{"a posting needs an account of a supplier that is not Paused", func(t *testing.T, store landfall.Store) {
		importAccounts(t, store, testKey.External)
		decided := false
		own := func(key landfall.Key) landfall.Posting {
			return landfall.Posting{Key: key, Decide: func(landfall.AccountState) (landfall.Additions, error) {
				decided = true
				return landfall.Additions{}, nil
			}}
		}
		waiting := landfall.Key{Supplier: supplierCode, External: "waiting"}
		stage(t, store, newStaging(waiting, "x"), landfall.StagedFirst, 1)
		post(t, store, own(waiting), landfall.PostNoAccount)
		post(t, store, own(landfall.Key{Supplier: supplierCode, External: "none"}), landfall.PostNoAccount)
		post(t, store, own(landfall.Key{Supplier: "NONE", External: "1"}), landfall.PostNoSupplier)
		if err := setStatus(t.Context(), store, landfall.Paused); err != nil {
			t.Fatal(err)
		}
		post(t, store, own(testKey), landfall.PostNoSupplier)
		if decided {
			t.Error("Decide was asked")
		}
		// Late postings to existing accounts are still accepted.
		if err := setStatus(t.Context(), store, landfall.Complete); err != nil {
			t.Fatal(err)
		}
		post(t, store, own(waiting), landfall.PostNoAccount)
		post(t, store, own(testKey), landfall.Posted)
		if !decided {
			t.Error("Decide was not asked")
		}
	}},
	// Data that a database cannot store is noticed only during the write, when
	// the good note and the entry before it may already be written. Neither may
	// remain, and concurrent postings must succeed.
	{"an unstorable posting is refused entirely, and no other with it", func(t *testing.T, store landfall.Store) {
		importAccounts(t, store, "0", "1", "2", "3")
		atOnce(4, func(number int) {
			own := landfall.Key{Supplier: supplierCode, External: fmt.Sprint(number)}
			_, err := store.Post(t.Context(), landfall.Posting{Key: own, Decide: func(books landfall.AccountState) (landfall.Additions, error) {
				notes := []landfall.Note{{Body: "good", HasBody: true}, {Body: "bad\x00", HasBody: true}}
				if number > 0 {
					notes = notes[:1]
				}
				return landfall.Additions{Notes: notes, Entries: addEntries(books, payment("T", 1))}, nil
			}})
			if (err != nil) != (number == 0) {
				t.Errorf("%d: %v", number, err)
			}
		})
		for number, entries := range map[string]int{"0": 3, "1": 4, "2": 4, "3": 4} {
			if found := readAccount(t, store, landfall.Key{Supplier: supplierCode, External: number}); len(found.Ledger) != entries {
				t.Errorf("%s has %d entries, want %d", number, len(found.Ledger), entries)
			}
		}
	}},
	// Equal notes are common, since systems write the same sentence again and
	// again. A posting that read all of them would get slower with every new
	// one.
	{"only the notes and instructions that matter are read among many", readsLittle},
	// An initial load of old transactions is this long. It must be all or nothing
	// like a short one, and sending it again must find every transaction.
	{"ten thousand transactions are one posting", func(t *testing.T, store landfall.Store) {
		const many = 10_000
		importAccounts(t, store, testKey.External)
		var batch []landfall.Transaction
		for number := range many {
			batch = append(batch, payment(fmt.Sprint("T", number), 1))
		}
		var added atomic.Int32
		for range 2 { // the second time they all exist
			post(t, store, pay(testKey, &added, batch...), landfall.Posted)
		}
		if found := readAccount(t, store, testKey); len(found.Ledger) != many+3 || found.Balance != 690+many {
			t.Errorf("%d entries, balance %v", len(found.Ledger), found.Balance)
		}
	}},
	// A fixed list of examples would miss the sum that goes wrong. The amounts
	// are random up to the largest allowed, of both signs and every type, and
	// readAccount compares the sums on the way.
	{"the balance is the sum of the ledger after any postings", func(t *testing.T, store landfall.Store) {
		numbers := []string{"a", "b", "c"}
		importAccounts(t, store, numbers...)
		types := []landfall.TransactionType{landfall.Charge, landfall.Credit, landfall.Payment, landfall.Repayment, landfall.SupplyCharge}
		expected := map[string]money.Amount{"a": 690, "b": 690, "c": 690}
		drawn := 0
		rapid.Check(t, func(r *rapid.T) {
			number := rapid.SampledFrom(numbers).Draw(r, "account")
			var batch []landfall.Transaction
			for range rapid.IntRange(0, 5).Draw(r, "transactions") {
				// Ids are counted across all draws, because the account is
				// reused from one draw to the next.
				drawn++
				batch = append(batch, landfall.Transaction{
					ID: fmt.Sprint("R", drawn), On: parseDay("2026-07-09"), Type: rapid.SampledFrom(types).Draw(r, "type"),
					Amount: money.Amount(rapid.Int64Range(-99_999_999_999_999, 99_999_999_999_999).Draw(r, "amount")),
				})
				expected[number] += batch[len(batch)-1].Signed()
			}
			var added atomic.Int32
			post(t, store, pay(landfall.Key{Supplier: supplierCode, External: number}, &added, batch...), landfall.Posted)
		})
		for number, balance := range expected {
			if found := readAccount(t, store, landfall.Key{Supplier: supplierCode, External: number}); found.Balance != balance {
				t.Errorf("%s has balance %v, want %v", number, found.Balance, balance)
			}
		}
	}},
}
