package sip

import (
	"strconv"
	"time"

	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/sessiontimer"
)

// sessionTimer ends a call that is not refreshed in time (RFC 4028), and refreshes it where that is our part.
type sessionTimer struct {
	d             *Dialog
	terms         sessiontimer.Terms
	until         time.Time // the call ends then
	timer         *time.Timer
	acceptsUpdate bool   // the remote party does
	localSDP      []byte // our last description, for a refresh by re-INVITE
}

// agree takes the 2xx to a request of ours.
func (s *sessionTimer) agree(m *received) {
	s.acceptsUpdate = s.acceptsUpdate || m.Allows(message.MethodUpdate)
	s.terms.Agree(&m.Message, s.d.ua.sessions)
	s.restart()
}

// grant takes a request that we answer with a 2xx, and returns the headers of that.
func (s *sessionTimer) grant(m *received) []message.Header {
	headers, changed := s.terms.Grant(&m.Message, s.d.ua.sessions)
	if changed {
		s.restart()
	}
	return headers
}

// restart begins the agreed interval.
func (s *sessionTimer) restart() {
	s.stop()
	if s.terms.Interval > 0 {
		wake, end := s.terms.Schedule()
		s.until = time.Now().Add(end)
		s.wakeAfter(wake)
	}
}

func (s *sessionTimer) stop() {
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
}

// wakeAfter replaces the timer.
func (s *sessionTimer) wakeAfter(wait time.Duration) {
	var t *time.Timer
	t = time.AfterFunc(wait, func() {
		s.d.do(func() {
			if s.timer == t && s.d.phase == answered {
				s.handleTimer()
			}
		})
	})
	s.stop()
	s.timer = t
}

func (s *sessionTimer) handleTimer() {
	if time.Until(s.until) > 0 {
		s.refresh()
		return
	}
	if s.d.server.isUnconfirmed() {
		return // the missing ACK ends it
	}
	s.d.phase = closing
	s.d.sendBye(Ended{Q850: 102, Text: "session expired", Fault: true}, nil)
}

// refresh sends UPDATE, or a re-INVITE where the remote party does not take UPDATE. The timer runs on meanwhile.
func (s *sessionTimer) refresh() {
	d := s.d
	if !s.acceptsUpdate {
		s.acceptsUpdate = len(s.localSDP) == 0 // then nothing else is left to try
	}
	s.wakeAfter(time.Until(s.until))
	if !s.acceptsUpdate {
		d.offers.add(&offer{body: s.localSDP})
		return
	}
	d.requests.send(dialogRequest{method: message.MethodUpdate, headers: s.terms.RefreshHeaders()}, func(m *received, _ error) {
		switch {
		case d.phase != answered:
		case m == nil, m.Code == 408, m.Code == 481:
			d.endLost("a refresh was not answered")
		case m.Code < 300:
			d.remote.refreshTarget(m)
			s.agree(m)
		case m.Code == 422 && s.terms.Raise(&m.Message):
			s.refresh()
		case (m.Code == 405 || m.Code == 501) && len(s.localSDP) > 0:
			s.acceptsUpdate = false
			s.refresh()
		default:
			s.retryRefresh()
		}
	})
}

// retryRefresh refreshes again at half of the time that is left.
func (s *sessionTimer) retryRefresh() {
	left := time.Until(s.until)
	if s.terms.Interval == 0 {
		return
	}
	if left > 4*time.Second {
		left /= 2
	}
	s.wakeAfter(left)
}

func formatUint(n uint32) string { return strconv.FormatUint(uint64(n), 10) }
