package testcarrier_test

import (
	"net"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip"
)

// externalAddr returns a non-loopback IPv4 address of this machine. If the machine has none, it returns 127.0.0.1.
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

// A service that listens on an external address of the machine sends from that address, even to loopback. The test
// carrier must accept its calls and audio.
func TestCarrierAdmitsServiceOnExternalAddress(t *testing.T) {
	t.Parallel()
	k := newCallerAt(t, externalAddr(t)).call("+15005551011")
	k.requireAnswered()
	k.until("speech in both directions", func() bool { return k.spoke })
	k.dialog.Bye(16, "")
	next[sip.Ended](k)
}
