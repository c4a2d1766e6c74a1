package sip_test

import (
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/siptest"
	"github.com/callboard/callboard/sip/transport"
)

// traceLog collects the traced messages of a user agent.
type traceLog struct {
	mu  sync.Mutex
	all []sip.TracedMessage
	ids []string
}

func (l *traceLog) add(callID string, m sip.TracedMessage) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all, l.ids = append(l.all, m), append(l.ids, callID)
}

func (l *traceLog) first() sip.TracedMessage {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all[0]
}

func (l *traceLog) callIDs() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Compact(slices.Clone(l.ids))
}

// lines returns the messages so far: direction, transport, and method or status code.
func (l *traceLog) lines() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []string
	for _, m := range l.all {
		way := "in "
		if m.Out {
			way = "out "
		}
		f := strings.Fields(string(m.Data))
		what := f[0]
		if strings.HasPrefix(what, "SIP/") {
			what = f[1]
		}
		out = append(out, way+m.Network+" "+what)
	}
	return out
}

func TestEveryMessageOfACallIsTraced(t *testing.T) {
	t.Parallel()
	for _, network := range []string{"udp", "tcp"} {
		there, here := newEventLog(), newEventLog()
		var theirs, ours traceLog
		far := startUserAgent(t, func(c *sip.Config, ua *sip.UserAgent) {
			c.Trace = theirs.add
			answerCalls(there)(c, ua)
		})
		near := startUserAgent(t, func(c *sip.Config, _ *sip.UserAgent) { c.Trace = ours.add })
		target := resolve.Target{Host: "127.0.0.1", Port: int(far.Addr(network).Port()), Transport: network}
		_, err := near.Ping(t.Context(), domain.Live, target)
		require.NoError(t, err)
		d, err := near.Invite(sip.Invite{Attempt: "a", Target: target, To: "+1", From: "+2", Body: []byte(sdp), Notify: here.add})
		require.NoError(t, err)
		next[sip.Trying](t, here)
		next[sip.Ringing](t, here)
		next[sip.Answered](t, here)
		_, err = reinvite(t, d, there)
		require.NoError(t, err)
		d.Bye(16, "done")
		next[sip.Ended](t, here)
		next[sip.Ended](t, there)
		var ourWay, theirWay []string
		for _, l := range []string{"out INVITE", "in 100", "in 180", "in 200", "out ACK", "out INVITE", "in 100", "in 200", "out ACK", "out BYE", "in 200"} {
			way, what, _ := strings.Cut(l, " ")
			ourWay = append(ourWay, way+" "+network+" "+what)
			theirWay = append(theirWay, map[string]string{"in": "out", "out": "in"}[way]+" "+network+" "+what)
		}
		assert.Equal(t, ourWay, ours.lines(), "the OPTIONS is not part of the call")
		assert.Equal(t, theirWay, theirs.lines())
		assert.Equal(t, []string{d.CallID()}, ours.callIDs())
		assert.Equal(t, []string{d.CallID()}, theirs.callIDs())
		assert.Equal(t, far.Addr(network), ours.first().Remote)
		assert.Equal(t, far.Addr(network), theirs.first().Local)
		assert.Equal(t, string(ours.first().Data), string(theirs.first().Data))
	}
}

func TestTraceMasksSecrets(t *testing.T) {
	t.Parallel()
	text := strings.Join([]string{
		"INVITE sip:ann:hunter2@x SIP/2.0", `Authorization: Digest username="ann", realm="r", response="0123abcd", nc=00000001`,
		"Proxy-Authorization: Basic YWJj", "Contact: <sip:bob:s3cret@y;transport=tcp>", "Content-Type: application/sdp", "",
		"a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:c2VjcmV0|2^31", "k=clear:key", "",
	}, "\r\n")
	shown := string(sip.MaskSecrets([]byte(text)))
	assert.Len(t, shown, len(text))
	for _, secret := range []string{"hunter2", "0123abcd", "YWJj", "s3cret", "c2VjcmV0", "clear:key"} {
		assert.NotContains(t, shown, secret)
	}
	for _, open := range []string{`username="ann"`, "sip:ann:*******@x", "AES_CM_128_HMAC_SHA1_80", "nc=00000001", "transport=tcp"} {
		assert.Contains(t, shown, open)
	}
	keys := "INFO sip:a@b SIP/2.0\r\nc: application/dtmf-relay\r\n\r\nSignal=5\r\nDuration=160\r\n"
	assert.Equal(t, strings.Replace(keys, "=5", "=*", 1), string(sip.MaskSecrets([]byte(keys))))
}

