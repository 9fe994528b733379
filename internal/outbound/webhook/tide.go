package webhook

import (
	"context"
	"slices"
	"sync"
	"time"

	"landfall"
)

// Log is the log of events as the tide watches it.
type Log interface {
	landfall.EventLog
	View(ctx context.Context, fn func(landfall.View) error) error
}

const (
	// soundEvery is how often the log is looked at while somebody waits for
	// news, however many do.
	soundEvery = 100 * time.Millisecond
	// soundSoon is the same while somebody wants to know how far it is now.
	soundSoon = 5 * time.Millisecond
	// settlePatience is how long he waits for writers that take their time;
	// then he reads what is complete without them.
	settlePatience = time.Second
	// mostTold is how many new events are looked through for whom they concern.
	// After a long silence everybody is woken instead.
	mostTold = 50_000
	// soundLimit bounds one look.
	soundLimit = 5 * time.Second
)

// Tide watches how far the log of events is complete, once for everybody in
// this process who waits for it. While nobody does it asks the database nothing.
type Tide struct {
	log Log

	mu      sync.Mutex
	running bool
	fresh   bool // nothing was told yet since the watch began
	mark    landfall.Watermark
	told    int64 // the event up to which news were told
	watches map[*Watch]struct{}
	asking  []*question
	bell    chan struct{}
}

// question is somebody who wants to read everything committed by now.
type question struct {
	until  int64 // 0: not known yet
	answer chan reply
}

type reply struct {
	complete int64
	err      error
}

// NewTide watches a log.
func NewTide(log Log) *Tide {
	return &Tide{log: log, watches: map[*Watch]struct{}{}, bell: make(chan struct{}, 1)}
}

// Watch is somebody who waits for news.
type Watch struct {
	News      <-chan struct{} // has something after an event of his suppliers
	tell      func()
	suppliers []string // nil: all
	tide      *Tide
}

// Watch begins to wait for events of some suppliers, or of all when nil. Whoever
// reads the log after this call and then waits for News misses nothing.
func (t *Tide) Watch(suppliers []string) *Watch {
	news := make(chan struct{}, 1)
	w := t.Call(suppliers, func() {
		select {
		case news <- struct{}{}:
		default:
		}
	})
	w.News = news
	return w
}

// Call is Watch for who wants to be called: at once, and without doing anything
// that takes time.
func (t *Tide) Call(suppliers []string, tell func()) *Watch {
	w := &Watch{tell: tell, suppliers: suppliers, tide: t}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.watches[w] = struct{}{}
	t.wake()
	return w
}

// Close ends the wait.
func (w *Watch) Close() {
	w.tide.mu.Lock()
	defer w.tide.mu.Unlock()
	delete(w.tide.watches, w)
}

// Settled says how far the log may be read now: as far as everything that was
// committed before the call, unless somebody who is writing takes very long.
func (t *Tide) Settled(ctx context.Context) (int64, error) {
	mine := &question{answer: make(chan reply, 1)}
	t.mu.Lock()
	t.asking = append(t.asking, mine)
	t.wake()
	t.mu.Unlock()
	patience := time.NewTimer(settlePatience)
	defer patience.Stop()
	select {
	case got := <-mine.answer:
		return got.complete, got.err
	case <-patience.C:
	case <-ctx.Done():
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.asking = slices.DeleteFunc(t.asking, func(one *question) bool { return one == mine })
	if err := ctx.Err(); err != nil {
		return 0, landfall.ErrUnavailable
	}
	return t.mark.Complete, nil
}

// wake runs the watch, or tells it that somebody came. The caller holds the lock.
func (t *Tide) wake() {
	if !t.running {
		t.running, t.fresh = true, true
		go t.watch()
		return
	}
	select {
	case t.bell <- struct{}{}:
	default:
	}
}

// watch takes soundings for as long as anybody wants to know.
func (t *Tide) watch() {
	for {
		t.mu.Lock()
		before, asked := t.mark, slices.Clone(t.asking)
		if len(t.asking) == 0 && len(t.watches) == 0 {
			t.running = false
			t.mu.Unlock()
			return
		}
		t.mu.Unlock()
		mark, err := t.sound(before)
		t.settle(mark, err, asked)
		if err == nil {
			t.tell(mark.Complete)
		}
		t.rest()
	}
}

func (t *Tide) sound(before landfall.Watermark) (landfall.Watermark, error) {
	ctx, cancel := context.WithTimeout(context.Background(), soundLimit)
	defer cancel()
	return t.log.Watermark(ctx, before)
}

// settle answers who has asked before the sounding began.
func (t *Tide) settle(mark landfall.Watermark, err error, asked []*question) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil {
		t.mark = mark
	}
	for _, one := range asked {
		if one.until == 0 {
			one.until = mark.Newest
		}
		if err == nil && mark.Complete < one.until {
			continue
		}
		one.answer <- reply{mark.Complete, err}
		t.asking = slices.DeleteFunc(t.asking, func(other *question) bool { return other == one })
	}
}

// tell wakes those whose suppliers have new events. Who began to watch before
// the first sounding reads the log after it, so that one tells nobody.
func (t *Tide) tell(complete int64) {
	t.mu.Lock()
	told, fresh := t.told, t.fresh
	t.told, t.fresh = complete, false
	nobody := len(t.watches) == 0
	t.mu.Unlock()
	if fresh || complete <= told || nobody {
		return
	}
	var suppliers map[string]bool // nil: any of them
	if complete-told <= mostTold {
		ctx, cancel := context.WithTimeout(context.Background(), soundLimit)
		defer cancel()
		var found []string
		err := t.log.View(ctx, func(view landfall.View) (err error) {
			found, err = view.SuppliersWithEvents(ctx, told, complete)
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
			w.tell()
		}
	}
}

// rest waits for the time of the next sounding, or for somebody who asks.
func (t *Tide) rest() {
	t.mu.Lock()
	pause := soundEvery
	if len(t.asking) > 0 {
		pause = soundSoon
	}
	t.mu.Unlock()
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-t.bell:
	}
}
