package sms

import (
	"strconv"
	"time"

	"github.com/callboard/callboard/domain"
)

// CarrierResponse is what came of handing a message to a carrier.
type CarrierResponse struct {
	Code       int  // of SIP or HTTP; 0: no answer
	HTTP       bool // of a gateway
	Unsent     bool // it did not even leave
	RetryAfter time.Duration
}

// DeliveryResult is what follows from an answer.
type DeliveryResult struct {
	Sent       bool // the carrier has it
	RetrySame  bool // the same way may do later
	RetryOther bool // another way may do now
	RetryAfter time.Duration
	Code       string // why it was not sent
	Text       string
}

// Result judges an answer: RFC 3428 and 3261 for SIP, RFC 9110 for a gateway. What
// says that the number is wrong is final; what says that the carrier is not
// well is tried again, by another way if there is one.
func (a CarrierResponse) Result() DeliveryResult {
	if a.Code >= 200 && a.Code <= 299 {
		return DeliveryResult{Sent: true}
	}
	o := DeliveryResult{RetryAfter: min(a.RetryAfter, time.Hour), Code: "trunk_error", Text: "the carrier did not take the message"}
	if a.HTTP {
		o.Code = "gateway_error"
	}
	switch {
	case a.Code == 0, a.Code == 408, a.Code >= 500 && a.Code <= 599 && (a.HTTP || a.Code != 505 && a.Code != 513):
		o.RetrySame, o.RetryOther = true, true
	case a.Code == 429, a.HTTP && a.Code == 425, !a.HTTP && (a.Code == 480 || a.Code == 486 || a.Code == 491 || a.Code == 600):
		o.RetrySame, o.Code = true, "throttled"
		if a.Code != 429 && a.Code != 425 {
			o.Code, o.Text = "unavailable", "the number takes no messages now"
		}
	case a.Code == 401, a.Code == 403, a.Code == 407:
		o.RetryOther, o.Code, o.Text = true, "carrier_rejected", "the carrier does not carry our messages"
	case !a.HTTP && (a.Code == 404 || a.Code == 410 || a.Code == 484 || a.Code == 485 || a.Code == 604):
		o.Code, o.Text = "invalid_number", "nobody has this number"
	case a.Code == 413, a.Code == 513:
		o.Code, o.Text = "too_long", "the carrier takes no messages of this length"
	case !a.HTTP && (a.Code == 405 || a.Code == 415 || a.Code == 501):
		o.RetryOther, o.Code, o.Text = true, "unsupported", "the carrier takes no messages of this kind"
	case a.HTTP:
		o.Code = "gateway_" + strconv.Itoa(a.Code)
	default:
		o.Code = "sip_" + strconv.Itoa(a.Code)
	}
	return o
}

// retryPauses stand before a message is handed round once more.
func retryPauses() []time.Duration {
	return []time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute}
}

// NextDelivery reports whether and when a message is handed over again after its try
// number n (from 1) of a message that ways carriers might take: by another way
// at once, by all of them again after a pause.
func NextDelivery(n, ways int, o DeliveryResult) (pause time.Duration, again bool) {
	ways = max(ways, 1)
	round, left := (n-1)/ways, n%ways != 0
	switch {
	case o.RetryOther && left:
		return 0, true
	case !o.RetrySame || round >= len(retryPauses()):
		return 0, false
	}
	return max(retryPauses()[round], o.RetryAfter), true
}

// CanRetransmit reports whether a MESSAGE that left a while ago may go out once more under
// its names, because the far end still takes it for a retransmission: by UDP, to
// one address.
func CanRetransmit(t *domain.Trunk, body string, ago time.Duration) bool {
	const octets, remembered = 600, 20 * time.Second // of 32 s; larger ones may go by TCP
	return t.OutboundProxy == nil && len(t.Proxies) == 1 && t.Proxies[0].Transport == "udp" && len(body) <= octets && ago >= 0 && ago < remembered
}

// ApplyReport puts what a carrier reports into a message. The flags say which events
// it causes: that it was sent, which the report may overtake, and the report.
func ApplyReport(m *domain.Message, r *Report, now time.Time) (sent, told bool) {
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
