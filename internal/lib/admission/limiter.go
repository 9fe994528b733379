// Package admission decides who may proceed when there is not enough for
// everyone. A Limiter bounds what is in use at once and lets waiting tenants
// take turns. A Queue keeps the order of waiting requests, for callers with
// rules of their own. Buckets bound how often something may happen.
package admission

import (
	"context"
	"math"
	"sync"
	"time"
)

// Forever is a Wait without an end: only the context ends it.
const Forever = time.Duration(math.MaxInt64)

// Limits configures a Limiter.
type Limits struct {
	// Capacity is how much may be in use at once.
	Capacity int64
	// Share is how much of it one tenant may hold; 0: all of it. A tenant that
	// holds nothing gets one request through, however large.
	Share int64
	// Wait is how long a request waits; 0: it is refused at once.
	Wait time.Duration
	// Waiting is how many requests may wait; 0: DefaultWaiting.
	Waiting int
	// TenantWaiting is how many of them may be of one tenant; 0: Waiting.
	TenantWaiting int
	// Refusal is the error of a request that was not admitted; nil: that of its
	// context.
	Refusal error
	// ShareRefusal is the error if the tenant's own share was used up; nil:
	// Refusal.
	ShareRefusal error
}

// DefaultWaiting bounds the requests that wait where Limits does not.
const DefaultWaiting = 16384

// Request asks for a part of the capacity.
type Request struct {
	Tenant string
	// Cost is how much of the capacity it needs; 0: 1.
	Cost int64
	// Priority puts it before all requests with a lower one, of other tenants
	// too. It is for work that was admitted before and must be finished.
	Priority int64
	// Held is what the same piece of work holds already. It does not count
	// against the tenant's share.
	Held int64
}

// Limiter bounds what is in use at once, so that neither memory nor response
// times grow with the number of callers. Requests over the bound wait, each
// tenant in a queue of its own. The tenant that holds least comes next, and of
// those that hold the same the one that was admitted least: slow work of one
// does not slow the others down. No tenant may hold more than its share.
//
// Every operation takes O(log n) under the lock for n waiting requests.
type Limiter struct {
	limits Limits

	mu       sync.Mutex
	accounts Accounts
	queue    *Queue[*waiter]
	used     int64
}

// waiter is a request that waits.
type waiter struct {
	Item[*waiter]
	held     int64
	admitted chan struct{}
}

// NewLimiter returns a Limiter with nothing in use.
func NewLimiter(limits Limits) *Limiter {
	if limits.Share == 0 {
		limits.Share = limits.Capacity
	}
	if limits.Waiting == 0 {
		limits.Waiting = DefaultWaiting
	}
	if limits.TenantWaiting == 0 {
		limits.TenantWaiting = limits.Waiting
	}
	l := &Limiter{limits: limits}
	l.queue = NewQueue[*waiter](&l.accounts)
	return l
}

// Usage reports how much is in use and how many requests wait.
func (l *Limiter) Usage() (used int64, waiting int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.used, l.queue.Len()
}

// Alone reports whether no other tenant has anything in use or waiting.
func (l *Limiter) Alone(tenant string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.accounts.Len() == 0 || l.accounts.Len() == 1 && l.accounts.Find(tenant) != nil
}

// Acquire waits until a request is admitted. The caller must call release when
// it has finished; further calls do nothing.
func (l *Limiter) Acquire(ctx context.Context, request Request) (release func(), err error) {
	request.Cost = min(max(request.Cost, 1), l.limits.Capacity)
	l.mu.Lock()
	account := l.accounts.Open(request.Tenant)
	if l.queue.Head() == nil && l.queue.Waiting(account) == 0 && l.fits(account, request.Cost, request.Held) {
		l.admit(account, request.Cost)
		l.mu.Unlock()
		return l.releaser(account, request.Cost), nil
	}
	if l.limits.Wait == 0 || l.queue.Len() >= l.limits.Waiting || l.queue.Waiting(account) >= l.limits.TenantWaiting {
		err = l.refusal(ctx, account, request.Cost, request.Held)
		l.accounts.Close(account)
		l.mu.Unlock()
		return nil, err
	}
	w := &waiter{held: request.Held, admitted: make(chan struct{})}
	w.Item = Item[*waiter]{Value: w, Account: account, Cost: request.Cost, Priority: request.Priority}
	l.queue.Push(&w.Item)
	// It may be ahead of the requests that exceed its tenant's share.
	l.settle(account)
	l.admitWaiting()
	l.mu.Unlock()
	return l.wait(ctx, w)
}

// wait waits until a request is admitted, or removes it from the queue.
func (l *Limiter) wait(ctx context.Context, w *waiter) (release func(), err error) {
	var expired <-chan time.Time
	if l.limits.Wait != Forever {
		timer := time.NewTimer(l.limits.Wait)
		defer timer.Stop()
		expired = timer.C
	}
	select {
	case <-w.admitted:
		return l.releaser(w.Account, w.Cost), nil
	case <-expired:
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !w.Queued() { // it was admitted at the last moment
		return l.releaser(w.Account, w.Cost), nil
	}
	err = l.refusal(ctx, w.Account, w.Cost, w.held)
	l.queue.Remove(&w.Item)
	l.accounts.Close(w.Account)
	// The next request may need less.
	l.settle(w.Account)
	l.admitWaiting()
	return nil, err
}

// fits reports whether a request can be admitted now.
func (l *Limiter) fits(account *Account, cost, held int64) bool {
	return l.used+cost <= l.limits.Capacity && !l.overShare(account, cost, held)
}

func (l *Limiter) overShare(account *Account, cost, held int64) bool {
	return account.held > held && account.held+cost > l.limits.Share
}

func (l *Limiter) refusal(ctx context.Context, account *Account, cost, held int64) error {
	switch {
	case l.limits.ShareRefusal != nil && l.overShare(account, cost, held):
		return l.limits.ShareRefusal
	case l.limits.Refusal != nil:
		return l.limits.Refusal
	}
	return ctx.Err()
}

// settle moves a tenant to its position in the queue. A tenant whose first
// request exceeds its share is paused, so that it does not block the others.
func (l *Limiter) settle(account *Account) {
	if first := l.queue.First(account); first != nil {
		l.queue.Pause(account, l.overShare(account, first.Cost, first.Value.held))
	}
}

// admit takes the cost of a request from the capacity.
func (l *Limiter) admit(account *Account, cost int64) {
	l.used += cost
	account.held += cost
	l.accounts.Charge(account, cost)
}

// admitWaiting admits requests in turn until the next one does not fit. That
// one is not passed over for a smaller one, or large requests would never be
// admitted.
func (l *Limiter) admitWaiting() {
	for {
		next := l.queue.Head()
		if next == nil || l.used+next.Cost > l.limits.Capacity {
			return
		}
		l.queue.Remove(next)
		l.admit(next.Account, next.Cost)
		l.settle(next.Account)
		close(next.Value.admitted)
	}
}

// releaser returns the function that releases a cost. Only its first call has
// an effect.
func (l *Limiter) releaser(account *Account, cost int64) func() {
	released := false
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if released {
			return
		}
		released = true
		l.used -= cost
		account.held -= cost
		l.accounts.Close(account)
		l.settle(account)
		l.admitWaiting()
	}
}
