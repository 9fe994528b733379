package sqlstore_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"landfall"
	"landfall/internal/store/sqlstore"
	"landfall/internal/test/dbtest"
)

// identifierKey is the key of an account of the tests below.
func identifierKey(external string) landfall.Key {
	return landfall.Key{Supplier: testKey.Supplier, External: external}
}

// stageIdentified stages an account with payment instructions.
func stageIdentified(t *testing.T, store landfall.Store, external, document string, references ...string) {
	t.Helper()
	staging := landfall.Staging{Key: identifierKey(external), Document: []byte(document), Hash: sha256.Sum256([]byte(document))}
	for _, reference := range references {
		staging.Identifiers = append(staging.Identifiers, uniqueReference(reference))
		staging.Identifiers[len(staging.Identifiers)-1].Unique = false
	}
	if _, err := store.Stage(t.Context(), staging); err != nil {
		t.Fatal(err)
	}
}

// uniqueReference returns the identifier of a payment instruction that refuses an
// account.
func uniqueReference(reference string) landfall.Identifier {
	return landfall.Identifier{Kind: landfall.IdentifierInstruction, Space: "V", Value: reference, Unique: true}
}

// othersWith counts the identifiers of an account that is not there yet that others
// have.
func othersWith(t *testing.T, store landfall.Store, reference string) (count int) {
	t.Helper()
	if err := store.View(t.Context(), func(view landfall.View) error {
		found, err := view.Conflicts(t.Context(), []landfall.ConflictQuery{{Key: identifierKey("none"), Identifiers: []landfall.Identifier{uniqueReference(reference)}}})
		count = len(found[0])
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return count
}

// Staging an account again with the same identifiers leaves their rows alone. The
// test recognises the old rows by a value that no staging writes.
func TestSameIdentifiersAreNotWrittenAgain(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		store := openStore(t, url)
		prepareStore(t, store)
		count := func() (old, anew int) {
			t.Helper()
			values, err := store.Texts(t.Context(), `SELECT value FROM account_identifier`)
			if err != nil {
				t.Fatal(err)
			}
			for _, value := range values {
				if value == "mark" {
					old++
				}
			}
			return old, len(values) - old
		}
		for _, external := range []string{"1", "2"} {
			stageIdentified(t, store, external, `{"n":1}`, "a", "b")
		}
		force(t, store, `UPDATE account_identifier SET value = 'mark'`)
		stageIdentified(t, store, "1", `{"n":2}`, "a", "b")
		if old, anew := count(); old != 4 || anew != 0 {
			t.Errorf("the same identifiers: %d old rows and %d new ones", old, anew)
		}
		stageIdentified(t, store, "1", `{"n":3}`, "a", "c")
		if old, anew := count(); old != 2 || anew != 2 {
			t.Errorf("other identifiers: %d old rows and %d new ones", old, anew)
		}
		stageIdentified(t, store, "1", `{"n":4}`)
		if old, anew := count(); old != 2 || anew != 0 {
			t.Errorf("no identifiers: %d old rows and %d new ones", old, anew)
		}
	})
}

// An identifier whose digest happens to be that of another one is not taken for it.
func TestEqualDigestsAreNotEnough(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		store := openStore(t, url)
		prepareStore(t, store)
		stageIdentified(t, store, "1", `{}`, "a")
		stageIdentified(t, store, "2", `{}`, "b")
		pairs := func() (count int) {
			for _, err := range store.Duplicates(t.Context(), landfall.DuplicateQuery{Supplier: testKey.Supplier, Kinds: landfall.IdentifierKinds}) {
				if err != nil {
					t.Fatal(err)
				}
				count++
			}
			return count
		}
		force(t, store, `UPDATE account_identifier SET digest = (SELECT min(i.digest) FROM account_identifier i)`)
		// One of the two still has the digest of its text.
		if found := othersWith(t, store, "a") + othersWith(t, store, "b"); found > 1 {
			t.Errorf("%d others were found", found)
		}
		if found := pairs(); found != 0 {
			t.Errorf("%d pairs", found)
		}
		force(t, store, `UPDATE account_identifier SET value = (SELECT min(i.value) FROM account_identifier i)`)
		if found := pairs(); found != 1 {
			t.Errorf("%d pairs with the same text", found)
		}
	})
}

