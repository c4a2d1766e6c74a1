// Package sessiontimer negotiates session timers (RFC 4028): the interval in which a call has to be refreshed, and
// the side that refreshes it. It reads and writes headers and runs no timer.
package sessiontimer

import (
	"strconv"
	"time"

	"github.com/callboard/callboard/sip/message"
)

// The minimum interval (RFC 4028 §4), and the maximum interval that Callboard accepts.
const (
	MinInterval = 90 * time.Second
	MaxInterval = 24 * time.Hour
)

// maxRaises is the maximum number of 422 responses in one dialog after which a request is repeated.
const maxRaises = 4

// Values of the refresher parameter: uac is the sender of the request, uas is the sender of the response.
const (
	byClient = ";refresher=uac"
	byServer = ";refresher=uas"
)

// Limits are the intervals that this side accepts or requests.
type Limits struct {
	Least  time.Duration // requests with a shorter interval get 422
	Wanted time.Duration // requested from callers that support session timers; 0: none
}

// Terms are the agreed session timer terms of one dialog. The zero value means that no session timer is agreed.
type Terms struct {
	Interval  time.Duration // 0: none is agreed
	WeRefresh bool          // otherwise the peer refreshes
	Minimum   time.Duration // interval that a 422 demanded; 0: none
	raises    int
}

// interval returns the interval and the refresher in the Session-Expires header of a message.
func interval(m *message.Message) (interval time.Duration, refresher string, ok bool) {
	value := m.HeaderValue("Session-Expires")
	if value == "" {
		return 0, "", false
	}
	interval, refresher, ok = message.ParseSessionExpires(value)
	return min(interval, MaxInterval), refresher, ok
}

// IsTooShort reports whether a request must be refused with 422 because its interval is too short.
func (l Limits) IsTooShort(m *message.Message) bool {
	asked, _, ok := interval(m)
	return ok && asked < l.Least && m.Supports("timer")
}

// MinSE returns the Min-SE header of a 422 response.
func (l Limits) MinSE() message.Header {
	return message.Header{Name: "Min-SE", Value: seconds(l.Least)}
}

// InviteHeaders returns the session timer headers of an initial INVITE. The INVITE requests interval, or Minimum if that
// is longer. If both are 0, no headers are returned.
func (t *Terms) InviteHeaders(interval time.Duration) []message.Header {
	if interval = max(interval, t.Minimum); interval == 0 {
		return nil
	}
	return t.headers(interval, "")
}

// RefreshHeaders returns the session timer headers of a request by which this side refreshes the session.
func (t *Terms) RefreshHeaders() []message.Header {
	switch {
	case t.Interval == 0:
		return t.InviteHeaders(0)
	case t.WeRefresh:
		return t.headers(max(t.Interval, t.Minimum), byClient)
	}
	return t.headers(max(t.Interval, t.Minimum), byServer)
}

func (t *Terms) headers(interval time.Duration, refresher string) []message.Header {
	headers := []message.Header{{Name: "Session-Expires", Value: seconds(interval) + refresher}}
	if t.Minimum > 0 {
		headers = append(headers, message.Header{Name: "Min-SE", Value: seconds(t.Minimum)})
	}
	return headers
}

// Raise reads a 422 response. The next request asks for the interval in its Min-SE, even if the previous request asked
// for none (RFC 4028 §7.4). Raise returns false if the request must not be repeated.
func (t *Terms) Raise(m *message.Message) bool {
	least, _, ok := message.ParseSessionExpires(m.HeaderValue("Min-SE"))
	if !ok || least <= t.Minimum || least > MaxInterval || t.raises >= maxRaises {
		return false
	}
	t.Minimum = least
	t.raises++
	return true
}

// Agree sets the terms from the 2xx to a request of this side. If the 2xx has no Session-Expires, there is no session
// timer.
func (t *Terms) Agree(m *message.Message, l Limits) {
	if agreed, refresher, ok := interval(m); ok {
		t.set(agreed, refresher != "uas", l)
	} else {
		t.set(0, false, l)
	}
}

// Grant sets the terms for a request of the peer that gets a 2xx, and returns the headers of that 2xx (RFC 4028 §9).
// changed is false if the running timer need not be restarted.
func (t *Terms) Grant(m *message.Message, l Limits) (headers []message.Header, changed bool) {
	supported := m.Supports("timer")
	asked, refresher, ok := interval(m)
	switch {
	case ok && asked < l.Least, !ok && t.Interval == 0 && !supported: // the peer does not support session timers, so none is demanded
		t.set(0, false, l)
		return nil, true
	case ok:
		t.set(asked, refresher == "uas" || !supported, l)
	case t.Interval > 0:
		t.set(t.Interval, t.WeRefresh || !supported, l)
	case l.Wanted <= 0:
		return nil, false
	default:
		minimum, _, _ := message.ParseSessionExpires(m.HeaderValue("Min-SE"))
		t.set(max(l.Wanted, min(minimum, MaxInterval)), false, l)
	}
	refresher = byClient
	if t.WeRefresh {
		refresher = byServer
	}
	headers = []message.Header{{Name: "Session-Expires", Value: seconds(t.Interval) + refresher}}
	if supported {
		headers = append(headers, message.Header{Name: "Require", Value: "timer"})
	}
	return headers, true
}

// Resume sets the terms of a resumed dialog, which another process has agreed.
func (t *Terms) Resume(interval time.Duration, weRefresh bool, l Limits) {
	t.set(interval, weRefresh, l)
}

func (t *Terms) set(interval time.Duration, weRefresh bool, l Limits) {
	if interval <= 0 {
		t.Interval, t.WeRefresh = 0, false
		return
	}
	t.Interval, t.WeRefresh = max(interval, l.Least), weRefresh
}

// Schedule returns two delays after a refresh. After wake this side refreshes again. After end, shortly before the
// interval ends, the call is ended (RFC 4028 §10). Both are the same if the peer refreshes.
func (t *Terms) Schedule() (wake, end time.Duration) {
	end = t.Interval - min(32*time.Second, t.Interval/3)
	if t.WeRefresh {
		return t.Interval / 2, end
	}
	return end, end
}

func seconds(d time.Duration) string { return strconv.FormatInt(int64(d/time.Second), 10) }
