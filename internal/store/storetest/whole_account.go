package storetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"landfall"
)

// wholeAccounts are about reading accounts with their records.
var wholeAccounts = []promiseCheck{
	{"a whole account has its record and its lists", readWhole},
	// Memory must not grow with the length of an account.
	{"the lists of a long whole account are read in parts", readLongWhole},
	{"whole accounts are in the order of the list, up to a bound or since an event", listWhole},
	{"staging an account that exists says whether the document is the same", sameDocument},
}

// readWholeAccount reads one whole account.
func readWholeAccount(t *testing.T, store landfall.Store, key landfall.Key) (found landfall.WholeAccount) {
	t.Helper()
	inView(t, store, func(view landfall.View) (err error) {
		found, err = view.WholeAccount(t.Context(), key)
		return err
	})
	return found
}

func readWhole(t *testing.T, store landfall.Store) {
	staged(t, store, "A-1")
	err := store.View(t.Context(), func(view landfall.View) error {
		_, err := view.WholeAccount(t.Context(), testKey)
		return err
	})
	wantError(t, err, landfall.ErrNotFound)
	claim := claimFor(t, store, claimRequest(testKey), landfall.ClaimGranted)
	created := create(t, store, claim, sampleAccount())
	account, found := readAccount(t, store, testKey), readWholeAccount(t, store, testKey)
	if string(found.Record) != string(claim.Document) || found.Revision != claim.Revision || found.Number != created.Number ||
		!found.CreatedAt.Equal(account.CreatedAt) || found.Balance != account.Balance || found.Currency != account.Data.Currency || found.Key != testKey {
		t.Errorf("found %+v", found)
	}
	wantEqual(t, found.Lists, landfall.AccountLists{
		Entries: account.Ledger, Notes: account.Data.Notes, Statements: account.Data.Statements, Instructions: account.Data.Instructions,
	})
	wantEqual(t, found.Lengths, found.Lists.Lengths())
	update(t, store, func(tx landfall.Tx) error {
		_, err := tx.Erase(t.Context(), testKey)
		return err
	})
	if found := readWholeAccount(t, store, testKey); found.Record != nil || found.ErasedAt.IsZero() || found.Number != created.Number {
		t.Errorf("erased: %+v", found)
	}
}

// readLongWhole posts notes until an account is longer than what is read at
// once.
func readLongWhole(t *testing.T, store landfall.Store) {
	const count = 450
	staged(t, store, "A-1")
	account := longAccount(count)
	for i := range account.Data.Notes {
		account.Data.Notes[i].Body += strings.Repeat("x", 19_000)
	}
	createdAt := create(t, store, claimFor(t, store, claimRequest(testKey), landfall.ClaimGranted), account).At
	full, found := readAccount(t, store, testKey), readWholeAccount(t, store, testKey)
	if found.Lengths != (landfall.ListLengths{Entries: count, Notes: count, Statements: count, Instructions: 1}) {
		t.Errorf("lengths %+v", found.Lengths)
	}
	if size := len(found.Lists.Notes); size == 0 || size > 200 {
		t.Errorf("%d long notes were read at once", size)
	}
	read, parts := found.Lists, 0
	for read.Lengths() != found.Lengths {
		var more landfall.AccountLists
		inView(t, store, func(view landfall.View) (err error) {
			more, err = view.AccountLists(t.Context(), landfall.AccountListsQuery{Key: testKey, CreatedAt: createdAt, After: read.Lengths(), UpTo: found.Lengths})
			return err
		})
		if parts++; more.Lengths() == (landfall.ListLengths{}) || parts > 100 {
			t.Fatalf("part %d has nothing", parts)
		}
		read.Entries, read.Notes = append(read.Entries, more.Entries...), append(read.Notes, more.Notes...)
		read.Statements, read.Instructions = append(read.Statements, more.Statements...), append(read.Instructions, more.Instructions...)
	}
	wantEqual(t, read, landfall.AccountLists{
		Entries: full.Ledger, Notes: full.Data.Notes, Statements: full.Data.Statements, Instructions: full.Data.Instructions,
	})
	err := store.View(t.Context(), func(view landfall.View) error {
		_, err := view.AccountLists(t.Context(), landfall.AccountListsQuery{Key: testKey, CreatedAt: createdAt.Add(time.Second), UpTo: found.Lengths})
		return err
	})
	wantError(t, err, landfall.ErrNotFound)
}

