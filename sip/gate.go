package sip

import (
	"bytes"
	"net/netip"
	"sync"
	"time"

	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/ratelimit"
)

const (
	maxDatagram   = 16 << 10
	maxStream     = 24 << 10
	maxLines      = 160
	maxMethod     = 64
	burstSeconds  = 2
	defaultRate   = 20000
	defaultOpen   = 2000
	defaultTCPMax = 512

	defaultPerHost  = 64
	defaultOverload = 500 * time.Millisecond
)

// gate decides on raw bytes, before the parser and before anything is
// remembered: is the source known, within its rate, and is this a message.
type gate struct {
	rates *ratelimit.Limiter // of messages, by source
	mu    sync.Mutex
	peers map[netip.Addr]int // hosts of live dialogs, counted
}

func newGate(rate int) *gate {
	return &gate{rates: ratelimit.NewLimiter(float64(rate), float64(rate)*burstSeconds), peers: make(map[netip.Addr]int)}
}

func (g *gate) isPeer(a netip.Addr) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.peers[a] > 0
}

func (g *gate) hold(a netip.Addr) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.peers[a]++
}

func (g *gate) release(a netip.Addr) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.peers[a]--; g.peers[a] <= 0 {
		delete(g.peers, a)
	}
}

// wellFormed looks for what the parser would swallow: lines that end in a
// bare CR or LF, NUL, floods of lines.
func wellFormed(b []byte) bool {
	end := bytes.Index(b, []byte("\r\n\r\n"))
	if end < 0 {
		return false
	}
	head := b[:end+2]
	space := bytes.IndexByte(head, ' ')
	if space <= 0 || space > maxMethod {
		return false
	}
	if !bytes.HasPrefix(head, []byte("SIP/")) && !message.IsMethod(head[:space]) {
		return false
	}
	lines := 0
	for i, c := range head {
		switch c {
		case 0:
			if i == 0 || head[i-1] != '\\' { // but in a quoted pair (RFC 3261 section 25.1)
				return false
			}
		case '\n':
			if i == 0 || head[i-1] != '\r' {
				return false
			}
			lines++
		case '\r':
			if i+1 >= len(head) || head[i+1] != '\n' {
				return false
			}
		}
	}
	return lines <= maxLines
}

// pass is the gate's whole verdict on one message, counted, and what another
// node says of it.
func (u *UserAgent) pass(b []byte, from netip.AddrPort, network string, limit int) (p *passed, ok bool) {
	if len(b) <= 4 {
		return nil, false // keep-alive
	}
	s := Source{Addr: from, Network: network}
	if u.relay != nil {
		if p = u.relay.opened(b, time.Now()); p != nil && p.way == passedIn {
			s = p.peer
		}
	}
	if !u.may(b, s, p) {
		u.stats.unknown.Add(1)
		return nil, false
	}
	switch {
	case !u.gate.rates.Spend(s.Addr.Addr(), 1, time.Now()):
		u.stats.rate.Add(1)
	case len(b) > limit:
		u.stats.size.Add(1)
	case !wellFormed(b):
		u.stats.malformed.Add(1)
	default:
		return p, true
	}
	return nil, false
}

// may tells whether a message of a source is read at all. What another node
// passes back, or out to a phone, it has proved; what it passes in is judged as
// if it had come from where it is from.
func (u *UserAgent) may(b []byte, s Source, p *passed) bool {
	if p != nil && p.way != passedIn || u.known(s) {
		return true
	}
	now := time.Now()
	return u.phones.welcome(b, s, now) || p == nil && (u.isProbe(b, s) || u.relay.welcome(b, s, now))
}

// known tells whether a source is admitted or the host of a live dialog.
func (u *UserAgent) known(s Source) bool {
	return u.gate.isPeer(s.Addr.Addr()) || u.admitted(s).Allow
}

func (u *UserAgent) admitted(s Source) (a Admission) {
	defer u.recovered("admit", func() { a = Admission{} })
	if u.admit == nil {
		return Admission{Allow: s.Addr.Addr().IsLoopback()}
	}
	return u.admit(s)
}

// unreadable answers a request that passed the gate but does not parse (RFC 3261 section
// 8.2), if its source gets answers. The answer is not larger than the request.
func (u *UserAgent) unreadable(came arrival) {
	defer u.recovered("unreadable", nil)
	u.stats.malformed.Add(1)
	if !u.admitted(Source{Addr: came.flow.addr, Network: came.flow.network}).Allow {
		return
	}
	b := message.BuildParseErrorResponse(came.raw)
	if b == nil || len(b) > len(came.raw) {
		return
	}
	u.stats.rejected.Add(1)
	if err := u.send(came.flow, b, nil); err != nil {
		u.stats.transport.Add(1)
	}
}
