package engine

import (
	"sync"
	"time"
)

const (
	// LongestBatch is the most calls that share a batch, and longestMany the most of
	// those that a server takes more of.
	LongestBatch = 64
	longestMany  = 4 * LongestBatch
	// heaviestBatch bounds the bytes of a batch.
	heaviestBatch = 4 << 20
	// heavy work goes alone, so that nobody waits for it who need not.
	heavy = 256 << 10
	// handful is what a call costs besides its bytes.
	handful = 2 << 10
	// A transaction costs nearly the same for one call as for many, so when a
	// crowd has just been served it pays to wait until it is back. Whoever
	// comes alone or with a few never waits.
	crowd       = 8
	gatherPause = 200 * time.Microsecond
	gatherTime  = time.Millisecond
	// mostWaiting bounds the bytes that wait.
	mostWaiting = 256 << 20
)

// queue is where all work that writes waits for its turn. Tenants take turns:
// whoever was given least so far comes next, so nobody's crowd is in anybody
// else's way. Calls of one key keep their order and never run at the same time.
type queue struct {
	limits    Limits
	lock      sync.Mutex
	came      *sync.Cond // work came, or a lane may take what it could not before
	tenant    map[string]*tenant
	keys      map[keyed]*Call // the last call of each key that has not ended
	given     int64           // what the last turn's tenant had been given: newcomers start there
	weight    int64           // of everything that waits
	count     int
	inside    int       // calls that wait or run
	peak      int       // the most of them, of late
	ended     time.Time // when a batch was answered last
	gathering bool      // a lane waits for a crowd to be back
	pace      pace
	refused   int64 // calls that would have waited too long
	batches   [len(BatchSizes)]int64
	calls     int64 // in all of them
	closed    bool
}

// keyed names a key of one kind of work.
type keyed struct {
	kind *Kind
	key  string
}

// tenant is one organisation's share. It is forgotten when it has no work.
type tenant struct {
	name  string
	given int64 // the cost of all turns it had, counted from where others stood
	calls int   // waiting or taken
	// waiting holds its calls of every kind in the order they came.
	waiting map[*Kind]*line
	cost    int64 // of what waits
}

// newQueue makes one without work or lanes.
func newQueue(limits Limits) *queue {
	q := &queue{limits: limits, tenant: map[string]*tenant{}, keys: map[keyed]*Call{}}
	q.came = sync.NewCond(&q.lock)
	return q
}

// enter puts a call into the queue, or refuses it at once when it would wait
// for too long.
func (q *queue) enter(c *Call) error {
	q.lock.Lock()
	defer q.lock.Unlock()
	if q.closed {
		return ErrClosed
	}
	now := time.Now()
	c.at, c.cost, c.arrived = c.kind, int64(handful+c.Weight), now
	home := q.tenant[c.Tenant]
	if home == nil {
		// A newcomer starts where the others stand: from zero it would have all
		// the turns until it had caught up with everything they were ever
		// given.
		home = &tenant{name: c.Tenant, given: q.given, waiting: map[*Kind]*line{}}
	}
	// An empty queue refuses nobody, whatever the past says: otherwise one
	// slow moment could keep everybody out with nothing left to prove it
	// wrong.
	if q.count > 0 && (q.weight+c.cost > mostWaiting || q.wouldWait(home, c, now) > q.limits.Admission) {
		q.refused++
		return errBusy
	}
	q.tenant[c.Tenant] = home
	// Who was away does not save turns up for a crowd of his own.
	if home.calls == 0 && home.given < q.given {
		home.given = q.given
	}
	home.calls++
	q.inside++
	c.home = home
	q.count++
	q.weight += c.cost
	home.cost += c.cost
	c.state = waiting
	if c.Key != "" {
		// Calls of one key are a chain: only its first stands in a line, so no
		// batch can have two of them and none overtakes another.
		at := keyed{c.kind, c.Key}
		before := q.keys[at]
		q.keys[at] = c
		if before != nil {
			before.next, c.before = c, before
			c.state = behind
			return nil
		}
	}
	q.line(c).append(c)
	q.came.Signal()
	return nil
}

// line gives the line a call stands in, which is made for the first one.
func (q *queue) line(c *Call) *line {
	l := c.home.waiting[c.at]
	if l == nil {
		l = &line{}
		c.home.waiting[c.at] = l
	}
	return l
}

// wouldWait guesses how long a newcomer waits: every tenant has as many turns
// before it as its own tenant needs, at the pace of late.
func (q *queue) wouldWait(home *tenant, c *Call, now time.Time) time.Duration {
	// A database that takes nothing at all has no pace to guess from.
	if stuck := q.pace.stuck(now); stuck > q.limits.QueueWait {
		return stuck
	}
	mine := home.cost + c.cost
	ahead := home.cost
	for _, other := range q.tenant {
		if other != home {
			// Turns go to who was given least, so of a long line of somebody
			// else's only as much comes before us as we have ourselves.
			ahead += min(other.cost, mine)
		}
	}
	return q.pace.takes(ahead)
}

// leave takes a call out that is not being run. One that waits for a lock
// stays, unless it must go.
func (q *queue) leave(c *Call, must bool) bool {
	q.lock.Lock()
	defer q.lock.Unlock()
	if c.aside && !must {
		return false
	}
	switch c.state {
	case waiting:
		q.line(c).remove(c)
		q.unqueue(c)
		q.follow(c)
	case behind:
		q.unqueue(c)
		c.before.next = c.next
		if c.next != nil {
			c.next.before = c.before
		} else {
			// It was the last of its key: who comes next follows the one before
			// it.
			q.keys[keyed{c.kind, c.Key}] = c.before
		}
	default:
		return false
	}
	c.state = gone
	q.depart(c)
	return true
}

// unqueue takes a call out of the sums of what waits.
func (q *queue) unqueue(c *Call) {
	q.count--
	q.weight -= c.cost
	c.home.cost -= c.cost
}

// depart takes a call off its tenant, who is forgotten with the last one.
func (q *queue) depart(c *Call) {
	q.inside--
	if c.home.calls--; c.home.calls == 0 {
		delete(q.tenant, c.home.name)
	}
}

// follow lets the next call of a key come forward. It has waited for longest,
// so it goes to the front.
func (q *queue) follow(c *Call) {
	if c.Key == "" {
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
	next.state = waiting
	q.line(next).prepend(next)
	q.came.Signal()
}

// close refuses everything that waits, now and from now on.
func (q *queue) close() {
	q.lock.Lock()
	defer q.lock.Unlock()
	q.closed = true
	for _, home := range q.tenant {
		for _, l := range home.waiting {
			for c := l.first; c != nil; c = l.first {
				l.remove(c)
				q.refuse(c)
			}
		}
	}
	q.came.Broadcast()
}

// refuse answers a call and those of its key behind it after the end.
func (q *queue) refuse(c *Call) {
	for ; c != nil; c = c.next {
		c.state, c.err = gone, ErrClosed
		close(c.done)
	}
}
