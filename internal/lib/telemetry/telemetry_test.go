package telemetry

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// The types below are written from the OTLP specification, independently of those that
// we send: unknown fields and values of a wrong JSON type fail.
type (
	hexID     string // hexadecimal
	integer   int64  // a string in JSON
	float     float64
	otlpValue struct {
		StringValue *string
		BoolValue   *bool
		IntValue    *integer
		DoubleValue *float
	}
	otlpAttr struct {
		Key   string
		Value otlpValue
	}
	otlpScope   struct{ Name, Version string }
	otlpRequest struct {
		ResourceSpans []struct {
			Resource   struct{ Attributes []otlpAttr }
			ScopeSpans []struct {
				Scope otlpScope
				Spans []otlpSpan
			}
		}
		ResourceMetrics []struct {
			Resource     struct{ Attributes []otlpAttr }
			ScopeMetrics []struct {
				Scope   otlpScope
				Metrics []otlpMetric
			}
		}
	}
	otlpSpan struct {
		TraceID, SpanID, ParentSpanID      hexID
		TraceState, Name                   string
		Flags                              uint32
		Kind                               int
		StartTimeUnixNano, EndTimeUnixNano integer
		Attributes                         []otlpAttr
		DroppedAttributesCount             uint32
		Status                             struct {
			Code    int
			Message string
		}
	}
	otlpMetric struct {
		Name, Description, Unit string
		Gauge                   *struct{ DataPoints []otlpPoint }
		Sum                     *struct {
			DataPoints             []otlpPoint
			AggregationTemporality int
			IsMonotonic            bool
		}
		Histogram *struct {
			DataPoints             []otlpHistogram
			AggregationTemporality int
		}
		Summary *struct{ DataPoints []otlpSummary }
	}
	otlpPoint struct {
		Attributes                      []otlpAttr
		StartTimeUnixNano, TimeUnixNano integer
		AsDouble                        float
	}
	otlpHistogram struct {
		Attributes                      []otlpAttr
		StartTimeUnixNano, TimeUnixNano integer
		Count                           integer
		Sum                             float
		BucketCounts                    []integer
		ExplicitBounds                  []float
	}
	otlpSummary struct {
		Attributes                      []otlpAttr
		StartTimeUnixNano, TimeUnixNano integer
		Count                           integer
		Sum                             float
		QuantileValues                  []struct{ Quantile, Value float }
	}
)

var hexDigits = regexp.MustCompile(`^([0-9a-f]{16}|[0-9a-f]{32})$`)

func (i *hexID) UnmarshalJSON(data []byte) error {
	var s string
	if err := json.Unmarshal(data, &s); err != nil || !hexDigits.MatchString(s) {
		return errors.New("an id is hexadecimal, not " + string(data))
	}
	*i = hexID(s)
	return nil
}

func (n *integer) UnmarshalJSON(data []byte) error {
	var s string
	if err := json.Unmarshal(data, &s); err != nil {
		return errors.New("a 64-bit integer is a string, not " + string(data))
	}
	value, err := strconv.ParseInt(s, 10, 64)
	*n = integer(value)
	return err
}

func (f *float) UnmarshalJSON(data []byte) error {
	if string(data) == `"NaN"` {
		*f = float(math.NaN())
		return nil
	}
	return json.Unmarshal(data, (*float64)(f))
}

// collector is an OTLP receiver that parses strictly.
type collector struct {
	*httptest.Server
	mu      sync.Mutex
	spans   []otlpSpan
	metrics map[string]otlpMetric
	service map[string]string
}

func newCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{metrics: map[string]otlpMetric{}, service: map[string]string{}}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" || r.Header.Get("Content-Encoding") != "gzip" || r.Header.Get("X-Key") != "hush" {
			t.Errorf("%s with %v", r.Method, r.Header)
		}
		compressed, err := gzip.NewReader(r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		body, err := io.ReadAll(compressed)
		if err != nil {
			t.Error(err)
		}
		decoder := json.NewDecoder(strings.NewReader(string(body)))
		decoder.DisallowUnknownFields()
		var request otlpRequest
		if err := decoder.Decode(&request); err != nil {
			t.Errorf("%s: %v in %s", r.URL.Path, err, body)
			return
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, resource := range request.ResourceSpans {
			for _, attr := range resource.Resource.Attributes {
				c.service[attr.Key] = *attr.Value.StringValue
			}
			for _, scope := range resource.ScopeSpans {
				c.spans = append(c.spans, scope.Spans...)
			}
		}
		for _, resource := range request.ResourceMetrics {
			for _, scope := range resource.ScopeMetrics {
				for _, one := range scope.Metrics {
					c.metrics[one.Name] = one
				}
			}
		}
		_, _ = io.WriteString(w, "{}")
	}))
	t.Cleanup(c.Close)
	return c
}

func TestCollectorParsesWhatWeSend(t *testing.T) {
	registry := prometheus.NewRegistry()
	counter := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "requests_total", Help: "Requests."}, []string{"code"})
	gauge := prometheus.NewGauge(prometheus.GaugeOpts{Name: "level", Help: "Level."})
	unknown := prometheus.NewGauge(prometheus.GaugeOpts{Name: "unknown", Help: "Unknown."})
	histogram := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "duration_seconds", Help: "Durations.", Buckets: []float64{1, 2}})
	summary := prometheus.NewSummary(prometheus.SummaryOpts{Name: "size", Help: "Sizes.", Objectives: map[float64]float64{0.5: 0.05}})
	registry.MustRegister(counter, gauge, unknown, histogram, summary)
	counter.WithLabelValues("200").Add(3)
	gauge.Set(-1.5)
	unknown.Set(math.NaN())
	histogram.Observe(1.5)
	histogram.Observe(9)
	summary.Observe(7)

	c := newCollector(t)
	telemetry, err := Start(Options{
		Endpoint: c.URL, Headers: "x-key = hush", TracePercent: 100, MetricsInterval: time.Hour, Version: "1.2.3", Instance: "host/abc123", Metrics: registry, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	request := httptest.NewRequest(http.MethodGet, "/", nil)
	request.Header.Set("Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00")
	_, end := telemetry.StartRequest(t.Context(), request, "req-1")
	end("GET", "/things/", 503, "busy")
	if err := telemetry.Close(t.Context()); err != nil {
		t.Fatal(err)
	}

	if c.service["service.name"] != "landfall" || c.service["service.version"] != "1.2.3" || c.service["service.instance.id"] != "host/abc123" {
		t.Errorf("resource %v", c.service)
	}
	if len(c.spans) != 1 {
		t.Fatalf("got %d spans", len(c.spans))
	}
	span := c.spans[0]
	if span.TraceID != "0af7651916cd43dd8448eb211c80319c" || span.ParentSpanID != "b7ad6b7169203331" || span.Name != "GET /things/" || span.Kind != 2 ||
		span.Status.Code != 2 || span.Status.Message != "busy" || span.Flags != 0x301 || span.StartTimeUnixNano <= 0 || span.EndTimeUnixNano < span.StartTimeUnixNano {
		t.Errorf("got %+v", span)
	}
	attributes := map[string]otlpValue{}
	for _, attr := range span.Attributes {
		attributes[attr.Key] = attr.Value
	}
	if status := attributes["http.response.status_code"].IntValue; status == nil || *status != 503 || *attributes["landfall.request_id"].StringValue != "req-1" {
		t.Errorf("attributes %+v", attributes)
	}
	sum := c.metrics["requests_total"].Sum
	if sum == nil || !sum.IsMonotonic || sum.AggregationTemporality != 2 || sum.DataPoints[0].AsDouble != 3 || *sum.DataPoints[0].Attributes[0].Value.StringValue != "200" ||
		sum.DataPoints[0].TimeUnixNano <= 0 || c.metrics["requests_total"].Description != "Requests." {
		t.Errorf("counter %+v", c.metrics["requests_total"])
	}
	if level := c.metrics["level"].Gauge; level == nil || level.DataPoints[0].AsDouble != -1.5 || !math.IsNaN(float64(c.metrics["unknown"].Gauge.DataPoints[0].AsDouble)) {
		t.Errorf("gauges %+v %+v", c.metrics["level"], c.metrics["unknown"])
	}
	durations := c.metrics["duration_seconds"].Histogram
	if durations == nil || durations.AggregationTemporality != 2 || durations.DataPoints[0].Count != 2 || durations.DataPoints[0].Sum != 10.5 ||
		len(durations.DataPoints[0].ExplicitBounds) != 2 || len(durations.DataPoints[0].BucketCounts) != 3 || durations.DataPoints[0].BucketCounts[1] != 1 {
		t.Errorf("histogram %+v", durations)
	}
	if sizes := c.metrics["size"].Summary; sizes == nil || sizes.DataPoints[0].Count != 1 || sizes.DataPoints[0].QuantileValues[0].Value != 7 {
		t.Errorf("summary %+v", sizes)
	}
}

// replies is a transport that gives one reply after the other.
type replies struct {
	list  []func() (*http.Response, error)
	calls int
}

func (r *replies) RoundTrip(request *http.Request) (*http.Response, error) {
	_, _ = io.Copy(io.Discard, request.Body)
	next := r.list[min(r.calls, len(r.list)-1)]
	r.calls++
	return next()
}

func reply(status int, body string, header ...string) func() (*http.Response, error) {
	return func() (*http.Response, error) {
		response := &http.Response{StatusCode: status, Status: strconv.Itoa(status), Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
		if len(header) > 0 {
			response.Header.Set("Retry-After", header[0])
		}
		return response, nil
	}
}

func TestRetries(t *testing.T) {
	type list = []func() (*http.Response, error)
	for name, c := range map[string]struct {
		replies  list
		calls    int
		err      string
		min, max time.Duration
	}{
		"accepted":             {list{reply(200, "{}")}, 1, "", 0, 0},
		"protobuf reply":       {list{reply(200, "\x0a\x00")}, 1, "", 0, 0},
		"429 once":             {list{reply(429, ""), reply(200, "")}, 2, "", 2 * time.Second, 8 * time.Second},
		"Retry-After":          {list{reply(503, "", "20"), reply(200, "")}, 2, "", 20 * time.Second, 20 * time.Second},
		"Retry-After too long": {list{reply(503, "", "3600")}, 1, "replied 503", 0, 0},
		"502 and 504":          {list{reply(502, ""), reply(504, ""), reply(200, "")}, 3, "", 7 * time.Second, 23 * time.Second},
		"503 always":           {list{reply(503, "")}, 0, "replied 503", 10 * time.Second, time.Minute},
		"400":                  {list{reply(400, "")}, 1, "replied 400", 0, 0},
		"500":                  {list{reply(500, "")}, 1, "replied 500", 0, 0},
		"no connection":        {list{func() (*http.Response, error) { return nil, errors.New("connection refused") }}, 1, "connection refused", 0, 0},
		"partial success":      {list{reply(200, `{"partialSuccess":{"rejectedSpans":"3","errorMessage":"too old"}}`)}, 1, "too old", 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				transport := &replies{list: c.replies}
				client := newClient(nil)
				client.http.Transport = transport
				began := time.Now()
				err := client.post(t.Context(), "http://collector.example/v1/traces", struct{}{})
				if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
					t.Errorf("got %v, want %q", err, c.err)
				}
				if took := time.Since(began); took < c.min || took > c.max {
					t.Errorf("it took %s", took)
				}
				if c.calls > 0 && transport.calls != c.calls || transport.calls > 12 {
					t.Errorf("%d requests", transport.calls)
				}
			})
		})
	}
}

func TestInvalidOptions(t *testing.T) {
	for _, options := range []Options{{Endpoint: ""}, {Endpoint: "127.0.0.1:4318"}, {Endpoint: "ftp://collector"}, {Endpoint: "http://collector", Headers: "a=b,SECRET"}} {
		if _, err := Start(options); err == nil || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%+v: %v", options, err)
		}
	}
}
