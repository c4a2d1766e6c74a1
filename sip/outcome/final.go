// Package outcome describes the result of an outbound SIP request: the final response, or why none arrived.
//
// Final is the result of a request. Classify derives the verdict on the call attempt from it.
package outcome

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/callboard/callboard/sip/message"
)

// Final is the final response to an outbound request, or why none arrived.
type Final struct {
	Code              int // 0: no final response arrived
	Phrase            string
	Reason            string // Reason header as received
	Q850              int
	RetryAfter        time.Duration
	Blocked           bool // 603 with an analytics reason, 607 or 608: the call was blocked
	MentionsRateLimit bool // the phrase or a header names rate or channel limits
	NoResponse        bool // no response at all arrived
	TransportFailure  bool // ICMP error, connection refused or no such host
	CallsSuspended    bool // the INVITE was not sent because calls are suspended (SuspendCalls)
	RangBefore        bool
	Cancelled         bool // the leg was cancelled by Dialog.Cancel
	RingTimeout       bool // RingTimeout of the Invite has passed
	Authenticated     bool // credentials had been sent
	Sent              bool // at least one INVITE was sent
	PDD               time.Duration
	Redirects         []RedirectTarget // targets of a 3xx, in descending order of preference
	Identity          []string         // Identity headers of a 3xx (RFC 8224)
}

// ReadFinal reads a final response other than 2xx.
func ReadFinal(m *message.Message) Final {
	reasons := m.HeaderValues("Reason")
	f := Final{Code: m.Code, Phrase: m.Phrase, Reason: strings.Join(reasons, ", ")}
	f.Q850, _ = message.ParseReason(reasons)
	if s := m.HeaderValue("Retry-After"); s != "" {
		s = strings.TrimSpace(message.TextBefore(message.TextBefore(s, ";"), "("))
		if n, err := strconv.ParseUint(s, 10, 31); err == nil {
			f.RetryAfter = time.Duration(min(n, 86400)) * time.Second
		}
	}
	if m.Code >= 300 && m.Code < 400 {
		f.Redirects, f.Identity = redirectTargets(m), identities(m)
	}
	text := strings.ToLower(strings.Join([]string{m.Phrase, f.Reason, m.HeaderValue("Warning"), m.HeaderValue("X-Twilio-Error")}, " "))
	f.MentionsRateLimit = mentionsRateLimit(text)
	f.Blocked = m.Code == 607 || m.Code == 608 ||
		m.Code == 603 && (strings.Contains(text, "network blocked") || strings.Contains(text, "analytics")) ||
		strings.Contains(strings.ToLower(f.Reason), "v=analytics")
	return f
}

// mentionsRateLimit reports whether a response text has the words with which carriers refuse a call because of
// limits on calls per second or channels. The text is in lower case.
func mentionsRateLimit(text string) bool {
	for _, s := range []string{
		"too many", "calls per second", "per second", "rate limit", "concurrent", "max channels",
		"channel limit", "no channels", "channels exceeded", "capacity", "limit exceeded", "limit reached",
	} {
		if strings.Contains(text, s) {
			return true
		}
	}
	words := strings.FieldsFunc(text, func(r rune) bool { return (r < 'a' || r > 'z') && r != '-' })
	return slices.ContainsFunc(words, func(w string) bool {
		return w == "cps" || strings.HasPrefix(w, "throttl") || w == "rate" || w == "rate-limit"
	})
}
