package telemetry

import (
	"context"
	"fmt"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// metricExporter implements metric.Exporter.
type metricExporter struct {
	client *exportClient
	url    string
}

// Temporality implements metric.Exporter.
func (e *metricExporter) Temporality(kind metric.InstrumentKind) metricdata.Temporality {
	return metric.DefaultTemporalitySelector(kind)
}

// Aggregation implements metric.Exporter.
func (e *metricExporter) Aggregation(kind metric.InstrumentKind) metric.Aggregation {
	return metric.DefaultAggregationSelector(kind)
}

// Export implements metric.Exporter.
func (e *metricExporter) Export(ctx context.Context, data *metricdata.ResourceMetrics) error {
	payload, err := metricRequest(data)
	if err != nil {
		return err
	}
	return e.client.post(ctx, e.url, payload)
}

// ForceFlush implements metric.Exporter. Export keeps nothing back.
func (e *metricExporter) ForceFlush(ctx context.Context) error { return ctx.Err() }

// Shutdown implements metric.Exporter.
func (e *metricExporter) Shutdown(context.Context) error {
	e.client.close()
	return nil
}

// The messages of opentelemetry/proto/metrics/v1, as far as the bridge from Prometheus
// uses them.
type (
	metricPayload struct {
		ResourceMetrics []resourceMetrics `json:"resourceMetrics"`
	}
	resourceMetrics struct {
		Resource     resourceJSON   `json:"resource"`
		ScopeMetrics []scopeMetrics `json:"scopeMetrics"`
	}
	scopeMetrics struct {
		Scope   scopeJSON    `json:"scope"`
		Metrics []metricJSON `json:"metrics"`
	}
	metricJSON struct {
		Name        string      `json:"name"`
		Description string      `json:"description,omitempty"`
		Unit        string      `json:"unit,omitempty"`
		Gauge       *pointsJSON `json:"gauge,omitempty"`
		Sum         *pointsJSON `json:"sum,omitempty"`
		Histogram   *pointsJSON `json:"histogram,omitempty"`
		Summary     *pointsJSON `json:"summary,omitempty"`
	}
	pointsJSON struct {
		DataPoints  []pointJSON `json:"dataPoints"`
		Temporality int         `json:"aggregationTemporality,omitempty"`
		Monotonic   bool        `json:"isMonotonic,omitempty"`
	}
	pointJSON struct {
		Attributes []keyValue     `json:"attributes,omitempty"`
		Start      nanoseconds    `json:"startTimeUnixNano"`
		Time       nanoseconds    `json:"timeUnixNano"`
		Value      *double        `json:"asDouble,omitempty"`
		Count      *unsigned      `json:"count,omitempty"`
		Sum        *double        `json:"sum,omitempty"`
		Buckets    []unsigned     `json:"bucketCounts,omitempty"`
		Bounds     []double       `json:"explicitBounds,omitempty"`
		Quantiles  []quantileJSON `json:"quantileValues,omitempty"`
	}
	quantileJSON struct {
		Quantile double `json:"quantile"`
		Value    double `json:"value"`
	}
)

func metricRequest(data *metricdata.ResourceMetrics) (metricPayload, error) {
	scopes := make([]scopeMetrics, len(data.ScopeMetrics))
	for i, scope := range data.ScopeMetrics {
		scopes[i].Scope = scopeOf(scope.Scope)
		scopes[i].Metrics = make([]metricJSON, len(scope.Metrics))
		for j, source := range scope.Metrics {
			converted, err := metricOf(source)
			if err != nil {
				return metricPayload{}, err
			}
			scopes[i].Metrics[j] = converted
		}
	}
	return metricPayload{ResourceMetrics: []resourceMetrics{{Resource: resourceOf(data.Resource), ScopeMetrics: scopes}}}, nil
}

func metricOf(source metricdata.Metrics) (metricJSON, error) {
	converted := metricJSON{Name: source.Name, Description: source.Description, Unit: source.Unit}
	switch data := source.Data.(type) {
	case metricdata.Gauge[float64]:
		converted.Gauge = &pointsJSON{DataPoints: valuePoints(data.DataPoints)}
	case metricdata.Sum[float64]:
		converted.Sum = &pointsJSON{DataPoints: valuePoints(data.DataPoints), Temporality: temporality(data.Temporality), Monotonic: data.IsMonotonic}
	case metricdata.Histogram[float64]:
		converted.Histogram = &pointsJSON{DataPoints: histogramPoints(data.DataPoints), Temporality: temporality(data.Temporality)}
	case metricdata.Summary:
		converted.Summary = &pointsJSON{DataPoints: summaryPoints(data.DataPoints)}
	default:
		return metricJSON{}, fmt.Errorf("metric %s: unsupported type %T", source.Name, source.Data)
	}
	return converted, nil
}

// temporality converts a temporality, which OTLP numbers differently.
func temporality(t metricdata.Temporality) int {
	if t == metricdata.DeltaTemporality {
		return 1
	}
	return 2
}

func valuePoints(points []metricdata.DataPoint[float64]) []pointJSON {
	converted := make([]pointJSON, len(points))
	for i, point := range points {
		value := double(point.Value)
		converted[i] = pointJSON{Attributes: attributesIn(point.Attributes), Start: nanoseconds(point.StartTime), Time: nanoseconds(point.Time), Value: &value}
	}
	return converted
}

func histogramPoints(points []metricdata.HistogramDataPoint[float64]) []pointJSON {
	converted := make([]pointJSON, len(points))
	for i, point := range points {
		count, sum := unsigned(point.Count), double(point.Sum)
		converted[i] = pointJSON{
			Attributes: attributesIn(point.Attributes), Start: nanoseconds(point.StartTime), Time: nanoseconds(point.Time), Count: &count, Sum: &sum,
		}
		for _, bucket := range point.BucketCounts {
			converted[i].Buckets = append(converted[i].Buckets, unsigned(bucket))
		}
		for _, bound := range point.Bounds {
			converted[i].Bounds = append(converted[i].Bounds, double(bound))
		}
	}
	return converted
}

func summaryPoints(points []metricdata.SummaryDataPoint) []pointJSON {
	converted := make([]pointJSON, len(points))
	for i, point := range points {
		count, sum := unsigned(point.Count), double(point.Sum)
		converted[i] = pointJSON{
			Attributes: attributesIn(point.Attributes), Start: nanoseconds(point.StartTime), Time: nanoseconds(point.Time), Count: &count, Sum: &sum,
		}
		for _, quantile := range point.QuantileValues {
			converted[i].Quantiles = append(converted[i].Quantiles, quantileJSON{double(quantile.Quantile), double(quantile.Value)})
		}
	}
	return converted
}

func attributesIn(set attribute.Set) []keyValue { return attributesOf(set.ToSlice()) }
