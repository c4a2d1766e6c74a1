package domain

import (
	"hash/fnv"
	"strings"

	"github.com/oklog/ulid/v2"
)

// RequestTrace is the trace context of the API request that created a record. It is stored after the record's JSON,
// so that no API response shows it.
type RequestTrace struct {
	TraceParent string `json:"-"` // traceparent (W3C Trace Context); empty: the request had none
}

// RawPart returns the trace context as the raw part of the record.
func (t *RequestTrace) RawPart() []byte { return []byte(t.TraceParent) }

// SetRawPart sets the trace context from the raw part of the record.
func (t *RequestTrace) SetRawPart(part []byte) { t.TraceParent = string(part) }

// TraceID returns the trace ID of a call or an event: the 16 bytes of the ULID in its ID. ok is false for an ID
// without a ULID.
func TraceID(id string) (traceID [16]byte, ok bool) {
	_, tail, _ := strings.Cut(id, "_")
	u, err := ulid.ParseStrict(tail)
	return u, err == nil
}

// SpanID derives a span ID from parts, so that all processes use the same ID for the same span.
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
