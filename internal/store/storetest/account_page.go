package storetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"landfall"
)

// accountPages are about accounts that are too long for one page. Long lists are
// paged, and the page says what was left out.
var accountPages = []promiseCheck{
	// An account with years of history must open as fast as a new one.
	{"an account page has the newest of every list, and pages lead to the oldest", pageThroughAccount},
	// A single note may be as long as a book and would make the page unusable.
	{"an account page leaves out notes that are too long", omitLongNotes},
	// A refused account must not be reported as never sent.
	{"a refusal can be read until the account is staged", refusedUntilStaged},
	// An account may be staged any number of times, so its history may be too
	// long for a page.
	{"the history of a process is read newest first", historyPages},
}

// readPage reads a page of the account that most cases use.
func readPage(t *testing.T, store landfall.Store, wanted landfall.AccountPageQuery) (found landfall.AccountPage) {
	t.Helper()
	inView(t, store, func(view landfall.View) (err error) {
		found, err = view.AccountPage(t.Context(), testKey, wanted)
		return err
	})
	return found
}

// longAccount returns an account with count notes, statements and ledger
// entries, enough for the partial indexes that only cover long lists.
func longAccount(count int) landfall.Account {
	account := sampleAccount()
	account.Data.Notes, account.Data.Statements = nil, nil
	for i := range count {
		account.Data.Notes = append(account.Data.Notes, landfall.Note{
			Body: fmt.Sprint("note ", i+1), HasBody: true, Pinned: i%100 == 0, CreatedAt: noteTime(i, count),
		})
		account.Data.Statements = append(account.Data.Statements, landfall.Statement{ID: fmt.Sprint("S", i+1)})
	}
	for i := len(account.Ledger); i < count; i++ {
		account.Balance++
		account.Ledger = append(account.Ledger, landfall.LedgerEntry{Sequence: i + 1, Kind: landfall.TransactionEntry, Signed: 1,
			Balance: account.Balance, Transaction: payment(fmt.Sprint("L", i+1), 1)})
	}
	return account
}

// noteTime gives the second half of the notes earlier times than the first, because
// notes do not arrive in the order of their times. Two of them have the same time.
func noteTime(i, count int) time.Time { return time.Unix(int64((i+count/2)%count/2), 0).UTC() }

// pageThroughAccount reads page after page and checks that together they are
// the whole account, with no duplicates where pages meet.
func pageThroughAccount(t *testing.T, store landfall.Store) {
	const count, rows = 450, 60
	staged(t, store, "A-1")
	number := create(t, store, claimFor(t, store, claimRequest(testKey), landfall.ClaimGranted), longAccount(count)).Number
	// Compare the pages with an unpaged read, which other cases rely on.
	whole := readAccount(t, store, testKey)
	slices.SortStableFunc(whole.Data.Notes, func(a, b landfall.Note) int { return a.CreatedAt.Compare(b.CreatedAt) })
	entries, notes, statements := 0, 0, 0
	for wanted := (landfall.AccountPageQuery{Rows: rows}); ; {
		page := readPage(t, store, wanted)
		if page.Number != number || page.LedgerLength != count || page.NoteCount != count || page.StatementCount != count || len(page.Pinned) != 5 {
			t.Fatalf("page %+v", page)
		}
		if len(page.Data.Customers) != 2 || len(page.Periods) != 2 || len(page.Data.Instructions) != 1 || page.InstructionCount != 1 {
			t.Errorf("page %+v", page.Data)
		}
		// After the oldest entry comes an empty page, not an error.
		if len(page.Notes) == 0 {
			break
		}
		for i := range page.Notes {
			wantEqual(t, page.Ledger[i], whole.Ledger[count-1-entries])
			wantEqual(t, page.Notes[i].Note, whole.Data.Notes[count-1-notes])
			wantEqual(t, page.Data.Statements[i], whole.Data.Statements[count-1-statements])
			entries, notes, statements = entries+1, notes+1, statements+1
		}
		last := len(page.Notes) - 1
		wanted.EntriesBefore, wanted.NotesBefore = page.Ledger[last].Sequence, landfall.NotePosition{CreatedAt: page.Notes[last].CreatedAt, Index: page.Notes[last].Index}
		wanted.StatementsBefore = page.StatementIndexes[last]
		if !page.MoreNotes {
			break
		}
	}
	if entries != count || notes != count || statements != count {
		t.Errorf("%d entries, %d notes and %d statements of %d", entries, notes, statements, count)
	}
	inView(t, store, func(view landfall.View) error {
		if found, err := view.KeyByNumber(t.Context(), number); found != testKey || err != nil {
			t.Errorf("key %v, %v", found, err)
		}
		_, err := view.KeyByNumber(t.Context(), "A-NOBODYS")
		wantError(t, err, landfall.ErrNotFound)
		_, err = view.AccountPage(t.Context(), landfall.Key{Supplier: supplierCode, External: "nobody"}, landfall.AccountPageQuery{Rows: 1})
		wantError(t, err, landfall.ErrNotFound)
		return nil
	})
}

