package media

import (
	"strconv"
	"time"

	"github.com/pion/rtp"

	"github.com/callboard/callboard/media/sdp"
)

// sender is the state of the RTP stream that the session sends.
type sender struct {
	to      target
	ssrc    uint32
	stamp   uint32
	seq     uint16
	held    bool
	running bool // the previous frame was sent
	codec   Codec
	kind    uint8 // payload type of the audio
	event   uint8 // payload type of telephone events
	ptime   int   // packet length in milliseconds
	// scale is the number of RTP clock units per sample. eventClock is the clock rate of event durations, in Hz.
	scale      uint32
	eventClock int
	packets    uint64
	octets     uint64
	samples    uint64
	interval   intervals
}

// setAgreed applies the negotiated codec, packet length and payload types.
func (o *sender) setAgreed(a *sdp.Agreed) {
	o.held, o.ptime = a.Held, a.PTime
	o.kind, o.event = a.Codec.Type, a.Event.Type
	o.codec = codecNamed(a.Codec.Name)
	o.scale, o.eventClock = uint32(a.Codec.Clock/sampleRate), a.Event.Clock //nolint:gosec // 8 or 48 kHz
}

// frameLen returns the number of samples in a frame.
func (o *sender) frameLen() int { return o.ptime * sampleRate / 1000 }

// frameTurns returns the number of clock turns per frame.
func (o *sender) frameTurns() int { return o.ptime / int(turn/time.Millisecond) }

// nextStamp returns the RTP timestamp of a frame of n samples and advances the timestamp for the next frame.
func (o *sender) nextStamp(n int) uint32 {
	stamp := o.stamp
	o.stamp += uint32(n) //nolint:gosec // a frame
	return stamp
}

// pause records that the session sends no packet in this frame.
func (o *sender) pause() {
	o.running = false
	o.interval.pause()
}

// seal writes the header before a payload that is already in buf, encrypts the packet and counts it. It returns nil if
// the packet must not be sent.
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

// advance moves our sequence number and timestamp past a relayed packet, so that our next packet continues after it.
func (o *sender) advance(packet *rtp.Header, length int) {
	if next := packet.SequenceNumber + 1; int16(next-o.seq) > 0 { //nolint:gosec // modular
		o.seq = next
	}
	if next := packet.Timestamp + uint32(length); int32(next-o.stamp) > 0 { //nolint:gosec // modular
		o.stamp = next
	}
}

// cname returns the RTCP CNAME. It is unique to the session and contains no address.
func (o *sender) cname() string { return strconv.FormatUint(uint64(o.ssrc), 36) + "@callboard" }
