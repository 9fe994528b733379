package webhook

import (
	"context"
	"slices"
	"sync"
	"time"

	"landfall"
	"landfall/internal/lib/limits"
)

// EventSource is the event log of a store.
type EventSource interface {
	landfall.EventLog
	View(ctx context.Context, fn func(landfall.View) error) error
}

const (
	// writerLimit is how long CompleteUpTo waits for open transactions. After that it
	// returns what is complete without them.
	writerLimit = limits.EventWriters
	// maxScanned is how many new events are checked for their suppliers. When there are
	// more, all watches are notified.
	maxScanned = 50_000
)

// LogWatcher polls how far the event log is complete, once for all users in
// this process. Without users it does not query the database.
type LogWatcher struct {
	log EventSource

	mu           sync.Mutex
	running      bool
	first        bool // no poll yet since the loop started
	watermark    landfall.Watermark
	notifiedUpTo int64 // the last event that watches were notified of
	watches      map[*Watch]struct{}
	pending      []*positionRequest
	wakeup       chan struct{}
}

// positionRequest is a request to read everything committed so far.
type positionRequest struct {
	until  int64 // 0: not known yet
	result chan position
}

type position struct {
	complete int64
	err      error
}

// NewLogWatcher returns a watcher of a log.
func NewLogWatcher(log EventSource) *LogWatcher {
	return &LogWatcher{log: log, watches: map[*Watch]struct{}{}, wakeup: make(chan struct{}, 1)}
}

// Watch waits for new events.
type Watch struct {
	News      <-chan struct{} // receives after an event of the suppliers
	notify    func()
	suppliers []string // nil: all
	watcher   *LogWatcher
}

// Watch waits for events of the given suppliers, or of all when nil. A caller who reads
// the log after this call and then waits for News misses nothing.
func (t *LogWatcher) Watch(suppliers []string) *Watch {
	news := make(chan struct{}, 1)
	w := t.WatchFunc(suppliers, func() {
		select {
		case news <- struct{}{}:
		default:
		}
	})
	w.News = news
	return w
}

// WatchFunc is like Watch but calls a function, which must not block.
func (t *LogWatcher) WatchFunc(suppliers []string, notify func()) *Watch {
	w := &Watch{notify: notify, suppliers: suppliers, watcher: t}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.watches[w] = struct{}{}
	t.wake()
	return w
}

// Close ends the watch.
func (w *Watch) Close() {
	w.watcher.mu.Lock()
	defer w.watcher.mu.Unlock()
	delete(w.watcher.watches, w)
}

// CompleteUpTo returns the position up to which the log can be read now. It includes
// everything committed before the call, unless an open transaction takes very long.
func (t *LogWatcher) CompleteUpTo(ctx context.Context) (int64, error) {
	mine := &positionRequest{result: make(chan position, 1)}
	t.mu.Lock()
	t.pending = append(t.pending, mine)
	t.wake()
	t.mu.Unlock()
	timer := time.NewTimer(writerLimit)
	defer timer.Stop()
	select {
	case got := <-mine.result:
		return got.complete, got.err
	case <-timer.C:
	case <-ctx.Done():
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pending = slices.DeleteFunc(t.pending, func(one *positionRequest) bool { return one == mine })
	if err := ctx.Err(); err != nil {
		return 0, landfall.ErrUnavailable
	}
	return t.watermark.Complete, nil
}

// wake starts the loop, or wakes it. The caller holds the lock.
func (t *LogWatcher) wake() {
	if !t.running {
		t.running, t.first = true, true
		go t.run()
		return
	}
	select {
	case t.wakeup <- struct{}{}:
	default:
	}
}

// run polls as long as there are watches or requests.
func (t *LogWatcher) run() {
	for {
		t.mu.Lock()
		before, requests := t.watermark, slices.Clone(t.pending)
		if len(t.pending) == 0 && len(t.watches) == 0 {
			t.running = false
			t.mu.Unlock()
			return
		}
		t.mu.Unlock()
		mark, err := t.poll(before)
		t.answer(mark, err, requests)
		if err == nil {
			t.notify(mark.Complete)
		}
		t.wait()
	}
}

func (t *LogWatcher) poll(before landfall.Watermark) (landfall.Watermark, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limits.EventRead)
	defer cancel()
	return t.log.Watermark(ctx, before)
}

// answer answers the requests that were made before the poll.
func (t *LogWatcher) answer(mark landfall.Watermark, err error, requests []*positionRequest) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil {
		t.watermark = mark
	}
	for _, one := range requests {
		if one.until == 0 {
			one.until = mark.Newest
		}
		if err == nil && mark.Complete < one.until {
			continue
		}
		one.result <- position{mark.Complete, err}
		t.pending = slices.DeleteFunc(t.pending, func(other *positionRequest) bool { return other == one })
	}
}

// notify notifies the watches whose suppliers have new events. The first poll
// notifies no watch: watches that started before it read the log after it.
func (t *LogWatcher) notify(complete int64) {
	t.mu.Lock()
	before, first := t.notifiedUpTo, t.first
	t.notifiedUpTo, t.first = complete, false
	idle := len(t.watches) == 0
	t.mu.Unlock()
	if first || complete <= before || idle {
		return
	}
	var suppliers map[string]bool // nil: all
	if complete-before <= maxScanned {
		ctx, cancel := context.WithTimeout(context.Background(), limits.EventRead)
		defer cancel()
		var found []string
		err := t.log.View(ctx, func(view landfall.View) (err error) {
			found, err = view.SuppliersWithEvents(ctx, before, complete)
			return err
		})
		if err == nil {
			suppliers = make(map[string]bool, len(found))
			for _, code := range found {
				suppliers[code] = true
			}
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for w := range t.watches {
		if suppliers == nil || w.suppliers == nil || slices.ContainsFunc(w.suppliers, func(code string) bool { return suppliers[code] }) {
			w.notify()
		}
	}
}

// wait waits for the next poll or for a request.
func (t *LogWatcher) wait() {
	t.mu.Lock()
	pause := limits.EventPoll
	if len(t.pending) > 0 {
		pause = limits.EventRequestPoll
	}
	t.mu.Unlock()
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-t.wakeup:
	}
}
