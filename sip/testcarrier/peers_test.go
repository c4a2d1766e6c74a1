package testcarrier_test

import (
	"net"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip"
)

// externalAddr is an address of this machine that is not loopback's; of a machine
// without one it is loopback's.
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

// A service that listens at one address of the machine sends from there, to
// loopback too.
func TestCarrierAdmitsServiceOnExternalAddress(t *testing.T) {
	t.Parallel()
	k := newCallerAt(t, externalAddr(t)).call("+15005551011")
	k.requireAnswered()
	k.until("speech in both directions", func() bool { return k.spoke })
	k.dialog.Bye(16, "")
	next[sip.Ended](k)
}
