package engine

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"
)

// idleQueue returns a queue of one kind without workers. The test takes and
// finishes batches itself.
func idleQueue(limits Limits) (*queue, *Kind) {
	q := newQueue(limits)
	return q, q.newKind(&Kind{maxCalls: MaxBatch, maxBatches: 1 << 10}, &Kind{maxCalls: 1, maxBatches: 1 << 10, waitsForLocks: true})
}

func ask(t *testing.T, q *queue, k *Kind, tenant, key string, weight int) *Call {
	t.Helper()
	c := &Call{Tenant: tenant, Weight: weight, kind: k, done: make(chan struct{})}
	if key != "" {
		c.Key = key
	}
	if err := q.enter(c); err != nil {
		t.Fatal(err)
	}
	return c
}

func holds(b *callBatch, c *Call) bool {
	return slices.Contains(b.calls, c)
}

func TestTenantsTakeTurns(t *testing.T) {
	q, k := idleQueue(DefaultLimits())
	for i := range 1000 {
		ask(t, q, k, "hog", fmt.Sprint(i), 1000)
	}
	mine := ask(t, q, k, "modest", "one", 1000)
	if b := q.more(); !holds(b, mine) {
		t.Error("callers of another tenant were served first")
	}
	// A large call runs alone, and a second one waits for the other tenants'
	// turns.
	q, k = idleQueue(DefaultLimits())
	first := ask(t, q, k, "hog", "first", 10<<20)
	ask(t, q, k, "hog", "second", 10<<20)
	b := q.more()
	if len(b.calls) != 1 || !holds(b, first) {
		t.Fatalf("%d calls with the heavy one", len(b.calls))
	}
	mine = ask(t, q, k, "modest", "note", 1000)
	if b := q.more(); !holds(b, mine) {
		t.Error("a second large posting was in the batch")
	}
}

func TestKeysKeepTheirOrder(t *testing.T) {
	q, k := idleQueue(DefaultLimits())
	first, second, third := ask(t, q, k, "t", "same", 1), ask(t, q, k, "t", "same", 1), ask(t, q, k, "t", "same", 1)
	other := ask(t, q, k, "t", "other", 1)
	b := q.more()
	if len(b.calls) != 2 || !holds(b, first) || !holds(b, other) {
		t.Fatalf("%d calls in the first batch", len(b.calls))
	}
	if q.more() != nil {
		t.Fatal("two calls of one key at the same time")
	}
	if !q.leave(second, true) {
		t.Error("a call waiting for another of its key cannot be cancelled")
	}
	q.finish(b)
	if b = q.more(); !holds(b, third) {
		t.Error("the third does not follow the first")
	}
	q.finish(b)
	if left := len(q.keys) + q.accounts.Len() + q.count + int(q.weight); left != 0 {
		t.Errorf("%d calls left", left)
	}
}

// TestDeferredCallsAreRetried checks that the first batch does not answer a call
// that was set aside and taken by another worker.
func TestDeferredCallsAreRetried(t *testing.T) {
	q, k := idleQueue(DefaultLimits())
	c, other := ask(t, q, k, "t", "locked", 1), ask(t, q, k, "t", "free", 1)
	first := q.more()
	q.aside(c)
	second := q.more()
	if !holds(second, c) || len(second.calls) != 1 {
		t.Fatal("a deferred call does not run alone")
	}
	q.finish(first)
	<-other.done
	select {
	case <-c.done:
		t.Fatal("it was answered before it was complete")
	default:
	}
	q.finish(second)
	<-c.done
}

func TestLongQueueRefusesAtOnce(t *testing.T) {
	limits := DefaultLimits()
	q, k := idleQueue(limits)
	// The recent rate is ten calls in a tenth of a second.
	q.throughput = throughput{cost: 10 * (callOverhead + 100), seconds: 0.1, last: time.Now(), backlog: true}
	admitted := 0
	for i := range 1000 {
		c := &Call{Tenant: "hog", Key: fmt.Sprint(i), Weight: 100, kind: k, done: make(chan struct{})}
		err := q.enter(c)
		if err == nil {
			admitted++
		} else if !errors.Is(err, ErrOverloaded) || !errors.Is(err, ErrUnavailable) {
			t.Fatal(err)
		}
	}
	if want := int(limits.Admission/time.Second) * 100; admitted < want-5 || admitted > want+5 {
		t.Errorf("%d were admitted, %d can be served in time", admitted, want)
	}
	ask(t, q, k, "modest", "x", 100) // another tenant's backlog is no reason to refuse
	q.throughput.last = time.Now().Add(-2 * limits.QueueWait)
	if err := q.enter(&Call{Tenant: "late", kind: k, done: make(chan struct{})}); !errors.Is(err, ErrOverloaded) {
		t.Errorf("while nothing is processed: %v", err)
	}
}

// TestLimitsAreNested checks the order that Limits documents.
func TestLimitsAreNested(t *testing.T) {
	for name, l := range map[string]Limits{"usual": DefaultLimits(), "brief": shortLimits} {
		if sum := l.QueueWait + l.served(); sum >= l.Request {
			t.Errorf("%s: the transaction takes %s, a request %s", name, sum, l.Request)
		}
		for i, pair := range [][2]time.Duration{
			{l.QueueWait, l.Admission}, {l.Transaction, l.Silence}, {l.Silence, l.Statement}, {l.Statement, l.Lock}, {l.Lock, l.Connect},
			{l.Connect, l.BatchLock}, {l.BatchLock, l.LoneLock},
		} {
			if pair[0] <= pair[1] {
				t.Errorf("%s: row %d: %s is not longer than %s", name, i, pair[0], pair[1])
			}
		}
	}
}
