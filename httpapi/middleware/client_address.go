package middleware

import (
	"net"
	"net/netip"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/httpapi/forward"
)

// ClientAddress returns the address of a request's client. If another node forwarded the request, the address that
// this node appended to X-Forwarded-For takes the place of the connection's address.
func ClientAddress(c *fiber.Ctx, trustedProxies []netip.Prefix) netip.Addr {
	peer := c.Context().RemoteAddr()
	_, forwarded := peer.(forward.NodeAddr)
	var hops []string
	if forwarded || len(trustedProxies) > 0 {
		for _, h := range c.Request().Header.PeekAll(fiber.HeaderXForwardedFor) {
			hops = append(hops, string(h))
		}
	}
	if forwarded {
		peer, hops = forwardedPeer(hops)
	}
	return clientAddress(peer, hops, trustedProxies)
}

// clientAddress returns the address of the peer. If the peer is a trusted proxy, it returns the last untrusted address
// in X-Forwarded-For. Clients can forge the addresses before that one.
func clientAddress(peer net.Addr, forwarded []string, trusted []netip.Prefix) netip.Addr {
	addr, ok := parsePeer(peer)
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

// forwardedPeer returns the client address that the forwarding node has appended to X-Forwarded-For, and the addresses
// before it.
func forwardedPeer(forwarded []string) (peer net.Addr, before []string) {
	all := strings.Split(strings.Join(forwarded, ","), ",")
	last := len(all) - 1
	addr, err := parseHop(all[last])
	if err != nil {
		return &net.TCPAddr{}, nil
	}
	return &net.TCPAddr{IP: addr.AsSlice()}, all[:last]
}

func parsePeer(peer net.Addr) (addr netip.Addr, ok bool) {
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
