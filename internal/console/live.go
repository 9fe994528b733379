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

// liveCache is what live pages show, asked for and written once however many
// watch: with 200 suppliers and 200 watchers the database is asked, and a page
// filled in, as often as with one.
type liveCache struct {
	console  *Console
	overview *cache.Memo[string, operate.Overview]
	rendered *cache.Memo[liveKey, liveParts]
}

// liveKey is what decides how a live page reads: two who have it in common see the
// same.
type liveKey struct {
	path, zone string
	role       landfall.OperatorRole
}

const (
	// liveMaxAge is how old the figures of a live page may be.
	liveMaxAge = 900 * time.Millisecond
	// liveInterval is how often a live page is written again.
	liveInterval = time.Second
	// streamLifetime ends a stream, so that who has left without a word goes, and a
	// session that is over is noticed. Browsers come back by themselves.
	streamLifetime = 10 * time.Minute
	// maxStreams bounds the streams of one replica, and mostOfOne those of one
	// session: nobody takes them all from the others.
	maxStreams        = 200
	maxSessionStreams = 20
)

func newLiveCache(c *Console) *liveCache {
	// Asked for the overview with its key always empty, so one entry would do; the few more cost
	// nothing.
	limits := cache.Limits{Life: liveMaxAge, Patience: 10 * time.Second, Size: 4}
	s := &liveCache{console: c, overview: cache.New[string, operate.Overview](limits)}
	limits.Size = maxStreams
	s.rendered = cache.New[liveKey, liveParts](limits)
	return s
}

func (s *liveCache) summaries(ctx context.Context) (operate.Overview, error) {
	return s.overview.Get(ctx, "", s.console.Clock(), func(ctx context.Context) (operate.Overview, error) {
		return s.console.OperatorFor("operator:console").Overview(ctx)
	})
}

// streamLimiter counts the streams that are open, by session.
type streamLimiter struct {
	mu        sync.Mutex
	total     int
	bySession map[string]int
}

func (w *streamLimiter) acquire(session string) (leave func(), ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	// Refused and not queued: a page that cannot have a stream polls instead, and works all the
	// same.
	if w.total >= maxStreams || w.bySession[session] >= maxSessionStreams {
		return nil, false
	}
	w.total++
	w.bySession[session]++
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.total--
		if w.bySession[session]--; w.bySession[session] == 0 {
			delete(w.bySession, session)
		}
	}, true
}

// liveRoute makes a page's own stream: the parts that change, again and again as
// server-sent events, or once for whoever polls. Parts have ids, and those that
// changed take the place of those on the page.
func liveRoute(path string, verb func(*pageRequest) (any, error), view string) route {
	p := get(path, nil, view)
	p.partial, p.streaming = true, true
	p.handle = func(r *pageRequest) (any, error) {
		if r.queryParam("once") != "" {
			return verb(r)
		}
		leave, ok := r.console.streams.acquire(r.session.ID)
		if !ok {
			r.plainText(http.StatusServiceUnavailable, "Too many watch at once. The page still polls.")
			return nil, nil
		}
		defer leave()
		return nil, r.stream(verb, view)
	}
	return p
}

// stream sends what changed until the reader leaves or the service ends.
func (r *pageRequest) stream(verb func(*pageRequest) (any, error), view string) error {
	header := r.Writer.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("X-Accel-Buffering", "no") // for proxies that would hold it back
	line := http.NewResponseController(r.Writer)
	end := time.After(streamLifetime)
	tick := time.NewTicker(liveInterval)
	defer tick.Stop()
	sent := map[string]string{}
	for round := 0; ; round++ {
		now, err := r.parts(verb, view)
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
			if err := line.SetWriteDeadline(time.Now().Add(pageTimeout)); err != nil && !errors.Is(err, http.ErrNotSupported) {
				return nil // the reader has left
			}
			if _, err := fmt.Fprint(r.Writer, message); err != nil {
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
		case <-r.Context().Done():
			return nil
		case <-r.console.Shutdown:
			return nil
		}
		// A session that was ended sees nothing more.
		if cookie, err := r.Cookie(r.sessionCookie()); err != nil {
			return nil // there is none any more
		} else if _, _, err := r.console.Sessions.Whoever(r.Context(), cookie.Value); err != nil {
			return nil // it is over
		}
	}
}

// parts gives the parts of a page that change, filled in once for everybody who
// sees the same.
func (r *pageRequest) parts(verb func(*pageRequest) (any, error), view string) (liveParts, error) {
	same := liveKey{r.URL.RequestURI(), r.zone(), r.me.Role}
	return r.console.live.rendered.Get(r.Context(), same, r.console.Clock(), func(ctx context.Context) (liveParts, error) {
		limited, cancel := context.WithTimeout(ctx, pageTimeout)
		defer cancel()
		// A copy, because the one who fills it in for all may leave meanwhile: its context is the
		// memo's and not his.
		one := *r
		one.Request = r.WithContext(limited)
		found, err := verb(&one)
		if err != nil {
			return nil, err
		}
		var out bytes.Buffer
		err = r.console.render(&out, r.zone(), view, one.data(found), true)
		return splitParts(out.String()), err
	})
}

// liveParts are elements with an id, each with what follows it up to the next.
type liveParts []livePart

type livePart struct{ id, text string }

// splitParts cuts a view into its parts. Views begin each on a line of its own;
// what comes from data cannot, since its brackets are escaped.
func splitParts(text string) (all liveParts) {
	for line := range strings.Lines(text) {
		if opening, _, is := strings.Cut(line, ">"); is && strings.HasPrefix(line, "<") {
			if _, id, has := strings.Cut(opening, ` id="`); has {
				id, _, _ = strings.Cut(id, `"`)
				all = append(all, livePart{id: id})
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
func (p liveParts) changed(sent map[string]string) string {
	var text strings.Builder
	for _, one := range p {
		if sent[one.id] != one.text {
			sent[one.id] = one.text
			text.WriteString(one.text)
		}
	}
	return text.String()
}
