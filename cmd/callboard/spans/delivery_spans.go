package spans

import (
	"context"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/callboard/callboard/domain"
)

// recordDelivery adds the span of a webhook attempt. It is a child of the call
// that the event is about; other events have a trace each.
func (r *Recorder) recordDelivery(d *domain.Delivery) {
	ctx, subject := context.Background(), d.EventID
	isCall := strings.HasPrefix(d.Subject, string(domain.PrefixCall)+"_")
	if isCall {
		subject = d.Subject
	}
	traceID, ok := domain.TraceID(subject)
	if !ok {
		return
	}
	if isCall {
		ctx = trace.ContextWithRemoteSpanContext(ctx, r.callContext(d.Subject, traceID))
	}
	s := completedSpan{
		ids: spanIDs{traceID, spanIDOf(d.WebhookID, d.EventID, strconv.Itoa(d.Attempts))}, name: "webhook " + d.EventType, kind: trace.SpanKindClient,
		start: *d.LastAttemptAt, end: d.LastAttemptAt.Add(time.Duration(d.ResponseTimeMs) * time.Millisecond),
		attributes: []attribute.KeyValue{
			attribute.String("callboard.workspace_id", d.WorkspaceID), attribute.String("callboard.webhook_id", d.WebhookID),
			attribute.String("callboard.event_id", d.EventID), attribute.Int("callboard.attempt", d.Attempts),
			attribute.Int("http.response.status_code", d.ResponseStatus), attribute.String("callboard.state", string(d.State)),
		},
	}
	if d.State != domain.DeliveryDelivered {
		if s.failure = d.Error; s.failure == "" {
			s.failure = "it answered " + strconv.Itoa(d.ResponseStatus)
		}
	}
	r.add(ctx, &s)
}

// callContext returns the context of the span of a call. It is sampled by the
// same rule as that span.
func (r *Recorder) callContext(callID string, traceID trace.TraceID) trace.SpanContext {
	c := trace.SpanContextConfig{TraceID: traceID, SpanID: spanIDOf(callID)}
	if r.isSampled(traceID) {
		c.TraceFlags = trace.FlagsSampled
	}
	return trace.NewSpanContext(c)
}
