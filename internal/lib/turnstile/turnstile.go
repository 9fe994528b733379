// Package turnstile lets a bounded number in at once and the others wait in
// line, one line for each organisation, served in turn.
package turnstile

import (
	"context"
	"slices"
	"sync"
	"time"
)

// longestLine bounds those that wait, whatever the settings for connections.
const longestLine = 16384

// Turnstile bounds what is worked on at once, so that neither memory nor the
// time of an answer grows with the number of callers: over the bound they wait
// in line, and not for long. Organisations have a line each and are served in
// turn, and none may have so many in work that others cannot enter: its own
// work may be slow.
type Turnstile struct {
	// Share is the most in work for one organisation: three quarters of all,
	// unless it is set before anybody enters.
	Share int

	most     int
	patience time.Duration
	refusal  error

	mu      sync.Mutex
	inWork  int
	by      map[string]int // in work, by organisation
	lines   map[string][]*turn
	waiting int
	order   []string // organisations with a line; the first is served next
}

// turn is one caller in line.
type turn struct {
	come chan struct{} // closed when it may enter
}

// New lets so many in at once. Who would wait for longer than patience gets the
// refusal instead.
func New(most int, patience time.Duration, refusal error) *Turnstile {
	return &Turnstile{
		Share: max(1, most*3/4), most: most, patience: patience, refusal: refusal,
		by: map[string]int{}, lines: map[string][]*turn{},
	}
}

// InWork says how many are in, and how many wait.
func (t *Turnstile) InWork() (in, waiting int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.inWork, t.waiting
}

// Enter waits for a turn and gives back the function that ends it, once.
func (t *Turnstile) Enter(ctx context.Context, organisation string) (leave func(), err error) {
	return t.wait(ctx, organisation, false)
}

// EnterAgain is for who had a turn and gave it back: he stands in front, or his
// work so far would have been for nothing.
func (t *Turnstile) EnterAgain(ctx context.Context, organisation string) (leave func(), err error) {
	return t.wait(ctx, organisation, true)
}

func (t *Turnstile) wait(ctx context.Context, organisation string, again bool) (leave func(), err error) {
	mine, refused := t.queue(organisation, again)
	if refused {
		return nil, t.refusal
	}
	leave = sync.OnceFunc(func() { t.leave(organisation) })
	if mine == nil {
		return leave, nil
	}
	waiting := time.NewTimer(t.patience)
	defer waiting.Stop()
	select {
	case <-mine.come:
		return leave, nil
	case <-waiting.C:
	case <-ctx.Done():
	}
	if t.stepOut(organisation, mine) {
		return nil, t.refusal
	}
	return leave, nil // it came at the last moment
}

// queue enters at once when there is room, or stands in line.
func (t *Turnstile) queue(organisation string, front bool) (mine *turn, refused bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.inWork < t.most && t.by[organisation] < t.Share && len(t.lines[organisation]) == 0 {
		t.inWork++
		t.by[organisation]++
		return nil, false
	}
	if t.waiting >= longestLine {
		return nil, true
	}
	mine = &turn{make(chan struct{})}
	if len(t.lines[organisation]) == 0 {
		t.order = append(t.order, organisation)
	}
	at := len(t.lines[organisation])
	if front {
		at = 0
	}
	t.lines[organisation] = slices.Insert(t.lines[organisation], at, mine)
	t.waiting++
	return mine, false
}

// Alone reports whether nobody but one organisation is in work or in line.
func (t *Turnstile) Alone(organisation string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.by[organisation] == t.inWork && len(t.lines[organisation]) == t.waiting
}

// stepOut leaves the line, unless the turn has come.
func (t *Turnstile) stepOut(organisation string, mine *turn) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	// Who has waited longest stands in front, and steps out first.
	at := slices.Index(t.lines[organisation], mine)
	if at < 0 {
		return false
	}
	t.shorten(organisation, at)
	return true
}

// shorten takes a turn out of a line, and a line that is empty out of the order.
func (t *Turnstile) shorten(organisation string, at int) {
	t.waiting--
	if line := slices.Delete(t.lines[organisation], at, at+1); len(line) > 0 {
		t.lines[organisation] = line
		return
	}
	delete(t.lines, organisation)
	t.order = slices.DeleteFunc(t.order, func(other string) bool { return other == organisation })
}

// leave makes room, and lets in whoever's turn it is.
func (t *Turnstile) leave(organisation string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.inWork--
	if t.by[organisation]--; t.by[organisation] == 0 {
		delete(t.by, organisation)
	}
	for i, next := range t.order {
		if t.by[next] >= t.Share {
			continue
		}
		// Behind all others, for the next time.
		t.order = append(slices.Delete(t.order, i, i+1), next)
		first := t.lines[next][0]
		t.shorten(next, 0)
		t.inWork++
		t.by[next]++
		close(first.come)
		return
	}
}
