package sip

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/callboard/callboard/sip/message"
)

const (
	maxGlare  = 5                // times that one offer is sent again
	maxOffers = 8                // that wait
	offerWait = 60 * time.Second // for the answer to a re-INVITE that was heard
)

var (
	errNoUpdate = errors.New("sip: nothing can be offered before the answer")
	errTooMany  = errors.New("sip: too many offers wait")
	errTooLarge = errors.New("sip: body too large")
)

// Reanswer is what came of an offer of ours.
type Reanswer struct {
	Code int    // of the final answer; 0 without one
	Body []byte // the far end's SDP, with a 2xx
	Err  error  // why there was no answer
	// Respond is set when Body is an offer, for we asked without one: it gives
	// our answer, once, within 10 s. Otherwise the call is ended.
	Respond func(answer []byte)
}

// offer is one of ours, until it is answered.
type offer struct {
	body   []byte
	done   func(Reanswer) // nil: a refresh of the session
	glares int
	auth   []message.Header
	sent   bool // on the wire, without its final answer
}

// Reoffer offers a new session: by re-INVITE, or before the call is answered
// by UPDATE, if the far end takes it. An empty body asks an answered far end
// for an offer. Offers wait for one another, and one that crosses with an
// offer of the far end (491) is sent again after the time of RFC 3261 14.1.
// done is called exactly once, in the order and on the terms of Notify.
func (d *Dialog) Reoffer(body []byte, done func(Reanswer)) {
	d.do(func() {
		o := &offer{body: body, done: done}
		switch {
		case len(body) > maxBody:
			d.conclude(o, Reanswer{Err: errTooLarge})
		case d.phase != up && d.phase != early:
			d.conclude(o, Reanswer{Err: errEnded})
		case d.phase == early && (len(body) == 0 || d.mayUpdate() == never):
			d.conclude(o, Reanswer{Err: errNoUpdate})
		case len(d.offers) >= maxOffers:
			d.conclude(o, Reanswer{Err: errTooMany})
		default:
			d.offers = append(d.offers, o)
			d.pump()
		}
	})
}

// when something can be done.
type when uint8

const (
	never when = iota
	afterPRACK
	now
)

// mayUpdate tells when an offer can be made before the answer: once the first
// offer has been answered reliably, if the far end takes UPDATE.
func (d *Dialog) mayUpdate() when {
	if d.inbound {
		r := d.rel
		switch {
		case !d.session.update:
			return never
		case r.settled:
			return now
		case r.sent != nil && len(r.sent.body) > 0:
			return afterPRACK
		}
		return never
	}
	f := d.out.fork(d.far.tag)
	switch {
	case f == nil || !f.update:
		return never
	case f.settled:
		return now
	case f.pracked:
		return afterPRACK
	}
	return never
}

// answering tells whether an offer of the far end is being answered, or an
// answer of its own is owed: nothing of ours may be offered meanwhile.
func (d *Dialog) answering() bool {
	return d.asked || d.owed || d.phase == up && d.srv != nil && !d.srv.acked && d.srv.code < 300
}

// pump sends the next offer, if it is its time.
func (d *Dialog) pump() {
	if d.current != nil || len(d.offers) == 0 || d.answering() || d.phase == early && d.mayUpdate() == afterPRACK {
		return
	}
	d.current = d.offers[0]
	d.offers = d.offers[1:]
	d.sendOffer(d.current)
}

func (d *Dialog) sendOffer(o *offer) {
	if d.phase == early && d.mayUpdate() != now {
		d.conclude(o, Reanswer{Err: errNoUpdate})
		return
	}
	d.flushAck()
	o.sent = true
	own := ownRequest{
		method: message.MethodInvite, extra: d.sessionWanted(), auth: o.auth, contentType: message.ContentSDP, body: o.body, unchallenged: true,
	}
	if d.phase == early {
		own.method, own.extra = message.MethodUpdate, nil
		if !d.inbound {
			own.fork = d.out.fork(d.far.tag)
		}
	}
	d.ask(own, func(m *received, err error) { d.offerHeard(o, own.method, m, err) })
}

