package sip

import (
	"strconv"
	"time"

	"github.com/callboard/callboard/sip/message"
)

const (
	minSession = 90 * time.Second // RFC 4028 §4
	maxSession = 24 * time.Hour
	maxRaises  = 4 // of the interval in one dialog
)

// sessionTimer ends a call that is not refreshed in time (RFC 4028), and refreshes it where that is our part.
type sessionTimer struct {
	d             *Dialog
	interval      time.Duration // 0: none is agreed
	weRefresh     bool          // otherwise the remote party does
	minimum       time.Duration // that a 422 demanded; 0: none
	raises        int           // 422 responses that were followed
	until         time.Time     // the call ends then
	timer         *time.Timer
	acceptsUpdate bool   // the remote party does
	localSDP      []byte // our last description, for a refresh by re-INVITE
}

// sessionInterval is what a message says about its session timer.
type sessionInterval struct {
	interval  time.Duration
	refresher string // uac, uas or ""
	present   bool
}

func readSessionInterval(m *message.Message) (s sessionInterval) {
	if value := m.HeaderValue("Session-Expires"); value != "" {
		s.interval, s.refresher, s.present = message.ParseSessionExpires(value)
		s.interval = min(s.interval, maxSession)
	}
	return s
}

// isTooShort tells whether a request gets 422.
func (u *UserAgent) isTooShort(m *received) bool {
	s := readSessionInterval(&m.Message)
	return s.present && s.interval < u.leastSession && m.Supports("timer")
}

// sessionHeaders ask for an interval, or grant it. who is a refresher parameter or "".
func (s *sessionTimer) sessionHeaders(interval time.Duration, who string) []message.Header {
	headers := []message.Header{{Name: "Session-Expires", Value: formatSeconds(interval) + who}}
	if s.minimum > 0 {
		headers = append(headers, message.Header{Name: "Min-SE", Value: formatSeconds(s.minimum)})
	}
	return headers
}

// refreshHeaders are the headers of a refresh of ours.
func (s *sessionTimer) refreshHeaders() []message.Header {
	switch {
	case s.interval == 0 && s.minimum > 0:
		return s.sessionHeaders(s.minimum, "")
	case s.interval == 0:
		return nil
	case s.weRefresh:
		return s.sessionHeaders(max(s.interval, s.minimum), ";refresher=uac")
	}
	return s.sessionHeaders(max(s.interval, s.minimum), ";refresher=uas")
}

// raise takes a 422: the next request asks for the interval that its Min-SE demands, also where the one before asked for
// none (RFC 4028 §7.4). false: it is not followed.
func (s *sessionTimer) raise(m *message.Message) bool {
	least, _, ok := message.ParseSessionExpires(m.HeaderValue("Min-SE"))
	if !ok || least <= s.minimum || least > maxSession || s.raises >= maxRaises {
		return false
	}
	s.minimum = least
	s.raises++
	return true
}

// handleAgreement takes what the 2xx to a request of ours says: we are its UAC.
func (s *sessionTimer) handleAgreement(m *received) {
	s.acceptsUpdate = s.acceptsUpdate || m.Allows(message.MethodUpdate)
	if agreed := readSessionInterval(&m.Message); agreed.present {
		s.set(agreed.interval, agreed.refresher != "uas")
	} else {
		s.set(0, false)
	}
}

// grant sets the timer for a request that we answer with a 2xx, and returns the headers of that (RFC 4028 §9).
func (s *sessionTimer) grant(m *received) []message.Header {
	interval, weRefresh, ok := s.grantInterval(&m.Message, s.d.ua.leastSession, s.d.ua.cfg.SessionExpires)
	if !ok {
		return nil
	}
	s.set(interval, weRefresh)
	if interval <= 0 {
		return nil
	}
	who := ";refresher=uac"
	if weRefresh {
		who = ";refresher=uas"
	}
	headers := []message.Header{{Name: "Session-Expires", Value: formatSeconds(s.interval) + who}}
	if m.Supports("timer") {
		headers = append(headers, message.Header{Name: "Require", Value: "timer"})
	}
	return headers
}

// grantInterval is the interval for a request of the remote party, 0 for none; ok is false where the timer stays as it is.
// least is the shortest interval that we take, wanted the one that we ask callers for.
func (s *sessionTimer) grantInterval(m *message.Message, least, wanted time.Duration) (interval time.Duration, weRefresh, ok bool) {
	supported := m.Supports("timer")
	asked := readSessionInterval(m)
	switch {
	case asked.present && asked.interval < least, !asked.present && s.interval == 0 && !supported: // the remote party cannot hold us to it
		return 0, false, true
	case asked.present:
		return asked.interval, asked.refresher == "uas" || !supported, true
	case s.interval > 0:
		return s.interval, s.weRefresh || !supported, true
	case wanted <= 0:
		return 0, false, false
	}
	minimum, _, _ := message.ParseSessionExpires(m.HeaderValue("Min-SE"))
	return max(wanted, least, min(minimum, maxSession)), !supported, true
}

// set starts the timer anew; an interval of 0 stops it. We refresh at half time, or end the call shortly before the
// interval is over (RFC 4028 §10).
func (s *sessionTimer) set(interval time.Duration, weRefresh bool) {
	s.stop()
	if s.interval, s.weRefresh = 0, false; interval <= 0 {
		return
	}
	s.interval, s.weRefresh = max(interval, s.d.ua.leastSession), weRefresh
	s.until = time.Now().Add(s.interval - min(32*time.Second, s.interval/3))
	wait := time.Until(s.until)
	if weRefresh {
		wait = s.interval / 2
	}
	s.wakeAfter(wait)
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
	d.requests.send(dialogRequest{method: message.MethodUpdate, headers: s.refreshHeaders()}, func(m *received, _ error) {
		switch {
		case d.phase != answered:
		case m == nil, m.Code == 408, m.Code == 481:
			d.endLost("a refresh was not answered")
		case m.Code < 300:
			d.remote.refreshTarget(m)
			s.handleAgreement(m)
		case m.Code == 422 && s.raise(&m.Message):
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
	if s.interval == 0 {
		return
	}
	if left > 4*time.Second {
		left /= 2
	}
	s.wakeAfter(left)
}

func formatSeconds(d time.Duration) string { return strconv.FormatInt(int64(d/time.Second), 10) }

func formatUint(n uint32) string { return strconv.FormatUint(uint64(n), 10) }
