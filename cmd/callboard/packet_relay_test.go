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

// networkRelay emulates a faulty network between the service and phones on loopback. The service and each phone know
// each other by addresses of the relay with the original ports. The relay rewrites addresses in SIP and SDP like an
// application-level gateway. All addresses have the same length, so that messages keep their length.
type networkRelay struct {
	t                      testing.TB
	service, phoneSideAddr string // the service's address, and the address by which phones reach it
	mu                     sync.Mutex
	sockets                map[netip.AddrPort]*net.UDPConn
	phones                 map[string]*relayedPhone // phones by both of their addresses
	closed                 bool
	work                   sync.WaitGroup
}

// relayedPhone holds the phone's own address and the relay's address by which the service knows the phone.
type relayedPhone struct {
	real, front string
	to, from    *packetPipe // pipes to and from the phone
}

// relaySeed gives typical losses: of the 560 packets of a call it drops 6 at 1 % loss and 29 at 5 %.
const relaySeed = 29

const (
	relayService = "127.0.0.1"
	relayFront   = "127.0.0.4"
)

var audioPortLine = regexp.MustCompile(`m=audio (\d+)`)

// newNetworkRelay starts a relay for a service with the given SIP port.
func newNetworkRelay(t testing.TB, sip int) *networkRelay {
	t.Helper()
	r := &networkRelay{t: t, service: relayService, phoneSideAddr: relayFront, sockets: map[netip.AddrPort]*net.UDPConn{}, phones: map[string]*relayedPhone{}}
	t.Cleanup(r.close)
	r.openSocket(r.phoneSideAddr, sip)
	return r
}

// addPhone connects the phone with index n at the given port through a network fault. The service calls the phone at
// the returned address.
func (r *networkRelay) addPhone(n, port int, f networkFault) string {
	r.t.Helper()
	digit := strconv.Itoa(n)
	b := &relayedPhone{real: "127.0.1." + digit, front: "127.0.2." + digit, to: newPacketPipe(f, relaySeed), from: newPacketPipe(f, relaySeed)}
	r.mu.Lock()
	r.phones[b.real], r.phones[b.front] = b, b
	r.mu.Unlock()
	r.openSocket(b.front, port)
	return b.front
}

func (r *networkRelay) close() {
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

// openSocket opens a UDP socket of the relay at an address and port, unless it is already open, and returns it.
func (r *networkRelay) openSocket(ip string, port int) *net.UDPConn {
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
			r.forwardPacket(at, from, bytes.Clone(b[:n]))
		}
	})
	return c
}

// forwardPacket sends a packet that arrived at one of the relay's addresses to the real receiver. The sender
// address is the one by which the receiver knows the sender.
func (r *networkRelay) forwardPacket(at, from netip.AddrPort, data []byte) {
	local, source := at.Addr().String(), from.Addr().String()
	key := local
	if local == r.phoneSideAddr {
		key = source
	}
	r.mu.Lock()
	b := r.phones[key]
	r.mu.Unlock()
	if b == nil {
		return
	}
	me, to, p := r.phoneSideAddr, b.real, b.to
	if local == r.phoneSideAddr {
		me, to, p = b.front, r.service, b.from
	}
	if data[0] >= 'A' && data[0] <= 'Z' { // SIP messages begin with a letter, RTP, RTCP and STUN do not
		if local == r.phoneSideAddr {
			data = replaceAddresses(data, b.real, b.front, r.phoneSideAddr, r.service)
		} else {
			data = replaceAddresses(data, r.service, r.phoneSideAddr, b.front, b.real)
		}
		if m := audioPortLine.FindSubmatch(data); m != nil {
			port, _ := strconv.Atoi(string(m[1]))
			r.openSocket(me, port)
			r.openSocket(me, port+1)
		}
	}
	out := r.openSocket(me, int(from.Port()))
	if out == nil {
		return
	}
	dst := netip.AddrPortFrom(netip.MustParseAddr(to), at.Port())
	p.sendPacket(func() { _, _ = out.WriteToUDPAddrPort(data, dst) })
}

func replaceAddresses(data []byte, pairs ...string) []byte {
	for i := 0; i+1 < len(pairs); i += 2 {
		data = bytes.ReplaceAll(data, []byte(pairs[i]), []byte(pairs[i+1]))
	}
	return data
}
