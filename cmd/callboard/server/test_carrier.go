package server

import (
	"context"
	"net/netip"

	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/testcarrier"
)

// RTP ports of the test carrier on loopback.
const (
	testCarrierPortMin = 40000
	testCarrierPortMax = 49999
)

// testCarrierAddrs reports which addresses belong to the test carrier.
type testCarrierAddrs struct{ carrier *testcarrier.Carrier }

// address returns the SIP address of the test carrier, or the zero value if the test carrier does not run.
func (c *testCarrierAddrs) address() netip.AddrPort {
	if c.carrier == nil {
		return netip.AddrPort{}
	}
	return c.carrier.Addr()
}

// isSIP reports whether an address is the SIP address of the test carrier.
func (c *testCarrierAddrs) isSIP(to netip.AddrPort) bool {
	if c.carrier == nil {
		return false
	}
	t := c.carrier.Target()
	return to.Addr().IsLoopback() && int(to.Port()) == t.Port
}

// isMedia reports whether an address is an RTP address of the test carrier.
func (c *testCarrierAddrs) isMedia(to netip.AddrPort) bool {
	return c.carrier != nil && to.Addr().IsLoopback() && c.carrier.HasMediaPort(to.Port())
}

// testCall makes a phone of the test carrier call the service.
func (t *telephony) testCall(ctx context.Context, o testcarrier.CallRequest) error {
	o.Target = t.sipTarget()
	return t.testCarrier.Call(ctx, o)
}

// connectBrowser lets a person with a browser call the service as a phone of the test carrier. audio receives the audio
// of the call. event receives its progress.
func (t *telephony) connectBrowser(ctx context.Context, o testcarrier.CallRequest, audio func([]byte), event func(testcarrier.Event)) (*testcarrier.Handset, error) {
	o.Target = t.sipTarget()
	return t.testCarrier.CallWithHandset(ctx, o, audio, event)
}

// sipTarget returns the SIP address to which the test carrier sends calls: that of the UDP listener, or loopback if it
// listens on all addresses.
func (t *telephony) sipTarget() resolve.Target {
	at := t.sip.Addr("udp")
	if at.Addr().IsUnspecified() {
		at = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), at.Port())
	}
	return resolve.Target{Host: at.Addr().String(), Port: int(at.Port()), Transport: "udp"}
}
