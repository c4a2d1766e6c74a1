package sip

import (
	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/registrar"
	"github.com/callboard/callboard/sip/transport"
)

// SetRegistrar sets the accounts of the phones that may register. Call it before Serve. Without a registrar, a REGISTER
// gets 405 from a known source and no response from an unknown source.
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

// Reply sends a response whose To tag is derived from the request, and returns the response. It returns nil if the
// response cannot be written.
func (r registrarResponder) Reply(m *transport.Received, code int, extra []message.Header) []byte {
	return r.u.reply(m, code, "", extra)
}

// Recover recovers a panic in the handling of one message. It reports the panic and calls then.
func (r registrarResponder) Recover(where string, then func()) {
	if p := recover(); p != nil {
		r.u.reportPanic(p, where, then)
	}
}
