package sms

import (
	"strconv"
	"time"

	"github.com/callboard/callboard/domain"
)

// CarrierResponse is the response of a carrier or SMS gateway to an outbound message.
type CarrierResponse struct {
	Code       int  // SIP or HTTP status; 0: no response
	HTTP       bool // the response of an SMS gateway
	Unsent     bool // the message was not sent
	RetryAfter time.Duration
}

// DeliveryResult is the consequence of a carrier response: the message is sent, retried or failed.
type DeliveryResult struct {
	Sent       bool // the carrier accepted the message
	RetrySame  bool // the same route may succeed later
	RetryOther bool // another route may succeed now
	RetryAfter time.Duration
	Code       string // error code if not sent
	Text       string
}

// Result evaluates a response by RFC 3428 and RFC 3261 for SIP, and by RFC 9110 for an SMS gateway. Errors that concern
// the called number are final. Errors that concern the carrier are retried, on another route if possible.
func (a CarrierResponse) Result() DeliveryResult {
	if a.Code >= 200 && a.Code <= 299 {
		return DeliveryResult{Sent: true}
	}
	o := DeliveryResult{RetryAfter: min(a.RetryAfter, time.Hour), Code: "trunk_error", Text: "the carrier did not accept the message"}
	if a.HTTP {
		o.Code = "gateway_error"
	}
	switch {
	case a.Code == 0, a.Code == 408, a.Code >= 500 && a.Code <= 599 && (a.HTTP || a.Code != 505 && a.Code != 513):
		o.RetrySame, o.RetryOther = true, true
	case a.Code == 429, a.HTTP && a.Code == 425, !a.HTTP && (a.Code == 480 || a.Code == 486 || a.Code == 491 || a.Code == 600):
		o.RetrySame, o.Code = true, "throttled"
		if a.Code != 429 && a.Code != 425 {
			o.Code, o.Text = "unavailable", "the number does not receive messages at the moment"
		}
	case a.Code == 401, a.Code == 403, a.Code == 407:
		o.RetryOther, o.Code, o.Text = true, "carrier_rejected", "the carrier refuses messages of this account"
	case !a.HTTP && (a.Code == 404 || a.Code == 410 || a.Code == 484 || a.Code == 485 || a.Code == 604):
		o.Code, o.Text = "invalid_number", "the number does not exist"
	case a.Code == 413, a.Code == 513:
		o.Code, o.Text = "too_long", "the carrier does not accept messages of this length"
	case !a.HTTP && (a.Code == 405 || a.Code == 415 || a.Code == 501):
		o.RetryOther, o.Code, o.Text = true, "unsupported", "the carrier does not accept messages of this type"
	case a.HTTP:
		o.Code = "gateway_" + strconv.Itoa(a.Code)
	default:
		o.Code = "sip_" + strconv.Itoa(a.Code)
	}
	return o
}

// retryPauses returns the pauses before the second and each further attempt to deliver a message over all routes.
func retryPauses() []time.Duration {
	return []time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute}
}

// NextDelivery decides whether and when a message is delivered again after attempt n, counted from 1. routes is the
// number of routes. Each route is tried once without a pause. Then all routes are tried again after a pause.
func NextDelivery(n, routes int, o DeliveryResult) (pause time.Duration, again bool) {
	routes = max(routes, 1)
	round, left := (n-1)/routes, n%routes != 0
	switch {
	case o.RetryOther && left:
		return 0, true
	case !o.RetrySame || round >= len(retryPauses()):
		return 0, false
	}
	return max(retryPauses()[round], o.RetryAfter), true
}

// CanRetransmit reports whether a SIP MESSAGE may be sent again with the same identifiers. The recipient detects the
// retransmission only if both requests use UDP and the same address, within a short time.
func CanRetransmit(t *domain.Trunk, body string, ago time.Duration) bool {
	const octets, remembered = 600, 20 * time.Second // of 32 s; larger messages may be sent over TCP
	return t.OutboundProxy == nil && len(t.Proxies) == 1 && t.Proxies[0].Transport == "udp" && len(body) <= octets && ago >= 0 && ago < remembered
}

// ApplyReport applies a delivery report to a message. A report can arrive before the carrier's response, so that it
// also proves that the message was sent. sent and reported select the events to emit.
func ApplyReport(m *domain.Message, r *Report, now time.Time) (sent, reported bool) {
	awaited := m.Status == domain.MessageQueued && m.Todo == domain.TodoAwaitResponse
	lost := m.Status == domain.MessageFailed && m.ErrorCode == domain.CodeDeliveryUnknown
	if m.Direction != domain.Outbound || !awaited && !lost && m.Status != domain.MessageSent {
		return false, false
	}
	if r.Status != domain.MessageDelivered && r.Status != domain.MessageUndelivered && r.Status != domain.MessageFailed {
		return false, false
	}
	if m.SentAt == nil {
		sent, m.SentAt = true, &now
	}
	m.Todo, m.NextAt = "", nil
	m.Status, m.DeliveredAt, m.FailedAt, m.ErrorCode, m.ErrorMessage = r.Status, &now, nil, "", ""
	if r.Status != domain.MessageDelivered {
		m.DeliveredAt, m.FailedAt, m.ErrorCode, m.ErrorMessage = nil, &now, r.Code, r.Text
		if m.ErrorCode == "" {
			m.ErrorCode = string(r.Status)
		}
	}
	return sent, true
}
