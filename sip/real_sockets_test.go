package sip_test

import (
	"context"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/transport"
)

// startUserAgent starts a user agent on real loopback sockets. Its OverloadAfter is long, so that a busy machine does
// not cause refused calls. Tests of overload set a shorter time.
func startUserAgent(t testing.TB, set func(*sip.Config, *sip.UserAgent)) *sip.UserAgent {
	t.Helper()
	cfg := sip.Config{
		Listen: []transport.Listener{{Network: "udp", Addr: "127.0.0.1:0"}, {Network: "tcp", Addr: "127.0.0.1:0"}},
		Secret: []byte(t.Name()), UserAgent: "Callboard/test", OverloadAfter: time.Minute,
	}
	if set != nil {
		set(&cfg, nil)
	}
	ua, err := sip.New(cfg)
	require.NoError(t, err)
	if set != nil {
		set(&cfg, ua)
	}
	ended := make(chan error, 1)
	go func() { ended <- ua.Serve(t.Context()) }()
	select {
	case <-ua.Ready():
	case err := <-ended:
		require.NoError(t, err)
	}
	t.Cleanup(func() { require.NoError(t, <-ended) })
	return ua
}

func answerCalls(events *eventLog) func(*sip.Config, *sip.UserAgent) {
	return func(_ *sip.Config, ua *sip.UserAgent) {
		if ua != nil {
			ua.OnInvite(func(i *sip.Incoming) {
				i.Ring()
				i.Answer([]byte(sdp), events.add)
			})
		}
	}
}

func TestTwoUserAgentsCallEachOther(t *testing.T) {
	for _, network := range []string{"udp", "tcp"} {
		for _, host := range []string{"127.0.0.1", "localhost"} {
			repeated := uint64(1)
			for tries := 0; repeated > 0 && tries < 20; tries++ { // repeated, because a busy machine may cause retransmissions
				repeated = callEachOther(t, network, host)
			}
			assert.Zero(t, repeated, "no message is repeated")
		}
	}
}

// callEachOther makes a call between two user agents and returns the number of retransmitted messages.
func callEachOther(t *testing.T, network, host string) uint64 {
	t.Helper()
	there := newEventLog()
	far, near := startUserAgent(t, answerCalls(there)), startUserAgent(t, nil)
	here := newEventLog()
	d, err := near.Invite(sip.Invite{
		Attempt: "a", Target: resolve.Target{Host: host, Port: int(far.Addr(network).Port()), Transport: network},
		To: "+15550001", From: "+15559999", Body: []byte(sdp), Notify: here.add,
	})
	require.NoError(t, err)
	next[sip.Trying](t, here)
	next[sip.Ringing](t, here)
	answered := next[sip.Answered](t, here)
	assert.Equal(t, sdp, string(answered.Body))
	if network == "tcp" {
		assert.Contains(t, answered.State.RemoteTarget, ";transport=tcp")
	}
	body, err := reinvite(t, d, there)
	require.NoError(t, err)
	assert.Equal(t, "answer", body)
	d.Bye(16, "done")
	ended := next[sip.Ended](t, here)
	assert.False(t, ended.Fault)
	gone := next[sip.Ended](t, there)
	assert.Equal(t, []any{true, 16, "done"}, []any{gone.ByRemote, gone.Q850, gone.Text})
	return near.Counters().Retransmitted
}

func reinvite(t *testing.T, d *sip.Dialog, there *eventLog) (string, error) {
	t.Helper()
	go func() {
		if offer, ok := (<-there.ch).(sip.Reoffer); ok {
			offer.Reply(200, []byte("answer"))
		}
	}()
	heard := make(chan sip.OfferResult, 1)
	d.Reoffer([]byte(sdp), func(r sip.OfferResult) { heard <- r })
	select {
	case r := <-heard:
		return string(r.Body), r.Err
	case <-time.After(time.Minute):
		return "", context.DeadlineExceeded
	}
}

