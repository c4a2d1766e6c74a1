package webhook_test

import (
	"fmt"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/webhook"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/allow"
)

// hostile are spellings of what nobody may make us connect to.
func hostile() []string {
	return []string{
		// ourselves
		"127.0.0.1", "127.0.0.2", "127.0.1.1", "127.255.255.254", "0.0.0.0", "0.0.0.1", "0.255.255.255", "[::]", "[::1]", "[0:0:0:0:0:0:0:1]",
		"[0000:0000:0000:0000:0000:0000:0000:0001]", "localhost", "localhost.", "LOCALHOST", "LocalHost", "ip6-localhost.", "[::1%25lo]",
		// spellings of 127.0.0.1 that resolvers take
		"127.1", "127.0.1", "127.0.0.1.", "0", "0x0", "2130706433", "0x7f000001", "0x7F000001", "017700000001", "0177.0.0.1", "0177.0.0.01", "0x7f.0.0.1",
		"0x7f.1", "0x7f.0x0.0x0.0x1", "127.0.0.0x1", "127.0.0.01", "00127.0.0.1", "127.000.000.001", "127.0.0.1%00", "127.0.0.256", "6425673729",
		"１２７.０.０.１", "①②⑦.⓪.⓪.①", "127。0。0。1", "127%2e0%2e0%2e1", "%6c%6f%63%61%6c%68%6f%73%74", "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ",
		// credentials, fragments and other things before or behind the host
		"example.com@127.0.0.1", "127.0.0.1@example.com", "example.com%40127.0.0.1", "127.0.0.1#@example.com", "example.com\\@127.0.0.1", "127.0.0.1\\.example.com",
		" 127.0.0.1", "127.0.0.1\t", "127.0.0.1\r\nHost: example.com", "[127.0.0.1]", "[::1].example.com", "127.0.0.1:443@example.com", "example.com:443@127.0.0.1",
		// private networks, and those of carriers
		"10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.254", "192.168.0.1", "192.168.255.255", "100.64.0.1", "100.127.255.254", "[fc00::1]", "[fd12:3456:789a::1]", "[fec0::1]",
		// what only this link knows; where clouds keep their secrets
		"169.254.0.1", "169.254.169.254", "169.254.170.2", "169.254.169.253", "[fe80::1]", "[fe80::1%25eth0]", "[fd00:ec2::254]", "100.100.100.200", "192.0.0.192", "168.63.129.16",
		"2852039166", "0xA9FEA9FE", "0xa9.0xfe.0xa9.0xfe", "0251.0376.0251.0376", "[::ffff:169.254.169.254]", "[::ffff:a9fe:a9fe]", "[64:ff9b::a9fe:a9fe]", "[2002:a9fe:a9fe::1]",
		// IPv4 within IPv6
		"[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:ffff:127.0.0.1]", "[::127.0.0.1]", "[::7f00:1]", "[::ffff:0:127.0.0.1]", "[64:ff9b::127.0.0.1]", "[64:ff9b::7f00:1]",
		"[64:ff9b:1::7f00:1]", "[2002:7f00:1::]", "[2002:7f00:1::1]", "[2002:a00:1::1]", "[2001:0:7f00:1::1]", "[2001:0:4136:e378:8000:63bf:80ff:fffe]", "[::ffff:10.0.0.1]", "[::ffff:192.168.0.1]",
		"[::ffff:0.0.0.0]", "[64:ff9b::10.0.0.1]",
		// for documents, measurements and other protocols
		"192.0.2.1", "198.51.100.1", "203.0.113.1", "198.18.0.1", "198.19.255.254", "192.0.0.1", "192.88.99.1", "[2001:db8::1]", "[2001:10::1]", "[2001:20::1]", "[3fff::1]", "[100::1]", "[5f00::1]", "[2001:2::1]",
		// to many, to nobody
		"224.0.0.1", "239.255.255.250", "255.255.255.255", "240.0.0.1", "[ff02::1]", "[ff05::2]", "[ff0e::1]",
		// no host at all
		"", ".", "..", "-", "a..b", "-a.example", "a-.example", "[", "[]", "[:::]", "[1::2::3]", "[::1", "::1", "%31%32%37.0.0.1",
	}
}

// undialled are the errors of what ended before a connection was tried.
func undialled() []string {
	return []string{"this address may not be reached from here", "the host name does not resolve", "the URL is not valid"}
}

func TestNoHostileTargetIsDialled(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, false)
	own := r.Listener.Addr().(*net.TCPAddr)
	dns := &names{answers: map[string]string{}}
	c := webhook.NewClient(webhook.ClientConfig{Egress: allow.Egress{Ports: []int{own.Port}}, Resolver: dns.resolver(), Timeout: time.Minute})
	defer c.Close()
	require.GreaterOrEqual(t, len(hostile()), 130)
	for _, host := range hostile() {
		url := fmt.Sprintf("https://%s:%d/ok", host, own.Port)
		assert.Equal(t, domain.CodeInvalidURL, domain.CodeOf(c.Check(t.Context(), url)), "create and PATCH: %q", host)
		got := post(t, c, url)
		assert.Zero(t, got.Status, host)
		assert.Contains(t, undialled(), got.Error, "%q", host)
	}
	for _, scheme := range []string{"http", "ftp", "file", "gopher", "unix", "ws", "HTTPS ", ""} {
		url := scheme + "://" + own.String() + "/ok"
		assert.Equal(t, domain.CodeInvalidURL, domain.CodeOf(c.Check(t.Context(), url)), url)
		assert.Equal(t, "the URL is not valid", post(t, c, url).Error, url)
	}
	ours := loopback(t)
	ours.Own = []netip.AddrPort{netip.MustParseAddrPort(own.String())}
	assert.Equal(t, "this address may not be reached from here", post(t, r.client(t, ours), r.URL+"/ok").Error)
	r.mu.Lock()
	defer r.mu.Unlock()
	assert.Empty(t, r.got)
}
