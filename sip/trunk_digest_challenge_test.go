package sip_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/auth"
	"github.com/callboard/callboard/sip/outcome"
	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/transport"
)

// startLoopbackAgent starts a user agent on a free loopback port until the test ends.
func startLoopbackAgent(t *testing.T, set func(*sip.UserAgent)) *sip.UserAgent {
	t.Helper()
	u, err := sip.New(sip.Config{
		Listen: []transport.Listener{{Network: "udp", Addr: "127.0.0.1:0"}}, UserAgent: "carrier/1.0",
		OverloadAfter: time.Minute, // no call is refused because the machine is busy
	})
	require.NoError(t, err)
	if set != nil {
		set(u)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- u.Serve(ctx) }()
	<-u.Ready()
	t.Cleanup(func() {
		cancel()
		assert.NoError(t, <-done)
	})
	return u
}

func targetOf(u *sip.UserAgent) resolve.Target {
	a := u.Addr("udp")
	return resolve.Target{Host: a.Addr().String(), Port: int(a.Port()), Transport: "udp"}
}

func TestTrunkIsAuthenticatedByDigest(t *testing.T) {
	type caller struct {
		trunk  string
		proved bool
	}
	came := make(chan caller, 1)
	house := startLoopbackAgent(t, func(u *sip.UserAgent) {
		u.SetAdmission(func(transport.Source) sip.Admission {
			return sip.Admission{Allow: true, TrunkID: "first", RequireAuthentication: true, Account: func(user string) (auth.Account, bool) {
				return auth.Account{ID: "second", User: "carrier", Password: "proof"}, user == "carrier"
			}}
		})
		u.OnInvite(func(in *sip.Incoming) {
			came <- caller{in.TrunkID, in.IsAuthenticated}
			in.Reject(486, 0)
		})
	})
	carrier := startLoopbackAgent(t, nil)
	call := func(attempt string, c *auth.Credentials) outcome.Final {
		e := newEventLog()
		_, err := carrier.Invite(sip.Invite{Attempt: attempt, Leg: 1, Target: targetOf(house), To: "+12025550142", From: "+12025550177", Credentials: c, Notify: e.add})
		require.NoError(t, err)
		for {
			if r, over := (<-e.ch).(sip.Refused); over {
				return r.Final
			}
		}
	}
	for name, c := range map[string]*auth.Credentials{
		"none": nil, "wrong": {Username: "carrier", Password: "guess"}, "unknown": {Username: "nobody", Password: "proof"},
	} {
		assert.Equal(t, 401, call(name, c).Code, name)
		assert.Empty(t, came, name)
	}
	assert.Equal(t, 486, call("right", &auth.Credentials{Username: "carrier", Password: "proof"}).Code)
	assert.Equal(t, caller{"second", true}, <-came)
}

func TestPingReportsResponse(t *testing.T) {
	house, carrier := startLoopbackAgent(t, nil), startLoopbackAgent(t, nil)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	pong, err := house.Ping(ctx, domain.Live, targetOf(carrier))
	require.NoError(t, err)
	assert.Equal(t, []any{200, "carrier/1.0", carrier.Addr("udp")}, []any{pong.Code, pong.Server, pong.Addr})
	assert.Contains(t, pong.Allow, "INVITE")
	carrier.Drain(true)
	pong, err = house.Ping(ctx, domain.Live, targetOf(carrier))
	require.NoError(t, err)
	assert.Equal(t, 503, pong.Code, "the node is alive and drains")
	brief, end := context.WithTimeout(ctx, 300*time.Millisecond)
	defer end()
	silent := targetOf(carrier)
	silent.Host = "127.0.0.77"
	_, err = house.Ping(brief, domain.Live, silent)
	require.Error(t, err)
	assert.Eventually(t, func() bool { return house.Counters().Dialogs == 0 }, time.Minute, 10*time.Millisecond, "no client is stored")
}
