package sip

import (
	"time"

	"github.com/callboard/callboard/sip/registrar"
	"github.com/callboard/callboard/sip/transport"
)

// admitsMessage reports whether a message of a source is parsed. A message that another node relayed is admitted
// because of its valid MAC. Only a request that is relayed to its owner must also come from an admitted source.
func (u *UserAgent) admitsMessage(b []byte, s transport.Source, relay *transport.RelayInfo) bool {
	if relay != nil && relay.Direction != transport.RelayIn || u.isKnownSource(s) {
		return true
	}
	now := time.Now()
	return u.phones.Admit(b, s, now) || relay == nil && (u.isProbe(b, s) || u.relay.Admit(b, s, now))
}

// admitsConnection reports whether a host may connect, and whether this or another node knows the host.
func (u *UserAgent) admitsConnection(s transport.Source) (known, admitted bool) {
	now := time.Now()
	if u.isKnownSource(s) || u.isDispatcher(s.Addr.Addr()) || u.phones.Presence(s) != registrar.Absent || u.relay.KnowsSource(s, now) {
		return true, true
	}
	return false, u.phones.AdmitConnection(s, now) || u.relay.AdmitConnection(s, now)
}

// isKnownSource reports whether a source is admitted (SetAdmission) or is the host of a live dialog.
func (u *UserAgent) isKnownSource(s transport.Source) bool {
	return u.transport.Filter.HasPeer(s.Addr.Addr()) || u.admission(s).Allow
}

// admission calls the function that SetAdmission has set. If the function panics, the source is refused.
func (u *UserAgent) admission(s transport.Source) (a Admission) {
	defer u.recovered("admit", func() { a = Admission{} })
	if u.admit == nil {
		return Admission{Allow: s.Addr.Addr().IsLoopback()}
	}
	return u.admit(s)
}

// IsBehind reports whether messages wait too long before they are read: longer than a quarter of the time after which
// calls are refused. Owners should then postpone outbound calls, so that inbound calls are accepted.
func (u *UserAgent) IsBehind() bool { return u.load.IsBehind() }

// isOverloaded reports whether a new call is refused early. That is so while the user agent drains, reads messages
// late, or has too many unanswered calls, in total or from this host.
func (u *UserAgent) isOverloaded(m *received) bool {
	switch {
	case u.calls.isDraining():
		return true
	case u.load.IsLate(m.QueueDelay):
		u.stats.refusedLate.Add(1)
		return true
	case u.load.IsFull(m.Source().Addr.Addr()):
		u.stats.refusedFull.Add(1)
		return true
	}
	return false
}
