package sqlstore_test

import (
	"fmt"
	"testing"

	"landfall"
	"landfall/internal/lib/money"
	"landfall/internal/store/sqlstore"
)

// openCreated opens a fresh store with one account and returns the account's id.
func openCreated(t *testing.T, url string) (*sqlstore.Store, int64) {
	t.Helper()
	store := openStore(t, url)
	prepareStore(t, store, "1")
	if _, err := store.Create(t.Context(), landfall.Creation{Claim: claimNumber(t, store, "1"), Account: sampleAccount(t)}); err != nil {
		t.Fatal(err)
	}
	id, err := store.Count(t.Context(), `SELECT id FROM account`)
	if err != nil {
		t.Fatal(err)
	}
	return store, int64(id)
}

// TestPostingRunsFewStatements counts the statements that run while
// an account is locked, for the largest posting that one request may contain.
func TestPostingRunsFewStatements(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		store, _ := openCreated(t, url)
		const many = 10_000
		posting := landfall.Posting{Key: testKey, TransactionIDs: make([]string, many)}
		for i := range many {
			posting.TransactionIDs[i] = fmt.Sprintf("T-%d", i)
		}
		posting.Decide = func(state landfall.AccountState) (landfall.Additions, error) {
			var add landfall.Additions
			for i, id := range posting.TransactionIDs {
				add.Entries = append(add.Entries, landfall.LedgerEntry{
					Sequence: state.LastSequence + i + 1, Kind: landfall.TransactionEntry, Signed: 1,
					Balance: state.Balance + money.Amount(i+1), Transaction: landfall.Transaction{ID: id, Amount: 1, Type: landfall.Payment},
				})
			}
			return add, nil
		}
		count, err := store.CountPostStatements(t.Context(), posting)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%d statements", count)
		if count > 32 {
			t.Errorf("%d statements for one posting", count)
		}
	})
}

// TestConstraintsRejectWrongRows does what the code should never do, and expects
// the database to refuse it.
func TestConstraintsRejectWrongRows(t *testing.T) {
	const entry = `INSERT INTO ledger_entry (account_id, transaction_id, sequence, kind, closed, signed, balance, type, entered_on, reason, note)
		SELECT account_id, 'other', %s, kind, closed, signed, balance, type, entered_on, reason, note FROM ledger_entry WHERE sequence = 1`
	slips := map[string]string{
		"a place in the ledger given twice": fmt.Sprintf(entry, `sequence`),
		"a place before the first":          fmt.Sprintf(entry, `0`),
		"a number given to a second account": `INSERT INTO process (supplier_id, external, state, revision, hash, first_staged_at, staged_at, number)
			SELECT supplier_id, 'other', 'staged', 1, hash, 1, 1, number FROM process`,
		"an account with another number than its own": `UPDATE process SET account_number = 'A-00000000'`,
	}
	onEach(t, func(t *testing.T, url string) {
		store, id := openCreated(t, url)
		for name, slip := range slips {
			if store.Force(t.Context(), slip) == nil {
				t.Errorf("%s: it was accepted", name)
			}
		}
		length, err := store.Count(t.Context(), `SELECT ledger_length FROM account`)
		if err != nil {
			t.Fatal(err)
		}
		if store.UpdateAccount(t.Context(), id, int64(length)-1) == nil {
			t.Error("an account with another ledger length was updated")
		}
		if err := store.UpdateAccount(t.Context(), id, int64(length)); err != nil {
			t.Error(err)
		}
	})
}

// TestForeignKeysPreventOrphans tries to delete or renumber suppliers and
// processes that staged documents belong to. PostgreSQL has no foreign key there.
func TestForeignKeysPreventOrphans(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		store := openStore(t, url)
		prepareStore(t, store, "1")
		for _, slip := range []string{
			`DELETE FROM supplier`, `UPDATE supplier SET id = id + 1000`, `DELETE FROM process`, `UPDATE process SET id = id + 1000`,
		} {
			if store.Force(t.Context(), slip) == nil {
				t.Errorf("%s was accepted", slip)
			}
		}
	})
}

// TestPostedRowsNameTheirAuthor checks every kind of row that a posting adds.
func TestPostedRowsNameTheirAuthor(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		store, _ := openCreated(t, url)
		_, err := store.Post(t.Context(), landfall.Posting{
			Key: testKey, By: landfall.Author{Organisation: "O", KeyID: "k", RequestID: "r"},
			Decide: func(state landfall.AccountState) (landfall.Additions, error) {
				return landfall.Additions{
					Notes:        []landfall.Note{{Body: "n", HasBody: true}},
					Statements:   []landfall.Statement{{ID: "new"}},
					Instructions: []landfall.Instruction{{Vendor: "V", Reference: "r"}},
					Entries: []landfall.LedgerEntry{{
						Sequence: state.LastSequence + 1, Kind: landfall.TransactionEntry, Signed: 1, Balance: state.Balance + 1,
						Transaction: landfall.Transaction{ID: "new", Amount: 1, Type: landfall.Payment},
					}},
					Event: &landfall.Event{Type: landfall.EventNotesCreated},
				}, nil
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, table := range []string{"note", "historical_statement", "instruction", "ledger_entry", "event"} {
			count, err := store.Count(t.Context(), `SELECT count(*) FROM `+table+` WHERE key_id = 'k' AND request_id = 'r'`)
			if err != nil || count != 1 {
				t.Errorf("%d rows of %s name their author, %v", count, table, err)
			}
		}
	})
}
