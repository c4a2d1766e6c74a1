package sip_test

import (
	"io"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/auth"
	"github.com/callboard/callboard/sip/registrar"
	"github.com/callboard/callboard/sip/transport"
)

// TestAttackConnectionsOfUnknownHostsAreBounded: phones may connect from anywhere, so hosts that only pretend to
// register must not use up the connections of trunks.
func TestAttackConnectionsOfUnknownHostsAreBounded(t *testing.T) {
	t.Parallel() // waits most of the time
	const most = 8
	var home atomic.Pointer[netip.AddrPort] // address of a registered phone
	ua := startUserAgent(t, func(c *sip.Config, ua *sip.UserAgent) {
		c.Listen = []transport.Listener{{Network: "tcp", Addr: "127.0.0.1:0"}}
		c.MaxTCPConns, c.MaxPerHost = most, most
		if ua == nil {
			return
		}
		ua.SetTransportTimeouts(8*time.Second, 8*time.Second) // all hosts connect before the first connection is closed
		ua.SetAdmission(func(s transport.Source) sip.Admission {
			return sip.Admission{Allow: s.Addr.Addr().String() == "127.0.0.2"}
		})
		ua.SetRegistrar(registrar.Config{
			Account: func(string) (auth.Account, bool) { return auth.Account{}, false },
			Presence: func(s transport.Source) registrar.Presence {
				if at := home.Load(); at != nil && *at == s.Addr {
					return registrar.AtAddress
				}
				return registrar.Absent
			},
			Update: func(u *registrar.Update) { u.Refuse(403, 0) },
		})
	})
	to := ua.Addr("tcp").String()
	ask := func(c net.Conn, method string) string {
		_, _ = c.Write([]byte(strings.Replace(optionsRequest(method), "UDP", "TCP", 1)))
		_ = c.SetReadDeadline(time.Now().Add(time.Minute))
		b := make([]byte, 4096)
		n, _ := c.Read(b)
		return string(b[:n])
	}
	var held []net.Conn
	for range most + 2 {
		if c := dialFrom(t, "127.0.0.9", "tcp", to); strings.Contains(ask(c, "REGISTER"), "SIP/2.0 401") {
			held = append(held, c)
		}
	}
	require.Len(t, held, most-most/4, "unknown hosts leave a quarter of the connections")
	assert.Contains(t, ask(dialFrom(t, "127.0.0.2", "tcp", to), "OPTIONS"), "SIP/2.0 200", "a trunk can connect")
	at := netip.MustParseAddrPort(held[0].LocalAddr().String())
	home.Store(&at)
	for _, c := range held[1:] {
		require.NoError(t, c.SetReadDeadline(time.Now().Add(time.Minute)))
		_, err := c.Read(make([]byte, 1))
		require.ErrorIs(t, err, io.EOF, "unregistered hosts are disconnected")
	}
	require.Eventually(t, func() bool { return ua.Counters().TCP == 2 }, time.Minute, 10*time.Millisecond)
	assert.Contains(t, ask(held[0], "REGISTER"), "SIP/2.0 401", "registered hosts stay connected")
}