func TestMaskSecretsInAllNotations(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"a key method in capitals": "INVITE sip:a@b SIP/2.0\r\n\r\nv=0\r\na=crypto:1 AES_CM_128_HMAC_SHA1_80 INLINE:S3CRET|2^31\r\n",
		"an attribute in capitals": "INVITE sip:a@b SIP/2.0\r\n\r\nv=0\na=CRYPTO:1 AES_CM_128_HMAC_SHA1_80 inline:S3CRET\n",
		"blanks around it":         "INVITE sip:a@b SIP/2.0\r\n\r\nv=0\r\na= crypto : 1  AES_CM_128_HMAC_SHA1_80\tinline:S3CRET\r\n",
		"several keys":             "SIP/2.0 200 OK\r\n\r\nv=0\r\na=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:S3CRET;inline:S3CRET\r\n",
		"another key exchange":     "INVITE sip:a@b SIP/2.0\r\n\r\nv=0\r\na=key-mgmt:mikey S3CRET\r\n",
		"a folded proof":           "REGISTER sip:b SIP/2.0\r\nAuthorization: Digest username=\"a\",\r\n response=\"S3CRET\",\r\n\tnc=00000001\r\n\r\n",
		"a proof on the next line": "REGISTER sip:b SIP/2.0\r\nproxy-AUTHORIZATION :\r\n Digest response=\"S3CRET\"\r\n\r\n",
		"a folded password":        "REGISTER sip:b SIP/2.0\r\nAuthorization: Basic\r\n S3CRET\r\n\r\n",
		"a digit behind blanks":    "INFO sip:a@b SIP/2.0\r\nContent-Type: application/dtmf-relay\r\n\r\n Signal = S3CRET\r\nDuration=160\r\n",
		"digits of another type":   "INFO sip:a@b SIP/2.0\r\nContent-Type: application/vnd.nortelnetworks.digits\r\n\r\np=Digit-Collection\r\ny=Digits\r\nd=S3CRET\r\n",
		"a scheme in capitals":     "INVITE sip:a@b SIP/2.0\r\nContact: \"c: d\" <SIPS:ann:S3CRET@y>, <sip:b@y>;x=Sip:bob:S3CRET@z\r\n\r\n",
		"a folded type":            "INFO sip:a@b SIP/2.0\r\nContent-Type:\r\n application/dtmf\r\n\r\nS3CRET",
	} {
		shown := string(sip.MaskSecrets([]byte(text)))
		assert.NotContains(t, shown, "S3CRET", name)
		assert.Len(t, shown, len(text), name)
		assert.Equal(t, strings.Count(text, "\n"), strings.Count(shown, "\n"), name)
	}
}

// TestLargeRequestsUseTCP checks that a request too large for a datagram is sent over TCP (RFC 3261 §18.1.1).
func TestLargeRequestsUseTCP(t *testing.T) {
	t.Parallel()
	port := strconv.Itoa(siptest.Port(t))
	there, here := newEventLog(), newEventLog()
	var theirs traceLog
	far := startUserAgent(t, func(c *sip.Config, ua *sip.UserAgent) {
		c.Listen = []transport.Listener{{Network: "udp", Addr: "127.0.0.1:" + port}, {Network: "tcp", Addr: "127.0.0.1:" + port}}
		c.Trace = theirs.add
		answerCalls(there)(c, ua)
	})
	near := startUserAgent(t, nil)
	d, err := near.Invite(sip.Invite{
		Attempt: "a", Target: resolve.Target{Host: "127.0.0.1", Port: int(far.Addr("udp").Port())}, To: "+1", From: "+2",
		Body: []byte(strings.Repeat("x", 2000)), Notify: here.add,
	})
	require.NoError(t, err)
	next[sip.Trying](t, here)
	next[sip.Ringing](t, here)
	next[sip.Answered](t, here)
	d.Bye(16, "")
	next[sip.Ended](t, here)
	assert.Equal(t, []string{"in tcp INVITE", "out tcp 100", "out tcp 180", "out tcp 200", "in tcp ACK", "in tcp BYE", "out tcp 200"}, theirs.lines())
	assert.Contains(t, string(theirs.first().Data), "Via: SIP/2.0/TCP 127.0.0.1:"+strconv.Itoa(int(near.Addr("tcp").Port())))
}

func TestTargetWithoutTCPIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	there := newEventLog()
	far := startUserAgent(t, func(c *sip.Config, ua *sip.UserAgent) {
		c.Listen = []transport.Listener{{Network: "udp", Addr: "127.0.0.1:0"}}
		answerCalls(there)(c, ua)
	})
	near := startUserAgent(t, nil)
	for leg := range 2 {
		here := newEventLog()
		_, err := near.Invite(sip.Invite{
			Attempt: "a", Leg: leg, Target: resolve.Target{Host: "127.0.0.1", Port: int(far.Addr("udp").Port())}, To: "+1", From: "+2",
			Body: []byte(strings.Repeat("x", 2000)), Notify: here.add,
		})
		require.NoError(t, err)
		next[sip.Trying](t, here)
	}
	assert.EqualValues(t, 1, near.Counters().TransportErrors)
}

func TestViaAndContactAddressForPeer(t *testing.T) {
	t.Parallel()
	public := netip.MustParseAddr("203.0.113.5")
	ua := startUserAgent(t, func(c *sip.Config, _ *sip.UserAgent) {
		c.PublicIP, c.PublicPort, c.Private = public, 5062, []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	})
	own := ua.Addr("udp").String()
	for far, want := range map[string]string{
		"198.51.100.7:5060": "203.0.113.5:5062", "10.1.2.3:5060": own, "127.0.0.1:5060": own, "11.1.2.3:5060": "203.0.113.5:5062",
	} {
		assert.Equal(t, want, ua.SentBy("udp", netip.MustParseAddrPort(far)), far)
	}
}

func TestViaAndContactOfSeveralListeners(t *testing.T) {
	t.Parallel()
	hosts := []string{"127.0.0.1"}
	if c, err := net.ListenPacket("udp", "[::1]:0"); err == nil { // some machines have no IPv6
		require.NoError(t, c.Close())
		hosts = append(hosts, "::1")
	}
	both := func(c *sip.Config, _ *sip.UserAgent) {
		c.Listen = nil
		for _, network := range []string{"udp", "tcp"} {
			for _, host := range hosts {
				c.Listen = append(c.Listen, transport.Listener{Network: network, Addr: net.JoinHostPort(host, "0")})
			}
		}
	}
	near := startUserAgent(t, both)
	for _, network := range []string{"udp", "tcp"} {
		for _, host := range hosts {
			there, here := newEventLog(), newEventLog()
			var theirs traceLog
			far := startUserAgent(t, func(c *sip.Config, ua *sip.UserAgent) {
				c.Listen = []transport.Listener{{Network: network, Addr: net.JoinHostPort(host, "0")}}
				c.Trace = theirs.add
				answerCalls(there)(c, ua)
			})
			d, err := near.Invite(sip.Invite{
				Attempt: network + host, Target: resolve.Target{Host: host, Port: int(far.Addr(network).Port()), Transport: network},
				To: "+1", From: "+2", Body: []byte(sdp), Notify: here.add,
			})
			require.NoError(t, err)
			next[sip.Trying](t, here)
			next[sip.Ringing](t, here)
			next[sip.Answered](t, here)
			d.Bye(16, "")
			assert.False(t, next[sip.Ended](t, here).Fault)
			via := msg{text: string(theirs.first().Data)}.get("Via")
			assert.Contains(t, via, " "+net.JoinHostPort(host, ""), via)
		}
	}
}

