package httpapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime"
	"runtime/debug"
	"time"

	"landfall"
	"landfall/internal/api/answer"
	"landfall/internal/lib/limits"
)

var (
	errNotFound = &landfall.Error{
		Kind: landfall.NotFound, Code: landfall.CodeNotFound, Detail: "There is nothing at this path.",
	}
	errTooManyFields = &landfall.Error{
		Kind: landfall.TooManyFields, Code: landfall.CodeHeaderTooLarge,
		Detail: "The request has too many header fields.",
	}
	errMethodNotAllowed = &landfall.Error{
		Kind: landfall.MethodNotAllowed, Code: landfall.CodeMethodNotAllowed,
		Detail: "This path does not support this method.",
	}
)

// statusClientClosed is the status in logs and metrics for a client that did not
// wait for the response, so that it does not look like a server error.
const statusClientClosed = 499

// fail responds with an error.
func (a *API) fail(ctx context.Context, x *exchange, err error) {
	buffer := getBuffer()
	defer putBuffer(buffer)
	refusal := answer.ErrorAnswer(err, (*buffer)[:0])
	*buffer = refusal.Body
	a.refuse(ctx, x, refusal)
}

// refuse sends an error response and logs server errors.
func (a *API) refuse(ctx context.Context, x *exchange, refusal answer.Answer) {
	x.code = refusal.Code
	if refusal.Status >= http.StatusInternalServerError {
		// Do not respond if the client is gone. Do respond if a time limit of the
		// server ended the request.
		if x.request.Context().Err() != nil {
			x.status, x.aborted = cmp.Or(x.status, statusClientClosed), true
			return
		}
		a.Metrics.faults.WithLabelValues(refusal.Code).Inc()
		if !isExpected(refusal.Cause) {
			a.Logger.LogAttrs(ctx, slog.LevelError, "request failed",
				slog.String("request_id", x.id), slog.String("route", x.template()),
				slog.String("code", refusal.Code), slog.Any("error", refusal.Cause))
		}
	}
	if x.status != 0 {
		x.aborted = true
		return
	}
	header := x.Header()
	if refusal.Status == http.StatusUnauthorized {
		header["Www-Authenticate"] = tokenChallenge
	}
	if refusal.RetryAfter > 0 {
		header.Set("Retry-After", retryAfter(refusal.RetryAfter))
		noteRetry(ctx, refusal.RetryAfter)
	}
	if !x.bodyBegun && x.request.ContentLength != 0 {
		// net/http waits for a short body before it sends the response. A client that
		// never sends one must not hold the connection for long.
		_ = http.NewResponseController(x.ResponseWriter).SetReadDeadline(time.Now().Add(x.drainTimeout()))
	}
	_ = x.json(refusal.Status, refusal.Body)
	a.drainBody(x)
}

const (
	// serverDrainSize is how much of an unread body net/http itself reads and discards
	// after the response.
	serverDrainSize = 256 << 10
)

// drainTimeout is how long reading the rest of a refused body may take. On a busy
// machine a client may need seconds until it has sent its body and looks for the
// response.
func (x *exchange) drainTimeout() time.Duration {
	if x.who.KeyID == "" {
		return limits.UnreadAnonymousTime
	}
	return limits.UnreadBody
}

// drainBody reads and discards the rest of a large body after the error response
// was written. Closing a connection with unread data resets it, and the client
// would see a broken connection instead of the response.
func (a *API) drainBody(x *exchange) {
	length := x.request.ContentLength
	if length >= 0 && length <= serverDrainSize || x.request.Header.Get("Expect") != "" {
		return
	}
	most := a.BodyLimit
	if x.who.KeyID == "" {
		most = min(most, limits.UnreadAnonymousBody)
	}
	line := http.NewResponseController(x.ResponseWriter)
	if line.Flush() == nil && line.SetReadDeadline(time.Now().Add(x.drainTimeout())) == nil {
		_, _ = io.CopyN(io.Discard, x.request.Body, most)
	}
}

// isExpected reports whether an error is an intended refusal, such as an
// overload response. Nothing is broken, and the access log has its code.
func isExpected(err error) bool {
	known, ours := errors.AsType[*landfall.Error](err)
	return ours && known.Kind == landfall.Unavailable && known.Cause == nil
}

var errPanic = errors.New("panic")

// recovered handles a panic. It logs the stack, but the panic value only if it
// is a runtime error: other values may contain request data.
func (a *API) recovered(ctx context.Context, x *exchange, fault any) {
	if err, is := fault.(error); is && errors.Is(err, http.ErrAbortHandler) {
		x.aborted = true
		return
	}
	what := fmt.Sprintf("%T", fault)
	if known, ok := fault.(runtime.Error); ok {
		what = known.Error()
	}
	a.Metrics.panics.Inc()
	a.Logger.LogAttrs(ctx, slog.LevelError, "panic",
		slog.String("request_id", x.id), slog.String("route", x.template()),
		slog.String("fault", what), slog.String("stack", string(debug.Stack())))
	if x.status != 0 {
		x.aborted = true
		return
	}
	refusal := answer.ErrorAnswer(errPanic, nil)
	_ = x.json(refusal.Status, refusal.Body)
}
