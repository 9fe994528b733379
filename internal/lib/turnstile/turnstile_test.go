package turnstile

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

const patience = time.Second

var errBusy = errors.New("too busy")

// Nothing used to be refused: with ten times as many callers as could be served
// every answer took ten times as long.
func TestTheLineIsBoundedByTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most, callers, work = 10, 1000, 100 * time.Millisecond
		gate := New(most, patience, errBusy)
		gate.Share = most
		var served, refused, inWork, peak atomic.Int64
		var all sync.WaitGroup
		for range callers {
			all.Go(func() {
				began := time.Now()
				leave, err := gate.Enter(t.Context(), "Acme")
				if waited := time.Since(began); waited > patience {
					t.Errorf("waited %s", waited)
				}
				if err != nil {
					refused.Add(1)
					return
				}
				peak.Store(max(peak.Load(), inWork.Add(1)))
				time.Sleep(work)
				inWork.Add(-1)
				served.Add(1)
				leave()
			})
		}
		all.Wait()
		// In a second ten times ten are served, and those that came in with it.
		if n := served.Load(); n < 100 || n > 120 || n+refused.Load() != callers || peak.Load() != most {
			t.Errorf("%d served, %d refused, at most %d at once", n, refused.Load(), peak.Load())
		}
		if gate.inWork != 0 || gate.waiting != 0 || len(gate.by)+len(gate.lines)+len(gate.order) != 0 {
			t.Errorf("somebody was forgotten: %+v", gate)
		}
	})
}

// One organisation with a thousand callers does not make another wait behind
// them, nor can it fill the place with requests that take long.
func TestOrganisationsTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := New(8, patience, errBusy)
		for range 1000 {
			go func() {
				if leave, err := gate.Enter(t.Context(), "Greedy"); err == nil {
					time.Sleep(10 * time.Second)
					leave()
				}
			}()
		}
		synctest.Wait()
		for range 20 {
			began := time.Now()
			leave, err := gate.Enter(t.Context(), "Modest")
			if err != nil || time.Since(began) > 0 {
				t.Fatalf("waited %s: %v", time.Since(began), err)
			}
			time.Sleep(time.Millisecond)
			leave()
		}
		time.Sleep(time.Minute)
	})
}

func TestLinesAreServedInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := New(1, patience, errBusy)
		hold, err := gate.Enter(t.Context(), "First")
		if err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var order string
		for _, who := range "aaabbc" {
			go func() {
				leave, err := gate.Enter(t.Context(), string(who))
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				order += string(who)
				mu.Unlock()
				leave()
			}()
			synctest.Wait()
		}
		hold()
		synctest.Wait()
		if order != "abcaba" {
			t.Errorf("served in the order %s", order)
		}
	})
}

// Who gave his turn back while his body was on its way does not begin again at
// the end of the line.
func TestWhoHadATurnStandsInFront(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := New(1, patience, errBusy)
		hold, _ := gate.Enter(t.Context(), "Acme")
		var order []string
		ask := func(name string, enter func(context.Context, string) (func(), error)) {
			go func() {
				if leave, err := enter(t.Context(), "Acme"); err == nil {
					order = append(order, name)
					leave()
				}
			}()
			synctest.Wait()
		}
		ask("new", gate.Enter)
		ask("again", gate.EnterAgain)
		hold()
		hold() // giving back twice is giving back once
		synctest.Wait()
		if strings.Join(order, " ") != "again new" || gate.inWork != 0 {
			t.Errorf("served in the order %v, %d in work", order, gate.inWork)
		}
	})
}

// Who leaves while waiting takes nobody's turn with him.
func TestWhoStepsOutOfTheLineIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := New(1, patience, errBusy)
		hold, _ := gate.Enter(t.Context(), "Acme")
		ctx, cancel := context.WithCancel(t.Context())
		go cancel()
		if _, err := gate.Enter(ctx, "Acme"); !errors.Is(err, errBusy) {
			t.Errorf("got %v", err)
		}
		hold()
		leave, err := gate.Enter(t.Context(), "Acme")
		if err != nil {
			t.Fatal(err)
		}
		leave()
		if gate.inWork != 0 || gate.waiting != 0 {
			t.Errorf("somebody was forgotten: %+v", gate)
		}
	})
}

func TestTheLineItselfHasAnEnd(t *testing.T) {
	gate := New(1, patience, errBusy)
	hold, _ := gate.Enter(t.Context(), "Acme")
	defer hold()
	gate.waiting = longestLine
	if _, err := gate.Enter(t.Context(), "Acme"); !errors.Is(err, errBusy) {
		t.Errorf("got %v", err)
	}
}
