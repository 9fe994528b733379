// Package telemetry sends traces and metrics to an OpenTelemetry collector. It is
// used only when one is configured.
package telemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	bridge "go.opentelemetry.io/contrib/bridges/prometheus"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/prometheus/client_golang/prometheus"
)

// Options configures what is sent where.
type Options struct {
	Endpoint        string // base URL of a collector that accepts OTLP over HTTP
	Headers         string // name=value, separated by commas; may contain secrets
	TracePercent    int    // of requests
	MetricsInterval time.Duration
	Version         string // of this program
	Instance        string // name of this process among others of the same service
	Metrics         prometheus.Gatherer
	Log             *slog.Logger
}

// Telemetry sends traces and metrics.
type Telemetry struct {
	traces  *sdktrace.TracerProvider
	metrics *metric.MeterProvider
	tracer  trace.Tracer
}

// Start starts sending. When the collector is unavailable, data is dropped and a
// warning is logged at most once a minute.
func Start(options Options) (*Telemetry, error) {
	base, err := url.Parse(options.Endpoint)
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" {
		return nil, errors.New("want the URL of a collector such as http://127.0.0.1:4318")
	}
	headers, err := parseHeaders(options.Headers)
	if err != nil {
		return nil, err
	}
	// The library has one error handler per process. The default one writes to standard
	// error, which would break up the JSON log.
	otel.SetErrorHandler(errorLogger{options.Log})
	client := newClient(headers)
	about := resource.NewSchemaless(attribute.String("service.name", "landfall"), attribute.String("service.version", options.Version), attribute.String("service.instance.id", options.Instance))
	spans := &traceExporter{client: client, url: base.JoinPath("v1", "traces").String()}
	metrics := &metricExporter{client: client, url: base.JoinPath("v1", "metrics").String()}
	t := &Telemetry{
		// We decide which requests are traced, by their trace ID, so that a caller cannot
		// make us send more than the setting allows.
		traces: sdktrace.NewTracerProvider(sdktrace.WithBatcher(spans), sdktrace.WithResource(about),
			sdktrace.WithSampler(sdktrace.TraceIDRatioBased(float64(options.TracePercent)/100))),
		metrics: metric.NewMeterProvider(metric.WithResource(about), metric.WithReader(metric.NewPeriodicReader(metrics,
			metric.WithInterval(options.MetricsInterval), metric.WithProducer(bridge.NewMetricProducer(bridge.WithGatherer(options.Metrics)))))),
	}
	t.tracer = t.traces.Tracer("landfall")
	return t, nil
}

// StartRequest starts the span of a request, within the caller's trace if the request
// names one. The returned function ends it. Spans contain routes, codes and ids, never
// payloads or the caller's identity.
func (t *Telemetry) StartRequest(ctx context.Context, r *http.Request, id string) (context.Context, func(method, route string, status int, code string)) {
	ctx = propagation.TraceContext{}.Extract(ctx, propagation.HeaderCarrier(r.Header))
	ctx, span := t.tracer.Start(ctx, "request", trace.WithSpanKind(trace.SpanKindServer)) //nolint:spancheck // the returned function ends it
	return ctx, func(method, route string, status int, code string) {                     //nolint:spancheck // likewise
		if span.IsRecording() { // most requests are not traced
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

// Close sends the remaining data, for as long as the context allows.
func (t *Telemetry) Close(ctx context.Context) error {
	return errors.Join(t.traces.Shutdown(ctx), t.metrics.Shutdown(ctx))
}

// parseHeaders never repeats a value in an error: it may be a secret.
func parseHeaders(list string) (map[string]string, error) {
	headers := map[string]string{}
	for i, pair := range strings.Split(list, ",") {
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

// errorLogger logs export errors.
type errorLogger struct{ log *slog.Logger }

// Handle implements otel.ErrorHandler.
func (l errorLogger) Handle(err error) {
	l.log.Warn("cannot send traces and metrics to the collector", "error", err.Error())
}
