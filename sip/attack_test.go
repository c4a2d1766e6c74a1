package sip_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/auth"
	"github.com/callboard/callboard/sip/registrar"
	"github.com/callboard/callboard/sip/siptest"
	"github.com/callboard/callboard/sip/transport"
)

// attackDuration returns how long an attack lasts: ATTACK_SECONDS from the environment, or a short default.
func attackDuration() time.Duration {
	if n, err := strconv.Atoi(os.Getenv("ATTACK_SECONDS")); err == nil {
		return time.Duration(n) * time.Second
	}
	return 300 * time.Millisecond
}

// quietLog counts log records instead of writing them.
type quietLog struct{ lines atomic.Int64 }

func (l *quietLog) Enabled(context.Context, slog.Level) bool  { return true }
func (l *quietLog) Handle(context.Context, slog.Record) error { l.lines.Add(1); return nil }
func (l *quietLog) WithAttrs([]slog.Attr) slog.Handler        { return l }
func (l *quietLog) WithGroup(string) slog.Handler             { return l }
func onlyFrom(host string) func(transport.Source) sip.Admission {
	a := netip.MustParseAddr(host)
	return func(s transport.Source) sip.Admission { return sip.Admission{Allow: s.Addr.Addr() == a} }
}

// dialFrom connects from the local address host to the address to.
func dialFrom(t *testing.T, host, network, to string) net.Conn {
	t.Helper()
	d := net.Dialer{LocalAddr: &net.UDPAddr{IP: net.ParseIP(host)}, Timeout: 3 * time.Second}
	if network == "tcp" {
		d.LocalAddr = &net.TCPAddr{IP: net.ParseIP(host)}
	}
	c, err := d.Dial(network, to)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func optionsRequest(method string) string {
	return strings.NewReplacer("INVITE", method).Replace(inboundInvite("no body"))
}

// maxServedAttempts is how often requireServed sends a request, once per second, before it fails.
const maxServedAttempts = 60

// requireServed checks that a known source still gets answers.
func requireServed(t *testing.T, host string, ua *sip.UserAgent) {
	t.Helper()
	c := dialFrom(t, host, "udp", ua.Addr("udp").String())
	b := make([]byte, 4096)
	for range maxServedAttempts { // a datagram may be lost in a flood or wait behind it
		_, err := c.Write([]byte(optionsRequest("OPTIONS")))
		require.NoError(t, err)
		require.NoError(t, c.SetReadDeadline(time.Now().Add(time.Second)))
		if n, err := c.Read(b); err == nil {
			require.Contains(t, string(b[:n]), "SIP/2.0 200")
			return
		}
	}
	require.Fail(t, "a known source got no answer")
}

// TestAttackUnknownSourcesGetNoAnswer: whatever an unknown source sends, it gets no answer, is not stored and
// causes no log record.
func TestAttackUnknownSourcesGetNoAnswer(t *testing.T) {
	var log quietLog
	ua := startUserAgent(t, func(c *sip.Config, ua *sip.UserAgent) {
		c.Log = slog.New(&log)
		if ua != nil {
			ua.SetAdmission(onlyFrom("127.0.0.2"))
			ua.OnInvite(func(*sip.Incoming) { t.Error("a call from nowhere") })
		}
	})
	c := dialFrom(t, "127.0.0.9", "udp", ua.Addr("udp").String())
	kinds := []string{
		inboundInvite(), optionsRequest("OPTIONS"), optionsRequest("REGISTER"), optionsRequest("BYE"), strings.Repeat("\x00\xff", 700), "\r\n\r\n", "GET / HTTP/1.1\r\n\r\n",
		strings.Repeat("A", 60000), "SIP/2.0 200 OK\r\n" + inboundInvite(), strings.Replace(inboundInvite(), "INVITE", "invite", 1),
	}
	for _, b := range siptest.TortureMessages(t) {
		kinds = append(kinds, string(b))
	}
	before, routines := liveBytes(), runtime.NumGoroutine()
	sent, volume := 0, 0
	for end := time.Now().Add(attackDuration()); time.Now().Before(end); sent++ {
		n, _ := c.Write([]byte(kinds[sent%len(kinds)]))
		volume += n
	}
	requireServed(t, "127.0.0.2", ua)
	require.NoError(t, c.SetReadDeadline(time.Now().Add(200*time.Millisecond)))
	n, err := c.Read(make([]byte, 1500))
	require.Error(t, err, "%d bytes came back", n)
	grown := liveBytes() - before
	t.Logf("attack: strangers sent %d datagrams, %d bytes: amplification 0, heap %+d bytes, %d log lines", sent, volume, grown, log.lines.Load())
	assert.Less(t, grown, int64(2<<20))
	assert.LessOrEqual(t, runtime.NumGoroutine(), routines+3)
	assert.Zero(t, log.lines.Load())
	assert.Zero(t, ua.Counters().Dialogs)
}

// TestAttackAmplificationIsBounded: an unauthenticated source that may register gets one response, not larger than
// its request.
func TestAttackAmplificationIsBounded(t *testing.T) {
	ua := startUserAgent(t, func(_ *sip.Config, ua *sip.UserAgent) {
		if ua != nil {
			ua.SetAdmission(onlyFrom("127.0.0.2"))
			ua.SetRegistrar(registrar.Config{
				Account:  func(string) (auth.Account, bool) { return auth.Account{}, false },
				Presence: func(transport.Source) registrar.Presence { return registrar.Absent },
				Update:   func(*registrar.Update) { t.Error("registered without a password") },
			})
		}
	})
	c := dialFrom(t, "127.0.0.9", "udp", ua.Addr("udp").String())
	in, out, answers := 0, 0, 0
	for i, text := range []string{
		optionsRequest("REGISTER"), optionsRequest("OPTIONS"), inboundInvite(), optionsRequest("SUBSCRIBE"), optionsRequest("REGISTER") + strings.Repeat("x", 500),
		strings.Replace(optionsRequest("REGISTER"), "User-Agent", "X", 1),
	} {
		n, err := c.Write([]byte(strings.Replace(text, "in-1", "in-"+strconv.Itoa(i), 1)))
		require.NoError(t, err)
		in += n
	}
	b := make([]byte, 4096)
	for {
		require.NoError(t, c.SetReadDeadline(time.Now().Add(700*time.Millisecond)))
		n, err := c.Read(b)
		if err != nil {
			break
		}
		out += n
		answers++
		assert.True(t, strings.HasPrefix(string(b[:n]), "SIP/2.0 4"), string(b[:n]))
	}
	t.Logf("attack: %d bytes of questions, %d answers of %d bytes: amplification %.2f", in, answers, out, float64(out)/float64(in))
	assert.LessOrEqual(t, out, in)
	assert.LessOrEqual(t, answers, 3, "only REGISTER gets a response")
}

// TestAttackFloodOfOneSourceIsRateLimited: a known source that exceeds its rate gets no responses, while other sources
// get theirs.
func TestAttackFloodOfOneSourceIsRateLimited(t *testing.T) {
	ua := startUserAgent(t, func(c *sip.Config, ua *sip.UserAgent) {
		c.SourceRate = 100
		if ua != nil {
			ua.SetAdmission(func(s transport.Source) sip.Admission { return sip.Admission{Allow: s.Addr.Addr().IsLoopback()} })
		}
	})
	c := dialFrom(t, "127.0.0.9", "udp", ua.Addr("udp").String())
	go func() { _, _ = io.Copy(io.Discard, c) }()
	began, sent := time.Now(), 0
	for ; time.Since(began) < attackDuration() || sent < 1000; sent++ {
		_, _ = c.Write([]byte(optionsRequest("OPTIONS")))
	}
	requireServed(t, "127.0.0.2", ua)
	got := ua.Counters().Received
	took := time.Since(began) // includes the wait for an answer, as the datagrams left in the socket are read meanwhile
	t.Logf("attack: one source sent %d requests in %v, %d were read", sent, took.Round(time.Millisecond), got)
	assert.LessOrEqual(t, float64(got), 200+100*took.Seconds()+maxServedAttempts)
	assert.Positive(t, ua.Counters().DroppedRate)
}

// TestAttackSlowConnectionsAreClosed: connections without a complete message are closed in time, and one host
// cannot use all of them.
func TestAttackSlowConnectionsAreClosed(t *testing.T) {
	t.Parallel() // waits most of the time
	const each, most = 8, 20
	ca := newAuthority(t)
	for _, network := range []string{"tcp", "tls"} {
		t.Run(network, func(t *testing.T) {
			t.Parallel()
			conf := &transport.TLS{Certificate: ca.certificateSource("127.0.0.1", time.Hour)}
			ua := startUserAgent(t, listenTLS(conf, func(c *sip.Config, ua *sip.UserAgent) {
				c.MaxPerHost, c.MaxTCPConns = each, most
				if ua != nil {
					ua.SetTransportTimeouts(4*time.Second, 4*time.Second) // long enough for the good connection to be served
					ua.SetAdmission(func(s transport.Source) sip.Admission {
						return sip.Admission{Allow: s.Addr.Addr().IsLoopback() && s.Addr.Addr().String() != "127.0.0.66"}
					})
				}
			}))
			to := ua.Addr(network).String()
			closed := make(chan struct{}, 200)
			hold := func(host, what string) {
				c := dialFrom(t, host, "tcp", to)
				_, _ = c.Write([]byte(what))
				go func() {
					_, _ = io.Copy(io.Discard, c)
					closed <- struct{}{}
				}()
			}
			opened := 0
			for i := range 3 * each {
				hold("127.0.0.9", []string{"", "O", "OPTIONS sip:a@b SIP/2.0\r\nVia: x", "\r\n"}[i%4])
				hold("127.0.0.66", "")
				opened += 2
			}
			require.Eventually(t, func() bool { return ua.Counters().TCP <= each }, time.Minute, 5*time.Millisecond)
			held := ua.Counters().TCP
			// Another host is served meanwhile.
			good := dialFrom(t, "127.0.0.2", "tcp", to)
			if network == "tls" {
				good = tls.Client(good, &tls.Config{RootCAs: ca.pool, ServerName: "127.0.0.1"})
			}
			_, err := good.Write([]byte(strings.Replace(optionsRequest("OPTIONS"), "UDP", strings.ToUpper(network), 1)))
			require.NoError(t, err)
			require.NoError(t, good.SetReadDeadline(time.Now().Add(time.Minute)))
			b := make([]byte, 4096)
			n, err := good.Read(b)
			require.NoError(t, err)
			assert.Contains(t, string(b[:n]), "SIP/2.0 200")
			began := time.Now()
			for range opened {
				select {
				case <-closed:
				case <-time.After(time.Minute):
					require.Fail(t, "a connection is still open")
				}
			}
			t.Logf("attack: of %d %s connections without a message %d were held, all closed after %v", opened, network, held, time.Since(began).Round(time.Millisecond))
			require.Eventually(t, func() bool { return ua.Counters().TCP == 1 }, time.Minute, 5*time.Millisecond, "the good connection stays open")
		})
	}
}

// TestAttackUnansweredCallsAreBounded: calls that are begun and abandoned use a bounded number of dialogs, and all
// dialogs are released in the end. Further callers get a Retry-After.
func TestAttackUnansweredCallsAreBounded(t *testing.T) {
	const most, flood = 40, 2000
	synctest.Test(t, func(t *testing.T) {
		n := newFakeNetwork()
		ua, err := sip.New(sip.Config{Listen: []transport.Listener{{Network: "udp", Addr: localAddr}}, MaxHalfOpen: most})
		require.NoError(t, err)
		ua.UseSocket(n.open(localAddr))
		ua.OnInvite(func(*sip.Incoming) {})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = ua.Serve(ctx)
		}()
		<-ua.Ready()
		peers := []*peer{{t, n.open("127.0.0.9:5060")}, {t, n.open("127.0.0.2:5060")}}
		trying, refused := [2]int{}, 0
		for i, p := range peers {
			for call := range flood {
				p.send(inboundInvite(fmt.Sprintf("Call-ID: half-%d-%d", i, call)), netip.MustParseAddrPort(localAddr))
				m := p.expect("SIP/2.0")
				if strings.HasPrefix(m.text, "SIP/2.0 100") {
					trying[i]++
					continue
				}
				refused++
				assert.Equal(t, "5", m.get("Retry-After"), m.text)
			}
		}
		assert.Equal(t, [2]int{most * 3 / 4, most / 4}, trying, "a quarter is reserved for other hosts")
		assert.Equal(t, most, ua.Counters().Dialogs)
		t.Logf("attack: of %d calls %d were held, %d refused with Retry-After", 2*flood, trying[0]+trying[1], refused)
		time.Sleep(10 * time.Minute)
		assert.Zero(t, ua.Counters().Dialogs)
		assert.Zero(t, ua.Counters().UnansweredCalls)
		cancel()
		<-ended
	})
}
