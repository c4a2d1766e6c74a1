package sip

import (
	"time"

	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/transport"
)

// maxHeldAck is the maximum time for which an ACK is delayed (Invite.HoldAck), so that the owner can store the answer
// first. The remote party repeats its 2xx for 32 s until it receives the ACK.
const maxHeldAck = 3 * time.Second

// maxForks is the maximum number of early dialogs of one INVITE, and of surplus 2xx responses to it that get an ACK.
const maxForks = 10

// acknowledgements sends or delays the ACKs of the 2xx responses to this side's INVITEs (RFC 3261 §13.2.2.4).
type acknowledgements struct {
	d         *Dialog
	sent      map[messageID]sentAck // by CSeq and To tag; an entry without bytes is delayed or about to be sent
	surplus   int                   // number of surplus forks that were ended
	held      func()                // sends the delayed ACK; nil: none is delayed
	answerDue bool                  // the delayed ACK has to carry the SDP answer of this side
	answer    []byte
	onSent    func() // reports Answered, once the ACK is sent
}

// messageID identifies a message of the remote party within a call leg and its forks.
type messageID struct {
	tag  string // of the remote party
	cseq uint32
}

type sentAck struct {
	bytes []byte
	to    transport.Flow
}

func (a *acknowledgements) note(m *received, s sentAck) {
	if a.sent == nil {
		a.sent = make(map[messageID]sentAck, 1)
	}
	a.sent[messageID{m.To.Tag, m.CSeq}] = s
}

// acknowledge sends the ACK of a 2xx and stores it, so that retransmissions of the 2xx get the same ACK. body is the
// SDP answer to an offer in the 2xx. then is called once the ACK is sent.
func (a *acknowledgements) acknowledge(remote remoteParty, m *received, body []byte, then func()) {
	a.note(m, sentAck{})
	d := a.d
	d.withNextHop(remote, func(to transport.Flow) {
		b, err := d.buildRequest(&clientTransaction{
			method: message.MethodAck, cseq: m.CSeq, remote: remote, to: to, headers: d.digest.headers, body: body, ackOf2xx: true, fork: remote.tag,
		})
		if err == nil {
			a.note(m, sentAck{b, to})
			_ = d.send(to, transport.Outgoing{Bytes: b})
		}
		then()
	})
}

// repeat sends the stored ACK of a repeated 2xx again. It returns false if the 2xx was not received before.
func (a *acknowledgements) repeat(m *received) bool {
	ack, known := a.sent[messageID{m.To.Tag, m.CSeq}]
	if ack.bytes != nil {
		a.d.ua.stats.retransmitted.Add(1)
		_ = a.d.send(ack.to, transport.Outgoing{Bytes: ack.bytes})
	}
	return known
}

// hasFork reports whether a 2xx with this To tag was received and gets an ACK.
func (a *acknowledgements) hasFork(tag string) bool {
	for id := range a.sent {
		if id.tag == tag {
			return true
		}
	}
	return false
}

// hold delays the ACK of a 2xx until release is called.
func (a *acknowledgements) hold(m *received) {
	a.note(m, sentAck{}) // a retransmission of this 2xx is no fork
	remote := a.d.remote
	a.held = func() {
		body := a.answer
		a.answerDue, a.answer = false, nil
		a.acknowledge(remote, m, body, func() {})
	}
}

// holdForOwner delays the ACK of a 2xx until the owner calls Dialog.Ack, the call ends, or maxHeldAck has passed.
func (a *acknowledgements) holdForOwner(m *received) {
	a.hold(m)
	a.d.after(maxHeldAck, a.release)
}

// awaitAnswer delays the ACK of a 2xx with an offer until the owner provides the SDP answer. Without an answer in time
// the call is ended.
func (a *acknowledgements) awaitAnswer(m *received) {
	a.answerDue = true
	a.hold(m)
	a.d.after(ownerTimeout, func() {
		if a.answerDue {
			a.d.bye(0, "an offer was not answered")
		}
	})
}

// release sends the delayed ACK, if there is one.
func (a *acknowledgements) release() {
	if send := a.held; send != nil {
		a.held = nil
		send()
	}
}

// reportSent reports Answered to the owner by calling onSent at most once.
func (a *acknowledgements) reportSent() {
	if report := a.onSent; report != nil {
		a.onSent = nil
		report()
	}
}

// Ack sends the ACK that Invite.HoldAck delays. It does nothing if the ACK is sent already.
func (d *Dialog) Ack() {
	d.do(func() {
		if !d.acks.answerDue {
			d.acks.release()
		}
	})
}

// Respond provides the SDP answer to the offer in a 2xx (Answered.Offer, OfferResult.Respond). The ACK carries the
// answer. Only the first call has an effect.
func (d *Dialog) Respond(answer []byte) {
	d.do(func() {
		if !d.acks.answerDue || len(answer) > MaxBody {
			return
		}
		d.acks.answer, d.session.localSDP = answer, answer
		d.acks.release()
		d.offers.sendNext()
	})
}

// handleLateResponse handles a response to an INVITE whose client transaction has ended.
func (d *Dialog) handleLateResponse(m *received) {
	c := d.invite
	if d.remoteURI == "" || d.localURI == "" {
		d.setLocal(m.From.URI.String())
		d.remoteURI = m.To.URI.String()
	}
	switch {
	case d.established && m.To.Tag == d.remote.tag: // a response to a re-INVITE, after the end of the call
		if m.Code >= 300 {
			d.ackFailure(d.remote, d.flow, m)
		} else if m.Code >= 200 && !d.acks.repeat(m) {
			d.acks.acknowledge(d.remote, m, nil, func() {})
		}
	case m.Code >= 300:
		if c != nil {
			c.final = true
		}
		d.ackFailure(d.beforeDialog(), d.flow, m)
		d.reportAbandoned()
	case m.Code >= 200:
		if !d.acks.repeat(m) {
			d.endFork(m)
		}
	case c != nil && c.refused && !c.final && !c.cancelSent && c.tx != nil && m.CSeq >= c.tx.cseq:
		// The remote party rings although the leg was already reported as refused.
		c.cancelSent = true
		c.sendCancel(m.CSeq, "too late", func(*received, error) {})
	}
}

// endFork sends ACK and BYE for the 2xx of a further fork, because another fork has already answered or the leg is over.
func (d *Dialog) endFork(m *received) {
	if d.acks.surplus >= maxForks {
		d.ua.stats.stray.Add(1)
		return
	}
	d.acks.surplus++
	if d.phase == over {
		d.expires = time.Now().Add(d.ua.cfg.Linger)
	}
	remote := remoteOfResponse(m, d.remoteURI)
	cseq := m.CSeq
	if d.invite != nil {
		if f := d.invite.fork(remote.tag); f != nil {
			cseq = max(cseq, f.localCSeq)
		}
	}
	d.acks.acknowledge(remote, m, nil, func() {
		d.withNextHop(remote, func(to transport.Flow) {
			d.start(&clientTransaction{method: message.MethodBye, cseq: cseq + 1, remote: remote, to: to, fork: remote.tag}, func(m *received, _ error) {
				if m != nil && m.Code >= 200 {
					d.reportAbandoned()
				}
			})
		})
	})
}

// reportAbandoned reports to EndAbandoned that the call of an earlier process is over.
func (d *Dialog) reportAbandoned() {
	if d.onAbandoned != nil {
		d.onAbandoned()
	}
}
