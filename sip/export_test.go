package sip

import (
	"context"
	"net"
	"net/netip"
	"time"

	"github.com/callboard/callboard/sip/message"
)

// PacketConn is what a test brings instead of a UDP socket.
type PacketConn interface {
	net.PacketConn
	ReadFromUDPAddrPort(b []byte) (int, netip.AddrPort, error)
	WriteToUDPAddrPort(b []byte, to netip.AddrPort) (int, error)
}

// BindTo makes the user agent use a socket of the test's.
func (u *UserAgent) BindTo(c PacketConn) {
	u.bind = func(context.Context, string) (packetConn, error) { return c, nil }
}

// Pass is the gate's verdict on one datagram.
func (u *UserAgent) Pass(b []byte, from netip.AddrPort) bool {
	_, ok := u.pass(b, from, "udp", maxDatagram)
	return ok
}

// Remembered tells how much the gate and sipgo's pool hold.
func (u *UserAgent) Remembered() (sources, peers, pool int) {
	u.gate.mu.Lock()
	defer u.gate.mu.Unlock()
	return u.gate.rates.Len(), len(u.gate.peers), u.layer.Pool("udp").Size()
}

// SpendFor takes n tokens of one source at one moment and tells how many there were.
func SpendFor(rate, n int, a netip.Addr, now time.Time) int {
	g, had := newGate(rate), 0
	for range n {
		if g.rates.Spend(a, 1, now) {
			had++
		}
	}
	return had
}

// Verdict parses a request and tells which rule it breaks.
func Verdict(b []byte) (code int, name string) {
	if !wellFormed(b) {
		return 0, "malformed"
	}
	u, err := New(Config{Listen: []Listener{{Network: "udp"}}})
	if err != nil {
		return 0, err.Error()
	}
	in, err := u.parser.ParseSIP(b)
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

// Rules names every rule of the validation with its answer.
func Rules() map[string]int { return message.ValidationRules() }

// ShortSessions lets session timers be as short as a test wants; before Serve.
func (u *UserAgent) ShortSessions(least time.Duration) { u.leastSession = least }

// QuickRing is a call to one phone that was answered before its dialog was
// known to the call.
func QuickRing(d *Dialog, notify func(Event)) {
	l := &ringLeg{r: &Ringer{notify: notify, open: 1, placed: true}}
	l.hear(Answered{})
	l.is(d)
}
