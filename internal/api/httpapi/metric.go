package httpapi

import (
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

// Metric says what a figure is, for the handbook.
type Metric struct {
	Name, Help string
	Kind       string // counter, gauge or histogram
	Labels     []string
}

// Gatherer lets somebody else send the figures on.
func (m *Metrics) Gatherer() prometheus.Gatherer { return m.registry }

// Catalogue lists every figure of ours, by name.
func (m *Metrics) Catalogue() []Metric {
	list := slices.Clone(m.listed)
	slices.SortFunc(list, func(a, b Metric) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(list, func(a, b Metric) bool { return a.Name == b.Name })
}

// list notes what a figure is. The handbook is made from this, so that no
// figure is in the one and not in the other.
func (m *Metrics) list(kind, name, help string, labels ...string) {
	m.listed = append(m.listed, Metric{Name: name, Help: help, Kind: kind, Labels: labels})
}

// The makers below register a figure and list it.

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

// FuncMetric is a figure that somebody else keeps and that is asked for whenever
// the metrics are read.
type FuncMetric struct {
	Name, Help string
	Labels     map[string]string // told apart from others of the same name
	Counts     bool              // it only ever grows
	Read       func() float64
}

// addFunc shows a figure that is asked for when somebody looks, so that
// nobody has to keep it up to date meanwhile.
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

// LabelledMetric is a figure that somebody else keeps with labels that come and go,
// such as suppliers. Whoever reports bounds how many there are.
type LabelledMetric struct {
	Name, Help string
	Labels     []string
	Counts     bool
	Read       func(report func(value float64, labels ...string))
}

// Add shows a survey with the other figures.
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

// labelledCollector asks for a survey whenever the metrics are read.
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
		// A report with other labels than declared is a mistake of ours, and
		// must not take the whole page of metrics with it.
		if made, err := prometheus.NewConstMetric(s.desc, kind, value, labels...); err == nil {
			to <- made
		}
	})
}
