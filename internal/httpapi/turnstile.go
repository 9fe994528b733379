package httpapi

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"time"

	"landfall"
)

const (
	// DefaultInWork is how many requests are worked on at once. It is far more
	// than a machine has use for, so that the database can join many of them;
	// beyond it more would only make all of them later.
	DefaultInWork = 256
	// turnPatience is how long a request waits for its turn. Whoever is served
	// after it has time left to be answered within two seconds; whoever is not
	// may as well come back.
	turnPatience = time.Second
	// longestLine bounds those that wait, whatever the settings for connections.
	longestLine = 16384
)

// turnstile bounds the requests that are worked on at once, so that neither
// memory nor the time of an answer grows with the number of callers: over the
// bound they wait in line, and not for long. Organisations have a line each and
// are served in turn, and none may have so many in work that others cannot
// enter: its own vendors may be slow.
type turnstile struct {
	most     int
	share    int // most in work for one organisation
	patience time.Duration

	mu      sync.Mutex
	inWork  int
	by      map[string]int // in work, by organisation
	lines   map[string][]*turn
	waiting int
	order   []string // organisations with a line; the first is served next
}

// turn is one request in line.
type turn struct {
	come chan struct{} // closed when it may enter
}

func newTurnstile(most int) *turnstile {
	return &turnstile{
		most: most, share: max(1, most*3/4), patience: turnPatience,
		by: map[string]int{}, lines: map[string][]*turn{},
	}
}

// newLongTurnstile is for the bodies that take a processor for a while. At most
// as many are worked on as there are processors, and half as many of one
// organisation: whoever sends nothing else must leave some for the others.
func newLongTurnstile() *turnstile {
	processors := runtime.GOMAXPROCS(0)
	t := newTurnstile(processors)
	t.share = max(1, processors/2)
	return t
}

// errBusy is told to who would have waited too long.
var errBusy = &landfall.Error{
	Kind: landfall.Unavailable, Code: landfall.CodeServiceUnavailable, RetryAfter: turnPatience,
	Detail: "The service has more to do than it can. Send the same request again shortly.",
}

// enter waits for a turn and gives back the function that ends it, once.
func (t *turnstile) enter(ctx context.Context, organisation string) (leave func(), err error) {
	return t.wait(ctx, organisation, false)
}

// enterAgain is for who had a turn and gave it back: he stands in front, or his
// work so far would have been for nothing.
func (t *turnstile) enterAgain(ctx context.Context, organisation string) (leave func(), err error) {
	return t.wait(ctx, organisation, true)
}

func (t *turnstile) wait(ctx context.Context, organisation string, again bool) (leave func(), err error) {
	mine, refused := t.queue(organisation, again)
	if refused {
		return nil, errBusy
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
		return nil, errBusy
	}
	return leave, nil // it came at the last moment
}

// queue enters at once when there is room, or stands in line.
func (t *turnstile) queue(organisation string, front bool) (mine *turn, refused bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.inWork < t.most && t.by[organisation] < t.share && len(t.lines[organisation]) == 0 {
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

// alone reports whether nobody but one organisation is in work or in line.
func (t *turnstile) alone(organisation string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.by[organisation] == t.inWork && len(t.lines[organisation]) == t.waiting
}

// stepOut leaves the line, unless the turn has come.
func (t *turnstile) stepOut(organisation string, mine *turn) bool {
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
func (t *turnstile) shorten(organisation string, at int) {
	t.waiting--
	if line := slices.Delete(t.lines[organisation], at, at+1); len(line) > 0 {
		t.lines[organisation] = line
		return
	}
	delete(t.lines, organisation)
	t.order = slices.DeleteFunc(t.order, func(other string) bool { return other == organisation })
}

// leave makes room, and lets in whoever's turn it is.
func (t *turnstile) leave(organisation string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.inWork--
	if t.by[organisation]--; t.by[organisation] == 0 {
		delete(t.by, organisation)
	}
	for i, next := range t.order {
		if t.by[next] >= t.share {
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
