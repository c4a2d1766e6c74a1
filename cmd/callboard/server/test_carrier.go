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
type testCarrierAddrs struct{ carrier *testcarrier.Carrier }

// address is where the carrier takes calls; zero: there is none.
func (c *testCarrierAddrs) address() netip.AddrPort {
	if c.carrier == nil {
		return netip.AddrPort{}
	}
	return c.carrier.Addr()
}

func (c *testCarrierAddrs) isSIP(to netip.AddrPort) bool {
	if c.carrier == nil {
		return false
	}
	t := c.carrier.Target()
	return to.Addr().IsLoopback() && int(to.Port()) == t.Port
}

func (c *testCarrierAddrs) isMedia(to netip.AddrPort) bool {
	return c.carrier != nil && to.Addr().IsLoopback() && c.carrier.HasMediaPort(to.Port())
}

// testCall lets a built-in phone call the service.
func (t *telephony) testCall(ctx context.Context, o testcarrier.CallRequest) error {
	o.Target = t.sipTarget()
	return t.testCarrier.Call(ctx, o)
}

// connectBrowser lets a person call the service on a built-in phone. audio receives what the phone
// plays, event what happens to it.
func (t *telephony) connectBrowser(ctx context.Context, o testcarrier.CallRequest, audio func([]byte), event func(testcarrier.Event)) (*testcarrier.Handset, error) {
	o.Target = t.sipTarget()
	return t.testCarrier.CallWithHandset(ctx, o, audio, event)
}

// sipTarget is the first SIP listener, or loopback where that takes every address.
func (t *telephony) sipTarget() resolve.Target {
	at := t.sip.Addr("udp")
	if at.Addr().IsUnspecified() {
		at = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), at.Port())
	}
	return resolve.Target{Host: at.Addr().String(), Port: int(at.Port()), Transport: "udp"}
}
