// Package dtmf sends and receives DTMF digits as telephone events (RFC 4733), and detects DTMF tones in audio. The
// package handles payloads and timestamps; the caller sends and receives the packets. Time advances only with the
// frames that the caller processes.
package dtmf

import (
	"encoding/binary"
	"strings"
)

// PayloadLen is the length of a telephone event's payload in bytes.
const PayloadLen = 4

const keys = "0123456789*#ABCD"

// Code returns the RFC 4733 event code of a key. ok is false for a character that is not a key.
func Code(key byte) (code uint8, ok bool) {
	if key >= 'a' && key <= 'd' {
		key -= 'a' - 'A'
	}
	i := strings.IndexByte(keys, key)
	return uint8(max(i, 0)), i >= 0 //nolint:gosec // below 16
}

// Event is the payload of one telephone event packet.
type Event struct {
	Code     uint8
	End      bool
	Volume   uint8 // -dBm0, 0 to 63
	Duration uint16
}

// Parse decodes a telephone event payload. It returns false if the payload is too short.
func Parse(b []byte) (Event, bool) {
	if len(b) < PayloadLen {
		return Event{}, false
	}
	return Event{Code: b[0], End: b[1]&0x80 != 0, Volume: b[1] & 0x3F, Duration: binary.BigEndian.Uint16(b[2:])}, true
}

// Encode writes the payload to b, which must hold PayloadLen bytes.
func (e Event) Encode(b []byte) {
	b[0], b[1] = e.Code, e.Volume&0x3F
	if e.End {
		b[1] |= 0x80
	}
	binary.BigEndian.PutUint16(b[2:], e.Duration)
}
