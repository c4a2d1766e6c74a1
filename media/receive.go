package media

import (
	"net/netip"
	"time"

	"github.com/callboard/callboard/media/jitter"
	"github.com/callboard/callboard/media/prefetch"
	"github.com/callboard/callboard/media/rtp"
	"github.com/callboard/callboard/media/sdp"
)

const (
	latchWindow = 2 * time.Second        // within it, a source that the description does not name can be learnt
	latchCount  = 3                      // by so many packets in a row
	streamOver  = 100 * time.Millisecond // of silence; until then no other stream takes its place
	fewPackets  = 2                      // are looked for first: seldom more than one has come
	looksMost   = 4                      // batches taken in one frame; the rest waits, or the kernel drops it
)

// kind is what a payload type stands for.
type kind uint8

const (
	unknownKind kind = iota
	muKind
	aKind
	g722Kind
	opusKind
	noiseKind
	eventKind
)

// receiver decides whose packets are heard, and counts them.
//
// A source is locked by three packets in a row of a negotiated payload type: the address that the description names at any
// time, another port or a network of the session only within a short window, and only while the named one is silent.
// From then on nobody else is heard, until a new description names another address; nor is another stream of that address,
// until the one heard is silent. What the source heard until then still sends is not meant for the new one: it is learnt
// only in the second half of the window, for a far end that has not moved after all.
type receiver struct {
	remote  netip.AddrPort // as described
	locked  netip.AddrPort
	former  netip.AddrPort // was heard before the description named another address
	ssrc    uint32
	spoke   int64 // when the locked stream was last heard, by the wall clock
	named   bool  // the described address has been heard
	until   time.Duration
	trial   trial
	count   rtp.Receiver
	late    uint64
	refused uint64
	samples uint64
	kinds   [128]kind
	khz     [128]uint8 // the clock of each
}

// trial is a source, or a new SSRC of the locked one, that has to prove itself.
type trial struct {
	from netip.AddrPort
	ssrc uint32
	seq  uint16
	n    int
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

// expect names the address that shall be heard; a lock on another ends.
func (r *receiver) expect(remote netip.AddrPort, now time.Duration) {
	if r.former = r.locked; !r.former.IsValid() {
		r.former = r.remote
	}
	r.remote, r.locked, r.named, r.trial = remote, netip.AddrPort{}, false, trial{}
	r.openLatch(now)
}

func (r *receiver) openLatch(now time.Duration) { r.until = now + latchWindow }

// proven counts packets in a row.
func (r *receiver) proven(from netip.AddrPort, p *rtp.Packet) bool {
	t := &r.trial
	same := t.from == from && t.ssrc == p.SSRC
	switch {
	case same && t.n > 0 && p.Seq == t.seq: // a copy proves nothing, and breaks no row
	case same && p.Seq == t.seq+1:
		t.n++
	default:
		*t = trial{from: from, ssrc: p.SSRC, n: 1}
	}
	t.seq = p.Seq
	return t.n >= latchCount
}

// expect names the address that shall be heard. What came before the first description was not meant for this session.
func (s *Session) expect(remote netip.AddrPort, now time.Duration) {
	if !s.in.remote.IsValid() {
		s.sound.drain()
		s.control.drain()
	}
	s.in.expect(remote, now)
}

// look reads what has arrived on the RTP socket, for receive. Before a description nothing is meant for us, and stays unread.
func (s *Session) look(into *batch) (packets int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || !s.in.remote.IsValid() {
		return notRead
	}
	s.ahead()
	return s.sound.receive(into, fewPackets)
}

// approach brings near what a look and a frame need of the session itself.
func (s *Session) approach() {
	prefetch.Bytes(prefetch.Place(s), int(prefetch.Place(&s.in.kinds[1])-prefetch.Place(s)))
	prefetch.Of(&s.keys.out)
	prefetch.Of(&s.keypad.band)
	prefetch.Of(&s.desc.agreed.Noise)
	prefetch.Of(&s.desc.agreed.Mux)
	prefetch.Of(&s.o.Notify)
}

// ahead brings near what the frame needs beside the session itself, while the kernel is asked for packets.
func (s *Session) ahead() {
	n := s.out.ptime * sampleRate / 1000
	s.buffer.Ahead(n)
	s.place.Ahead(n)
	if p := &s.play; p.active && p.at < len(p.clip) {
		prefetch.Bytes(prefetch.Place(&p.clip[p.at]), n)
	}
	s.out.interval.ahead(s.out.ptime)
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
	data, ok := s.unseal(data, from, arrived)
	if !ok {
		return
	}
	p, ok := rtp.Parse(data)
	k := s.in.kinds[p.Type&127]
	if !ok || !s.admit(from, &p, k, arrived) {
		if !ok {
			s.in.refused++
		}
		return
	}
	s.idle.heard(now)
	if k == opusKind {
		s.code.narrow(&p)
	}
	units := arrived / int64(time.Second/sampleRate)
	switch s.in.count.Got(&p, units, k.sound()) {
	case rtp.Repeated:
		return
	case rtp.Anew:
		s.buffer.Reset()
		s.code.anew()
	case rtp.Next:
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

// admit says whether a packet is heard, and locks its source when that has proven itself.
func (s *Session) admit(from netip.AddrPort, p *rtp.Packet, k kind, arrived int64) bool {
	r := &s.in
	if r.locked.IsValid() {
		if from != r.locked {
			r.refused++
			return false
		}
		if p.SSRC == r.ssrc {
			r.trial, r.spoke = trial{}, arrived
			return true
		}
		// A forged sender's address is easy, a silenced source is not: another stream is heard only once the locked one is over.
		silent := time.Duration(arrived - r.spoke)
		if !r.proven(from, p) || silent >= 0 && silent < streamOver { // the wall clock may be set back
			return false
		}
		r.ssrc, r.spoke = p.SSRC, arrived
		return true
	}
	named := from == r.remote
	if k == unknownKind || k == noiseKind || !named && (r.named || !s.learnable(from)) {
		r.refused++
		return false
	}
	r.named = r.named || named
	if !r.proven(from, p) {
		return named
	}
	r.locked, r.ssrc, r.spoke, r.trial = from, p.SSRC, arrived, trial{}
	if !named {
		s.out.to = s.sound.target(from)
		s.report.to = target{}
		if s.desc.agreed.Mux {
			s.report.to = s.control.target(from)
		} else if control := netip.AddrPortFrom(from.Addr(), from.Port()+1); s.engine.mayReach(control, s.o.Networks) {
			s.report.to = s.control.target(control)
		}
	}
	return true
}

// learnable says whether an address that the description does not name may become the source.
func (s *Session) learnable(from netip.AddrPort) bool {
	left := s.in.until - s.engine.now()
	if left < 0 || from == s.in.former && left > latchWindow/2 {
		return false
	}
	if from.Addr() != s.in.remote.Addr() && !within(from.Addr(), s.o.Networks) {
		return false
	}
	return s.engine.mayReach(from, s.o.Networks)
}
