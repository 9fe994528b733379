package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"landfall/internal/test/pgtest"
)

// TestReadersTakeTurns guards against a regression: one organisation that read
// slowly all the time occupied every slot, and the others waited until they
// were refused.
func TestReadersTakeTurns(t *testing.T) {
	for name, address := range map[string]func(testing.TB) string{"sqlite": tempFile, "postgres": pgtest.URL} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := readingBeside(t, address(t), Options{}); err != nil {
				t.Error(err)
			}
		})
	}
}

// readingBeside reads now and then beside a tenant that reads all the time, and
// returns an error if it has to wait too long.
func readingBeside(t testing.TB, address string, options Options) error {
	r := openTest(t, address, options)
	const held = 300 * time.Millisecond
	var begun atomic.Int64 // reads of all tenants
	look := func(ctx context.Context, pause time.Duration) func(*Tx) error {
		return func(tx *Tx) error {
			begun.Add(1)
			var one int64
			if err := tx.One(ctx, `SELECT 1`, nil, []any{&one}); err != nil {
				return err
			}
			time.Sleep(pause)
			return nil
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	defer all.Wait()
	defer stop()
	const greedy = 100
	for range greedy {
		all.Go(func() {
			for ctx.Err() == nil {
				_ = r.View(ctx, "greedy", look(ctx, held)) // some are refused, because there are so many
			}
		})
	}
	time.Sleep(held)
	// A busy machine may delay a read before it is queued, but not every time.
	late := 0
	for range 5 {
		before := begun.Load()
		if err := r.View(ctx, "modest", look(ctx, 0)); err != nil {
			return fmt.Errorf("while another tenant is busy: %w", err)
		}
		if passed := begun.Load() - before; passed < greedy/4 {
			continue
		} else if late++; late == 3 {
			return fmt.Errorf("%d ran before the single call, of %d waiting", passed, greedy)
		}
	}
	return nil
}

// TestHungDiskDoesNotBlockReaders guards against a regression: a disk that hung
// blocked its readers forever, despite all limits.
func TestHungDiskDoesNotBlockReaders(t *testing.T) {
	t.Parallel()
	if err := hanging(t, Options{}, 20*time.Second); err != nil {
		t.Error(err)
	}
}

// hanging reads from a disk that hangs, and returns an error if a caller was
// not answered in time.
func hanging(t testing.TB, options Options, limit time.Duration) error {
	disk, name := newFaultyDriver(t)
	options.driver = name
	options.Limits = shortLimits
	options.Limits.QueueWait, options.Limits.Transaction = 500*time.Millisecond, time.Second
	r := openTest(t, tempFile(t), options)
	released := make(chan struct{})
	release := sync.OnceFunc(func() { close(released) })
	defer release()
	disk.set(func(text string) (error, bool) {
		if strings.HasPrefix(text, "SELECT") {
			<-released
		}
		return nil, false
	})
	time.AfterFunc(limit+2*time.Second, release) // a mutated engine would wait forever
	var all sync.WaitGroup
	found := make([]error, 40)
	for i := range found {
		all.Go(func() {
			ctx, cancel := context.WithCancel(t.Context())
			if i%2 == 0 { // a caller with its own time limit
				ctx, cancel = context.WithTimeout(ctx, 300*time.Millisecond)
			}
			defer cancel()
			began := time.Now()
			err := r.View(ctx, fmt.Sprint(i%3), func(tx *Tx) error {
				var one int64
				return tx.One(ctx, `SELECT 1`, nil, []any{&one})
			})
			if took := time.Since(began); took > limit || !errors.Is(err, ErrUnavailable) {
				found[i] = fmt.Errorf("answered after %s with %w", took, err)
			}
		})
	}
	all.Wait()
	if err := errors.Join(found...); err != nil {
		return err
	}
	release()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		_, err := r.count(t.Context(), "none")
		if err == nil || time.Now().After(end) {
			return err // it works again, with all its slots
		}
	}
}
