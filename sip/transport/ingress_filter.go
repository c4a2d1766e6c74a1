package transport

import (
	"bytes"
	"net/netip"
	"sync"
	"time"

	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/ratelimit"
)

const (
	maxDatagram  = 16 << 10
	maxStream    = 24 << 10 // bytes of the header section and of the body, each
	maxLines     = 160
	maxMethod    = 64
	burstSeconds = 2
)

// IngressFilter holds the data by which raw bytes are admitted or dropped before they are parsed: the message rate of
// each source, and the hosts of live dialogs.
type IngressFilter struct {
	rates *ratelimit.Limiter // messages, by source
	mu    sync.Mutex
	peers map[netip.Addr]int // number of live dialogs by host
}

// NewIngressFilter returns a filter with a rate in messages per second for each source.
func NewIngressFilter(rate int) *IngressFilter {
	return &IngressFilter{rates: ratelimit.NewLimiter(float64(rate), float64(rate)*burstSeconds), peers: make(map[netip.Addr]int)}
}

// SpendRate takes one message from the rate of a source. It returns false if the rate is exceeded.
func (g *IngressFilter) SpendRate(a netip.Addr, now time.Time) bool { return g.rates.Spend(a, 1, now) }

// HasPeer reports whether a host is the peer of a live dialog.
func (g *IngressFilter) HasPeer(a netip.Addr) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.peers[a] > 0
}

// AddPeer adds one live dialog to the count of a host.
func (g *IngressFilter) AddPeer(a netip.Addr) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.peers[a]++
}

// RemovePeer removes one live dialog from the count of a host.
func (g *IngressFilter) RemovePeer(a netip.Addr) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.peers[a]--; g.peers[a] <= 0 {
		delete(g.peers, a)
	}
}

// Size returns the number of stored token buckets, and of hosts with a live dialog.
func (g *IngressFilter) Size() (sources, peers int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.rates.Len(), len(g.peers)
}

// IsWellFormed returns false for bytes that the parser must not get: a bad first word, lines that end in a bare CR or
// LF, a NUL, or too many lines.
func IsWellFormed(b []byte) bool {
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
			if i == 0 || head[i-1] != '\\' { // except in a quoted pair (RFC 3261 §25.1)
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
