package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"landfall"
	"landfall/internal/lib/cache"
	"landfall/internal/lib/limits"
	"landfall/internal/service/operate"
)

// liveCache shares the work of live pages between their viewers: however many
// watch, the database is queried and a page rendered once per interval.
type liveCache struct {
	console  *Console
	overview *cache.Cache[string, operate.Overview]
	rendered *cache.Cache[liveKey, liveParts]
}

// liveKey is everything that decides what a live page looks like.
type liveKey struct {
	path, zone string
	access     string // what the reader may do
}

const (
	// streamLifetime ends a stream, to drop viewers who left silently. Browsers
	// reconnect by themselves.
	streamLifetime = limits.ConsoleStream
	// maxStreams limits the streams of a replica, and maxSessionStreams those of one
	// session, so that nobody can take them all.
	maxStreams        = 200
	maxSessionStreams = 20
)

func newLiveCache(c *Console) *liveCache {
	bounds := cache.Limits{TTL: limits.ConsoleLiveAge, LoadTimeout: limits.CacheLoad, Size: 4}
	l := &liveCache{console: c, overview: cache.New[string, operate.Overview](bounds)}
	bounds.Size = maxStreams
	l.rendered = cache.New[liveKey, liveParts](bounds)
	return l
}

// summaries returns the state of the suppliers that a person may see.
func (l *liveCache) summaries(ctx context.Context, person landfall.Operator) (operate.Overview, error) {
	all, err := l.overview.Get(ctx, "", l.console.Clock(), func(ctx context.Context) (operate.Overview, error) {
		return l.console.OperatorFor("service").Overview(ctx)
	})
	seen := all
	seen.Suppliers = nil
	for _, supplier := range all.Suppliers {
		if person.May(landfall.MayRead, supplier.Code) {
			seen.Suppliers = append(seen.Suppliers, supplier)
		}
	}
	return seen, err
}

// streamLimiter counts open streams by session.
type streamLimiter struct {
	mu        sync.Mutex
	total     int
	bySession map[string]int
}

// acquire refuses instead of waiting: a page without a stream polls.
func (l *streamLimiter) acquire(session string) (release func(), ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.total >= maxStreams || l.bySession[session] >= maxSessionStreams {
		return nil, false
	}
	l.total++
	l.bySession[session]++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.total--
		if l.bySession[session]--; l.bySession[session] == 0 {
			delete(l.bySession, session)
		}
	}, true
}

// liveRoute is the stream of a page: the parts that change, as server-sent events
// or once for a browser that polls. Each part replaces the element with its id.
func liveRoute(path string, handle handlerFunc, view string) route {
	stream := get(path, nil, view)
	stream.partial, stream.streaming = true, true
	stream.handle = func(r *pageRequest) (any, error) {
		if r.queryParam("once") != "" {
			return handle(r)
		}
		release, ok := r.console.streams.acquire(r.session.ID)
		if !ok {
			r.plainText(http.StatusServiceUnavailable, "Too many live streams. The page polls instead.")
			return nil, nil
		}
		defer release()
		return nil, r.stream(handle, view)
	}
	return stream
}

// stream sends the parts that changed until the reader leaves, the session ends
// or the service shuts down.
func (r *pageRequest) stream(handle handlerFunc, view string) error {
	header := r.Writer.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("X-Accel-Buffering", "no") // for proxies that would buffer it
	controller := http.NewResponseController(r.Writer)
	end := time.After(streamLifetime)
	ticker := time.NewTicker(limits.ConsoleLive)
	defer ticker.Stop()
	sent := map[string]string{}
	for round := 0; ; round++ {
		parts, err := r.parts(handle, view)
		// Only the first round can still answer with an error. Later ones try again.
		if err != nil && round == 0 {
			return err
		}
		// Send a comment now and then: proxies drop silent connections, and only
		// writing detects that the reader has left.
		message := ""
		if text := parts.changed(sent); text != "" {
			message = "data: " + strings.ReplaceAll(text, "\n", "\ndata: ") + "\n\n"
		} else if round%15 == 0 {
			message = ": keep-alive\n\n"
		}
		if message != "" {
			// The server's write deadline is for whole responses. Each message gets its own.
			if err := controller.SetWriteDeadline(time.Now().Add(limits.ConsolePage)); err != nil && !errors.Is(err, http.ErrNotSupported) {
				return nil // the reader has left
			}
			if _, err := fmt.Fprint(r.Writer, message); err != nil {
				return nil // the reader has left
			}
			if err := controller.Flush(); err != nil {
				return nil // the reader has left
			}
		}
		select {
		case <-ticker.C:
		case <-end:
			return nil
		case <-r.Context().Done():
			return nil
		case <-r.console.Shutdown:
			return nil
		}
		cookie, err := r.Cookie(r.sessionCookie())
		if err != nil {
			return nil // signed out
		}
		if r.me, _, err = r.console.Sessions.IdentifyLive(r.Context(), cookie.Value); err != nil {
			return nil // the session has ended
		}
		if r.route.needs != 0 && r.operator().Permit(r.route.needs, r.PathValue("supplier")) != nil {
			return nil // the role was taken away
		}
	}
}

// parts renders the parts of a page that change, once for all viewers who see
// the same.
func (r *pageRequest) parts(handle handlerFunc, view string) (liveParts, error) {
	key := liveKey{r.URL.RequestURI(), r.zone().String(), r.me.Access()}
	return r.console.live.rendered.Get(r.Context(), key, r.console.Clock(), func(ctx context.Context) (liveParts, error) {
		limited, cancel := context.WithTimeout(ctx, limits.ConsolePage)
		defer cancel()
		// Copy the request with the cache's context: this reader may leave while
		// others wait for the result.
		shared := *r
		shared.Request = r.WithContext(limited)
		page, err := handle(&shared)
		if err != nil {
			return nil, err
		}
		text, err := r.console.render(r.zone(), view, shared.data(page), true)
		return splitParts(text), err
	})
}

// liveParts are the elements of a view with the attribute data-part, each with
// everything up to the next.
type liveParts []livePart

type livePart struct{ id, text string }

// splitParts splits a view into its parts. Views start each part on its own line.
// Data cannot start one, because its angle brackets are escaped.
func splitParts(text string) (parts liveParts) {
	for line := range strings.Lines(text) {
		tag, _, _ := strings.Cut(strings.TrimLeft(line, " "), ">")
		if strings.HasPrefix(tag, "<") && strings.Contains(tag, " data-part") {
			_, id, _ := strings.Cut(tag, ` id="`)
			id, _, _ = strings.Cut(id, `"`)
			parts = append(parts, livePart{id: id})
		}
		if len(parts) > 0 {
			parts[len(parts)-1].text += line
		}
	}
	return parts
}

// changed returns the parts that differ from what was sent, and records them.
func (p liveParts) changed(sent map[string]string) string {
	var text strings.Builder
	for _, part := range p {
		if sent[part.id] != part.text {
			sent[part.id] = part.text
			text.WriteString(part.text)
		}
	}
	return text.String()
}
