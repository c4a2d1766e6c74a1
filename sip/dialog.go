package sip

import (
	"slices"
	"strings"
	"time"

	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/outcome"
	"github.com/callboard/callboard/sip/transport"
)

type phase uint8

const (
	early    phase = iota // the INVITE has no 2xx
	answered              // the INVITE has a 2xx
	closing               // a BYE of this side has no response yet
	over                  // ended; kept for late messages
)

// Dialog is one call leg: an INVITE and the dialog that it creates (RFC 3261 §12). Each of its components, such as
// offerAnswer, handles one method or extension. The lock of its eventQueue guards all of them.
type Dialog struct {
	userAgentClient

	inbound     bool
	phase       phase
	established bool // the call was answered, and not only acknowledged in order to end it
	remote      remoteParty
	remoteCSeq  int64 // -1 before the first request of the remote party

	invite       *inviteClient // nil: an inbound leg, or a resumed one
	server       inviteServer
	provisionals *reliableProvisionals // nil: an outbound leg
	acks         acknowledgements
	offers       offerAnswer
	session      sessionTimer
	requests     requestQueue
	responder    responder
	referral     referClient
	notifier     referNotifier

	onClosed    func(Ended) // called instead of the event Ended, if the owner does not know the call
	onAbandoned func()      // called when the call of an earlier process is over
}

// newDialog returns a dialog with its components, and sets their references to the dialog.
func (u *UserAgent) newDialog(key dialogKey) *Dialog {
	d := &Dialog{remoteCSeq: -1}
	d.init(u, key, d.removeFromTable)
	d.contactUser = defaultContactUser
	d.server.d, d.acks.d, d.offers.d, d.session.d, d.referral.d, d.notifier.d, d.responder.d = d, d, d, d, d, d, d
	d.requests.sender = d
	return d
}

// removeFromTable removes the dialog from the dialog table when its time for late messages has expired.
func (d *Dialog) removeFromTable() {
	d.ua.dialogs.remove(d)
	d.stop()
}

// stop stops all timers of the dialog.
func (d *Dialog) stop() {
	d.userAgentClient.stop()
	d.session.stop()
	d.server.stopRetransmissions()
	if d.provisionals != nil {
		d.provisionals.stop()
	}
}

// CallID is the dialog's Call-ID.
func (d *Dialog) CallID() string { return d.key.callID }

// ID returns the Call-ID and the tags of the dialog, with the tag of this side as LocalTag.
func (d *Dialog) ID() message.DialogID {
	d.mu.Lock()
	defer d.mu.Unlock()
	return message.DialogID{CallID: d.key.callID, LocalTag: d.key.tag, RemoteTag: d.remote.tag}
}

// Cancel ends an outbound leg: before its answer by CANCEL, and after the answer by BYE. A CANCEL waits for the first
// provisional response. Refused is reported once no phone of the remote party can ring any more.
func (d *Dialog) Cancel(reason string) {
	d.do(func() {
		switch {
		case d.phase == answered:
			d.bye(16, reason)
		case d.invite != nil && d.phase == early:
			d.invite.why.cancelled = true
			d.invite.cancel(reason)
		}
	})
}

// Bye ends the call. For an outbound leg without an answer it sends CANCEL. Repeated calls have no further effect.
func (d *Dialog) Bye(q850 int, text string) {
	d.do(func() {
		switch {
		case d.phase == answered:
			d.bye(q850, text)
		case d.invite != nil && d.phase == early:
			d.invite.why.cancelled = true
			d.invite.cancel(text)
		case d.phase == early && d.provisionals != nil && d.provisionals.answer != nil:
			d.server.refuse(480, nil, outcome.Final{Code: 480, Phrase: "hung up"})
		}
	})
}

// bye sends the BYE of an answered call. The BYE waits for the ACK of an inbound call and for the last NOTIFY of a
// transfer.
func (d *Dialog) bye(q850 int, text string) {
	if d.phase != answered {
		return
	}
	again := func() { d.bye(q850, text) }
	if d.server.isUnconfirmed() { // RFC 3261 §15: not before the ACK, or before its time is over
		d.server.pendingBye = again
		return
	}
	if d.notifier.delayBye(again) {
		return
	}
	d.phase = closing
	d.sendBye(Ended{Q850: q850, Text: text}, nil)
}

