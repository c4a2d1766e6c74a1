package access

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
)

// ErrEgress says that the target may not be reached from here.
var ErrEgress = errors.New("this address may not be reached")

const httpsPort = 443

// EgressRule is one entry of the operator's list: a network, and a port or 0
// for any.
type EgressRule struct {
	Network netip.Prefix
	Port    uint16
}

// Egress says which addresses may be reached: public ones at port 443 and the
// extra Ports, and whatever the operator allows. Our own listeners and the
// store are always refused. The zero value allows the public ones only.
type Egress struct {
	Allow          []EgressRule
	Ports          []int            // besides 443
	AnyPort        bool             // of public addresses: for SIP, not for HTTP
	OwnListeners   []netip.AddrPort // an unspecified address stands for loopback and Local
	LocalAddresses []netip.Addr     // addresses of this machine
}

// CheckAddress is nil where the address may be reached; otherwise it wraps ErrEgress.
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

// AllowsPort says whether any address at all could be reached at this port: the
// check that needs no name resolution.
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