func TestUnreachableTargetFailsAtOnce(t *testing.T) {
	for _, network := range []string{"udp", "tcp"} {
		ua, here := startUserAgent(t, nil), newEventLog()
		closed, err := net.ListenPacket("udp", "127.0.0.1:0")
		require.NoError(t, err)
		port := closed.LocalAddr().(*net.UDPAddr).Port
		require.NoError(t, closed.Close())
		start := time.Now()
		_, err = ua.Invite(sip.Invite{
			Attempt: network, Target: resolve.Target{Host: "127.0.0.1", Port: port, Transport: network},
			To: "+15550001", From: "+15559999", Notify: here.add,
		})
		require.NoError(t, err)
		f := next[sip.Refused](t, here).Final
		assert.True(t, f.TransportFailure, network)
		assert.True(t, f.Sent)
		assert.Less(t, time.Since(start), 20*time.Second, "earlier than the 32 s of a silent target")
		// After the failed call the user agent can still make a call over its sockets.
		there := newEventLog()
		far := startUserAgent(t, answerCalls(there))
		_, err = ua.Invite(sip.Invite{
			Attempt: "next" + network, Target: resolve.Target{Host: "127.0.0.1", Port: int(far.Addr(network).Port()), Transport: network},
			To: "+15550001", From: "+15559999", Notify: here.add,
		})
		require.NoError(t, err)
		next[sip.Trying](t, here)
	}
}

func TestNameThatDoesNotResolveIsATransportFailure(t *testing.T) {
	ua, here := startUserAgent(t, nil), newEventLog()
	_, err := ua.Invite(sip.Invite{Attempt: "a", Target: resolve.Target{Host: "nowhere.invalid"}, To: "+1", From: "+2", Notify: here.add})
	require.NoError(t, err)
	f := next[sip.Refused](t, here).Final
	assert.True(t, f.TransportFailure && !f.Sent)
}

func TestResolvedAddressMustBeAllowed(t *testing.T) {
	ua, here := startUserAgent(t, func(c *sip.Config, _ *sip.UserAgent) {
		c.MayReach = func(netip.AddrPort) bool { return false }
	}), newEventLog()
	_, err := ua.Invite(sip.Invite{Attempt: "a", Target: resolve.Target{Host: "localhost"}, To: "+1", From: "+2", Notify: here.add})
	require.NoError(t, err)
	assert.True(t, next[sip.Refused](t, here).Final.TransportFailure)
}

func TestForbiddenContactIsReachedThroughTarget(t *testing.T) {
	ua, here := startUserAgent(t, func(c *sip.Config, _ *sip.UserAgent) {
		c.MayReach = func(a netip.AddrPort) bool { return a.Addr().IsLoopback() }
	}), newEventLog()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	_, err = ua.Invite(sip.Invite{
		Attempt: "a", Target: resolve.Target{Host: "127.0.0.1", Port: conn.LocalAddr().(*net.UDPAddr).Port}, To: "+1", From: "+2", Notify: here.add,
	})
	require.NoError(t, err)
	buf := make([]byte, 4096)
	n, from, err := conn.ReadFrom(buf)
	require.NoError(t, err)
	_, err = conn.WriteTo([]byte(msg{text: string(buf[:n])}.reply(200, "p1", "Contact: <sip:x@169.254.169.254:80>")), from)
	require.NoError(t, err)
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(time.Minute)))
	n, _, err = conn.ReadFrom(buf)
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(string(buf[:n]), "ACK sip:x@169.254.169.254:80"), string(buf[:n]))
	next[sip.Answered](t, here)
}

