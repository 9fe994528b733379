package httpapi

import (
	"net/http"
	"net/http/pprof"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"landfall"
	"landfall/internal/api/answer"
)

// Metrics holds the Prometheus metrics of the program.
type Metrics struct {
	registry  *prometheus.Registry
	requests  *prometheus.CounterVec
	durations *prometheus.HistogramVec
	inFlight  prometheus.Gauge
	faults    *prometheus.CounterVec
	panics    prometheus.Counter
	stagings  *prometheus.CounterVec
	attempts  *prometheus.CounterVec
	created   prometheus.Counter
	refusals  *prometheus.CounterVec
	postings  *prometheus.CounterVec
	quotas    *prometheus.CounterVec
	mu        sync.Mutex
	over      map[string]bool // organisations that were over a quota
	streams   prometheus.Gauge
	lines     *prometheus.CounterVec
	stopped   *prometheus.CounterVec
	vendors   *prometheus.HistogramVec
	asked     map[string]bool // vendors that are named
	listed    []Metric
}

// NewMetrics registers the metrics of a version of the program, and those of
// other packages.
func NewMetrics(version string, readings ...FuncMetric) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry(), over: map[string]bool{}, asked: map[string]bool{}}
	m.requests = m.counters("landfall_http_requests_total", "HTTP requests.", "method", "route", "status")
	m.durations = m.histograms("landfall_http_request_duration_seconds", "Time from the request header to the end of the response.",
		[]float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}, "method", "route")
	m.inFlight = m.gauge("landfall_http_requests_in_flight", "HTTP requests in progress.")
	m.faults = m.counters("landfall_errors_total", "Requests that failed on the server side, by code.", "code")
	m.panics = m.counter("landfall_panics_total", "Recovered panics; should stay 0.")
	m.stagings = m.counters("landfall_stagings_total", "Staging requests, by result.", "result")
	m.attempts = m.counters("landfall_account_attempts_total",
		"Attempts to create an account, by outcome: created, dry_run_passed or the error code.", "outcome")
	m.created = m.counter("landfall_accounts_created_total", "Accounts that this replica created, by requests and by runs. Dry runs do not count.")
	m.refusals = m.counters("landfall_account_attempts_failed_total",
		"Failed attempts to create an account, by code. Successful dry runs are not included.", "code")
	m.postings = m.counters("landfall_postings_total",
		"Requests to add something to an account, by kind and result.", "kind", "result")
	m.quotas = m.counters("landfall_quota_refused_total",
		"Requests refused because of a quota, by organisation and quota. Only the first 500 organisations are named.", "organisation", "quota")
	m.streams = m.gauge("landfall_bulk_requests_in_flight", "Bulk requests in progress.")
	m.lines = m.counters("landfall_bulk_lines_total", "Lines of bulk requests, by kind and status.", "kind", "status")
	m.stopped = m.counters("landfall_bulk_stopped_total",
		"Bulk requests that stopped before their last line, by code.", "code")
	m.vendors = m.histograms("landfall_vendor_request_duration_seconds",
		"Duration of payment vendor requests, by vendor and outcome. Only the first 100 vendors are named.",
		[]float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}, "vendor", "outcome")
	m.list("gauge", "landfall_build_info", "The running version; always 1.", "version", "go")
	build := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "landfall_build_info", Help: "The running version; always 1.",
	}, []string{"version", "go"})
	build.WithLabelValues(version, runtime.Version()).Set(1)
	// The Go and process collectors are documented elsewhere.
	m.registry.MustRegister(build, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	for _, reading := range readings {
		m.addFunc(reading)
	}
	m.initLabels()
	return m
}

