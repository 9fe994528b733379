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

// importAccounts makes accounts that can be posted to.
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

// enter gives ledger entries for transactions, behind what the books hold.
func enter(books landfall.AccountState, transactions ...landfall.Transaction) []landfall.LedgerEntry {
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

// payment has a document, which is kept as it was sent.
func payment(id string, amount money.Amount) landfall.Transaction {
	return landfall.Transaction{ID: id, On: on("2026-07-09"), Amount: amount, Type: landfall.Payment, Document: []byte(`{"id": 1}`)}
}

// pay adds transactions that are not there yet, as the endpoint does.
func pay(key landfall.Key, added *atomic.Int32, transactions ...landfall.Transaction) landfall.Posting {
	posting := landfall.Posting{Key: key}
	for _, transaction := range transactions {
		posting.TransactionIDs = append(posting.TransactionIDs, transaction.ID)
	}
	posting.Decide = func(books landfall.AccountState) (landfall.Additions, error) {
		// A decision may be asked more than once, so it leaves what it was given as
		// it is.
		fresh := slices.DeleteFunc(slices.Clone(transactions), func(transaction landfall.Transaction) bool {
			return slices.ContainsFunc(books.Entries, func(entry landfall.LedgerEntry) bool { return entry.Transaction.ID == transaction.ID })
		})
		added.Add(int32(len(fresh)))
		return landfall.Additions{Entries: enter(books, fresh...)}, nil
	}
	return posting
}

// errDecided is what a caller's function says, and must come back as it is.
var errDecided = errors.New("no")

// postings add to an account under its lock: what was read to decide is still true
// when the decision is written, whoever else posts meanwhile.
var postings = []promiseCheck{
	// A posting decides by what is there, so what it asked about must be found,
	// however often and in whichever order it asked. What it did not ask about must
	// not be read: an account may have years of notes, and each posting would pay for
	// them.
	{"a posting sees what it asks for, and nothing else", func(t *testing.T, store landfall.Store) {
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
		same(t, seen, landfall.AccountState{
			AccountNumber: outcome.AccountNumber, Period: landfall.Period{FromOn: on("2026-07-01")}, Balance: 690, LastSequence: 3,
			Notes: given.Data.Notes[:2], Entries: given.Ledger[1:2], Statements: given.Data.Statements[1:], Instructions: given.Data.Instructions,
		})
		post(t, store, landfall.Posting{Key: testKey, Decide: func(books landfall.AccountState) (landfall.Additions, error) {
			if len(books.Notes)+len(books.Entries)+len(books.Statements)+len(books.Instructions) != 0 {
				t.Errorf("not asked for: %+v", books)
			}
			return landfall.Additions{}, nil
		}}, landfall.Posted)
		// Neither posting added anything, so nobody is told of anything but the
		// creation.
		if told := readEvents(t, store, testKey); len(told) != 1 {
			t.Errorf("events %+v", told)
		}
	}},
	// When one transaction of a request is malformed, this is how it is found out
	// whether one before it would have been refused first. It must come to the same as
	// a posting would, and a mere look must never keep money from being booked.
	{"what transactions would be decided by can be read, and holds nothing", func(t *testing.T, store landfall.Store) {
		importAccounts(t, store, testKey.External)
		for _, ids := range [][]string{nil, {"P-1", "P-1", "none", ""}} {
			var decided, read landfall.AccountState
			inView(t, store, func(view landfall.View) (err error) {
				read, err = view.AccountState(t.Context(), testKey, ids)
				// Whoever reads keeps nobody from posting.
				post(t, store, landfall.Posting{Key: testKey, TransactionIDs: ids, Decide: func(books landfall.AccountState) (landfall.Additions, error) {
					decided = books
					return landfall.Additions{}, nil
				}}, landfall.Posted)
				return err
			})
			recent(t, read.Now)
			read.Now, decided.Now = time.Time{}, time.Time{}
			same(t, read, decided)
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
	// Order is part of what was sent, and each entry has the balance up to it. The
	// new ids sort before the old ones on purpose, so that a store which reads by id
	// is found out.
	{"what is posted is read back behind what was there", func(t *testing.T, store landfall.Store) {
		importAccounts(t, store, testKey.External)
		want := readAccount(t, store, testKey)
		note := landfall.Note{Body: "New", HasBody: true, CreatedAt: time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC), DocumentPaths: []string{"p"}}
		statement := landfall.Statement{ID: "S0", FromOn: on("2026-01-01"), ToOn: on("2026-01-31")}
		instruction := landfall.Instruction{Vendor: "V", Reference: "r", Type: landfall.BPay}
		var entries []landfall.LedgerEntry
		outcome := post(t, store, landfall.Posting{Key: testKey, Decide: func(books landfall.AccountState) (landfall.Additions, error) {
			entries = enter(books, payment("N-1", 1), payment("A-1", 2))
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
		same(t, readAccount(t, store, testKey), want)
		told := readEvents(t, store, testKey)
		if len(told) != 2 || told[1].Type != landfall.EventNotesCreated || told[1].AccountNumber != outcome.AccountNumber || told[1].Details["count"] != "1" {
			t.Errorf("events %+v", told)
		}
	}},
	// Only a posting that was let in has been decided: what Decide says about books
	// that cannot be posted to would be an answer to a question nobody asked. Complete
	// is different from Paused: payments go on arriving for accounts after the last of
	// them was moved, and somebody's money would be turned away.
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
		// What comes late for accounts that exist still comes.
		if err := setStatus(t.Context(), store, landfall.Complete); err != nil {
			t.Fatal(err)
		}
		post(t, store, own(waiting), landfall.PostNoAccount)
		post(t, store, own(testKey), landfall.Posted)
		if !decided {
			t.Error("Decide was not asked")
		}
	}},
	// What a database cannot keep is found only while it is written, when the good
	// note and the entry before it may be written already. Neither may stay, and the
	// postings beside it must get through.
	{"an unstorable posting is refused whole and alone", func(t *testing.T, store landfall.Store) {
		importAccounts(t, store, "0", "1", "2", "3")
		atOnce(4, func(number int) {
			own := landfall.Key{Supplier: supplierCode, External: fmt.Sprint(number)}
			_, err := store.Post(t.Context(), landfall.Posting{Key: own, Decide: func(books landfall.AccountState) (landfall.Additions, error) {
				notes := []landfall.Note{{Body: "good", HasBody: true}, {Body: "bad\x00", HasBody: true}}
				if number > 0 {
					notes = notes[:1]
				}
				return landfall.Additions{Notes: notes, Entries: enter(books, payment("T", 1))}, nil
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
	// Equal notes are common, since systems write the same sentence again and again.
	// A posting that read all of them would get slower with every one that is added.
	{"of many equal notes and many instructions only what decides is read", readsLittle},
	// A first load of old transactions is this long. It must be all or nothing as a
	// short one is, and sending it again must find every one of them.
	{"ten thousand transactions are one posting", func(t *testing.T, store landfall.Store) {
		const many = 10_000
		importAccounts(t, store, testKey.External)
		var batch []landfall.Transaction
		for number := range many {
			batch = append(batch, payment(fmt.Sprint("T", number), 1))
		}
		var added atomic.Int32
		for range 2 { // the second time they are all there
			post(t, store, pay(testKey, &added, batch...), landfall.Posted)
		}
		if found := readAccount(t, store, testKey); len(found.Ledger) != many+3 || found.Balance != 690+many {
			t.Errorf("%d entries, balance %v", len(found.Ledger), found.Balance)
		}
	}},
	// No list of examples has the sum that goes wrong. The amounts are drawn up to
	// the largest there may be, of both signs and every type, and account compares
	// the sums on the way.
	{"the balance is the ledger's sum after any postings", func(t *testing.T, store landfall.Store) {
		numbers := []string{"a", "b", "c"}
		importAccounts(t, store, numbers...)
		types := []landfall.TransactionType{landfall.Charge, landfall.Credit, landfall.Payment, landfall.Repayment, landfall.SupplyCharge}
		expected := map[string]money.Amount{"a": 690, "b": 690, "c": 690}
		drawn := 0
		rapid.Check(t, func(r *rapid.T) {
			number := rapid.SampledFrom(numbers).Draw(r, "account")
			var batch []landfall.Transaction
			for range rapid.IntRange(0, 5).Draw(r, "transactions") {
				// Ids are counted over all draws, because the account goes on from
				// one draw to the next.
				drawn++
				batch = append(batch, landfall.Transaction{
					ID: fmt.Sprint("R", drawn), On: on("2026-07-09"), Type: rapid.SampledFrom(types).Draw(r, "type"),
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
