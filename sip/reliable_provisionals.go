package sip

import (
	"time"

	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/outcome"
)

// ringRefresh is the interval at which a provisional response is repeated, so that proxies do not end the call (RFC
// 3261 §13.3.1.1).
const ringRefresh = time.Minute

// collectProgress is a provisional response to the INVITE that was sent or waits to be sent.
type collectProgress struct {
	code int
	body []byte
}

// reliableProvisionals sends the provisional responses to the initial INVITE of an inbound leg. If the caller supports
// it, they are sent reliably (RFC 3262 §3): each waits until the PRACK of the previous one has arrived.
type reliableProvisionals struct {
	d         *Dialog
	supported bool // the caller supports 100rel
	required  bool // the caller requires 100rel
	offered   bool // the INVITE had an offer

	rseq     uint32
	sent     *collectProgress // the reliable response whose PRACK is missing; nil: none
	bytes    []byte           // the message that was sent for sent
	timer    *time.Timer
	wait     time.Duration
	until    time.Time
	waiting  []collectProgress
	settled  bool   // a 1xx and its PRACK have exchanged offer and answer
	answer   func() // sends the delayed 2xx; nil: none is delayed
	last     collectProgress
	repeater *time.Timer
}

// Progress sends 180 or 183 (any code from 101 to 199), with SDP if body is set. If the caller supports it, the
// response is sent reliably, after the PRACK of the previous one. If the INVITE had no offer and the caller does not
// support reliable responses, body is omitted. The last response is repeated every minute.
func (i *Incoming) Progress(code int, body []byte) {
	i.d.do(func() {
		i.d.server.ownerResponded = true
		i.d.provisionals.report(collectProgress{max(101, min(code, 199)), body}, i.d.provisionals.supported)
	})
}

// Ring sends 180 and repeats it every minute.
func (i *Incoming) Ring() {
	i.d.do(func() {
		i.d.server.ownerResponded = true
		i.d.provisionals.report(collectProgress{code: 180}, i.d.provisionals.required)
	})
}

// report sends a provisional response. A reliable response waits until the previous one has its PRACK.
func (r *reliableProvisionals) report(p collectProgress, reliably bool) {
	d := r.d
	switch {
	case d.phase != early || d.server.tx.code != 0 || r.answer != nil:
		return
	case !reliably:
		if !r.offered || r.settled {
			p.body = nil // an offer needs a reliable response, and an answer is given once
		}
		d.server.respondProvisional(p.code, p.body, nil)
	case r.sent != nil:
		if len(r.waiting) < maxProgress {
			r.waiting = append(r.waiting, p)
		}
		return
	default:
		r.sendReliably(p)
	}
	r.last = p
	if r.repeater != nil {
		r.repeater.Stop()
	}
	r.repeater = d.after(ringRefresh, func() {
		if reliably {
			r.last.body = nil
		}
		r.report(r.last, false)
	})
}

func (r *reliableProvisionals) sendReliably(p collectProgress) {
	d := r.d
	if r.settled {
		p.body = nil
	}
	r.rseq++
	rseq := r.rseq
	r.sent = &p
	r.bytes = d.server.respondProvisional(p.code, p.body, []message.Header{{Name: "Require", Value: "100rel"}, {Name: "RSeq", Value: formatUint(rseq)}})
	r.wait, r.until = t1, time.Now().Add(transactionTimeout)
	r.timer = time.AfterFunc(t1, func() { d.do(func() { r.retransmit(rseq) }) })
}

// retransmit repeats a reliable 1xx until its PRACK arrives. If no PRACK arrives within 32 s, the call is refused.
func (r *reliableProvisionals) retransmit(rseq uint32) {
	d := r.d
	if r.sent == nil || r.rseq != rseq || d.phase != early {
		return
	}
	left := time.Until(r.until)
	if left <= 0 {
		d.server.refuse(504, nil, outcome.Final{Code: 504, Phrase: "no PRACK"})
		return
	}
	d.ua.stats.retransmitted.Add(1)
	d.ua.respond(&d.server.tx.request.Received, r.bytes)
	r.wait *= 2
	r.timer.Reset(min(r.wait, left))
}

// stop ends the retransmissions when the call is answered or over. A PRACK that arrives later still gets its
// response.
func (r *reliableProvisionals) stop() {
	r.bytes, r.waiting, r.answer, r.last = nil, nil, nil, collectProgress{}
	if r.timer != nil {
		r.timer.Stop()
	}
}

// handlePrack handles a PRACK. Its body is an answer to this side's offer, or an offer.
func (d *Dialog) handlePrack(m *received) {
	r := d.provisionals
	values := m.HeaderValues("RAck")
	ack, ok := message.RAck{}, len(values) == 1
	if ok {
		ack, ok = message.ParseRAck(values[0])
	}
	switch {
	case !ok:
		d.responder.reply(m, 400)
	case r == nil || r.sent == nil || ack != message.RAck{RSeq: r.rseq, CSeq: d.server.tx.request.CSeq, Method: message.MethodInvite}:
		d.responder.reply(m, 481)
	case len(m.Body) > 0 && m.ContentType != message.ContentSDP:
		d.responder.replyUnsupported(m, message.ContentSDP, message.ContentMixed)
	default:
		r.handlePrack(m)
	}
}

// handlePrack handles the PRACK of the reliable response that was sent last.
func (r *reliableProvisionals) handlePrack(m *received) {
	d, sent := r.d, r.sent
	r.sent, r.bytes = nil, nil
	r.timer.Stop()
	isOffer := len(m.Body) > 0 && r.settled
	described := len(sent.body) > 0
	if described {
		d.session.localSDP = sent.body
		isOffer = isOffer || r.offered && len(m.Body) > 0
		r.settled = r.settled || r.offered || len(m.Body) > 0
	}
	if isOffer {
		d.offers.askOwner(m, func(code int, body []byte, headers []message.Header) {
			d.responder.replyWith(m, code, body, headers)
			r.sendNext()
		})
		return
	}
	d.responder.reply(m, 200)
	if described && len(m.Body) > 0 {
		d.emit(Accepted{Body: m.Body})
	}
	r.sendNext()
}

// sendNext sends the response that has waited for a PRACK: the 2xx, or else the next 1xx.
func (r *reliableProvisionals) sendNext() {
	switch {
	case r.answer != nil:
		answer := r.answer
		r.answer = nil
		answer()
	case len(r.waiting) > 0 && r.d.phase == early:
		p := r.waiting[0]
		r.waiting = r.waiting[1:]
		r.report(p, true)
	default:
		r.d.offers.sendNext()
	}
}
