package sip_test

import (
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/forking"
	"github.com/callboard/callboard/sip/registrar"
	"github.com/callboard/callboard/sip/registration"
	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/textmessage"
)

func TestTestEnvironmentMayCallTestCarrierOnly(t *testing.T) {
	carrier, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	defer func() { _ = carrier.Close() }()
	other, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	defer func() { _ = other.Close() }()
	at := func(c *net.UDPConn) netip.AddrPort { return c.LocalAddr().(*net.UDPAddr).AddrPort() }
	ua := startUserAgent(t, func(c *sip.Config, _ *sip.UserAgent) {
		c.TestCarrier = func() netip.AddrPort { return at(carrier) }
	})
	to := func(a netip.AddrPort, transport string) resolve.Target {
		return resolve.Target{Host: a.Addr().String(), Port: int(a.Port()), Transport: transport}
	}
	proxy := to(at(other), "udp")
	for what, send := range map[string]func(env domain.Environment) error{
		"an INVITE": func(env domain.Environment) error {
			_, err := ua.Invite(sip.Invite{Environment: env, Attempt: "a " + string(env), Leg: 1, Target: proxy, To: "+12025550100", From: "+12025550101"})
			return err
		},
		"an INVITE by way of a proxy": func(env domain.Environment) error {
			_, err := ua.Invite(sip.Invite{Environment: env, Attempt: "p " + string(env), Leg: 1, Target: to(at(carrier), "udp"), Proxy: &proxy, To: "+12025550100", From: "+12025550101"})
			return err
		},
		"an INVITE to a name": func(env domain.Environment) error {
			_, err := ua.Invite(sip.Invite{Environment: env, Attempt: "n " + string(env), Leg: 1, Target: resolve.Target{Host: "localhost", Port: int(at(carrier).Port())}, To: "+12025550100", From: "+12025550101"})
			return err
		},
		"an INVITE to a phone": func(env domain.Environment) error {
			_, err := forking.Invite(ua, sip.Invite{Environment: env, Attempt: "r " + string(env), Leg: 1, To: "200", From: "300", Contacts: []registrar.Contact{{URI: "sip:200@127.0.0.1", Target: proxy}}})
			return err
		},
		"a REGISTER": func(env domain.Environment) error {
			r, err := registration.Start(ua, registration.Config{Environment: env, Target: proxy, User: "u"})
			if err == nil {
				r.Stop(nil)
			}
			return err
		},
	} {
		require.ErrorIs(t, send(domain.Test), sip.ErrTestEnvironment, what)
		require.ErrorIs(t, send(""), sip.ErrTestEnvironment, "%s without an environment", what)
		require.NoError(t, send(domain.Live), what)
	}
	_, err = ua.Ping(t.Context(), domain.Test, proxy)
	require.ErrorIs(t, err, sip.ErrTestEnvironment)
	_, err = textmessage.NewClient(ua).Send(t.Context(), &textmessage.Message{Environment: domain.Test, Name: "m", Target: proxy, To: "+12025550100", From: "+12025550101", ContentType: "text/plain", Body: []byte("x")})
	require.ErrorIs(t, err, sip.ErrTestEnvironment)

	d, err := ua.Invite(sip.Invite{Environment: domain.Test, Attempt: "c", Leg: 1, Target: to(at(carrier), "udp"), To: "+15005550000", From: "+12025550101"})
	require.NoError(t, err)
	b := make([]byte, 4096)
	require.NoError(t, carrier.SetReadDeadline(time.Now().Add(10*time.Second)))
	for n := 0; !strings.Contains(string(b[:n]), "INVITE sip:+15005550000@"); { // the live call to a name may arrive first
		n, _, err = carrier.ReadFromUDP(b)
		require.NoError(t, err)
	}
	d.Cancel("over")
}

func TestTestDialogSendsNothingToContactOutsideTestCarrier(t *testing.T) {
	var other netip.AddrPort
	var told traceLog
	heard, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	defer func() { _ = heard.Close() }()
	other = heard.LocalAddr().(*net.UDPAddr).AddrPort()
	ua := startUserAgent(t, func(c *sip.Config, _ *sip.UserAgent) {
		c.TestCarrier = func() netip.AddrPort { return netip.MustParseAddrPort("127.0.0.1:9") }
		c.Trace = told.add
	})
	done := make(chan bool, 1)
	ua.EndAbandoned(sip.DialogState{
		Environment: domain.Test, CallID: "x", LocalTag: "a", RemoteTag: "b", LocalURI: "sip:a@127.0.0.1", RemoteURI: "sip:b@127.0.0.1",
		RemoteTarget: "sip:b@" + other.String(), Confirmed: true, Target: resolve.Target{Host: "127.0.0.1", Port: int(other.Port()), Transport: "udp"},
	}, func(answered bool) { done <- answered })
	assert.False(t, <-done)
	require.NoError(t, heard.SetReadDeadline(time.Now().Add(100*time.Millisecond)))
	_, _, err = heard.ReadFromUDP(make([]byte, 2048))
	require.Error(t, err, "a request of the test environment has left")
	assert.Empty(t, told.lines(), "a request that has not left is not in the trace")
}
