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

	"landfall"
	"landfall/internal/lib/cache"
	"landfall/internal/service/operate"
)

// snapshot is what live pages show, asked for and written once however many
// watch: with 200 suppliers and 200 watchers the database is asked, and a page
// filled in, as often as with one.
type snapshot struct {
	console  *Console
	overview *cache.Memo[string, operate.Overview]
	texts    *cache.Memo[look, parts]
}

// look is what decides how a live page reads: two who have it in common see the
// same.
type look struct {
	path, zone string
	role       landfall.OperatorRole
}

const (
	// snapLife is how old the figures of a live page may be.
	snapLife = 900 * time.Millisecond
	// liveEvery is how often a live page is written again.
	liveEvery = time.Second
	// liveLength ends a stream, so that who has left without a word goes, and a
	// session that is over is noticed. Browsers come back by themselves.
	liveLength = 10 * time.Minute
	// mostWatchers bounds the streams of one replica, and mostOfOne those of one
	// session: nobody takes them all from the others.
	mostWatchers = 200
	mostOfOne    = 20
)

func newSnapshot(c *Console) *snapshot {
	// Asked for the overview with its key always empty, so one entry would do; the few more cost
	// nothing.
	limits := cache.Limits{Life: snapLife, Patience: 10 * time.Second, Size: 4}
	s := &snapshot{console: c, overview: cache.New[string, operate.Overview](limits)}
	limits.Size = mostWatchers
	s.texts = cache.New[look, parts](limits)
	return s
}

func (s *snapshot) get(ctx context.Context) (operate.Overview, error) {
	return s.overview.Get(ctx, "", s.console.Clock(), func(ctx context.Context) (operate.Overview, error) {
		return s.console.As("operator:console").Overview(ctx)
	})
}

// watchers counts the streams that are open, by session.
type watchers struct {
	mu   sync.Mutex
	all  int
	open map[string]int
}

func (w *watchers) enter(session string) (leave func(), ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	// Refused and not queued: a page that cannot have a stream polls instead, and works all the
	// same.
	if w.all >= mostWatchers || w.open[session] >= mostOfOne {
		return nil, false
	}
	w.all++
	w.open[session]++
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.all--
		if w.open[session]--; w.open[session] == 0 {
			delete(w.open, session)
		}
	}, true
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
		leave, ok := v.console.watching.enter(v.session.ID)
		if !ok {
			v.plain(http.StatusServiceUnavailable, "Too many watch at once. The page still polls.")
			return nil, nil
		}
		defer leave()
		return nil, v.stream(verb, view)
	}
	return p
}

// stream sends what changed until the reader leaves or the service ends.
func (v *visit) stream(verb func(*visit) (any, error), view string) error {
	header := v.Writer.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("X-Accel-Buffering", "no") // for proxies that would hold it back
	line := http.NewResponseController(v.Writer)
	end := time.After(liveLength)
	tick := time.NewTicker(liveEvery)
	defer tick.Stop()
	sent := map[string]string{}
	for round := 0; ; round++ {
		now, err := v.parts(verb, view)
		// Only the first round can still answer with an error. Later the page keeps what it has,
		// and the next round may go well again.
		if err != nil && round == 0 {
			return err
		}
		// Something goes out now and then although nothing changed: proxies drop what is silent,
		// and only writing finds out that the reader has left.
		message := ""
		if text := now.changed(sent); text != "" {
			message = "data: " + strings.ReplaceAll(text, "\n", "\ndata: ") + "\n\n"
		} else if round%15 == 0 {
			message = ": still here\n\n"
		}
		if message != "" {
			// The server's own deadline is for whole answers, and a stream outlives it; each
			// message gets its own.
			if err := line.SetWriteDeadline(time.Now().Add(pageTime)); err != nil && !errors.Is(err, http.ErrNotSupported) {
				return nil // the reader has left
			}
			if _, err := fmt.Fprint(v.Writer, message); err != nil {
				return nil // likewise
			}
			if err := line.Flush(); err != nil {
				return nil // likewise
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
			return nil // there is none any more
		} else if _, _, err := v.console.Reception.Whoever(v.ctx(), cookie.Value); err != nil {
			return nil // it is over
		}
	}
}

// parts gives the parts of a page that change, filled in once for everybody who
// sees the same.
func (v *visit) parts(verb func(*visit) (any, error), view string) (parts, error) {
	same := look{v.URL.RequestURI(), v.zone(), v.me.Role}
	return v.console.snap.texts.Get(v.ctx(), same, v.console.Clock(), func(ctx context.Context) (parts, error) {
		limited, cancel := context.WithTimeout(ctx, pageTime)
		defer cancel()
		// A copy, because the one who fills it in for all may leave meanwhile: its context is the
		// memo's and not his.
		one := *v
		one.Request = v.WithContext(limited)
		found, err := verb(&one)
		if err != nil {
			return nil, err
		}
		var out bytes.Buffer
		err = v.console.render(&out, v.zone(), view, one.sheet(found), true)
		return partsOf(out.String()), err
	})
}

// parts are elements with an id, each with what follows it up to the next.
type parts []part

type part struct{ id, text string }

// partsOf cuts a view into its parts. Views begin each on a line of its own;
// what comes from data cannot, since its brackets are escaped.
func partsOf(text string) (all parts) {
	for line := range strings.Lines(text) {
		if opening, _, is := strings.Cut(line, ">"); is && strings.HasPrefix(line, "<") {
			if _, id, has := strings.Cut(opening, ` id="`); has {
				id, _, _ = strings.Cut(id, `"`)
				all = append(all, part{id: id})
			}
		}
		if len(all) > 0 {
			all[len(all)-1].text += line
		}
	}
	return all
}

// changed gives the parts that somebody has not seen as they are now, and notes
// that he has.
func (p parts) changed(sent map[string]string) string {
	var text strings.Builder
	for _, one := range p {
		if sent[one.id] != one.text {
			sent[one.id] = one.text
			text.WriteString(one.text)
		}
	}
	return text.String()
}
