package resolve_test

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/siptest"
)

func configOf(t *testing.T, servers ...netip.AddrPort) resolve.Config {
	t.Helper()
	cfg := resolve.Config{Hosts: filepath.Join(t.TempDir(), "hosts"), Servers: servers}
	require.NoError(t, os.WriteFile(cfg.Hosts, []byte("# ours\n192.0.2.200 Kept.example.com kept\n::1 kept.example.com\n"), 0o600))
	return cfg
}

func resolverAt(t *testing.T, servers ...netip.AddrPort) *resolve.Resolver {
	t.Helper()
	return resolve.New(configOf(t, servers...))
}

func resolveToStrings(t *testing.T, r *resolve.Resolver, target resolve.Target) []string {
	t.Helper()
	list, err := r.Resolve(t.Context(), target)
	if err != nil {
		return []string{err.Error()}
	}
	var out []string
	for _, one := range list {
		s := fmt.Sprintf("%s %s", one.Transport, netip.AddrPortFrom(netip.MustParseAddr(one.Host), uint16(one.Port)))
		if one.Name != "" {
			s += " " + one.Name
		}
		out = append(out, s)
	}
	return out
}

// TestResolveFollowsRFC3263 checks the selection of transport, port and address (RFC 3263 §4.1, §4.2).
func TestResolveFollowsRFC3263(t *testing.T) {
	t.Parallel()
	s := siptest.StartNameServer(t, map[string]string{"example.com": siptest.Zone(
		`a       IN A    192.0.2.1`,
		`a       IN AAAA 2001:db8::1`,
		`b       IN A    192.0.2.2`,
		`plain   IN A    192.0.2.9`,
		`six     IN AAAA 2001:db8::6`,
		`full    IN NAPTR 90 50 "s" "SIP+D2T"  "" _sip._tcp.full`,
		`full    IN NAPTR 50 50 "s" "SIPS+D2T" "" _sips._tcp.full`,
		`full    IN NAPTR 90 40 "S" "SIP+D2U"  "" _sip._udp.full`,
		`full    IN NAPTR 10 10 "s" "SIP+D2S"  "" _sip._sctp.full`,
		`full    IN NAPTR 10 20 "u" "E2U+sip"  "!^.*$!sip:info@example.com!" .`,
		`_sips._tcp.full IN SRV 1 0 5071 b`,
		`_sip._tcp.full  IN SRV 1 0 5072 b`,
		`_sip._udp.full  IN SRV 20 0 5074 b`,
		`_sip._udp.full  IN SRV 10 0 5073 a`,
		`_sip._tcp.srv   IN SRV 1 0 5080 b`,
		`_sip._udp.closed IN SRV 0 0 5060 .`,
		`closed  IN A    192.0.2.66`,
		`_sip._udp.broken IN SRV 1 0 5060 nowhere`,
		`_sip._udp.broken IN SRV 2 0 5060 b`,
		`alias   IN CNAME Plain`,
		`domain  IN CNAME full`,
	)})
	r := resolverAt(t, s.Addr)
	for name, c := range map[string]struct {
		target resolve.Target
		want   []string
	}{
		"NAPTR, then SRV by priority": {resolve.Target{Host: "Full.Example.com."}, []string{
			"tls 192.0.2.2:5071 full.example.com", "udp 192.0.2.1:5073", "udp [2001:db8::1]:5073", "udp 192.0.2.2:5074", "tcp 192.0.2.2:5072",
		}},
		"a transport asked for: SRV":   {resolve.Target{Host: "full.example.com", Transport: "tcp"}, []string{"tcp 192.0.2.2:5072"}},
		"TLS by SRV keeps the name":    {resolve.Target{Host: "full.example.com", Transport: "tls"}, []string{"tls 192.0.2.2:5071 full.example.com"}},
		"no NAPTR: the first SRV":      {resolve.Target{Host: "srv.example.com"}, []string{"tcp 192.0.2.2:5080"}},
		"a port given: addresses only": {resolve.Target{Host: "full.example.com", Port: 5099, Transport: "udp"}, nil},
		"neither: UDP at 5060":         {resolve.Target{Host: "plain.example.com"}, []string{"udp 192.0.2.9:5060"}},
		"TLS without SRV: 5061":        {resolve.Target{Host: "plain.example.com", Transport: "tls"}, []string{"tls 192.0.2.9:5061 plain.example.com"}},
		"TLS with a name of its own":   {resolve.Target{Host: "plain.example.com", Transport: "tls", Name: "x.org"}, []string{"tls 192.0.2.9:5061 x.org"}},
		"a port, and IPv4 before IPv6": {resolve.Target{Host: "a.example.com", Port: 7000}, []string{"udp 192.0.2.1:7000", "udp [2001:db8::1]:7000"}},
		"an address":                   {resolve.Target{Host: "[2001:db8::7]", Transport: "tcp"}, []string{"tcp [2001:db8::7]:5060"}},
		"a CNAME":                      {resolve.Target{Host: "alias.example.com", Port: 5060}, []string{"udp 192.0.2.9:5060"}},
		"a CNAME to a domain with NAPTR": {resolve.Target{Host: "domain.example.com"}, []string{
			"tls 192.0.2.2:5071 domain.example.com", "udp 192.0.2.1:5073", "udp [2001:db8::1]:5073", "udp 192.0.2.2:5074", "tcp 192.0.2.2:5072",
		}},
		"IPv6 alone":                    {resolve.Target{Host: "six.example.com", Port: 5060}, []string{"udp [2001:db8::6]:5060"}},
		"name of the hosts file":        {resolve.Target{Host: "kept.example.com", Port: 5060}, []string{"udp 192.0.2.200:5060", "udp [::1]:5060"}},
		"a server without address":      {resolve.Target{Host: "broken.example.com", Transport: "udp"}, []string{"udp 192.0.2.2:5060"}},
		"a service that is not offered": {resolve.Target{Host: "closed.example.com", Transport: "udp"}, []string{"sip: resolve closed.example.com: no address"}},
		"unknown name":                  {resolve.Target{Host: "none.example.com"}, nil},
	} {
		got := resolveToStrings(t, r, c.target)
		if c.want == nil {
			require.Len(t, got, 1, name)
			assert.Contains(t, got[0], "no address", name)
			continue
		}
		assert.Equal(t, c.want, got, name)
	}
}

