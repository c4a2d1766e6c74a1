package sip

import (
	"github.com/callboard/callboard/sip/auth"
	"github.com/callboard/callboard/sip/message"
)

// answerChallenge returns the credentials that a request gets after a 401 or 407 of the host that was called; none
// if it cannot be answered. first is set for the first challenge of that request.
func (d *Dialog) answerChallenge(m *received, method string, first bool, body []byte) []message.Header {
	if d.creds == nil {
		return nil
	}
	if d.signer == nil {
		d.signer = auth.NewSigner(d.creds, d.flow.Addr.Addr())
	}
	if d.phase == early {
		d.signer.SetHost(d.flow.Addr.Addr())
	} else if first {
		d.signer.FreezeRealms()
	}
	if !d.signer.LearnChallenges(&m.Message, m.Flow.Addr.Addr(), first) {
		return nil
	}
	uri, _, _ := d.far.route()
	if d.phase == early {
		uri = d.remoteURI
	}
	return d.signer.SignRequest(method, uri, body)
}