// Of many creations and postings with the same unique identifier on two servers, at
// once, exactly one succeeds. Nothing is stored of an instruction that is posted for
// the first time, so there is no row to wait for.
func TestServersShareUniqueIdentifiers(t *testing.T) {
	url := dbtest.Postgres(t)
	servers := []*sqlstore.Store{openStore(t, url), openStore(t, url)}
	prepareStore(t, servers[0])
	const accounts = 6
	for round := range 15 {
		reference, posted := fmt.Sprint("created-", round), fmt.Sprint("posted-", round)
		claims := make([]landfall.Claim, accounts)
		for i := range claims {
			external := fmt.Sprintf("%d-%d", round, i)
			// Of every two accounts one exists, and gets an instruction.
			if i%2 != 0 {
				stageIdentified(t, servers[0], external, `{}`, reference)
				claims[i] = claimNumber(t, servers[0], external)
				continue
			}
			stageIdentified(t, servers[0], external, `{}`)
			claims[i] = claimNumber(t, servers[0], external)
			if _, err := servers[0].Create(t.Context(), landfall.Creation{Claim: claims[i], Account: keyed(sampleAccount(t), claims[i].Key)}); err != nil {
				t.Fatal(err)
			}
		}
		var created, accepted atomic.Int32
		var callers sync.WaitGroup
		for i, claim := range claims {
			server := servers[i/2%2]
			callers.Go(func() {
				if i%2 != 0 {
					outcome, err := server.Create(t.Context(), landfall.Creation{
						Claim: claim, Account: keyed(sampleAccount(t), claim.Key), Unique: []landfall.Identifier{uniqueReference(reference)},
					})
					if err != nil {
						t.Error(err)
					}
					if outcome.Verdict == landfall.Created {
						created.Add(1)
					}
					return
				}
				mine := false
				_, err := server.Post(t.Context(), landfall.Posting{
					Kind: landfall.PostingInstruction, Key: claim.Key, Unique: []landfall.Identifier{uniqueReference(posted)},
					Decide: func(state landfall.AccountState) (landfall.Additions, error) {
						if mine = len(state.Conflicts) == 0; !mine {
							return landfall.Additions{}, nil
						}
						return landfall.Additions{Instructions: []landfall.Instruction{{Vendor: "V", Reference: posted}}}, nil
					},
				})
				// Two postings of one batch do not decide about each other: one of
				// them has to be sent again.
				if err != nil && !errors.Is(err, landfall.ErrUnavailable) {
					t.Error(err)
				}
				if err == nil && mine {
					accepted.Add(1)
				}
			})
		}
		callers.Wait()
		if created.Load() != 1 || accepted.Load() != 1 {
			t.Fatalf("round %d: %d created, %d instructions accepted", round, created.Load(), accepted.Load())
		}
	}
}

// More identifiers than a transaction locks one by one exclude others as well.
func TestManyUniqueIdentifiersAreLocked(t *testing.T) {
	url := dbtest.Postgres(t)
	servers := []*sqlstore.Store{openStore(t, url), openStore(t, url)}
	prepareStore(t, servers[0])
	for round := range 5 {
		many := make([]landfall.Identifier, 300)
		names := make([]string, len(many))
		for i := range many {
			names[i] = fmt.Sprint(round, "-", i)
			many[i] = uniqueReference(names[i])
		}
		var created atomic.Int32
		var callers sync.WaitGroup
		for i := range servers {
			external := fmt.Sprintf("%d-%d", round, i)
			// One names all of them, the other only the last.
			stageIdentified(t, servers[0], external, `{}`, names[len(names)-1-299*(1-i):]...)
			claim := claimNumber(t, servers[0], external)
			callers.Go(func() {
				outcome, err := servers[i].Create(t.Context(), landfall.Creation{
					Claim: claim, Account: keyed(sampleAccount(t), claim.Key), Unique: many[len(many)-1-299*(1-i):],
				})
				if err != nil {
					t.Error(err)
				}
				if outcome.Verdict == landfall.Created {
					created.Add(1)
				}
			})
		}
		callers.Wait()
		if created.Load() != 1 {
			t.Errorf("%d created", created.Load())
		}
	}
}

// keyed returns an account with another key.
func keyed(account landfall.Account, key landfall.Key) landfall.Account {
	account.Key = key
	return account
}
