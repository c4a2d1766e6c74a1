package media

import "github.com/pion/rtp"

const (
	directionSlack = 40   // 5 ms: what the clocks may be apart
	directionMost  = 1280 // 160 ms
	relayMost      = 8    // packets that may wait to be passed on
	pressMost      = 16   // digits that may wait to be passed on
)

// relayed is a packet of one peer on its way to the other.
type relayed struct {
	codec  Codec
	marker bool
	seq    uint16
	stamp  uint32
	ssrc   uint32
	n      int
	data   [frameMost]byte
}

// direction is one direction of a bridge: the audio of one peer, its packets as they came, and its digits. The session of that
// peer puts in, the other takes out, each from its own clock.
type direction struct {
	audioQueue
	ended   bool
	mixed   bool // the sound is not that of the packets
	packets [relayMost]relayed
	first   int
	waiting int
	keys    [pressMost]byte
	pressed int
}

func newDirection() *direction {
	return &direction{audioQueue: audioQueue{slack: directionSlack, most: directionMost}}
}

// end says that the bridge is no more.
func (d *direction) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ended = true
}

func (d *direction) over() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ended
}

// mix says whether the packets are what shall be heard.
func (d *direction) mix(on bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.mixed = on
}

// press takes a digit; too many are let go.
func (d *direction) press(key byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.pressed < pressMost {
		d.keys[d.pressed] = key
		d.pressed++
	}
}

// digits are those that wait.
func (d *direction) digits() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.pressed == 0 {
		return ""
	}
	keys := string(d.keys[:d.pressed])
	d.pressed = 0
	return keys
}

// forward takes a packet; the oldest is let go where too many wait, and one that is too long always.
func (d *direction) forward(p *rtp.Packet, codec Codec) {
	if len(p.Payload) > frameMost {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.waiting == relayMost {
		d.first, d.waiting = (d.first+1)%relayMost, d.waiting-1
	}
	r := &d.packets[(d.first+d.waiting)%relayMost]
	d.waiting++
	r.codec, r.marker, r.seq, r.stamp, r.ssrc = codec, p.Marker, p.SequenceNumber, p.Timestamp, p.SSRC
	r.n = copy(r.data[:], p.Payload)
}

// next takes the oldest packet out.
func (d *direction) next(into *relayed) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.waiting == 0 {
		return false
	}
	r := &d.packets[d.first]
	into.codec, into.marker, into.seq, into.stamp, into.ssrc, into.n = r.codec, r.marker, r.seq, r.stamp, r.ssrc, r.n
	copy(into.data[:], r.data[:r.n])
	d.first, d.waiting = (d.first+1)%relayMost, d.waiting-1
	return true
}

// drop lets all packets go where they are not what shall be heard, which it says.
func (d *direction) drop(own bool) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if own || d.mixed {
		d.waiting = 0
		return true
	}
	return false
}
