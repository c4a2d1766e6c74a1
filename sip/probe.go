package sip

import "github.com/callboard/callboard/sip/message"

// Probe asks the far end of an answered call whether it still knows the call:
// by UPDATE where it takes that, which refreshes the session as well, otherwise
// by OPTIONS (RFC 3261 12.2.2: a call that it does not know is 481). done hears
// the code of its final answer, 0 where none came, in the order and on the
// terms of Notify. The call goes on in any case; who asked decides.
func (d *Dialog) Probe(done func(code int)) {
	d.do(func() {
		if d.phase != up {
			d.later(func() { done(0) })
			return
		}
		r := ownRequest{method: message.MethodOptions, extra: []message.Header{{Name: "Accept", Value: message.ContentSDP}}}
		if d.session.update {
			r = ownRequest{method: message.MethodUpdate, extra: d.sessionWanted()}
		}
		d.ask(r, func(m *received, _ error) {
			code := 0
			if m != nil {
				code = m.Code
			}
			if r.method == message.MethodUpdate && code >= 200 && code < 300 && d.phase == up {
				d.moved(&d.far, m)
				d.sessionHeard(m)
			}
			d.later(func() { done(code) })
		})
	})
}
