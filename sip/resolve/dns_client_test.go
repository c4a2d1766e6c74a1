package resolve_test

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/siptest"
)

func TestReadResolvConf(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "resolv.conf")
	assert.Empty(t, resolve.ReadResolvConf(path), "no file")
	require.NoError(t, os.WriteFile(path, []byte(`# nameserver 192.0.2.99
; nameserver 192.0.2.98
search example.com
nameserver 192.0.2.1
nameserver	2001:db8::1 # the second
nameserver
nameserver dns.example.com
options timeout:30 attempts:9
nameserver fe80::1%eth0
nameserver 192.0.2.4
`), 0o600))
	assert.Equal(t, []netip.AddrPort{
		netip.MustParseAddrPort("192.0.2.1:53"), netip.MustParseAddrPort("[2001:db8::1]:53"), netip.MustParseAddrPort("[fe80::1%eth0]:53"),
	}, resolve.ReadResolvConf(path), "three at most")
}

func lookup(t *testing.T, cfg resolve.Config, name string, qtype uint16) ([]string, time.Duration) {
	t.Helper()
	records, ttl, err := resolve.LookupDNS(t.Context(), cfg, name, qtype)
	require.NoError(t, err)
	var data []string
	for _, rr := range records {
		data = append(data, strings.TrimPrefix(rr.String(), rr.Header().String()))
	}
	return data, ttl
}

// TestLookupDNSAtRealNameServers looks up records at two name servers. Each refuses queries for the zone of the other.
func TestLookupDNSAtRealNameServers(t *testing.T) {
	t.Parallel()
	records := []string{
		"a 300 IN A 192.0.2.1", "zero 0 IN A 192.0.2.2", "long 604800 IN A 192.0.2.3", "six IN AAAA 2001:db8::6",
		"loop0 IN CNAME loop1", "loop1 IN CNAME loop0", "self IN CNAME self",
		"away 20 IN CNAME a.example.net.", "back 20 IN CNAME back.example.net.", "gone IN CNAME none.example.net.",
		"ping IN CNAME pong.example.net.", "nowhere IN CNAME none",
	}
	for i := range 10 {
		records = append(records, fmt.Sprintf("c%d 30 IN CNAME c%d", i+1, i))
	}
	records = append(records, "c0 300 IN A 192.0.2.7")
	for i := range 60 {
		records = append(records, fmt.Sprintf("large IN AAAA 2001:db8::%x", i+1))
	}
	for i := range 80 {
		records = append(records, fmt.Sprintf("huge IN AAAA 2001:db8::%x", i+1))
	}
	s := siptest.StartNameServer(t, map[string]string{"example.com": siptest.Zone(records...)})
	other := siptest.StartNameServer(t, map[string]string{"example.net": siptest.Zone("a 10 IN A 192.0.2.5", "back IN CNAME a.example.com.", "pong IN CNAME ping.example.com.")})
	cfg := configOf(t, s.Addr, other.Addr)
	for name, c := range map[string]struct {
		name  string
		qtype uint16
		want  []string
		ttl   time.Duration
	}{
		"an address":                       {"a.example.com", dns.TypeA, []string{"192.0.2.1"}, 5 * time.Minute},
		"a TTL of 0 counts as 1 s":         {"zero.example.com", dns.TypeA, []string{"192.0.2.2"}, time.Second},
		"a TTL is an hour at most":         {"long.example.com", dns.TypeA, []string{"192.0.2.3"}, time.Hour},
		"NXDOMAIN has the TTL of the SOA":  {"none.example.com", dns.TypeA, nil, 7 * time.Second},
		"NODATA has the TTL of the SOA":    {"six.example.com", dns.TypeA, nil, 7 * time.Second},
		"a chain in one response":          {"c1.example.com", dns.TypeA, []string{"192.0.2.7"}, 30 * time.Second},
		"eight CNAMEs":                     {"c8.example.com", dns.TypeA, []string{"192.0.2.7"}, 30 * time.Second},
		"nine CNAMEs are too many":         {"c9.example.com", dns.TypeA, nil, 30 * time.Second},
		"a CNAME to another zone":          {"away.example.com", dns.TypeA, []string{"192.0.2.5"}, 10 * time.Second},
		"CNAME to another zone and back":   {"back.example.com", dns.TypeA, []string{"192.0.2.1"}, 20 * time.Second},
		"a CNAME to no name, another zone": {"gone.example.com", dns.TypeA, nil, 7 * time.Second},
		"a CNAME to no name":               {"nowhere.example.com", dns.TypeA, nil, 7 * time.Second},
		"a loop":                           {"loop0.example.com", dns.TypeA, nil, 30 * time.Second},
		"a loop over two zones":            {"ping.example.com", dns.TypeA, nil, 30 * time.Second},
		"a CNAME to itself":                {"self.example.com", dns.TypeA, nil, 30 * time.Second},
	} {
		got, ttl := lookup(t, cfg, c.name, c.qtype)
		assert.Equal(t, c.want, got, name)
		assert.Equal(t, c.ttl, ttl, name)
	}
	first, err := dns.Exchange(new(dns.Msg).SetQuestion("away.example.com.", dns.TypeA), s.Addr.String())
	require.NoError(t, err)
	assert.Len(t, first.Answer, 1, "the other zone needs a query of its own")
	for name, want := range map[string]int{"large.example.com": 60, "huge.example.com": 64} {
		query := new(dns.Msg).SetQuestion(name+".", dns.TypeAAAA)
		query.SetEdns0(1232, false)
		over, err := dns.Exchange(query, s.Addr.String())
		require.NoError(t, err)
		require.True(t, over.Truncated, "%s is too large for UDP", name)
		got, _ := lookup(t, cfg, name, dns.TypeAAAA)
		assert.Len(t, got, want, name)
	}
	_, _, err = resolve.LookupDNS(t.Context(), cfg, "a.example.org", dns.TypeA)
	assert.ErrorContains(t, err, "REFUSED", "a zone that the server does not have")
}

