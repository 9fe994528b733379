package engine

import "time"

// next waits for work and gives a batch of it, nil when the queue has closed.
// When a crowd has just been answered it waits a moment until so many quarters
// of it are back; of several lanes one does.
func (q *queue) next(quarters int) *batch {
	q.lock.Lock()
	defer q.lock.Unlock()
	for !q.closed {
		switch early := q.early(quarters); {
		// Without the lock: those who are waited for need it to enter.
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
		q.came.Wait()
	}
	return nil
}

// early reports whether it pays to wait for more than what is waiting. The
// queue is locked.
func (q *queue) early(quarters int) bool {
	return q.count > 0 && q.peak >= crowd && 4*q.count < quarters*min(q.peak, LongestBatch) && time.Since(q.ended) < gatherTime
}

// more is next without waiting.
func (q *queue) more() *batch {
	q.lock.Lock()
	defer q.lock.Unlock()
	if q.closed {
		return nil
	}
	return q.take()
}

// aside lets a call that found a lock in its way wait for it alone. Its key
// stays its own.
func (q *queue) aside(c *Call) {
	q.lock.Lock()
	defer q.lock.Unlock()
	if q.closed {
		c.err = ErrClosed // and finish answers it
		return
	}
	// Its batch must not answer it: in says whose it is, and is nobody's until
	// a lane takes it again.
	c.at, c.aside, c.state, c.in = c.kind.alone, true, waiting, nil
	q.count++
	q.weight += c.cost
	c.home.cost += c.cost
	q.line(c).append(c)
	q.came.Broadcast()
}

// finish answers the calls of a batch that were not set aside, and lets others
// have its place.
func (q *queue) finish(b *batch) {
	q.lock.Lock()
	defer q.lock.Unlock()
	b.kind.running--
	q.counted(len(b.calls))
	q.ended = time.Now()
	for _, c := range b.calls {
		if c.in == b { // and not in another one by now
			q.end(c)
		}
	}
	q.came.Broadcast()
}

// answer tells a call what became of it before the others of its batch.
func (q *queue) answer(c *Call) {
	q.lock.Lock()
	defer q.lock.Unlock()
	q.end(c)
}

// end answers a call once. The queue is locked.
func (q *queue) end(c *Call) {
	// It was answered before its batch was, or has been set aside.
	if c.state != taken {
		return
	}
	c.state = gone
	q.follow(c)
	q.depart(c)
	close(c.done)
}
