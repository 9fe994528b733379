package sqlstore

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"landfall"
)

const (
	longestBatch = 64
	// heaviestBatch bounds the bytes of a batch: big documents go alone.
	heaviestBatch = 4 << 20
	// stageLimit ends a batch that hangs.
	stageLimit = 30 * time.Second
)

// joiner collects stagings that arrive at the same time and keeps each lot in
// one transaction with a handful of statements. Nobody waits for company: a
// lane takes what is there when it is free.
type joiner struct {
	engine  engine
	queue   chan *staging
	closing chan struct{}
	lanes   sync.WaitGroup
}

// staging is one call of Stage on its way through a lane.
type staging struct {
	landfall.Staging
	document string
	taken    atomic.Bool // by a lane, or by the caller who gave up
	outcome  landfall.StageOutcome
	err      error
	done     chan struct{}
}

func newJoiner(base engine) *joiner {
	j := &joiner{engine: base, queue: make(chan *staging, 4*longestBatch), closing: make(chan struct{})}
	for range base.lanes() {
		j.lanes.Go(j.lane)
	}
	return j
}

// Stage keeps one document durably, or says why not.
func (s *Store) Stage(ctx context.Context, wanted landfall.Staging) (landfall.StageOutcome, error) {
	call := &staging{Staging: wanted, document: string(wanted.Document), done: make(chan struct{})}
	for _, text := range []string{wanted.Key.Supplier, wanted.Key.External, call.document} {
		if !storable(text) {
			return landfall.StageOutcome{}, errUnstorable
		}
	}
	select {
	case <-s.joiner.closing:
		return landfall.StageOutcome{}, errClosed
	case <-ctx.Done():
		return landfall.StageOutcome{}, sqliteDialect.wrap(ctx.Err())
	case s.joiner.queue <- call:
	}
	select {
	case <-call.done:
		return call.outcome, call.err
	case <-ctx.Done():
	case <-s.joiner.closing:
	}
	if call.taken.CompareAndSwap(false, true) {
		if ctx.Err() == nil {
			return landfall.StageOutcome{}, errClosed
		}
		return landfall.StageOutcome{}, sqliteDialect.wrap(ctx.Err())
	}
	// A lane has it: what becomes of it is decided there, within a limit.
	select {
	case <-call.done:
		return call.outcome, call.err
	case <-time.After(stageLimit + settleFor):
		return landfall.StageOutcome{}, landfall.ErrUnknownOutcome
	}
}

func (j *joiner) close() {
	close(j.closing)
	j.lanes.Wait()
}

func (j *joiner) lane() {
	var kept []*staging // twins of a key in the batch before
	for {
		batch := kept
		kept = nil
		if len(batch) == 0 {
			select {
			case call := <-j.queue:
				batch = append(batch, call)
			case <-j.closing:
				return
			}
		}
		batch, kept = j.collect(batch)
		j.keep(batch)
	}
}

// collect adds what waits in the queue. Two stagings of one key cannot go in
// one statement, so the later one is kept for the next batch.
func (j *joiner) collect(waiting []*staging) (batch, kept []*staging) {
	keys := make(map[landfall.Key]bool, longestBatch)
	weight := 0
	add := func(call *staging) {
		switch {
		case keys[call.Key]:
			kept = append(kept, call)
		case call.taken.CompareAndSwap(false, true): // else the caller has left
			keys[call.Key] = true
			weight += len(call.document)
			batch = append(batch, call)
		}
	}
	for _, call := range waiting {
		add(call)
	}
	for len(batch)+len(kept) < longestBatch && weight < heaviestBatch {
		select {
		case call := <-j.queue:
			add(call)
		default:
			return batch, kept
		}
	}
	return batch, kept
}

// keep stages a batch and answers its callers.
func (j *joiner) keep(batch []*staging) {
	if len(batch) == 0 {
		return
	}
	// One order for everybody, so that two lanes never wait for each other.
	slices.SortFunc(batch, func(a, b *staging) int {
		if order := strings.Compare(a.Key.Supplier, b.Key.Supplier); order != 0 {
			return order
		}
		return strings.Compare(a.Key.External, b.Key.External)
	})
	ctx, cancel := context.WithTimeout(context.Background(), stageLimit)
	defer cancel()
	err := j.engine.update(ctx, false, func(session *session) error {
		return (&tx{view{session}}).stage(ctx, batch)
	})
	if err != nil && len(batch) > 1 && !errors.Is(err, landfall.ErrUnavailable) && !errors.Is(err, landfall.ErrUnknownOutcome) {
		// One of them is at fault: the others must not suffer for it.
		for _, call := range batch {
			j.keep([]*staging{call})
		}
		return
	}
	for _, call := range batch {
		if err != nil {
			call.outcome, call.err = landfall.StageOutcome{}, err
		}
		close(call.done)
	}
}
