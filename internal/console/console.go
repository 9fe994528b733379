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
	OperatorFor func(actor string) *operate.Operator
	Intake      *intake.Service // creates accounts
	Sessions    *auth.Reception
	Files       landfall.FileStore // where notes and statements have their files; nil: only their paths are shown
	Logger      *slog.Logger
	// ClientAddress is who calls, seen through known proxies; nil: the peer.
	ClientAddress func(*http.Request) netip.Addr
	// Encrypted says whether a request came by TLS, here or up to a known proxy;
	// nil: only here.
	Encrypted func(*http.Request) bool
	BaseURL   string          // where people find us, without a slash; "": where they asked
	Shutdown  <-chan struct{} // closed when watchers are to be let go; nil: never
	WakeRuns  func()          // says that runs have something to do; nil: they look by themselves
	// Health is how the service itself does; nil: nothing is known.
	Health func(ctx context.Context) []HealthItem
	// VendorHealth says how a payment vendor did of late; nil: nothing is known.
	VendorHealth func(code string) string
	Clock        func() time.Time
}

// Console is the handler of everything under its root.
type Console struct {
	Options
	mux      *http.ServeMux
	origin   *http.CrossOriginProtection
	assets   *assetFiles
	live     *liveCache
	streams  streamLimiter
	undoJobs *undoJobs

	undoForecasts    *countJobs[landfall.UndoForecast]   // by run
	failureSummaries *countJobs[landfall.FailureSummary] // by supplier
	countWait        time.Duration                       // of pages with counts

	mu        sync.Mutex
	templates map[string]*template.Template // views by time zone
}

// New builds the console.
func New(options Options) *Console {
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	if options.ClientAddress == nil {
		options.ClientAddress = peerAddress
	}
	if options.Encrypted == nil {
		options.Encrypted = func(r *http.Request) bool { return r.TLS != nil }
	}
	if options.Clock == nil {
		options.Clock = time.Now
	}
	if options.WakeRuns == nil {
		options.WakeRuns = func() {}
	}
	c := &Console{
		Options: options, mux: http.NewServeMux(), origin: http.NewCrossOriginProtection(),
		assets: loadAssets(), templates: map[string]*template.Template{}, undoJobs: newUndoJobs(), streams: streamLimiter{bySession: map[string]int{}},
		undoForecasts: newCountJobs[landfall.UndoForecast](false), failureSummaries: newCountJobs[landfall.FailureSummary](true), countWait: defaultCountWait,
	}
	c.live = newLiveCache(c)
	if options.BaseURL != "" {
		// Behind a proxy that calls us by another name the browser's is this one.
		_ = c.origin.AddTrustedOrigin(options.BaseURL) // checked with the settings
	}
	c.origin.SetDenyHandler(http.HandlerFunc(c.crossOrigin))
	c.mux.Handle("GET "+assetPath+"{name}", http.HandlerFunc(c.assets.serve))
	for _, page := range routes() {
		c.mux.Handle(page.pattern(), c.handler(page))
	}
	return c
}

// pageTimeout bounds what a page may take; streams have no such bound.
const pageTimeout = 20 * time.Second

// ServeHTTP answers one request.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// Before anything can answer, so that refusals and unknown addresses are protected as well.
	setSecurityHeaders(w.Header())
	if !c.reachable(r) {
		c.refuseUnencrypted(w, r)
		return
	}
	// Asked first, because the mux would answer an unknown address itself, in plain text and
	// outside of our layout.
	if _, pattern := c.mux.Handler(r); pattern == "" {
		c.notFound(w, r)
		return
	}
	c.origin.Handler(c.mux).ServeHTTP(w, r)
}

// setSecurityHeaders sets what every answer of the console carries: browsers load nothing
// but what we serve, run no script that stands in a page, and show no page of
// ours inside another.
func setSecurityHeaders(header http.Header) {
	header.Set("Content-Security-Policy", contentSecurityPolicy)
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("X-Frame-Options", "DENY") // for browsers that know no frame-ancestors
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Cache-Control", "no-store")
	header.Set("Vary", "Cookie, HX-Request")
}

const contentSecurityPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// peerAddress is the address at the other end of the connection.
func peerAddress(r *http.Request) netip.Addr {
	pair, _ := netip.ParseAddrPort(r.RemoteAddr) // not valid where there is no connection, as in tests
	return pair.Addr().Unmap()
}

// handler answers the requests of one page.
func (c *Console) handler(page route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !page.streaming {
			limited, cancel := context.WithTimeout(r.Context(), pageTimeout)
			defer cancel()
			r = r.WithContext(limited)
		}
		req := &pageRequest{Request: r, Writer: w, console: c, route: page}
		if err := req.authenticate(); err != nil {
			req.fail(err)
			return
		}
		req.respond()
	})
}

// allows reports whether a role is enough for what a page asks.
func allows(has, needs landfall.OperatorRole) bool {
	return needs == "" || has == needs || has == landfall.ConsoleOperator
}
