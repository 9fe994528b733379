package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"time"
)

// finishRequest records a request after recovering from a panic. It must be
// deferred directly; otherwise recover has no effect.
func (a *API) finishRequest(ctx context.Context, x *exchange) {
	if fault := recover(); fault != nil {
		a.recovered(ctx, x, fault)
	}
	// This comes after the recovery, so that a request that panicked is counted and
	// logged like any other.
	a.Metrics.inFlight.Dec()
	took := time.Since(x.started)
	a.Metrics.observe(x, took)
	a.logAccess(ctx, x, took)
	if x.aborted {
		// The server aborts the connection, so that a client cannot mistake a partial
		// response for a complete one.
		panic(http.ErrAbortHandler)
	}
}

// logAccess logs one line per request, without path and query: they contain
// account numbers.
func (a *API) logAccess(ctx context.Context, x *exchange, took time.Duration) {
	level := slog.LevelInfo
	if x.route != nil && x.route.access == publicAccess && x.route.method == http.MethodGet &&
		(x.status < http.StatusBadRequest || x.status == http.StatusServiceUnavailable) {
		// Health checks and the reference page. One other line says why a server is not ready.
		level = slog.LevelDebug
	}
	if !a.Logger.Enabled(ctx, level) {
		return
	}
	// An array instead of a growing slice, because this runs for every request.
	fields := [16]slog.Attr{
		slog.String("request_id", x.id),
		slog.String("method", x.method()),
		slog.String("route", x.template()),
		slog.Int("status", x.status),
		slog.Int64("bytes", x.bytes),
		slog.Float64("duration_ms", float64(took.Microseconds())/1000),
		slog.String("client", a.ClientAddress(x.request).String()),
	}
	count := 7
	if x.code != "" {
		fields[count] = slog.String("code", x.code)
		count++
	}
	if x.supplier != "" {
		fields[count] = slog.String("supplier", x.supplier)
		count++
	}
	if x.who.KeyID != "" {
		fields[count] = slog.String("key", x.who.KeyID)
		fields[count+1] = slog.String("organisation", x.who.Organisation)
		count += 2
	}
	if x.aborted {
		fields[count] = slog.Bool("aborted", true)
		count++
	}
	if x.stream != nil {
		fields[count] = slog.Int64("lines", x.stream.Lines)
		fields[count+1] = slog.Any("statuses", x.stream.Statuses)
		fields[count+2] = slog.Bool("complete", x.stream.Stopped == nil && !x.stream.Aborted)
		count += 3
	}
	// Omit the source position, which is expensive to determine.
	record := slog.NewRecord(x.started.Add(took), level, "request", 0)
	record.AddAttrs(fields[:count]...)
	_ = a.Logger.Handler().Handle(ctx, record)
}

// template returns the name of the route for logs and metrics, so that they
// contain no personal data and a bounded number of names.
func (x *exchange) template() string {
	if x.route == nil {
		return "unmatched"
	}
	return x.route.path
}

// method returns the request method if the route supports it.
func (x *exchange) method() string {
	if x.route == nil {
		return "other"
	}
	if x.request.Method == http.MethodHead {
		return http.MethodHead
	}
	return x.route.method
}
