package main_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	collectorpb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/callboard/callboard/sip/siptest"
)

// readMetrics scrapes the admin listener. It returns the type of each metric, and the value of each counter and gauge
// by name and labels.
func (s *service) readMetrics(admin string) (kinds map[string]string, values map[string]float64) {
	s.t.Helper()
	resp, err := http.Get("http://" + admin + "/metrics")
	require.NoError(s.t, err)
	defer func() { _ = resp.Body.Close() }()
	require.Equal(s.t, http.StatusOK, resp.StatusCode)
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(resp.Body)
	require.NoError(s.t, err)
	kinds, values = make(map[string]string), make(map[string]float64)
	for name, f := range families {
		kinds[name] = f.GetType().String()
		for _, m := range f.GetMetric() {
			words := []string{name}
			for _, l := range m.GetLabel() {
				words = append(words, l.GetValue())
			}
			id := strings.Join(words, " ")
			switch {
			case m.GetHistogram() != nil:
				values[id] = float64(m.GetHistogram().GetSampleCount())
			case m.GetCounter() != nil:
				values[id] = m.GetCounter().GetValue()
			default:
				values[id] = m.GetGauge().GetValue()
			}
		}
	}
	return kinds, values
}

// metricNames returns the callboard_ metrics that a text mentions, without the suffixes of histograms.
func metricNames(text string) map[string]bool {
	names := make(map[string]bool)
	for _, n := range regexp.MustCompile(`\bcallboard_[a-z_]+`).FindAllString(text, -1) {
		names[strings.TrimSuffix(n, "_bucket")] = true
	}
	return names
}

// exportedSpans decodes an OTLP export request. It returns nil for other bodies.
func exportedSpans(body []byte) (spans []*tracepb.Span) {
	var r collectorpb.ExportTraceServiceRequest
	if proto.Unmarshal(body, &r) != nil {
		return nil
	}
	for _, resource := range r.GetResourceSpans() {
		for _, scope := range resource.GetScopeSpans() {
			spans = append(spans, scope.GetSpans()...)
		}
	}
	return spans
}

func TestMetricsAreReadableByPrometheus(t *testing.T) {
	t.Parallel()
	admin := "127.0.0.1:" + strconv.Itoa(siptest.Port(t))
	var seen sync.Map // names of the spans that the collector received
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		for _, span := range exportedSpans(body) {
			seen.Store(r.URL.Path+" "+r.Header.Get("X-Tenant")+" "+span.GetName(), true)
		}
		w.WriteHeader(http.StatusOK)
	}))
	t.Cleanup(collector.Close)
	lines := filepath.Join(t.TempDir(), "lines")
	require.NoError(t, os.WriteFile(lines, []byte("X-Tenant: us\n\n"), 0o600))
	s := newService(t, "CALLBOARD_ADMIN_ADDR="+admin, "CALLBOARD_OTLP_URL="+collector.URL, "CALLBOARD_OTLP_HEADERS_FILE="+lines)
	key := s.key
	s.key = s.testKey()
	s.api("POST", "/v1/webhooks", object{"url": s.receiver.url, "events": []string{"call.ended"}})
	agent := s.createGreetingAgent()
	for _, to := range []string{"+15005550000", "+15005550001"} {
		id := s.api("POST", "/v1/calls/outbound", object{"to": to, "agent_id": agent})["id"].(string)
		s.awaitCallEnd(id, time.Minute)
	}
	s.key = key
	status, _, _ := s.tryRequest("GET", "/v1/calls/nobody", nil)
	require.Equal(t, http.StatusNotFound, status)
	var values map[string]float64
	var kinds map[string]string
	s.await("the deliveries and the release of all call resources", time.Minute, func() bool {
		kinds, values = s.readMetrics(admin)
		return values["callboard_webhook_attempts_total delivered"] >= 2 && values["callboard_calls_uncommitted"] == 0 && values["callboard_media_sessions"] == 0 &&
			values["callboard_spans_total sent"] >= 7
	})
	for _, name := range []string{"call outbound", "leg", "talk", "webhook call.ended"} {
		_, ok := seen.Load("/v1/traces us " + name)
		assert.True(t, ok, name)
	}
	for name, want := range map[string]float64{
		"callboard_ready": 1, "callboard_collection_failed": 0, "callboard_calls_live": 0,
		"callboard_calls_ended_total outbound completed": 1, "callboard_calls_ended_total outbound busy": 1, "callboard_calls_ended_total inbound completed": 0,
		"callboard_legs_total 2xx": 1, "callboard_legs_total 4xx": 1, "callboard_call_duration_seconds": 1, "callboard_call_mos": 1,
		"callboard_events_total call.ended": 2, "callboard_events_total agent.error": 0, "callboard_webhook_attempts_total delivered": 2,
		"callboard_webhook_response_seconds": 2, "callboard_campaign_attempts_total completed": 0, "callboard_commits_total failed": 0,
	} {
		got, seen := values[name]
		assert.True(t, seen, name)
		assert.InDelta(t, want, got, 0, name)
	}
	for _, some := range []string{
		"callboard_commits_total committed", "callboard_commit_seconds", "callboard_http_requests_total POST 2xx", "callboard_http_requests_total GET 4xx",
		"callboard_sip_messages_total sent", "callboard_sip_messages_total received", "callboard_media_ports", "callboard_disk_free_bytes", "callboard_workspaces",
		"process_resident_memory_bytes",
	} {
		assert.Positive(t, values[some], some)
	}
	s.checkMetricsDocumentation(kinds)
	for _, b := range codeBlocks(t, "docs/metrics.md", "sh run") {
		assert.Contains(t, s.runBlocks(t.TempDir(), []string{b}, "", "ADMIN="+admin)[0], `callboard_calls_ended_total{direction="outbound",disposition="busy"} 1`)
	}
}

// checkMetricsDocumentation checks that docs/metrics.md lists exactly the existing metrics, and that the alert rules and
// the dashboard use only existing metrics.
func (s *service) checkMetricsDocumentation(kinds map[string]string) {
	s.t.Helper()
	page, err := os.ReadFile("../../docs/metrics.md")
	require.NoError(s.t, err)
	rows := make(map[string]bool)
	for _, row := range regexp.MustCompile("(?m)^\\| `(callboard_[a-z_]+)` \\|").FindAllStringSubmatch(string(page), -1) {
		rows[row[1]] = true
	}
	for name := range kinds {
		if strings.HasPrefix(name, "callboard_") {
			assert.True(s.t, rows[name], "docs/metrics.md does not list %s", name)
			delete(rows, name)
		}
	}
	assert.Empty(s.t, rows, "docs/metrics.md lists metrics that do not exist")
	for _, path := range []string{"../../deploy/prometheus/callboard.rules.yml", "../../deploy/grafana/callboard.json"} {
		text, err := os.ReadFile(path)
		require.NoError(s.t, err)
		names := metricNames(string(text))
		assert.Greater(s.t, len(names), 5)
		for name := range names {
			assert.Contains(s.t, kinds, name, "%s uses it", path)
		}
	}
	board, err := os.Open("../../deploy/grafana/callboard.json")
	require.NoError(s.t, err)
	defer func() { _ = board.Close() }()
	var panels struct {
		Panels []struct{ Title string }
	}
	text, err := io.ReadAll(board)
	require.NoError(s.t, err)
	require.NoError(s.t, json.Unmarshal(text, &panels))
	assert.Len(s.t, panels.Panels, 21)
}