// TestChangedZoneIsUsedAfterTTL checks that changed records are used once the TTL has passed, and the expired records
// while the name server is stopped.
func TestChangedZoneIsUsedAfterTTL(t *testing.T) {
	t.Parallel()
	before := map[string]string{"example.com": siptest.Zone("short 1 IN A 192.0.2.1", "long 3600 IN A 192.0.2.1")}
	after := map[string]string{"example.com": siptest.Zone("short 1 IN A 192.0.2.2", "long 3600 IN A 192.0.2.2")}
	s := siptest.StartNameServer(t, before)
	r := resolverAt(t, s.Addr)
	short, long := resolve.Target{Host: "short.example.com", Port: 5060}, resolve.Target{Host: "long.example.com", Port: 5060}
	resolvesTo := func(target resolve.Target, want string) {
		t.Helper()
		require.Eventually(t, func() bool { return assert.ObjectsAreEqual([]string{want}, resolveToStrings(t, r, target)) }, time.Minute, 50*time.Millisecond)
	}
	resolvesTo(short, "udp 192.0.2.1:5060")
	resolvesTo(long, "udp 192.0.2.1:5060")
	s.Reload(t, after)
	resolvesTo(short, "udp 192.0.2.2:5060")
	assert.Equal(t, []string{"udp 192.0.2.1:5060"}, resolveToStrings(t, r, long))
	s.Stop(t)
	require.Eventually(t, func() bool { return !r.IsCached(short) }, time.Minute, 50*time.Millisecond, "its TTL passes")
	assert.Equal(t, []string{"udp 192.0.2.2:5060"}, resolveToStrings(t, r, short), "stale")
	assert.Contains(t, resolveToStrings(t, r, resolve.Target{Host: "new.example.com", Port: 5060})[0], "query "+s.Addr.String())
	s.Write(t, before)
	s.Start(t, before)
	resolvesTo(short, "udp 192.0.2.1:5060")
}

// silentServer returns the address of a name server that never answers.
func silentServer(t *testing.T) netip.AddrPort {
	t.Helper()
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return netip.MustParseAddrPort(c.LocalAddr().String())
}

func TestDNSClientTriesNextServer(t *testing.T) {
	t.Parallel()
	good := siptest.StartNameServer(t, map[string]string{"example.com": siptest.Zone("a IN A 192.0.2.1")})
	empty := siptest.StartNameServer(t, map[string]string{"example.net": ""})
	closed := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), uint16(siptest.Port(t)))
	for name, first := range map[string]netip.AddrPort{"silent": silentServer(t), "closed": closed, "refuses": empty.Addr} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			r := resolverAt(t, first, good.Addr)
			assert.Equal(t, []string{"udp 192.0.2.1:5060"}, resolveToStrings(t, r, resolve.Target{Host: "a.example.com", Port: 5060}))
			if name == "silent" { // A and AAAA take a second each
				assert.GreaterOrEqual(t, time.Since(start), 2*time.Second)
			}
		})
	}
}

