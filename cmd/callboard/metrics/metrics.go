// Package metrics provides Prometheus metrics. It observes commits and HTTP requests, and reads current values of
// the process at each scrape. The code of calls and actors does not depend on this package. Labels have a closed
// list of values and never contain workspaces, numbers or addresses.
package metrics

import (
	"net/http"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
)

// Registry holds all metrics. Its methods may be called concurrently.
type Registry struct {
	registry *prometheus.Registry

	callsEnded            *prometheus.CounterVec
	callsAgentUnavailable prometheus.Counter // calls that ended because an engine of the agent failed
	callDuration          prometheus.Histogram
	postDialDelay         prometheus.Histogram
	legs                  *prometheus.CounterVec
	mos                   prometheus.Histogram
	packetLoss            prometheus.Histogram
	slowestTurn           prometheus.Histogram
	turnStages            *prometheus.HistogramVec
	attempts              *prometheus.CounterVec
	events                *prometheus.CounterVec

	deliveries      *prometheus.CounterVec
	webhookResponse prometheus.Histogram

	commits         *prometheus.CounterVec
	commitDuration  prometheus.Histogram
	requests        *prometheus.CounterVec
	requestCounters [len(methods)][len(statusClasses)]atomic.Pointer[prometheus.Counter] // series of HTTP requests, created on first use
	requestDuration prometheus.Histogram
}

