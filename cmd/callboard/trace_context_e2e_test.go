package main_test

import (
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// spanCollector is an OTLP collector that records the received spans.
type spanCollector struct {
	mu  sync.Mutex
	all []*tracepb.Span
}

func startSpanCollector(t *testing.T) (*spanCollector, string) {
	t.Helper()
	e := new(spanCollector)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		e.mu.Lock()
		e.all = append(e.all, exportedSpans(body)...)
		e.mu.Unlock()
	}))
	t.Cleanup(collector.Close)
	return e, collector.URL
}

// spansNamed returns the spans with a name in a trace.
func (e *spanCollector) spansNamed(traceID, name string) (found []*tracepb.Span) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range e.all {
		if hex.EncodeToString(s.GetTraceId()) == traceID && s.GetName() == name {
			found = append(found, s)
		}
	}
	return found
}

// traceparents returns the Traceparent headers received at a path, split at the hyphens.
func (r *webhookReceiver) traceparents(path string) (all [][]string) {
	for _, d := range r.deliveries() {
		if d.At == path {
			all = append(all, strings.Split(d.Header.Get("Traceparent"), "-"))
		}
	}
	return all
}

func (s *service) postAndReturnID(path string, body object, header ...string) string {
	s.t.Helper()
	status, text, _ := s.tryRequest("POST", path, body, header...)
	require.Less(s.t, status, 300, "%s", text)
	var created object
	require.NoError(s.t, json.Unmarshal(text, &created))
	return created["id"].(string)
}

// createToolAgent creates an agent that calls an HTTP tool at a path of the webhook receiver.
func (s *service) createToolAgent(path string) string {
	s.t.Helper()
	tool := s.api("POST", "/v1/tools", object{
		"name": "look", "description": "Looks.", "parameters": object{"type": "object"}, "http": object{"method": "GET", "url": s.receiver.server.URL + path},
	})["id"]
	return s.createAgent(object{
		"name": "tooled", "start": "look",
		"nodes": []object{{"id": "look", "type": "tool", "tool_id": tool}, {"id": "bye", "type": "end", "prompt": "Bye."}},
		"edges": []object{{"from": "look", "to": "bye", "when": object{"type": "success"}}, {"from": "look", "to": "bye", "when": object{"type": "failure"}}},
	})
}

const (
	callerSpan = "b7ad6b7169203331"
	baggage    = "user=ada"
)

