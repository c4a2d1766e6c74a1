package media

import "github.com/pion/rtp"

const (
	directionSlack = 40   // 5 ms: how far the clocks may drift apart
	directionMost  = 1280 // 160 ms
	relayMost      = 8    // packets that may wait to be relayed
	pressMost      = 16   // digits that may wait to be relayed
)

// relayed is a copy of an RTP packet that a bridge passes from one peer to the other.
type relayed struct {
	codec  Codec
	marker bool
	seq    uint16
	stamp  uint32
	ssrc   uint32
	n      int
	data   [frameMost]byte
}

// direction carries audio, RTP packets and digits from one peer of a bridge to the other. The session of the sending
// peer writes to it, and the session of the receiving peer reads from it, each on its own media clock.
type direction struct {
	audioQueue
	ended   bool
	mixed   bool // the audio differs from the packets, because other audio is mixed in
	packets [relayMost]relayed
	first   int
	waiting int
	keys    [pressMost]byte
	pressed int
}

func newDirection() *direction {
	return &direction{audioQueue: audioQueue{slack: directionSlack, most: directionMost}}
}

// end marks the direction as ended. Both sessions notice it at their next frame.
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

// setMixed records whether the sending session mixes other audio in. If so, its packets must not be relayed.
func (d *direction) setMixed(on bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.mixed = on
}

// addDigit adds a digit; digits beyond pressMost are dropped.
func (d *direction) addDigit(key byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.pressed < pressMost {
		d.keys[d.pressed] = key
		d.pressed++
	}
}

// digits returns and removes the digits that wait to be relayed.
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

// queuePacket queues a copy of a packet for the relay. If the queue is full, the oldest packet is dropped. A payload
// longer than frameMost is ignored.
func (d *direction) queuePacket(p *rtp.Packet, codec Codec) {
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

// next moves the oldest queued packet to into. It returns false if no packet is queued.
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

// drop discards the queued packets if either session mixes other audio in: own for the receiving session, d.mixed for
// the sending one. It says whether it did.
func (d *direction) drop(own bool) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if own || d.mixed {
		d.waiting = 0
		return true
	}
	return false
}
