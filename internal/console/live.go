package console

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"landfall/internal/memo"
	"landfall/internal/operate"
)

// snapshot is how everything stands, asked for once however many watch: with
// 200 suppliers and 50 watchers the database is asked as often as with one.
type snapshot struct {
	console *Console
	memo    *memo.Memo[string, operate.Overview]
}

const (
	// snapLife is how old the figures of a live page may be.
	snapLife = 900 * time.Millisecond
	// liveEvery is how often a live page is written again.
	liveEvery = time.Second
	// liveLength ends a stream, so that who has left without a word goes, and a
	// session that is over is noticed. Browsers come back by themselves.
	liveLength = 10 * time.Minute
	// mostWatchers bounds the streams of one replica.
	mostWatchers = 200
)

func newSnapshot(c *Console) *snapshot {
	return &snapshot{c, memo.New[string, operate.Overview](memo.Limits{Life: snapLife, Patience: 10 * time.Second, Size: 4})}
}

func (s *snapshot) get(ctx context.Context) (operate.Overview, error) {
	return s.memo.Get(ctx, "", time.Now(), func(ctx context.Context) (operate.Overview, error) {
		return s.console.As("operator:console").Overview(ctx)
	})
}

// watchers counts the streams that are open.
type watchers struct {
	mu   sync.Mutex
	open int
}

var watching watchers

func (w *watchers) enter() (leave func(), ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open >= mostWatchers {
		return nil, false
	}
	w.open++
	return func() { w.mu.Lock(); w.open--; w.mu.Unlock() }, true
}

// live makes a page's own stream: the parts that change, again and again as
// server-sent events, or once for whoever polls. Parts have ids, and those that
// changed take the place of those on the page.
func live(path string, verb func(*visit) (any, error), view string) page {
	p := reads(path, nil, view)
	p.bare, p.endless = true, true
	p.verb = func(v *visit) (any, error) {
		if v.query("once") != "" {
			return verb(v)
		}
		leave, ok := watching.enter()
		if !ok {
			v.plain(http.StatusServiceUnavailable, "Too many watch at once. The page still polls.")
			return nil, nil
		}
		defer leave()
		return nil, v.stream(verb, view)
	}
	return p
}

// stream sends what changed until the reader leaves or the service ends. What
// stayed the same is not sent again.
func (v *visit) stream(verb func(*visit) (any, error), view string) error {
	header := v.Writer.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("X-Accel-Buffering", "no") // for proxies that would hold it back
	line := http.NewResponseController(v.Writer)
	end := time.After(liveLength)
	tick := time.NewTicker(liveEvery)
	defer tick.Stop()
	last := ""
	for round := 0; ; round++ {
		limited, cancel := context.WithTimeout(v.ctx(), pageTime)
		one := *v
		one.Request = v.Request.WithContext(limited)
		text, err := one.part(verb, view)
		cancel()
		if err != nil && round == 0 {
			return err
		}
		message := ": still here\n\n"
		if err == nil && text != last {
			message, last = "data: "+strings.ReplaceAll(text, "\n", "\ndata: ")+"\n\n", text
		} else if round%15 != 0 {
			message = ""
		}
		if message != "" {
			if err := line.SetWriteDeadline(time.Now().Add(pageTime)); err != nil && !errors.Is(err, http.ErrNotSupported) {
				return nil //nolint:nilerr // the reader has left
			}
			if _, err := fmt.Fprint(v.Writer, message); err != nil {
				return nil //nolint:nilerr // likewise
			}
			if err := line.Flush(); err != nil {
				return nil //nolint:nilerr // likewise
			}
		}
		select {
		case <-tick.C:
		case <-end:
			return nil
		case <-v.ctx().Done():
			return nil
		case <-v.console.Ending:
			return nil
		}
		// A session that was ended sees nothing more.
		if cookie, err := v.Cookie(v.sessionCookie()); err != nil {
			return nil //nolint:nilerr // there is none any more
		} else if _, _, err := v.console.Reception.Whoever(v.ctx(), cookie.Value); err != nil {
			return nil //nolint:nilerr // it is over
		}
	}
}

// part renders the parts of a page that change.
func (v *visit) part(verb func(*visit) (any, error), view string) (string, error) {
	found, err := verb(v)
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	err = v.console.render(&out, v.zone(), view, v.sheet(found), true)
	return out.String(), err
}
