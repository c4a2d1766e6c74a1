package media

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/callboard/callboard/media/sdp"
	"github.com/callboard/callboard/media/srtp"
)

// description is the SDP state of a session: the formats that it offers and the result of the negotiation.
type description struct {
	formats   []sdp.Format // formats of our offers, in order of preference, with their payload types
	id        uint64
	version   uint64
	last      []byte
	direction sdp.Direction // direction in our offers
	settled   bool
	agreed    sdp.Agreed
}

const (
	eventType     = 101 // payload type of our telephone events for 8 kHz codecs, until the peer offers another
	wideEventType = 102 // payload type of our telephone events for Opus
	dynamicFirst  = 96
	dynamicLast   = 127
)

func newDescription(o *Options) description {
	d := description{id: uint64(randomID())<<16 | uint64(randomID()&0xFFFF), version: 1}
	narrow, wide := false, false
	for _, c := range o.Codecs {
		d.formats = append(d.formats, c.format())
		narrow, wide = narrow || c != Opus, wide || c == Opus
	}
	if o.ComfortNoise && narrow {
		d.formats = append(d.formats, sdp.Format{Type: 13, Name: sdp.Noise, Clock: sampleRate})
	}
	if o.DTMF == DTMFInband {
		return d
	}
	if narrow {
		d.formats = append(d.formats, sdp.Format{Type: eventType, Name: sdp.Event, Clock: sampleRate, Params: "0-15"})
	}
	if wide {
		d.formats = append(d.formats, sdp.Format{Type: wideEventType, Name: sdp.Event, Clock: sampleRate * wideScale, Params: "0-15"})
	}
	return d
}

// adopt uses the peer's payload type for a format in later offers, because within an SDP session a payload type keeps
// its meaning (RFC 3264 §8.3.2). If another format of our offers has that payload type, it gets a free one.
func (d *description) adopt(f sdp.Format) {
	at := slices.IndexFunc(d.formats, f.Is)
	if at < 0 || d.formats[at].Type == f.Type {
		return
	}
	if other := slices.IndexFunc(d.formats, func(o sdp.Format) bool { return o.Type == f.Type }); other >= 0 {
		for t := uint8(dynamicFirst); t <= dynamicLast; t++ {
			if t != f.Type && !slices.ContainsFunc(d.formats, func(o sdp.Format) bool { return o.Type == t }) {
				d.formats[other].Type = t
				break
			}
		}
	}
	d.formats[at].Type = f.Type
}

// terms returns the codecs, DTMF and encryption settings that this session accepts in the peer's SDP.
func terms(o *Options, keys *srtpKeys, offered bool) sdp.Terms {
	t := sdp.Terms{
		Events: o.DTMF != DTMFInband, Noise: o.ComfortNoise, Offered: offered, TheirOrder: o.TheirOrder, PTime: o.PTime,
		Privacy: keys.privacy, Keys: keys.offered,
	}
	for _, c := range o.Codecs {
		t.Codecs = append(t.Codecs, c.format())
	}
	return t
}

// versioned returns the SDP that write builds. It increments the version if the SDP differs from the last SDP.
func (d *description) versioned(write func(version uint64) []byte) []byte {
	now := write(d.version)
	if d.last != nil && !bytes.Equal(now, d.last) {
		d.version++
		now = write(d.version)
	}
	d.last = now
	return bytes.Clone(now)
}

func (s *Session) local(formats []sdp.Format, d sdp.Direction, version uint64) sdp.Local {
	return sdp.Local{
		ID: s.desc.id, Version: version, Origin: s.origin(), Addr: s.address(), Port: s.port, Formats: formats, Direction: d, PTime: s.o.PTime,
	}
}

// Offer returns our SDP offer: all codecs, telephone events and, if SRTP is enabled, keys. The version in the o= line
// is incremented if the offer differs from the last SDP. A rejected offer has no effect, because only Accept changes
// the session.
func (s *Session) Offer() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.desc.formats {
		s.in.setKind(f)
	}
	keys := s.srtp.offer()
	return s.desc.versioned(func(v uint64) []byte {
		l := s.local(s.desc.formats, s.desc.direction, v)
		l.Crypto, l.Secure = keys, s.srtp.privacy == sdp.Private || s.srtp.out != nil || s.o.ResumeFrom != nil && s.o.ResumeFrom.Secure && len(keys) > 0
		return l.Offer()
	})
}

// SetOfferDirection sets the media direction of our next Offer: hear to receive the peer's audio, and speak to send audio.
func (s *Session) SetOfferDirection(hear, speak bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case hear && speak:
		s.desc.direction = sdp.SendRecv
	case speak:
		s.desc.direction = sdp.SendOnly
	case hear:
		s.desc.direction = sdp.RecvOnly
	default:
		s.desc.direction = sdp.Inactive
	}
}

// Accept applies the peer's answer to our Offer and starts sending audio. A later answer replaces an earlier one, for
// example the answer in a 200 response after one in a 183 response.
func (s *Session) Accept(answer []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.agree(answer, false)
	return err
}

