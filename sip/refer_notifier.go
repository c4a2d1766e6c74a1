package sip

import (
	"strconv"
	"strings"
	"time"

	"github.com/callboard/callboard/sip/message"
)

const (
	decisionTimeout = 5 * time.Second // for the owner's decision on a transfer
	maxByeDelay     = 2 * time.Second // a BYE waits so long for the response to the last NOTIFY, which would be lost after the BYE
	activeState     = "active;expires=180"
	terminatedState = "terminated;reason=noresource"
)

// referNotifier handles the REFERs of the remote party. It sends NOTIFYs about the progress of the new calls (RFC 3515).
type referNotifier struct {
	d          *Dialog
	unnotified int    // REFERs whose outcome is known and whose last NOTIFY has no response yet
	pendingBye func() // sends a BYE that waits for these responses; nil: none waits
}

// subscription sends the NOTIFYs of one REFER, one after another.
type subscription struct {
	event   string
	busy    bool
	next    *referNotice // the newest waiting notice; a final one is never replaced
	over    bool         // the last NOTIFY was sent, or the remote party wants no more
	counted bool         // counted in unnotified
}

type referNotice struct {
	code   int
	phrase string
	final  bool
}

// handleRefer reports a REFER to the owner, or refuses it. The target is called only if the owner accepts the REFER.
func (n *referNotifier) handleRefer(m *received) {
	d := n.d
	values := m.HeaderValues("Refer-To")
	var to string
	var replaces *message.DialogID
	ok := len(values) == 1
	if ok {
		to, replaces, ok = message.ParseReferTo(values[0])
	}
	open := true
	refuse := func(code int) {
		if open && d.phase != over {
			open = false
			d.responder.reply(m, code)
		}
	}
	switch {
	case !ok:
		refuse(400)
		return
	case d.phase != answered || d.notify == nil:
		refuse(403)
		return
	}
	by := ""
	if values = m.HeaderValues("Referred-By"); len(values) == 1 {
		if uri := message.ReadURI(values[0]); len(uri) <= message.MaxURI && message.IsDialable(uri) {
			by = uri
		}
	}
	d.responder.store(m, nil)
	timeout := d.after(decisionTimeout, func() { refuse(403) })
	d.emit(Referred{
		To: to, ReferredBy: by, Replaces: replaces,
		Accept: func() func(int, string, bool) {
			s, taken := &subscription{event: "refer;id=" + formatUint(m.CSeq)}, false
			d.do(func() {
				if !open || d.phase == over {
					return
				}
				taken = true
				open = false
				d.stopTimer(timeout)
				n.accept(m, s)
			})
			if !taken {
				return nil
			}
			return func(code int, phrase string, final bool) {
				d.do(func() { n.notify(s, referNotice{max(100, min(code, 699)), phrase, final}) })
			}
		},
		Refuse: func(code int) {
			d.do(func() {
				d.stopTimer(timeout)
				refuse(max(300, min(code, 699)))
			})
		},
	})
}

// accept answers a REFER with 202 and sends the first NOTIFY.
func (n *referNotifier) accept(m *received, s *subscription) {
	d := n.d
	d.remote.refreshTarget(m)
	d.responder.reply(m, 202, message.Header{Name: "Contact", Value: d.contact(d.flow)})
	n.notify(s, referNotice{code: 100})
}

// notify sends a NOTIFY. If the previous NOTIFY has no response yet, notify keeps the new one until then.
func (n *referNotifier) notify(s *subscription, notice referNotice) {
	if notice.final && !s.over && !s.counted {
		s.counted = true
		n.unnotified++
	}
	switch {
	case s.over:
		return
	case s.busy:
		if s.next == nil || !s.next.final {
			s.next = &notice
		}
		return
	}
	phrase := strings.Map(message.ReplaceControlChar, notice.phrase)
	if phrase == "" {
		phrase = message.ReasonPhrase(notice.code)
	}
	state := activeState
	if notice.final {
		state, s.over = terminatedState, true
	}
	s.busy = true
	n.d.requests.send(dialogRequest{
		method: message.MethodNotify, contentType: message.ContentSipfrag + ";version=2.0",
		headers: []message.Header{{Name: "Event", Value: s.event}, {Name: "Subscription-State", Value: state}},
		body:    []byte("SIP/2.0 " + strconv.Itoa(notice.code) + " " + phrase + "\r\n"),
	}, func(m *received, _ error) { n.handleResponse(s, m) })
}

// handleResponse handles the final response to a NOTIFY and sends the waiting NOTIFY. m is nil if no response arrived.
func (n *referNotifier) handleResponse(s *subscription, m *received) {
	s.busy = false
	if m == nil || m.Code >= 300 && m.Code != 491 && m.Code < 500 {
		s.over = true // the remote party has no subscription any more
	}
	if next := s.next; next != nil {
		s.next = nil
		n.notify(s, *next)
	}
	if s.over && !s.busy && s.counted {
		s.counted = false
		n.unnotified = max(n.unnotified-1, 0)
		n.sendPendingBye()
	}
}

// delayBye delays a BYE until the last NOTIFY of each REFER has its response. It returns false if no such NOTIFY is
// open, so that the caller sends the BYE now.
func (n *referNotifier) delayBye(bye func()) bool {
	if n.unnotified == 0 {
		return false
	}
	if n.pendingBye == nil {
		n.pendingBye = bye
		n.d.after(maxByeDelay, func() {
			n.unnotified = 0
			n.sendPendingBye()
		})
	}
	return true
}

func (n *referNotifier) sendPendingBye() {
	if bye := n.pendingBye; bye != nil && n.unnotified == 0 {
		n.pendingBye = nil
		bye()
	}
}
