package sip

import (
	"context"
	"net"
	"net/netip"
	"time"
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
	return u.gate.rates.kept(), len(u.gate.peers), u.layer.Pool("udp").Size()
}

func (l *limiter) kept() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.bySource.Len() + l.networks.Len()
}

// SpendFor takes n tokens of one source at one moment and tells how many there were.
func SpendFor(rate, n int, a netip.Addr, now time.Time) int {
	g, had := newGate(rate), 0
	for range n {
		if g.rates.spend(a, 1, now) {
			had++
		}
	}
	return had
}

// Limiter is a limiter for tests.
type Limiter struct{ l *limiter }

// NewLimiter makes one.
func NewLimiter(rate, burst float64) Limiter { return Limiter{newLimiter(rate, burst)} }

// Spend takes tokens of a source.
func (l Limiter) Spend(a netip.Addr, cost float64, now time.Time) bool {
	return l.l.spend(a, cost, now)
}

// Kept is how many buckets it holds.
func (l Limiter) Kept() int { return l.l.kept() }

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
	m, ok := read(in)
	if !ok {
		return 0, "unanswerable"
	}
	m.spellMethod(b)
	m.selectPart()
	if !m.isRequest() {
		return 0, "response"
	}
	if r := u.broken(m); r != nil {
		return r.code, r.name
	}
	return 0, ""
}

// Rules names every rule of the validation with its answer.
func Rules() map[string]int {
	all := make(map[string]int)
	for _, r := range rules() {
		all[r.name] = r.code
	}
	return all
}

// ShortSessions lets session timers be as short as a test wants; before Serve.
func (u *UserAgent) ShortSessions(least time.Duration) { u.leastSession = least }

// ReadRAck reads a RAck header.
func ReadRAck(s string) (rseq, cseq uint32, method string, ok bool) {
	r, ok := parseRAck(s)
	return r.rseq, r.cseq, r.method, ok
}

// ReadReferTo reads a Refer-To header.
func ReadReferTo(s string) (uri string, replaces *DialogID, ok bool) { return parseReferTo(s) }

// ReadReplaces reads a Replaces header.
func ReadReplaces(s string) (id DialogID, ok bool) {
	callID, to, from, _, ok := parseReplaces(s)
	return DialogID{CallID: callID, LocalTag: from, RemoteTag: to}, ok
}

// WriteReplaces writes a Replaces header.
func WriteReplaces(id *DialogID) (string, error) { return replacesOf(id) }

// ReadSession reads a Session-Expires header.
func ReadSession(s string) (every time.Duration, refresher string, ok bool) { return parseDelta(s) }

// ReadSipfrag reads the status line of a NOTIFY's body.
func ReadSipfrag(b []byte) (code int, phrase string, ok bool) { return parseSipfrag(b) }

// QuickRing is a call to one phone that was answered before its dialog was
// known to the call.
func QuickRing(d *Dialog, notify func(Event)) {
	l := &ringLeg{r: &Ringer{notify: notify, open: 1, placed: true}}
	l.hear(Answered{})
	l.is(d)
}
