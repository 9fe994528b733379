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

// statusClientClosed is what logs and metrics show for a client that did not wait for
// its answer, so that it is not taken for a fault of ours.
const statusClientClosed = 499

// fail answers with an error.
func (a *API) fail(ctx context.Context, x *exchange, err error) {
	buffer := getBuffer()
	defer putBuffer(buffer)
	refusal := answer.ErrorAnswer(err, (*buffer)[:0])
	*buffer = refusal.Body
	a.refuse(ctx, x, refusal)
}

// refuse sends a refusal, and logs those that are faults of ours.
func (a *API) refuse(ctx context.Context, x *exchange, refusal answer.Answer) {
	x.code = refusal.Code
	if refusal.Status >= http.StatusInternalServerError {
		// Only who left is not answered: a limit of ours that ended is told.
		if x.request.Context().Err() != nil {
			x.status, x.aborted = cmp.Or(x.status, statusClientClosed), true
			return
		}
		a.Metrics.faults.WithLabelValues(refusal.Code).Inc()
		if !deliberate(refusal.Cause) {
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
	}
	_ = x.json(refusal.Status, refusal.Body)
	a.drainBody(x)
}

const (
	// serverDrain is how much of a body the server itself reads and drops after an
	// answer that did not wait for it.
	serverDrain = 256 << 10
	// maxAnonymousDrain is how much somebody may send us for nothing whom we do not know.
	maxAnonymousDrain = 1 << 20
	// drainTimeout is how long that may take.
	drainTimeout = 5 * time.Second
)

// drainBody reads the rest of a large body whose refusal is written already, and
// drops it: a connection that is closed with something unread takes its answer
// back, and who was told to come back later would see a broken connection.
func (a *API) drainBody(x *exchange) {
	length := x.request.ContentLength
	if length >= 0 && length <= serverDrain || x.request.Header.Get("Expect") != "" {
		return
	}
	most := a.BodyLimit
	if x.who.KeyID == "" {
		most = min(most, maxAnonymousDrain)
	}
	line := http.NewResponseController(x.ResponseWriter)
	if line.Flush() == nil && line.SetReadDeadline(time.Now().Add(drainTimeout)) == nil {
		_, _ = io.CopyN(io.Discard, x.request.Body, most)
	}
}

// deliberate says whether a failure is one we decided on, such as telling a crowd
// to come back: nothing is broken, and the access log has its code.
func deliberate(err error) bool {
	known, ours := errors.AsType[*landfall.Error](err)
	return ours && known.Kind == landfall.Unavailable && known.Cause == nil
}

// errPanic stands for a fault that has no error.
var errPanic = errors.New("panic")

// recovered keeps a fault of ours inside its own request. The stack is logged
// without the panic's text unless the runtime wrote it, because a text of
// anybody else may hold what was sent.
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
