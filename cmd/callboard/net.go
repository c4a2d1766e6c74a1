package main

import (
	"net"
	"net/netip"
	"net/url"
	"strconv"
)

// redisAddrs are the addresses of the store, which no tenant may name.
func redisAddrs(text string) []netip.AddrPort {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" {
		return nil
	}
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	if err != nil {
		port = 6379
	}
	found, err := net.LookupIP(u.Hostname()) //nolint:noctx // once, at the start
	if err != nil {
		return nil
	}
	var out []netip.AddrPort
	for _, ip := range found {
		if a, ok := netip.AddrFromSlice(ip); ok {
			out = append(out, netip.AddrPortFrom(a.Unmap(), uint16(port)))
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
