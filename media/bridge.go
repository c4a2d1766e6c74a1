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
	in, out *direction
	voice   [frameMost]byte // audio of the other peer in this frame
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

// Bridge lets the peers of two sessions hear each other, and relays the digits that they press. Packets of the same codec and
// length are relayed as they came. Otherwise, or while something plays or is mixed in, the audio is encoded anew. Recordings go
// on: the peer's audio on the left, ours on the right. A session that was bridged before leaves that bridge. undo ends the
// bridge, as often as it is called, and leaves both sessions to their owners; so does the end of either session.
func Bridge(a, b *Session) (undo func()) { return connect(a, b, false) }

func connect(a, b *Session, preview bool) (undo func()) {
	there, back := newDirection(), newDirection()
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
	l.from = s.recording.position
	s.mixer.link = l
}

func (s *Session) leave(l *link) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mixer.link == l {
		s.unlink()
	}
}

// unlink ends the session's bridge; the other end sees it at its next frame.
func (s *Session) unlink() {
	l := s.mixer.link
	if l == nil {
		return
	}
	s.mixer.link = nil
	l.in.end()
	l.out.end()
	if !l.preview {
		s.recording.addHuman(l.from)
	}
}

// gather takes what the other side says, and the digits pressed there; over: the bridge has ended.
func (l *link) gather(n int) (digits string, over bool) {
	if l.in.over() {
		return "", true
	}
	l.speaks = l.in.get(l.voice[:n])
	l.heard = l.heard || l.speaks
	return l.in.digits(), false
}

// next is the next packet to relay of a frame of n samples in a codec.
func (l *link) next(codec Codec, n int) (p *relayed, ok bool) {
	for l.in.next(&l.packet) {
		if l.packet.codec == codec && l.packet.n == n {
			return &l.packet, true
		}
	}
	return nil, false
}

// renumber finds the numbers under which a packet goes on, so that what the network lost stays lost and nothing else.
func (l *link) renumber(o *sender, p *relayed, stamp uint32) rtp.Header {
	ahead := int32(p.stamp + l.stamp - stamp) //nolint:gosec // modular
	if !l.anchored || l.ssrc != p.ssrc || ahead >= leapMost || ahead <= -leapMost {
		l.anchored, l.ssrc = true, p.ssrc
		l.stamp, l.seq = stamp-p.stamp, o.seq-p.seq
		p.marker = true
	}
	return rtp.Header{Version: rtpVersion, Marker: p.marker, PayloadType: o.kind, SequenceNumber: p.seq + l.seq, Timestamp: p.stamp + l.stamp, SSRC: o.ssrc}
}

// relay sends the packets of the other peer as they came, and says whether it did: not while our own audio is in it. right is
// what the peer hears.
func (s *Session) relay(buf, right []byte, stamp uint32, now time.Duration) bool {
	l := s.mixer.link
	if l == nil {
		return false
	}
	own := s.playback.hold.on || s.playback.active || s.digits.isSending() || s.mixer.isSpeaking()
	if l.in.drop(own) {
		l.anchored, l.dry = false, dryMost
		return false
	}
	for p, ok := l.next(s.out.codec, len(right)); ok; p, ok = l.next(s.out.codec, len(right)) {
		s.relayPacket(buf, p, l.renumber(&s.out, p, stamp), now)
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

// relayPacket sends a packet of the other peer under its new header.
func (s *Session) relayPacket(buf []byte, p *relayed, header rtp.Header, now time.Duration) {
	copy(buf[rtpHeaderLen:], p.data[:p.n])
	if sealed := s.out.seal(buf, header, p.n, p.n, &s.srtp); sealed != nil {
		s.sound.send(sealed, &s.out.to)
		s.out.interval.tick(now)
	}
	s.out.advance(&header, p.n)
}
