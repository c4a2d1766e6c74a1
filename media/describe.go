package media

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/callboard/callboard/media/sdp"
)

const eventType = 101 // our payload type for telephone events, until the far end offers another

// description is what was said of the session, by us and by them.
type description struct {
	codecs  []string // our order
	id      uint64
	version uint64
	last    []byte
	event   uint8
	agreed  sdp.Agreed
	settled bool
}

func newDescription(codecs []Codec) description {
	d := description{id: uint64(random())<<16 | uint64(random()&0xFFFF), version: 1, event: eventType}
	for _, c := range codecs {
		d.codecs = append(d.codecs, c.name())
	}
	return d
}

func (c Codec) name() string {
	if c == PCMA {
		return "PCMA"
	}
	return "PCMU"
}

func (c Codec) payloadType() uint8 {
	if c == PCMA {
		return 8
	}
	return 0
}

// versioned writes a description; its version grows when it differs from the last.
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
		ID: s.desc.id, Version: version, Addr: s.engine.public, Port: s.port, Formats: formats, Direction: d, PTime: 20,
	}
}

// Offer is our SDP offer: every codec of ours and telephone events. The version in o= grows when it says something new.
func (s *Session) Offer() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	formats := make([]sdp.Format, 0, len(s.o.Codecs)+1)
	for _, c := range s.o.Codecs {
		formats = append(formats, sdp.Format{Type: c.payloadType(), Name: c.name(), Clock: sampleRate})
		s.in.learn(c.payloadType(), c.name())
	}
	formats = append(formats, sdp.Format{Type: s.desc.event, Name: sdp.Event, Clock: sampleRate, Params: "0-15"})
	s.in.learn(s.desc.event, sdp.Event)
	return s.desc.versioned(func(v uint64) []byte { return s.local(formats, sdp.SendRecv, v).Offer() })
}

// Accept takes the answer to our Offer; a later answer, as of 183 and then 200, replaces an earlier one. Sending begins.
func (s *Session) Accept(answer []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.agree(answer, false)
	return err
}

// Answer answers an offer, the first or a later one: hold, another address, another codec. Sending begins.
func (s *Session) Answer(offer []byte) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	theirs, err := s.agree(offer, true)
	if err != nil {
		return nil, err
	}
	a := &s.desc.agreed
	formats := []sdp.Format{a.Codec}
	if a.Event.Name != "" {
		formats = append(formats, a.Event)
	}
	return s.desc.versioned(func(v uint64) []byte { return s.local(formats, a.Ours, v).Answer(theirs, a.Stream) }), nil
}

// agree takes what they say; nothing changes where it cannot be taken.
func (s *Session) agree(b []byte, offered bool) (*sdp.Session, error) {
	if s.closed {
		return nil, ErrClosed
	}
	theirs, err := sdp.Parse(b)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBadSDP, err)
	}
	a, err := sdp.Agree(theirs, s.desc.codecs, offered)
	if errors.Is(err, sdp.ErrNoAudio) {
		return nil, ErrNoCodec
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBadSDP, err)
	}
	somewhere := !a.Remote.Addr().IsUnspecified()
	if somewhere && !s.engine.mayReach(a.Remote, s.o.Networks) {
		return nil, fmt.Errorf("%w: %s", ErrRefusedAddress, a.Remote)
	}
	now := s.engine.now()
	if before := &s.desc.agreed; before.Held && !a.Held || before.Silent && !a.Silent {
		s.idle.last = now
	}
	s.desc.agreed, s.desc.settled = a, true
	s.out.settle(&a)
	if offered {
		s.in.kinds = [128]kind{}
	}
	for _, f := range a.Listen {
		s.in.learn(f.Type, f.Name)
	}
	if a.Event.Name != "" {
		s.in.learn(a.Event.Type, sdp.Event)
		if offered {
			s.desc.event = a.Event.Type
		}
	}
	if somewhere && a.Remote != s.in.remote {
		s.expect(a.Remote, now)
		s.out.to = newTarget(a.Remote)
		s.report.to = target{}
		if s.engine.mayReach(a.RTCP, s.o.Networks) {
			s.report.to = newTarget(a.RTCP)
		}
	}
	s.activate()
	return theirs, nil
}
