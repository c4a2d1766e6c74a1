package media

import "github.com/pion/rtp"

const (
	lineSlack = 40   // 5 ms: what the clocks may be apart
	lineMost  = 1280 // 160 ms
	relayMost = 8    // packets that may wait to be passed on
	pressMost = 16   // digits that may wait to be passed on
)

// relayed is a packet of one far end on its way to the other.
type relayed struct {
	codec  Codec
	marker bool
	seq    uint16
	stamp  uint32
	ssrc   uint32
	n      int
	data   [frameMost]byte
}

// line is one direction of a bridge: the sound of one far end, its packets as they came, and its digits. The session of that
// far end puts in, the other takes out, each from its own clock.
type line struct {
	queue
	ended   bool
	mixed   bool // the sound is not that of the packets
	packets [relayMost]relayed
	first   int
	waiting int
	keys    [pressMost]byte
	pressed int
}

func newLine() *line { return &line{queue: queue{slack: lineSlack, most: lineMost}} }

// end says that the bridge is no more.
func (l *line) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
}

func (l *line) over() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ended
}

// mix says whether the packets are what shall be heard.
func (l *line) mix(on bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mixed = on
}

// press takes a digit; too many are let go.
func (l *line) press(key byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pressed < pressMost {
		l.keys[l.pressed] = key
		l.pressed++
	}
}

// digits are those that wait.
func (l *line) digits() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pressed == 0 {
		return ""
	}
	keys := string(l.keys[:l.pressed])
	l.pressed = 0
	return keys
}

// forward takes a packet; the oldest is let go where too many wait, and one that is too long always.
func (l *line) forward(p *rtp.Packet, codec Codec) {
	if len(p.Payload) > frameMost {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting == relayMost {
		l.first, l.waiting = (l.first+1)%relayMost, l.waiting-1
	}
	r := &l.packets[(l.first+l.waiting)%relayMost]
	l.waiting++
	r.codec, r.marker, r.seq, r.stamp, r.ssrc = codec, p.Marker, p.SequenceNumber, p.Timestamp, p.SSRC
	r.n = copy(r.data[:], p.Payload)
}

// next takes the oldest packet out.
func (l *line) next(into *relayed) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting == 0 {
		return false
	}
	r := &l.packets[l.first]
	into.codec, into.marker, into.seq, into.stamp, into.ssrc, into.n = r.codec, r.marker, r.seq, r.stamp, r.ssrc, r.n
	copy(into.data[:], r.data[:r.n])
	l.first, l.waiting = (l.first+1)%relayMost, l.waiting-1
	return true
}

// drop lets all packets go where they are not what shall be heard, which it says.
func (l *line) drop(own bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if own || l.mixed {
		l.waiting = 0
		return true
	}
	return false
}
