package sip

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// finalOf reads what a refusing answer says.
func finalOf(m *message) Final {
	reasons := m.all("Reason")
	f := Final{Code: m.code, Phrase: m.phrase, Reason: strings.Join(reasons, ", ")}
	f.Q850, _ = reasonOf(reasons)
	if s := m.get("Retry-After"); s != "" {
		s = strings.TrimSpace(before(before(s, ";"), "("))
		if n, err := strconv.ParseUint(s, 10, 31); err == nil {
			f.RetryAfter = time.Duration(min(n, 86400)) * time.Second
		}
	}
	if m.code >= 300 && m.code < 400 {
		f.Moved, f.Identity = movedOf(m), identities(m)
	}
	said := strings.ToLower(strings.Join([]string{m.phrase, f.Reason, m.get("Warning"), m.get("X-Twilio-Error")}, " "))
	f.RateText = speaksOfRate(said)
	f.Blocked = m.code == 607 || m.code == 608 ||
		m.code == 603 && (strings.Contains(said, "network blocked") || strings.Contains(said, "analytics")) ||
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
