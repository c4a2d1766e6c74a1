package tracing_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/trace"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/engines/tracing"
)

const (
	parent  = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	callID  = "call_01JZ3Y8Q5S6T7V8W9X0Y1Z2A3B"
	eventID = "evt_01JZ3Y8Q5S6T7V8W9X0Y1Z2A3C"
)

func TestInvalidTraceParentIsIgnored(t *testing.T) {
	t.Parallel()
	for text, valid := range map[string]bool{
		parent: true,
		"":     false, "00": false, parent[:len(parent)-1]: false, parent + "-00": false, "ff" + parent[2:]: false,
		"00-00000000000000000000000000000000-b7ad6b7169203331-01": false,
		"00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01": false,
		"00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01": false,
	} {
		assert.Equal(t, valid, tracing.ParseTraceParent(text).IsValid(), text)
		if valid {
			assert.Equal(t, text, tracing.FormatTraceParent(tracing.ParseTraceParent(text)))
		}
	}
}

func TestCallTraceComesFromRequestOrCallID(t *testing.T) {
	t.Parallel()
	own := "00-0197c7e45cb931b47e13a70787f1051b"
	for share, sampled := range map[float64]string{0: "-00", 1: "-01"} {
		contexts := tracing.NewSpanContexts(share)
		assert.Equal(t, parent[:36]+"f7507d7171be40cf-01", tracing.FormatTraceParent(contexts.Call(callID, parent)))
		got := tracing.FormatTraceParent(contexts.Call(callID, ""))
		assert.NotEqual(t, parent[:35], got[:35])
		assert.Equal(t, "-f7507d7171be40cf"+sampled, got[len(own):])
	}
	var none *tracing.SpanContexts // as in an installation without a trace collector
	assert.False(t, none.Call(callID, "").IsSampled())
	assert.False(t, none.Call("call_of_another_shape", "").IsValid())
}

func TestDeliverySpanIsChildOfCallOrRequest(t *testing.T) {
	t.Parallel()
	contexts := tracing.NewSpanContexts(1)
	call := contexts.Call(callID, parent)
	for name, c := range map[string]struct {
		subject, traceParent string
		want                 trace.SpanContext
	}{
		"call of a request": {callID, parent, call},
		"call":              {callID, "", contexts.Call(callID, "")},
		"message":           {"msg_1", parent, tracing.ParseTraceParent(parent)},
		"another event":     {"camp_1", "", trace.SpanContext{}},
	} {
		got, attempt := contexts.Delivery(&domain.Delivery{WebhookID: "wh_1", EventID: eventID, Subject: c.subject, TraceParent: c.traceParent, Attempts: 1})
		assert.True(t, c.want.Equal(got), name)
		assert.True(t, attempt.IsValid(), name)
		assert.NotEqual(t, got.SpanID(), attempt.SpanID(), name)
		if got.IsValid() {
			assert.Equal(t, got.TraceID(), attempt.TraceID(), name)
		}
	}
}

func TestHTTPClientSendsTraceContextOnly(t *testing.T) {
	t.Parallel()
	var header http.Header
	far := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { header = r.Header }))
	t.Cleanup(far.Close)
	client := tracing.WrapClient(far.Client())
	for _, want := range []string{parent, ""} {
		ctx := tracing.WithRequest(context.Background(), domain.RequestTrace{TraceParent: want})
		assert.Equal(t, want, tracing.OfRequest(ctx).TraceParent)
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, far.URL, http.NoBody)
		require.NoError(t, err)
		resp, err := client.Do(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		assert.Equal(t, want, header.Get("Traceparent"))
		assert.Empty(t, header.Get("Tracestate"))
	}
}
