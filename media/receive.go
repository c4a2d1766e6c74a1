package media

import (
	"net/netip"
	"time"

	"github.com/pion/rtp"

	"github.com/callboard/callboard/media/jitter"
	"github.com/callboard/callboard/media/reception"
	"github.com/callboard/callboard/media/sdp"
)

const (
	fewPackets = 2 // are looked for first: seldom more than one has come
	looksMost  = 4 // batches taken in one frame; the rest waits, or the kernel drops it
)

// kind is what a payload type stands for.
type kind uint8

const (
	rtpVersion   = 2
	rtpHeaderLen = 12 // of the packets that are sent
)

const (
	unknownKind kind = iota
	muKind
	aKind
	g722Kind
	opusKind
	noiseKind
	eventKind
)

// receiver takes the packets of the one source that is heard, and counts them. See source.go for whose they are.
type receiver struct {
	confirmed netip.AddrPort // the source that is heard, and that our audio goes to; zero: none has proved itself
	ssrc      uint32
	arrived   int64         // when its last packet came, by the wall clock
	heardAt   time.Duration // the same on the engine's time
	count     reception.Receiver
	late      uint64
	refused   uint64
	samples   uint64
	kinds     [128]kind
	khz       [128]uint8 // the clock of each
	open      bool       // a description has been agreed on; before it, no packet is meant for this session
	proving   bool       // there are candidates in source
	source    *sourceSearch
}

func codecOf(k kind) Codec {
	switch k {
	case aKind:
		return PCMA
	case g722Kind:
		return G722
	case opusKind:
		return Opus
	case unknownKind, muKind, noiseKind, eventKind:
	}
	return PCMU
}

// sound says whether packets of a kind are sound, whose timestamps tell of the network.
func (k kind) sound() bool { return k >= muKind && k <= opusKind }

func (r *receiver) learn(f sdp.Format) {
	t := f.Type & 127
	switch f.Name {
	case "PCMU":
		r.kinds[t] = muKind
	case "PCMA":
		r.kinds[t] = aKind
	case "G722":
		r.kinds[t] = g722Kind
	case sdp.Opus:
		r.kinds[t] = opusKind
	case sdp.Noise:
		r.kinds[t] = noiseKind
	case sdp.Event:
		r.kinds[t] = eventKind
	}
	r.khz[t] = uint8(min(max(f.Clock/1000, 1), 255))
}

// forget drops what payload types mean, but for comfort noise: its type is static, and some send it unasked.
func (r *receiver) forget() {
	r.kinds = [128]kind{}
	r.learn(sdp.Format{Type: 13, Name: sdp.Noise, Clock: sampleRate})
}

// look reads what has arrived on the RTP socket, for receive. Before a description nothing is meant for us, and stays unread.
func (s *Session) look(into *batch) (packets int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || !s.in.open {
		return notRead
	}
	return s.sound.receive(into, fewPackets)
}

// receive takes what has been read, and reads on where that was all there was room for.
func (s *Session) receive(c *clock) {
	from, n, most := c.first[c.at], c.got[c.at], fewPackets
	for looks := 1; n >= 0; looks++ {
		for i := range n {
			data, sender, arrived := from.packet(i)
			s.packet(data, sender, arrived, c.now)
		}
		if n < most || looks == looksMost {
			return
		}
		from, most = c.in, batchLen
		n = s.sound.receive(from, most)
	}
}

func (s *Session) packet(data []byte, from netip.AddrPort, arrived int64, now time.Duration) {
	data, ok := s.unseal(data, from, arrived, now)
	if !ok {
		return
	}
	var p rtp.Packet
	if p.Unmarshal(data) != nil || p.Version != rtpVersion {
		s.refuse(from, notRTP)
		return
	}
	k := s.in.kinds[p.PayloadType&127]
	if !s.admit(from, &p, k, arrived, now) {
		return
	}
	s.idle.heard(now)
	if k == opusKind {
		s.code.narrow(&p)
	}
	units := arrived / int64(time.Second/sampleRate)
	switch s.in.count.Got(&p.Header, units, k.sound()) {
	case reception.Repeated:
		return
	case reception.Anew:
		s.buffer.Reset()
		s.code.anew()
	case reception.Next:
	}
	switch k {
	case unknownKind: // counted, for it has its place in the sequence
	case noiseKind:
		if len(p.Payload) > 0 {
			s.buffer.Noise(p.Timestamp, p.Payload[0])
		}
	case eventKind:
		s.press(&p)
	case muKind, aKind, g722Kind, opusKind:
		s.heard.Sound(p.SequenceNumber)
		s.keep(&p, k)
	}
}

// keep puts sound into the buffer.
func (s *Session) keep(p *rtp.Packet, k kind) {
	if s.link != nil && !s.link.preview && k != opusKind { // whose packets do not tell how long they are
		s.link.out.forward(p, codecOf(k))
	}
	mu := s.decode(k, p.Payload)
	s.in.samples += uint64(len(mu))
	if s.buffer.Put(p.Timestamp, mu) == jitter.Late {
		s.in.late++
	}
}
