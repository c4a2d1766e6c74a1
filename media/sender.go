package media

import (
	"strconv"
	"time"

	"github.com/pion/rtp"

	"github.com/callboard/callboard/media/sdp"
)

// sender is our RTP stream.
type sender struct {
	to      target
	ssrc    uint32
	stamp   uint32
	seq     uint16
	held    bool
	running bool // the last frame was sent
	codec   Codec
	kind    uint8 // payload type of audio
	event   uint8 // payload type of telephone events
	ptime   int   // ms
	// scale is how many units of the stream's clock a sample is; eventClock, in Hz, is what durations of events count in.
	scale      uint32
	eventClock int
	packets    uint64
	octets     uint64
	samples    uint64
	interval   intervals
}

// setAgreed takes what was agreed.
func (o *sender) setAgreed(a *sdp.Agreed) {
	o.held, o.ptime = a.Held, a.PTime
	o.kind, o.event = a.Codec.Type, a.Event.Type
	o.codec = codecNamed(a.Codec.Name)
	o.scale, o.eventClock = uint32(a.Codec.Clock/sampleRate), a.Event.Clock //nolint:gosec // 8 or 48 kHz
}

// frameLen is how many samples a frame has.
func (o *sender) frameLen() int { return o.ptime * sampleRate / 1000 }

// frameTurns is in how many turns of the clock the next frame is due.
func (o *sender) frameTurns() int { return o.ptime / int(turn/time.Millisecond) }

// nextStamp is the timestamp of a frame of n samples.
func (o *sender) nextStamp(n int) uint32 {
	stamp := o.stamp
	o.stamp += uint32(n) //nolint:gosec // a frame
	return stamp
}

// pause notes that a frame is not sent.
func (o *sender) pause() {
	o.running = false
	o.interval.pause()
}

// seal makes a packet of the payload that stands in buf, behind the place of its header, and counts it; nil: it must not be
// sent.
func (o *sender) seal(buf []byte, packet rtp.Header, octets, length int, keys *srtpKeys) []byte {
	packet.Timestamp *= o.scale
	if _, err := packet.MarshalTo(buf); err != nil {
		return nil
	}
	o.running = true
	o.packets++
	o.octets += uint64(octets)  //nolint:gosec // a packet
	o.samples += uint64(length) //nolint:gosec // a frame
	return keys.seal(buf[:rtpHeaderLen+octets])
}

// advance lets the stream go on behind a packet that was relayed.
func (o *sender) advance(packet *rtp.Header, length int) {
	if next := packet.SequenceNumber + 1; int16(next-o.seq) > 0 { //nolint:gosec // modular
		o.seq = next
	}
	if next := packet.Timestamp + uint32(length); int32(next-o.stamp) > 0 { //nolint:gosec // modular
		o.stamp = next
	}
}

// cname tells the peer that its streams of one session are ours, and nothing else.
func (o *sender) cname() string { return strconv.FormatUint(uint64(o.ssrc), 36) + "@callboard" }
