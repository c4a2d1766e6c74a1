package media

import (
	"sync"
	"time"

	"github.com/pion/rtp"

	"github.com/callboard/callboard/media/mix"
)

const (
	dryMost  = 800      // 100 ms without a packet: the stream goes on with what is heard
	leapMost = 8000 * 2 // timestamps further apart than two seconds are another stream
)

// Span is a part of the media time, in which a human spoke in place of the agent.
type Span struct{ From, To time.Duration }

// link is one session's end of a bridge.
type link struct {
	in, out *line
	voice   [frameMost]byte // what the other far end says in this frame
	speaks  bool
	bus     mix.Bus
	packet  relayed
	from    int64 // samples since Begin
	preview bool  // of early sound: only the held side hears
	heard   bool  // something of it has come
	// The stream that is passed on: what to add to its numbers, and where it stands.
	anchored bool
	ssrc     uint32
	seq      uint16
	stamp    uint32
	dry      int
}

// Bridge lets the far ends of two sessions hear each other, and passes on the digits that they press. Where both speak the
// same codec in packets of the same length, the packets go through as they are; where something plays besides, is mixed in or
// is written otherwise, the sound is written anew. Recordings go on: what the far end says on the left, what it hears on the
// right. What plays is mixed in. A session that was bridged before leaves that bridge. undo ends it, as often as it is
// called, and leaves both sessions to their owners as they are; so does the end of either.
func Bridge(a, b *Session) (undo func()) { return connect(a, b, false) }

func connect(a, b *Session, preview bool) (undo func()) {
	there, back := newLine(), newLine()
	there.mixed, back.mixed = preview, preview
	la := &link{in: back, out: there, dry: dryMost, preview: preview}
	lb := &link{in: there, out: back, dry: dryMost, preview: preview}
	a.join(la)
	b.join(lb)
	var once sync.Once
	return func() {
		once.Do(func() {
			there.end()
			back.end()
			a.leave(la)
			b.leave(lb)
		})
	}
}

func (s *Session) join(l *link) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unlink()
	if s.closed {
		l.in.end()
		l.out.end()
		return
	}
	l.from = s.media
	s.link = l
}

func (s *Session) leave(l *link) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.link == l {
		s.unlink()
	}
}

// unlink ends the session's bridge; the other end sees it at its next frame.
func (s *Session) unlink() {
	l := s.link
	if l == nil {
		return
	}
	s.link = nil
	l.in.end()
	l.out.end()
	if l.preview {
		return
	}
	s.human = append(s.human, Span{samples(uint64(l.from)), samples(uint64(s.media))}) //nolint:gosec // never negative
}

// Human are the parts of the media time in which the session was bridged, the last up to now.
func (s *Session) Human() []Span {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := append([]Span(nil), s.human...)
	if s.link != nil && !s.link.preview {
		out = append(out, Span{samples(uint64(s.link.from)), samples(uint64(s.media))}) //nolint:gosec // never negative
	}
	return out
}

// gather takes what the other side says, and what it presses; false: the bridge has ended.
func (l *link) gather(s *Session, n int) bool {
	if l.in.over() {
		return false
	}
	l.speaks = l.in.get(l.voice[:n])
	l.heard = l.heard || l.speaks
	if keys := l.in.digits(); keys != "" {
		s.passKeys(keys)
	}
	return true
}

// pass hands over what our far end says and what is whispered to the other side.
func (l *link) pass(s *Session, left []byte) {
	if l.preview {
		l.foretell(s, left)
		return
	}
	n := len(left)
	whispered := s.taps != nil && s.taps.active > 0
	l.out.mix(whispered || s.hold.on)
	if !whispered {
		if !s.hold.on {
			l.out.put(left)
		}
		return
	}
	l.bus.Begin(n)
	if !s.hold.on {
		l.bus.Add(left)
	}
	s.taps.add(&l.bus, n, Whisper, Barge)
	l.bus.Sum(s.taps.heard[:n])
	l.out.put(s.taps.heard[:n])
}

// relay sends the packets of the other far end as they came, and says whether it did: not while our own voice is in it.
// right is what the far end hears.
func (s *Session) relay(buf, right []byte, stamp uint32, now time.Duration) bool {
	l := s.link
	if l == nil {
		return false
	}
	own := s.hold.on || s.play.active || s.sending || len(s.play.keys) > 0 || s.taps != nil && s.taps.active > 0
	if l.in.drop(own) {
		l.anchored, l.dry = false, dryMost
		return false
	}
	for l.in.next(&l.packet) {
		p := &l.packet
		if p.codec != s.out.codec || p.n != len(right) {
			continue
		}
		l.follow(s, p, stamp)
		s.relayOne(buf, p, now)
		l.dry = 0
	}
	if l.dry >= dryMost {
		l.anchored = false
		return false
	}
	l.dry += len(right)
	copy(right, l.voice[:len(right)])
	return true
}

// follow finds the numbers under which a packet goes on, so that what the network lost stays lost and nothing else.
func (l *link) follow(s *Session, p *relayed, stamp uint32) {
	ahead := int32(p.stamp + l.stamp - stamp) //nolint:gosec // modular
	if l.anchored && l.ssrc == p.ssrc && ahead < leapMost && ahead > -leapMost {
		return
	}
	l.anchored, l.ssrc = true, p.ssrc
	l.stamp, l.seq = stamp-p.stamp, s.out.seq-p.seq
	p.marker = true
}

func (s *Session) relayOne(buf []byte, p *relayed, now time.Duration) {
	l, o := s.link, &s.out
	packet := rtp.Header{Version: rtpVersion, Marker: p.marker, PayloadType: o.kind, SequenceNumber: p.seq + l.seq, Timestamp: p.stamp + l.stamp, SSRC: o.ssrc}
	copy(buf[rtpHeaderLen:], p.data[:p.n])
	if sealed := s.wrap(buf, packet, p.n, p.n); sealed != nil {
		s.sound.send(sealed, &o.to)
		o.interval.tick(now)
	}
	if next := packet.SequenceNumber + 1; int16(next-o.seq) > 0 { //nolint:gosec // modular
		o.seq = next
	}
	if next := packet.Timestamp + uint32(p.n); int32(next-o.stamp) > 0 { //nolint:gosec // modular
		o.stamp = next
	}
}
