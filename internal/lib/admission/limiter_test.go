package admission

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

const testWait = time.Second

var (
	errBusy  = errors.New("too busy")
	errShare = errors.New("too many of your own")
)

// limiter returns a Limiter with a capacity. One tenant may use three quarters
// of it.
func limiter(capacity int64) *Limiter {
	return NewLimiter(Limits{Capacity: capacity, Share: max(1, capacity*3/4), Wait: testWait, Refusal: errBusy})
}

// checkEmpty fails if a limiter still has something in use or waiting.
func checkEmpty(t *testing.T, l *Limiter) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.used != 0 || l.queue.count != 0 || l.accounts.Len()+len(l.queue.lines)+len(l.queue.order) != 0 {
		t.Errorf("left over: %d used, %d waiting, %d accounts, %d lines", l.used, l.queue.count, l.accounts.Len(), len(l.queue.lines))
	}
}

// No request used to be refused: with ten times as many callers as could be
// served, every response took ten times as long.
func TestWaitIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most, callers, work = 10, 1000, 100 * time.Millisecond
		l := NewLimiter(Limits{Capacity: most, Wait: testWait, Refusal: errBusy})
		var served, refused, running, peak atomic.Int64
		var all sync.WaitGroup
		for range callers {
			all.Go(func() {
				began := time.Now()
				release, err := l.Acquire(t.Context(), Request{Tenant: "Acme"})
				if waited := time.Since(began); waited > testWait {
					t.Errorf("waited %s", waited)
				}
				if err != nil {
					refused.Add(1)
					return
				}
				peak.Store(max(peak.Load(), running.Add(1)))
				time.Sleep(work)
				running.Add(-1)
				served.Add(1)
				release()
			})
		}
		all.Wait()
		// Ten times ten are served within a second, plus those admitted at its
		// start.
		if n := served.Load(); n < 100 || n > 120 || n+refused.Load() != callers || peak.Load() != most {
			t.Errorf("%d served, %d refused, at most %d at once", n, refused.Load(), peak.Load())
		}
		checkEmpty(t, l)
	})
}

// One tenant with a thousand callers does not make another wait behind them,
// nor can it use up the capacity with requests that take long.
func TestOneTenantCannotBlockAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limiter(8)
		for range 1000 {
			go func() {
				if release, err := l.Acquire(t.Context(), Request{Tenant: "Greedy"}); err == nil {
					time.Sleep(10 * time.Second)
					release()
				}
			}()
		}
		synctest.Wait()
		for range 20 {
			began := time.Now()
			release, err := l.Acquire(t.Context(), Request{Tenant: "Modest"})
			if err != nil || time.Since(began) > 0 {
				t.Fatalf("waited %s: %v", time.Since(began), err)
			}
			time.Sleep(time.Millisecond)
			release()
		}
		time.Sleep(time.Minute)
		checkEmpty(t, l)
	})
}

// serveAll queues requests one after the other behind one that holds everything,
// and returns the order in which they are admitted.
func serveAll(t *testing.T, l *Limiter, requests ...Request) string {
	t.Helper()
	hold, err := l.Acquire(t.Context(), Request{Tenant: "first", Cost: l.limits.Capacity})
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var order []string
	for _, request := range requests {
		go func() {
			release, err := l.Acquire(t.Context(), request)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			order = append(order, request.Tenant)
			mu.Unlock()
			time.Sleep(time.Microsecond)
			release()
		}()
		synctest.Wait()
	}
	hold()
	hold() // the second call does nothing
	time.Sleep(time.Millisecond)
	synctest.Wait()
	checkEmpty(t, l)
	return strings.Join(order, "")
}

func TestTenantsTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var requests []Request
		for _, tenant := range "aaabbc" {
			requests = append(requests, Request{Tenant: string(tenant)})
		}
		if order := serveAll(t, limiter(1), requests...); order != "abcaba" {
			t.Errorf("served in the order %s", order)
		}
	})
}

// A tenant whose requests cost more gets fewer turns.
func TestTurnsAreCountedByCost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLimiter(Limits{Capacity: 3, Wait: testWait, Refusal: errBusy})
		large := Request{Tenant: "L", Cost: 3}
		small := Request{Tenant: "s", Cost: 2}
		if order := serveAll(t, l, large, large, small, small, small); order != "LssLs" && order != "LsLss" {
			t.Errorf("served in the order %s", order)
		}
	})
}

// A request that was admitted before does not start again at the end of the
// queue.
func TestPriorityGoesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		order := serveAll(t, limiter(1), Request{Tenant: "new"}, Request{Tenant: "far", Priority: 1}, Request{Tenant: "farther", Priority: 2})
		if order != "fartherfarnew" {
			t.Errorf("served in the order %s", order)
		}
	})
}

// An idle tenant accumulates no credit.
func TestIdleTenantsAccumulateNoCredit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limiter(1)
		for range 100 {
			release, err := l.Acquire(t.Context(), Request{Tenant: "a"})
			if err != nil {
				t.Fatal(err)
			}
			release()
		}
		var requests []Request
		for _, tenant := range "aabbbb" {
			requests = append(requests, Request{Tenant: string(tenant)})
		}
		if order := serveAll(t, l, requests...); order != "ababbb" {
			t.Errorf("served in the order %s", order)
		}
	})
}

