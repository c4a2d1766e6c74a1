package sip

import (
	"time"

	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/outcome"
)

// serverTransaction is the server transaction of an INVITE (RFC 3261 §17.2.1).
type serverTransaction struct {
	request         *received
	last            []byte // the response to a retransmitted INVITE
	code            int    // status code of the final response; 0: none was sent
	acked           bool
	offerless       bool           // the INVITE had no offer, so its ACK has to bring the answer
	endBeforeNotify *outcome.Final // how the call ended, if it ended before Incoming.Notify
	timer           *time.Timer
	wait            time.Duration
	until           time.Time
}

// isAnswered reports whether this side has sent a 2xx.
func (tx *serverTransaction) isAnswered() bool { return tx.code >= 200 && tx.code < 300 }

// inviteServer answers the INVITEs of the remote party: the initial INVITE and re-INVITEs (RFC 3261 §13.3, §14.2).
type inviteServer struct {
	d              *Dialog
	initial        *received          // nil: an outbound leg, or a resumed one
	branch         string             // of the initial INVITE; its CANCEL has the same branch
	tx             *serverTransaction // the INVITE in progress, or the last one; nil: none was received
	ownerResponded bool               // the owner has rung or answered
	confirmed      bool               // the ACK of the initial INVITE was received
	pendingBye     func()             // sends a BYE that waits for that ACK
	replaced       *Dialog            // the dialog to be ended once this one is confirmed (RFC 3891)
}

// callerKey identifies an inbound dialog by the tag of the caller.
func (s *inviteServer) callerKey() dialogKey { return dialogKey{s.d.key.callID, s.initial.From.Tag} }

// isUnconfirmed reports whether the initial INVITE of an inbound leg has no ACK yet.
func (s *inviteServer) isUnconfirmed() bool { return s.d.inbound && !s.confirmed }

// isAnswering reports whether the INVITE in progress has got no final response from this side yet.
func (s *inviteServer) isAnswering() bool { return s.tx != nil && s.tx.code == 0 }

// awaitsAck reports whether this side has sent a 2xx without having received its ACK, and whether that ACK has to carry
// an SDP answer.
func (s *inviteServer) awaitsAck() (awaits, answerDue bool) {
	awaits = s.tx != nil && s.tx.isAnswered() && !s.tx.acked
	return awaits, awaits && s.tx.offerless
}

func (s *inviteServer) stopRetransmissions() {
	if s.tx != nil && s.tx.timer != nil {
		s.tx.timer.Stop()
	}
}

// accept answers the initial INVITE with 200.
func (s *inviteServer) accept(body []byte) {
	d := s.d
	s.countAnswered()
	d.stopTimers()
	d.phase = answered
	if d.provisionals.settled {
		body = nil
	} else {
		d.session.localSDP = body
	}
	s.tx.offerless = s.tx.offerless && !d.provisionals.settled
	d.provisionals.stop()
	s.respondFinal(200, body, d.session.grant(s.tx.request))
}

// countAnswered reduces the number of unanswered calls of the caller's host, which is limited.
func (s *inviteServer) countAnswered() {
	s.d.ua.load.AddUnanswered(s.initial.Source().Addr.Addr(), -1)
}

// refuse ends an inbound call before its answer. why is reported to the owner if it has a code. If the owner itself
// rejects the call, why has no code.
func (s *inviteServer) refuse(code int, headers []message.Header, why outcome.Final) {
	d := s.d
	if d.phase != early || s.tx.code != 0 {
		return
	}
	s.countAnswered()
	isAccepted := d.provisionals.answer != nil
	d.provisionals.stop()
	d.markOver(d.ua.cfg.Linger)
	s.respondFinal(code, nil, headers)
	switch {
	case isAccepted: // a 2xx that waits for a PRACK
		d.emitLast(Ended{ByRemote: why.Cancelled, Q850: why.Q850, Text: why.Phrase, Fault: code == 504})
	case why.Code != 0 && d.notify == nil:
		s.tx.endBeforeNotify = &why
	case why.Code != 0:
		d.emitLast(Refused{Final: why})
	default:
		d.notify = nil
	}
}

// respondProvisional answers the INVITE in progress with a 1xx and returns the sent message.
func (s *inviteServer) respondProvisional(code int, body []byte, headers []message.Header) []byte {
	d, tag := s.d, s.d.key.tag
	if code == 100 {
		tag = ""
	}
	b, err := d.ua.buildResponse(&s.tx.request.Received, code, tag, append(d.responder.refreshHeaders(code), headers...), body)
	if err == nil {
		s.tx.last = b
		d.ua.respond(&s.tx.request.Received, b)
	}
	return b
}

// respondFinal sends the final response to the INVITE and repeats it until the ACK. A 2xx is repeated on every
// transport, other responses over UDP only.
func (s *inviteServer) respondFinal(code int, body []byte, headers []message.Header) {
	d, tx := s.d, s.tx
	b, err := d.ua.buildResponse(&tx.request.Received, code, d.key.tag, append(d.responder.refreshHeaders(code), headers...), body)
	if err != nil {
		b, err = d.ua.buildResponse(&tx.request.Received, 500, d.key.tag, nil, nil)
		if err != nil {
			return
		}
	}
	tx.request.Headers, tx.request.Body = nil, nil // only its identifiers are needed from now on
	tx.last, tx.code, tx.wait, tx.until = b, code, t1, time.Now().Add(transactionTimeout)
	d.ua.respond(&tx.request.Received, b)
	tx.timer = time.AfterFunc(t1, func() { d.do(func() { s.repeatFinal(tx) }) })
}

