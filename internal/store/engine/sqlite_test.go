package engine

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

// TestEveryStatementFails fails each statement of a group in turn, in every
// way. Every caller gets one true answer, and afterwards the database works
// again.
func TestEveryStatementFails(t *testing.T) {
	for _, fail := range []error{errIO, errDiskFull, ordinary} {
		for _, after := range []bool{false, true} {
			for _, word := range []string{"BEGIN IMMEDIATE", "SAVEPOINT", "INSERT INTO item", "RELEASE", "INSERT INTO commit_mark", "COMMIT", "ROLLBACK"} {
				t.Run(fmt.Sprintf("%v after %v at %s", fail, after, word), func(t *testing.T) {
					t.Parallel()
					if err := failing(t, Options{}, word, fail, after); err != nil {
						t.Error(err)
					}
				})
			}
		}
	}
}

// failing runs many callers and injects one failure, early or late in a group.
func failing(t testing.TB, options Options, word string, fail error, after bool) error {
	evil, name := newFaultyDriver(t)
	options.driver = name
	r := openTest(t, tempFile(t), options)
	for n := int64(1); n <= 4; n++ {
		evil.set(nth(n, word, fail, after))
		if _, err := r.crowd(t.Context(), fmt.Sprint(n, " "), 24); err != nil {
			return fmt.Errorf("the %d. %s failed: %w", n, word, err)
		}
		evil.set(nil)
		if err := r.works(t.Context(), fmt.Sprint("after ", n)); err != nil {
			return err
		}
	}
	return nil
}

// TestDiskStaysFull lets writes fail for a while, as on a full disk. Afterwards
// everything works again without a restart.
func TestDiskStaysFull(t *testing.T) {
	evil, name := newFaultyDriver(t)
	r := openTest(t, tempFile(t), Options{driver: name})
	for round := range 3 {
		evil.set(func(text string) (error, bool) {
			if len(text) > 6 && text[:6] == "INSERT" {
				return errDiskFull, false
			}
			return nil, false
		})
		answered, err := r.crowd(t.Context(), fmt.Sprint("full ", round, " "), 64)
		if err != nil || answered > 0 {
			t.Fatalf("%d calls succeeded, %v", answered, err)
		}
		if err := r.Ping(t.Context()); !errors.Is(err, ErrUnavailable) {
			t.Errorf("Ping: %v", err)
		}
		evil.set(nil)
		if answered, err := r.crowd(t.Context(), fmt.Sprint("room ", round, " "), 64); err != nil || answered != 64 {
			t.Fatalf("after space was freed %d of 64, %v", answered, err)
		}
	}
}

// TestHungDisk lets a commit hang. Callers are answered within their limits,
// and the database works again when the disk does.
func TestHungDisk(t *testing.T) {
	evil, name := newFaultyDriver(t)
	limits := shortLimits
	limits.Admission = 200 * time.Millisecond
	limits.QueueWait, limits.Transaction, limits.Commit, limits.Resolve = 300*time.Millisecond, 300*time.Millisecond, 100*time.Millisecond, 100*time.Millisecond
	r := openTest(t, tempFile(t), Options{driver: name, Limits: limits})
	release := make(chan struct{})
	evil.set(func(text string) (error, bool) {
		if text == "COMMIT" {
			<-release
		}
		return nil, false
	})
	first := make(chan error, 1)
	go func() { first <- r.put(t.Context(), "a", "taken") }()
	time.Sleep(50 * time.Millisecond)
	began := time.Now()
	if err := r.put(t.Context(), "b", "waiting"); !errors.Is(err, ErrOverloaded) {
		t.Errorf("the waiting caller got %v", err)
	}
	if err := <-first; !errors.Is(err, ErrUnknownOutcome) {
		t.Errorf("the caller whose commit hangs got %v", err)
	}
	if took := time.Since(began); took > leeway {
		t.Errorf("the callers waited for %s", took)
	}
	evil.set(nil)
	close(release)
	if err := r.works(t.Context(), "later"); err != nil {
		t.Error(err)
	}
	if count, err := r.count(t.Context(), "waiting"); err != nil || count != 0 {
		t.Errorf("a refused call wrote %d rows, %v", count, err)
	}
}

// TestCancelledCallers cancels calls at every moment.
func TestCancelledCallers(t *testing.T) {
	r := openTest(t, tempFile(t), Options{})
	for i := range 200 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*20*time.Microsecond)
		name := fmt.Sprint("leaver ", i)
		err := r.put(ctx, "t", name)
		cancel()
		count, trouble := r.count(t.Context(), name)
		if trouble != nil || (err == nil) != (count == 1) {
			t.Errorf("got %v, stored %d times, %v", err, count, trouble)
		}
	}
	if left := r.queue.accounts.Len() + len(r.queue.keys) + r.queue.count; left != 0 {
		t.Errorf("%d calls left in the queue", left)
	}
}

// TestReaderTimesOut fails the BEGIN of a reader. That connection must not be
// used again.
func TestReaderTimesOut(t *testing.T) {
	evil, name := newFaultyDriver(t)
	r := openTest(t, tempFile(t), Options{driver: name})
	for range 40 { // more than there are readers
		evil.set(nth(1, "BEGIN", errIO, true)) // it has begun, and reports that it has not
		if _, err := r.count(t.Context(), "x"); !errors.Is(err, ErrUnavailable) {
			t.Fatalf("got %v", err)
		}
		evil.set(nil)
		if _, err := r.count(t.Context(), "x"); err != nil {
			t.Fatalf("afterwards: %v", err)
		}
	}
}
