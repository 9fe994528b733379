package httpapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"runtime"
	"runtime/debug"
	"strconv"

	"landfall"
	"landfall/internal/contract"
)

// statuses gives every kind of failure its one status.
var statuses = [...]int{
	landfall.Internal:         http.StatusInternalServerError,
	landfall.Invalid:          http.StatusBadRequest,
	landfall.Unauthenticated:  http.StatusUnauthorized,
	landfall.Forbidden:        http.StatusForbidden,
	landfall.NotFound:         http.StatusNotFound,
	landfall.MethodNotAllowed: http.StatusMethodNotAllowed,
	landfall.TooLarge:         http.StatusRequestEntityTooLarge,
	landfall.UnsupportedMedia: http.StatusUnsupportedMediaType,
	landfall.TooMany:          http.StatusTooManyRequests,
	landfall.Unavailable:      http.StatusServiceUnavailable,
}

var (
	errNoRoute = &landfall.Error{
		Kind: landfall.NotFound, Code: landfall.CodeNotFound, Detail: "There is nothing at this path.",
	}
	errMethod = &landfall.Error{
		Kind: landfall.MethodNotAllowed, Code: landfall.CodeMethodNotAllowed,
		Detail: "This path does not answer to this method.",
	}
	errRole = &landfall.Error{
		Kind: landfall.Forbidden, Code: landfall.CodePermissionDenied,
		Detail: "This API key may read but not write.",
	}
	errInternal = &landfall.Error{
		Kind: landfall.Internal, Code: landfall.CodeInternalError, Detail: "Something went wrong on our side.",
	}
)

// statusLeft is what logs and metrics show for a client that did not wait for
// its answer, so that it is not taken for a fault of ours.
const statusLeft = 499

// fail answers with an error. Whatever is not one of ours becomes a plain
// internal error: its text is for the log alone.
func (a *API) fail(ctx context.Context, x *exchange, err error) {
	shown, ours := errors.AsType[*landfall.Error](err)
	if !ours {
		shown = errInternal
	}
	status := statuses[shown.Kind]
	if status >= http.StatusInternalServerError {
		if ctx.Err() != nil {
			x.status, x.aborted = cmp.Or(x.status, statusLeft), true
			return
		}
		a.metrics.faults.WithLabelValues(shown.Code).Inc()
		a.Logger.LogAttrs(ctx, slog.LevelError, "request failed",
			slog.String("request_id", x.id), slog.String("route", x.template()),
			slog.String("code", shown.Code), slog.Any("error", err))
	}
	if x.status != 0 {
		x.aborted = true
		return
	}
	header := x.Header()
	if shown.Kind == landfall.Unauthenticated {
		header["Www-Authenticate"] = tokenAsked
	}
	if shown.RetryAfter > 0 {
		header.Set("Retry-After", strconv.Itoa(int(math.Ceil(shown.RetryAfter.Seconds()))))
	}
	buffer := borrow()
	defer giveBack(buffer)
	*buffer = contract.AppendError((*buffer)[:0], shown)
	_ = x.json(status, *buffer)
}

// fence keeps a fault of ours inside its own request. The stack is logged
// without the panic's text unless the runtime wrote it, because a text of
// anybody else may hold what was sent.
func (a *API) fence(ctx context.Context, x *exchange, fault any) {
	if err, is := fault.(error); is && errors.Is(err, http.ErrAbortHandler) {
		x.aborted = true
		return
	}
	what := fmt.Sprintf("%T", fault)
	if known, ok := fault.(runtime.Error); ok {
		what = known.Error()
	}
	a.metrics.panics.Inc()
	a.Logger.LogAttrs(ctx, slog.LevelError, "panic",
		slog.String("request_id", x.id), slog.String("route", x.template()),
		slog.String("fault", what), slog.String("stack", string(debug.Stack())))
	if x.status != 0 {
		x.aborted = true
		return
	}
	buffer := contract.AppendError(nil, errInternal)
	_ = x.json(http.StatusInternalServerError, buffer)
}