// offerHeard takes the final answer to an offer of ours; m nil: none came.
func (d *Dialog) offerHeard(o *offer, method string, m *received, err error) {
	o.sent = false
	switch {
	case m == nil:
		d.conclude(o, Reanswer{Err: err})
		if errors.Is(err, errTimeout) && d.phase == up {
			d.lost("an offer was not answered")
		}
	case m.Code < 300:
		d.offerAccepted(o, method, m)
	case d.phase == over || d.phase == closing:
		d.conclude(o, Reanswer{Code: m.Code, Err: errEnded})
	case d.crossed(m) && o.glares < maxGlare:
		o.glares++
		d.after(d.glareWait(), func() { d.offerAgain(o) })
	case m.IsChallenge():
		auth := d.answerChallenge(m, method, o.auth == nil, o.body)
		if auth == nil {
			d.conclude(o, Reanswer{Code: m.Code})
			return
		}
		o.auth = auth
		d.sendOffer(o)
	case m.Code == 422 && d.lengthen(m):
		d.sendOffer(o)
	case m.Code == 481 || m.Code == 408:
		d.conclude(o, Reanswer{Code: m.Code})
		d.lost("the far end lost the call")
	default:
		if o.done == nil {
			d.refreshFailed()
		}
		d.conclude(o, Reanswer{Code: m.Code})
	}
}

// crossed tells an answer that asks to try again shortly.
func (d *Dialog) crossed(m *received) bool {
	if m.Code == 491 {
		return true
	}
	wait, err := strconv.Atoi(strings.TrimSpace(message.TextBefore(message.TextBefore(m.HeaderValue("Retry-After"), ";"), "(")))
	return m.Code == 500 && err == nil && wait <= 10
}

// glareWait is RFC 3261 14.1: whoever made the Call-ID waits longer.
func (d *Dialog) glareWait() time.Duration {
	if d.inbound {
		return time.Duration(rand.IntN(201)) * 10 * time.Millisecond //nolint:gosec // no secret
	}
	return 2100*time.Millisecond + time.Duration(rand.IntN(191))*10*time.Millisecond //nolint:gosec // no secret
}

// offerAgain sends an offer once more, or puts it first in the line.
func (d *Dialog) offerAgain(o *offer) {
	if d.current != o {
		return
	}
	d.current = nil
	d.offers = slices.Insert(d.offers, 0, o)
	d.pump()
}

func (d *Dialog) offerAccepted(o *offer, method string, m *received) {
	if d.phase == up && message.IsSIPURI(m.Contact) && message.IsSingleLine(m.Contact) {
		d.far.target = m.Contact
	}
	if d.phase == up {
		d.sessionHeard(m)
	}
	answer := Reanswer{Code: m.Code, Body: m.Body}
	switch {
	case method != message.MethodInvite:
		d.conclude(o, answer)
	case len(o.body) == 0 && len(m.Body) > 0 && d.phase == up:
		d.owe(m)
		answer.Respond = d.Respond
		d.conclude(o, answer)
	default:
		if len(o.body) > 0 {
			d.session.body = o.body
		}
		d.acknowledge(d.far, m, nil, func() { d.conclude(o, answer) })
	}
}

// conclude ends an offer; the next one may go.
func (d *Dialog) conclude(o *offer, r Reanswer) {
	if d.current == o {
		d.current = nil
	}
	if done := o.done; done != nil {
		o.done = nil
		d.later(func() { done(r) })
	}
	d.pump()
}

// endOffers concludes all of them: the dialog is over.
func (d *Dialog) endOffers() {
	all := d.offers
	d.offers = nil
	if d.current != nil {
		all = append(all, d.current)
	}
	for _, o := range all {
		d.conclude(o, Reanswer{Err: errEnded})
	}
}

// owe keeps the ACK of a 2xx whose offer we have to answer.
func (d *Dialog) owe(m *received) {
	d.owed = true
	d.keepAck(m)
	d.after(replyWithin, func() {
		if d.owed {
			d.bye(0, "an offer was not answered")
		}
	})
}

// Respond gives our answer to the offer that a 2xx brought (Answered.Offer,
// Reanswer.Respond): it goes with the ACK. It counts once.
func (d *Dialog) Respond(answer []byte) {
	d.do(func() {
		if !d.owed || len(answer) > maxBody {
			return
		}
		d.owedBody, d.session.body = answer, answer
		d.flushAck()
		d.pump()
	})
}

// lost ends a call that the far end no longer knows.
func (d *Dialog) lost(why string) {
	if d.phase != up {
		return
	}
	if d.inbound && !d.confirmed {
		d.bye(0, why)
		return
	}
	d.phase = closing
	d.sendBye(Ended{Text: why, Fault: true}, nil)
}

// later runs f after the events that are queued, with the lock released.
func (d *Dialog) later(f func()) {
	d.queue = append(d.queue, told{func(Event) { f() }, nil})
}
