package sip

import (
	"context"
	"net/netip"
	"time"

	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/transport"
)

// UseSocket makes the user agent use a socket of the test.
func (u *UserAgent) UseSocket(c transport.PacketConn) {
	u.transport.Bind = func(context.Context, string) (transport.PacketConn, error) { return c, nil }
}

// AdmitsDatagram reports whether the ingress filter admits a datagram.
func (u *UserAgent) AdmitsDatagram(b []byte, from netip.AddrPort) bool {
	return u.transport.AdmitsDatagram(b, from)
}

// StoredSources returns how many sources and peers the ingress filter stores, and how many addresses sipgo's pool
// stores.
func (u *UserAgent) StoredSources() (sources, peers, pool int) {
	sources, peers = u.transport.Filter.Size()
	return sources, peers, u.transport.ParserPoolSize()
}

// SpendTokens tries to take n tokens of one source at the same time, and returns how many it got.
func SpendTokens(rate, n int, a netip.Addr, now time.Time) int {
	f, had := transport.NewIngressFilter(rate), 0
	for range n {
		if f.SpendRate(a, now) {
			had++
		}
	}
	return had
}

// ValidateBytes parses a request and returns the status code and the name of the first validation rule that it breaks.
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

// ValidationRules returns the status code of each validation rule by name.
func ValidationRules() map[string]int { return message.ValidationRules() }

// SetMinSessionInterval sets the minimum session interval that is accepted. Call it before Serve.
func (u *UserAgent) SetMinSessionInterval(least time.Duration) { u.sessions.Least = least }
