package engine

import (
	"time"

	"landfall/internal/lib/limits"
)

const (
	// A transaction costs nearly the same for one call as for many. After a
	// burst of at least minBurst calls was answered it therefore pays to wait up
	// to limits.Gather until most of the callers are back. A few callers never wait.
	minBurst    = 8
	gatherPause = limits.Gather / 5
)

// next waits for work and returns a batch, or nil when the queue has closed.
// After a burst, one of the workers waits a moment until this many quarters of
// the callers are back.
func (q *queue) next(quarters int) *callBatch {
	q.lock.Lock()
	defer q.lock.Unlock()
	for !q.closed {
		switch early := q.early(quarters); {
		// Without the lock: the callers need it to enter.
		case early && !q.gathering:
			q.gathering = true
			q.lock.Unlock()
			time.Sleep(gatherPause)
			q.lock.Lock()
			q.gathering = false
			continue
		case !early:
			if b := q.take(); b != nil {
				return b
			}
		}
		q.changed.Wait()
	}
	return nil
}

// early reports whether it pays to wait for more calls. The queue is locked.
func (q *queue) early(quarters int) bool {
	return q.count > 0 && q.peak >= minBurst && 4*q.count < quarters*min(q.peak, MaxBatch) && time.Since(q.lastDone) < limits.Gather
}

// more is next without waiting.
func (q *queue) more() *callBatch {
	q.lock.Lock()
	defer q.lock.Unlock()
	if q.closed {
		return nil
	}
	return q.take()
}

// aside queues a call again that ran into a lock, to wait for that alone. Its
// key stays reserved.
func (q *queue) aside(c *Call) {
	q.lock.Lock()
	defer q.lock.Unlock()
	if q.closed {
		c.err = ErrClosed // finish answers it
		return
	}
	// Its old batch must not answer it.
	c.queuedAs, c.setAside, c.batch = c.kind.lockWait, true, nil
	q.addWaiting(c)
	q.push(c)
	q.changed.Broadcast()
}

// finish answers the calls of a batch that were not set aside.
func (q *queue) finish(b *callBatch) {
	q.lock.Lock()
	defer q.lock.Unlock()
	b.kind.running--
	q.countBatch(len(b.calls))
	q.lastDone = time.Now()
	for _, c := range b.calls {
		if c.err == nil {
			q.lastSuccess = q.lastDone
		}
		if c.batch == b { // and not in another one by now
			q.end(c)
		}
	}
	q.changed.Broadcast()
}

// answer answers one call before the others of its batch.
func (q *queue) answer(c *Call) {
	q.lock.Lock()
	defer q.lock.Unlock()
	q.end(c)
}

// end answers a call once. The queue is locked.
func (q *queue) end(c *Call) {
	// It was answered before its batch was, or has been set aside.
	if c.state != stateRunning {
		return
	}
	c.state = stateDone
	q.advance(c)
	q.depart(c)
	close(c.done)
}
