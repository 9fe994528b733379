package webhook_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"landfall"
	"landfall/internal/outbound/webhook"
)

// memoryLog is an event log in memory, with transactions that may be open.
type memoryLog struct {
	mu        sync.Mutex
	suppliers []string // of the events 1, 2, …
	writing   []string
	away      bool
	polls     atomic.Int64
}

func (s *memoryLog) Watermark(_ context.Context, before landfall.Watermark) (landfall.Watermark, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.polls.Add(1)
	if s.away {
		return before, errors.New("away")
	}
	return before.Next(int64(len(s.suppliers)), s.writing), nil
}

// logView is the view of a sea. Only SuppliersWithEvents is used.
type logView struct {
	landfall.View
	*memoryLog
}

func (s *memoryLog) View(_ context.Context, fn func(landfall.View) error) error {
	return fn(logView{memoryLog: s})
}

func (s logView) SuppliersWithEvents(_ context.Context, after, upTo int64) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.suppliers[after:upTo], nil
}

func (s *memoryLog) add(suppliers ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.suppliers = append(s.suppliers, suppliers...)
}

func (s *memoryLog) write(who ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writing = who
}

func wasNotified(w *webhook.Watch) bool {
	select {
	case <-w.News:
		return true
	default:
		return false
	}
}

func TestWatchersAreWokenForTheirSuppliers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &memoryLog{}
		log.add("A", "B", "C")
		watcher := webhook.NewLogWatcher(log)
		if complete, err := watcher.CompleteUpTo(t.Context()); complete != 3 || err != nil {
			t.Errorf("settled up to %d, %v", complete, err)
		}
		a, both, all := watcher.Watch([]string{"A"}), watcher.Watch([]string{"A", "B"}), watcher.Watch(nil)
		time.Sleep(time.Second)
		if wasNotified(a) || wasNotified(both) || wasNotified(all) {
			t.Error("there were no news")
		}
		log.add("B")
		time.Sleep(time.Second)
		if wasNotified(a) || !wasNotified(both) || !wasNotified(all) {
			t.Error("the news of B did not go where they should")
		}
		for _, w := range []*webhook.Watch{a, both, all} {
			w.Close()
		}
		time.Sleep(time.Second) // until the loop has ended
	})
}

// TestPollingDoesNotGrowWithWatches checks that the database is polled about ten times a
// second however many watches there are, and never without one.
func TestPollingDoesNotGrowWithWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &memoryLog{}
		watcher := webhook.NewLogWatcher(log)
		time.Sleep(time.Hour)
		if log.polls.Load() != 0 {
			t.Errorf("%d polls without a watch", log.polls.Load())
		}
		var watches []*webhook.Watch
		for range 1000 {
			watches = append(watches, watcher.Watch([]string{"A"}))
		}
		time.Sleep(10 * time.Second)
		if asked := log.polls.Load(); asked > 200 { // for a thousand watches; the interval is partly random
			t.Errorf("%d soundings in ten seconds", asked)
		}
		for _, w := range watches {
			w.Close()
		}
		time.Sleep(time.Second)
		before := log.polls.Load()
		time.Sleep(time.Hour)
		if log.polls.Load() != before {
			t.Error("it continues without watches")
		}
	})
}

func TestSettlingWaitsForWritersButNotForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &memoryLog{}
		log.add("A", "A")
		log.write("slow")
		watcher := webhook.NewLogWatcher(log)
		go func() {
			time.Sleep(50 * time.Millisecond)
			log.write("another")
		}()
		began := time.Now()
		if complete, err := watcher.CompleteUpTo(t.Context()); complete != 2 || err != nil || time.Since(began) > 100*time.Millisecond {
			t.Errorf("settled up to %d after %s, %v", complete, time.Since(began), err)
		}
		log.add("A")
		began = time.Now()
		if complete, err := watcher.CompleteUpTo(t.Context()); complete != 2 || err != nil || time.Since(began) > 2*time.Second {
			t.Errorf("behind one who writes for ever: %d after %s, %v", complete, time.Since(began), err)
		}
		log.mu.Lock()
		log.away = true
		log.mu.Unlock()
		if _, err := watcher.CompleteUpTo(t.Context()); err == nil {
			t.Error("an unavailable database was not noticed")
		}
		time.Sleep(time.Second) // until the loop has ended
	})
}
