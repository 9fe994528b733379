package engine

import (
	"sync"
	"time"

	"landfall/internal/lib/admission"
)

// queue is where all work that writes waits for its turn. Tenants take turns in
// the order of an admission.Queue: the one that was served least comes next.
// Calls with the same key keep their order and never run at the same time.
type queue struct {
	limits   Limits
	lock     sync.Mutex
	changed  *sync.Cond // there is new work, or work that a worker may now take
	accounts admission.Accounts
	kinds    []*Kind
	keys     map[keyed]*Call // the last call of each key that has not ended
	weight   int64           // of everything that waits
	count    int             // calls that wait
	active   int             // calls that wait or run
	peak     int             // the most of them recently
	lastDone time.Time       // when a batch ended
	// lastSuccess is when a batch ended in which a call succeeded.
	lastSuccess time.Time
	gathering   bool // a worker waits for more calls to arrive
	throughput  throughput
	refused     int64 // calls that would have waited too long
	batches     [len(BatchSizes)]int64
	calls       int64 // in all of them
	closed      bool
}

// keyed names a key of one kind of work.
type keyed struct {
	kind *Kind
	key  any
}

// newQueue returns a queue without work or workers.
func newQueue(limits Limits) *queue {
	q := &queue{limits: limits, keys: map[keyed]*Call{}}
	q.changed = sync.NewCond(&q.lock)
	return q
}

// newKind adds a kind of work and its companion for calls that wait for locks.
// Those go through the same function, one at a time, and occupy only some of the
// workers, so that a row locked for long delays only the calls that need it.
func (q *queue) newKind(kind, lockWait *Kind) *Kind {
	q.lock.Lock()
	defer q.lock.Unlock()
	kind.lockWait = lockWait
	for _, k := range []*Kind{kind, lockWait} {
		k.queue, k.queued = q, admission.NewQueue[*Call](&q.accounts)
		q.kinds = append(q.kinds, k)
	}
	return kind
}

// enter puts a call into the queue, or refuses it at once if it would wait too
// long.
func (q *queue) enter(c *Call) error {
	q.lock.Lock()
	defer q.lock.Unlock()
	if q.closed {
		return ErrClosed
	}
	c.queuedAs = c.kind
	c.item = admission.Item[*Call]{Value: c, Account: q.accounts.Open(c.Tenant), Cost: int64(callOverhead + c.Weight)}
	// Never refuse when the queue is empty; otherwise one slow moment could
	// block everyone, and no new measurement would correct it.
	if q.count > 0 && (q.weight+c.item.Cost > maxQueuedBytes || q.expectedWait(c, time.Now()) > q.limits.Admission) {
		q.accounts.Close(c.item.Account)
		q.refused++
		return errBusy
	}
	q.active++
	q.addWaiting(c)
	if c.Key != nil {
		// Calls with the same key form a chain. Only the head is queued, so a
		// batch never holds two of them and their order is kept.
		at := keyed{c.kind, c.Key}
		before := q.keys[at]
		q.keys[at] = c
		if before != nil {
			before.next, c.before = c, before
			c.state = stateBehind
			return nil
		}
	}
	q.push(c)
	q.changed.Signal()
	return nil
}

// push makes a call ready to be taken.
func (q *queue) push(c *Call) {
	c.state = stateQueued
	c.queuedAs.queued.Push(&c.item)
}

// expectedWait estimates how long a new call would wait, at the recent rate.
func (q *queue) expectedWait(c *Call, now time.Time) time.Duration {
	// A database that takes nothing at all has no rate to estimate with.
	if stalled := q.throughput.stalled(now); stalled > q.limits.QueueWait {
		return stalled
	}
	return q.throughput.estimate(q.accounts.Ahead(c.item.Account, c.item.Cost))
}

// leave removes a call that is not running. A call that waits for a lock stays
// unless it must go.
func (q *queue) leave(c *Call, must bool) bool {
	q.lock.Lock()
	defer q.lock.Unlock()
	if c.setAside && !must {
		return false
	}
	switch c.state {
	case stateQueued:
		c.queuedAs.queued.Remove(&c.item)
		q.removeWaiting(c)
		q.advance(c)
	case stateBehind:
		q.removeWaiting(c)
		c.before.next = c.next
		if c.next != nil {
			c.next.before = c.before
		} else {
			// It was the last of its key; the next one follows the one before it.
			q.keys[keyed{c.kind, c.Key}] = c.before
		}
	default:
		return false
	}
	c.state = stateDone
	q.depart(c)
	return true
}

// addWaiting and removeWaiting keep the sums of what waits.
func (q *queue) addWaiting(c *Call) {
	q.count++
	q.weight += c.item.Cost
	c.item.Account.Waiting += c.item.Cost
}

func (q *queue) removeWaiting(c *Call) {
	q.count--
	q.weight -= c.item.Cost
	c.item.Account.Waiting -= c.item.Cost
}

// depart ends a call that no longer waits or runs.
func (q *queue) depart(c *Call) {
	q.active--
	q.accounts.Close(c.item.Account)
}

// advance queues the next call of a key.
func (q *queue) advance(c *Call) {
	if c.Key == nil {
		return
	}
	next := c.next
	c.next = nil
	if next == nil {
		delete(q.keys, keyed{c.kind, c.Key})
		return
	}
	next.before = nil
	if q.closed {
		q.refuse(next)
		return
	}
	q.push(next)
	q.changed.Signal()
}

// close refuses everything that waits, now and from now on.
func (q *queue) close() {
	q.lock.Lock()
	defer q.lock.Unlock()
	q.closed = true
	for _, k := range q.kinds {
		for head := k.queued.Head(); head != nil; head = k.queued.Head() {
			k.queued.Remove(head)
			q.refuse(head.Value)
		}
	}
	q.changed.Broadcast()
}

// refuse answers a call, and those with the same key behind it, after the queue
// has closed.
func (q *queue) refuse(c *Call) {
	for ; c != nil; c = c.next {
		c.state, c.err = stateDone, ErrClosed
		close(c.done)
	}
}