// omitLongNotes has one note that just fits and one that does not.
func omitLongNotes(t *testing.T, store landfall.Store) {
	staged(t, store, "A-1")
	account := sampleAccount()
	body := strings.Repeat("x", landfall.MaxNoteBytes+1)
	account.Data.Notes = []landfall.Note{{Body: body, HasBody: true, Pinned: true}, {Body: body[1:], HasBody: true}}
	create(t, store, claimFor(t, store, claimRequest(testKey), landfall.ClaimGranted), account)
	found := readPage(t, store, landfall.AccountPageQuery{Rows: 10})
	if len(found.Notes) != 2 || found.Notes[0].Bytes != landfall.MaxNoteBytes || found.Notes[0].Body != body[1:] ||
		found.Notes[1].Bytes != len(body) || found.Notes[1].Body != "" || found.Notes[1].HasBody || len(found.Pinned) != 1 || found.Pinned[0].Body != "" {
		t.Errorf("notes of %d and %d bytes", found.Notes[0].Bytes, found.Notes[1].Bytes)
	}
}

// historyPages reads backwards, since people look for the latest changes.
func historyPages(t *testing.T, store landfall.Store) {
	staged(t, store, "A-1")
	for revision := 2; revision <= 5; revision++ {
		stage(t, store, newStaging(testKey, fmt.Sprint(revision)), landfall.StagedAgain, revision)
	}
	for range 3 {
		update(t, store, func(tx landfall.Tx) error {
			if err := tx.AppendEvent(t.Context(), landfall.Event{Type: landfall.EventSkipped, Key: testKey}); err != nil {
				return err
			}
			return tx.AppendAudit(t.Context(), landfall.AuditEntry{Actor: undoActor, Action: "account.skip", Subject: supplierCode + "/A-1"})
		})
	}
	history := func(before time.Time, limit int) (found landfall.History) {
		inView(t, store, func(view landfall.View) (err error) {
			found, err = view.History(t.Context(), landfall.HistoryQuery{Key: testKey, Before: before, Limit: limit})
			return err
		})
		return found
	}
	found := history(time.Time{}, 2)
	if len(found.Revisions) != 2 || found.Revisions[0].Revision != 5 || found.Revisions[0].Document != nil || len(found.Events) != 2 || len(found.Audit) != 2 {
		t.Errorf("history %+v", found)
	}
	if found := history(found.Revisions[1].StagedAt, 10); len(found.Revisions) != 3 || found.Revisions[0].Revision != 3 || len(found.Events) != 0 {
		t.Errorf("earlier %+v", found)
	}
	inView(t, store, func(view landfall.View) error {
		one, err := view.Revision(t.Context(), testKey, 3)
		if err != nil || string(one.Document) != `{"content": "3"}` || one.Revision != 3 {
			t.Errorf("revision %+v, %v", one, err)
		}
		_, err = view.Revision(t.Context(), testKey, 9)
		wantError(t, err, landfall.ErrNotFound)
		return nil
	})
}

// refusedUntilStaged checks an account that was never accepted. It has no
// process, and its refusal is all that is known about it.
func refusedUntilStaged(t *testing.T, store landfall.Store) {
	createSupplier(t, store)
	asked := func() (failure landfall.Failure, err error) {
		inView(t, store, func(view landfall.View) error {
			var refusal landfall.Refusal
			refusal, err = view.StagingRefusal(t.Context(), testKey)
			failure = refusal.Failure
			return nil
		})
		return failure, err
	}
	_, err := asked()
	wantError(t, err, landfall.ErrNotFound)
	wrong := landfall.Failure{Code: "c", Detail: "d", Violations: []landfall.Violation{{Code: "v", Attr: "a"}}}
	if err := store.Refuse(t.Context(), landfall.Refusal{Key: testKey, Failure: wrong}); err != nil {
		t.Fatal(err)
	}
	failure, err := asked()
	if err != nil || failure.Code != "c" || len(failure.Violations) != 1 || !failure.AtStaging {
		t.Errorf("%+v, %v", failure, err)
	}
	recent(t, failure.At)
	stage(t, store, newStaging(testKey, "x"), landfall.StagedFirst, 1)
	_, err = asked()
	wantError(t, err, landfall.ErrNotFound)
}
