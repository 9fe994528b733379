package worker_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"landfall/internal/lib/limits"
	"landfall/internal/lib/worker"
)

func TestPausesGrowAndEnd(t *testing.T) {
	schedule := worker.Schedule{First: limits.WebhookFirstRetry, Longest: limits.WebhookMaxRetry, GiveUp: limits.WebhookGiveUp}
	var since, last time.Duration
	attempts := 0
	for again := true; again; {
		attempts++
		var pause time.Duration
		if pause, again = schedule.After(attempts, since, 0); !again {
			break
		}
		if attempts < 10 && (pause < schedule.First/2<<(attempts-1) || pause > schedule.First<<(attempts-1)) {
			t.Errorf("pause %d is %s", attempts, pause)
		}
		if pause > schedule.Longest {
			t.Errorf("pause %d is %s", attempts, pause)
		}
		since, last = since+pause, pause
	}
	if since < schedule.GiveUp || since > schedule.GiveUp+time.Second || attempts < 25 || attempts > 60 || last == 0 {
		t.Errorf("gave up after %s and %d attempts", since, attempts)
	}
}

func TestRetryAfterIsHonoured(t *testing.T) {
	schedule := worker.Schedule{First: limits.WebhookFirstRetry, Longest: limits.WebhookMaxRetry, GiveUp: limits.WebhookGiveUp}
	if pause, _ := schedule.After(1, 0, time.Minute); pause != time.Minute {
		t.Errorf("asked for a minute, waits %s", pause)
	}
	if pause, _ := schedule.After(1, 0, 100*24*time.Hour); pause != schedule.Longest {
		t.Errorf("a receiver put us off for %s", pause)
	}
	if pause, again := schedule.After(1000000, time.Hour, 0); pause > schedule.Longest || !again {
		t.Errorf("after a million attempts: %s, %v", pause, again)
	}
}

// dueList is a list of items that are due.
type dueList struct {
	mu    sync.Mutex
	due   []int
	fails int
}

func (s *dueList) claim(_ context.Context, most int) ([]int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fails > 0 {
		s.fails--
		return nil, errors.New("away")
	}
	count := min(most, len(s.due))
	taken := s.due[:count:count]
	s.due = s.due[count:]
	return taken, nil
}

func TestSlowReceiversBlockNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		list := &dueList{fails: 2}
		for i := range 100 {
			list.due = append(list.due, i)
		}
		var done, most, under atomic.Int64
		pool := &worker.Pool[int]{
			Concurrency: 4, PollInterval: time.Minute, Claim: list.claim, Log: slog.New(slog.DiscardHandler),
			Do: func(_ context.Context, one int) {
				most.Store(max(most.Load(), under.Add(1)))
				defer under.Add(-1)
				if one < 3 {
					time.Sleep(time.Hour)
				} else {
					time.Sleep(time.Second)
				}
				done.Add(1)
			},
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			pool.Run(ctx)
			close(ended)
		}()
		time.Sleep(3 * time.Minute)
		if done.Load() != 97 || most.Load() != 4 {
			t.Errorf("%d done, %d at once", done.Load(), most.Load())
		}
		cancel()
		<-ended
		if done.Load() != 100 {
			t.Error("the end did not wait for what was under way")
		}
	})
}

func TestNewEventsAreDeliveredAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		list := &dueList{}
		got := make(chan int, 1)
		pool := &worker.Pool[int]{
			Concurrency: 1, PollInterval: time.Hour, Claim: list.claim, Log: slog.New(slog.DiscardHandler),
			Do: func(_ context.Context, one int) { got <- one },
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go pool.Run(ctx)
		synctest.Wait()
		list.mu.Lock()
		list.due = []int{7}
		list.mu.Unlock()
		began := time.Now()
		pool.Wake()
		if <-got != 7 || time.Since(began) > 0 {
			t.Error("news had to wait")
		}
		cancel()
		synctest.Wait()
	})
}
