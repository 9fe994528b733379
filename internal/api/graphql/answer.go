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

// Codes in errors[].extensions.code.
const (
	codeBadRequest           = "BAD_REQUEST"
	codeParseFailed          = "GRAPHQL_PARSE_FAILED"
	codeValidationFailed     = "GRAPHQL_VALIDATION_FAILED"
	codeAuthenticationFailed = "AUTHENTICATION_FAILED"
	codeRateLimited          = "RATE_LIMITED"
	codeUnavailable          = "SERVICE_UNAVAILABLE"
	codeInternal             = "INTERNAL_SERVER_ERROR"
)

// requestError is an error before execution.
type requestError struct {
	status  int
	code    string
	message string
}

// badRequest is the error for a request that is not GraphQL.
func badRequest(message string) *requestError {
	return &requestError{http.StatusBadRequest, codeBadRequest, message}
}

// responseError is one entry of the errors of a response.
type responseError struct {
	Message    string               `json:"message"`
	Locations  []gqlerrors.Location `json:"locations,omitempty"`
	Path       []any                `json:"path,omitempty"`
	Extensions map[string]string    `json:"extensions"`
}

// newResponseError sets the code where GraphQL clients expect it.
func newResponseError(code, message string) responseError {
	return responseError{Message: message, Extensions: map[string]string{"code": code}}
}

// response is a GraphQL response.
type response struct {
	status     int
	retryAfter time.Duration
	Errors     []responseError `json:"errors,omitempty"`
	Data       json.RawMessage `json:"data,omitempty"`
}

// response converts the error to a response.
func (p *requestError) response() response {
	return response{status: p.status, Errors: []responseError{newResponseError(p.code, p.message)}}
}

// render converts the library's response. The library's messages repeat parts of
// the document and of variables, which may be a key, so none of them is passed
// on.
func (h *handler) render(document string, from *graphql.Response, modern bool) (answer response, cause error) {
	answer = response{status: http.StatusOK, Data: from.Data}
	for _, found := range from.Errors {
		entry, status := h.describeError(document, found)
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

// errOverQuota matches every quota error by code.
var errOverQuota = &landfall.Error{Code: landfall.CodeQuotaExceeded}

// describeError returns the entry for an error of the library and the HTTP
// status it requires.
func (h *handler) describeError(document string, found *gqlerrors.QueryError) (responseError, int) {
	switch err := found.ResolverError; {
	case errors.Is(err, errInput):
		return newResponseError(codeAuthenticationFailed, "Specify exactly one of apiKey and refreshToken."), http.StatusOK
	case errors.Is(err, errOverQuota):
		known, _ := errors.AsType[*landfall.Error](err)
		return newResponseError(codeRateLimited, known.Detail), http.StatusTooManyRequests
	case errors.Is(err, landfall.ErrDiskFull):
		return newResponseError(codeUnavailable, landfall.UserError("logging in", err).Detail), http.StatusServiceUnavailable
	case err != nil:
		return describeKind(kindOf(err))
	case errors.Is(found, context.Canceled), errors.Is(found, context.DeadlineExceeded):
		return describeKind(landfall.Unavailable)
	case errors.Is(found, gqlerrors.ErrSyntax):
		return newResponseError(codeParseFailed, "Syntax error in the document."), http.StatusOK
	case found.Rule != "":
		message := "The document does not match the schema (" + found.Rule + ")."
		if h.options.Introspection && valueFreeRules[found.Rule] {
			message = maskSecrets(found.Message)
		}
		return newResponseError(codeValidationFailed, message+hint(document)), http.StatusOK
	}
	return newResponseError(codeValidationFailed, "The document cannot be executed."), http.StatusOK
}

// describeKind reveals little on purpose: it does not say which part of a
// credential is wrong.
func describeKind(kind landfall.Kind) (responseError, int) {
	switch kind {
	case landfall.Unauthenticated:
		return newResponseError(codeAuthenticationFailed, "The credentials are not valid."), http.StatusOK
	case landfall.TooMany:
		return newResponseError(codeRateLimited, "Too many failed attempts. Wait before trying again."), http.StatusTooManyRequests
	case landfall.Unavailable:
		return newResponseError(codeUnavailable, "The service is temporarily unavailable. Try again shortly."), http.StatusServiceUnavailable
	}
	return newResponseError(codeInternal, "An internal error occurred."), http.StatusInternalServerError
}

// write sends the response.
func (a response) write(w http.ResponseWriter, mediaType string) {
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
	_, _ = w.Write(body) // the client may have disconnected
}
