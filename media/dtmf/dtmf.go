// Package dtmf sends and receives key presses as telephone events (RFC 4733). It knows payloads and timestamps,
// neither packets nor sockets; being asked for the next frame is its clock.
package dtmf

import (
	"encoding/binary"
	"strings"
)

// PayloadLen is the length of an event's payload.
const PayloadLen = 4

const keys = "0123456789*#ABCD"

// Code is the event code of a key.
func Code(key byte) (code uint8, ok bool) {
	if key >= 'a' && key <= 'd' {
		key -= 'a' - 'A'
	}
	i := strings.IndexByte(keys, key)
	return uint8(max(i, 0)), i >= 0 //nolint:gosec // below 16
}

// Event is the payload of one packet.
type Event struct {
	Code     uint8
	End      bool
	Volume   uint8 // -dBm0, 0 to 63
	Duration uint16
}

// Parse reads a payload; false: it is too short.
func Parse(b []byte) (Event, bool) {
	if len(b) < PayloadLen {
		return Event{}, false
	}
	return Event{Code: b[0], End: b[1]&0x80 != 0, Volume: b[1] & 0x3F, Duration: binary.BigEndian.Uint16(b[2:])}, true
}

// Put writes the payload to b.
func (e Event) Put(b []byte) {
	b[0], b[1] = e.Code, e.Volume&0x3F
	if e.End {
		b[1] |= 0x80
	}
	binary.BigEndian.PutUint16(b[2:], e.Duration)
}
