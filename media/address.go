package media

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
)

// localAddresses returns the IP addresses of this machine.
func localAddresses() ([]netip.Addr, error) {
	list, err := net.InterfaceAddrs()
	if err != nil {
		return nil, fmt.Errorf("media: addresses of this machine: %w", err)
	}
	var out []netip.Addr
	for _, a := range list {
		if p, errParse := netip.ParsePrefix(a.String()); errParse == nil {
			out = append(out, p.Addr().Unmap())
		}
	}
	return out, nil
}

// acceptsBothFamilies says whether sockets bound to an address accept IPv4 and IPv6.
func acceptsBothFamilies(bind netip.Addr) bool { return bind == netip.IPv6Unspecified() }

// publicAddresses returns the IP address for the SDP c= line. If the sockets accept both address families, other is the
// address of the second family. Neither is an unspecified address, because in SDP that address would mean hold.
func publicAddresses(cfg Config, own []netip.Addr) (first, other netip.Addr) {
	four := cfg.BindIP.Is4()
	if cfg.PublicIP.IsValid() && acceptsBothFamilies(cfg.BindIP) {
		four = cfg.PublicIP.Unmap().Is4()
	}
	first = publicAddress(cfg, own, four)
	if acceptsBothFamilies(cfg.BindIP) {
		other = publicAddress(cfg, own, !four)
	}
	return first, other
}

// publicAddress returns the IP address for the SDP c= line in one address family: IPv4 if four is set, else IPv6.
func publicAddress(cfg Config, own []netip.Addr, four bool) netip.Addr {
	if p := cfg.PublicIP.Unmap(); p.IsValid() && p.Is4() == four {
		return p
	}
	if !cfg.BindIP.IsUnspecified() {
		return cfg.BindIP
	}
	for _, a := range own {
		if a.Is4() == four && !a.IsLoopback() && !a.IsLinkLocalUnicast() {
			return a
		}
	}
	if four {
		return netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	return netip.IPv6Loopback()
}

// receivesOn says whether a socket of the engine receives packets that are sent to this local address.
func (e *Engine) receivesOn(at netip.Addr) bool {
	switch {
	case !at.IsValid() || at.IsUnspecified() || !e.supportsFamily(at):
		return false
	case at == e.cfg.BindIP || at == e.public || at == e.other:
		return true
	}
	return e.cfg.BindIP.IsUnspecified() && e.isLocalAddress(at)
}

// supportsFamily says whether the engine's sockets can send to the address family of ip.
func (e *Engine) supportsFamily(ip netip.Addr) bool {
	return acceptsBothFamilies(e.cfg.BindIP) || ip.Is4() == e.cfg.BindIP.Is4()
}

// address returns the local address for the SDP of this session. If the peer's address is known, the result has the
// same address family.
func (s *Session) address() netip.Addr {
	a := s.o.Address
	if !a.IsValid() {
		a = s.engine.public
	}
	far := s.desc.agreed.Remote.Addr()
	if !far.IsValid() || far.Is4() == a.Is4() {
		return a
	}
	for _, better := range []netip.Addr{s.engine.public, s.engine.other} {
		if better.IsValid() && better.Is4() == far.Is4() {
			return better
		}
	}
	return a
}

// mayReach says whether the engine may send packets to an address. Addresses in the session's networks are always
// allowed. Some special addresses are never allowed.
func (e *Engine) mayReach(to netip.AddrPort, networks []netip.Prefix) bool {
	ip := to.Addr()
	if !e.supportsFamily(ip) || ip.IsUnspecified() || ip.IsMulticast() || ip == netip.AddrFrom4([4]byte{255, 255, 255, 255}) {
		return false
	}
	if to.Port() < 1024 || e.ports.has(to.Port()) && e.isLocalAddress(ip) {
		return false
	}
	if isWithin(ip, networks) {
		return true
	}
	return e.cfg.MayReach == nil || e.cfg.MayReach(to)
}

func (e *Engine) isLocalAddress(ip netip.Addr) bool {
	return ip.IsLoopback() || ip == e.public || ip == e.other || slices.Contains(e.own, ip)
}