func listWhole(t *testing.T, store landfall.Store) {
	var numbers []string
	for i := range 7 {
		numbers = append(numbers, fmt.Sprint("A-", i+1))
	}
	staged(t, store, numbers...)
	for _, external := range numbers[:6] {
		key := landfall.Key{Supplier: supplierCode, External: external}
		create(t, store, claimFor(t, store, claimRequest(key), landfall.ClaimGranted), sampleAccount())
	}
	var listed []landfall.ProcessEntry
	for entry, err := range store.List(t.Context(), landfall.ProcessQuery{Supplier: supplierCode, Filter: landfall.ImportedProcesses}) {
		if err != nil {
			t.Fatal(err)
		}
		listed = append(listed, entry)
	}
	read := func(query landfall.WholeAccountQuery) (found []string) {
		query.Supplier = supplierCode
		for account, err := range store.WholeAccounts(t.Context(), query) {
			if err != nil {
				t.Fatal(err)
			}
			if one := readWholeAccount(t, store, account.Key); string(one.Record) != string(account.Record) || account.Record == nil || one.Number != account.Number {
				t.Errorf("%+v is not %+v", account, one)
			}
			found = append(found, account.Key.External)
		}
		return found
	}
	var want []string
	for _, entry := range listed {
		want = append(want, entry.External)
	}
	wantEqual(t, read(landfall.WholeAccountQuery{}), want)
	if len(want) != 6 {
		t.Fatalf("%d accounts", len(want))
	}
	at := func(i int) *landfall.ProcessCursor {
		return &landfall.ProcessCursor{FirstStagedAt: listed[i].FirstStagedAt, External: listed[i].External}
	}
	wantEqual(t, read(landfall.WholeAccountQuery{After: at(1), UpTo: at(3)}), want[2:4])
	inView(t, store, func(view landfall.View) error {
		for limit, wanted := range map[int]*landfall.ProcessCursor{2: at(3), 4: nil, 5: nil} {
			end, err := view.WholeAccountPage(t.Context(), landfall.WholeAccountQuery{Supplier: supplierCode, After: at(1)}, limit)
			if err != nil || (end == nil) != (wanted == nil) || end != nil && (end.External != wanted.External || !end.FirstStagedAt.Equal(wanted.FirstStagedAt)) {
				t.Errorf("a page of %d ends at %+v, %v", limit, end, err)
			}
		}
		return nil
	})
	var last int64
	inView(t, store, func(view landfall.View) (err error) {
		last, err = view.LastEventBefore(t.Context(), time.Now().Add(time.Hour))
		return err
	})
	if changed := read(landfall.WholeAccountQuery{Changed: true, ChangedAfter: last}); len(changed) > 0 {
		t.Errorf("%v changed after the last event", changed)
	}
	key := landfall.Key{Supplier: supplierCode, External: want[4]}
	update(t, store, func(tx landfall.Tx) error {
		return tx.AppendEvent(t.Context(), landfall.Event{Type: landfall.EventNotesCreated, Key: key})
	})
	wantEqual(t, read(landfall.WholeAccountQuery{Changed: true, ChangedAfter: last}), []string{want[4]})
	wantEqual(t, read(landfall.WholeAccountQuery{Changed: true}), want)
	for account, err := range store.WholeAccounts(t.Context(), landfall.WholeAccountQuery{Supplier: "NOBODY"}) {
		t.Errorf("an unknown supplier has %+v, %v", account, err)
	}
}

func sameDocument(t *testing.T, store landfall.Store) {
	createSupplier(t, store)
	update(t, store, func(tx landfall.Tx) error { return tx.CreateTeam(t.Context(), teamName) })
	document := newStaging(testKey, "one")
	stage(t, store, document, landfall.StagedFirst, 1)
	create(t, store, claimFor(t, store, claimRequest(testKey), landfall.ClaimGranted), sampleAccount())
	for content, same := range map[string]bool{"one": true, "other": false} {
		outcome, err := store.Stage(t.Context(), newStaging(testKey, content))
		if err != nil || outcome.Verdict != landfall.RefusedImported || outcome.SameDocument != same || outcome.Revision != 1 {
			t.Errorf("%s: %+v, %v", content, outcome, err)
		}
	}
}
