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
	maxGlares       = 5                // maximum retries of one offer after a glare
	maxOffers       = 8                // offers that wait in the queue
	reinviteTimeout = 60 * time.Second // for the final response to a re-INVITE after a provisional response
	ownerTimeout    = 10 * time.Second // for the owner's answer to an offer
)

var (
	errNoUpdate = errors.New("sip: the remote party does not accept an offer before the answer")
	errTooMany  = errors.New("sip: too many offers wait")
	errTooLarge = errors.New("sip: body too large")
)

// OfferResult is the outcome of an SDP offer that this side sent.
type OfferResult struct {
	Code int    // status code of the final response; 0: none arrived
	Body []byte // SDP of the remote party, with a 2xx
	Err  error  // why no response arrived
	// Respond is set if Body is an offer of the remote party, because this side sent a re-INVITE without SDP. It must be
	// called once within 10 s with the SDP answer; otherwise the call is ended.
	Respond func(answer []byte)
}

// offer is an SDP offer of this side that waits in the queue or for its final response.
type offer struct {
	body        []byte
	done        func(OfferResult) // reports the outcome; nil: the offer is a session refresh
	glares      int
	credentials []message.Header
	sent        bool // sent, without a final response yet
}

// offerAnswer negotiates session descriptions (RFC 3264) after the first offer is answered. Only one offer, of
// either side, is open at a time (RFC 3261 §14).
type offerAnswer struct {
	d        *Dialog
	waiting  []*offer
	current  *offer // sent, or about to be sent again
	deciding bool   // the owner has to answer an offer of the remote party
}

// Reoffer offers a new session by re-INVITE. Before the call is answered it uses UPDATE, if the remote party accepts
// that. An empty body asks the remote party of an answered call for an offer. Offers are sent one after another. An
// offer that crosses an offer of the remote party (491) is sent again after the delay of RFC 3261 §14.1. done is called
// exactly once, in order with the events of Notify, and must not block.
func (d *Dialog) Reoffer(body []byte, done func(OfferResult)) {
	d.do(func() {
		a, o := &d.offers, &offer{body: body, done: done}
		switch {
		case len(body) > MaxBody:
			a.conclude(o, OfferResult{Err: errTooLarge})
		case d.phase != answered && d.phase != early:
			a.conclude(o, OfferResult{Err: errEnded})
		case d.phase == early && (len(body) == 0 || a.mayUpdate() == never):
			a.conclude(o, OfferResult{Err: errNoUpdate})
		case len(a.waiting) >= maxOffers:
			a.conclude(o, OfferResult{Err: errTooMany})
		default:
			a.add(o)
		}
	})
}

// updateTime says when an UPDATE may carry an offer before the call is answered.
type updateTime uint8

const (
	never updateTime = iota
	afterPRACK
	now
)

// mayUpdate returns when an UPDATE may carry an offer before the call is answered. The remote party must accept UPDATE,
// and the first offer must have been answered in a reliable response and its PRACK.
func (a *offerAnswer) mayUpdate() updateTime {
	d := a.d
	if d.inbound {
		switch p := d.provisionals; {
		case !d.session.acceptsUpdate:
			return never
		case p.settled:
			return now
		case p.sent != nil && len(p.sent.body) > 0:
			return afterPRACK
		}
		return never
	}
	switch f := d.invite.fork(d.remote.tag); {
	case f == nil || !f.acceptsUpdate:
		return never
	case f.settled:
		return now
	case f.answerPracked:
		return afterPRACK
	}
	return never
}

// isBlocked reports whether this side must not send an offer now, because an offer of the remote party has no answer
// yet or an ACK is missing.
func (a *offerAnswer) isBlocked() bool {
	tx := a.d.server.tx
	return a.deciding || a.d.acks.answerDue || a.d.phase == answered && tx != nil && !tx.acked && tx.code < 300
}

// isOpen reports whether an offer of this side has no final response yet.
func (a *offerAnswer) isOpen() bool { return a.current != nil && a.current.sent }

