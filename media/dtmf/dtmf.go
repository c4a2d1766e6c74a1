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

// Press is one key press received; Samples is how long, in units of the event's clock.
type Press struct {
	Key     byte
	Samples uint32
}

// patience is how many samples may pass without a packet until an event counts as ended: its end packets were lost.
const patience = 1200

// Receiver makes one press of each (SSRC, timestamp), however many packets were lost, repeated or reordered.
// The zero value is ready.
type Receiver struct {
	open    bool
	ssrc    uint32
	stamp   uint32
	code    uint8
	longest uint16
	before  uint32 // samples of earlier segments of a long press
	quiet   int    // samples since the last packet of the open event
	done    [4]stamp
	next    int
}

type stamp struct {
	ssrc, at uint32
	used     bool
}

// Got takes the payload of a packet. True: a press has ended by it.
func (r *Receiver) Got(ssrc, timestamp uint32, payload []byte) (Press, bool) {
	e, ok := Parse(payload)
	if !ok || int(e.Code) >= len(keys) || r.reported(ssrc, timestamp) {
		return Press{}, false
	}
	if r.open && ssrc == r.ssrc && timestamp == r.stamp {
		return r.proceed(e)
	}
	if r.open && ssrc == r.ssrc && e.Code == r.code && r.longest == 0xFFFF && timestamp == r.stamp+0xFFFF {
		r.remember() // a press longer than the field goes on in a new segment (RFC 4733 section 2.5.1.3)
		r.before += 0xFFFF
		r.stamp, r.longest = timestamp, 0
		return r.proceed(e)
	}
	if r.open && ssrc == r.ssrc && int32(timestamp-r.stamp) < 0 { //nolint:gosec // modular
		// An older event of which this is the first packet to arrive.
		r.done[r.next], r.next = stamp{ssrc, timestamp, true}, (r.next+1)%len(r.done)
		return Press{keys[e.Code], uint32(e.Duration)}, true
	}
	ended, was := r.end()
	r.open, r.ssrc, r.stamp, r.code = true, ssrc, timestamp, e.Code
	r.longest, r.before, r.quiet = e.Duration, 0, 0
	if !was && e.End {
		return r.end()
	}
	if was && e.End {
		r.quiet = patience // the next Pass reports it
	}
	return ended, was
}

func (r *Receiver) proceed(e Event) (Press, bool) {
	r.longest, r.quiet = max(r.longest, e.Duration), 0
	if !e.End {
		return Press{}, false
	}
	return r.end()
}

// Pass lets n samples of time go by. True: a press whose end was lost has ended.
func (r *Receiver) Pass(n int) (Press, bool) {
	if !r.open {
		return Press{}, false
	}
	r.quiet += n
	if r.quiet < patience {
		return Press{}, false
	}
	return r.end()
}

func (r *Receiver) end() (Press, bool) {
	if !r.open {
		return Press{}, false
	}
	r.open = false
	r.remember()
	return Press{keys[r.code], r.before + uint32(r.longest)}, true
}

func (r *Receiver) remember() {
	r.done[r.next], r.next = stamp{r.ssrc, r.stamp, true}, (r.next+1)%len(r.done)
}

func (r *Receiver) reported(ssrc, at uint32) bool {
	for _, d := range r.done {
		if d.used && d.ssrc == ssrc && d.at == at {
			return true
		}
	}
	return false
}
