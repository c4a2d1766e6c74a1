package sip

import (
	"strconv"
	"strings"

	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/transport"
)

// buildResponse writes the response to a request. tag is the tag of this side, which is added to To.
func (u *UserAgent) buildResponse(m *transport.Received, code int, tag string, extra []message.Header, body []byte) ([]byte, error) {
	w := message.NewResponse(code, message.ReasonPhrase(code))
	for i, via := range m.Vias {
		if i > 0 {
			w.AddHeader("Via", via.Value())
			continue
		}
		w.AddHeader("Via", m.ViaWithReceived())
	}
	for _, h := range m.Headers {
		if code < 300 && code > 100 && message.CanonicalName(h.Name()) == "record-route" {
			w.AddHeader("Record-Route", h.Value())
		}
	}
	w.RepeatHeader("From", m.From.Value)
	if m.To.Tag == "" && tag != "" {
		w.RepeatHeader("To", m.To.Value, ";tag=", tag)
	} else {
		w.RepeatHeader("To", m.To.Value)
	}
	w.AddHeader("Call-ID", m.CallID)
	w.AddHeader("CSeq", strconv.FormatUint(uint64(m.CSeq), 10), " ", m.CSeqMethod)
	if m.Method == message.MethodOptions {
		w.AddHeader("Allow", message.AllowedMethods)
		w.AddHeader("Accept", message.ContentSDP)
		w.AddHeader("Supported", message.SupportedExtensions) // RFC 3261 §11.2
	}
	if u.cfg.UserAgent != "" && code >= 200 {
		w.AddHeader("Server", u.cfg.UserAgent)
	}
	for _, h := range extra {
		w.AddHeader(h.Name, h.Value)
	}
	return w.Finish(body)
}

// respond sends a response to the source of its request (RFC 3581) or, without rport, to the port in its Via.
func (u *UserAgent) respond(m *transport.Received, b []byte) {
	to := m.ResponseFlow()
	if m.Traced {
		seen := to
		if m.Relay != nil {
			seen = m.ObservedFlow()
		}
		u.trace(m.CallID, m.TraceTag, seen, true, b)
	}
	if err := u.transport.Send(to, transport.Outgoing{Bytes: b}); err != nil {
		u.stats.transport.Add(1)
	}
}

// reply answers a request and stores nothing. If tag is "", the tag is derived from the request, so that a
// retransmission gets the same response.
func (u *UserAgent) reply(m *transport.Received, code int, tag string, extra []message.Header) []byte {
	if tag == "" {
		tag = u.id.ToTag(m.CallID, m.From.Tag+strings.ToLower(m.Branch()))
	}
	b, err := u.buildResponse(m, code, tag, extra, nil)
	if err != nil {
		u.stats.malformed.Add(1)
		return nil
	}
	u.respond(m, b)
	return b
}