// Answer answers the peer's offer and starts sending audio. The offer is the first one, or one of a re-INVITE for hold,
// another address or another codec.
func (s *Session) Answer(offer []byte) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	theirs, err := s.agree(offer, true)
	if err != nil {
		return nil, err
	}
	a := &s.desc.agreed
	formats := []sdp.Format{a.Codec}
	for _, f := range [...]sdp.Format{a.Noise, a.Event} {
		if f.Name != "" {
			formats = append(formats, f)
		}
	}
	return s.desc.versioned(func(v uint64) []byte {
		l := s.local(formats, a.Ours, v)
		l.Mux = a.Mux
		if a.Secure {
			l.Crypto = []srtp.Attribute{s.srtp.ours}
		}
		return l.Answer(theirs, a.Stream)
	}), nil
}

// agree negotiates with the peer's SDP, which is an offer if offered is set. On an error the session stays unchanged.
func (s *Session) agree(b []byte, offered bool) (*sdp.Session, error) {
	if s.closed {
		return nil, ErrClosed
	}
	theirs, err := sdp.Parse(b)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBadSDP, err)
	}
	if offered && s.desc.settled && theirs.AudioDeclined() {
		s.removeStream()
		return theirs, nil
	}
	a, err := sdp.Agree(theirs, terms(&s.o, &s.srtp, offered))
	if errors.Is(err, sdp.ErrNoAudio) || errors.Is(err, sdp.ErrNoKeys) {
		return nil, fmt.Errorf("%w: %w", ErrNoCodec, err)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBadSDP, err)
	}
	somewhere := a.Host != "" || !a.Remote.Addr().IsUnspecified()
	reachable := a.Host == "" && s.engine.mayReach(a.Remote, s.o.Networks)
	if somewhere && !reachable && (s.o.NAT == NATOff || a.Host == "" && !s.engine.supportsFamily(a.Remote.Addr())) {
		return nil, fmt.Errorf("%w: %s", ErrRefusedAddress, cmp.Or(a.Host, a.Remote.Addr().String()))
	}
	now := s.engine.now()
	if err = s.srtp.setAgreed(&a, a.Remote == s.in.source.described, now, &s.out); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoCodec, err)
	}
	s.reportHold(&a, now)
	s.desc.agreed, s.desc.settled = a, true
	s.out.setAgreed(&a)
	s.code.prepare(s.out.codec)
	s.setKinds(&a)
	if f := s.in.source; somewhere && (!s.in.open || a.Remote != f.described || a.Host != f.host) {
		s.setDescribedSource(a.Remote, a.Host, reachable && s.o.NAT != NATOn, now)
	}
	s.activate()
	return theirs, nil
}

// sendsTones says whether DTMF digits are sent as tones in the audio.
func (d *description) sendsTones(mode DTMFMode) bool {
	switch mode {
	case DTMFInband:
		return true
	case DTMFInfo:
		return false
	case DTMFAuto, DTMFRFC4733:
	}
	return d.settled && d.agreed.Event.Name == ""
}

// detectsTones says whether the session detects DTMF tones: in DTMFInband, and in DTMFAuto without telephone events.
func (d *description) detectsTones(mode DTMFMode) bool {
	return mode == DTMFInband || mode == DTMFAuto && d.agreed.Event.Name == ""
}

// removeStream handles an SDP offer that removes the audio stream with port 0 (RFC 3264 §8.2). The call continues as if
// on hold until a later offer has an audio stream.
func (s *Session) removeStream() {
	a := s.desc.agreed
	a.Held, a.Silent, a.Stream = true, true, sdp.NoStream
	s.reportHold(&a, s.engine.now())
	s.desc.agreed = a
	s.out.setAgreed(&a)
}

// reportHold adds a Hold event if the agreed SDP begins, changes or ends a hold.
func (s *Session) reportHold(a *sdp.Agreed, now time.Duration) {
	before := &s.desc.agreed
	if before.Held && !a.Held || before.Silent && !a.Silent {
		s.idle.setAlive(now)
	}
	if before.Held != a.Held || before.Silent != a.Silent {
		s.events.add(Hold{PeerNotReceiving: a.Held, PeerNotSending: a.Silent})
	}
}

// setKinds sets the codec or format of each RTP payload type. If the peer made the offer, its payload types apply in
// both directions. If we made the offer, the peer may use our payload types or its own.
func (s *Session) setKinds(a *sdp.Agreed) {
	if a.Offered {
		s.in.clearKinds()
	}
	for _, f := range append([]sdp.Format{a.Event, a.Noise}, a.Listen...) {
		if f.Name == "" {
			continue
		}
		s.in.setKind(f)
		s.code.prepare(codecNamed(f.Name))
		if a.Offered {
			s.desc.adopt(f)
		}
	}
	s.keys.setDetection(s.desc.detectsTones(s.o.DTMF))
}
