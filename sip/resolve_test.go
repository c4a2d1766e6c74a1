package sip_test

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/dns/dnsmessage"

	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/siptest"
)

func resolverAt(t *testing.T, servers ...*nameServer) *sip.Resolver {
	t.Helper()
	cfg := sip.ResolverConfig{Hosts: filepath.Join(t.TempDir(), "hosts")}
	require.NoError(t, os.WriteFile(cfg.Hosts, []byte("# ours\n192.0.2.200 Kept.example.com kept\n::1 kept.example.com\n"), 0o600))
	for _, s := range servers {
		cfg.Servers = append(cfg.Servers, s.addr)
	}
	return sip.NewResolver(cfg)
}

func found(t *testing.T, r *sip.Resolver, target sip.Target) []string {
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

// TestTargetsAreFoundAsRFC3263Says walks its sections 4.1 and 4.2.
func TestTargetsAreFoundAsRFC3263Says(t *testing.T) {
	t.Parallel()
	s := newNameServer(t)
	s.host("a.example.com", "192.0.2.1", "2001:db8::1")
	s.host("b.example.com", "192.0.2.2")
	s.host("plain.example.com", "192.0.2.9")
	s.naptr(90, 50, "SIP+D2T", "_sip._tcp.full.example.com")
	s.naptr(50, 50, "SIPS+D2T", "_sips._tcp.full.example.com")
	s.naptr(90, 40, "SIP+D2U", "_sip._udp.full.example.com")
	s.naptr(10, 10, "SIP+D2S", "_sip._sctp.full.example.com")
	s.srv("_sips._tcp.full.example.com", 1, 0, 5071, "b.example.com")
	s.srv("_sip._tcp.full.example.com", 1, 0, 5072, "b.example.com")
	s.srv("_sip._udp.full.example.com", 20, 0, 5074, "b.example.com")
	s.srv("_sip._udp.full.example.com", 10, 0, 5073, "a.example.com")
	s.srv("_sip._tcp.srv.example.com", 1, 0, 5080, "b.example.com")
	s.srv("_sip._udp.closed.example.com", 1, 0, 5060, "")
	s.host("closed.example.com", "192.0.2.66")
	s.srv("_sip._udp.broken.example.com", 1, 0, 5060, "nowhere.example.com")
	s.srv("_sip._udp.broken.example.com", 2, 0, 5060, "b.example.com")
	s.add("alias.example.com", dnsmessage.TypeCNAME, &dnsmessage.CNAMEResource{CNAME: dnsmessage.MustNewName("plain.example.com.")})
	r := resolverAt(t, s)
	for name, c := range map[string]struct {
		target sip.Target
		want   []string
	}{
		"NAPTR, then SRV by priority": {sip.Target{Host: "Full.Example.com."}, []string{
			"tls 192.0.2.2:5071 full.example.com", "udp 192.0.2.1:5073", "udp [2001:db8::1]:5073", "udp 192.0.2.2:5074", "tcp 192.0.2.2:5072",
		}},
		"a transport asked for: SRV":      {sip.Target{Host: "full.example.com", Transport: "tcp"}, []string{"tcp 192.0.2.2:5072"}},
		"TLS by SRV keeps the name":       {sip.Target{Host: "full.example.com", Transport: "tls"}, []string{"tls 192.0.2.2:5071 full.example.com"}},
		"no NAPTR: the first SRV":         {sip.Target{Host: "srv.example.com"}, []string{"tcp 192.0.2.2:5080"}},
		"a port given: addresses only":    {sip.Target{Host: "full.example.com", Port: 5099, Transport: "udp"}, nil},
		"neither: UDP at 5060":            {sip.Target{Host: "plain.example.com"}, []string{"udp 192.0.2.9:5060"}},
		"TLS without SRV: 5061":           {sip.Target{Host: "plain.example.com", Transport: "tls"}, []string{"tls 192.0.2.9:5061 plain.example.com"}},
		"TLS with a name of its own":      {sip.Target{Host: "plain.example.com", Transport: "tls", Name: "x.org"}, []string{"tls 192.0.2.9:5061 x.org"}},
		"a port, and IPv4 before IPv6":    {sip.Target{Host: "a.example.com", Port: 7000}, []string{"udp 192.0.2.1:7000", "udp [2001:db8::1]:7000"}},
		"an address":                      {sip.Target{Host: "[2001:db8::7]", Transport: "tcp"}, []string{"tcp [2001:db8::7]:5060"}},
		"an alias":                        {sip.Target{Host: "alias.example.com", Port: 5060}, []string{"udp 192.0.2.9:5060"}},
		"a name of this machine":          {sip.Target{Host: "kept.example.com", Port: 5060}, []string{"udp 192.0.2.200:5060", "udp [::1]:5060"}},
		"a server without address":        {sip.Target{Host: "broken.example.com", Transport: "udp"}, []string{"udp 192.0.2.2:5060"}},
		"a service that is not offered":   {sip.Target{Host: "closed.example.com", Transport: "udp"}, nil},
		"a name that nobody knows at all": {sip.Target{Host: "none.example.com"}, nil},
	} {
		got := found(t, r, c.target)
		if c.want == nil {
			require.Len(t, got, 1, name)
			assert.Contains(t, got[0], "no address", name)
			continue
		}
		assert.Equal(t, c.want, got, name)
	}
}

func TestLoadIsSpreadByWeight(t *testing.T) {
	t.Parallel()
	s := newNameServer(t)
	for i, weight := range []uint16{0, 30, 70} {
		s.srv("_sip._udp.example.com", 1, weight, 5060, fmt.Sprintf("h%d.example.com", i))
		s.host(fmt.Sprintf("h%d.example.com", i), fmt.Sprintf("192.0.2.%d", i))
	}
	r := resolverAt(t, s)
	first := make(map[string]int)
	for range 2000 {
		list, err := r.Resolve(t.Context(), sip.Target{Host: "example.com", Transport: "udp"})
		require.NoError(t, err)
		require.Len(t, list, 3)
		first[list[0].Host]++
	}
	// Six deviations: a draw that fails here is no accident.
	assert.InDelta(t, 2000.0*1/103, first["192.0.2.0"], 6*4.5)
	assert.InDelta(t, 2000.0*31/103, first["192.0.2.1"], 6*20.6)
	assert.InDelta(t, 2000.0*71/103, first["192.0.2.2"], 6*20.8)
}

func TestAnswersAreKeptAsLongAsTheyHold(t *testing.T) {
	t.Parallel()
	s := newNameServer(t)
	s.ttl = 1
	s.host("short.example.com", "192.0.2.1")
	s.ttl = 3600
	s.host("long.example.com", "192.0.2.2")
	r := resolverAt(t, s)
	var wg sync.WaitGroup
	for range 50 { // at once: one question
		wg.Go(func() {
			_, err := r.Resolve(context.Background(), sip.Target{Host: "long.example.com", Port: 5060})
			assert.NoError(t, err)
		})
	}
	wg.Wait()
	assert.Equal(t, 1, s.count("long.example.com"))
	short := sip.Target{Host: "short.example.com", Port: 5060}
	found(t, r, short)
	found(t, r, short)
	assert.Equal(t, 1, s.count("short.example.com"))
	require.Eventually(t, func() bool {
		found(t, r, short)
		return s.count("short.example.com") > 1
	}, time.Minute, 50*time.Millisecond)
	// What is not there is remembered too.
	none := sip.Target{Host: "none.example.com", Port: 5060}
	found(t, r, none)
	found(t, r, none)
	assert.Equal(t, 1, s.count("none.example.com"))
	// The server is gone: what it said last still serves.
	s.set(func() { s.fail = true })
	asked := s.count("short.example.com")
	require.Eventually(t, func() bool {
		assert.Equal(t, []string{"udp 192.0.2.1:5060"}, found(t, r, short))
		return s.count("short.example.com") > asked
	}, 10*time.Second, 50*time.Millisecond)
	assert.Contains(t, found(t, r, sip.Target{Host: "new.example.com", Port: 5060})[0], "refused")
}

func TestServersThatFailArePassedOver(t *testing.T) {
	t.Parallel()
	dumb, failing, good := newNameServer(t), newNameServer(t), newNameServer(t)
	dumb.set(func() { dumb.dumb = true })
	failing.set(func() { failing.fail = true })
	good.set(func() { good.small = true })
	good.host("a.example.com", "192.0.2.1")
	r := resolverAt(t, dumb, failing, good)
	assert.Equal(t, []string{"udp 192.0.2.1:5060"}, found(t, r, sip.Target{Host: "a.example.com", Port: 5060}))
	assert.Equal(t, 2, good.count("a.example.com"), "by UDP, and by TCP because it did not fit")
	const enough = 900 * time.Millisecond // no server is waited for that long
	took := enough
	for tries := 0; took >= enough && tries < 20; tries++ { // until the machine does not stand still
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		_, err := resolverAt(t, dumb).Resolve(ctx, sip.Target{Host: "b.example.com", Port: 5060})
		took = time.Since(start)
		cancel()
		require.Error(t, err)
	}
	assert.Less(t, took, enough)
}

func TestAddressesThatFailedComeLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hosts := filepath.Join(t.TempDir(), "hosts")
		require.NoError(t, os.WriteFile(hosts, []byte("192.0.2.1 pair.test\n192.0.2.2 pair.test\n"), 0o600))
		r := sip.NewResolver(sip.ResolverConfig{Hosts: hosts, Servers: []netip.AddrPort{}})
		pair := sip.Target{Host: "pair.test", Port: 5060}
		one, two := "udp 192.0.2.1:5060", "udp 192.0.2.2:5060"
		bad := sip.Target{Host: "192.0.2.1", Port: 5060, Transport: "udp"}
		assert.Equal(t, []string{one, two}, found(t, r, pair))
		r.Failed(bad)
		assert.Equal(t, []string{two, one}, found(t, r, pair))
		time.Sleep(31 * time.Second)
		assert.Equal(t, []string{one, two}, found(t, r, pair))
		r.Failed(bad) // again: twice as long
		time.Sleep(31 * time.Second)
		assert.Equal(t, []string{two, one}, found(t, r, pair))
		r.Worked(bad)
		assert.Equal(t, []string{one, two}, found(t, r, pair))
	})
}

