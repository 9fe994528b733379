package sqlstore_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"landfall"
	"landfall/internal/lib/money"
	"landfall/internal/store/sqlstore"
)

func undo(t *testing.T, store landfall.Store, external string) landfall.UndoOutcome {
	t.Helper()
	outcome, err := store.Undo(t.Context(), landfall.UndoRequest{
		Key: landfall.Key{Supplier: testKey.Supplier, External: external}, Actor: "operator:a", Reason: "r",
	})
	if err != nil {
		t.Fatal(err)
	}
	return outcome
}

// TestNumberBelongsToItsAccountForEver makes the source of numbers repeat itself
// after the account with that number was undone: the account has its number again
// when it is created again, and no other account gets it.
func TestNumberBelongsToItsAccountForEver(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		source := &fixedDigits{remaining: 1}
		store, err := sqlstore.Open(t.Context(), url, sqlstore.Options{ApplySchema: true, Random: source})
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		prepareStore(t, store, "1", "2")
		created := func(external string) landfall.CreateOutcome {
			outcome, err := store.Create(t.Context(), landfall.Creation{Claim: claimNumber(t, store, external), Account: sampleAccount(t)})
			if err != nil || outcome.Verdict != landfall.Created {
				t.Fatalf("got %+v, %v", outcome, err)
			}
			return outcome
		}
		first := created("1")
		if outcome := undo(t, store, "1"); outcome.Verdict != landfall.Undone {
			t.Fatalf("got %+v", outcome)
		}
		source.remaining = 1
		if other := created("2"); other.Number == first.Number {
			t.Errorf("another account has the number %s", first.Number)
		}
		// A dry run consumes nothing, and an account keeps its number however
		// often it is undone.
		dry := claimNumber(t, store, "1")
		dry.DryRun = true
		if outcome, err := store.Create(t.Context(), landfall.Creation{Claim: dry, Account: sampleAccount(t)}); err != nil || outcome.Verdict != landfall.CreateRolledBack {
			t.Errorf("dry run: %+v, %v", outcome, err)
		}
		if err := store.Force(t.Context(), `UPDATE process SET state = 'staged', claim_token = NULL, claim_until = NULL WHERE external = '1'`); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if again := created("1"); again.Number != first.Number {
				t.Errorf("the account %s was created again as %s", first.Number, again.Number)
			}
			undo(t, store, "1")
		}
		if found, _ := inspect(t, store); len(found) != 0 {
			t.Errorf("found %v", found)
		}
	})
}

// TestUndoOfADamagedRecordLostTheAccount undoes accounts that could not be created again.
func TestUndoOfADamagedRecordLostTheAccount(t *testing.T) {
	for name, damage := range map[string]string{
		"damaged": `UPDATE staging SET document = CAST('{"other":1}' AS {bytes})`,
		"empty":   `UPDATE staging SET document = CAST('' AS {bytes}), purged_at = 1`,
		"missing": `DELETE FROM staging`,
	} {
		t.Run(name, func(t *testing.T) { testUndoOfDamaged(t, damage) })
	}
}

func testUndoOfDamaged(t *testing.T, damage string) {
	t.Helper()
	onEach(t, func(t *testing.T, url string) {
		store, _ := openCreated(t, url)
		force(t, store, damage)
		outcome, err := store.Undo(t.Context(), landfall.UndoRequest{Key: testKey, Actor: "operator:a"})
		if err != nil || outcome.Verdict != landfall.UndoKept || outcome.Kept != landfall.KeptDamaged {
			t.Errorf("%+v, %v", outcome, err)
		}
	})
}

