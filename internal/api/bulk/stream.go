package bulk

import (
	"cmp"
	"context"
	"strconv"
	"sync"
	"sync/atomic"

	"landfall"
	"landfall/internal/api/answer"
)

const (
	// maxLines is how many lines of a request are under way at once, and
	// mostBytes how many bytes of them: beyond that nothing more is read.
	maxLines = 3072
	maxBytes = 6 << 20
	// defaultWorkers is how many workers a request has. Nearly all of them wait for
	// the database, which does the work of many together: two batches of what it
	// takes at most.
	defaultWorkers = 512
)

// workersByVerb are smaller where a line is more than a wait for the database, or where
// a worker does many lines at once.
var workersByVerb = map[*answer.Verb]int{
	answer.Validate: processors, answer.Stage: 6, answer.Process: 64, answer.Instruction: 32,
}

// stream is one bulk request under way. Lines go from read to a crew of workers,
// from there in the order they came to collect, and through the spool to send.
type stream struct {
	*Service
	request    Request
	maxWorkers int
	running    sync.WaitGroup
	spool      *spool
	ready      chan *entry
	taking     sync.Mutex   // by whoever makes a bundle
	moved      atomic.Int64 // grows whenever the caller sends or takes something
	reading    atomic.Bool  // we wait for the caller
	// lastDone is when a line was done, in microseconds.
	lastDone atomic.Int64

	mu               sync.Mutex
	changed          *sync.Cond
	first            *entry // of the lines under way, in the order they came
	last             *entry
	count            int
	bytes            int
	doing            int // lines that a worker has
	workers          int
	latest           map[landfall.Key]*entry // of each account
	next             int64                   // the number of the first line that was not taken
	bodyComplete     bool                    // everything has arrived
	bodyErr          *landfall.Error         // why the rest will not arrive
	stopped          *landfall.Error         // why no more is taken
	gone             bool                    // there is nobody to answer
	tally            map[int]int64
	answered         int64 // the number of the last line that was
	supplier         string
	severalSuppliers bool // about several suppliers
}

// entry is one line under way.
type entry struct {
	bodyLine
	key           landfall.Key
	keyed         bool
	nextOfAccount *entry // the next line of the same account, which waits for this one
	next          *entry
	state         state
	status        int
	out           []byte // the line of its answer
	supplier      string
}

// state is where a line is on its way. It only goes forward.
type state uint8

const (
	waiting state = iota
	doing
	done
	undone // and it will not be done
)

// newStream readies a request with the crew of its verb; workers begin with
// the lines.
func newStream(s *Service, request Request) *stream {
	t := &stream{
		Service: s, request: request, maxWorkers: defaultWorkers, spool: newSpool(s.disk),
		ready: make(chan *entry, maxLines), latest: map[landfall.Key]*entry{}, next: 1, tally: map[int]int64{},
	}
	if crew, smaller := workersByVerb[request.Verb]; smaller {
		t.maxWorkers = crew
	}
	t.changed = sync.NewCond(&t.mu)
	return t
}

// push gives a line to the crew once there is room, unless the request has been
// stopped. A line waits behind an earlier one of its account.
func (t *stream) push(ctx context.Context, e *entry) bool {
	// Looked up before the lock is taken: it reads the line.
	e.key, e.keyed = t.request.Verb.AccountKey(e.text)
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.stopped == nil && t.count > 0 && (t.count >= maxLines || t.bytes+len(e.text) > maxBytes) {
		t.changed.Wait()
	}
	if t.stopped != nil {
		e.release()
		return false
	}
	if t.last != nil {
		t.last.next = e
	} else {
		t.first = e
	}
	t.last = e
	t.count++
	t.bytes += len(e.text)
	t.next = e.number + 1
	if e.keyed {
		before := t.latest[e.key]
		t.latest[e.key] = e
		// The line before it starts this one when it has ended; nobody else has
		// it, so no worker waits.
		if before != nil {
			before.nextOfAccount = e
			return true
		}
	}
	// A short request has as few workers as it has lines.
	if t.workers < t.maxWorkers && t.workers < t.count {
		t.workers++
		t.running.Go(func() { t.work(ctx) })
	}
	t.ready <- e // there is room for as many as there can be
	return true
}

// begin takes a line up, unless the request was stopped before.
func (t *stream) begin(e *entry) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stopped != nil {
		return false
	}
	e.state = doing
	t.doing++
	return true
}

// end puts down whether a line was answered, and gives the next one of its
// account.
func (t *stream) end(e *entry) *entry {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e.state == doing {
		t.doing--
	}
	e.state = undone
	if e.out != nil {
		e.state = done
	}
	if e.keyed && t.latest[e.key] == e {
		delete(t.latest, e.key)
	}
	// Only the first in turn lets the answers go on; waking for every line
	// would cost more than answering it.
	if e == t.first || t.stopped != nil {
		t.changed.Broadcast()
	}
	return e.nextOfAccount
}

// stop lets no more lines begin. The first reason counts.
func (t *stream) stop(reason *landfall.Error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stopped == nil {
		t.stopped = reason
		t.changed.Broadcast()
	}
}

// clientGone stops because there is nobody to answer.
func (t *stream) clientGone() {
	t.stop(errClientGone)
	t.mu.Lock()
	t.gone = true
	t.mu.Unlock()
	t.spool.drop()
}

// stopping says why no more lines may begin, nil while they may.
func (t *stream) stopping() *landfall.Error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.stopped
}

// release gives back the place of a long line.
func (e *entry) release() {
	if e.free != nil {
		e.free()
	}
}

// principal names the line in the request's id, so that whatever comes of it can
// be found in what was sent.
func (t *stream) principal(e *entry) landfall.Principal {
	who := t.request.Who
	who.RequestID += "/" + strconv.FormatInt(e.number, 10)
	return who
}

// result tells what became of the request. Nobody works on it any more.
func (t *stream) result() Result {
	result := Result{Lines: t.answered, Statuses: t.tally, Supplier: t.supplier, Aborted: t.gone}
	if !t.complete() {
		result.Stopped = t.stopReason()
	}
	return result
}

// stopReason says why not every line was answered.
func (t *stream) stopReason() *landfall.Error { return cmp.Or(t.stopped, t.bodyErr) }

// complete says whether every line was answered.
func (t *stream) complete() bool { return t.bodyComplete && t.answered == t.next-1 }