// add queues an offer.
func (a *offerAnswer) add(o *offer) {
	a.waiting = append(a.waiting, o)
	a.sendNext()
}

// sendNext sends the next offer, if it may be sent now.
func (a *offerAnswer) sendNext() {
	if a.current != nil || len(a.waiting) == 0 || a.isBlocked() || a.d.phase == early && a.mayUpdate() == afterPRACK {
		return
	}
	a.current = a.waiting[0]
	a.waiting = a.waiting[1:]
	a.sendOffer(a.current)
}

func (a *offerAnswer) sendOffer(o *offer) {
	d := a.d
	if d.phase == early && a.mayUpdate() != now {
		a.conclude(o, OfferResult{Err: errNoUpdate})
		return
	}
	d.acks.release()
	o.sent = true
	r := dialogRequest{method: message.MethodInvite, credentials: o.credentials, ownCredentials: true, contentType: message.ContentSDP, body: o.body}
	if d.phase == early {
		r.method = message.MethodUpdate
		if !d.inbound {
			r.fork = d.invite.fork(d.remote.tag)
		}
	} else {
		r.headers = d.session.terms.RefreshHeaders()
	}
	d.requests.send(r, func(m *received, err error) { a.handleResponse(o, r.method, m, err) })
}

// handleResponse handles the final response to an offer. m is nil if none arrived; err is then the reason.
func (a *offerAnswer) handleResponse(o *offer, method string, m *received, err error) {
	d := a.d
	o.sent = false
	switch {
	case m == nil:
		a.conclude(o, OfferResult{Err: err})
		if errors.Is(err, ErrTimeout) && d.phase == answered {
			d.endLostCall("an offer was not answered")
		}
	case m.Code < 300:
		a.accept(o, method, m)
	case d.phase == over || d.phase == closing:
		a.conclude(o, OfferResult{Code: m.Code, Err: errEnded})
	case isGlare(m) && o.glares < maxGlares:
		o.glares++
		d.after(glareWait(d.inbound), func() { a.sendAgain(o) })
	case m.IsChallenge():
		credentials := d.answerChallenge(m, method, o.credentials == nil, o.body)
		if credentials == nil {
			a.conclude(o, OfferResult{Code: m.Code})
			return
		}
		o.credentials = credentials
		a.sendOffer(o)
	case m.Code == 422 && d.session.terms.Raise(&m.Message):
		a.sendOffer(o)
	case m.Code == 481 || m.Code == 408:
		a.conclude(o, OfferResult{Code: m.Code})
		d.endLostCall("the remote party no longer knows the call")
	default:
		if o.done == nil {
			d.session.retryRefresh()
		}
		a.conclude(o, OfferResult{Code: m.Code})
	}
}

// isGlare reports whether a response asks to try again shortly: a 491, or a 500 with a Retry-After of at most 10 s.
func isGlare(m *received) bool {
	if m.Code == 491 {
		return true
	}
	wait, err := strconv.Atoi(strings.TrimSpace(message.TextBefore(message.TextBefore(m.HeaderValue("Retry-After"), ";"), "(")))
	return m.Code == 500 && err == nil && wait <= 10
}

// glareWait returns the delay before an offer is repeated after a glare (RFC 3261 §14.1). The side that created the
// Call-ID, which is the caller, waits longer.
func glareWait(inbound bool) time.Duration {
	if inbound {
		return time.Duration(rand.IntN(201)) * 10 * time.Millisecond //nolint:gosec // no secret
	}
	return 2100*time.Millisecond + time.Duration(rand.IntN(191))*10*time.Millisecond //nolint:gosec // no secret
}

// sendAgain puts an offer at the front of the queue, so that it is sent before the waiting offers.
func (a *offerAnswer) sendAgain(o *offer) {
	if a.current == o {
		a.current = nil
		a.waiting = slices.Insert(a.waiting, 0, o)
		a.sendNext()
	}
}

