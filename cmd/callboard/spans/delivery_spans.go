package spans

import (
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/callboard/callboard/domain"
)

// recordDelivery adds the span of an attempt to deliver a webhook.
func (r *Recorder) recordDelivery(d *domain.Delivery) {
	parent, own := r.contexts.Delivery(d)
	if !own.IsSampled() {
		return
	}
	s := completedSpan{
		parent: parent, own: own, name: "webhook " + d.EventType, kind: trace.SpanKindClient,
		start: *d.LastAttemptAt, end: d.LastAttemptAt.Add(time.Duration(d.ResponseTimeMs) * time.Millisecond),
		attributes: []attribute.KeyValue{
			attribute.String("callboard.workspace_id", d.WorkspaceID), attribute.String("callboard.webhook_id", d.WebhookID),
			attribute.String("callboard.event_id", d.EventID), attribute.Int("callboard.attempt", d.Attempts),
			attribute.Int("http.response.status_code", d.ResponseStatus), attribute.String("callboard.state", string(d.State)),
		},
	}
	if d.State != domain.DeliveryDelivered {
		if s.failure = d.Error; s.failure == "" {
			s.failure = "the receiver answered " + strconv.Itoa(d.ResponseStatus)
		}
	}
	r.add(&s)
}
