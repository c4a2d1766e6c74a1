package server

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/configs"
)

func TestOwnAddressesOfTheTestCarrierAreTheSIPListeners(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string][]netip.Addr{
		"192.0.2.10:5060":    {netip.MustParseAddr("192.0.2.10")},
		"127.0.0.1:5060":     {netip.MustParseAddr("127.0.0.1")},
		"0.0.0.0:5060":       nil,
		"[2001:db8::1]:5060": {netip.MustParseAddr("2001:db8::1")},
	} {
		cfg, err := configs.Load("", []string{"CALLBOARD_DATA=" + t.TempDir(), "CALLBOARD_SIP_ADDR=" + addr, "CALLBOARD_PUBLIC_IP=192.0.2.1"}, nil)
		require.NoError(t, err, addr)
		assert.Equal(t, want, ownAddrs(cfg), addr)
	}
}
