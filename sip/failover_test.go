package sip_test

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/siptest"
)

// requestLog records the requests that several targets received, in order.
type requestLog struct {
	mu    sync.Mutex
	lines []string
}

// add records a request. Retransmissions are ignored.
func (l *requestLog) add(target string, m msg) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if line := target + " " + m.get("CSeq"); !slices.Contains(l.lines, line) {
		l.lines = append(l.lines, line)
	}
}

func (l *requestLog) has(line string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Contains(l.lines, line)
}

// drain returns the recorded requests and empties the log. The INVITEs come first, in order. The other requests are
// sorted, because an ACK and the next INVITE have no fixed order.
func (l *requestLog) drain() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var invites, others []string
	for _, line := range l.lines {
		if strings.HasSuffix(line, "INVITE") {
			invites = append(invites, line)
		} else {
			others = append(others, line)
		}
	}
	l.lines = nil
	slices.Sort(others)
	return append(invites, others...)
}

// newTarget opens a UDP socket that answers INVITEs with the given responses, in order, and other requests except
// ACK with 200. It returns its port.
func (l *requestLog) newTarget(t *testing.T, name string, responses ...func(m msg) string) int {
	t.Helper()
	c, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	go func() {
		b := make([]byte, 65536)
		for {
			n, from, err := c.ReadFromUDPAddrPort(b)
			if err != nil {
				return
			}
			m := msg{text: string(b[:n]), from: from}
			l.add(name, m)
			switch m.method() {
			case "INVITE":
				for _, response := range responses {
					_, _ = c.WriteToUDPAddrPort([]byte(response(m)), from)
				}
			case "ACK":
			default:
				_, _ = c.WriteToUDPAddrPort([]byte(m.reply(200, "p1")), from)
			}
		}
	}()
	return c.LocalAddr().(*net.UDPAddr).Port
}

func status(code int, extra ...string) func(msg) string {
	return func(m msg) string { return m.reply(code, "p1", extra...) }
}

// TestInviteTriesSRVTargetsInOrder checks which requests each target receives. The CSeq shows that an INVITE was also
// sent to the closed port.
func TestInviteTriesSRVTargetsInOrder(t *testing.T) {
	t.Parallel()
	log := new(requestLog)
	ports := []int{
		siptest.Port(t), log.newTarget(t, "unavailable", status(100), status(503)), log.newTarget(t, "silent"),
		log.newTarget(t, "working", status(180), status(200, "Contact: <sip:peer@carrier.example>", sdp)),
	}
	records := []string{"host IN A 127.0.0.1"}
	for i, port := range ports {
		records = append(records, fmt.Sprintf("_sip._udp IN SRV %d 0 %d host", i, port))
	}
	r := resolverOf(t, siptest.StartNameServer(t, map[string]string{"carrier.example": siptest.Zone(records...)}))
	near := startUserAgent(t, func(c *sip.Config, _ *sip.UserAgent) { c.Resolver = r })
	for leg, want := range [][]string{
		{
			"unavailable 2 INVITE", "silent 3 INVITE", "working 4 INVITE", "unavailable 2 ACK", "working 4 ACK", "working 5 BYE",
		},
		{"working 1 INVITE", "working 1 ACK", "working 2 BYE"}, // the failed targets come last
	} {
		events := newEventLog()
		d, err := near.Invite(sip.Invite{
			Attempt: "a", Leg: leg, Target: resolve.Target{Host: "carrier.example", TrunkID: "t1"}, To: "+1", From: "+2", Body: []byte(sdp),
			Notify: events.add, SilentAfter: time.Second,
		})
		require.NoError(t, err)
		next[sip.Trying](t, events)
		next[sip.Ringing](t, events)
		state := next[sip.Answered](t, events).State
		assert.Equal(t, "sip:+1@carrier.example", state.RemoteURI)
		assert.Equal(t, resolve.Target{Host: "127.0.0.1", Port: ports[3], Transport: "udp", TrunkID: "t1"}, state.Target)
		d.Bye(16, "")
		next[sip.Ended](t, events)
		assert.Equal(t, want, log.drain())
	}
	assert.EqualValues(t, 1, near.Counters().TransportErrors, "the closed port was tried once and caused an ICMP error")
}

