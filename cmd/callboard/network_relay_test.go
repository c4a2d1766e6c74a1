package main_test

import (
	"bytes"
	"net"
	"net/netip"
	"regexp"
	"strconv"
	"sync"
	"testing"
)

// networkRelay emulates a faulty network between the service and phones on loopback. Each side knows the other by
// an address of the relay with the original port. The relay rewrites addresses in SIP and SDP like an
// application-level gateway; all addresses have the same length.
type relay struct {
	t              testing.TB
	service, front string // the service's address, and the address by which phones reach it
	mu             sync.Mutex
	sockets        map[netip.AddrPort]*net.UDPConn
	phones         map[string]*behind // phones by both of their addresses
	closed         bool
	work           sync.WaitGroup
}

// relayedPhone is a phone behind the relay.
type behind struct {
	real, front string
	to, from    *pipe // pipes to and from the phone
}

// relaySeed gives typical losses: of the 560 packets of a call it drops 6 at 1 % loss and 29 at 5 %.
const relaySeed = 29

const (
	relayService = "127.0.0.1"
	relayFront   = "127.0.0.4"
)

var relayedSound = regexp.MustCompile(`m=audio (\d+)`)

// newRelay starts a relay for a service with the given SIP port.
func newRelay(t testing.TB, sip int) *relay {
	t.Helper()
	r := &relay{t: t, service: relayService, front: relayFront, sockets: map[netip.AddrPort]*net.UDPConn{}, phones: map[string]*behind{}}
	t.Cleanup(r.close)
	r.open(r.front, sip)
	return r
}

// addPhone connects a phone at real:port through a fault. The service calls it at the returned address.
func (r *relay) phone(n, port int, f fault) string {
	r.t.Helper()
	digit := strconv.Itoa(n)
	b := &behind{real: "127.0.1." + digit, front: "127.0.2." + digit, to: newPipe(f, relaySeed), from: newPipe(f, relaySeed)}
	r.mu.Lock()
	r.phones[b.real], r.phones[b.front] = b, b
	r.mu.Unlock()
	r.open(b.front, port)
	return b.front
}

func (r *relay) close() {
	r.mu.Lock()
	r.closed = true
	for _, c := range r.sockets {
		_ = c.Close()
	}
	for ip, b := range r.phones {
		if ip == b.real {
			b.to.close()
			b.from.close()
		}
	}
	r.mu.Unlock()
	r.work.Wait()
}

// openSocket returns the relay's socket at an address and port.
func (r *relay) open(ip string, port int) *net.UDPConn {
	at := netip.AddrPortFrom(netip.MustParseAddr(ip), uint16(port))
	r.mu.Lock()
	defer r.mu.Unlock()
	if c := r.sockets[at]; c != nil || r.closed {
		return c
	}
	c, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(at))
	if err != nil {
		r.t.Errorf("the relay has no socket: %v", err)
		return nil
	}
	r.sockets[at] = c
	r.work.Go(func() {
		b := make([]byte, 65536)
		for {
			n, from, err := c.ReadFromUDPAddrPort(b)
			if err != nil {
				return
			}
			r.pass(at, from, bytes.Clone(b[:n]))
		}
	})
	return c
}

// forwardPacket sends a packet that arrived at one of the relay's addresses to the real receiver. The sender
// address is the one by which the receiver knows the sender.
func (r *relay) pass(at, from netip.AddrPort, data []byte) {
	local, source := at.Addr().String(), from.Addr().String()
	key := local
	if local == r.front {
		key = source
	}
	r.mu.Lock()
	b := r.phones[key]
	r.mu.Unlock()
	if b == nil {
		return
	}
	me, to, p := r.front, b.real, b.to
	if local == r.front {
		me, to, p = b.front, r.service, b.from
	}
	if data[0] >= 'A' && data[0] <= 'Z' { // SIP messages begin with a letter, RTP, RTCP and STUN do not
		if local == r.front {
			data = rewritten(data, b.real, b.front, r.front, r.service)
		} else {
			data = rewritten(data, r.service, r.front, b.front, b.real)
		}
		if m := relayedSound.FindSubmatch(data); m != nil {
			port, _ := strconv.Atoi(string(m[1]))
			r.open(me, port)
			r.open(me, port+1)
		}
	}
	out := r.open(me, int(from.Port()))
	if out == nil {
		return
	}
	dst := netip.AddrPortFrom(netip.MustParseAddr(to), at.Port())
	p.carry(func() { _, _ = out.WriteToUDPAddrPort(data, dst) })
}

func rewritten(data []byte, pairs ...string) []byte {
	for i := 0; i+1 < len(pairs); i += 2 {
		data = bytes.ReplaceAll(data, []byte(pairs[i]), []byte(pairs[i+1]))
	}
	return data
}