// New creates the metrics of a service. One metric exposes the given version.
func New(version string) *Registry {
	m := &Registry{registry: prometheus.NewRegistry()}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
		m.registry.MustRegister(c)
		return c
	}
	histogram := func(name, help string, buckets ...float64) prometheus.Histogram {
		h := prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets})
		m.registry.MustRegister(h)
		return h
	}
	m.callsEnded = counter("callboard_calls_ended_total", "Ended calls.", "direction", "disposition")
	m.callsAgentUnavailable = prometheus.NewCounter(prometheus.CounterOpts{Name: "callboard_calls_agent_unavailable_total", Help: "Calls that ended because a speech engine or language model of the agent was unavailable."})
	m.registry.MustRegister(m.callsAgentUnavailable)
	m.callDuration = histogram("callboard_call_duration_seconds", "Duration of answered calls, from the answer to the end.", 1, 5, 15, 30, 60, 120, 300, 600, 1800)
	m.postDialDelay = histogram("callboard_post_dial_delay_seconds", "Post-dial delay: from the INVITE to the first ringing or answer, by leg.", .1, .25, .5, 1, 2, 3, 5, 10)
	m.legs = counter("callboard_legs_total", "Legs of ended calls, by the class of their final SIP response; none: no response.", "answer")
	m.mos = histogram("callboard_call_mos", "Mean opinion score of answered calls, 1 to 4.5.", 2, 2.5, 3, 3.5, 3.8, 4, 4.2, 4.4)
	m.packetLoss = histogram("callboard_call_loss_percent", "Inbound RTP packet loss of answered calls, in percent.", 0, .1, .5, 1, 2, 5, 10, 20)
	m.slowestTurn = histogram("callboard_call_slowest_turn_seconds", "Longest time that a caller waited for the agent's response in a call.", .1, .25, .5, 1, 1.5, 2, 3, 5)
	m.turnStages = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "callboard_turn_stage_seconds", Help: "Duration of each stage of the agent's responses in ended calls.", Buckets: []float64{.025, .05, .1, .25, .5, 1, 1.5, 2, 3, 5, 10},
	}, []string{"stage"})
	m.registry.MustRegister(m.turnStages)
	m.attempts = counter("callboard_campaign_attempts_total", "Ended attempts of campaigns.", "outcome")
	m.events = counter("callboard_events_total", "Committed events.", "type")
	m.deliveries = counter("callboard_webhook_attempts_total", "Webhook delivery attempts, by the state of the delivery afterwards.", "state")
	m.webhookResponse = histogram("callboard_webhook_response_seconds", "Response time of webhook receivers.", .01, .05, .1, .25, .5, 1, 2.5, 5, 10, 30)
	m.commits = counter("callboard_commits_total", "Commits, by result.", "result")
	m.commitDuration = histogram("callboard_commit_seconds", "Duration of a commit, including the wait for a shared write.", .0005, .001, .0025, .005, .01, .025, .05, .1, .25, 1, 5)
	m.requests = counter("callboard_http_requests_total", "HTTP requests, by method and class of the status code.", "method", "status")
	m.requestDuration = histogram("callboard_http_request_seconds", "Duration of HTTP requests until the response header.", .001, .0025, .005, .01, .025, .05, .1, .25, 1, 5, 30)
	m.initSeries()
	build := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "callboard_build_info", Help: "Always 1."}, []string{"version"})
	build.WithLabelValues(version).Set(1)
	m.registry.MustRegister(build, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// initSeries creates the series of all known label values with the value 0. Otherwise a scrape would lack series that
// have not been counted yet.
func (m *Registry) initSeries() {
	for _, o := range outcomes {
		for _, d := range []domain.Direction{domain.Inbound, domain.Outbound} {
			m.callsEnded.WithLabelValues(string(d), string(o))
		}
		if o != domain.OutcomeCancelled {
			m.attempts.WithLabelValues(string(o))
		}
	}
	for _, s := range stages {
		m.turnStages.WithLabelValues(s)
	}
	for _, c := range statusClasses {
		m.legs.WithLabelValues(c)
	}
	for _, t := range event.Types() {
		m.events.WithLabelValues(string(t))
	}
	for _, s := range []domain.DeliveryState{domain.DeliveryDelivered, domain.DeliveryRetrying, domain.DeliveryFailed} {
		m.deliveries.WithLabelValues(string(s))
	}
	for _, r := range []string{"committed", "conflict", "fenced", "failed"} {
		m.commits.WithLabelValues(r)
	}
}

// stages are the label values for the latency stages of an agent's response, as named in the call object of the API.
var stages = [...]string{"eou", "stt", "llm_first_token", "tts_first_audio", "total"} //nolint:gochecknoglobals // a table

// outcomes are the possible outcomes of calls.
var outcomes = [...]domain.Outcome{ //nolint:gochecknoglobals // a table
	domain.OutcomeCompleted, domain.OutcomeConfirmed, domain.OutcomeDeclined, domain.OutcomeVoicemail, domain.OutcomeNoAnswer,
	domain.OutcomeBusy, domain.OutcomeFailed, domain.OutcomeCancelled,
}

// Handler returns the HTTP handler for scrapes.
func (m *Registry) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError, MaxRequestsInFlight: 4, Timeout: 10 * time.Second})
}

// methods are the label values for HTTP methods. The last value, other, stands for all methods that are not listed.
var methods = [...]string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "other"} //nolint:gochecknoglobals // a table

// statusClasses are the label values for classes of HTTP and SIP status codes.
var statusClasses = [...]string{"none", "1xx", "2xx", "3xx", "4xx", "5xx", "6xx"} //nolint:gochecknoglobals // a table

func statusClass(status int) string { return statusClasses[statusClassIndex(status)] }

// statusClassIndex returns the index in statusClasses of the class of a status code. Without a response status is 0.
func statusClassIndex(status int) int {
	if c := status / 100; c >= 1 && c < len(statusClasses) {
		return c
	}
	return 0
}

// ObserveRequest counts an HTTP request and its duration.
func (m *Registry) ObserveRequest(method []byte, status int, took time.Duration) {
	name := 0
	for name < len(methods)-1 && methods[name] != string(method) {
		name++
	}
	kind := &m.requestCounters[name][statusClassIndex(status)]
	count := kind.Load()
	if count == nil {
		created := m.requests.WithLabelValues(methods[name], statusClass(status))
		count = &created
		kind.Store(count)
	}
	(*count).Inc()
	m.requestDuration.Observe(took.Seconds())
}
