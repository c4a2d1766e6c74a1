package testcarrier_test

import (
	"net"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip"
)

// externalAddr returns an address of this machine outside of loopback. A machine without one gets a loopback
// address.
func externalAddr(t *testing.T) netip.Addr {
	t.Helper()
	all, err := net.InterfaceAddrs()
	require.NoError(t, err)
	for _, a := range all {
		if p, err := netip.ParsePrefix(a.String()); err == nil && p.Addr().Is4() && p.Addr().IsGlobalUnicast() {
			return p.Addr()
		}
	}
	return netip.MustParseAddr("127.0.0.1")
}

// A service that listens on one external address of the machine sends from that address, also to loopback.
func TestCarrierAdmitsServiceOnExternalAddress(t *testing.T) {
	t.Parallel()
	k := newCallerAt(t, externalAddr(t)).call("+15005551011")
	k.requireAnswered()
	k.until("speech in both directions", func() bool { return k.spoke })
	k.dialog.Bye(16, "")
	next[sip.Ended](k)
}
