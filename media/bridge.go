package media

import (
	"sync"
	"time"

	"github.com/pion/rtp"

	"github.com/callboard/callboard/media/mix"
)

const (
	dryMost  = 800      // samples: 100 ms without a relayed packet; the audio is encoded anew
	leapMost = 8000 * 2 // timestamps more than two seconds apart belong to another stream
)

// Span is a part of the media time in which a human spoke instead of the agent.
type Span struct{ From, To time.Duration }

// link is one session's end of a bridge.
type link struct {
	in, out *direction
	voice   [frameMost]byte // audio of the other peer in this frame
	speaks  bool
	bus     mix.Bus
	packet  relayed
	from    int64 // samples since Begin
	preview bool  // early media: only the peer on hold receives audio
	heard   bool  // audio of the other peer has arrived
	// The relayed stream: the offsets added to its sequence numbers and timestamps, and its position.
	anchored bool
	ssrc     uint32
	seq      uint16
	stamp    uint32
	dry      int
}

// Bridge connects the audio of two sessions and relays their DTMF digits. Packets of the same codec and length are
// relayed unchanged. Otherwise, or while something plays or is mixed in, the audio is encoded anew. Recordings
// continue: the peer's audio on the left, the sent audio on the right. A session leaves an earlier bridge first.
// undo ends the bridge and may be called repeatedly; both sessions stay open. The end of either session ends the
// bridge too.
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

// unlink ends the session's bridge; the other session notices at its next frame.
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

// gather takes the audio of the other side for this frame, and the digits pressed there; over: the bridge has
// ended.
func (l *link) gather(n int) (digits string, over bool) {
	if l.in.over() {
		return "", true
	}
	l.speaks = l.in.get(l.voice[:n])
	l.heard = l.heard || l.speaks
	return l.in.digits(), false
}

// next returns the next packet to relay, if it holds a frame of n samples in this codec.
func (l *link) next(codec Codec, n int) (p *relayed, ok bool) {
	for l.in.next(&l.packet) {
		if l.packet.codec == codec && l.packet.n == n {
			return &l.packet, true
		}
	}
	return nil, false
}

// renumber returns the header of a relayed packet in our stream. A packet lost on the way to us stays a gap in the
// sequence numbers.
func (l *link) renumber(o *sender, p *relayed, stamp uint32) rtp.Header {
	ahead := int32(p.stamp + l.stamp - stamp) //nolint:gosec // modular
	if !l.anchored || l.ssrc != p.ssrc || ahead >= leapMost || ahead <= -leapMost {
		l.anchored, l.ssrc = true, p.ssrc
		l.stamp, l.seq = stamp-p.stamp, o.seq-p.seq
		p.marker = true
	}
	return rtp.Header{Version: rtpVersion, Marker: p.marker, PayloadType: o.kind, SequenceNumber: p.seq + l.seq, Timestamp: p.stamp + l.stamp, SSRC: o.ssrc}
}

// relay sends the packets of the other peer unchanged and says whether it did. It does not while other audio is
// mixed in. right is the audio that the peer receives.
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

// relayPacket sends a packet of the other peer with a new header.
func (s *Session) relayPacket(buf []byte, p *relayed, header rtp.Header, now time.Duration) {
	copy(buf[rtpHeaderLen:], p.data[:p.n])
	if sealed := s.out.seal(buf, header, p.n, p.n, &s.srtp); sealed != nil {
		s.sound.send(sealed, &s.out.to)
		s.out.interval.tick(now)
	}
	s.out.advance(&header, p.n)
}
