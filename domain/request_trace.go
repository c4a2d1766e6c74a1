package domain

import (
	"hash/fnv"
	"strings"

	"github.com/oklog/ulid/v2"
)

// RequestTrace is the trace context of the API request that created a record.
// The row holds it behind its JSON, so that no response shows it.
type RequestTrace struct {
	TraceParent string `json:"-"` // traceparent (W3C Trace Context); "": the request had none
}

// RawPart returns the trace context.
func (t *RequestTrace) RawPart() []byte { return []byte(t.TraceParent) }

// SetRawPart sets the trace context.
func (t *RequestTrace) SetRawPart(part []byte) { t.TraceParent = string(part) }

// TraceID returns the trace id of a call or an event: the 16 bytes of the ULID
// in its id, so that the id leads to the trace. ok is false for an id without a
// ULID.
func TraceID(id string) (traceID [16]byte, ok bool) {
	_, tail, _ := strings.Cut(id, "_")
	u, err := ulid.ParseStrict(tail)
	return u, err == nil
}

// SpanID returns the span id of what the parts name. It is the same in every
// process.
func SpanID(parts ...string) (id [8]byte) {
	h := fnv.New64a()
	for _, p := range parts {
		_, _ = h.Write([]byte(p))
		_, _ = h.Write([]byte{0})
	}
	h.Sum(id[:0])
	id[0] |= 1 // all zeros is invalid (W3C Trace Context §3.2.2.4)
	return id
}
