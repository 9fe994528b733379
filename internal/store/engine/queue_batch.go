package engine

import (
	"time"

	"landfall/internal/lib/admission"
)

const (
	// MaxBatch is the most calls in a batch, and maxLargeBatch the most in one
	// of a large kind.
	MaxBatch      = 64
	maxLargeBatch = 4 * MaxBatch
	// maxBatchBytes bounds the bytes of a batch.
	maxBatchBytes = 4 << 20
	// A call of largeCall bytes runs alone, so that no other call waits while it
	// is sent.
	largeCall = 256 << 10
	// callOverhead is what a call costs besides its bytes.
	callOverhead = 2 << 10
	// maxQueuedBytes bounds the bytes that wait.
	maxQueuedBytes = 256 << 20
)

// callBatch is what a worker runs in one transaction.
type callBatch struct {
	kind  *Kind
	calls []*Call
	cost  int64
}

// take forms a batch: the call whose turn it is, and others of its kind in turn.
// The queue is locked.
func (q *queue) take() *callBatch {
	kind := q.nextKind()
	if kind == nil {
		return nil
	}
	b := &callBatch{kind: kind}
	weight := 0
	var skipped []*admission.Account
	for len(b.calls) < kind.maxCalls && weight < maxBatchBytes {
		head := kind.queued.Head()
		if head == nil {
			break
		}
		c := head.Value
		if c.Weight >= largeCall && len(b.calls) > 0 {
			kind.queued.Pause(head.Account, true) // it runs alone, later
			skipped = append(skipped, head.Account)
			continue
		}
		kind.queued.Remove(head)
		q.removeWaiting(c)
		c.state, c.batch = stateRunning, b
		// It is charged when it is taken and not when it has ended, so that a
		// tenant whose work is slow does not occupy every worker meanwhile.
		q.accounts.Charge(head.Account, head.Cost)
		weight += c.Weight
		b.cost += head.Cost
		b.calls = append(b.calls, c)
		if c.Weight >= largeCall {
			break
		}
	}
	for _, account := range skipped {
		kind.queued.Pause(account, false)
	}
	kind.running++
	q.peak = max(q.active, q.peak*7/8) // a burst is soon forgotten
	q.throughput.record(b.cost, q.count > 0, time.Now())
	if q.count > 0 {
		q.changed.Signal() // there is something for another worker
	}
	return b
}

// nextKind returns the kind of the next call, or nil. It leaves out kinds that
// already run as many batches as they may.
func (q *queue) nextKind() (next *Kind) {
	var first *admission.Item[*Call]
	for _, k := range q.kinds {
		if k.running >= k.maxBatches {
			continue
		}
		if head := k.queued.Head(); head != nil && (first == nil || head.Before(first)) {
			next, first = k, head
		}
	}
	return next
}
