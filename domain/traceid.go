package domain

import (
	"strings"

	"github.com/oklog/ulid/v2"
)

// TraceID returns the trace id of a call or an event: the 16 bytes of the ULID
// in its id, so that the id leads to the trace. ok is false for an id without a
// ULID.
func TraceID(id string) (traceID [16]byte, ok bool) {
	_, tail, _ := strings.Cut(id, "_")
	u, err := ulid.ParseStrict(tail)
	return u, err == nil
}
