package server

import (
	"context"
	"net/netip"

	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/testcarrier"
)

// The ports on loopback at which the built-in phones take sound.
const (
	testCarrierPortMin = 40000
	testCarrierPortMax = 49999
)

// testCarrierAddrs tells which addresses are the built-in one's.
type testCarrierAddrs struct{ of *testcarrier.Simulator }

// address is where the carrier takes calls; zero: there is none.
func (c *testCarrierAddrs) address() netip.AddrPort {
	if c.of == nil {
		return netip.AddrPort{}
	}
	return c.of.Addr()
}

func (c *testCarrierAddrs) isSIP(to netip.AddrPort) bool {
	if c.of == nil {
		return false
	}
	t := c.of.Target()
	return to.Addr().IsLoopback() && int(to.Port()) == t.Port
}

func (c *testCarrierAddrs) isMedia(to netip.AddrPort) bool {
	return c.of != nil && to.Addr().IsLoopback() && c.of.HasMediaPort(to.Port())
}

// testCall lets a built-in phone call us: at our first listener, or at
// loopback where that takes every address.
func (s *Service) testCall(ctx context.Context, o testcarrier.Order) error {
	o.At = s.sipTarget()
	return s.testCarrier.Call(ctx, o)
}

// talk lets somebody call us on a built-in phone.
func (s *Service) talk(ctx context.Context, o testcarrier.Order, ear func([]byte), told func(testcarrier.Event)) (*testcarrier.Handset, error) {
	o.At = s.sipTarget()
	return s.testCarrier.Talk(ctx, o, ear, told)
}

func (s *Service) sipTarget() resolve.Target {
	at := s.sip.Addr("udp")
	if at.Addr().IsUnspecified() {
		at = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), at.Port())
	}
	return resolve.Target{Host: at.Addr().String(), Port: int(at.Port()), Transport: "udp"}
}