// endLostCall ends a call that the remote party does not know any more. The owner gets Ended with Fault.
func (d *Dialog) endLostCall(why string) {
	if d.phase != answered {
		return
	}
	if d.server.isUnconfirmed() {
		d.bye(0, why)
		return
	}
	d.phase = closing
	d.sendBye(Ended{Text: why, Fault: true}, nil)
}

func (d *Dialog) sendBye(e Ended, credentials []message.Header) {
	d.acks.release()
	var headers []message.Header
	if e.Q850 > 0 {
		headers = append(headers, message.Header{Name: "Reason", Value: message.FormatReason(e.Q850, strings.Map(message.ReplaceControlChar, e.Text))})
	}
	headers = append(headers, credentials...)
	d.localCSeq++
	cseq := d.localCSeq
	d.withNextHop(d.remote, func(to transport.Flow) {
		d.start(&clientTransaction{method: message.MethodBye, cseq: cseq, remote: d.remote, to: to, headers: headers}, func(m *received, err error) {
			if m != nil && m.Code < 200 {
				return
			}
			if m != nil && m.IsChallenge() {
				if again := d.answerChallenge(m, message.MethodBye, credentials == nil, nil); again != nil {
					d.sendBye(e, again)
					return
				}
			}
			e.Fault = e.Fault || err != nil
			d.endCall(e)
		})
	})
}

// endCall reports the end of an answered call to the owner, once.
func (d *Dialog) endCall(e Ended) {
	if d.phase == over {
		return
	}
	d.server.stopRetransmissions()
	d.acks.reportSent()
	d.acks.release()
	closed := d.onClosed
	d.markOver(d.ua.cfg.Linger)
	for _, tx := range slices.Clone(d.transactions) {
		if tx.method != message.MethodBye && tx.method != message.MethodCancel && tx.method != message.MethodNotify {
			d.fail(tx, errEnded)
		}
	}
	d.referral.awaitLastNotify()
	if closed != nil {
		closed(e)
		return
	}
	d.emitLast(e)
}

// markOver marks the dialog as over and stops the session timer, all queued requests and offers. The dialog stays in
// memory for the time wait, in order to answer late messages.
func (d *Dialog) markOver(wait time.Duration) {
	d.phase = over
	d.session.stop()
	d.stopTimers()
	d.requests.endAll()
	d.offers.endAll()
	d.expireAfter(wait)
}

// Abandon releases a dialog without sending anything, because another process has resumed it. No further event is
// reported.
func (d *Dialog) Abandon() {
	d.do(func() {
		d.notify, d.onClosed = nil, nil
		d.acks.held = nil
		d.markOver(0)
		d.expires = time.Now()
	})
	d.expire()
}

// isCallingSuspended reports whether new calls are suspended, so that a REFER must not make the remote party call a
// target.
func (d *Dialog) isCallingSuspended() bool {
	if d.invite == nil {
		return d.ua.calls.isSuspended(nil)
	}
	return d.ua.calls.isSuspended(d.invite.in.MayBegin)
}

// answerChallenge returns the headers with credentials for a challenged request of the dialog. It returns nil if the
// challenge cannot be answered.
func (d *Dialog) answerChallenge(m *received, method string, first bool, body []byte) []message.Header {
	r := challengedRequest{method: method, uri: d.remoteURI, body: body, first: first, initial: d.phase == early}
	if !r.initial {
		r.uri, _, _ = d.remote.route()
	}
	return d.digest.answer(&m.Received, r, d.flow.Addr.Addr())
}

// handleResponse handles a response to a request of this side. A repeated final response to an INVITE gets another ACK.
func (d *Dialog) handleResponse(m *received) {
	switch {
	case d.matchResponse(m):
	case m.CSeqMethod != message.MethodInvite || m.Branch() != d.ua.id.Branch(d.key.callID, d.key.tag, m.CSeq, message.MethodInvite, ""):
		d.ua.stats.stray.Add(1)
	default:
		d.handleLateResponse(m)
	}
}
