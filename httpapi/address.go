package httpapi

import (
	"net"
	"net/netip"
	"strings"
)

// clientAddr is who really asks: the peer of the socket, or, where that is a
// trusted proxy, the nearest address in X-Forwarded-For that is none. The
// header is read from the right: what stands further left is hearsay.
func clientAddr(peer net.Addr, forwarded []string, trusted []netip.Prefix) netip.Addr {
	addr, ok := addrOf(peer)
	if !ok || len(trusted) == 0 {
		return addr
	}
	hops := strings.Split(strings.Join(forwarded, ","), ",")
	for i := len(hops) - 1; i >= 0 && isTrusted(addr, trusted); i-- {
		hop, err := parseHop(hops[i])
		if err != nil {
			return addr
		}
		addr = hop
	}
	return addr
}

// passedOn is whose request another node passes on, and for whom that one may
// speak.
func passedOn(forwarded []string) (client net.Addr, before []string) {
	all := strings.Split(strings.Join(forwarded, ","), ",")
	last := len(all) - 1
	addr, err := parseHop(all[last])
	if err != nil {
		return &net.TCPAddr{}, nil
	}
	return &net.TCPAddr{IP: addr.AsSlice()}, all[:last]
}

// addrOf is the address of a peer.
func addrOf(peer net.Addr) (addr netip.Addr, ok bool) {
	if tcp, is := peer.(*net.TCPAddr); is {
		addr, ok = netip.AddrFromSlice(tcp.IP)
		return addr.Unmap(), ok
	}
	at, err := netip.ParseAddrPort(peer.String())
	return at.Addr().Unmap().WithZone(""), err == nil
}

func parseHop(text string) (netip.Addr, error) {
	text = strings.TrimSpace(text)
	if ap, err := netip.ParseAddrPort(text); err == nil {
		return ap.Addr().Unmap().WithZone(""), nil
	}
	a, err := netip.ParseAddr(strings.Trim(text, "[]"))
	return a.Unmap().WithZone(""), err
}

func isTrusted(a netip.Addr, trusted []netip.Prefix) bool {
	for _, p := range trusted {
		if p.Contains(a) {
			return true
		}
	}
	return false
}
