package sip

import (
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/callboard/callboard/sip/message"
)

// maxResponses is the maximum number of responses of one dialog that are stored for retransmitted requests.
const maxResponses = 8

// responder answers the requests of the remote party other than INVITE, and stores the responses for
// retransmissions (RFC 3261 §17.2.2).
type responder struct {
	d         *Dialog
	byRequest map[messageID]cachedResponse
}

type cachedResponse struct {
	method string
	bytes  []byte
}

// store stores the response to a request. If b is nil, the request is in progress, and its retransmissions are dropped.
func (r *responder) store(m *received, b []byte) {
	if r.byRequest == nil || len(r.byRequest) >= maxResponses {
		r.byRequest = make(map[messageID]cachedResponse, 1)
	}
	r.byRequest[messageID{m.From.Tag, m.CSeq}] = cachedResponse{m.Method, b}
}

// find returns the stored response to a retransmitted request. known is false if the request is new.
func (r *responder) find(m *received) (b []byte, known bool) {
	kept, ok := r.byRequest[messageID{m.From.Tag, m.CSeq}]
	return kept.bytes, ok && kept.method == m.Method
}

// reply answers a request of the dialog, and stores the response for retransmissions.
func (r *responder) reply(m *received, code int, headers ...message.Header) {
	r.store(m, r.d.ua.reply(&m.Received, code, r.d.key.tag, headers))
}

// replyWith answers a request of the dialog with a body and the headers of a target refresh, such as Contact. It stores
// the response for retransmissions.
func (r *responder) replyWith(m *received, code int, body []byte, headers []message.Header) {
	b, err := r.d.ua.buildResponse(&m.Received, code, r.d.key.tag, append(r.refreshHeaders(code), headers...), body)
	if err == nil {
		r.store(m, b)
		r.d.ua.respond(&m.Received, b)
	}
}

// replyLater answers 500 with a Retry-After, so that the remote party tries again shortly (RFC 3261 §14.2, RFC 3311 §5.2).
func (r *responder) replyLater(m *received) {
	r.reply(m, 500, message.Header{Name: "Retry-After", Value: strconv.Itoa(rand.IntN(10))}) //nolint:gosec // no secret
}

// replyTooShort answers 422 to a request whose session interval is too short (RFC 4028).
func (r *responder) replyTooShort(m *received) {
	r.reply(m, 422, r.d.ua.sessions.MinSE())
}

// replyUnsupported answers 415 to a request whose body has an unsupported content type. accept lists the supported types.
func (r *responder) replyUnsupported(m *received, accept ...string) {
	r.reply(m, 415, message.Header{Name: "Accept", Value: strings.Join(accept, ", ")})
}

// repeat sends the stored response to a retransmitted request again. It returns false if the request is new.
func (r *responder) repeat(m *received) bool {
	b, known := r.find(m)
	if known {
		r.d.ua.stats.retransmitted.Add(1)
		if b != nil {
			r.d.ua.respond(&m.Received, b)
		}
	}
	return known
}

// refreshHeaders returns the headers, such as Contact, of a response to a request that refreshes the remote target.
func (r *responder) refreshHeaders(code int) []message.Header {
	if code == 100 || code >= 300 {
		return nil
	}
	headers := []message.Header{{Name: "Contact", Value: r.d.contact(r.d.flow)}, {Name: "Allow", Value: message.AllowedMethods}}
	if code >= 200 {
		headers = append(headers, message.Header{Name: "Supported", Value: message.SupportedExtensions})
	}
	return headers
}
