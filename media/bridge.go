package media

import (
	"sync"
	"time"

	"github.com/pion/rtp"

	"github.com/callboard/callboard/media/mix"
)

const (
	dryMost  = 800      // samples: after 100 ms without a packet to relay, the audio is encoded anew
	leapMost = 8000 * 2 // timestamps more than two seconds apart belong to another stream
)

// Span is a period of a session's media time in which a human agent spoke with the peer in place of the voice agent.
type Span struct{ From, To time.Duration }

// link is the state that one of the two sessions of a bridge holds.
type link struct {
	in, out *direction
	voice   [frameMost]byte // audio of the other peer in this frame
	speaks  bool
	bus     mix.Bus
	packet  relayed
	from    int64 // media time at which the bridge began, in samples
	preview bool  // early media: only the peer on hold receives audio
	heard   bool  // audio of the other peer has arrived
	// State of the relayed RTP stream: the offsets for its sequence numbers and timestamps, and its source.
	anchored bool
	ssrc     uint32
	seq      uint16
	stamp    uint32
	dry      int
}

// Bridge connects the audio of two sessions and relays their DTMF digits. Packets with the codec and frame length of
// the receiving session are relayed unchanged. Other audio is encoded anew, also while playback is mixed in.
// Recordings continue with the peer's audio on the left and the sent audio on the right. A new bridge ends an earlier
// bridge of a session. undo ends the bridge, leaves both sessions open and may be called repeatedly. The bridge also
// ends with either session.
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

// gather fetches the other peer's audio for this frame, and the digits that this peer pressed. over: the bridge has
// ended.
func (l *link) gather(n int) (digits string, over bool) {
	if l.in.over() {
		return "", true
	}
	l.speaks = l.in.get(l.voice[:n])
	l.heard = l.heard || l.speaks
	return l.in.digits(), false
}

// next returns the next packet to relay. It drops packets with another codec or with another length than n samples.
func (l *link) next(codec Codec, n int) (p *relayed, ok bool) {
	for l.in.next(&l.packet) {
		if l.packet.codec == codec && l.packet.n == n {
			return &l.packet, true
		}
	}
	return nil, false
}

// renumber returns the RTP header with which a relayed packet continues the session's own stream. Packets lost before
// the relay remain gaps in the sequence numbers, so that the receiver can detect the loss.
func (l *link) renumber(o *sender, p *relayed, stamp uint32) rtp.Header {
	ahead := int32(p.stamp + l.stamp - stamp) //nolint:gosec // modular
	if !l.anchored || l.ssrc != p.ssrc || ahead >= leapMost || ahead <= -leapMost {
		l.anchored, l.ssrc = true, p.ssrc
		l.stamp, l.seq = stamp-p.stamp, o.seq-p.seq
		p.marker = true
	}
	return rtp.Header{Version: rtpVersion, Marker: p.marker, PayloadType: o.kind, SequenceNumber: p.seq + l.seq, Timestamp: p.stamp + l.stamp, SSRC: o.ssrc}
}

// relay sends the packets of the bridged peer unchanged. It returns false if other audio must be mixed in or no packets
// arrive, so that the caller encodes the audio. right receives the relayed audio for the recording.
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

// relayPacket sends a packet of the bridged peer with the given RTP header.
func (s *Session) relayPacket(buf []byte, p *relayed, header rtp.Header, now time.Duration) {
	copy(buf[rtpHeaderLen:], p.data[:p.n])
	if sealed := s.out.seal(buf, header, p.n, p.n, &s.srtp); sealed != nil {
		s.sound.send(sealed, &s.out.to)
		s.out.interval.tick(now)
	}
	s.out.advance(&header, p.n)
}
