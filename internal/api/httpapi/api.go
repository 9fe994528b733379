// Package httpapi serves the REST API. One route table drives routing, the
// OpenAPI document and the metrics. Package answer decides what a request means.
package httpapi

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"landfall"
	"landfall/internal/api/answer"
	"landfall/internal/api/bulk"
	"landfall/internal/api/contract"
	"landfall/internal/lib/admission"
	"landfall/internal/lib/limits"
)

// Defaults of Options.
const (
	DefaultBodyLimit      = limits.Body
	DefaultBodyMemory     = limits.BodyMemory
	DefaultRequestTimeout = limits.Request
)

// Authenticator identifies the caller by the Authorization header fields of a
// request.
type Authenticator interface {
	Identify(ctx context.Context, header []string) (landfall.Principal, error)
}

// Quota enforces the quotas of organisations. It returns the body with metering.
type Quota interface {
	Admit(ctx context.Context, who landfall.Principal, length int64, body io.ReadCloser) (io.ReadCloser, error)
	// Stream is Admit for a bulk request. The returned function waits until one more
	// line is allowed; nil if no waiting is needed.
	Stream(ctx context.Context, who landfall.Principal, body io.Reader) (io.Reader, func(context.Context) error, error)
}

// Options configures the API.
type Options struct {
	Answers        *answer.API
	Authenticator  Authenticator
	Quota          Quota        // nil: no quotas
	Token          http.Handler // serves the token mutation
	Logger         *slog.Logger
	Interactive    *admission.Activity            // records single calls, for work that yields to them; nil: of its own
	ClientAddress  func(*http.Request) netip.Addr // address of the client, seen through known proxies; nil: the peer
	BodyLimit      int64
	BodyMemory     int64 // bytes of request bodies in memory at the same time
	RequestTimeout time.Duration
	MaxInFlight    int                             // requests processed at the same time
	WriteTimeout   time.Duration                   // for each piece of a list; 0: five seconds
	BaseURL        string                          // public address without a trailing slash; "": as requested
	Ready          func(ctx context.Context) error // nil: always
	Draining       func() bool                     // nil: never
	Ending         <-chan struct{}                 // closed when waiting callers must be answered; nil: never
	Metrics        *Metrics                        // nil: its own
	Spool          bulk.Spool                      // where unread bulk responses are stored
	Console        http.Handler                    // everything under /console/; nil: no console
	// Schema returns the fields of a supplier that the caller may use, packs included,
	// or nil; nil: packs are not served.
	Schema func(ctx context.Context, who landfall.Principal, supplier string) (*contract.Schema, error)
	// Facts returns what a caller has to know about a supplier before it sends a book,
	// or nil if the caller may not use the supplier.
	Facts func(ctx context.Context, who landfall.Principal, supplier string, documents []string) (*landfall.SupplierFacts, error)
	// Trace starts the span of a request and returns the function that ends it; nil:
	// no tracing.
	Trace func(ctx context.Context, r *http.Request, id string) (context.Context, func(method, template string, status int, code string))
}

// API is the handler of the main listener.
type API struct {
	Options
	tree        node
	budget      *budget
	requests    *admission.Limiter
	long        *admission.Limiter // of requests with long bodies
	lists       *admission.Limiter
	accounts    *admission.Limiter // of streams of whole accounts
	waits       *admission.Limiter // of requests that wait for events
	bulk        *bulk.Service
	streams     *admission.Limiter // of bulk requests
	ready       readiness
	description func() []byte // the OpenAPI document, written on first use
}

// New returns the API.
func New(options Options) *API {
	if options.BodyLimit == 0 {
		options.BodyLimit = DefaultBodyLimit
	}
	if options.RequestTimeout == 0 {
		options.RequestTimeout = DefaultRequestTimeout
	}
	if options.MaxInFlight == 0 {
		options.MaxInFlight = DefaultMaxInFlight
	}
	if options.BodyMemory == 0 {
		options.BodyMemory = DefaultBodyMemory
	}
	if options.WriteTimeout == 0 {
		options.WriteTimeout = writeTimeout
	}
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	if options.ClientAddress == nil {
		options.ClientAddress = peerAddress
	}
	if options.Draining == nil {
		options.Draining = func() bool { return false }
	}
	if options.Metrics == nil {
		options.Metrics = NewMetrics("")
	}
	if options.Interactive == nil {
		options.Interactive = new(admission.Activity)
	}
	api := &API{
		Options: options, description: sync.OnceValue(OpenAPI),
		budget: newBudget(options.BodyMemory, options.BodyLimit, limits.BodyWait), requests: newRequestLimiter(options.MaxInFlight), long: newLongLimiter(),
		lists: newTenantLimiter(limits.ListsEach, limits.ListsAll, errOwnLists, errAllLists),
	}
	api.accounts = newTenantLimiter(limits.AccountStreamsEach, limits.AccountStreamsAll, errOwnLists, errAllLists)
	api.waits = newTenantLimiter(limits.EventWaitsEach, limits.EventWaitsAll, errOwnWaits, errAllWaits)
	api.streams = newTenantLimiter(streamsEach, streamsAll, errOwnStreams, errAllStreams)
	api.bulk = bulk.New(bulk.Options{
		Answers: options.Answers, LineLimit: options.BodyLimit, CallTimeout: options.RequestTimeout, Draining: options.Draining,
		Count: options.Metrics.countLine, Busy: options.Interactive.Recent, Idle: options.Interactive.Idle, Logger: options.Logger, Spool: options.Spool,
	})
	options.Metrics.addFunc(FuncMetric{
		Name: "landfall_bulk_spooled_bytes", Help: "Bytes of bulk responses on disk that clients have not read yet.",
		Read: func() float64 { return float64(api.bulk.Spooled()) },
	})
	api.ready.check = options.Ready
	options.Metrics.addFunc(FuncMetric{Name: "landfall_ready", Help: "1 while the server can handle requests, as /readyz says.", Read: api.isReady})
	options.Metrics.addFunc(FuncMetric{Name: "landfall_database_up", Help: "1 while the database can be written to.", Read: api.databaseUp})
	for _, r := range routeTable() {
		api.tree.add(r.path, r)
	}
	return api
}

