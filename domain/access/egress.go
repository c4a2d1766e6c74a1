package access

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
)

// ErrEgress is the error for an address to which the service must not connect on behalf of a tenant.
var ErrEgress = errors.New("this address may not be reached")

const httpsPort = 443

// EgressRule allows connections to a network, at one port or at all ports (0).
type EgressRule struct {
	Network netip.Prefix
	Port    uint16
}

// Egress decides to which addresses the service may connect on behalf of a tenant. It allows public addresses at port
// 443 and at Ports, and all addresses in Allow. It never allows OwnListeners. The zero value allows public addresses
// at port 443.
type Egress struct {
	Allow          []EgressRule
	Ports          []int            // allowed besides 443
	AnyPort        bool             // all ports of public addresses; for SIP
	OwnListeners   []netip.AddrPort // listeners of the service; an unspecified address means loopback and LocalAddresses
	LocalAddresses []netip.Addr     // addresses of this machine
}

// CheckAddress returns nil if the service may connect to the address, or an error that wraps ErrEgress.
func (e Egress) CheckAddress(to netip.AddrPort) error {
	addr := to.Addr().Unmap()
	switch {
	case !addr.IsValid() || addr.Zone() != "" || to.Port() == 0:
		return fmt.Errorf("%w: not an address and a port", ErrEgress)
	case addr.IsUnspecified() || addr.IsMulticast() || addr == broadcast:
		return fmt.Errorf("%w: not the address of one host", ErrEgress)
	case e.isOwnListener(addr, to.Port()):
		return fmt.Errorf("%w: the service itself", ErrEgress)
	}
	for _, r := range e.Allow {
		if (r.Port == 0 || r.Port == to.Port()) && r.Network.Contains(addr) {
			return nil
		}
	}
	if !PublicAddress(addr) {
		return fmt.Errorf("%w: not a public address", ErrEgress)
	}
	if !e.AnyPort && !e.isPublicPort(to.Port()) {
		return fmt.Errorf("%w: port %d is not open", ErrEgress, to.Port())
	}
	return nil
}

// AllowsPort reports whether a rule allows connections to a port at any address. It can be called before the address of
// a host name is known.
func (e Egress) AllowsPort(port uint16) bool {
	return port != 0 && (e.AnyPort || e.isPublicPort(port) ||
		slices.ContainsFunc(e.Allow, func(r EgressRule) bool { return r.Port == 0 || r.Port == port }))
}

func (e Egress) isPublicPort(port uint16) bool {
	return port == httpsPort || slices.Contains(e.Ports, int(port))
}

func (e Egress) isOwnListener(addr netip.Addr, port uint16) bool {
	for _, o := range e.OwnListeners {
		if o.Port() != port {
			continue
		}
		own := o.Addr().Unmap()
		if own == addr || own.IsUnspecified() && (addr.IsLoopback() || slices.Contains(e.LocalAddresses, addr)) {
			return true
		}
	}
	return false
}
