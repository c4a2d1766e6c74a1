package sip

import (
	"time"

	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/outcome"
)

// progress is a 1xx that we send, or have to send.
type progress struct {
	code int
	body []byte
}

// reliable is the 100rel side of an inbound call before its answer (RFC 3262
// 3). One answer at a time is on its way; the others wait for its PRACK.
type reliable struct {
	supported, required bool // by the caller
	offered             bool // the INVITE brought an offer

	rseq     uint32
	sent     *progress // without its PRACK
	bytes    []byte
	timer    *time.Timer
	wait     time.Duration
	until    time.Time
	queue    []progress
	settled  bool   // offer and answer have been exchanged by a 1xx and its PRACK
	answer   func() // the 2xx, while it has to wait
	last     progress
	repeater *time.Timer
}

// Progress answers 180 or 183 (any of 101 to 199), with SDP if body is given:
// reliably where the caller supports it, each one after the PRACK of the one
// before. To a caller that cannot be offered anything before the answer a
// body is not sent. The last one is repeated every minute.
func (i *Incoming) Progress(code int, body []byte) {
	i.d.do(func() {
		i.d.taken = true
		i.d.progress(progress{max(101, min(code, 199)), body}, i.d.rel.supported)
	})
}

// Ring sends 180, again every minute.
func (i *Incoming) Ring() {
	i.d.do(func() {
		i.d.taken = true
		i.d.progress(progress{code: 180}, i.d.rel.required)
	})
}

// Dialog is the leg before its answer, for Reoffer and ID.
func (i *Incoming) Dialog() *Dialog { return i.d }

func (d *Dialog) progress(p progress, reliably bool) {
	r := d.rel
	switch {
	case d.phase != early || d.srv.code != 0 || r.answer != nil:
		return
	case !reliably:
		if !r.offered || r.settled {
			p.body = nil // an offer must not get lost; an answer is given once
		}
		d.provisional(p.code, p.body, nil)
	case r.sent != nil:
		if len(r.queue) < maxProgress {
			r.queue = append(r.queue, p)
		}
		return
	default:
		d.sendReliably(p)
	}
	r.last = p
	if r.repeater != nil {
		r.repeater.Stop()
	}
	r.repeater = d.after(ringRefresh, func() { // RFC 3261 13.3.1.1: or proxies give up
		if reliably {
			r.last.body = nil
		}
		d.progress(r.last, false)
	})
}

func (d *Dialog) sendReliably(p progress) {
	r := d.rel
	if r.settled {
		p.body = nil
	}
	r.rseq++
	r.sent = &p
	r.bytes = d.provisional(p.code, p.body, []message.Header{{Name: "Require", Value: "100rel"}, {Name: "RSeq", Value: decimal(r.rseq)}})
	r.wait, r.until = t1, time.Now().Add(giveUp)
	r.timer = time.AfterFunc(t1, func() { d.do(func() { d.repeatProgress(r.rseq) }) })
}

// repeatProgress repeats a 1xx until its PRACK. Without one for 32 s the call
// is refused.
func (d *Dialog) repeatProgress(rseq uint32) {
	r := d.rel
	if r.sent == nil || r.rseq != rseq || d.phase != early {
		return
	}
	left := time.Until(r.until)
	if left <= 0 {
		d.refuseCaller(504, nil, outcome.Final{Code: 504, Phrase: "no PRACK"})
		return
	}
	d.ua.stats.retransmitted.Add(1)
	d.ua.respond(d.srv.request, r.bytes)
	r.wait *= 2
	r.timer.Reset(min(r.wait, left))
}

// stop ends the repetitions: the call is answered or over. A PRACK that is
// still under way finds what it is for.
func (r *reliable) stop() {
	r.bytes, r.queue, r.answer, r.last = nil, nil, nil, progress{}
	if r.timer != nil {
		r.timer.Stop()
	}
}

// pracked takes a PRACK. Its body is an answer to our offer, or an offer.
func (d *Dialog) pracked(m *received) {
	r := d.rel
	values := m.HeaderValues("RAck")
	ack, ok := message.RAck{}, len(values) == 1
	if ok {
		ack, ok = message.ParseRAck(values[0])
	}
	switch {
	case !ok:
		d.keep(m, d.ua.reply(m, 400, d.key.tag, nil))
		return
	case r == nil || r.sent == nil || ack != message.RAck{RSeq: r.rseq, CSeq: d.srv.request.CSeq, Method: message.MethodInvite}:
		d.keep(m, d.ua.reply(m, 481, d.key.tag, nil))
		return
	case len(m.Body) > 0 && m.ContentType != message.ContentSDP:
		d.keep(m, d.ua.reply(m, 415, d.key.tag, []message.Header{{Name: "Accept", Value: message.ContentSDP + ", " + message.ContentMixed}}))
		return
	}
	sent := r.sent
	r.sent, r.bytes = nil, nil
	r.timer.Stop()
	described := len(sent.body) > 0
	newOffer := len(m.Body) > 0 && r.settled
	if described {
		d.session.body = sent.body
		newOffer = newOffer || r.offered && len(m.Body) > 0
		r.settled = r.settled || r.offered || len(m.Body) > 0
	}
	if newOffer {
		d.offer(m, func(code int, body []byte, extra []message.Header) {
			d.finishReply(m, code, body, extra)
			d.afterPrack()
		})
		return
	}
	d.keep(m, d.ua.reply(m, 200, d.key.tag, nil))
	if described && len(m.Body) > 0 {
		d.emit(Accepted{Body: m.Body})
	}
	d.afterPrack()
}

// afterPrack goes on after a PRACK: with the answer, or the next 1xx.
func (d *Dialog) afterPrack() {
	r := d.rel
	switch {
	case r.answer != nil:
		answer := r.answer
		r.answer = nil
		answer()
	case len(r.queue) > 0 && d.phase == early:
		p := r.queue[0]
		r.queue = r.queue[1:]
		d.progress(p, true)
	default:
		d.pump()
	}
}
