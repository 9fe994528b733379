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

	"landfall/internal/answer"
)

// Metrics is what the operator's dashboards read.
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
}

// Reading is a figure that somebody else keeps and that is asked for whenever
// the metrics are read.
type Reading struct {
	Name, Help string
	Labels     map[string]string // told apart from others of the same name
	Counts     bool              // it only ever grows
	Read       func() float64
}

func (r Reading) collector() prometheus.Collector {
	if r.Counts {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: r.Name, Help: r.Help, ConstLabels: r.Labels}, r.Read)
	}
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: r.Name, Help: r.Help, ConstLabels: r.Labels}, r.Read)
}

// NewMetrics begins to count for a running version of the program, and shows
// the figures of others with its own.
func NewMetrics(version string, readings ...Reading) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "landfall_http_requests_total", Help: "Requests answered.",
		}, []string{"method", "route", "status"}),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "landfall_http_request_duration_seconds", Help: "Time from the request's header to the end of its answer.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}, []string{"method", "route"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "landfall_http_requests_in_flight", Help: "Requests being answered now.",
		}),
		faults: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "landfall_errors_total", Help: "Requests that failed on our side, by code.",
		}, []string{"code"}),
		panics: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "landfall_panics_total", Help: "Faults caught at the edge.",
		}),
		stagings: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "landfall_stagings_total", Help: "Accounts handed in for staging, by what became of them.",
		}, []string{"result"}),
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "landfall_account_attempts_total",
			Help: "Attempts to create an account by their outcome: created, dry_run_passed, or the code of the refusal.",
		}, []string{"outcome"}),
		created: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "landfall_accounts_created_total", Help: "Accounts created from staged data.",
		}),
		refusals: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "landfall_account_attempts_failed_total",
			Help: "Attempts to create an account that failed, by code. A dry run that passed is none of them.",
		}, []string{"code"}),
		postings: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "landfall_postings_total", Help: "Requests to add something to an account, by kind and by what became of them.",
		}, []string{"kind", "result"}),
		quotas: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "landfall_quota_refused_total", Help: "What was refused because of a quota, by organisation and quota.",
		}, []string{"organisation", "quota"}),
		over: map[string]bool{},
		streams: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "landfall_bulk_requests_in_flight", Help: "Bulk requests being answered now.",
		}),
		lines: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "landfall_bulk_lines_total", Help: "Lines of bulk requests, by kind and by the status of their answer.",
		}, []string{"kind", "status"}),
		stopped: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "landfall_bulk_stopped_total", Help: "Bulk requests that ended before their last line, by the code of the reason.",
		}, []string{"code"}),
	}
	build := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "landfall_build_info", Help: "The running version; always 1.",
	}, []string{"version", "go"})
	build.WithLabelValues(version, runtime.Version()).Set(1)
	m.registry.MustRegister(m.requests, m.durations, m.inFlight, m.faults, m.panics, m.stagings, m.attempts, m.created, m.refusals,
		m.postings, m.quotas, m.streams, m.lines, m.stopped, build, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	for _, reading := range readings {
		m.registry.MustRegister(reading.collector())
	}
	return m
}

// mostOver bounds the organisations that are named in the metrics. Operators make
// them, so it is a bound on what a dashboard can show.
const mostOver = 500

// OverQuota takes down that an organisation was over a quota. Those that come
// when too many are named already are counted together.
func (m *Metrics) OverQuota(organisation, quota string) {
	m.mu.Lock()
	if !m.over[organisation] {
		if len(m.over) < mostOver {
			m.over[organisation] = true
		} else {
			organisation = "" // nobody's name
		}
	}
	m.mu.Unlock()
	m.quotas.WithLabelValues(organisation, quota).Inc()
}

// kinds is what the postings are called.
var kinds = map[*answer.Verb]string{
	answer.Notes: "notes", answer.Transactions: "transactions",
	answer.Statements: "statements", answer.Instruction: "payment_instruction",
}

// Count takes down what became of a call, however it came to us.
func (m *Metrics) Count(verb *answer.Verb, outcome string) {
	switch kind, posting := kinds[verb]; {
	case posting:
		m.postings.WithLabelValues(kind, outcome).Inc()
	case verb == answer.Stage:
		m.stagings.WithLabelValues(outcome).Inc()
	case verb == answer.Process:
		m.attempts.WithLabelValues(outcome).Inc()
		switch outcome {
		case answer.Created:
			m.created.Inc()
		case answer.Rehearsed:
		default:
			m.refusals.WithLabelValues(outcome).Inc()
		}
	}
}

// countLine takes down a line of a bulk request.
func (m *Metrics) countLine(verb *answer.Verb, status int) {
	m.lines.WithLabelValues(verb.Tail, strconv.Itoa(status)).Inc()
}

func (m *Metrics) observe(x *exchange, took time.Duration) {
	method, route := x.method(), x.template()
	m.requests.WithLabelValues(method, route, strconv.Itoa(x.status)).Inc()
	m.durations.WithLabelValues(method, route).Observe(took.Seconds())
}

// Ops is the handler of the operator's own listener: metrics and profiles. It
// asks for no token, so it must never be reachable by clients. Among the
// profiles the command line is missing: it may hold a password.
func (a *API) Ops() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(a.Metrics.registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return mux
}