// initLabels creates counters with known labels at 0: a rate over a counter that
// appears with its first event misses that event.
func (m *Metrics) initLabels() {
	for _, code := range []string{landfall.CodeInternalError, landfall.CodeServiceUnavailable} {
		m.faults.WithLabelValues(code)
	}
	for _, result := range []string{answer.Created, answer.Updated, landfall.CodeAccountFailedValidation} {
		m.stagings.WithLabelValues(result)
	}
	for _, outcome := range []string{answer.Created, answer.DryRunPassed} {
		m.attempts.WithLabelValues(outcome)
	}
	for _, code := range []string{
		landfall.CodeInternalError, landfall.CodeServiceUnavailable, landfall.CodeVendorUnavailable,
		landfall.CodeConcurrencyLimit, landfall.CodeAccountFailedValidation,
	} {
		m.attempts.WithLabelValues(code)
		m.refusals.WithLabelValues(code)
	}
	for _, kind := range postingKinds {
		m.postings.WithLabelValues(kind, answer.Accepted)
		m.postings.WithLabelValues(kind, landfall.CodeInternalError)
	}
	m.stopped.WithLabelValues(landfall.CodeServiceUnavailable)
	// Organisations are named when they are refused; "" counts all others.
	for _, quota := range []string{
		landfall.QuotaRequests, landfall.QuotaBytes, landfall.QuotaRevisions, landfall.QuotaTokens, landfall.QuotaCreations,
	} {
		m.quotas.WithLabelValues("", quota)
	}
	for _, r := range routeTable() {
		method, path := r.method, r.path
		m.durations.WithLabelValues(method, path)
		m.requests.WithLabelValues(method, path, "200")
		for _, status := range []string{"200", "201", "400"} {
			if r.bulk {
				m.lines.WithLabelValues(r.verb.Path, status)
			}
		}
	}
}

// maxVendorLabels limits the vendors that have their own label.
const maxVendorLabels = 100

// ObserveVendor records a request to a payment vendor.
func (m *Metrics) ObserveVendor(vendor, outcome string, took time.Duration) {
	// Beyond the limit, vendors are counted together under an empty label: an
	// unlimited number of labels would use up the memory of the metrics
	// collector.
	m.mu.Lock()
	if !m.asked[vendor] {
		if len(m.asked) < maxVendorLabels {
			m.asked[vendor] = true
		} else {
			vendor = ""
		}
	}
	m.mu.Unlock()
	m.vendors.WithLabelValues(vendor, outcome).Observe(took.Seconds())
}

// maxOrganisationLabels limits the organisations that have their own label, so
// that dashboards stay usable.
const maxOrganisationLabels = 500

// CountQuotaRefusal counts a request that was refused because of a quota.
// Organisations over the label limit are counted together.
func (m *Metrics) CountQuotaRefusal(organisation, quota string) {
	m.mu.Lock()
	if !m.over[organisation] {
		if len(m.over) < maxOrganisationLabels {
			m.over[organisation] = true
		} else {
			organisation = "" // counted together
		}
	}
	m.mu.Unlock()
	m.quotas.WithLabelValues(organisation, quota).Inc()
}

// postingKinds are the labels of the posting verbs.
var postingKinds = map[*answer.Verb]string{
	answer.Notes: "notes", answer.Transactions: "transactions",
	answer.Statements: "statements", answer.Instruction: "payment_instruction",
}

// Count counts the outcome of a call.
func (m *Metrics) Count(verb *answer.Verb, outcome string) {
	switch kind, posting := postingKinds[verb]; {
	case posting:
		m.postings.WithLabelValues(kind, outcome).Inc()
	case verb == answer.Stage:
		m.stagings.WithLabelValues(outcome).Inc()
	case verb == answer.Process:
		m.attempts.WithLabelValues(outcome).Inc()
		// A dry run that passed counts as neither created nor refused, although its
		// answer has the form of a refusal.
		switch outcome {
		case answer.Created:
			m.created.Inc()
		case answer.DryRunPassed:
		default:
			m.refusals.WithLabelValues(outcome).Inc()
		}
	}
}

// CountCreated counts accounts that a run created.
func (m *Metrics) CountCreated(accounts int) { m.created.Add(float64(accounts)) }

// countLine counts a line of a bulk request.
func (m *Metrics) countLine(verb *answer.Verb, status int) {
	m.lines.WithLabelValues(verb.Path, strconv.Itoa(status)).Inc()
}

// observe counts a request by its template. Paths contain account numbers and are
// unlimited.
func (m *Metrics) observe(x *exchange, took time.Duration) {
	method, template := x.method(), x.template()
	m.requests.WithLabelValues(method, template, strconv.Itoa(x.status)).Inc()
	m.durations.WithLabelValues(method, template).Observe(took.Seconds())
}

// Ops serves metrics and profiles on the operator's own listener. It requires no
// token, so clients must not be able to reach it. It does not serve the command
// line, which may contain a password.
func (a *API) Ops() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(a.Metrics.registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return mux
}
