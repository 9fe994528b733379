package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"time"
)

// finishRequest writes down what became of a request, after putting out a panic. It
// must be deferred directly, or there is nothing to recover.
func (a *API) finishRequest(ctx context.Context, x *exchange) {
	if fault := recover(); fault != nil {
		a.recovered(ctx, x, fault)
	}
	// After the panic is put out, so that a request which failed that way is counted and logged
	// like any other.
	a.Metrics.inFlight.Dec()
	took := time.Since(x.started)
	a.Metrics.observe(x, took)
	a.logAccess(ctx, x, took)
	if x.aborted {
		// The server cuts the connection, so that a client cannot take half an
		// answer for a whole one.
		panic(http.ErrAbortHandler)
	}
}

// logAccess writes one line per request. Neither path nor query is in it: they
// carry account numbers.
func (a *API) logAccess(ctx context.Context, x *exchange, took time.Duration) {
	level := slog.LevelInfo
	if x.route != nil && x.route.access == publicAccess && x.route.method == http.MethodGet && x.status < http.StatusBadRequest {
		level = slog.LevelDebug // health checks and the reference page
	}
	if !a.Logger.Enabled(ctx, level) {
		return
	}
	// An array of all there can be, and no slice that grows: this is done for every request.
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
	// Nobody needs to know where in the program that was, which costs to find out.
	record := slog.NewRecord(x.started.Add(took), level, "request", 0)
	record.AddAttrs(fields[:count]...)
	_ = a.Logger.Handler().Handle(ctx, record)
}

// template names the route for logs and metrics, so that neither personal data
// nor an unbounded number of names gets into them.
func (x *exchange) template() string {
	if x.route == nil {
		return "unmatched"
	}
	return x.route.path
}

// method names the method, when it is one that the route knows.
func (x *exchange) method() string {
	if x.route == nil {
		return "other"
	}
	if x.request.Method == http.MethodHead {
		return http.MethodHead
	}
	return x.route.method
}