func TestResolveEndsWithContext(t *testing.T) {
	t.Parallel()
	const enough = 900 * time.Millisecond // shorter than the time limit of a query
	took := enough
	for tries := 0; took >= enough && tries < 20; tries++ { // repeated, because the machine may be busy
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		_, err := resolverAt(t, silentServer(t)).Resolve(ctx, resolve.Target{Host: "b.example.com", Port: 5060})
		took = time.Since(start)
		cancel()
		require.Error(t, err)
	}
	assert.Less(t, took, enough)
}

// listenUDPAndTCP opens the same port of loopback for UDP and TCP.
func listenUDPAndTCP(t *testing.T) (net.PacketConn, net.Listener) {
	t.Helper()
	for range 100 {
		pc, err := net.ListenPacket("udp", "127.0.0.1:0")
		require.NoError(t, err)
		l, err := net.Listen("tcp", pc.LocalAddr().String())
		if err == nil {
			return pc, l
		}
		_ = pc.Close() // another process uses the TCP port
	}
	require.Fail(t, "no port is free for UDP and TCP")
	return nil, nil
}

// newDNSServer runs a name server whose responses the test writes, such as responses that NSD never sends.
func newDNSServer(t *testing.T, respond func(w dns.ResponseWriter, query *dns.Msg)) netip.AddrPort {
	t.Helper()
	pc, l := listenUDPAndTCP(t)
	for _, s := range []*dns.Server{{PacketConn: pc}, {Listener: l}} {
		started := make(chan struct{})
		s.Handler, s.NotifyStartedFunc = dns.HandlerFunc(respond), func() { close(started) }
		go func() { _ = s.ActivateAndServe() }()
		<-started
		t.Cleanup(func() { _ = s.Shutdown() })
	}
	return netip.MustParseAddrPort(pc.LocalAddr().String())
}

func parseRR(t *testing.T, text string) dns.RR {
	t.Helper()
	rr, err := dns.NewRR(text)
	require.NoError(t, err)
	return rr
}

func TestDNSClientRejectsHostileResponses(t *testing.T) {
	t.Parallel()
	rightRecord := parseRR(t, "a.example.com. 60 IN A 192.0.2.1")
	forged := parseRR(t, "a.example.com. 60 IN A 192.0.2.66")
	for name, c := range map[string]struct {
		respond func(w dns.ResponseWriter, m *dns.Msg) // m is the correct response
		want    []string
		problem string
	}{
		"correct response": {func(w dns.ResponseWriter, m *dns.Msg) { _ = w.WriteMsg(m) }, []string{"192.0.2.1"}, ""},
		"other ID before the correct response": {func(w dns.ResponseWriter, m *dns.Msg) {
			other := m.Copy()
			other.Id++
			other.Answer = []dns.RR{forged}
			_ = w.WriteMsg(other)
			_ = w.WriteMsg(m)
		}, []string{"192.0.2.1"}, ""},
		"other ID only": {func(w dns.ResponseWriter, m *dns.Msg) {
			m.Id++
			_ = w.WriteMsg(m)
		}, nil, "i/o timeout"},
		"another name": {func(w dns.ResponseWriter, m *dns.Msg) {
			m.Question[0].Name = "b.example.com."
			_ = w.WriteMsg(m)
		}, nil, "another question"},
		"name in other case": {func(w dns.ResponseWriter, m *dns.Msg) {
			m.Question[0].Name, m.Answer[0].Header().Name = "A.eXample.com.", "a.EXAMPLE.com."
			_ = w.WriteMsg(m)
		}, []string{"192.0.2.1"}, ""},
		"another type": {func(w dns.ResponseWriter, m *dns.Msg) {
			m.Question[0].Qtype = dns.TypeTXT
			_ = w.WriteMsg(m)
		}, nil, "another question"},
		"two questions": {func(w dns.ResponseWriter, m *dns.Msg) {
			m.Question = append(m.Question, m.Question[0])
			_ = w.WriteMsg(m)
		}, nil, "another question"},
		"the query sent back": {func(w dns.ResponseWriter, m *dns.Msg) {
			m.Response = false
			_ = w.WriteMsg(m)
		}, nil, "another question"},
		"records of other names and classes": {func(w dns.ResponseWriter, m *dns.Msg) {
			m.Answer = []dns.RR{parseRR(t, "b.example.com. 60 IN A 192.0.2.66"), parseRR(t, "a.example.com. 60 CH A 192.0.2.67"), m.Answer[0]}
			_ = w.WriteMsg(m)
		}, []string{"192.0.2.1"}, ""},
		"not a DNS message": {func(w dns.ResponseWriter, _ *dns.Msg) { _, _ = w.Write([]byte("not a message of DNS")) }, nil, "query"},
		"a failure": {func(w dns.ResponseWriter, m *dns.Msg) {
			m.Rcode, m.Answer = dns.RcodeServerFailure, nil
			_ = w.WriteMsg(m)
		}, nil, "SERVFAIL"},
		"truncated within a record, whole over TCP": {func(w dns.ResponseWriter, m *dns.Msg) {
			if w.LocalAddr().Network() == "tcp" {
				_ = w.WriteMsg(m)
				return
			}
			m.Truncated = true
			b, _ := m.Pack()
			_, _ = w.Write(b[:len(b)-3])
		}, []string{"192.0.2.1"}, ""},
		"truncated over TCP too": {func(w dns.ResponseWriter, m *dns.Msg) {
			m.Truncated = true
			_ = w.WriteMsg(m)
		}, nil, "truncated"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var queries atomic.Int64
			server := newDNSServer(t, func(w dns.ResponseWriter, query *dns.Msg) {
				queries.Add(1)
				m := new(dns.Msg).SetReply(query)
				m.Answer = []dns.RR{dns.Copy(rightRecord)}
				c.respond(w, m)
			})
			cfg := configOf(t, server)
			if c.problem == "" {
				got, _ := lookup(t, cfg, "a.example.com", dns.TypeA)
				assert.Equal(t, c.want, got)
				return
			}
			_, _, err := resolve.LookupDNS(t.Context(), cfg, "a.example.com", dns.TypeA)
			require.ErrorContains(t, err, c.problem)
			assert.GreaterOrEqual(t, queries.Load(), int64(2), "each server is asked twice")
		})
	}
}