func TestDatagramsCarryDSCP(t *testing.T) {
	t.Parallel()
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	raw, err := conn.SyscallConn()
	require.NoError(t, err)
	require.NoError(t, raw.Control(func(fd uintptr) { _ = unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_RECVTOS, 1) }))
	ua := startUserAgent(t, func(c *sip.Config, _ *sip.UserAgent) { c.DSCP = 24 })
	_, err = ua.Invite(sip.Invite{
		Attempt: "a", Target: resolve.Target{Host: "127.0.0.1", Port: conn.LocalAddr().(*net.UDPAddr).Port}, To: "+1", From: "+2",
		Notify: func(sip.Event) {},
	})
	require.NoError(t, err)
	b, control := make([]byte, 4096), make([]byte, 128)
	_, n, _, _, err := conn.ReadMsgUDP(b, control)
	require.NoError(t, err)
	h, data, _, err := unix.ParseOneSocketControlMessage(control[:n])
	require.NoError(t, err)
	assert.EqualValues(t, unix.IP_TOS, h.Type)
	assert.EqualValues(t, 24<<2, data[0])
	_, err = sip.New(sip.Config{Listen: []transport.Listener{{Network: "udp"}}, DSCP: 64})
	require.Error(t, err)
}

func TestDrainRefusesNewCalls(t *testing.T) {
	bubbleInbound(t, func(t *testing.T, s *stage, in *callReceiver) {
		s.peer.send(inboundInvite(), s.localAddr())
		s.peer.expect("SIP/2.0 100")
		(<-in.calls).Answer([]byte(sdp), s.events.add)
		ok := s.peer.expect("SIP/2.0 200")
		s.peer.send(followUpRequest("ACK", toTagOf(ok), 10), s.localAddr())
		s.ua.Drain(true)
		for _, text := range []string{
			strings.Replace(strings.Replace(inboundInvite("Call-ID: other"), "INVITE", "OPTIONS", 1), "10 INVITE", "10 OPTIONS", 1), inboundInvite("Call-ID: another"),
		} {
			s.peer.send(text, s.localAddr())
			assert.NotEmpty(t, s.peer.expect("SIP/2.0 503").get("Retry-After"))
		}
		s.peer.send(followUpRequest("BYE", toTagOf(ok), 11), s.localAddr())
		s.peer.expect("SIP/2.0 200")
		assert.True(t, next[sip.Ended](t, s.events).ByRemote)
		assert.Empty(t, in.calls)
		synctest.Wait()
	})
}

// TestLateInvitesGet503: while the reader is blocked, an INVITE waits in the kernel. It gets 503 before its caller
// gives up, and the next call is accepted.
func TestLateInvitesGet503(t *testing.T) {
	t.Parallel()
	held, let := make(chan struct{}), make(chan struct{})
	calls := 0
	ua := startUserAgent(t, func(c *sip.Config, ua *sip.UserAgent) {
		c.OverloadAfter = 100 * time.Millisecond
		if ua != nil {
			ua.OnInvite(func(i *sip.Incoming) {
				if calls++; calls == 1 {
					close(held)
					<-let
				}
				i.Reject(486, 0)
			})
		}
	})
	conn, err := net.Dial("udp", ua.Addr("udp").String())
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	say := func(callID string) {
		_, err := conn.Write([]byte(inboundInvite("Call-ID: " + callID)))
		require.NoError(t, err)
	}
	answer := func(callID string) string {
		require.NoError(t, conn.SetReadDeadline(time.Now().Add(time.Minute)))
		b := make([]byte, 4096)
		for {
			n, err := conn.Read(b)
			require.NoError(t, err)
			if m := (msg{text: string(b[:n])}); m.get("Call-ID") == callID && !strings.HasPrefix(m.text, "SIP/2.0 100") {
				return m.line() + m.get("Retry-After")
			}
		}
	}
	for n := 0; ; n++ { // on a busy machine the first calls may have waited too long too
		require.Less(t, n, 100)
		say("slow-" + strconv.Itoa(n))
		select {
		case <-held:
		case <-time.After(100 * time.Millisecond):
			continue
		}
		break
	}
	say("late")
	time.AfterFunc(300*time.Millisecond, func() { close(let) })
	assert.Equal(t, "SIP/2.0 503 Service Unavailable5", answer("late"))
	assert.Positive(t, ua.Counters().RefusedLate, "refused calls are counted")
	assert.True(t, ua.IsBehind(), "outbound calls should be postponed")
	require.Eventually(t, func() bool { return !ua.IsBehind() }, time.Minute, 50*time.Millisecond, "only for a second")
	for n := 0; ; n++ {
		require.Less(t, n, 100, "calls are accepted again")
		say("next-" + strconv.Itoa(n))
		if strings.Contains(answer("next-"+strconv.Itoa(n)), "486") {
			break
		}
	}
}
