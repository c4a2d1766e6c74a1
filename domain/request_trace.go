package domain

import (
	"hash/fnv"
	"strings"

	"github.com/oklog/ulid/v2"
)

// RequestTrace is the trace context of the API request that created a record. It is stored after the JSON of the
// row, so that no response shows it.
type RequestTrace struct {
	TraceParent string `json:"-"` // traceparent (W3C Trace Context); empty: the request had none
}

// RawPart returns the trace context.
func (t *RequestTrace) RawPart() []byte { return []byte(t.TraceParent) }

// SetRawPart sets the trace context.
func (t *RequestTrace) SetRawPart(part []byte) { t.TraceParent = string(part) }

// TraceID returns the trace ID of a call or an event: the 16 bytes of the ULID in its ID. ok is false for an ID
// without a ULID.
func TraceID(id string) (traceID [16]byte, ok bool) {
	_, tail, _ := strings.Cut(id, "_")
	u, err := ulid.ParseStrict(tail)
	return u, err == nil
}

// SpanID returns a span ID that is derived from the parts. All processes derive the same ID.
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
