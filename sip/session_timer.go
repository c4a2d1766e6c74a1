package sip

import (
	"strconv"
	"time"

	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/sessiontimer"
)

// sessionTimer ends a call that is not refreshed in time (RFC 4028). If the agreed terms say that this side refreshes
// the call, it also sends the refreshes.
type sessionTimer struct {
	d             *Dialog
	terms         sessiontimer.Terms
	until         time.Time // the time at which the call is ended
	timer         *time.Timer
	acceptsUpdate bool   // the remote party accepts UPDATE
	localSDP      []byte // last SDP of this side, for a refresh by re-INVITE
}

// agree reads the session timer terms from the 2xx to a request of this side and restarts the timer.
func (s *sessionTimer) agree(m *received) {
	s.acceptsUpdate = s.acceptsUpdate || m.Allows(message.MethodUpdate)
	s.terms.Agree(&m.Message, s.d.ua.sessions)
	s.restart()
}

// grant sets the session timer terms for a request that gets a 2xx. It returns the headers for that 2xx.
func (s *sessionTimer) grant(m *received) []message.Header {
	headers, changed := s.terms.Grant(&m.Message, s.d.ua.sessions)
	if changed {
		s.restart()
	}
	return headers
}

// restart starts the agreed interval again.
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

// wakeAfter stops the current timer and starts one that fires after wait.
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
		return // the missing ACK ends the call
	}
	s.d.phase = closing
	s.d.sendBye(Ended{Q850: 102, Text: "session expired", Fault: true}, nil)
}

// refresh sends UPDATE, or a re-INVITE if the remote party does not accept UPDATE. Meanwhile the timer that ends the
// call continues to run.
func (s *sessionTimer) refresh() {
	d := s.d
	if !s.acceptsUpdate {
		s.acceptsUpdate = len(s.localSDP) == 0 // without SDP a re-INVITE is impossible
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
			d.endLostCall("a refresh was not answered")
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

// retryRefresh schedules another refresh after half of the time until the call would be ended.
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
