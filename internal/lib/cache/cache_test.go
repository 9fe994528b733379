package cache_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"landfall/internal/lib/cache"
)

var (
	noon   = time.Date(2026, 8, 20, 12, 0, 0, 0, time.UTC)
	limits = cache.Limits{TTL: 50 * time.Millisecond, LoadTimeout: 5 * time.Second, Size: 100}
)

func TestConcurrentLookupsAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers := cache.New[string, int](limits)
		var asked atomic.Int32
		ask := func(ctx context.Context) (int, error) {
			asked.Add(1)
			time.Sleep(time.Second)
			return 7, ctx.Err()
		}
		// The first caller leaves before the value is loaded; the others get it.
		first, leave := context.WithCancel(t.Context())
		start := time.Now()
		var callers sync.WaitGroup
		callers.Go(func() { _, _ = answers.Get(first, "q", start, ask) })
		synctest.Wait()
		for range 20 {
			callers.Go(func() {
				if found, err := answers.Get(t.Context(), "q", start, ask); err != nil || found != 7 {
					t.Errorf("got %v, %v", found, err)
				}
			})
		}
		synctest.Wait()
		leave()
		callers.Wait()
		if asked.Load() != 1 {
			t.Errorf("asked %d times", asked.Load())
		}
	})
}

func TestCallerMayStopWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers := cache.New[string, int](limits)
		slow := func(ctx context.Context) (int, error) { <-ctx.Done(); return 0, ctx.Err() }
		start := time.Now()
		var callers sync.WaitGroup
		callers.Go(func() {
			if _, err := answers.Get(t.Context(), "q", start, slow); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v", err)
			}
			if waited := time.Since(start); waited != limits.LoadTimeout {
				t.Errorf("a question was let run for %v", waited)
			}
		})
		synctest.Wait()
		hurried, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		if _, err := answers.Get(hurried, "q", start, slow); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
			t.Errorf("got %v after %v", err, time.Since(start))
		}
		callers.Wait()
	})
}

func TestCacheExpires(t *testing.T) {
	answers := cache.New[string, string](limits)
	asked := 0
	away := errors.New("away")
	for _, step := range []struct {
		name   string
		at     time.Duration
		answer string
		fails  error
		want   string
		asked  int
	}{
		{"first", 0, "one", nil, "one", 1},
		{"remembered", 49 * time.Millisecond, "two", nil, "one", 1},
		{"not for longer than its life", 50 * time.Millisecond, "", away, "", 2},
		{"a failure is not", 51 * time.Millisecond, "three", nil, "three", 3},
		{"good news is", 52 * time.Millisecond, "", away, "three", 3},
		{"a clock set back asks again", 50 * time.Millisecond, "four", nil, "four", 4},
	} {
		found, _ := answers.Get(t.Context(), "q", noon.Add(step.at), func(context.Context) (string, error) {
			asked++
			return step.answer, step.fails
		})
		if found != step.want || asked != step.asked {
			t.Errorf("%s: got %q and asked %d times, want %q and %d", step.name, found, asked, step.want, step.asked)
		}
	}
}

func TestCacheSizeIsBounded(t *testing.T) {
	answers := cache.New[int, bool](limits)
	for i := range 10_000 {
		_, _ = answers.Get(t.Context(), i, noon, func(context.Context) (bool, error) { return false, nil })
	}
	if kept := answers.Len(); kept > 2*limits.Size {
		t.Errorf("%d answers are kept", kept)
	}
}

// A panic during loading reaches only the caller that was loading; no other
// caller waits for a value that will not come.
func TestPanicIsNotCached(t *testing.T) {
	answers := cache.New[string, int](limits)
	func() {
		defer func() { _ = recover() }()
		_, _ = answers.Get(t.Context(), "q", noon, func(context.Context) (int, error) { panic("broken") })
	}()
	if _, err := answers.Get(t.Context(), "q", noon, func(context.Context) (int, error) { return 0, nil }); err != nil {
		t.Errorf("the next caller got %v", err)
	}
}
