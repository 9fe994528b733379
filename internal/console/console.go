// Package console is the web console: what those see who run a move, and
// support. Every page is a row of one table: a path, who may see it, a verb of
// operate or intake, and a view. There is no SQL here, and no rule: who signs
// in does the same things as the command line does, in his own name.
//
// Pages are rendered here and readable without JavaScript; htmx and one file of
// ours only make them livelier.
package console

import (
	"context"
	"html/template"
	"log/slog"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"landfall"
	"landfall/internal/service/auth"
	"landfall/internal/service/intake"
	"landfall/internal/service/operate"
)

// Root is where the console is.
const Root = "/console/"

// Options is what the console needs from the rest of the program.
type Options struct {
	// As gives the operator's verbs in the name of somebody, as the audit writes
	// it.
	As        func(actor string) *operate.Operator
	Desk      *intake.Desk // creates accounts
	Reception *auth.Reception
	Files     landfall.FileStore // where notes and statements have their files; nil: only their paths are shown
	Logger    *slog.Logger
	// ClientAddress is who calls, seen through known proxies; nil: the peer.
	ClientAddress func(*http.Request) netip.Addr
	// Encrypted says whether a request came by TLS, here or up to a known proxy;
	// nil: only here.
	Encrypted func(*http.Request) bool
	BaseURL   string          // where people find us, without a slash; "": where they asked
	Ending    <-chan struct{} // closed when watchers are to be let go; nil: never
	Wake      func()          // says that runs have something to do; nil: they look by themselves
	// Health is how the service itself does; nil: nothing is known.
	Health func(ctx context.Context) []Sign
	// VendorHealth says how a payment vendor did of late; nil: nothing is known.
	VendorHealth func(code string) string
	Clock        func() time.Time
}

// Console is the handler of everything under its root.
type Console struct {
	Options
	mux      *http.ServeMux
	origin   *http.CrossOriginProtection
	shelf    *shelf
	snap     *snapshot
	watching watchers
	undos    *undos

	forecasts *counts[landfall.UndoForecast]   // by run
	summaries *counts[landfall.FailureSummary] // by supplier
	patience  time.Duration                    // of pages with counts

	mu   sync.Mutex
	sets map[string]*template.Template // views by time zone
}

// New builds the console.
func New(options Options) *Console {
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	if options.ClientAddress == nil {
		options.ClientAddress = peer
	}
	if options.Encrypted == nil {
		options.Encrypted = func(r *http.Request) bool { return r.TLS != nil }
	}
	if options.Clock == nil {
		options.Clock = time.Now
	}
	if options.Wake == nil {
		options.Wake = func() {}
	}
	c := &Console{
		Options: options, mux: http.NewServeMux(), origin: http.NewCrossOriginProtection(),
		shelf: newShelf(), sets: map[string]*template.Template{}, undos: newUndos(), watching: watchers{open: map[string]int{}},
		forecasts: newCounts[landfall.UndoForecast](false), summaries: newCounts[landfall.FailureSummary](true), patience: countPatience,
	}
	c.snap = newSnapshot(c)
	if options.BaseURL != "" {
		// Behind a proxy that calls us by another name the browser's is this one.
		_ = c.origin.AddTrustedOrigin(options.BaseURL) // checked with the settings
	}
	c.origin.SetDenyHandler(http.HandlerFunc(c.crossOrigin))
	c.mux.Handle("GET "+assetPath+"{name}", http.HandlerFunc(c.shelf.serve))
	for _, page := range pages() {
		c.mux.Handle(page.pattern(), c.handler(page))
	}
	return c
}

// pageTime bounds what a page may take; streams have no such bound.
const pageTime = 20 * time.Second

// ServeHTTP answers one request.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// Before anything can answer, so that refusals and unknown addresses are protected as well.
	protect(w.Header())
	if !c.reachable(r) {
		c.refusePlain(w, r)
		return
	}
	// Asked first, because the mux would answer an unknown address itself, in plain text and
	// outside of our layout.
	if _, pattern := c.mux.Handler(r); pattern == "" {
		c.unknown(w, r)
		return
	}
	c.origin.Handler(c.mux).ServeHTTP(w, r)
}

// protect sets what every answer of the console carries: browsers load nothing
// but what we serve, run no script that stands in a page, and show no page of
// ours inside another.
func protect(header http.Header) {
	header.Set("Content-Security-Policy", policy)
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("X-Frame-Options", "DENY") // for browsers that know no frame-ancestors
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Cache-Control", "no-store")
	header.Set("Vary", "Cookie, HX-Request")
}

const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// peer is the address at the other end of the connection.
func peer(r *http.Request) netip.Addr {
	pair, _ := netip.ParseAddrPort(r.RemoteAddr) // not valid where there is no connection, as in tests
	return pair.Addr().Unmap()
}

// handler answers the requests of one page.
func (c *Console) handler(page page) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !page.endless {
			limited, cancel := context.WithTimeout(r.Context(), pageTime)
			defer cancel()
			r = r.WithContext(limited)
		}
		v := &visit{Request: r, Writer: w, console: c, page: page}
		if err := v.admit(); err != nil {
			v.fail(err)
			return
		}
		v.answer()
	})
}

// may reports whether a role is enough for what a page asks.
func may(has, needs landfall.OperatorRole) bool {
	return needs == "" || has == needs || has == landfall.ConsoleOperator
}
