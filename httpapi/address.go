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
	at, err := netip.ParseAddrPort(peer.String())
	if err != nil {
		return netip.Addr{}
	}
	addr := at.Addr().Unmap().WithZone("")
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