// TestUndoDeletesAllRows checks every table that has an account
// column, including those added later. The search terms are those of the staged data,
// which stays.
func TestUndoDeletesAllRows(t *testing.T) {
	columns := map[bool]string{
		false: `SELECT m.name FROM sqlite_schema m WHERE m.type = 'table'
			AND m.name <> 'search_term' AND EXISTS (SELECT 1 FROM pragma_table_info(m.name) c WHERE c.name = 'account_id')`,
		true: `SELECT table_name::text FROM information_schema.columns
			WHERE table_schema = current_schema() AND table_name <> 'search_term' AND column_name = 'account_id'`,
	}
	onEach(t, func(t *testing.T, url string) {
		store := openStore(t, url)
		prepareStore(t, store, "1")
		creation := landfall.Creation{Claim: claimNumber(t, store, "1"), Account: sampleAccount(t), Mails: []landfall.Mail{{Kind: "k", To: "t"}}}
		data := &creation.Account.Data
		data.Notes, data.Statements = []landfall.Note{{Body: "n", HasBody: true}}, []landfall.Statement{{ID: "S"}}
		data.Instructions, data.PaymentSchedules = []landfall.Instruction{{Vendor: "V"}}, []landfall.PaymentSchedule{{Trigger: "REGULAR"}}
		if outcome, err := store.Create(t.Context(), creation); err != nil || outcome.Verdict != landfall.Created {
			t.Fatalf("got %+v, %v", outcome, err)
		}
		if err := store.RefusePosting(t.Context(), landfall.PostingRefusal{Key: creation.Claim.Key, Kind: landfall.PostingNotes, Failure: landfall.Failure{Code: "c"}}); err != nil {
			t.Fatal(err)
		}
		if err := store.Force(t.Context(), `INSERT INTO target_delivery (target, account_id, supplier_id, external, kind, items, figures, at, held, hold_rounds)
			SELECT 'T', p.id, p.supplier_id, p.external, 'account', '', '-', 1, TRUE, 0 FROM process p`); err != nil {
			t.Fatal(err)
		}
		tables, err := store.Texts(t.Context(), columns[strings.HasPrefix(url, "postgres")])
		if err != nil {
			t.Fatal(err)
		}
		rows := func() (left []string) {
			for _, table := range append(slices.Clone(tables), "account") {
				count, err := store.Count(t.Context(), `SELECT count(*) FROM `+table)
				if err != nil {
					t.Fatal(err)
				}
				if count > 0 {
					left = append(left, table)
				}
			}
			return left
		}
		if before := rows(); len(before) != len(tables)+1 {
			t.Errorf("the account has rows in %v, want some in each of %v", before, tables)
		}
		if outcome, err := store.Undo(t.Context(), landfall.UndoRequest{Key: creation.Claim.Key, Actor: "operator:a", Reason: "r", TakenBack: true}); err != nil ||
			outcome.Verdict != landfall.Undone {
			t.Fatalf("got %+v, %v", outcome, err)
		}
		if left := rows(); len(left) > 0 {
			t.Errorf("rows are left in %v", left)
		}
		if found, _ := inspect(t, store); len(found) != 0 {
			t.Errorf("found %v", found)
		}
	})
}

// TestConcurrentUndosOnReplicas lets different servers undo, post to and create
// the same accounts: only the database coordinates them.
func TestConcurrentUndosOnReplicas(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		replicas := []*sqlstore.Store{openStore(t, url), openStore(t, url), openStore(t, url)}
		var externals []string
		for number := range 24 {
			externals = append(externals, fmt.Sprint(number))
		}
		prepareStore(t, replicas[0], externals...)
		for _, external := range externals {
			if _, err := replicas[0].Create(t.Context(), landfall.Creation{Claim: claimNumber(t, replicas[0], external), Account: sampleAccount(t)}); err != nil {
				t.Fatal(err)
			}
		}
		var all sync.WaitGroup
		var lock sync.Mutex
		outcomes := map[string][]string{}
		say := func(external, what string) {
			lock.Lock()
			defer lock.Unlock()
			outcomes[external] = append(outcomes[external], what)
		}
		for at, external := range externals {
			key := landfall.Key{Supplier: testKey.Supplier, External: external}
			for side := range 3 {
				store := replicas[(at+side)%3]
				all.Go(func() {
					if side < 2 {
						outcome, err := store.Undo(t.Context(), landfall.UndoRequest{Key: key, Actor: "a", Reason: "r"})
						if err != nil {
							t.Error(err)
						}
						say(external, map[landfall.UndoVerdict]string{landfall.Undone: "undone", landfall.UndoKept: "kept", landfall.UndoNoAccount: "none"}[outcome.Verdict])
						return
					}
					outcome, err := store.Post(t.Context(), landfall.Posting{Key: key, Decide: func(state landfall.AccountState) (landfall.Additions, error) {
						return landfall.Additions{Entries: []landfall.LedgerEntry{{
							Sequence: state.LastSequence + 1, Kind: landfall.TransactionEntry, Signed: 1, Balance: state.Balance + money.Amount(1),
							Transaction: landfall.Transaction{ID: "late", Amount: 1, Type: landfall.Payment},
						}}}, nil
					}})
					if err != nil {
						t.Error(err)
					}
					say(external, map[landfall.PostVerdict]string{landfall.Posted: "posted", landfall.PostNoAccount: "refused"}[outcome.Verdict])
				})
			}
		}
		all.Wait()
		seen := map[string]int{}
		for external, outcome := range outcomes {
			slices.Sort(outcome)
			told := strings.Join(outcome, " ")
			seen[told]++
			if told != "none refused undone" && told != "kept kept posted" {
				t.Errorf("%s: %s", external, told)
			}
		}
		t.Log(seen)
		if found, _ := inspect(t, replicas[0]); len(found) != 0 {
			t.Errorf("found %v", found)
		}
	})
}
