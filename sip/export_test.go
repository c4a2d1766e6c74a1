package sip

import (
	"context"
	"net/netip"
	"time"

	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/transport"
)

// UseSocket makes the user agent use a socket of the test's.
func (u *UserAgent) UseSocket(c transport.PacketConn) {
	u.transport.Bind = func(context.Context, string) (transport.PacketConn, error) { return c, nil }
}

// AdmitsDatagram is the verdict of the ingress filter on one datagram.
func (u *UserAgent) AdmitsDatagram(b []byte, from netip.AddrPort) bool {
	return u.transport.AdmitsDatagram(b, from)
}

// StoredSources tells how much the ingress filter and sipgo's pool hold.
func (u *UserAgent) StoredSources() (sources, peers, pool int) {
	sources, peers = u.transport.Filter.Size()
	return sources, peers, u.transport.ParserPoolSize()
}

// SpendTokens takes n tokens of one source at one moment and tells how many there were.
func SpendTokens(rate, n int, a netip.Addr, now time.Time) int {
	f, had := transport.NewIngressFilter(rate), 0
	for range n {
		if f.SpendRate(a, now) {
			had++
		}
	}
	return had
}

// ValidateBytes parses a request and tells which rule it breaks.
func ValidateBytes(b []byte) (code int, name string) {
	if !transport.IsWellFormed(b) {
		return 0, "malformed"
	}
	u, err := New(Config{Listen: []transport.Listener{{Network: "udp"}}})
	if err != nil {
		return 0, err.Error()
	}
	in, err := u.transport.Parse(b)
	if err != nil {
		return 0, "unparsable"
	}
	m := new(message.Message)
	if !m.Parse(in) {
		return 0, "unanswerable"
	}
	m.RestoreMethodCase(b)
	m.SelectBodyPart()
	if !m.IsRequest() {
		return 0, "response"
	}
	return m.Validate()
}

// ValidationRules names every rule of the validation with its answer.
func ValidationRules() map[string]int { return message.ValidationRules() }

// SetMinSessionInterval lets session timers be as short as a test wants; before Serve.
func (u *UserAgent) SetMinSessionInterval(least time.Duration) { u.sessions.Least = least }
