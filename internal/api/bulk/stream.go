package bulk

import (
	"cmp"
	"context"
	"strconv"
	"sync"
	"sync/atomic"

	"landfall"
	"landfall/internal/api/answer"
	"landfall/internal/lib/limits"
)

const (
	// maxLines and limits.BulkBytes limit the lines of a request that are in progress at
	// once. Nothing more is read beyond that.
	maxLines = 3072
	// defaultWorkers is how many workers a request has. Nearly all of them wait
	// for the database, which combines the work of many: the number is two of its
	// largest batches.
	defaultWorkers = 512
)

// workersByVerb has smaller numbers for verbs whose lines do more than wait for
// the database, or whose workers process many lines at once.
var workersByVerb = map[*answer.Verb]int{
	answer.Validate: processors, answer.Stage: 6, answer.Process: 64, answer.Instruction: 32,
}

// stream is one bulk request in progress. Lines go from read to the workers,
// from there in their original order to collect, and through the spool to send.
type stream struct {
	*Service
	request    Request
	maxWorkers int
	running    sync.WaitGroup
	spool      *spool
	ready      chan *entry
	taking     sync.Mutex   // held by the worker that takes a batch
	moved      atomic.Int64 // grows when the client sends or reads something
	reading    atomic.Bool  // the service waits for the client
	// lastDone is when a line was last completed, in microseconds.
	lastDone atomic.Int64

	mu               sync.Mutex
	changed          *sync.Cond
	first            *entry // of the lines in progress, in their order
	last             *entry
	count            int
	bytes            int
	doing            int // lines that workers have started
	workers          int
	latest           map[landfall.Key]*entry // the last line of each account
	next             int64                   // the number of the first line that was not accepted
	bodyComplete     bool                    // the whole body has arrived
	bodyErr          *landfall.Error         // why the rest of the body will not arrive
	stopped          *landfall.Error         // why no more lines are accepted
	gone             bool                    // the client has disconnected
	tally            map[int]int64
	answered         int64 // the number of the last line that was answered
	supplier         string
	severalSuppliers bool // the lines are about several suppliers
}

// entry is one line in progress.
type entry struct {
	bodyLine
	key           landfall.Key
	keyed         bool
	nextOfAccount *entry // the next line of the same account, which waits for this one
	next          *entry
	state         state
	status        int
	out           []byte // its line of the response
	supplier      string
}

// state is the progress of a line. It only moves forward.
type state uint8

const (
	waiting state = iota
	doing
	done
	undone // it will not be processed
)

// newStream returns the stream of a request. push starts its workers as lines
// arrive.
func newStream(s *Service, request Request) *stream {
	t := &stream{
		Service: s, request: request, maxWorkers: defaultWorkers, spool: newSpool(s.disk),
		ready: make(chan *entry, maxLines), latest: map[landfall.Key]*entry{}, next: 1, tally: map[int]int64{},
	}
	if workers, smaller := workersByVerb[request.Verb]; smaller {
		t.maxWorkers = workers
	}
	t.changed = sync.NewCond(&t.mu)
	return t
}

// push hands a line to the workers once there is room, unless the request was
// stopped. A line waits behind earlier ones of its account.
func (t *stream) push(ctx context.Context, e *entry) bool {
	// Find the key before taking the lock, because this parses the line.
	e.key, e.keyed = t.request.Verb.AccountKey(e.text)
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.stopped == nil && t.count > 0 && (t.count >= maxLines || t.bytes+len(e.text) > limits.BulkBytes) {
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
		// The earlier line starts this one when it ends. Until then it is not in
		// the ready channel, so no worker blocks on it.
		if before != nil {
			before.nextOfAccount = e
			return true
		}
	}
	// Start no more workers than there are lines.
	if t.workers < t.maxWorkers && t.workers < t.count {
		t.workers++
		t.running.Go(func() { t.work(ctx) })
	}
	t.ready <- e // never blocks: the channel holds maxLines
	return true
}

// begin starts a line, unless the request was stopped.
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

// end records whether a line was answered, and returns the next line of its
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
	// Only the first line in order lets collect continue. Waking it for every
	// line would cost more than answering the line.
	if e == t.first || t.stopped != nil {
		t.changed.Broadcast()
	}
	return e.nextOfAccount
}

// stop lets no more lines start. The first reason is kept.
func (t *stream) stop(reason *landfall.Error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stopped == nil {
		t.stopped = reason
		t.changed.Broadcast()
	}
}

// clientGone stops the request because the client has disconnected.
func (t *stream) clientGone() {
	t.stop(errClientGone)
	t.mu.Lock()
	t.gone = true
	t.mu.Unlock()
	t.spool.drop()
}

// stopping returns why no more lines may start; nil while they may.
func (t *stream) stopping() *landfall.Error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.stopped
}

// release frees the slot of a large line.
func (e *entry) release() {
	if e.free != nil {
		e.free()
	}
}

// principal adds the line number to the request id, so that every record can be
// traced to its line.
func (t *stream) principal(e *entry) landfall.Principal {
	who := t.request.Who
	who.RequestID += "/" + strconv.FormatInt(e.number, 10)
	return who
}

// result returns the result of the request after all its goroutines have ended.
func (t *stream) result() Result {
	result := Result{Lines: t.answered, Statuses: t.tally, Supplier: t.supplier, Aborted: t.gone}
	if !t.complete() {
		result.Stopped = t.stopReason()
	}
	return result
}

// stopReason returns why not every line was answered.
func (t *stream) stopReason() *landfall.Error { return cmp.Or(t.stopped, t.bodyErr) }

// complete reports whether every line was answered.
func (t *stream) complete() bool { return t.bodyComplete && t.answered == t.next-1 }
