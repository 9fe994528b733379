package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"landfall"
)

// callerCount is more than there are connections, so that some have to wait.
const callerCount = 32

// races do the same thing from many sides at once. They would pass by luck on a store
// that is nearly right, so each has many rounds.
var races = []promiseCheck{
	// Settings are read, changed and written back whole. Without a hold between the
	// two, a change of the name that began earlier would write the old status over an
	// operator's pause, and everything would go on.
	{"changes of one supplier at once lose nothing", func(t *testing.T, store landfall.Store) {
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
	// Each rotation gives out a secret. If two succeeded, an organisation would have
	// a second valid key that nobody asked for and nobody would think of revoking.
	{"of many rotations of a key at once exactly one finds it in force", func(t *testing.T, store landfall.Store) {
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
	// There is no row yet that anybody could lock, which is where databases differ
	// most. Each caller is told a revision, and what is kept under it must be what
	// that caller sent.
	{"of many first stagings exactly one is the first", func(t *testing.T, store landfall.Store) {
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
			// Who was told which revision, to compare it with what is kept under it.
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
				t.Errorf("revision %d holds another's document", revision.Revision)
			}
		}
	}},
	// Books overlap, and each lists its accounts in an order of its own: stores that
	// lock in the order of arrival block each other here. Every book has other
	// content, so each of them is a revision of every account.
	{"books that are staged at once lose nothing of each other", func(t *testing.T, store landfall.Store) {
		createSupplier(t, store)
		const books, accounts = 6, 150
		var firsts [accounts]atomic.Int32
		atOnce(books, func(number int) {
			var book []landfall.Staging
			for i := range accounts {
				account := (i*7 + number*31) % accounts // each in an order of its own
				book = append(book, newStaging(landfall.Key{Supplier: supplierCode, External: fmt.Sprint(account)}, fmt.Sprint(number)))
			}
			for i, result := range store.StageAll(t.Context(), book) {
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
	// This is a caller that lost patience and asked again before it was answered. All
	// of its attempts must be told the same.
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
	// Stagings of different accounts may share a transaction. What is answered must
	// be there, whoever else was in it.
	{"many keys at once are all kept", func(t *testing.T, store landfall.Store) {
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
	// Half of the callers go up and half go down. A deadlock would be no fault of
	// theirs, so none of them may hear of one.
	{"overlapping keys in any order never block each other for good", func(t *testing.T, store landfall.Store) {
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
	// The other side of the operator's pause: what is kept after it was answered
	// would be created when the supplier goes on, although he had been told that
	// nothing more comes in. A staging counts only when it both began and ended
	// within one pause.
	{"no staging begun after a pause was answered succeeds", func(t *testing.T, store landfall.Store) {
		createSupplier(t, store)
		var phase atomic.Int32 // odd: the pause was answered, and its end not asked for
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
						t.Errorf("verdict %d in the pause", outcome.Verdict)
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
			// Too short a pause would prove nothing, and the case would pass for want
			// of stagings.
			time.Sleep(5 * time.Millisecond) // let stagings begin in the pause
			phase.Add(1)
		}
		close(stop)
		stagers.Wait()
	}},
	// Both orders are right. What must not be is a mark on one revision and an answer
	// about another: the supplier would take for staged what nobody will ever look
	// at.
	{"a skip and a staging at once: either order, nothing between", func(t *testing.T, store landfall.Store) {
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
			if found.State != landfall.Skipped || outcome != after && outcome != before || found.Revision != outcome.Revision {
				t.Errorf("%+v and %+v", outcome, found)
			}
		}
	}},
	// Who sets the mark writes the event and the audit about it. Two winners would be
	// two entries about one act.
	{"of many skips one wins", func(t *testing.T, store landfall.Store) {
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
	// That a refresh token comes twice is how a theft is noticed. If two could spend
	// it, thief and owner would both go on, and nobody would notice.
	{"of many spenders of a token one gets it", func(t *testing.T, store landfall.Store) {
		good := newToken("good", landfall.RefreshToken, time.Hour)
		enrol(t, store, good)
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
	// Scripts set up organisations and run again when they were interrupted, perhaps
	// side by side. A grant that is there already is what they wanted, and one
	// Ungrant must be enough to take it away.
	{"many grants of the same are one", func(t *testing.T, store landfall.Store) {
		createSupplier(t, store)
		enrol(t, store)
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
	// Updates that come at once may share a commit. An entry of the audit that was
	// answered and is not there is an act without a trace.
	{"counting updates lose none", func(t *testing.T, store landfall.Store) {
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
