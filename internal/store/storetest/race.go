package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"landfall"
)

// callerCount is more than there are connections, so that some callers have to
// wait.
const callerCount = 32

// races do the same thing from many callers at once. A store that is nearly right
// could pass by luck, so each has many rounds.
var races = []promiseCheck{
	// Settings are read, changed and written back as a whole. Without a lock from
	// read to write, a change of the name that began earlier would overwrite an
	// operator's pause with the old status, and the import would go on.
	{"concurrent changes of one supplier are not lost", func(t *testing.T, store landfall.Store) {
		createSupplier(t, store)
		atOnce(callerCount, func(number int) {
			update(t, store, func(tx landfall.Tx) error {
				supplier, err := tx.Supplier(t.Context(), supplierCode)
				if err != nil {
					return err
				}
				if number == 0 {
					supplier.Status = landfall.Paused
				} else {
					supplier.Name += "."
				}
				return tx.SaveSupplier(t.Context(), supplier)
			})
		})
		inView(t, store, func(view landfall.View) error {
			supplier, err := view.Supplier(t.Context(), supplierCode)
			if dots := strings.Count(supplier.Name, "."); dots != callerCount-1 || supplier.Status != landfall.Paused {
				t.Errorf("%d of %d names were added to, the status is %s", dots, callerCount-1, supplier.Status)
			}
			return err
		})
	}},
	// Each rotation issues a secret. If two succeeded, an organisation would
	// have a second valid key that was not requested and that it would not
	// think of revoking.
	{"exactly one of many concurrent rotations of a key succeeds", func(t *testing.T, store landfall.Store) {
		update(t, store, func(tx landfall.Tx) error {
			if err := tx.CreateOrganisation(t.Context(), "O"); err != nil {
				return err
			}
			return tx.CreateKey(t.Context(), landfall.APIKey{ID: "old", Organisation: "O", Role: landfall.RoleViewer})
		})
		atOnce(callerCount, func(number int) {
			update(t, store, func(tx landfall.Tx) error {
				old, err := tx.Key(t.Context(), "old")
				if err != nil || !old.ExpiresAt.IsZero() {
					return err
				}
				if err := tx.CreateKey(t.Context(), landfall.APIKey{ID: fmt.Sprint(number), Organisation: "O", Role: landfall.RoleViewer}); err != nil {
					return err
				}
				return tx.ExpireKey(t.Context(), "old", time.Now().Add(time.Hour))
			})
		})
		inView(t, store, func(view landfall.View) error {
			keys, err := view.Keys(t.Context(), "O")
			if len(keys) != 2 {
				t.Errorf("%d keys, want the old one and one new", len(keys))
			}
			return err
		})
	}},
	// There is no row to lock yet, which is where databases differ most. Each
	// caller gets a revision, and the document stored under it must be the one
	// that caller sent.
	{"exactly one of many concurrent first stagings is the first", func(t *testing.T, store landfall.Store) {
		createSupplier(t, store)
		outcomes := make([]landfall.StageOutcome, callerCount)
		atOnce(callerCount, func(number int) {
			var err error
			if outcomes[number], err = store.Stage(t.Context(), newStaging(testKey, fmt.Sprint(number))); err != nil {
				t.Error(err)
			}
		})
		first := 0
		seen := map[int]int{}
		for number, outcome := range outcomes {
			// Record which caller got which revision, to compare it with the
			// stored document.
			seen[outcome.Revision] = number
			if outcome.Verdict == landfall.StagedFirst {
				first++
			} else if outcome.Verdict != landfall.StagedAgain {
				t.Errorf("verdict %d", outcome.Verdict)
			}
		}
		if first != 1 || len(seen) != callerCount {
			t.Errorf("%d first ones, %d different revisions", first, len(seen))
		}
		for _, revision := range readRevisions(t, store, testKey) {
			if given := newStaging(testKey, fmt.Sprint(seen[revision.Revision])); !bytes.Equal(revision.Document, given.Document) {
				t.Errorf("revision %d has the document of another", revision.Revision)
			}
		}
	}},
	// Books overlap, and each lists its accounts in a different order: stores
	// that lock in order of arrival deadlock here. Every book has different
	// content, so each of them is a revision of every account.
	{"concurrently staged books do not lose accounts", func(t *testing.T, store landfall.Store) {
		createSupplier(t, store)
		const books, accounts = 6, 150
		var firsts [accounts]atomic.Int32
		atOnce(books, func(number int) {
			var book []landfall.Staging
			for i := range accounts {
				account := (i*7 + number*31) % accounts // each in a different order
				book = append(book, newStaging(landfall.Key{Supplier: supplierCode, External: fmt.Sprint(account)}, fmt.Sprint(number)))
			}
			for i, result := range store.StageAll(t.Context(), book, nil) {
				if result.Err != nil {
					t.Error(result.Err)
				}
				if result.Verdict == landfall.StagedFirst {
					firsts[(i*7+number*31)%accounts].Add(1)
				}
			}
		})
		for account := range accounts {
			history := readRevisions(t, store, landfall.Key{Supplier: supplierCode, External: fmt.Sprint(account)})
			if first := firsts[account].Load(); first != 1 || len(history) != books {
				t.Errorf("account %d was the first %d times and has %d revisions", account, first, len(history))
			}
		}
	}},
	// This is a caller that retried before it got a response. All of its attempts
	// must get the same result.
	{"many stagings of the same content are one revision", func(t *testing.T, store landfall.Store) {
		createSupplier(t, store)
		var first atomic.Int32
		atOnce(callerCount, func(int) {
			outcome, err := store.Stage(t.Context(), newStaging(testKey, "same"))
			if err != nil || outcome.Revision != 1 {
				t.Errorf("%+v, %v", outcome, err)
			}
			if outcome.Verdict == landfall.StagedFirst {
				first.Add(1)
			}
		})
		if history := readRevisions(t, store, testKey); first.Load() != 1 || len(history) != 1 {
			t.Errorf("%d first ones, %d revisions", first.Load(), len(history))
		}
	}},
	// Stagings of different accounts may share a transaction. Each acknowledged
	// staging must be stored, whatever else was in the transaction.
	{"many keys staged concurrently are all stored", func(t *testing.T, store landfall.Store) {
		createSupplier(t, store)
		atOnce(callerCount, func(number int) {
			for at := range 20 {
				own := landfall.Key{Supplier: supplierCode, External: fmt.Sprintf("%d-%d", number, at)}
				if outcome, err := store.Stage(t.Context(), newStaging(own, own.External)); err != nil || outcome.Verdict != landfall.StagedFirst {
					t.Errorf("%v: %+v, %v", own, outcome, err)
				}
			}
		})
		if found := externals(t, store, landfall.ProcessQuery{Supplier: supplierCode}); len(found) != 20*callerCount {
			t.Errorf("%d processes", len(found))
		}
	}},
	// Half of the callers go up and half go down. A deadlock would not be their
	// fault, so none of them may get such an error.
	{"overlapping keys in any order do not deadlock", func(t *testing.T, store landfall.Store) {
		createSupplier(t, store)
		atOnce(callerCount, func(number int) {
			for at := range 16 {
				external := fmt.Sprint(at)
				if number%2 == 1 {
					external = fmt.Sprint(15 - at)
				}
				if _, err := store.Stage(t.Context(), newStaging(landfall.Key{Supplier: supplierCode, External: external}, fmt.Sprint(number))); err != nil {
					t.Error(err)
				}
			}
		})
	}},
	// This is the other side of the operator's pause: an account staged after
	// the pause was acknowledged would be created when the supplier resumes,
	// although the operator was told that nothing more is accepted. A staging
	// counts only if it both began and ended within one pause.
	{"no staging succeeds once a pause was acknowledged", func(t *testing.T, store landfall.Store) {
		createSupplier(t, store)
		var phase atomic.Int32 // odd: the pause was acknowledged, and its end not yet requested
		stop := make(chan struct{})
		var stagers sync.WaitGroup
		for number := range 8 {
			stagers.Go(func() {
				for at := 0; ; at++ {
					select {
					case <-stop:
						return
					default:
					}
					begun := phase.Load()
					outcome, err := store.Stage(t.Context(), newStaging(landfall.Key{Supplier: supplierCode, External: fmt.Sprintf("%d-%d", number, at)}, "x"))
					if err != nil {
						t.Error(err)
						return
					}
					if begun%2 == 1 && phase.Load() == begun && outcome.Verdict != landfall.RefusedSupplier {
						t.Errorf("verdict %d while paused", outcome.Verdict)
					}
				}
			})
		}
		for range 5 {
			if err := setStatus(t.Context(), store, landfall.Ongoing); err != nil {
				t.Error(err)
			}
			if err := setStatus(t.Context(), store, landfall.Paused); err != nil {
				t.Error(err)
			}
			phase.Add(1)
			// Too short a pause would prove nothing: the case would pass for
			// lack of stagings.
			time.Sleep(5 * time.Millisecond) // let stagings begin during the pause
			phase.Add(1)
		}
		close(stop)
		stagers.Wait()
	}},
	// Both orders are right. A mark on one revision and a response about another
	// would be wrong: the supplier would believe that an account is staged which
	// will never be created.
	{"a concurrent skip and staging take effect in one order or the other", func(t *testing.T, store landfall.Store) {
		createSupplier(t, store)
		for round := range 10 {
			own := landfall.Key{Supplier: supplierCode, External: fmt.Sprint(round)}
			stage(t, store, newStaging(own, "one"), landfall.StagedFirst, 1)
			var outcome landfall.StageOutcome
			atOnce(2, func(number int) {
				var err error
				if number == 0 {
					outcome, err = store.Stage(t.Context(), newStaging(own, "two"))
				} else {
					err = store.Update(t.Context(), func(tx landfall.Tx) error {
						_, err := tx.Skip(t.Context(), own, "twin")
						return err
					})
				}
				if err != nil {
					t.Error(err)
				}
			})
			found := readProcess(t, store, own)
			after := landfall.StageOutcome{Verdict: landfall.RefusedSkipped, Revision: 1}
			before := landfall.StageOutcome{Verdict: landfall.StagedAgain, Revision: 2}
			if found.State != landfall.Skipped || !reflect.DeepEqual(outcome, after) && !reflect.DeepEqual(outcome, before) || found.Revision != outcome.Revision {
				t.Errorf("%+v and %+v", outcome, found)
			}
		}
	}},
	// The caller that sets the mark writes the event and the audit entry for
	// it. Two winners would write two entries about one act.
	{"one of many concurrent skips wins", func(t *testing.T, store landfall.Store) {
		createSupplier(t, store)
		stage(t, store, newStaging(testKey, "one"), landfall.StagedFirst, 1)
		var won atomic.Int32
		atOnce(callerCount, func(int) {
			err := store.Update(t.Context(), func(tx landfall.Tx) error {
				_, err := tx.Skip(t.Context(), testKey, "twin")
				return err
			})
			if err == nil {
				won.Add(1)
			} else if !errors.Is(err, landfall.ErrExists) {
				t.Error(err)
			}
		})
		if won.Load() != 1 {
			t.Errorf("%d won", won.Load())
		}
	}},
	// A theft is noticed when a refresh token is used twice. If two callers could
	// use it, thief and owner would both go on unnoticed.
	{"one of many concurrent uses of a token succeeds", func(t *testing.T, store landfall.Store) {
		good := newToken("good", landfall.RefreshToken, time.Hour)
		createTokens(t, store, good)
		var spent atomic.Int32
		atOnce(callerCount, func(int) {
			err := store.Update(t.Context(), func(tx landfall.Tx) error { return tx.SpendToken(t.Context(), good.Hash) })
			if err == nil {
				spent.Add(1)
			} else if !errors.Is(err, landfall.ErrNotFound) {
				t.Error(err)
			}
		})
		if spent.Load() != 1 {
			t.Errorf("it was spent %d times", spent.Load())
		}
	}},
	// Scripts set up organisations and run again when they were interrupted,
	// perhaps in parallel. An existing grant is what they wanted, and one
	// Ungrant must be enough to remove it.
	{"granting the same many times is one grant", func(t *testing.T, store landfall.Store) {
		createSupplier(t, store)
		createTokens(t, store)
		atOnce(callerCount, func(int) {
			if err := store.Update(t.Context(), func(tx landfall.Tx) error { return tx.Grant(t.Context(), supplierCode, organisation) }); err != nil {
				t.Error(err)
			}
		})
		inView(t, store, func(view landfall.View) error {
			found, err := view.Grantees(t.Context(), supplierCode)
			if len(found) != 1 {
				t.Errorf("got %v", found)
			}
			return err
		})
	}},
	// Concurrent updates may share a commit. An audit entry that was acknowledged
	// but is not stored means an act without a trace.
	{"concurrent counting updates lose none", func(t *testing.T, store landfall.Store) {
		createSupplier(t, store)
		atOnce(callerCount, func(int) {
			if err := store.Update(t.Context(), func(tx landfall.Tx) error {
				return tx.AppendAudit(t.Context(), landfall.AuditEntry{Actor: "a", Action: "b", Subject: supplierCode})
			}); err != nil {
				t.Error(err)
			}
		})
		inView(t, store, func(view landfall.View) error {
			found, err := view.Audit(t.Context(), supplierCode)
			if len(found) != callerCount {
				t.Errorf("%d entries", len(found))
			}
			return err
		})
	}},
}
