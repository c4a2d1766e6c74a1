package egress

import (
	"net"
	"net/netip"
	"net/url"
	"strconv"

	"github.com/callboard/callboard/configs"
	"github.com/callboard/callboard/domain/access"
)

// blobAddrs are the addresses of a store of the operator's own, which no tenant
// may name. Public ones are shared with others and no secret.
func blobAddrs(b configs.Blobs) []netip.AddrPort {
	if !b.CustomEndpoint {
		return nil
	}
	u, err := url.Parse(b.Endpoint)
	if err != nil {
		return nil
	}
	port := uint16(443)
	if u.Scheme == "http" {
		port = 80
	}
	var out []netip.AddrPort
	for _, host := range []string{u.Hostname(), b.Bucket + "." + u.Hostname()} {
		for _, a := range addrsOf(host, u.Port(), port) {
			if !access.PublicAddress(a.Addr()) {
				out = append(out, a)
			}
		}
		if b.PathStyle {
			break
		}
	}
	return out
}

// urlAddrs are the addresses of a store, which no tenant may name.
func urlAddrs(text string, usual uint16) []netip.AddrPort {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" {
		return nil
	}
	return addrsOf(u.Hostname(), u.Port(), usual)
}

// addrsOf are the addresses of a host at a port, or at the usual one.
func addrsOf(host, port string, usual uint16) (out []netip.AddrPort) {
	if n, err := strconv.ParseUint(port, 10, 16); err == nil {
		usual = uint16(n)
	}
	found, err := net.LookupIP(host) //nolint:noctx // once, at the start
	if err != nil {
		return nil
	}
	for _, ip := range found {
		if a, ok := netip.AddrFromSlice(ip); ok {
			out = append(out, netip.AddrPortFrom(a.Unmap(), usual))
		}
	}
	return out
}

// localAddrs are the addresses of this machine.
func localAddrs() []netip.Addr {
	list, err := net.InterfaceAddrs()
	if err != nil {
		return nil
	}
	var out []netip.Addr
	for _, a := range list {
		if n, ok := a.(*net.IPNet); ok {
			if ip, ok := netip.AddrFromSlice(n.IP); ok {
				out = append(out, ip.Unmap())
			}
		}
	}
	return out
}
