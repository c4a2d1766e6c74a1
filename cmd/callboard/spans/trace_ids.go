package spans

import (
	"context"
	"hash/fnv"

	"go.opentelemetry.io/otel/trace"
)

// spanIDOf returns the hash of the parts. The same row has the same span ids in
// every process.
func spanIDOf(parts ...string) (id trace.SpanID) {
	h := fnv.New64a()
	for _, p := range parts {
		_, _ = h.Write([]byte(p))
		_, _ = h.Write([]byte{0})
	}
	h.Sum(id[:0])
	id[0] |= 1 // all zeros is invalid (W3C Trace Context §3.2.2.4)
	return id
}

type spanIDs struct {
	traceID trace.TraceID
	spanID  trace.SpanID
}

type spanIDsKey struct{}

// withIDs returns a context in which idGenerator finds the ids of the next span.
func withIDs(ctx context.Context, ids spanIDs) context.Context {
	return context.WithValue(ctx, spanIDsKey{}, ids)
}

// idGenerator returns the ids that the context of a span holds.
type idGenerator struct{}

// NewIDs returns the ids of the first span of a trace.
func (idGenerator) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	ids, _ := ctx.Value(spanIDsKey{}).(spanIDs)
	return ids.traceID, ids.spanID
}

// NewSpanID returns the id of a span that has a parent.
func (idGenerator) NewSpanID(ctx context.Context, _ trace.TraceID) trace.SpanID {
	ids, _ := ctx.Value(spanIDsKey{}).(spanIDs)
	return ids.spanID
}
