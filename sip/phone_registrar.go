package sip

import (
	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/registrar"
	"github.com/callboard/callboard/sip/transport"
)

// SetRegistrar sets which phones may register. Call it before Serve. Without it a REGISTER gets 405 from a known
// source, and no answer from an unknown one.
func (u *UserAgent) SetRegistrar(c registrar.Config) {
	u.phones = registrar.NewServer(c, u.cfg.Secret, u.id, registrarResponder{u})
}

// registrarResponder answers the requests of phones.
type registrarResponder struct{ u *UserAgent }

// BuildResponse writes a response without a body.
func (r registrarResponder) BuildResponse(m *transport.Received, code int, tag string, extra []message.Header) ([]byte, error) {
	return r.u.buildResponse(m, code, tag, extra, nil)
}

// SendResponse sends a response to the source of its request. Responses to the INVITE of a phone are traced.
func (r registrarResponder) SendResponse(m *transport.Received, b []byte) { r.u.respond(m, b) }

// Reply answers with a tag that is derived from the request. It returns the response; nil: the response cannot be
// written.
func (r registrarResponder) Reply(m *transport.Received, code int, extra []message.Header) []byte {
	return r.u.reply(m, code, "", extra)
}

// Recover recovers a panic of one message.
func (r registrarResponder) Recover(where string, then func()) {
	if p := recover(); p != nil {
		r.u.reportPanic(p, where, then)
	}
}
