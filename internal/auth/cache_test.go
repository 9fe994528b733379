package auth

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"landfall"
)

func TestCacheAsksOnceForManyCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cache := newCache(cacheLife, 10)
		var asked atomic.Int32
		ask := func(context.Context) (pass, error) {
			asked.Add(1)
			time.Sleep(time.Second)
			return pass{principal: landfall.Principal{KeyID: "k"}}, nil
		}
		// The first caller leaves before the answer is there; the others get it.
		first, leave := context.WithCancel(t.Context())
		start := time.Now()
		var group sync.WaitGroup
		group.Go(func() { _, _ = cache.get(first, [32]byte{1}, start, ask) })
		synctest.Wait()
		for range 20 {
			group.Go(func() {
				found, err := cache.get(t.Context(), [32]byte{1}, start, ask)
				if err != nil || found.principal.KeyID != "k" {
					t.Errorf("got %v, %v", found, err)
				}
			})
		}
		synctest.Wait()
		leave()
		group.Wait()
		if asked.Load() != 1 {
			t.Errorf("asked %d times", asked.Load())
		}
	})
}

func TestCacheForgets(t *testing.T) {
	cache := newCache(cacheLife, 10)
	asked := 0
	away := errors.New("away")
	var answer error
	get := func(now time.Time) error {
		_, err := cache.get(t.Context(), [32]byte{1}, now, func(context.Context) (pass, error) {
			asked++
			return pass{}, answer
		})
		return err
	}
	steps := []struct {
		name   string
		at     time.Duration
		answer error
		want   error
		asked  int
	}{
		{"first", 0, landfall.ErrNotFound, landfall.ErrNotFound, 1},
		{"unknown is remembered", 49 * time.Millisecond, nil, landfall.ErrNotFound, 1},
		{"not for longer than its life", 50 * time.Millisecond, away, away, 2},
		{"a failure to ask is not remembered", 51 * time.Millisecond, nil, nil, 3},
		{"good news is remembered", 52 * time.Millisecond, away, nil, 3},
		{"a clock set back asks again", 50 * time.Millisecond, away, away, 4},
	}
	for _, step := range steps {
		answer = step.answer
		if err := get(noon.Add(step.at)); !errors.Is(err, step.want) {
			t.Errorf("%s: %v, want %v", step.name, err, step.want)
		}
		if asked != step.asked {
			t.Errorf("%s: asked %d times, want %d", step.name, asked, step.asked)
		}
	}
}

func TestCacheIsBounded(t *testing.T) {
	cache := newCache(cacheLife, 100)
	for i := range 10_000 {
		hash := digest(string(rune(i)))
		_, _ = cache.get(t.Context(), hash, noon, func(context.Context) (pass, error) { return pass{}, landfall.ErrNotFound })
	}
	if kept := len(cache.young) + len(cache.old); kept > 200 {
		t.Errorf("%d answers are kept", kept)
	}
}

// A panic while asking belongs to the caller it happened to; nobody waits for
// an answer that will not come.
func TestCacheOutlivesAPanic(t *testing.T) {
	cache := newCache(cacheLife, 10)
	func() {
		defer func() { _ = recover() }()
		_, _ = cache.get(t.Context(), [32]byte{1}, noon, func(context.Context) (pass, error) { panic("broken") })
	}()
	_, err := cache.get(t.Context(), [32]byte{1}, noon, func(context.Context) (pass, error) { return pass{}, nil })
	if err != nil {
		t.Errorf("the next caller got %v", err)
	}
}
