package media

import (
	"net/netip"
	"time"

	"github.com/callboard/callboard/media/sdp"
)

// versionLeap lifts the version of a description above whatever was said after
// the memo was made.
const versionLeap = 64

// Memo is what another process needs so that the sound of a call goes on
// there, within the same description: Options.After, lifted (Lift).
type Memo struct {
	ID      uint64        `json:"id"`      // of our o= line
	Version uint64        `json:"version"` // the last that was said
	Origin  netip.Addr    `json:"origin,omitzero"`
	Formats []sdp.Format  `json:"formats"`
	Secure  bool          `json:"secure,omitempty"`
	Mark    time.Duration `json:"mark"` // Session.Mark then
	At      time.Time     `json:"at"`
}

// Lift raises the version above whatever was said after the memo was made.
// Whoever goes on with the sound stores it so first: the next one then begins
// above what it says.
func (m *Memo) Lift() { m.Version += versionLeap }

// Memo is the session's as it is now. Keys are not in it: whoever takes the
// call up makes new ones.
func (s *Session) Memo() Memo {
	s.mu.Lock()
	defer s.mu.Unlock()
	origin := s.origin()
	if !origin.IsValid() {
		origin = s.address()
	}
	return Memo{
		ID: s.desc.id, Version: s.desc.version, Origin: origin, Formats: append([]sdp.Format(nil), s.desc.formats...),
		Secure: s.srtp.out != nil, Mark: s.recording.now(), At: time.Now().UTC(),
	}
}

// origin is the address of our o= line where a process before this one has said
// it; zero: our address.
func (s *Session) origin() netip.Addr {
	if s.o.After != nil {
		return s.o.After.Origin
	}
	return netip.Addr{}
}

// restore lets a session go on where another one was when the memo was made. The time since then has passed in silence.
func (s *Session) restore(m *Memo) {
	s.desc.id, s.desc.version = m.ID, m.Version
	if len(m.Formats) > 0 {
		s.desc.formats = append([]sdp.Format(nil), m.Formats...)
	}
	lost := max(time.Since(m.At), 0)
	position := int64((m.Mark + lost) / (time.Second / sampleRate))
	s.recording.position = position - position%(sampleRate/50) // whole frames
}
