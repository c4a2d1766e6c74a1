package access_test

import (
	"net/netip"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain/access"
)

// hostile lists addresses that the service must not connect to for a tenant.
const hostile = `
0.0.0.0 0.0.0.1 0.1.2.3 0.255.255.255
10.0.0.0 10.0.0.1 10.1.2.3 10.255.255.255
100.64.0.0 100.64.0.1 100.100.100.200 100.127.255.255
127.0.0.1 127.0.0.2 127.0.1.1 127.1.1.1 127.255.255.254 127.255.255.255
168.63.129.16
169.254.0.1 169.254.169.253 169.254.169.254 169.254.170.2 169.254.170.23 169.254.255.255
172.16.0.1 172.17.0.1 172.20.10.1 172.31.255.255
192.0.0.0 192.0.0.8 192.0.0.170 192.0.0.192 192.0.2.1 192.0.2.255
192.31.196.1 192.52.193.1 192.88.99.1 192.168.0.1 192.168.1.1 192.168.99.100 192.168.255.255 192.175.48.1
198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1 203.0.113.255
224.0.0.1 224.0.0.251 232.1.1.1 239.255.255.250 239.255.255.255
240.0.0.1 250.1.2.3 255.255.255.254 255.255.255.255
:: ::1 ::2 ::127.0.0.1 ::10.0.0.1 ::169.254.169.254 ::8.8.8.8 ::ffff
::ffff:0.0.0.0 ::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 ::ffff:a9fe:a9fe ::ffff:192.168.0.1 ::ffff:100.64.0.1 ::ffff:224.0.0.1
::ffff:0:127.0.0.1 ::ffff:0:10.0.0.1
64:ff9b::127.0.0.1 64:ff9b::7f00:1 64:ff9b::10.0.0.1 64:ff9b::169.254.169.254 64:ff9b::8.8.8.8 64:ff9b:1::1 64:ff9b:1::127.0.0.1 64:ff9b:1:ffff::10.0.0.1
100::1 100::ffff:ffff:ffff:ffff 100:0:0:1::1
2001::1 2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:0:7f00:1::1 2001:2::1 2001:3::1 2001:4:112::1 2001:10::1 2001:1f::1 2001:20::1 2001:2f::1 2001:1ff:ffff::1
2001:db8::1 2001:db8:ffff::1 2002:7f00:1::1 2002:7f00:0001:: 2002:a00:1::1 2002:a9fe:a9fe::1 2002:c0a8:1::1 2002:808:808::1
2620:4f:8000::1 3ffe::1 3fff::1 3fff:fff::1 5f00::1
4000::1 6000::1 8000::1 c000::1 e000::1 1::1 1fff::1
fc00::1 fd00::1 fd00:ec2::254 fd12:3456:789a::1 fdff::1
fe80::1 fe80::a9fe:a9fe febf::1 fec0::1 feff::1 fe80::1%eth0 fe80::1%lo ::1%lo
ff00::1 ff01::1 ff02::1 ff02::fb ff05::2 ff0e::1
2a00:1450:4001:1:0:5efe:7f00:1 2a00:1450:4001:1:200:5efe:a00:1
`

// public lists addresses that the service may connect to.
const public = `
1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 93.184.216.34 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.1
168.63.129.15 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 192.0.1.1 192.0.3.1 192.167.255.255 192.169.0.0
198.17.255.255 198.20.0.0 198.51.99.255 203.0.112.1 203.0.114.1 223.255.255.255 ::ffff:8.8.8.8
2001:200::1 2001:4860:4860::8888 2003::1 2606:4700:4700::1111 2620:fe::fe 2a00:1450:4001:800::200e 3ffd::1
`

func TestNoHostileAddressIsPublic(t *testing.T) {
	t.Parallel()
	list := strings.Fields(hostile)
	require.GreaterOrEqual(t, len(list), 100)
	for _, text := range list {
		addr := netip.MustParseAddr(text)
		assert.False(t, access.PublicAddress(addr), text)
		require.ErrorIs(t, access.Egress{}.CheckAddress(netip.AddrPortFrom(addr, 443)), access.ErrEgress, text)
	}
	assert.False(t, access.PublicAddress(netip.Addr{}))
}

func TestPublicAddressesArePublic(t *testing.T) {
	t.Parallel()
	for text := range strings.FieldsSeq(public) {
		addr := netip.MustParseAddr(text)
		assert.True(t, access.PublicAddress(addr), text)
		require.NoError(t, access.Egress{}.CheckAddress(netip.AddrPortFrom(addr, 443)), text)
	}
}

// egressRules parses rules of the form "network" or "network port".
func egressRules(list ...string) (out []access.EgressRule) {
	for _, text := range list {
		network, port, _ := strings.Cut(text, " ")
		n, _ := strconv.ParseUint(port, 10, 16)
		out = append(out, access.EgressRule{Network: netip.MustParsePrefix(network), Port: uint16(n)})
	}
	return out
}

