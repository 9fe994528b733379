// Package console is the web console for the people who run a migration and for
// support. Every page is a route: a path, a role, a handler that calls operate or
// intake, and a view. The console has no SQL and no business rules. People who
// sign in can do what the command line can do, under their own name.
//
// Pages are rendered on the server and work without JavaScript. htmx and one
// script of our own add live updates and keyboard shortcuts.
package console

import (
	"context"
	"html/template"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"landfall"
	"landfall/internal/lib/limits"
	"landfall/internal/outbound/mail"
	"landfall/internal/service/auth"
	"landfall/internal/service/intake"
	"landfall/internal/service/operate"
)

// Root is the path of the console.
const Root = "/console/"

// Options are the console's dependencies.
type Options struct {
	// OperatorFor returns the operator's actions under the name of an actor, as
	// the audit records it.
	OperatorFor func(actor string) *operate.Operator
	Intake      *intake.Service // creates accounts
	Sessions    *auth.Sessions
	Provider    Provider // signs people in; nil: only passwords do
	// Tell sends a message to an operator; nil: there is no mail server.
	Tell     func(ctx context.Context, address, subject, text string) error
	Composer *mail.Composer     // writes the texts of e-mails; nil: they are not shown
	Files    landfall.FileStore // locates documents of notes and statements; nil: only their paths are shown
	Logger   *slog.Logger
	// ClientAddress returns the caller's address behind known proxies; nil: the peer's.
	ClientAddress func(*http.Request) netip.Addr
	// Encrypted reports whether a request came over TLS, here or at a known
	// proxy; nil: only here.
	Encrypted func(*http.Request) bool
	// KnownProxy reports whether a request came through a known proxy; nil: there is
	// none.
	KnownProxy func(*http.Request) bool
	BaseURL    string          // the public address, without a trailing slash; "": the request's host
	Shutdown   <-chan struct{} // closed when live streams must end; nil: never
	WakeRuns   func()          // tells the runner that runs have work; nil: it polls
	// Health returns the health of the service; nil: unknown.
	Health func(ctx context.Context) []HealthItem
	// VendorHealth returns the recent health of a payment vendor; nil: unknown.
	VendorHealth func(code string) string
	Clock        func() time.Time
}

// Console handles every request below Root.
type Console struct {
	Options
	mux      *http.ServeMux
	origin   *http.CrossOriginProtection
	assets   *assetFiles
	live     *liveCache
	streams  streamLimiter
	undoJobs *undoJobs

	undoForecasts    *countJobs[undoForecast]            // by run
	failureSummaries *countJobs[landfall.FailureSummary] // by supplier
	runCauses        *countJobs[landfall.FailureSummary] // by run
	countWait        time.Duration                       // how long a page waits for a count

	views *template.Template
	zones zoneCache
}

// New returns a console.
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
	if options.KnownProxy == nil {
		options.KnownProxy = func(*http.Request) bool { return false }
	}
	if options.Clock == nil {
		options.Clock = time.Now
	}
	if options.WakeRuns == nil {
		options.WakeRuns = func() {}
	}
	c := &Console{
		Options: options, mux: http.NewServeMux(), origin: http.NewCrossOriginProtection(), assets: loadAssets(),
		zones: zoneCache{loaded: map[string]*time.Location{}}, undoJobs: newUndoJobs(), streams: streamLimiter{bySession: map[string]int{}},
		undoForecasts: newCountJobs[undoForecast](false), failureSummaries: newCountJobs[landfall.FailureSummary](true), runCauses: newCountJobs[landfall.FailureSummary](true),
		countWait: defaultCountWait,
	}
	c.views = c.parseViews()
	c.live = newLiveCache(c)
	if options.BaseURL != "" {
		// A proxy may call us under another name than the browser does.
		_ = c.origin.AddTrustedOrigin(options.BaseURL) // validated with the settings
	}
	c.origin.SetDenyHandler(http.HandlerFunc(c.crossOrigin))
	c.mux.Handle("GET "+assetPath+"{name}", http.HandlerFunc(c.assets.serve))
	for _, page := range allRoutes() {
		c.mux.Handle(page.pattern(), c.handler(page))
	}
	return c
}

// ServeHTTP answers one request.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// Set before anything else, so that errors and unknown paths are protected too.
	setSecurityHeaders(w.Header())
	if !c.reachable(r) {
		c.refuseUnencrypted(w, r)
		return
	}
	// The mux would answer unknown paths itself, in plain text and without our layout.
	// A path that no database can store names nothing.
	if _, pattern := c.mux.Handler(r); pattern == "" || !isText(r.URL.Path) {
		c.notFound(w, r)
		return
	}
	c.origin.Handler(c.mux).ServeHTTP(w, r)
}

// setSecurityHeaders sets the headers of every response: browsers load only what
// we serve, run no inline script, and show no page of ours in a frame.
func setSecurityHeaders(header http.Header) {
	header.Set("Content-Security-Policy", contentSecurityPolicy)
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("X-Frame-Options", "DENY") // for browsers without frame-ancestors
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Cache-Control", "no-store")
	header.Set("Vary", "Cookie, HX-Request, Accept-Encoding")
}

const contentSecurityPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// peerAddress returns the address of the other end of the connection.
func peerAddress(r *http.Request) netip.Addr {
	pair, _ := netip.ParseAddrPort(r.RemoteAddr) // invalid without a connection, as in tests
	return pair.Addr().Unmap()
}

// handler answers the requests of one route.
func (c *Console) handler(page route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !page.streaming {
			limited, cancel := context.WithTimeout(r.Context(), limits.ConsolePage)
			defer cancel()
			r = r.WithContext(limited)
		}
		req := &pageRequest{Request: r, Writer: w, console: c, route: page}
		if !areTexts(r.URL.Query()) {
			req.fail(errNotText)
			return
		}
		if err := req.authenticate(); err != nil {
			req.fail(err)
			return
		}
		req.respond()
	})
}
