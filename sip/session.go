package sip

import (
	"strconv"
	"time"

	"github.com/callboard/callboard/sip/message"
)

const (
	minSession = 90 * time.Second // RFC 4028 4
	maxSession = 24 * time.Hour
	maxRaises  = 4 // of the session timer in one dialog
)

// session is the timer that tells whether the far end is still there (RFC
// 4028), and what a refresh needs.
type session struct {
	every  time.Duration // 0: none is agreed
	ours   bool          // we refresh; otherwise the far end does
	least  time.Duration // what a 422 asked for, 0 before
	raises int           // 422s that were answered by a longer session timer
	until  time.Time     // without a refresh the call is over
	timer  *time.Timer
	update bool   // the far end takes UPDATE
	body   []byte // our last SDP, for a refresh by re-INVITE
}

func seconds(d time.Duration) string { return strconv.FormatInt(int64(d/time.Second), 10) }

func decimal(n uint32) string { return strconv.FormatUint(uint64(n), 10) }

// asked is what a message says about its session timer.
func sessionOf(m *received) (every time.Duration, refresher string, ok bool) {
	value := m.HeaderValue("Session-Expires")
	if value == "" {
		return 0, "", false
	}
	every, refresher, ok = message.ParseSessionExpires(value)
	return min(every, maxSession), refresher, ok
}

// tooShort tells whether a request of the far end gets 422.
func (u *UserAgent) tooShort(m *received) bool {
	every, _, ok := sessionOf(m)
	return ok && every < u.leastSession && m.Supports("timer")
}

// sessionWanted are the headers of a refresh of ours.
func (d *Dialog) sessionWanted() []message.Header {
	s := &d.session
	if s.every == 0 && s.least > 0 {
		return s.ask(s.least, "")
	}
	if s.every == 0 {
		return nil
	}
	who := ";refresher=uas"
	if s.ours {
		who = ";refresher=uac"
	}
	return s.ask(max(s.every, s.least), who)
}

// ask words a wish for a session timer.
func (s *session) ask(every time.Duration, who string) []message.Header {
	headers := []message.Header{{Name: "Session-Expires", Value: seconds(every) + who}}
	if s.least > 0 {
		headers = append(headers, message.Header{Name: "Min-SE", Value: seconds(s.least)})
	}
	return headers
}

// lengthen takes a 422: the next request asks for the session timer that its Min-SE demands, also where the one
// before asked for none (RFC 4028 §7.4).
func (d *Dialog) lengthen(m *received) bool {
	s := &d.session
	least, _, ok := message.ParseSessionExpires(m.HeaderValue("Min-SE"))
	if !ok || least <= s.least || least > maxSession || s.raises >= maxRaises {
		return false
	}
	s.least = least
	s.raises++
	return true
}

// sessionHeard takes what a 2xx of the far end settles. Whoever sent the
// request is the uac of it.
func (d *Dialog) sessionHeard(m *received) {
	d.session.update = d.session.update || m.Allows(message.MethodUpdate)
	every, refresher, ok := sessionOf(m)
	if !ok {
		d.setSession(0, false)
		return
	}
	d.setSession(every, refresher != "uas")
}

// granted settles the timer for a request that we answer with a 2xx, and
// words it (RFC 4028 9).
func (d *Dialog) granted(m *received) []message.Header {
	timer := m.Supports("timer")
	every, refresher, ok := sessionOf(m)
	ours := refresher == "uas" || !timer
	switch {
	case ok && every < d.ua.leastSession, !ok && d.session.every == 0 && !timer: // nobody can hold us to it
		d.setSession(0, false)
		return nil
	case ok:
	case d.session.every > 0:
		every, ours = d.session.every, d.session.ours || !timer
	case d.ua.cfg.SessionExpires <= 0:
		return nil
	default:
		least, _, _ := message.ParseSessionExpires(m.HeaderValue("Min-SE"))
		every = max(d.ua.cfg.SessionExpires, d.ua.leastSession, min(least, maxSession))
	}
	d.setSession(every, ours)
	who := ";refresher=uac"
	if ours {
		who = ";refresher=uas"
	}
	headers := []message.Header{{Name: "Session-Expires", Value: seconds(d.session.every) + who}}
	if timer {
		headers = append(headers, message.Header{Name: "Require", Value: "timer"})
	}
	return headers
}

// setSession starts the timer anew. We refresh at half time, or end the call
// shortly before its time is up (RFC 4028 10).
func (d *Dialog) setSession(every time.Duration, ours bool) {
	s := &d.session
	s.stop()
	if s.every, s.ours = 0, false; every <= 0 {
		return
	}
	s.every, s.ours = max(every, d.ua.leastSession), ours
	s.until = time.Now().Add(s.every - min(32*time.Second, s.every/3))
	wait := time.Until(s.until)
	if ours {
		wait = s.every / 2
	}
	d.sessionIn(wait)
}

func (s *session) stop() {
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
}

// sessionIn looks at the session timer after a while.
func (d *Dialog) sessionIn(wait time.Duration) {
	var t *time.Timer
	t = time.AfterFunc(wait, func() {
		d.do(func() {
			if d.session.timer == t && d.phase == up {
				d.sessionDue()
			}
		})
	})
	d.session.stop()
	d.session.timer = t
}

func (d *Dialog) sessionDue() {
	s := &d.session
	if time.Until(s.until) <= 0 {
		if d.inbound && !d.confirmed {
			return // the missing ACK ends it
		}
		d.phase = closing
		d.sendBye(Ended{Q850: 102, Text: "session expired", Fault: true}, nil)
		return
	}
	d.refresh()
}

// refresh tells the far end that we are there, and hears whether it is. The
// session timer runs on meanwhile.
func (d *Dialog) refresh() {
	s := &d.session
	if !s.update {
		s.update = len(s.body) == 0 // then nothing else is left to try
	}
	d.sessionIn(time.Until(s.until))
	if !s.update {
		d.offers = append(d.offers, &offer{body: s.body})
		d.pump()
		return
	}
	d.ask(ownRequest{method: message.MethodUpdate, extra: d.sessionWanted()}, func(m *received, _ error) {
		switch {
		case d.phase != up:
		case m == nil, m.Code == 408, m.Code == 481:
			d.lost("a refresh was not answered")
		case m.Code < 300:
			if message.IsSIPURI(m.Contact) && message.IsSingleLine(m.Contact) {
				d.far.target = m.Contact
			}
			d.sessionHeard(m)
		case m.Code == 422 && d.lengthen(m):
			d.refresh()
		case (m.Code == 405 || m.Code == 501) && len(s.body) > 0:
			s.update = false
			d.refresh()
		default:
			d.refreshFailed()
		}
	})
}

// refreshFailed tries again at half of the time that is left.
func (d *Dialog) refreshFailed() {
	left := time.Until(d.session.until)
	if d.session.every == 0 {
		return
	}
	if left > 4*time.Second {
		left /= 2
	}
	d.sessionIn(left)
}