// TestCallGoesOnAtTheNextAddress: the first server of a domain is dead, the
// call goes to the second, and the next call goes there first.
func TestCallGoesOnAtTheNextAddress(t *testing.T) {
	t.Parallel()
	s := newNameServer(t)
	there := newEars()
	far := served(t, answering(there))
	dead := siptest.Port(t)
	s.srv("_sip._udp.carrier.example", 1, 0, uint16(dead), "one.carrier.example")
	s.srv("_sip._udp.carrier.example", 2, 0, far.Addr("udp").Port(), "one.carrier.example")
	s.host("one.carrier.example", "127.0.0.1")
	r := resolverAt(t, s)
	near := served(t, func(c *sip.Config, _ *sip.UserAgent) { c.Resolver = r })
	for leg := range 2 {
		here := newEars()
		d, err := near.Invite(sip.Invite{
			Attempt: "a", Leg: leg, Target: sip.Target{Host: "carrier.example", TrunkID: "t1"}, To: "+1", From: "+2", Body: []byte(sdp), Notify: here.hear,
		})
		require.NoError(t, err)
		next[sip.Trying](t, here)
		next[sip.Ringing](t, here)
		state := next[sip.Answered](t, here).State
		assert.Equal(t, "sip:+1@carrier.example", state.RemoteURI)
		assert.Equal(t, sip.Target{Host: "127.0.0.1", Port: int(far.Addr("udp").Port()), Transport: "udp", TrunkID: "t1"}, state.Target)
		d.Bye(16, "")
		next[sip.Ended](t, here)
	}
	assert.EqualValues(t, 1, near.Counters().TransportErrors, "the dead server was tried once")
}

func FuzzNameServerAnswers(f *testing.F) {
	q := dnsmessage.Question{Name: dnsmessage.MustNewName("a.example."), Type: 35, Class: dnsmessage.ClassINET}
	m := dnsmessage.Message{
		Header: dnsmessage.Header{ID: 7, Response: true}, Questions: []dnsmessage.Question{q},
		Answers: []dnsmessage.Resource{{
			Header: dnsmessage.ResourceHeader{Name: q.Name, Type: 35, Class: dnsmessage.ClassINET, TTL: 5},
			Body:   &dnsmessage.UnknownResource{Type: 35, Data: []byte("\x00\x01\x00\x02\x01s\x07SIP+D2U\x00\x04_sip\x00")},
		}},
	}
	b, err := m.Pack()
	require.NoError(f, err)
	f.Add(b, uint16(35))
	f.Add(b, uint16(33))
	f.Fuzz(func(t *testing.T, b []byte, kind uint16) {
		n := sip.ReadAnswer(b, "a.example", kind)
		if n > 64 {
			t.Fatalf("%d records", n)
		}
	})
}
