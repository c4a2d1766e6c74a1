package media

import (
	"net/netip"
	"time"

	"github.com/callboard/callboard/media/sdp"
)

// versionLeap is the number that SessionState.RaiseVersion adds to the SDP version. The result exceeds every version that the session
// sent after the state was taken.
const versionLeap = 64

// SessionState is the state with which another process can continue a session within the same SDP session. That process calls
// RaiseVersion and passes the state as Options.ResumeFrom.
type SessionState struct {
	ID      uint64        `json:"id"`      // session id of our o= line
	Version uint64        `json:"version"` // last version sent in our o= line
	Origin  netip.Addr    `json:"origin,omitzero"`
	Formats []sdp.Format  `json:"formats"`
	Secure  bool          `json:"secure,omitempty"`
	Mark    time.Duration `json:"mark"` // Session.Position when the state was taken
	At      time.Time     `json:"at"`
}

// RaiseVersion raises the SDP version above every version sent after the state was taken. The process that continues the
// session stores the state with the raised version before it sends SDP, so that a further process also starts above its versions.
func (m *SessionState) RaiseVersion() { m.Version += versionLeap }

// State returns the current state of the session. It contains no SRTP keys. The process that continues the session
// creates new keys.
func (s *Session) State() SessionState {
	s.mu.Lock()
	defer s.mu.Unlock()
	origin := s.origin()
	if !origin.IsValid() {
		origin = s.address()
	}
	return SessionState{
		ID: s.desc.id, Version: s.desc.version, Origin: origin, Formats: append([]sdp.Format(nil), s.desc.formats...),
		Secure: s.srtp.out != nil, Mark: s.recording.now(), At: time.Now().UTC(),
	}
}

// origin returns the address that an earlier process sent in our o= line. Zero means the local address.
func (s *Session) origin() netip.Addr {
	if s.o.ResumeFrom != nil {
		return s.o.ResumeFrom.Origin
	}
	return netip.Addr{}
}

// restore continues the session that the state describes. The time since the state was taken counts as silence.
func (s *Session) restore(m *SessionState) {
	s.desc.id, s.desc.version = m.ID, m.Version
	if len(m.Formats) > 0 {
		s.desc.formats = append([]sdp.Format(nil), m.Formats...)
	}
	lost := max(time.Since(m.At), 0)
	position := int64((m.Mark + lost) / (time.Second / sampleRate))
	s.recording.position = position - position%(sampleRate/50) // whole frames
}
