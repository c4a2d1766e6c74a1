package egress

import (
	"net"
	"net/netip"
	"net/url"
	"strconv"

	"github.com/callboard/callboard/configs"
	"github.com/callboard/callboard/domain/access"
)

// blobAddrs returns the private addresses of the operator's blob store, which tenants may not use. Public addresses
// are shared with other services, so they are not included.
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

// urlAddrs returns the IP addresses of the host in a URL, with the port of the URL or else defaultPort. It returns
// nil if the lookup fails.
func urlAddrs(rawURL string, defaultPort uint16) []netip.AddrPort {
	u, err := url.Parse(rawURL)
	if err != nil || u.Hostname() == "" {
		return nil
	}
	return addrsOf(u.Hostname(), u.Port(), defaultPort)
}

// addrsOf returns the addresses of a host with the port, or with defaultPort if port is empty.
func addrsOf(host, port string, defaultPort uint16) (out []netip.AddrPort) {
	if n, err := strconv.ParseUint(port, 10, 16); err == nil {
		defaultPort = uint16(n)
	}
	found, err := net.LookupIP(host) //nolint:noctx // once, at the start
	if err != nil {
		return nil
	}
	for _, ip := range found {
		if a, ok := netip.AddrFromSlice(ip); ok {
			out = append(out, netip.AddrPortFrom(a.Unmap(), defaultPort))
		}
	}
	return out
}

// localAddrs returns the addresses of this machine.
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
