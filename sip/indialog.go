package sip

import (
	"math/rand/v2"
	"net/textproto"
	"strconv"
	"strings"
	"time"

	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/outcome"
)

const (
	replyWithin = 10 * time.Second // the owner's answer to a Reoffer
	maxReplies  = 8                // answers kept for repeated requests
)

// request takes a request of the far end within the dialog.
func (d *Dialog) request(m *received) {
	if m.Method == message.MethodAck {
		d.acked(m)
		return
	}
	if d.phase == early && !d.inbound {
		d.earlyRequest(m)
		return
	}
	if m.From.Tag != d.far.tag {
		d.foreign(m)
		return
	}
	if d.again(m) {
		return
	}
	if m.Method == message.MethodInvite && d.srv != nil && d.srv.request.CSeq == m.CSeq {
		if d.srv.last != nil && d.srv.request.Branch() == m.Branch() && !d.srv.acked {
			d.ua.respond(d.srv.request, d.srv.last)
		}
		return
	}
	if int64(m.CSeq) <= d.remoteCSeq {
		d.ua.stats.rejected.Add(1)
		d.ua.reject(m, 500) // RFC 3261 12.2.2
		return
	}
	d.remoteCSeq = int64(m.CSeq)
	switch m.Method {
	case message.MethodBye:
		d.byeFrom(m)
	case message.MethodInvite:
		d.reinvited(m)
	case message.MethodUpdate:
		d.updated(m, nil)
	case message.MethodInfo:
		d.informed(m)
	case message.MethodPrack:
		d.pracked(m)
	case message.MethodRefer:
		d.referred(m)
	case message.MethodNotify:
		d.notified(m)
	case message.MethodMessage: // nobody would read it
		d.keep(m, d.ua.reply(m, 403, d.key.tag, nil))
	default:
		d.keep(m, d.ua.reply(m, 200, d.key.tag, nil))
	}
}

// keep remembers an answer for a repetition of its request. Without an answer the request is in progress, and its
// repetitions are ignored (RFC 3261 §17.2.2).
func (d *Dialog) keep(m *received, b []byte) {
	if d.answers == nil || len(d.answers) >= maxReplies {
		d.answers = make(map[repeated]lastReply, 1)
	}
	d.answers[repeated{m.From.Tag, m.CSeq}] = lastReply{m.Method, b}
}

// again answers a repetition of a request as before.
func (d *Dialog) again(m *received) bool {
	kept, ok := d.answers[repeated{m.From.Tag, m.CSeq}]
	if !ok || kept.method != m.Method {
		return false
	}
	d.ua.stats.retransmitted.Add(1)
	if kept.b != nil {
		d.ua.respond(m, kept.b)
	}
	return true
}

// foreign takes a request of another fork's dialog. We have ended those.
func (d *Dialog) foreign(m *received) {
	code := 481
	if m.Method == message.MethodBye {
		for key := range d.acks {
			if strings.HasSuffix(key, " "+m.From.Tag) {
				code = 200
			}
		}
	}
	d.ua.reply(m, code, d.key.tag, nil)
}

func (d *Dialog) byeFrom(m *received) {
	d.keep(m, d.ua.reply(m, 200, d.key.tag, nil))
	switch d.phase {
	case early:
		d.refuseCaller(487, nil, outcome.Final{Code: 487, Cancelled: true})
	case up, closing:
		e := Ended{ByRemote: d.phase == up, Header: make(map[string]string)}
		e.Q850, e.Text = message.ParseReason(m.HeaderValues("Reason"))
		for _, h := range m.Headers {
			name := message.CanonicalName(h.Name())
			if (name == "reason" || strings.HasPrefix(name, "x-")) && len(e.Header) < maxHeaders && len(h.Value()) <= maxValue {
				e.Header[textproto.CanonicalMIMEHeaderKey(name)] = h.Value()
			}
		}
		d.finish(e)
	case over:
	}
}

// acked takes the ACK of our final answer.
func (d *Dialog) acked(m *received) {
	srv := d.srv
	if srv == nil || srv.request.CSeq != m.CSeq || srv.code == 0 {
		d.ua.stats.stray.Add(1)
		return
	}
	if srv.acked {
		return
	}
	srv.acked = true
	srv.timer.Stop()
	if srv.code >= 300 {
		return
	}
	d.confirm()
	defer d.pump()
	switch {
	case d.phase != up:
	case len(m.Body) > 0 && m.ContentType == message.ContentSDP:
		d.emit(Accepted{Body: m.Body})
	case srv.offerless && srv.request == d.invite: // a call whose offer has no answer has no media (RFC 3261 §13.2.2.4)
		d.lost("the ACK brought no answer to the offer")
	}
	if bye := d.wantBye; bye != nil {
		d.wantBye = nil
		bye()
	}
}

// offering tells whether an offer of ours is on the wire.
func (d *Dialog) offering() bool { return d.current != nil && d.current.sent }

// unanswered tells whether a 2xx of ours waits for its ACK, and whether that
// has to bring an answer.
func (d *Dialog) unanswered() (waits, answer bool) {
	waits = d.srv != nil && d.srv.code >= 200 && d.srv.code < 300 && !d.srv.acked
	return waits, waits && d.srv.offerless
}