// TestNegativeTTL checks the TTL of responses without records (RFC 2308 §5). It uses its own name server, because NSD
// lowers the TTL of the SOA record itself.
func TestNegativeTTL(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		soa  string
		want time.Duration
	}{
		"the minimum is lower":   {"example.com. 3600 IN SOA ns admin 1 1 1 1 9", 9 * time.Second},
		"the TTL is lower":       {"example.com. 8 IN SOA ns admin 1 1 1 1 3600", 8 * time.Second},
		"five minutes at most":   {"example.com. 3600 IN SOA ns admin 1 1 1 1 3600", 5 * time.Minute},
		"a second at least":      {"example.com. 0 IN SOA ns admin 1 1 1 1 3600", time.Second},
		"a response without SOA": {"", 30 * time.Second},
	} {
		for _, rcode := range []int{dns.RcodeSuccess, dns.RcodeNameError} {
			server := newDNSServer(t, func(w dns.ResponseWriter, query *dns.Msg) {
				m := new(dns.Msg).SetRcode(query, rcode)
				if c.soa != "" {
					m.Ns = []dns.RR{parseRR(t, c.soa)}
				}
				_ = w.WriteMsg(m)
			})
			got, ttl := lookup(t, configOf(t, server), "a.example.com", dns.TypeA)
			assert.Empty(t, got, name)
			assert.Equal(t, c.want, ttl, "%s, %s", name, dns.RcodeToString[rcode])
		}
	}
}

func FuzzDNSResponse(f *testing.F) {
	for qtype, texts := range map[uint16][]string{
		dns.TypeNAPTR: {`a.example. 5 IN NAPTR 1 2 "s" "SIP+D2U" "" _sip._udp.example.`},
		dns.TypeSRV:   {"a.example. 5 IN CNAME b.example.", "b.example. 5 IN SRV 1 2 5060 c.example."},
		dns.TypeA:     {"a.example. 5 IN CNAME b.example.", "b.example. 5 IN CNAME a.example."},
		dns.TypeAAAA:  {"a.example. 5 IN AAAA 2001:db8::1"},
	} {
		m := new(dns.Msg).SetQuestion("a.example.", qtype)
		m.Response = true
		for _, text := range texts {
			rr, err := dns.NewRR(text)
			require.NoError(f, err)
			m.Answer = append(m.Answer, rr)
		}
		b, err := m.Pack()
		require.NoError(f, err)
		f.Add(b, qtype)
	}
	f.Fuzz(func(t *testing.T, b []byte, qtype uint16) {
		records, last, err := resolve.ReadResponse(b, "a.example", qtype)
		if len(records) > 64 || err != nil && len(records) > 0 {
			t.Fatalf("%d records, %v", len(records), err)
		}
		for _, rr := range records {
			if rr.Header().Rrtype != qtype || dns.CanonicalName(rr.Header().Name) != last && rr.Header().Rrtype != dns.TypeCNAME {
				t.Fatalf("a record of %s where %s was asked for", rr.Header(), last)
			}
		}
	})
}