// A large request is not passed over for smaller ones until it gives up.
func TestLargeRequestsAreNotPassedOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLimiter(Limits{Capacity: 10, Wait: testWait, Refusal: errBusy})
		hold, _ := l.Acquire(t.Context(), Request{Tenant: "a", Cost: 5})
		done := make(chan string, 2)
		for _, request := range []Request{{Tenant: "large", Cost: 8}, {Tenant: "small", Cost: 3}} {
			go func() {
				if release, err := l.Acquire(t.Context(), request); err == nil {
					done <- request.Tenant
					release()
				}
			}()
			synctest.Wait()
		}
		if len(done) > 0 {
			t.Fatal("a small request passed a large one")
		}
		hold()
		if first := <-done; first != "large" {
			t.Errorf("%s came first", first)
		}
		<-done
		synctest.Wait()
		checkEmpty(t, l)
	})
}

// A request over its tenant's share gets its own error, and does not make
// others wait.
func TestShareRefusalDiffersFromOverload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLimiter(Limits{Capacity: 4, Share: 2, Wait: testWait, Refusal: errBusy, ShareRefusal: errShare})
		// A tenant that holds nothing may exceed its share once.
		hold, err := l.Acquire(t.Context(), Request{Tenant: "a", Cost: 3})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if _, err := l.Acquire(t.Context(), Request{Tenant: "a"}); !errors.Is(err, errShare) || time.Since(began) != testWait {
			t.Errorf("got %v after %s", err, time.Since(began))
		}
		other, err := l.Acquire(t.Context(), Request{Tenant: "b"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.Acquire(t.Context(), Request{Tenant: "c"}); !errors.Is(err, errBusy) {
			t.Errorf("got %v", err)
		}
		// What the same work already holds does not count.
		other()
		more, err := l.Acquire(t.Context(), Request{Tenant: "a", Held: 3, Priority: 3})
		if err != nil {
			t.Fatal(err)
		}
		more()
		hold()
		checkEmpty(t, l)
	})
}

// A caller that leaves while it waits holds nothing.
func TestCancelledRequestsLeaveTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, refusal := range []error{errBusy, nil} {
			l := NewLimiter(Limits{Capacity: 1, Wait: Forever, Refusal: refusal})
			hold, _ := l.Acquire(t.Context(), Request{Tenant: "Acme"})
			ctx, cancel := context.WithCancel(t.Context())
			go cancel()
			want := refusal
			if want == nil {
				want = context.Canceled
			}
			if _, err := l.Acquire(ctx, Request{Tenant: "Acme"}); !errors.Is(err, want) {
				t.Errorf("got %v", err)
			}
			hold()
			release, err := l.Acquire(t.Context(), Request{Tenant: "Acme"})
			if err != nil {
				t.Fatal(err)
			}
			release()
			checkEmpty(t, l)
		}
	})
}

func TestWaitersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLimiter(Limits{Capacity: 1, Wait: testWait, Waiting: 3, TenantWaiting: 2, Refusal: errBusy})
		hold, _ := l.Acquire(t.Context(), Request{Tenant: "Acme"})
		asked := func(tenant string) bool {
			refused := make(chan error, 1)
			go func() {
				release, err := l.Acquire(t.Context(), Request{Tenant: tenant})
				if err == nil {
					release()
				}
				refused <- err
			}()
			synctest.Wait()
			return len(refused) == 0
		}
		for i, tenant := range []string{"a", "a", "a", "b", "c"} {
			if waits := asked(tenant); waits != (i != 2 && i != 4) {
				t.Errorf("request %d of %s: waits is %v", i, tenant, waits)
			}
		}
		hold()
		synctest.Wait()
		checkEmpty(t, l)
	})
}

func TestZeroWaitRefusesAtOnce(t *testing.T) {
	l := NewLimiter(Limits{Capacity: 1, Refusal: errBusy})
	hold, _ := l.Acquire(t.Context(), Request{Tenant: "a"})
	if _, err := l.Acquire(t.Context(), Request{Tenant: "b"}); !errors.Is(err, errBusy) {
		t.Errorf("got %v", err)
	}
	hold()
	checkEmpty(t, l)
}

// Whatever the order of requests, the capacity and the shares are respected, no
// request is forgotten, and every request that can be admitted is.
func TestRandomLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLimiter(Limits{Capacity: 20, Share: 10, Wait: testWait, Refusal: errBusy})
		var used atomic.Int64
		var all sync.WaitGroup
		for i := range 2000 {
			request := Request{Tenant: fmt.Sprint(i % 7), Cost: 1 + rand.Int64N(6), Priority: rand.Int64N(2)}
			start, work := rand.N(3*time.Second), rand.N(20*time.Millisecond)
			all.Go(func() {
				time.Sleep(start)
				ctx, cancel := context.WithTimeout(t.Context(), rand.N(2*time.Second))
				defer cancel()
				release, err := l.Acquire(ctx, request)
				if err != nil {
					return
				}
				if sum := used.Add(request.Cost); sum > 20 {
					t.Errorf("%d in use", sum)
				}
				time.Sleep(work)
				used.Add(-request.Cost)
				release()
			})
		}
		all.Wait()
		checkEmpty(t, l)
	})
}

func BenchmarkAcquire(b *testing.B) {
	l := limiter(256)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			release, err := l.Acquire(b.Context(), Request{Tenant: "Acme"})
			if err != nil {
				b.Fatal(err)
			}
			release()
		}
	})
}

func BenchmarkContended(b *testing.B) {
	l := NewLimiter(Limits{Capacity: 8, Wait: Forever})
	b.ReportAllocs()
	b.SetParallelism(1000)
	var number atomic.Int64
	b.RunParallel(func(pb *testing.PB) {
		tenant := fmt.Sprint(number.Add(1) % 10)
		for pb.Next() {
			release, err := l.Acquire(b.Context(), Request{Tenant: tenant})
			if err != nil {
				b.Fatal(err)
			}
			release()
		}
	})
}