func (s *inviteServer) repeatFinal(tx *serverTransaction) {
	if tx.acked {
		return
	}
	left := time.Until(tx.until)
	if left <= 0 {
		s.endUnacknowledged(tx)
		return
	}
	if tx.code < 300 || tx.request.Flow.Network == "udp" {
		s.d.ua.stats.retransmitted.Add(1)
		s.d.ua.respond(&tx.request.Received, tx.last)
	}
	tx.wait = min(tx.wait*2, t2)
	tx.timer.Reset(min(tx.wait, left))
}

// endUnacknowledged ends a call whose 2xx got no ACK (RFC 3261 §13.3.1.4).
func (s *inviteServer) endUnacknowledged(tx *serverTransaction) {
	d := s.d
	tx.acked = true
	if tx.code >= 300 || d.phase != answered {
		return
	}
	s.confirmed, s.pendingBye, d.phase = true, nil, closing
	d.sendBye(Ended{Text: "no ACK", Fault: true}, nil)
}

// handleAck handles the ACK of a final response.
func (s *inviteServer) handleAck(m *received) {
	d, tx := s.d, s.tx
	if tx == nil || tx.request.CSeq != m.CSeq || tx.code == 0 {
		d.ua.stats.stray.Add(1)
		return
	}
	if tx.acked {
		return
	}
	tx.acked = true
	tx.timer.Stop()
	if tx.code >= 300 {
		return
	}
	s.confirm()
	defer d.offers.sendNext()
	switch {
	case d.phase != answered:
	case len(m.Body) > 0 && m.ContentType == message.ContentSDP:
		d.emit(Accepted{Body: m.Body})
	case tx.offerless && tx.request == s.initial: // without an answer to its offer a call has no media (RFC 3261 §13.2.2.4)
		d.endLostCall("the ACK brought no answer to the offer")
	}
	s.sendPendingBye()
}

// confirm records that the remote party has received the 2xx. If this dialog replaces another one, that one is ended.
func (s *inviteServer) confirm() {
	s.confirmed = true
	if old := s.replaced; old != nil {
		s.replaced = nil
		s.d.later(func() { old.Bye(16, "replaced") })
	}
}

func (s *inviteServer) sendPendingBye() {
	if bye := s.pendingBye; bye != nil {
		s.pendingBye = nil
		bye()
	}
}

// handleRepeatedInvite handles an INVITE with a known Call-ID and From tag. A retransmission gets the last response
// again. The same request over another path gets 482 (RFC 3261 §8.2.2.2). fresh is true for a new call attempt: the
// caller's previous call is over and the CSeq is higher.
func (s *inviteServer) handleRepeatedInvite(m *received) (fresh bool) {
	d, first := s.d, s.initial
	if m.CSeq > first.CSeq && d.phase == over {
		return true
	}
	if m.Branch() != s.branch || m.CSeq != first.CSeq {
		d.ua.stats.rejected.Add(1)
		d.ua.reject(m, 482)
		return false
	}
	if s.tx.request == first && s.tx.last != nil && (!s.tx.acked || s.tx.code >= 300) {
		d.ua.stats.retransmitted.Add(1)
		d.ua.respond(&first.Received, s.tx.last)
	}
	return false
}

// handleCancel answers the caller's CANCEL with 200, and the INVITE with 487 if it has no final response yet.
func (s *inviteServer) handleCancel(m *received) {
	s.d.ua.reply(&m.Received, 200, s.d.key.tag, nil)
	q850, text := message.ParseReason(m.HeaderValues("Reason"))
	s.refuse(487, nil, outcome.Final{Code: 487, Cancelled: true, Q850: q850, Reason: text})
}

// repeatResponse answers a retransmission of the INVITE in progress. It returns false if m is not a retransmission.
func (s *inviteServer) repeatResponse(m *received) bool {
	if s.tx == nil || s.tx.request.CSeq != m.CSeq {
		return false
	}
	if s.tx.last != nil && s.tx.request.Branch() == m.Branch() && !s.tx.acked {
		s.d.ua.respond(&s.tx.request.Received, s.tx.last)
	}
	return true
}

// handleReinvite handles a re-INVITE. If another INVITE or offer is in progress, the re-INVITE is refused with the
// responses of RFC 3261 §14.2.
func (s *inviteServer) handleReinvite(m *received) {
	d := s.d
	awaits, answerDue := s.awaitsAck()
	switch {
	case d.phase == early: // the re-INVITE crosses the answer to the initial INVITE
		d.responder.replyLater(m)
		return
	case d.phase != answered:
		d.ua.reject(m, 481)
		return
	case d.offers.isOpen():
		d.responder.reply(m, 491)
		return
	case d.offers.deciding, s.isAnswering(), answerDue:
		d.responder.replyLater(m)
		return
	case d.ua.sessions.IsTooShort(&m.Message):
		d.responder.replyTooShort(m)
		return
	case awaits: // the remote party has the 2xx, and its ACK was lost
		s.tx.acked = true
		s.tx.timer.Stop()
		s.confirm()
	}
	tx := &serverTransaction{request: m, offerless: len(m.Body) == 0}
	s.tx = tx
	s.respondProvisional(100, nil, nil)
	d.offers.askOwner(m, func(code int, body []byte, headers []message.Header) {
		if s.tx != tx || tx.code != 0 {
			return
		}
		if code < 300 {
			d.remote.refreshTarget(m)
			headers = d.session.grant(m)
		}
		s.respondFinal(code, body, headers)
	})
	if s.confirmed {
		s.sendPendingBye()
	}
}
