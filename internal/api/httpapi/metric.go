package httpapi

import (
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

// Metric describes a metric for the documentation.
type Metric struct {
	Name, Help string
	Kind       string // counter, gauge or histogram
	Labels     []string
}

// Gatherer returns the registry for exporters.
func (m *Metrics) Gatherer() prometheus.Gatherer { return m.registry }

// Catalogue lists all metrics by name.
func (m *Metrics) Catalogue() []Metric {
	list := slices.Clone(m.listed)
	slices.SortFunc(list, func(a, b Metric) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(list, func(a, b Metric) bool { return a.Name == b.Name })
}

// list records a metric for the documentation, which is generated from this
// list.
func (m *Metrics) list(kind, name, help string, labels ...string) {
	m.listed = append(m.listed, Metric{Name: name, Help: help, Kind: kind, Labels: labels})
}

// The functions below register a metric and list it.

func (m *Metrics) counters(name, help string, labels ...string) *prometheus.CounterVec {
	m.list("counter", name, help, labels...)
	made := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	m.registry.MustRegister(made)
	return made
}

func (m *Metrics) counter(name, help string) prometheus.Counter {
	return m.counters(name, help).WithLabelValues()
}

func (m *Metrics) gauge(name, help string) prometheus.Gauge {
	m.list("gauge", name, help)
	made := prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	m.registry.MustRegister(made)
	return made
}

func (m *Metrics) histograms(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	m.list("histogram", name, help, labels...)
	made := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	m.registry.MustRegister(made)
	return made
}

// FuncMetric is a metric whose value is read when the metrics are collected.
type FuncMetric struct {
	Name, Help string
	Labels     map[string]string // constant labels
	Counts     bool              // a counter, otherwise a gauge
	Read       func() float64
}

// addFunc registers a FuncMetric.
func (m *Metrics) addFunc(r FuncMetric) {
	var made prometheus.Collector
	kind, labels := "gauge", []string{}
	for label := range r.Labels {
		labels = append(labels, label)
	}
	if r.Counts {
		kind = "counter"
		made = prometheus.NewCounterFunc(prometheus.CounterOpts{Name: r.Name, Help: r.Help, ConstLabels: r.Labels}, r.Read)
	} else {
		made = prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: r.Name, Help: r.Help, ConstLabels: r.Labels}, r.Read)
	}
	m.list(kind, r.Name, r.Help, labels...)
	m.registry.MustRegister(made)
}

// LabelledMetric is a metric with label values that come and go, such as
// suppliers. Read must limit their number.
type LabelledMetric struct {
	Name, Help string
	Labels     []string
	Counts     bool
	Read       func(report func(value float64, labels ...string))
}

// Add registers labelled metrics.
func (m *Metrics) Add(surveys ...LabelledMetric) {
	for _, s := range surveys {
		kind := "gauge"
		if s.Counts {
			kind = "counter"
		}
		m.list(kind, s.Name, s.Help, s.Labels...)
		m.registry.MustRegister(labelledCollector{s, prometheus.NewDesc(s.Name, s.Help, s.Labels, nil)})
	}
}

// labelledCollector collects a LabelledMetric.
type labelledCollector struct {
	LabelledMetric
	desc *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (s labelledCollector) Describe(to chan<- *prometheus.Desc) { to <- s.desc }

// Collect implements prometheus.Collector.
func (s labelledCollector) Collect(to chan<- prometheus.Metric) {
	kind := prometheus.GaugeValue
	if s.Counts {
		kind = prometheus.CounterValue
	}
	s.Read(func(value float64, labels ...string) {
		// Wrong labels are a programming error, which must not break the other metrics.
		if made, err := prometheus.NewConstMetric(s.desc, kind, value, labels...); err == nil {
			to <- made
		}
	})
}
