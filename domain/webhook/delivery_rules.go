// Package webhook implements the rules of webhook deliveries: valid endpoints, request format and signatures, and
// retries. It has no clock, sockets or store.
package webhook

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
)

// Limits of webhook deliveries.
const (
	MaxAttempts = 5
	Timeout     = 30 * time.Second
)

// retryDelays are the delays before attempts 2 to 5, from the end of the previous attempt.
var retryDelays = [MaxAttempts - 1]time.Duration{30 * time.Second, 2 * time.Minute, 10 * time.Minute, time.Hour}

// retryDelay returns the delay after attempt n, divided by factor.
func retryDelay(n, factor int) time.Duration {
	return retryDelays[min(max(n, 1), len(retryDelays))-1] / time.Duration(factor)
}

// DeliveryVerdict is the consequence of a delivery attempt.
type DeliveryVerdict struct {
	State domain.DeliveryState // delivered, retrying or failed
	DueAt time.Time            // retrying: time of the next attempt
}

// EvaluateAttempt returns the consequence of attempt n, from 1, that ended at endedAt with an HTTP status. Status 0
// means no response. 2xx is success. 3xx is not followed and is final like 4xx. Other results are retried until the
// attempts are exhausted. factor divides the retry delay and is at least 1.
func EvaluateAttempt(n, status int, endedAt time.Time, factor int) DeliveryVerdict {
	switch {
	case status >= 200 && status <= 299:
		return DeliveryVerdict{State: domain.DeliveryDelivered}
	case status >= 300 && status <= 499, n >= MaxAttempts:
		return DeliveryVerdict{State: domain.DeliveryFailed}
	}
	return DeliveryVerdict{State: domain.DeliveryRetrying, DueAt: endedAt.Add(retryDelay(n, factor))}
}

// Body returns the JSON envelope of an event. as is the name under which the endpoint subscribed, or "". The envelope
// contains the event's data unchanged.
func Body(e event.Event, as string) ([]byte, error) {
	if as != "" {
		e.Type = event.Type(as)
	}
	if len(e.Data) == 0 {
		e.Data = json.RawMessage("{}")
	}
	return domain.EncodeJSON(&e)
}

// SignedRequest holds the values from which the headers of one delivery attempt are made.
type SignedRequest struct {
	EventID string
	Number  int       // number of the attempt, from 1
	First   time.Time // time of attempt 1
	At      time.Time // time of this attempt
	Secret  string
	Next    string // next secret during a rotation; empty: none
	Replay  bool   // the event was requested again
	// TraceParent is the traceparent header of the attempt (W3C Trace Context), or "".
	TraceParent string
	Signers     *SecretSigners
}

// Header is one HTTP header of a delivery request.
type Header struct{ Name, Value string }

// SignedHeaders returns the headers of a delivery attempt: signatures of the body, the number of the attempt and, for
// retries, the time of the first attempt.
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

// standardSignatures returns the Standard Webhooks signatures of those signers whose secret has a Standard Webhooks key.
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

// Limits of failed deliveries after which an endpoint is disabled.
const (
	FailingLimit    = 72 * time.Hour // since the first failure after the last success
	FailingAttempts = 10
)

// statusGone is the HTTP status by which an endpoint unsubscribes from all events.
const statusGone = 410

// The values of disabled_reason: why the service disabled an endpoint.
const (
	ReasonGone    = "gone"    // the endpoint answered 410
	ReasonFailing = "failing" // no delivery succeeded for FailingLimit
)

// DisableReason returns why an endpoint is disabled after a failed attempt, or "" if it stays enabled. failures is the
// number of failed attempts since the last success. failing is the time since the first of these.
func DisableReason(status, failures int, failing time.Duration) string {
	switch {
	case status == statusGone:
		return ReasonGone
	case failures >= FailingAttempts && failing >= FailingLimit:
		return ReasonFailing
	}
	return ""
}

// RetryTime returns the time of the next attempt after a restart. It is the stored time, but at most the retry delay
// from now, in case the clock was set back. factor divides the delay and is at least 1.
func RetryTime(attempts int, stored, now time.Time, factor int) time.Time {
	return now.Add(min(stored.Sub(now), retryDelay(attempts, factor)))
}