func peerAddress(r *http.Request) netip.Addr {
	// Invalid if there is no connection, as in tests.
	pair, _ := netip.ParseAddrPort(r.RemoteAddr)
	return pair.Addr().Unmap()
}

// Header values that never change are shared by all responses.
var (
	nosniff         = []string{"nosniff"}
	noStore         = []string{"no-store"}
	connectionClose = []string{"close"}
	// Responses are data: a browser that shows one must not load or frame anything.
	denyAllPolicy = []string{"default-src 'none'; frame-ancestors 'none'"}
	// Only sent over TLS; browsers ignore it over plain HTTP.
	strictTransport = []string{"max-age=31536000"}
	typeJSON        = []string{"application/json"}
	tokenChallenge  = []string{"Token"}
)

// ServeHTTP serves one request.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &exchange{
		ResponseWriter: w, request: r, started: time.Now(),
		id: requestID(r.Header["X-Request-Id"]),
	}
	// finishRequest decrements it, whatever happens.
	a.Metrics.inFlight.Inc()
	ctx := r.Context()
	if a.Trace != nil {
		var end func(method, template string, status int, code string)
		ctx, end = a.Trace(ctx, r, x.id)
		defer func() { end(x.method(), x.template(), x.status, x.code) }()
	}
	// Deferred after the end of the span, so that it runs first: the span then has
	// the status of a recovered panic.
	defer a.finishRequest(ctx, x)

	header := w.Header()
	header["X-Request-Id"] = []string{x.id}
	header["X-Content-Type-Options"] = nosniff
	header["Cache-Control"] = noStore
	header["Content-Security-Policy"] = denyAllPolicy
	if r.TLS != nil {
		header["Strict-Transport-Security"] = strictTransport
	}
	// Close the connection after a chunked request: conflicting lengths could
	// smuggle another request after it.
	if len(r.TransferEncoding) > 0 || a.Draining() {
		header["Connection"] = connectionClose
	}
	if err := a.serve(ctx, x); err != nil {
		a.fail(ctx, x, err)
	}
}

// serve takes a request through the checks in the order of the contract: without
// a token, a caller only learns whether the path exists.
func (a *API) serve(ctx context.Context, x *exchange) error {
	x.path, x.query = splitTarget(x.request)
	// This comes first: a request with thousands of header fields is refused before
	// any work is done.
	if countFields(x.request.Header) > maxHeaderFields {
		return errTooManyFields
	}
	a.holdEarlyRetry(ctx, x)
	// This comes before the route tree, because the console has its own routes and
	// no tokens.
	if a.Console != nil && (x.path == consoleRoot || strings.HasPrefix(x.path, consoleRoot+"/")) {
		return a.console(ctx, x)
	}
	if a.Console != nil && x.path == "/" && wantsPage(x.request) {
		x.route = consoleReads
		http.Redirect(x, x.request, consoleRoot+"/", http.StatusSeeOther)
		return nil
	}
	found := a.tree.find(x.path)
	if len(found.routes) == 0 {
		return errNotFound
	}
	x.params = found.params
	// The path is known at this point, so that the Allow header can list its
	// methods.
	if x.route = routeFor(found.routes, x.request.Method); x.route == nil {
		x.Header().Set("Allow", allowedMethods(found.routes))
		return errMethodNotAllowed
	}
	if found.missingSlash {
		return x.addSlash()
	}
	if err := a.authenticate(ctx, x); err != nil {
		return err
	}
	if x.route.bulk {
		return a.stream(ctx, x)
	}
	if err := a.applyQuota(ctx, x); err != nil {
		return err
	}
	// This comes after the quota: a request with the wrong content type counts, too.
	if x.route.hasBody() && !x.omitsBody() {
		if err := checkMedia(x.request.Header); err != nil {
			return err
		}
	}
	if x.route.verb == nil {
		limited, cancel := context.WithTimeout(ctx, a.RequestTimeout)
		defer cancel()
		return x.route.page(a, limited, x)
	}
	return a.call(ctx, x)
}

// authenticate identifies the caller and checks the role.
func (a *API) authenticate(ctx context.Context, x *exchange) error {
	if x.route.access == publicAccess {
		return nil
	}
	x.authenticated = time.Now()
	who, err := a.Authenticator.Identify(ctx, x.request.Header["Authorization"])
	if err != nil {
		return err
	}
	x.who = who
	// The audit log records the request and its origin with the caller.
	x.who.RequestID, x.who.Source = x.id, a.ClientAddress(x.request).String()
	if x.route.verb == nil {
		return nil // a page that every key may read
	}
	if err := x.route.verb.Authorize(who); err != nil {
		return err
	}
	x.who.Delivery, err = readDelivery(x.request.Header)
	return err
}

// applyQuota enforces the quotas of the caller's organisation.
func (a *API) applyQuota(ctx context.Context, x *exchange) error {
	if a.Quota == nil || x.route.access == publicAccess {
		return nil
	}
	body, err := a.Quota.Admit(ctx, x.who, x.request.ContentLength, x.request.Body)
	if err == nil {
		x.request.Body = body
	}
	return err
}