// reinvited takes a re-INVITE. Two at once get the answers of RFC 3261 14.2.
func (d *Dialog) reinvited(m *received) {
	waits, answer := d.unanswered()
	switch {
	case d.phase == early: // it crosses our own answer
		d.later500(m)
		return
	case d.phase != up:
		d.ua.reject(m, 481)
		return
	case d.offering():
		d.keep(m, d.ua.reply(m, 491, d.key.tag, nil))
		return
	case d.asked, d.srv != nil && d.srv.code == 0, answer:
		d.later500(m)
		return
	case d.ua.tooShort(m):
		d.refuseShort(m)
		return
	case waits: // who asks again has had the 2xx; the ACK was lost
		d.srv.acked = true
		d.srv.timer.Stop()
		d.confirm()
	}
	srv := &serverTx{request: m, offerless: len(m.Body) == 0}
	d.srv = srv
	d.provisional(100, nil, nil)
	d.offer(m, func(code int, body []byte, extra []message.Header) {
		if d.srv != srv || srv.code != 0 {
			return
		}
		if code < 300 {
			d.moved(&d.far, m)
			extra = d.granted(m)
		}
		d.answerInvite(code, body, extra)
	})
	if bye := d.wantBye; bye != nil && d.confirmed {
		d.wantBye = nil
		bye()
	}
}

// later500 asks the far end to try again shortly (RFC 3261 14.2, RFC 3311 5.2).
func (d *Dialog) later500(m *received) {
	wait := []message.Header{{Name: "Retry-After", Value: strconv.Itoa(rand.IntN(10))}} //nolint:gosec // no secret
	d.keep(m, d.ua.reply(m, 500, d.key.tag, wait))
}

func (d *Dialog) refuseShort(m *received) {
	d.keep(m, d.ua.reply(m, 422, d.key.tag, []message.Header{{Name: "Min-SE", Value: seconds(d.ua.leastSession)}}))
}

// moved takes a new remote target (RFC 3261 12.2.2); the route set stays.
func (d *Dialog) moved(far *remote, m *received) {
	if message.IsSIPURI(m.Contact) && message.IsSingleLine(m.Contact) {
		far.target = m.Contact
	}
}

// updated takes an UPDATE (RFC 3311), of an early dialog if f is set. Without
// a body it refreshes the target and the session.
func (d *Dialog) updated(m *received, f *fork) {
	far := &d.far
	if f != nil {
		far = &f.far
	}
	finish := func(code int, body []byte, extra []message.Header) {
		if code < 300 {
			d.moved(far, m)
			if d.phase == up {
				extra = d.granted(m)
			} else if f != nil && f.far.tag == d.far.tag {
				d.far = f.far
			}
		}
		d.finishReply(m, code, body, extra)
	}
	_, answer := d.unanswered()
	switch {
	case d.phase != up && d.phase != early:
		d.ua.reject(m, 481)
	case d.ua.tooShort(m):
		d.refuseShort(m)
	case len(m.Body) == 0:
		finish(200, nil, nil)
	case d.offering(), answer, f != nil && !f.settled:
		finish(491, nil, nil)
	case d.asked, d.phase == early && d.inbound && !d.rel.settled, d.srv != nil && d.srv.code == 0 && d.phase == up:
		d.later500(m)
	default:
		d.offer(m, finish)
	}
}

// finishReply answers a request, and keeps that for its repetition.
func (d *Dialog) finishReply(m *received, code int, body []byte, extra []message.Header) {
	b, err := d.ua.answer(m, code, d.key.tag, append(d.contactOf(code), extra...), body)
	if err == nil {
		d.keep(m, b)
		d.ua.respond(m, b)
	}
}

// offer asks the owner. Without an owner, or when it takes too long, the
// offer is refused and the session stays as it was.
func (d *Dialog) offer(m *received, answer func(code int, body []byte, extra []message.Header)) {
	open := true
	var wait *time.Timer
	once := func(code int, body []byte, extra []message.Header) {
		if !open || d.phase == over {
			return
		}
		open, d.asked = false, false
		if wait != nil {
			d.release(wait)
		}
		if code < 300 && len(body) > 0 {
			d.session.body = body
		}
		answer(code, body, extra)
		d.pump()
	}
	if d.notify == nil {
		once(488, nil, nil)
		return
	}
	d.asked = true
	if m.Method != message.MethodInvite {
		d.keep(m, nil)
	}
	wait = d.after(replyWithin, func() { once(500, nil, nil) })
	d.emit(Reoffer{Body: m.Body, Hold: message.ReadHold(m.Body), Reply: func(code int, body []byte, extra ...message.Header) {
		d.do(func() { once(max(200, min(code, 699)), body, extra) })
	}})
}

// informed takes an INFO: a key pressed, or nothing we know.
func (d *Dialog) informed(m *received) {
	key, duration := byte(0), 0
	switch m.ContentType {
	case message.ContentDTMFRelay:
		key, duration = message.ParseDTMFRelay(m.Body)
	case message.ContentDTMF:
		if s := strings.TrimSpace(string(m.Body)); len(s) == 1 {
			key = message.ParseDTMFKey(s)
		}
	case "":
	default:
		d.keep(m, d.ua.reply(m, 415, d.key.tag, []message.Header{{Name: "Accept", Value: message.ContentDTMFRelay + ", " + message.ContentDTMF}}))
		return
	}
	d.keep(m, d.ua.reply(m, 200, d.key.tag, nil))
	if key != 0 && d.phase == up {
		d.emit(InfoDigit{Key: key, DurationMs: duration})
	}
}