func TestEgressChecksPortsAllowListAndOwnListeners(t *testing.T) {
	t.Parallel()
	loop := netip.MustParseAddrPort("127.0.0.1:6379")
	anywhere := netip.MustParseAddrPort("0.0.0.0:8080")
	machine := netip.MustParseAddr("10.0.0.9")
	for name, c := range map[string]struct {
		egress access.Egress
		to     string
		want   bool
	}{
		"a public host at 443":                 {access.Egress{}, "8.8.8.8:443", true},
		"a public host at 80":                  {access.Egress{}, "8.8.8.8:80", false},
		"a public host at an extra port":       {access.Egress{Ports: []int{8443}}, "8.8.8.8:8443", true},
		"443 stays open beside extra ports":    {access.Egress{Ports: []int{8443}}, "8.8.8.8:443", true},
		"a public host at any port":            {access.Egress{AnyPort: true}, "8.8.8.8:5060", true},
		"any port is no way inside":            {access.Egress{AnyPort: true}, "10.0.0.1:5060", false},
		"an extra port is no way inside":       {access.Egress{Ports: []int{8443}}, "10.0.0.1:8443", false},
		"a listed network at any port":         {access.Egress{Allow: egressRules("127.0.0.0/8")}, "127.0.0.1:9999", true},
		"a listed network, mapped":             {access.Egress{Allow: egressRules("127.0.0.0/8")}, "[::ffff:127.0.0.1]:9999", true},
		"a listed address at its port":         {access.Egress{Allow: egressRules("10.0.0.5/32 8443")}, "10.0.0.5:8443", true},
		"a listed address at another port":     {access.Egress{Allow: egressRules("10.0.0.5/32 8443")}, "10.0.0.5:443", false},
		"beside a listed address":              {access.Egress{Allow: egressRules("10.0.0.5/32 8443")}, "10.0.0.6:8443", false},
		"a listed IPv6 network":                {access.Egress{Allow: egressRules("fd00::/8 443")}, "[fd00::1]:443", true},
		"IPv4 rules do not open IPv6":          {access.Egress{Allow: egressRules("0.0.0.0/0")}, "[::1]:443", false},
		"a listed network never opens us":      {access.Egress{Allow: egressRules("0.0.0.0/0"), OwnListeners: []netip.AddrPort{loop}}, "127.0.0.1:6379", false},
		"nor us in another spelling":           {access.Egress{Allow: egressRules("0.0.0.0/0", "::/0"), OwnListeners: []netip.AddrPort{loop}}, "[::ffff:127.0.0.1]:6379", false},
		"another port beside us":               {access.Egress{Allow: egressRules("0.0.0.0/0"), OwnListeners: []netip.AddrPort{loop}}, "127.0.0.1:6380", true},
		"we listen everywhere: loopback":       {access.Egress{Allow: egressRules("0.0.0.0/0", "::/0"), OwnListeners: []netip.AddrPort{anywhere}}, "127.8.8.8:8080", false},
		"we listen everywhere: loopback six":   {access.Egress{Allow: egressRules("0.0.0.0/0", "::/0"), OwnListeners: []netip.AddrPort{anywhere}}, "[::1]:8080", false},
		"we listen everywhere: this machine":   {access.Egress{Allow: egressRules("0.0.0.0/0"), OwnListeners: []netip.AddrPort{anywhere}, LocalAddresses: []netip.Addr{machine}}, "10.0.0.9:8080", false},
		"we listen everywhere: another host":   {access.Egress{Allow: egressRules("0.0.0.0/0"), OwnListeners: []netip.AddrPort{anywhere}, LocalAddresses: []netip.Addr{machine}}, "10.0.0.8:8080", true},
		"our public address":                   {access.Egress{OwnListeners: []netip.AddrPort{netip.MustParseAddrPort("8.8.8.8:443")}}, "8.8.8.8:443", false},
		"the unspecified address, even listed": {access.Egress{Allow: egressRules("0.0.0.0/0", "::/0")}, "0.0.0.0:443", false},
		"the unspecified six, even listed":     {access.Egress{Allow: egressRules("0.0.0.0/0", "::/0")}, "[::]:443", false},
		"multicast, even listed":               {access.Egress{Allow: egressRules("0.0.0.0/0", "::/0")}, "239.1.1.1:443", false},
		"broadcast, even listed":               {access.Egress{Allow: egressRules("0.0.0.0/0", "::/0")}, "255.255.255.255:443", false},
		"port 0":                               {access.Egress{Allow: egressRules("127.0.0.0/8"), AnyPort: true}, "127.0.0.1:0", false},
	} {
		err := c.egress.CheckAddress(netip.MustParseAddrPort(c.to))
		assert.Equal(t, c.want, err == nil, "%s: %v", name, err)
		if err != nil {
			require.ErrorIs(t, err, access.ErrEgress, name)
		}
	}
	require.ErrorIs(t, access.Egress{}.CheckAddress(netip.AddrPort{}), access.ErrEgress)
}

func TestReachablePorts(t *testing.T) {
	t.Parallel()
	assert.True(t, access.Egress{}.AllowsPort(443))
	assert.False(t, access.Egress{}.AllowsPort(22))
	assert.True(t, access.Egress{Ports: []int{8443}}.AllowsPort(8443))
	assert.True(t, access.Egress{Allow: egressRules("10.0.0.0/8")}.AllowsPort(22))
	assert.True(t, access.Egress{Allow: egressRules("10.0.0.0/8 22")}.AllowsPort(22))
	assert.False(t, access.Egress{Allow: egressRules("10.0.0.0/8 22")}.AllowsPort(23))
	assert.False(t, access.Egress{Allow: egressRules("10.0.0.0/8")}.AllowsPort(0))
}
