// Package tracing passes trace contexts (W3C Trace Context) from API requests to calls, and from calls to tools and
// webhooks. It does not pass on baggage and tracestate.
package tracing

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/callboard/callboard/domain"
)

const header = "traceparent"

// ParseTraceParent parses a traceparent header. The result is invalid if the header is invalid.
func ParseTraceParent(traceParent string) trace.SpanContext {
	ctx := propagation.TraceContext{}.Extract(context.Background(), propagation.MapCarrier{header: traceParent})
	return trace.SpanContextFromContext(ctx)
}

// FormatTraceParent returns the traceparent header of a span context, "" for an invalid context.
func FormatTraceParent(c trace.SpanContext) string {
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(trace.ContextWithSpanContext(context.Background(), c), carrier)
	return carrier[header]
}

// OfRequest returns the trace context of the API request in whose context a function runs.
func OfRequest(ctx context.Context) domain.RequestTrace {
	return domain.RequestTrace{TraceParent: FormatTraceParent(trace.SpanContextFromContext(ctx))}
}

// WithRequest returns a copy of ctx that carries the trace context of an API request.
func WithRequest(ctx context.Context, t domain.RequestTrace) context.Context {
	return trace.ContextWithSpanContext(ctx, ParseTraceParent(t.TraceParent))
}

// SpanContexts returns the span contexts of calls and webhook deliveries. A nil *SpanContexts samples no trace that
// begins in Callboard.
type SpanContexts struct{ sampler sdktrace.Sampler }

// NewSpanContexts returns SpanContexts that sample a share, from 0 to 1, of the traces that begin in Callboard. The
// trace id determines whether a trace is sampled. A trace of an API client keeps the sampled flag of the client.
func NewSpanContexts(share float64) *SpanContexts {
	return &SpanContexts{sdktrace.TraceIDRatioBased(share)}
}

// Call returns the span context of a call. The result is invalid if the call has no trace and its id has no ULID.
func (c *SpanContexts) Call(id, traceParent string) trace.SpanContext {
	s := ParseTraceParent(traceParent).WithRemote(false)
	if !s.IsValid() {
		s = c.root(id)
	}
	if !s.HasTraceID() {
		return s
	}
	return s.WithSpanID(domain.SpanID(id))
}

// Delivery returns the span contexts of a webhook delivery attempt and of its parent. The parent is the call of the
// event, or the request that caused the event. Without either, parent is invalid and the attempt begins a trace.
func (c *SpanContexts) Delivery(d *domain.Delivery) (parent, attempt trace.SpanContext) {
	if strings.HasPrefix(d.Subject, string(domain.PrefixCall)+"_") {
		parent = c.Call(d.Subject, d.TraceParent)
	} else {
		parent = ParseTraceParent(d.TraceParent)
	}
	if attempt = parent; !parent.IsValid() {
		attempt = c.root(d.EventID)
	}
	if !attempt.HasTraceID() {
		return parent, attempt
	}
	return parent, attempt.WithRemote(false).WithSpanID(domain.SpanID(d.WebhookID, d.EventID, strconv.Itoa(d.Attempts)))
}

// root returns a context with a new trace id, derived from a resource id, and without a span id.
func (c *SpanContexts) root(id string) trace.SpanContext {
	traceID, ok := domain.TraceID(id)
	if !ok {
		return trace.SpanContext{}
	}
	s := trace.SpanContextConfig{TraceID: traceID}
	if c != nil && c.sampler.ShouldSample(sdktrace.SamplingParameters{ParentContext: context.Background(), TraceID: traceID}).Decision == sdktrace.RecordAndSample {
		s.TraceFlags = trace.FlagsSampled
	}
	return trace.NewSpanContext(s)
}

// WrapClient returns a copy of an HTTP client that adds the trace context of a request's context.Context as the
// traceparent header.
func WrapClient(c *http.Client) *http.Client {
	traced := *c
	traced.Transport = transport{c.Transport}
	return &traced
}

type transport struct{ http.RoundTripper }

// RoundTrip sends a request with the traceparent header of its context.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if trace.SpanContextFromContext(r.Context()).IsValid() {
		r = r.Clone(r.Context())
		propagation.TraceContext{}.Inject(r.Context(), propagation.HeaderCarrier(r.Header))
	}
	return t.RoundTripper.RoundTrip(r) //nolint:wrapcheck // the client wraps it
}