func TestTCPIsFramedAndBounded(t *testing.T) {
	there := newEventLog()
	ua := startUserAgent(t, func(c *sip.Config, u *sip.UserAgent) {
		c.MaxTCPConns = 3
		answerCalls(there)(c, u)
	})
	dial := func() net.Conn {
		c, err := net.Dial("tcp", ua.Addr("tcp").String())
		require.NoError(t, err)
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	read := func(c net.Conn) string {
		require.NoError(t, c.SetReadDeadline(time.Now().Add(time.Minute)))
		buf := make([]byte, 8192)
		n, err := c.Read(buf)
		require.NotErrorIs(t, err, os.ErrDeadlineExceeded)
		return string(buf[:n])
	}
	options := func(n int) string {
		s := strings.NewReplacer("INVITE", "OPTIONS", "SIP/2.0/UDP", "SIP/2.0/TCP").Replace(inboundInvite("no body"))
		return strings.Replace(s, "in-1", "in-"+strconv.Itoa(n), 1)
	}
	first := dial()
	for _, part := range []string{"\r\n\r\n", options(1)[:30], options(1)[30:]} {
		_, err := first.Write([]byte(part))
		require.NoError(t, err)
		if part == "\r\n\r\n" {
			assert.Equal(t, "\r\n", read(first))
		}
	}
	assert.Contains(t, read(first), "Call-ID: in-1\r\n")
	_, err := first.Write([]byte(options(2) + "JUNK\r\nContent-Length: 0\r\n\r\n" + options(3)))
	require.NoError(t, err)
	got := read(first)
	for !strings.Contains(got, "in-3") {
		more := read(first)
		require.NotEmpty(t, more, got)
		got += more
	}
	assert.Contains(t, got, "in-2")
	endless := dial()
	_, err = endless.Write([]byte("OPTIONS sip:a@b SIP/2.0\r\nX: " + strings.Repeat("y", 40000)))
	require.NoError(t, err)
	assert.Empty(t, read(endless), "the connection should be closed")
	dial()
	dial()
	require.Eventually(t, func() bool { return ua.Counters().TCP == 3 }, time.Minute, 5*time.Millisecond)
	assert.Empty(t, read(dial()), "above the limit of connections")
	assert.Contains(t, func() string { _, _ = first.Write([]byte(options(4))); return read(first) }(), "in-4")
}

func TestLargeRequestFallsBackToUDP(t *testing.T) {
	there, here := newEventLog(), newEventLog()
	bodies := make(chan int, 1)
	far := startUserAgent(t, func(_ *sip.Config, ua *sip.UserAgent) {
		if ua != nil {
			ua.OnInvite(func(i *sip.Incoming) {
				bodies <- len(i.Body)
				i.Answer(make([]byte, 4000), there.add)
			})
		}
	})
	near := startUserAgent(t, nil)
	_, err := near.Invite(sip.Invite{
		Attempt: "a", Target: resolve.Target{Host: "127.0.0.1", Port: int(far.Addr("udp").Port())}, To: "+1", From: "+2",
		Body: []byte(strings.Repeat("x", 5000)), Notify: here.add,
	})
	require.NoError(t, err)
	assert.Equal(t, 5000, <-bodies)
	next[sip.Trying](t, here)
	assert.Len(t, next[sip.Answered](t, here).Body, 4000)
}

func BenchmarkCalls(b *testing.B) {
	far := startUserAgent(b, func(_ *sip.Config, ua *sip.UserAgent) {
		if ua != nil {
			ua.OnInvite(func(i *sip.Incoming) {
				i.Ring()
				i.Answer([]byte(sdp), func(sip.Event) {})
			})
		}
	})
	near := startUserAgent(b, nil)
	target := resolve.Target{Host: "127.0.0.1", Port: int(far.Addr("udp").Port())}
	const atOnce = 200
	slots, done := make(chan struct{}, atOnce), make(chan bool, b.N)
	before := liveBytes()
	cpu := processTime()
	b.ResetTimer()
	for n := range b.N {
		slots <- struct{}{}
		answered := make(chan struct{})
		var d *sip.Dialog
		d, err := near.Invite(sip.Invite{
			Attempt: "a" + strconv.Itoa(n), Target: target, To: "+15550001", From: "+15559999", Body: []byte(sdp),
			Notify: func(e sip.Event) {
				switch e.(type) {
				case sip.Answered:
					go func() { <-answered; d.Bye(16, "") }()
				case sip.Ended, sip.Refused:
					<-slots
					_, ok := e.(sip.Ended)
					done <- ok
				}
			},
		})
		require.NoError(b, err)
		close(answered)
	}
	for range b.N {
		require.True(b, <-done)
	}
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
	b.ReportMetric((processTime()-cpu).Seconds()*1000/float64(b.N), "cpu-s/1000calls-both-sides")
	b.ReportMetric(float64(liveBytes()-before)/float64(b.N), "B-kept/ended-call-both-sides")
	b.ReportMetric(float64(near.Counters().Retransmitted+far.Counters().Retransmitted), "retransmissions")
}
