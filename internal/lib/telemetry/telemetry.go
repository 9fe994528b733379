// Package telemetry sends traces and metrics to an OpenTelemetry collector. It
// is made only where one is configured; without it nothing here runs.
package telemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	bridge "go.opentelemetry.io/contrib/bridges/prometheus"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"
	spans "go.opentelemetry.io/otel/trace"

	"github.com/prometheus/client_golang/prometheus"
)

// Options say where to send what.
type Options struct {
	Endpoint string // base URL of a collector that takes OTLP over HTTP
	Headers  string // name=value, with commas between them; may hold secrets
	Percent  int    // of requests that are traced
	Every    time.Duration
	Version  string
	Figures  prometheus.Gatherer
	Log      *slog.Logger
}

// Line is the way to a collector.
type Line struct {
	traces  *trace.TracerProvider
	metrics *metric.MeterProvider
	tracer  spans.Tracer
}

// Open begins to send. A collector that is away costs nothing but what could
// not be sent; the log says so now and then.
func Open(ctx context.Context, options Options) (*Line, error) {
	base, err := url.Parse(options.Endpoint)
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" {
		return nil, errors.New("want the address of a collector such as http://127.0.0.1:4318")
	}
	headers, err := readHeaders(options.Headers)
	if err != nil {
		return nil, err
	}
	// The library has one handler for the whole process and would print to standard
	// error otherwise, between the lines of a log that machines read.
	otel.SetErrorHandler(&complainer{log: options.Log})
	at := func(kind string) string { return base.JoinPath("v1", kind).String() }
	spansOut, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(at("traces")), otlptracehttp.WithHeaders(headers))
	if err != nil {
		return nil, err
	}
	figuresOut, err := otlpmetrichttp.New(ctx, otlpmetrichttp.WithEndpointURL(at("metrics")), otlpmetrichttp.WithHeaders(headers))
	if err != nil {
		return nil, err
	}
	about := resource.NewSchemaless(attribute.String("service.name", "landfall"), attribute.String("service.version", options.Version))
	line := &Line{
		// Which request is traced is decided here, by its trace's number: a caller
		// cannot have us send more than the setting says.
		traces: trace.NewTracerProvider(trace.WithBatcher(spansOut), trace.WithResource(about),
			trace.WithSampler(trace.TraceIDRatioBased(float64(options.Percent)/100))),
		metrics: metric.NewMeterProvider(metric.WithResource(about), metric.WithReader(metric.NewPeriodicReader(figuresOut,
			metric.WithInterval(options.Every), metric.WithProducer(bridge.NewMetricProducer(bridge.WithGatherer(options.Figures)))))),
	}
	line.tracer = line.traces.Tracer("landfall")
	return line, nil
}

// Request begins the span of a request, within the caller's trace when it names
// one, and gives what ends it. Spans hold routes, codes and ids, never what was
// asked for or by whom.
func (l *Line) Request(ctx context.Context, r *http.Request, id string) (context.Context, func(method, route string, status int, code string)) {
	ctx = propagation.TraceContext{}.Extract(ctx, propagation.HeaderCarrier(r.Header))
	ctx, span := l.tracer.Start(ctx, "request", spans.WithSpanKind(spans.SpanKindServer)) //nolint:spancheck // the function that is given back ends it
	return ctx, func(method, route string, status int, code string) {                     //nolint:spancheck // likewise
		// Most spans are not recorded: texts that nobody gets are not put together.
		if span.IsRecording() {
			span.SetName(method + " " + route)
			span.SetAttributes(attribute.String("http.request.method", method), attribute.String("http.route", route),
				attribute.Int("http.response.status_code", status), attribute.String("landfall.request_id", id))
			if code != "" {
				span.SetAttributes(attribute.String("landfall.error_code", code))
			}
			if status >= http.StatusInternalServerError {
				span.SetStatus(codes.Error, code)
			}
		}
		span.End()
	}
}

// Close sends what is left, for as long as the context allows.
func (l *Line) Close(ctx context.Context) error {
	return errors.Join(l.traces.Shutdown(ctx), l.metrics.Shutdown(ctx))
}

// readHeaders never repeats a value: it may be a secret.
func readHeaders(text string) (map[string]string, error) {
	headers := map[string]string{}
	for i, pair := range strings.Split(text, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		name, value, ok := strings.Cut(pair, "=")
		if !ok || strings.TrimSpace(name) == "" {
			return nil, fmt.Errorf("header %d of otlp-headers is not written as name=value", i+1)
		}
		headers[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	return headers, nil
}

// complainEvery keeps a collector that is away from filling the log.
const complainEvery = time.Minute

// complainer tells the log that telemetry gets lost.
type complainer struct {
	log  *slog.Logger
	mu   sync.Mutex
	last time.Time
}

// Handle implements otel.ErrorHandler.
func (c *complainer) Handle(err error) {
	c.mu.Lock()
	due := time.Since(c.last) > complainEvery
	if due {
		c.last = time.Now()
	}
	c.mu.Unlock()
	if due {
		c.log.Warn("traces and metrics do not reach their collector", "error", err.Error())
	}
}