// TestInviteTriesNextTargetAfterClosedTCPPort checks that the INVITE goes to the second target if the first TCP port is
// closed.
func TestInviteTriesNextTargetAfterClosedTCPPort(t *testing.T) {
	t.Parallel()
	far := startUserAgent(t, answerCalls(newEventLog()))
	r := resolverOf(t, siptest.StartNameServer(t, map[string]string{"carrier.example": siptest.Zone("host IN A 127.0.0.1", `@ IN NAPTR 1 1 "s" "SIP+D2T" "" _sip._tcp`,
		fmt.Sprintf("_sip._tcp IN SRV 1 0 %d host", siptest.Port(t)), fmt.Sprintf("_sip._tcp IN SRV 2 0 %d host", far.Addr("tcp").Port()))}))
	near := startUserAgent(t, func(c *sip.Config, _ *sip.UserAgent) { c.Resolver = r })
	events := newEventLog()
	d, err := near.Invite(sip.Invite{
		Attempt: "a", Target: resolve.Target{Host: "carrier.example"}, To: "+1", From: "+2", Body: []byte(sdp), Notify: events.add,
	})
	require.NoError(t, err)
	next[sip.Trying](t, events)
	next[sip.Ringing](t, events)
	assert.Equal(t, resolve.Target{Host: "127.0.0.1", Port: int(far.Addr("tcp").Port()), Transport: "tcp"}, next[sip.Answered](t, events).State.Target)
	d.Bye(16, "")
	next[sip.Ended](t, events)
}

// TestInviteTriesNextTargetOnlyAfter503: only 503 leads to the next target (RFC 3263 §4.3), except if a phone rang
// or the response names a rate limit.
func TestInviteTriesNextTargetOnlyAfter503(t *testing.T) {
	t.Parallel()
	tooMany := func(m msg) string { return m.reply(503, "p1", `Reason: SIP;cause=503;text="Too many calls"`) }
	cases := map[string]struct {
		responses []func(msg) string
		goesOn    bool
	}{
		"unavailable": {[]func(msg) string{status(503)}, true},
		"tried":       {[]func(msg) string{status(100), status(503)}, true},
		"progress":    {[]func(msg) string{status(183), status(503)}, false},
		"rang":        {[]func(msg) string{status(180), status(503)}, false},
		"rate":        {[]func(msg) string{tooMany}, false},
		"error":       {[]func(msg) string{status(500)}, false},
		"busy":        {[]func(msg) string{status(486)}, false},
	}
	log := new(requestLog)
	records := []string{"host IN A 127.0.0.1"}
	for name, c := range cases {
		records = append(records, fmt.Sprintf("_sip._udp.%s IN SRV 1 0 %d host", name, log.newTarget(t, name, c.responses...)),
			fmt.Sprintf("_sip._udp.%s IN SRV 2 0 %d host", name, log.newTarget(t, name+"-second", status(503))))
	}
	r := resolverOf(t, siptest.StartNameServer(t, map[string]string{"carrier.example": siptest.Zone(records...)}))
	near := startUserAgent(t, func(c *sip.Config, _ *sip.UserAgent) { c.Resolver = r })
	for name, c := range cases {
		events := newEventLog()
		_, err := near.Invite(sip.Invite{
			Attempt: name, Target: resolve.Target{Host: name + ".carrier.example"}, To: "+1", From: "+2", Body: []byte(sdp), Notify: events.add,
		})
		require.NoError(t, err)
		for ended := false; !ended; {
			select {
			case ev := <-events.ch:
				_, ended = ev.(sip.Refused)
			case <-time.After(3 * time.Minute):
				require.Fail(t, "no end", name)
			}
		}
		want := []string{name + " 1 INVITE", name + " 1 ACK"}
		if c.goesOn {
			want = []string{name + " 1 INVITE", name + "-second 2 INVITE", name + " 1 ACK", name + "-second 2 ACK"}
		}
		for _, line := range want {
			require.Eventually(t, func() bool { return log.has(line) }, time.Minute, time.Millisecond, "%s: %s", name, line)
		}
		assert.Equal(t, want, log.drain(), name)
	}
}

// resolverOf returns a resolver that queries only one name server.
func resolverOf(t *testing.T, server *siptest.NameServer) *resolve.Resolver {
	t.Helper()
	hosts := filepath.Join(t.TempDir(), "hosts")
	require.NoError(t, os.WriteFile(hosts, nil, 0o600))
	return resolve.New(resolve.Config{Servers: []netip.AddrPort{server.Addr}, Hosts: hosts})
}
