package transport

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/callboard/callboard/sip/resolve"
)

const (
	localAddressTTL   = time.Minute
	maxLocalAddresses = 1024
)

// SocketAt returns the UDP socket that is bound to an address; nil if there is none.
func (t *Transport) SocketAt(local netip.AddrPort) *UDPSocket {
	for _, s := range t.udp {
		if local.IsValid() && s.local == local {
			return s
		}
	}
	return nil
}

// SocketIndex returns the index of a UDP socket among the UDP listeners; -1 if it is none of them.
func (t *Transport) SocketIndex(s *UDPSocket) int { return slices.Index(t.udp, s) }

// SocketByIndex returns the UDP socket with an index; nil if the index is invalid.
func (t *Transport) SocketByIndex(i int) *UDPSocket {
	if i < 0 || i >= len(t.udp) {
		return nil
	}
	return t.udp[i]
}

// canReach reports whether a socket that is bound to an address can send to another address.
func canReach(bound, to netip.Addr) bool {
	if bound.IsUnspecified() && bound.Is6() {
		return true // both families, unless the system is configured otherwise
	}
	return bound.Is4() == to.Is4()
}

// SocketTo returns the UDP socket for sending to a destination. It prefers the socket that is bound to the address from
// which the operating system would send.
func (t *Transport) SocketTo(to netip.AddrPort) *UDPSocket {
	if len(t.udp) == 1 {
		return t.udp[0]
	}
	bound := make([]netip.Addr, len(t.udp))
	for i, s := range t.udp {
		bound[i] = s.local.Addr()
	}
	if i := t.bestAddress(bound, to); i >= 0 {
		return t.udp[i]
	}
	return nil
}

func (t *Transport) bestAddress(bound []netip.Addr, to netip.AddrPort) int {
	first := -1
	for i, a := range bound {
		if !canReach(a, to.Addr()) {
			continue
		}
		if first < 0 {
			first = i
		}
		if a == t.addresses.sourceAddress(to) {
			return i
		}
	}
	return first
}

// LocalAddr returns the local address of a flow, for Via and Contact. It is zero if the address is not known yet.
func (t *Transport) LocalAddr(f Flow) netip.AddrPort {
	switch {
	case f.Socket != nil:
		return f.Socket.local
	case f.Network == resolve.UDP:
		if s := t.SocketTo(f.Addr); s != nil {
			return s.local
		}
		return netip.AddrPort{}
	}
	if f.Connection != nil {
		// A connection that this side opened has an ephemeral port. The peer sends new requests to a listener instead.
		if i := slices.IndexFunc(t.listeners, func(l streamListener) bool {
			return l.network == f.Network && l.local.Port() == f.Connection.local.Port()
		}); i >= 0 {
			return f.Connection.local
		}
	}
	var bound []netip.Addr
	var of []netip.AddrPort
	for _, l := range t.listeners {
		if l.network == f.Network {
			bound, of = append(bound, l.local.Addr()), append(of, l.local)
		}
	}
	if i := t.bestAddress(bound, f.Addr); i >= 0 {
		return of[i]
	}
	if f.Connection != nil {
		return f.Connection.local
	}
	return netip.AddrPort{}
}

// isPrivate reports whether a peer is in a private network. Via and Contact for such a peer have the address of the
// listener instead of the public address.
func (t *Transport) isPrivate(peer netip.Addr) bool {
	return peer.IsLoopback() || slices.ContainsFunc(t.cfg.Private, func(p netip.Prefix) bool { return p.Contains(peer) })
}

// SentBy returns the host:port of Via and Contact for a flow.
func (t *Transport) SentBy(f Flow) string {
	local, peer := t.LocalAddr(f), f.Addr.Addr()
	ip, port := local.Addr(), local.Port()
	public := t.cfg.PublicIP
	switch {
	case public.IsValid() && !t.isPrivate(peer) && (!peer.IsValid() || public.Is4() == peer.Is4()):
		ip = public
		if t.cfg.PublicPort != 0 && f.Network != resolve.TLS {
			port = uint16(t.cfg.PublicPort & 0xFFFF)
		}
	case !ip.IsValid() || ip.IsUnspecified():
		ip = t.addresses.sourceAddress(f.Addr)
	}
	if port == 0 {
		port = uint16(resolve.DefaultPort(f.Network) & 0xFFFF)
	}
	return netip.AddrPortFrom(ip, port).String()
}

// PublicHost returns the host that Via and Contact carry for a flow. An IPv6 address is in brackets.
func (t *Transport) PublicHost(f Flow) string {
	host, _, err := net.SplitHostPort(t.SentBy(f))
	if err != nil {
		return "127.0.0.1"
	}
	if strings.Contains(host, ":") {
		return "[" + host + "]"
	}
	return host
}

// localAddresses caches the local addresses from which the operating system sends to peers.
type localAddresses struct {
	mu     sync.Mutex
	byPeer map[netip.Addr]localAddress
}

type localAddress struct {
	addr  netip.Addr
	until time.Time
}

// sourceAddress returns the local address from which the operating system would send to a peer. It sends nothing.
func (o *localAddresses) sourceAddress(peer netip.AddrPort) netip.Addr {
	local := netip.AddrFrom4([4]byte{127, 0, 0, 1})
	if !peer.IsValid() || peer.Port() == 0 {
		return local
	}
	now := time.Now()
	o.mu.Lock()
	defer o.mu.Unlock()
	if s, ok := o.byPeer[peer.Addr()]; ok && now.Before(s.until) {
		return s.addr
	}
	var d net.Dialer
	if c, err := d.DialContext(context.Background(), "udp", peer.String()); err == nil {
		local = addrPortOf(c.LocalAddr()).Addr()
		_ = c.Close()
	}
	if len(o.byPeer) >= maxLocalAddresses {
		clear(o.byPeer)
	}
	o.byPeer[peer.Addr()] = localAddress{local, now.Add(localAddressTTL)}
	return local
}
