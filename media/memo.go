package media

import (
	"net/netip"
	"time"

	"github.com/callboard/callboard/media/sdp"
)

// versionLeap is what Memo.Lift adds to the version of the SDP, to exceed every version sent after the memo was
// taken.
const versionLeap = 64

// Memo is the state that another process needs to continue a session within the same SDP session: Options.After,
// after a call of Lift.
type Memo struct {
	ID      uint64        `json:"id"`      // session id of our o= line
	Version uint64        `json:"version"` // last version sent in our o= line
	Origin  netip.Addr    `json:"origin,omitzero"`
	Formats []sdp.Format  `json:"formats"`
	Secure  bool          `json:"secure,omitempty"`
	Mark    time.Duration `json:"mark"` // Session.Mark at that time
	At      time.Time     `json:"at"`
}

// Lift raises the SDP version above every version sent after the memo was taken. A process that continues the
// session stores the lifted memo first, so that the next process starts above its versions.
func (m *Memo) Lift() { m.Version += versionLeap }

// Memo returns the state of the session now. It contains no SRTP keys; the process that continues the call creates
// new ones.
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

// origin returns the address of our o= line as an earlier process sent it; zero: the local address.
func (s *Session) origin() netip.Addr {
	if s.o.After != nil {
		return s.o.After.Origin
	}
	return netip.Addr{}
}

// restore continues the session that the memo describes. The time since the memo counts as silence.
func (s *Session) restore(m *Memo) {
	s.desc.id, s.desc.version = m.ID, m.Version
	if len(m.Formats) > 0 {
		s.desc.formats = append([]sdp.Format(nil), m.Formats...)
	}
	lost := max(time.Since(m.At), 0)
	position := int64((m.Mark + lost) / (time.Second / sampleRate))
	s.recording.position = position - position%(sampleRate/50) // whole frames
}