func TestTraceContextReachesCollectorToolWebhookAndLog(t *testing.T) {
	t.Parallel()
	spans, url := startSpanCollector(t)
	s := newService(t, "CALLBOARD_OTLP_URL="+url, "CALLBOARD_LOG_LEVEL=debug")
	other := s.withKey(s.api("POST", "/v1/workspaces", object{"name": "others", "plan": "enterprise"})["key"].(string))
	other.api("POST", "/v1/webhooks", object{"url": s.receiver.server.URL + "/others", "events": []string{"*"}})
	other.createToolAgent("/others-tool")
	s.key = s.testKey()
	s.api("POST", "/v1/webhooks", object{"url": s.receiver.url, "events": []string{"call.started", "call.ended", "sms.sent"}})
	agent := s.createToolAgent("/tool")
	order := object{"to": "+15005550000", "agent_id": agent}

	const traced = "0af7651916cd43dd8448eb211c80319c"
	call := s.postAndReturnID("/v1/calls/outbound", order, "traceparent", "00-"+traced+"-"+callerSpan+"-01", "baggage", baggage, "tracestate", "a=b")
	s.awaitCallEnd(call, time.Minute)
	s.await("the spans", time.Minute, func() bool {
		return len(spans.spansNamed(traced, "call outbound")) == 1 && len(spans.spansNamed(traced, "webhook call.ended")) == 1 && len(spans.spansNamed(traced, "webhook call.started")) == 1
	})
	root := spans.spansNamed(traced, "call outbound")[0]
	assert.Equal(t, callerSpan, hex.EncodeToString(root.GetParentSpanId()))
	own := hex.EncodeToString(root.GetSpanId())
	for _, name := range []string{"leg", "talk", "webhook call.started", "webhook call.ended"} {
		for _, span := range spans.spansNamed(traced, name) {
			assert.Equal(t, own, hex.EncodeToString(span.GetParentSpanId()), name)
		}
	}
	assert.Equal(t, [][]string{{"00", traced, own, "01"}}, s.receiver.traceparents("/tool"))
	hooks := s.receiver.traceparents("/hook")
	require.Len(t, hooks, 2)
	for _, h := range hooks {
		assert.Equal(t, []string{"00", traced, "01"}, []string{h[0], h[1], h[3]})
	}
	for _, d := range s.receiver.deliveries() {
		assert.Empty(t, d.Header.Get("Baggage"))
		assert.Empty(t, d.Header.Get("Tracestate"))
		assert.Contains(t, []string{"/hook", "/tool"}, d.At, "no request of the call goes to another workspace")
		if d.Event.Type == "call.ended" {
			span := hex.EncodeToString(spans.spansNamed(traced, "webhook call.ended")[0].GetSpanId())
			assert.Contains(t, d.Header.Get("Traceparent"), "-"+span+"-", "the receiver's span is a child of the attempt's")
		}
	}
	lines := slices.DeleteFunc(strings.Split(s.logText(), "\n"), func(line string) bool { return !strings.Contains(line, "trace_id="+traced) })
	of := func(text string) bool {
		return slices.ContainsFunc(lines, func(line string) bool { return strings.Contains(line, text) })
	}
	assert.True(t, of("call_id="+call))
	assert.True(t, of("path=/v1/calls/outbound"))

	const unsampled = "0af7651916cd43dd8448eb211c80319d"
	s.awaitCallEnd(s.postAndReturnID("/v1/calls/outbound", order, "traceparent", "00-"+unsampled+"-"+callerSpan+"-00"), time.Minute)
	s.await("the tool call", time.Minute, func() bool { return len(s.receiver.traceparents("/tool")) == 2 })
	parents := s.receiver.traceparents("/tool")[1]
	assert.Equal(t, []string{unsampled, "00"}, []string{parents[1], parents[3]})

	plain := s.postAndReturnID("/v1/calls/outbound", order, "traceparent", "00-"+strings.Repeat("0", 32)+"-"+callerSpan+"-01") // invalid
	s.awaitCallEnd(plain, time.Minute)
	id := ulid.MustParse(strings.TrimPrefix(plain, "call_"))
	derived := hex.EncodeToString(id[:])
	s.await("the span of the call", time.Minute, func() bool { return len(spans.spansNamed(derived, "call outbound")) == 1 })
	assert.Empty(t, spans.spansNamed(derived, "call outbound")[0].GetParentSpanId())
	assert.Equal(t, []string{derived, "01"}, []string{s.receiver.traceparents("/tool")[2][1], s.receiver.traceparents("/tool")[2][3]})
	assert.Empty(t, spans.spansNamed(unsampled, "call outbound"))

	const bulk = "0af7651916cd43dd8448eb211c80319e"
	s.postAndReturnID("/v1/bulk/calls", object{"items": []object{order, order}}, "traceparent", "00-"+bulk+"-"+callerSpan+"-01")
	const message = "0af7651916cd43dd8448eb211c80319f"
	s.postAndReturnID("/v1/sms", object{"to": "+15005550000", "from": "+15005550100", "body": "Hello."}, "traceparent", "00-"+message+"-"+callerSpan+"-01")
	s.await("the spans of the bulk job and of the message", time.Minute, func() bool {
		return len(spans.spansNamed(bulk, "webhook call.ended")) == 2 && len(spans.spansNamed(bulk, "call outbound")) == 2 && len(spans.spansNamed(message, "webhook sms.sent")) == 1
	})
	for _, span := range append(spans.spansNamed(bulk, "call outbound"), spans.spansNamed(message, "webhook sms.sent")...) {
		assert.Equal(t, callerSpan, hex.EncodeToString(span.GetParentSpanId()))
	}
}

func TestTraceContextOfCallSurvivesProcess(t *testing.T) {
	t.Parallel()
	spans, url := startSpanCollector(t)
	s := newService(t, "CALLBOARD_OTLP_URL="+url)
	s.key = s.testKey()
	const traced = "0af7651916cd43dd8448eb211c80319c"
	call := s.postAndReturnID("/v1/calls/outbound", object{"to": "+15005550000", "agent_id": s.createMenuAgentWithTimeout(60)}, "traceparent", "00-"+traced+"-"+callerSpan+"-01")
	s.await("the call", time.Minute, func() bool { return s.api("GET", "/v1/calls/"+call, nil)["status"] == "in_progress" })
	key := s.key
	s.kill9()
	s.start()
	s.key = key
	s.awaitCallEnd(call, time.Minute)
	s.await("the span", time.Minute, func() bool { return len(spans.spansNamed(traced, "call outbound")) == 1 })
	assert.Equal(t, callerSpan, hex.EncodeToString(spans.spansNamed(traced, "call outbound")[0].GetParentSpanId()))
}
