package sip

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/callboard/callboard/sip/message"
)

// finalOf reads what a refusing answer says.
func finalOf(m *received) Final {
	reasons := m.HeaderValues("Reason")
	f := Final{Code: m.Code, Phrase: m.Phrase, Reason: strings.Join(reasons, ", ")}
	f.Q850, _ = message.ParseReason(reasons)
	if s := m.HeaderValue("Retry-After"); s != "" {
		s = strings.TrimSpace(textBefore(textBefore(s, ";"), "("))
		if n, err := strconv.ParseUint(s, 10, 31); err == nil {
			f.RetryAfter = time.Duration(min(n, 86400)) * time.Second
		}
	}
	if m.Code >= 300 && m.Code < 400 {
		f.Moved, f.Identity = movedOf(m), identities(m)
	}
	said := strings.ToLower(strings.Join([]string{m.Phrase, f.Reason, m.HeaderValue("Warning"), m.HeaderValue("X-Twilio-Error")}, " "))
	f.RateText = speaksOfRate(said)
	f.Blocked = m.Code == 607 || m.Code == 608 ||
		m.Code == 603 && (strings.Contains(said, "network blocked") || strings.Contains(said, "analytics")) ||
		strings.Contains(strings.ToLower(f.Reason), "v=analytics")
	return f
}

// speaksOfRate finds the words with which carriers refuse for calls per
// second or for channels.
func speaksOfRate(said string) bool {
	for _, s := range []string{
		"too many", "calls per second", "per second", "rate limit", "concurrent", "max channels",
		"channel limit", "no channels", "channels exceeded", "capacity", "limit exceeded", "limit reached",
	} {
		if strings.Contains(said, s) {
			return true
		}
	}
	words := strings.FieldsFunc(said, func(r rune) bool { return (r < 'a' || r > 'z') && r != '-' })
	return slices.ContainsFunc(words, func(w string) bool {
		return w == "cps" || strings.HasPrefix(w, "throttl") || w == "rate" || w == "rate-limit"
	})
}

// textBefore is a text up to a separator, all of it where there is none.
func textBefore(s, separator string) string {
	head, _, _ := strings.Cut(s, separator)
	return head
}