func TestResolveSpreadsLoadBySRVWeight(t *testing.T) {
	t.Parallel()
	s := siptest.StartNameServer(t, map[string]string{"example.com": siptest.Zone(
		"_sip._udp IN SRV 1 0 5060 h0", "_sip._udp IN SRV 1 30 5060 h1", "_sip._udp IN SRV 1 70 5060 h2",
		"h0 IN A 192.0.2.0", "h1 IN A 192.0.2.1", "h2 IN A 192.0.2.2",
	)})
	r := resolverAt(t, s.Addr)
	first := make(map[string]int)
	for range 2000 {
		list, err := r.Resolve(t.Context(), resolve.Target{Host: "example.com", Transport: "udp"})
		require.NoError(t, err)
		require.Len(t, list, 3)
		first[list[0].Host]++
	}
	// The tolerance is six standard deviations, so that a correct random draw practically never fails the test.
	assert.InDelta(t, 2000.0*1/103, first["192.0.2.0"], 6*4.5)
	assert.InDelta(t, 2000.0*31/103, first["192.0.2.1"], 6*20.6)
	assert.InDelta(t, 2000.0*71/103, first["192.0.2.2"], 6*20.8)
}

func TestResolvePutsFailedAddressesLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hosts := filepath.Join(t.TempDir(), "hosts")
		require.NoError(t, os.WriteFile(hosts, []byte("192.0.2.1 pair.test\n192.0.2.2 pair.test\n"), 0o600))
		r := resolve.New(resolve.Config{Hosts: hosts, Servers: []netip.AddrPort{}})
		pair := resolve.Target{Host: "pair.test", Port: 5060}
		one, two := "udp 192.0.2.1:5060", "udp 192.0.2.2:5060"
		bad := resolve.Target{Host: "192.0.2.1", Port: 5060, Transport: "udp"}
		assert.Equal(t, []string{one, two}, resolveToStrings(t, r, pair))
		r.MarkFailed(bad)
		assert.Equal(t, []string{two, one}, resolveToStrings(t, r, pair))
		time.Sleep(31 * time.Second)
		assert.Equal(t, []string{one, two}, resolveToStrings(t, r, pair))
		r.MarkFailed(bad) // the second failure doubles the time
		time.Sleep(31 * time.Second)
		assert.Equal(t, []string{two, one}, resolveToStrings(t, r, pair))
		r.MarkReachable(bad)
		assert.Equal(t, []string{one, two}, resolveToStrings(t, r, pair))
	})
}
