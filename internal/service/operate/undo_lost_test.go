package operate_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"landfall"
	"landfall/internal/service/operate"
	"landfall/internal/test/pgtest"
)

// lossyStore is a store that loses answers to Undo.
type lossyStore struct {
	landfall.Store
	fates map[string]injectedFault // by external account number

	lock  sync.Mutex
	asked map[string]int
}

// injectedFault says how many answers to the undo of an account are lost, and
// whether the first of those calls took effect all the same.
type injectedFault struct {
	lost int
	done bool
}

// Undo undoes an account, and may lose the answer.
func (f *lossyStore) Undo(ctx context.Context, wanted landfall.UndoRequest) (landfall.UndoOutcome, error) {
	external := wanted.Key.External
	f.lock.Lock()
	f.asked[external]++
	asked := f.asked[external]
	f.lock.Unlock()
	switch fate := f.fates[external]; {
	case asked > fate.lost:
		return f.Store.Undo(ctx, wanted)
	case !fate.done:
		return landfall.UndoOutcome{}, landfall.ErrUnavailable
	case asked == 1:
		if _, err := f.Store.Undo(ctx, wanted); err != nil {
			return landfall.UndoOutcome{}, err
		}
	}
	return landfall.UndoOutcome{}, landfall.ErrUnknownOutcome
}

// posted adds a note of a delivery to accounts. Unless it is the one that staged
// them, they cannot be undone.
func (d fixture) posted(t *testing.T, delivery string, externals ...string) {
	t.Helper()
	for _, external := range externals {
		if _, err := d.store.Post(t.Context(), landfall.Posting{
			Key: landfall.Key{Supplier: "S", External: external}, Kind: landfall.PostingNotes, By: landfall.Author{Delivery: delivery},
			Decide: func(landfall.AccountState) (landfall.Additions, error) {
				return landfall.Additions{Notes: []landfall.Note{{Body: "n", HasBody: true}}}, nil
			},
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// countUndone counts the undone accounts of supplier S. It checks that each undone
// account has exactly one retired number and one event, and that the store is
// consistent.
func (d fixture) countUndone(t *testing.T, accounts int) (gone int) {
	t.Helper()
	for seen, err := range d.store.Inspect(t.Context()) {
		if err != nil || seen.Finding != nil {
			t.Errorf("%+v, %v", seen.Finding, err)
		}
	}
	if err := d.store.View(t.Context(), func(view landfall.View) error {
		told := map[string]int{}
		events, err := view.EventsAfter(t.Context(), landfall.EventQuery{UpTo: 1 << 40, Suppliers: []string{"S"}, Limit: 10 * accounts})
		for _, event := range events {
			if event.Type == landfall.EventUndone {
				told[event.Key.External]++
			}
		}
		for number := range accounts {
			external := fmt.Sprintf("%04d", number)
			retired, failed := view.UndoneAccounts(t.Context(), landfall.Key{Supplier: "S", External: external})
			if err = errors.Join(err, failed); len(retired) != told[external] || len(retired) > 1 {
				t.Errorf("%s: %d numbers are retired, %d events tell of it", external, len(retired), told[external])
			}
			gone += len(retired)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return gone
}

// TestRunUndoAnswersLost undoes a run while the answers for some accounts are
// lost for a while, and for others always. Each account is counted once: an
// account that is gone did not fail, even if its answers were lost.
func TestRunUndoAnswersLost(t *testing.T) {
	t.Parallel() // it mostly waits
	each(t, func(t *testing.T, d fixture) {
		t.Parallel()
		const accounts, unheard = 60, 1 << 20
		run := d.ranThrough(t, "S", accounts)
		d.posted(t, "", "0005", "0006", "0041")
		d.posted(t, "book", "0001", "0002", "0005", "0010", "0011", "0012", "0020", "0050")
		lossy := &lossyStore{Store: d.store, asked: map[string]int{}, fates: map[string]injectedFault{
			"0001": {1, true}, "0002": {1, false}, "0020": {2, true}, "0033": {2, false}, "0005": {1, true}, "0041": {1, false},
			"0010": {unheard, true}, "0011": {unheard, false}, "0012": {unheard, true}, "0006": {unheard, true},
		}}
		operator := operate.New(lossy, operate.Options{Actor: actor, Rules: ruleCodes})
		undo, err := operator.UndoRun(t.Context(), run.ID, "wrong book", operate.RunUndoWatch{})
		if err != nil || undo.Created != accounts || undo.Undone != accounts-4 || undo.Kept[landfall.KeptHasPostings] != 2 || undo.Failed != 2 {
			t.Errorf("got %+v, %v", undo, err)
		}
		if gone := d.countUndone(t, accounts); gone != accounts-4 {
			t.Errorf("%d are gone", gone)
		}
		undo, err = d.UndoRun(t.Context(), run.ID, "wrong book", operate.RunUndoWatch{})
		if err != nil || undo.Undone != accounts-3 || undo.Left() != 3 || undo.Kept[landfall.KeptHasPostings] != 3 {
			t.Errorf("repeated: %+v, %v", undo, err)
		}
		if gone := d.countUndone(t, accounts); gone != accounts-3 {
			t.Errorf("%d are gone in the end", gone)
		}
	})
}

// TestRunUndoOverUnreliableNetwork undoes a run over a network that keeps losing
// requests to PostgreSQL and its answers, including those to commits.
func TestRunUndoOverUnreliableNetwork(t *testing.T) {
	t.Parallel()
	const accounts = 120
	server := pgtest.URL(t)
	direct := newFixture(t, server)
	run := direct.ranThrough(t, "S", accounts)
	direct.posted(t, "another", "0000", "0017", "0118")
	for number := range accounts / 2 {
		direct.posted(t, "book", fmt.Sprintf("%04d", 2*number))
	}
	proxy := pgtest.NewProxy(t, server)
	lied := newFixture(t, proxy.URL)
	random := rand.New(rand.NewPCG(7, 7))
	proxy.LoseCommits(true)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for round := 0; ; round++ {
			select {
			case <-stop:
				return
			case <-time.After(time.Duration(50+random.IntN(300)) * time.Millisecond):
				proxy.LoseCommits(round%4 == 0)
				proxy.Lose(int64(1+random.IntN(12)), round%2 == 0)
			}
		}
	}()
	var undo operate.RunUndo
	for attempt := 0; undo.Undone+undo.Left() != accounts || undo.Failed > 0; attempt++ {
		if attempt == 20 {
			t.Fatalf("the run is not undone: %+v", undo)
		}
		var err error
		if undo, err = lied.UndoRun(t.Context(), run.ID, "wrong book", operate.RunUndoWatch{}); err != nil {
			t.Logf("attempt %d: %v", attempt, err)
		} else if undo.Undone+undo.Left() != accounts {
			t.Errorf("it says that it is through: %+v", undo)
		}
	}
	close(stop)
	<-stopped
	if proxy.Lost() == 0 {
		t.Error("nothing was lost")
	}
	if undo.Undone != accounts-3 || undo.Kept[landfall.KeptHasPostings] != 3 {
		t.Errorf("got %+v", undo)
	}
	if gone := direct.countUndone(t, accounts); gone != accounts-3 {
		t.Errorf("%d are gone", gone)
	}
}
