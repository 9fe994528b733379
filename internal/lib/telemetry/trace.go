package telemetry

import (
	"context"

	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// traceExporter implements sdktrace.SpanExporter.
type traceExporter struct {
	client *exportClient
	url    string
}

// ExportSpans implements sdktrace.SpanExporter.
func (e *traceExporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if len(spans) == 0 {
		return nil
	}
	return e.client.post(ctx, e.url, traceRequest(spans))
}

// Shutdown implements sdktrace.SpanExporter.
func (e *traceExporter) Shutdown(context.Context) error {
	e.client.close()
	return nil
}

// The messages of opentelemetry/proto/trace/v1. Landfall's spans have neither events
// nor links.
type (
	tracePayload struct {
		ResourceSpans []resourceSpans `json:"resourceSpans"`
	}
	resourceSpans struct {
		Resource   resourceJSON `json:"resource"`
		ScopeSpans []scopeSpans `json:"scopeSpans"`
	}
	scopeSpans struct {
		Scope scopeJSON  `json:"scope"`
		Spans []spanJSON `json:"spans"`
	}
	spanJSON struct {
		TraceID      string      `json:"traceId"`
		SpanID       string      `json:"spanId"`
		TraceState   string      `json:"traceState,omitempty"`
		ParentSpanID string      `json:"parentSpanId,omitempty"`
		Flags        uint32      `json:"flags"`
		Name         string      `json:"name"`
		Kind         int         `json:"kind"`
		Start        nanoseconds `json:"startTimeUnixNano"`
		End          nanoseconds `json:"endTimeUnixNano"`
		Attributes   []keyValue  `json:"attributes,omitempty"`
		Dropped      int         `json:"droppedAttributesCount,omitempty"`
		Status       statusJSON  `json:"status"`
	}
	statusJSON struct {
		Code    int    `json:"code,omitempty"`
		Message string `json:"message,omitempty"`
	}
)

// traceRequest converts spans. All of them come from one provider and one tracer, so
// they share a resource and a scope.
func traceRequest(spans []sdktrace.ReadOnlySpan) tracePayload {
	converted := make([]spanJSON, len(spans))
	for i, span := range spans {
		converted[i] = spanOf(span)
	}
	return tracePayload{ResourceSpans: []resourceSpans{{
		Resource:   resourceOf(spans[0].Resource()),
		ScopeSpans: []scopeSpans{{Scope: scopeOf(spans[0].InstrumentationScope()), Spans: converted}},
	}}}
}

// Bits of a span's flags that say whether the parent is in another process.
const (
	flagParentKnown  = 0x100
	flagParentRemote = 0x200
)

func spanOf(span sdktrace.ReadOnlySpan) spanJSON {
	own, parent := span.SpanContext(), span.Parent()
	converted := spanJSON{
		TraceID: own.TraceID().String(), SpanID: own.SpanID().String(), TraceState: own.TraceState().String(),
		Flags: uint32(own.TraceFlags()) | flagParentKnown, Name: span.Name(), Kind: int(span.SpanKind()),
		Start: nanoseconds(span.StartTime()), End: nanoseconds(span.EndTime()),
		Attributes: attributesOf(span.Attributes()), Dropped: span.DroppedAttributes(),
		Status: statusJSON{Code: statusCode(span.Status().Code), Message: span.Status().Description},
	}
	if parent.SpanID().IsValid() {
		converted.ParentSpanID = parent.SpanID().String()
	}
	if parent.IsRemote() {
		converted.Flags |= flagParentRemote
	}
	return converted
}

// statusCode converts a status. OTLP numbers Ok and Error the other way round.
func statusCode(code codes.Code) int {
	switch code {
	case codes.Ok:
		return 1
	case codes.Error:
		return 2
	}
	return 0
}
