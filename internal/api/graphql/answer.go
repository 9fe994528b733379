package graphql

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	graphql "github.com/graph-gophers/graphql-go"
	gqlerrors "github.com/graph-gophers/graphql-go/errors"

	"landfall"
)

// The codes in errors[].extensions.code.
const (
	codeBadRequest           = "BAD_REQUEST"
	codeParseFailed          = "GRAPHQL_PARSE_FAILED"
	codeValidationFailed     = "GRAPHQL_VALIDATION_FAILED"
	codeAuthenticationFailed = "AUTHENTICATION_FAILED"
	codeRateLimited          = "RATE_LIMITED"
	codeUnavailable          = "SERVICE_UNAVAILABLE"
	codeInternal             = "INTERNAL_SERVER_ERROR"
)

// problem is a refusal before anything was executed.
type problem struct {
	status  int
	code    string
	message string
}

// badRequest is for what is no GraphQL at all. A mistake in GraphQL itself is told
// in the words of GraphQL.
func badRequest(message string) *problem {
	return &problem{http.StatusBadRequest, codeBadRequest, message}
}

// fault is one entry of an answer's errors, in GraphQL's form.
type fault struct {
	Message    string               `json:"message"`
	Locations  []gqlerrors.Location `json:"locations,omitempty"`
	Path       []any                `json:"path,omitempty"`
	Extensions map[string]string    `json:"extensions"`
}

// newFault puts the code where GraphQL clients look for it.
func newFault(code, message string) fault {
	return fault{Message: message, Extensions: map[string]string{"code": code}}
}

// reply is a whole answer.
type reply struct {
	status     int
	retryAfter time.Duration
	Errors     []fault         `json:"errors,omitempty"`
	Data       json.RawMessage `json:"data,omitempty"`
}

// reply makes a problem an answer.
func (p *problem) reply() reply {
	return reply{status: p.status, Errors: []fault{newFault(p.code, p.message)}}
}

// render turns the library's response into an answer. The library's messages
// repeat parts of the document and values of variables, which may be a key:
// none of them is passed on.
func (h *handler) render(response *graphql.Response, modern bool) (answer reply, cause error) {
	answer = reply{status: http.StatusOK, Data: response.Data}
	for _, found := range response.Errors {
		entry, status := h.explain(found)
		entry.Locations, entry.Path = found.Locations, found.Path
		answer.Errors = append(answer.Errors, entry)
		answer.status = max(answer.status, status)
		if known, ok := errors.AsType[*landfall.Error](found.ResolverError); ok {
			answer.retryAfter = max(answer.retryAfter, known.RetryAfter)
		}
		if found.ResolverError == nil {
			answer.Data = nil // nothing was resolved: the request itself is wrong
		} else if status >= http.StatusInternalServerError {
			cause = found.ResolverError
		}
	}
	if answer.status != http.StatusOK {
		answer.Data = nil // a status other than 2xx must not come with data
	} else if answer.Data == nil && modern {
		answer.status = http.StatusBadRequest
	}
	return answer, cause
}

// errOverQuota compares by code with every refusal of a quota.
var errOverQuota = &landfall.Error{Code: landfall.CodeQuotaExceeded}

// explain gives the entry for an error of the library, and the status it asks
// for by itself.
func (h *handler) explain(found *gqlerrors.QueryError) (fault, int) {
	switch err := found.ResolverError; {
	case errors.Is(err, errInput):
		return newFault(codeAuthenticationFailed, "Give exactly one of apiKey and refreshToken."), http.StatusOK
	case errors.Is(err, errOverQuota):
		known, _ := errors.AsType[*landfall.Error](err)
		return newFault(codeRateLimited, known.Detail), http.StatusTooManyRequests
	case err != nil:
		return explainKind(kindOf(err))
	case errors.Is(found, context.Canceled), errors.Is(found, context.DeadlineExceeded):
		return explainKind(landfall.Unavailable)
	case errors.Is(found, gqlerrors.ErrSyntax):
		return newFault(codeParseFailed, "The document has a syntax error here."), http.StatusOK
	case found.Rule != "":
		message := "The document does not fit the schema (" + found.Rule + ")."
		if h.options.Introspection && teachable[found.Rule] {
			message = scrub(found.Message)
		}
		return newFault(codeValidationFailed, message), http.StatusOK
	}
	return newFault(codeValidationFailed, "The document cannot be executed."), http.StatusOK
}

// explainKind says little on purpose: which part of a credential was wrong is
// nobody's business who has none.
func explainKind(kind landfall.Kind) (fault, int) {
	switch kind {
	case landfall.Unauthenticated:
		return newFault(codeAuthenticationFailed, "The credentials are not valid."), http.StatusOK
	case landfall.TooMany:
		return newFault(codeRateLimited, "Too many failed attempts. Wait before trying again."), http.StatusTooManyRequests
	case landfall.Unavailable:
		return newFault(codeUnavailable, "The service is temporarily unavailable. Try again shortly."), http.StatusServiceUnavailable
	}
	return newFault(codeInternal, "An internal error occurred."), http.StatusInternalServerError
}

// write sends an answer.
func (a reply) write(w http.ResponseWriter, mediaType string) {
	header := w.Header()
	header.Set("Content-Type", mediaType+"; charset=utf-8")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	if a.retryAfter > 0 {
		header.Set("Retry-After", strconv.Itoa(int(math.Ceil(a.retryAfter.Seconds()))))
	}
	body, err := json.Marshal(a)
	if err != nil { // cannot happen: the data is the library's own JSON
		a.status, body = http.StatusInternalServerError, []byte(`{"errors":[{"message":"An internal error occurred."}]}`)
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(body) // a client that left is nobody to tell
}
