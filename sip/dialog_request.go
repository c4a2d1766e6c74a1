package sip

import (
	"math/rand/v2"
	"net/textproto"
	"strconv"
	"strings"

	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/outcome"
)

// handleRequest takes a request of the remote party within the dialog.
func (d *Dialog) handleRequest(m *received) {
	if m.Method == message.MethodAck {
		d.server.handleAck(m)
		return
	}
	if d.phase == early && !d.inbound {
		d.handleEarlyRequest(m)
		return
	}
	if m.From.Tag != d.remote.tag {
		d.refuseFork(m)
		return
	}
	if d.repeatResponse(m) || m.Method == message.MethodInvite && d.server.repeatResponse(m) {
		return
	}
	if int64(m.CSeq) <= d.remoteCSeq {
		d.ua.stats.rejected.Add(1)
		d.ua.reject(m, 500) // RFC 3261 §12.2.2
		return
	}
	d.remoteCSeq = int64(m.CSeq)
	switch m.Method {
	case message.MethodBye:
		d.handleBye(m)
	case message.MethodInvite:
		d.server.handleReinvite(m)
	case message.MethodUpdate:
		d.offers.handleUpdate(m, nil)
	case message.MethodInfo:
		d.handleInfo(m)
	case message.MethodPrack:
		d.handlePrack(m)
	case message.MethodRefer:
		d.notifier.handleRefer(m)
	case message.MethodNotify:
		d.referral.handleNotify(m)
	case message.MethodMessage: // it would have no reader
		d.reply(m, 403)
	default:
		d.reply(m, 200)
	}
}

// reply answers a request of the dialog, and keeps the response for retransmissions.
func (d *Dialog) reply(m *received, code int, headers ...message.Header) {
	d.responses.store(m, d.ua.reply(m, code, d.key.tag, headers))
}

// replyWith does so with a body and the headers of a target refresh.
func (d *Dialog) replyWith(m *received, code int, body []byte, headers []message.Header) {
	b, err := d.ua.buildResponse(&m.Received, code, d.key.tag, append(d.responseHeaders(code), headers...), body)
	if err == nil {
		d.responses.store(m, b)
		d.ua.respond(m, b)
	}
}

// replyLater asks the remote party to try again shortly (RFC 3261 §14.2, RFC 3311 §5.2).
func (d *Dialog) replyLater(m *received) {
	d.reply(m, 500, message.Header{Name: "Retry-After", Value: strconv.Itoa(rand.IntN(10))}) //nolint:gosec // no secret
}

// replyTooShort refuses the interval of a session timer.
func (d *Dialog) replyTooShort(m *received) {
	d.reply(m, 422, d.ua.sessions.MinSE())
}

// replyUnsupported refuses the content type of a body.
func (d *Dialog) replyUnsupported(m *received, accept ...string) {
	d.reply(m, 415, message.Header{Name: "Accept", Value: strings.Join(accept, ", ")})
}

// repeatResponse answers a retransmitted request as before; false: it is new.
func (d *Dialog) repeatResponse(m *received) bool {
	b, known := d.responses.find(m)
	if known {
		d.ua.stats.retransmitted.Add(1)
		if b != nil {
			d.ua.respond(m, b)
		}
	}
	return known
}

// responseHeaders are the headers of a response to a request that refreshes the target.
func (d *Dialog) responseHeaders(code int) []message.Header {
	if code == 100 || code >= 300 {
		return nil
	}
	headers := []message.Header{{Name: "Contact", Value: d.contact(d.flow)}, {Name: "Allow", Value: message.AllowedMethods}}
	if code >= 200 {
		headers = append(headers, message.Header{Name: "Supported", Value: message.SupportedExtensions})
	}
	return headers
}

// refuseFork answers a request of another fork's dialog. Those were ended by us.
func (d *Dialog) refuseFork(m *received) {
	code := 481
	if m.Method == message.MethodBye && d.acks.hasFork(m.From.Tag) {
		code = 200
	}
	d.ua.reply(m, code, d.key.tag, nil)
}

func (d *Dialog) handleBye(m *received) {
	d.reply(m, 200)
	switch d.phase {
	case early:
		d.server.refuse(487, nil, outcome.Final{Code: 487, Cancelled: true})
	case answered, closing:
		e := Ended{ByRemote: d.phase == answered, Header: make(map[string]string)}
		e.Q850, e.Text = message.ParseReason(m.HeaderValues("Reason"))
		for _, h := range m.Headers {
			name := message.CanonicalName(h.Name())
			if (name == "reason" || strings.HasPrefix(name, "x-")) && len(e.Header) < maxHeaders && len(h.Value()) <= maxValue {
				e.Header[textproto.CanonicalMIMEHeaderKey(name)] = h.Value()
			}
		}
		d.endCall(e)
	case over:
	}
}

// handleInfo takes an INFO: a pressed key, or a body without meaning here.
func (d *Dialog) handleInfo(m *received) {
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
		d.replyUnsupported(m, message.ContentDTMFRelay, message.ContentDTMF)
		return
	}
	d.reply(m, 200)
	if key != 0 && d.phase == answered {
		d.emit(InfoDigit{Key: key, DurationMs: duration})
	}
}

// maxResponses bounds the responses that are kept for retransmissions.
const maxResponses = 8

// responseCache keeps the responses to requests of the remote party other than INVITE for their retransmissions (RFC 3261
// §17.2.2).
type responseCache struct{ byRequest map[messageID]cachedResponse }

type cachedResponse struct {
	method string
	bytes  []byte
}

// store keeps the response to a request; nil: the request is in progress, and its retransmissions are dropped.
func (c *responseCache) store(m *received, b []byte) {
	if c.byRequest == nil || len(c.byRequest) >= maxResponses {
		c.byRequest = make(map[messageID]cachedResponse, 1)
	}
	c.byRequest[messageID{m.From.Tag, m.CSeq}] = cachedResponse{m.Method, b}
}

// find returns the response to a retransmitted request.
func (c *responseCache) find(m *received) (b []byte, known bool) {
	r, ok := c.byRequest[messageID{m.From.Tag, m.CSeq}]
	return r.bytes, ok && r.method == m.Method
}