// accept handles the 2xx to an offer of this side: it sends the ACK of a re-INVITE and reports the outcome.
func (a *offerAnswer) accept(o *offer, method string, m *received) {
	d := a.d
	if d.phase == answered {
		d.remote.refreshTarget(m)
		d.session.agree(m)
	}
	answer := OfferResult{Code: m.Code, Body: m.Body}
	switch {
	case method != message.MethodInvite:
		a.conclude(o, answer)
	case len(o.body) == 0 && len(m.Body) > 0 && d.phase == answered:
		d.acks.awaitAnswer(m)
		answer.Respond = d.Respond
		a.conclude(o, answer)
	default:
		if len(o.body) > 0 {
			d.session.localSDP = o.body
		}
		d.acks.acknowledge(d.remote, m, nil, func() { a.conclude(o, answer) })
	}
}

// conclude reports the outcome of an offer and sends the next offer, if it may be sent.
func (a *offerAnswer) conclude(o *offer, r OfferResult) {
	if a.current == o {
		a.current = nil
	}
	if done := o.done; done != nil {
		o.done = nil
		a.d.later(func() { done(r) })
	}
	a.sendNext()
}

// endAll reports the failure of all waiting offers when the dialog is over.
func (a *offerAnswer) endAll() {
	all := a.waiting
	a.waiting = nil
	if a.current != nil {
		all = append(all, a.current)
	}
	for _, o := range all {
		a.conclude(o, OfferResult{Err: errEnded})
	}
}

// askOwner reports an offer of the remote party to the owner and passes the owner's reply to answer. Without an owner,
// or without a reply in time, the offer is refused and the session stays as it is.
func (a *offerAnswer) askOwner(m *received, answer func(code int, body []byte, headers []message.Header)) {
	d, open := a.d, true
	var timeout *time.Timer
	once := func(code int, body []byte, headers []message.Header) {
		if !open || d.phase == over {
			return
		}
		open, a.deciding = false, false
		if timeout != nil {
			d.stopTimer(timeout)
		}
		if code < 300 && len(body) > 0 {
			d.session.localSDP = body
		}
		answer(code, body, headers)
		a.sendNext()
	}
	if d.notify == nil {
		once(488, nil, nil)
		return
	}
	a.deciding = true
	if m.Method != message.MethodInvite {
		d.responder.store(m, nil)
	}
	timeout = d.after(ownerTimeout, func() { once(500, nil, nil) })
	d.emit(Reoffer{Body: m.Body, Hold: message.ReadHold(m.Body), Reply: func(code int, body []byte, headers ...message.Header) {
		d.do(func() { once(max(200, min(code, 699)), body, headers) })
	}})
}

// handleUpdate handles an UPDATE (RFC 3311). f is its early dialog; nil if the call is answered or inbound. An UPDATE
// without a body refreshes the remote target and the session timer.
func (a *offerAnswer) handleUpdate(m *received, f *fork) {
	d := a.d
	remote := &d.remote
	if f != nil {
		remote = &f.remote
	}
	finish := func(code int, body []byte, headers []message.Header) {
		if code < 300 {
			remote.refreshTarget(m)
			if d.phase == answered {
				headers = d.session.grant(m)
			} else if f != nil && f.remote.tag == d.remote.tag {
				d.remote = f.remote
			}
		}
		d.responder.replyWith(m, code, body, headers)
	}
	_, answerDue := d.server.awaitsAck()
	switch {
	case d.phase != answered && d.phase != early:
		d.ua.reject(m, 481)
	case d.ua.sessions.IsTooShort(&m.Message):
		d.responder.replyTooShort(m)
	case len(m.Body) == 0:
		finish(200, nil, nil)
	case a.isOpen(), answerDue, f != nil && !f.settled:
		finish(491, nil, nil)
	case a.deciding, d.phase == early && d.inbound && !d.provisionals.settled, d.phase == answered && d.server.isAnswering():
		d.responder.replyLater(m)
	default:
		a.askOwner(m, finish)
	}
}
