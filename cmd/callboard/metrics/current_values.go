package metrics

import (
	"context"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// collectTimeout limits the reading of current values at a scrape.
const collectTimeout = 5 * time.Second

// Reading is a current value of the process, or a total since its start.
type Reading struct {
	Name   string
	Help   string
	Total  bool
	Labels []string // name, value, name, value, …
	Value  float64
}

// AddReader adds a function that returns values at each scrape. If it fails or exceeds the time limit, the metric
// callboard_collection_failed is 1, and the scrape lacks the values that the function did not return.
func (m *Registry) AddReader(values func(context.Context) ([]Reading, error)) {
	m.registry.MustRegister(collector(values))
}

type collector func(context.Context) ([]Reading, error)

// Describe describes no metrics, because the metrics differ between scrapes. The Prometheus client library then does
// not compare them with descriptions.
func (collector) Describe(chan<- *prometheus.Desc) {}

// Collect reads the current values and sends them to Prometheus.
func (r collector) Collect(into chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), collectTimeout)
	defer cancel()
	values, err := r(ctx)
	failed := Reading{Name: "callboard_collection_failed", Help: "1 if some current values could not be read in time for this scrape."}
	if err != nil {
		failed.Value = 1
	}
	for _, v := range append(slices.Clip(values), failed) {
		var names, labels []string
		for pair := range slices.Chunk(v.Labels, 2) {
			names, labels = append(names, pair[0]), append(labels, pair[1])
		}
		kind := prometheus.GaugeValue
		if v.Total {
			kind = prometheus.CounterValue
		}
		into <- prometheus.MustNewConstMetric(prometheus.NewDesc(v.Name, v.Help, names, nil), kind, v.Value, labels...)
	}
}
