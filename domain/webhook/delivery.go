// Package webhook is the law of webhooks: which endpoints are accepted, how a
// delivery is spelled and signed, and what follows from an attempt. It knows no
// clock, no socket and no store.
package webhook

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
)

// The limits of the specification (Limits 5).
const (
	MaxAttempts = 5
	Timeout     = 30 * time.Second
)

// delays stand before attempt 2, 3, 4 and 5, counted from the end of the
// attempt before (specification, States and transitions).
var retryDelays = [MaxAttempts - 1]time.Duration{30 * time.Second, 2 * time.Minute, 10 * time.Minute, time.Hour}

// retryDelay stands between attempt number n and the next one.
func retryDelay(n, factor int) time.Duration {
	return retryDelays[min(max(n, 1), len(retryDelays))-1] / time.Duration(factor)
}

// DeliveryVerdict is what follows from an attempt.
type DeliveryVerdict struct {
	State domain.DeliveryState // delivered, retrying or failed
	DueAt time.Time            // of the next attempt, when retrying
}

// EvaluateAttempt decides what follows from attempt number n (from 1) that ended at
// endedAt with an HTTP status, or with none (0: no connection, time-out). A
// 2xx is success; a 3xx is not followed and is final like a 4xx; everything
// else is retried until the attempts are used up. The delay before the retry is
// divided by factor, which is at least 1.
func EvaluateAttempt(n, status int, endedAt time.Time, factor int) DeliveryVerdict {
	switch {
	case status >= 200 && status <= 299:
		return DeliveryVerdict{State: domain.DeliveryDelivered}
	case status >= 300 && status <= 499, n >= MaxAttempts:
		return DeliveryVerdict{State: domain.DeliveryFailed}
	}
	return DeliveryVerdict{State: domain.DeliveryRetrying, DueAt: endedAt.Add(retryDelay(n, factor))}
}

// Body is the envelope of an event as it is sent, under the name that the
// endpoint subscribed to. Its data are JSON, and stand in it as they are.
func Body(e event.Event, as string) ([]byte, error) {
	if as != "" {
		e.Type = event.Type(as)
	}
	if len(e.Data) == 0 {
		e.Data = json.RawMessage("{}")
	}
	return domain.EncodeJSON(&e)
}

// SignedRequest is one attempt to send an event, of which its header lines are made.
type SignedRequest struct {
	EventID string
	Number  int       // from 1
	First   time.Time // when attempt 1 was sent
	At      time.Time // when this one is sent
	Secret  string
	Next    string // the secret that is taking over; "": none
	Replay  bool   // the event is sent again because somebody asked for it
	// TraceParent is the trace context of the attempt (W3C Trace Context); "": none.
	TraceParent string
	Signers     *SecretSigners
}

// Header is one line of a request's header.
type Header struct{ Name, Value string }

// SignedHeaders returns the header lines of an attempt besides those of the transport: the signatures of the body, the attempt
// number, and on retries the time of the first attempt.
func (a SignedRequest) SignedHeaders(body []byte) []Header {
	now, next := a.Signers.signerFor(a.Secret), (*secretSigner)(nil)
	h := append(make([]Header, 0, 9),
		Header{"Content-Type", "application/json"},
		Header{"User-Agent", "Callboard-Webhook/1"},
		Header{"X-Svc-Signature", now.sign(body)},
		Header{"X-Svc-Delivery-Attempt", strconv.Itoa(a.Number)})
	if a.Next != "" {
		next = a.Signers.signerFor(a.Next)
		h = append(h, Header{"X-Svc-Signature-Next", next.sign(body)})
	}
	if a.Number > 1 {
		h = append(h, Header{"X-Svc-First-Attempt", a.First.UTC().Format(domain.TimeFormat)})
	}
	if a.Replay {
		h = append(h, Header{"X-Svc-Replay", "true"})
	}
	if a.TraceParent != "" {
		h = append(h, Header{"Traceparent", a.TraceParent})
	}
	if signatures := a.standardSignatures(body, now, next); signatures != "" {
		h = append(h,
			Header{"Webhook-Id", a.EventID},
			Header{"Webhook-Timestamp", strconv.FormatInt(a.At.Unix(), 10)},
			Header{"Webhook-Signature", signatures})
	}
	return h
}

// standardSignatures are the signatures of Standard Webhooks by those of some secrets that
// allow them.
func (a SignedRequest) standardSignatures(body []byte, by ...*secretSigner) (all string) {
	for _, s := range by {
		switch {
		case s == nil || !s.hasStandardKey:
		case all == "":
			all = s.standardSign(a.EventID, a.At, body)
		default:
			all += " " + s.standardSign(a.EventID, a.At, body)
		}
	}
	return all
}

// The bounds beyond which an endpoint is disabled.
const (
	FailingLimit    = 72 * time.Hour // since the first failure after the last success
	FailingAttempts = 10
)

// gone is the status by which an endpoint says that it wants nothing more.
const statusGone = 410

// Why an endpoint was disabled.
const (
	ReasonGone    = "gone"    // it answered 410
	ReasonFailing = "failing" // nothing arrived for FailingLimit
)

// DisableReason says why an endpoint is to be disabled after a failed attempt: its
// status, the number of attempts that failed since the last success, and the
// time since the first of those. "": it is not.
func DisableReason(status, failures int, failing time.Duration) string {
	switch {
	case status == statusGone:
		return ReasonGone
	case failures >= FailingAttempts && failing >= FailingLimit:
		return ReasonFailing
	}
	return ""
}

// RetryTime is when a retry that was stored is sent: at the time stored, but no later
// than its delay from now. Where the clock was set back meanwhile that time
// would be far away. The delay is divided by factor, which is at least 1.
func RetryTime(attempts int, stored, now time.Time, factor int) time.Time {
	return now.Add(min(stored.Sub(now), retryDelay(attempts, factor)))
}
