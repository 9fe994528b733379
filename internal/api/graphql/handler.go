package graphql

import (
	"context"
	"log/slog"
	"net"
	"net/http"

	graphql "github.com/graph-gophers/graphql-go"
)

// Options configures the handler; zero values mean the defaults.
type Options struct {
	// Introspection allows clients to read the schema and to see hints in errors.
	Introspection bool
	// Source returns where a request came from, to count failed attempts. The
	// default is the address of the peer: headers can be forged.
	Source func(*http.Request) string
	// Log receives server errors; the default is slog.Default.
	Log *slog.Logger
}

// handler serves GraphQL over HTTP.
type handler struct {
	schema  *graphql.Schema
	options Options
	limits  documentLimits
}

// New returns the handler of the token mutation. It ignores the path.
func New(issuer Issuer, options Options) http.Handler {
	if options.Source == nil {
		options.Source = peer
	}
	if options.Log == nil {
		options.Log = slog.Default()
	}
	limit := defaultLimits
	if options.Introspection {
		limit = introspectionLimits
	}
	schema := graphql.MustParseSchema(schemaText, &root{issuer},
		graphql.UseStringDescriptions(),
		graphql.RestrictIntrospection(func(context.Context) bool { return options.Introspection }),
		graphql.MaxQueryLength(limit.length),
		graphql.MaxDepth(limit.depth),
		graphql.MaxParallelism(1),
		graphql.OverlapValidationLimit(limit.tokens),
		graphql.Logger(panicHandler{}),
		graphql.PanicHandler(panicHandler{}),
	)
	return &handler{schema: schema, options: options, limits: limit}
}

// peer returns the address of the peer.
func peer(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// ServeHTTP serves one request.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	mediaType := negotiate(r.Header)
	if mediaType == "" {
		problem := requestError{http.StatusNotAcceptable, codeBadRequest,
			"Accept " + responseType + " or " + jsonType + "."}
		problem.response().write(w, jsonType)
		return
	}
	h.answer(w, r, mediaType).write(w, mediaType)
}

// answer reads, checks, executes and renders a request.
func (h *handler) answer(w http.ResponseWriter, r *http.Request, mediaType string) response {
	var asked request
	var refusal *requestError
	switch r.Method {
	case http.MethodPost:
		asked, refusal = readPost(r)
	case http.MethodGet:
		asked, refusal = readGet(r)
	default:
		w.Header().Set("Allow", "GET, POST")
		refusal = &requestError{http.StatusMethodNotAllowed, codeBadRequest, "Use POST."}
	}
	if refusal != nil {
		return refusal.response()
	}
	found, broken := scanDocument(asked.document, h.limits)
	switch kind := found.operationKind(asked.operation); {
	case found.introspects && !h.options.Introspection:
		refusal = &requestError{http.StatusOK, codeValidationFailed, introspectionOff}
		if mediaType == responseType {
			refusal.status = http.StatusBadRequest
		}
	case broken != "":
		refusal = badRequest(broken)
	case found.leadingString && r.Method == http.MethodGet:
		refusal = badRequest("A GET request must start with an operation, not with a string.")
	case kind == "mutation" && r.Method == http.MethodGet:
		w.Header().Set("Allow", "POST")
		refusal = &requestError{http.StatusMethodNotAllowed, codeBadRequest, "Mutations require POST."}
	case kind == "subscription":
		refusal = badRequest("Subscriptions are not supported.")
	case found.tokenFields > 1:
		refusal = badRequest("A request can obtain only one token. Use the mutation once.")
	}
	if refusal != nil {
		return refusal.response()
	}
	// A GET request must not obtain a token, even if scanDocument was deceived: it
	// counts as having requested one already.
	visit := &requestState{source: h.options.Source(r)}
	visit.tokenRequested.Store(r.Method == http.MethodGet)
	answer, cause := h.render(asked.document, h.execute(context.WithValue(r.Context(), requestStateKey{}, visit), asked), mediaType == responseType)
	if cause != nil {
		h.options.Log.ErrorContext(r.Context(), "cannot issue service token", "error", cause)
	}
	return answer
}

// execute runs a document. The library panics on some malformed literals; such a
// document is refused like other invalid ones.
func (h *handler) execute(ctx context.Context, asked request) (result *graphql.Response) {
	defer func() {
		if recover() != nil {
			result = &graphql.Response{Errors: unparsable()}
		}
	}()
	return h.schema.Exec(ctx, asked.document, asked.operation, asked.variables)
}
