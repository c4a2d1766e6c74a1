package sip_test

import (
	"crypto/tls"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/auth"
	"github.com/callboard/callboard/sip/forking"
	"github.com/callboard/callboard/sip/outcome"
	"github.com/callboard/callboard/sip/registrar"
	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/transport"
)

func TestSuspendCallsStopsInitialInvites(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		target := resolve.Target{Host: "127.0.0.1", Port: 5070, Transport: "udp"}
		s.invite(func(in *sip.Invite) { in.Credentials = &auth.Credentials{Username: "u", Password: "p"} })
		asked := s.peer.expect("INVITE")
		s.ua.SuspendCalls(true)
		_, err := s.ua.Invite(sip.Invite{Attempt: "att_2", Leg: 1, Target: target, To: "+15550002", From: "+15559999", Notify: s.events.add})
		require.ErrorIs(t, err, transport.ErrCallsSuspended)
		_, err = forking.Invite(s.ua, sip.Invite{Attempt: "att_3", Leg: 1, To: "88", From: "+15559999", Contacts: []registrar.Contact{{URI: "sip:88@127.0.0.1:5070", Target: target}}, Notify: s.events.add})
		require.ErrorIs(t, err, transport.ErrCallsSuspended)
		s.peer.send(asked.reply(401, "p1", `WWW-Authenticate: Digest realm="r", nonce="n", qop="auth"`), s.localAddr())
		s.peer.expect("ACK")
		f := next[sip.Refused](t, s.events).Final
		assert.True(t, f.CallsSuspended)
		assert.Equal(t, domain.ReasonNotSent, outcome.Classify(f).Reason)
		assert.False(t, outcome.Classify(f).SpendsAttempt(), "the attempt is not spent")
		s.peer.expectNothing(time.Minute)
		s.ua.SuspendCalls(false)
		d := s.invite(func(in *sip.Invite) { in.Attempt = "att_4" })
		assert.Equal(t, d.CallID(), s.peer.expect("INVITE").get("Call-ID"))
		synctest.Wait()
	})
}

// The permission to call may end while an INVITE waits for its connection. The INVITE is not sent then.
func TestInviteIsNotSentOnceMayCallReturnsFalse(t *testing.T) {
	t.Parallel()
	for name, own := range map[string]bool{"nobody of the agent": false, "whom the call is of": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testMayCallReturnsFalse(t, own)
		})
	}
}

func testMayCallReturnsFalse(t *testing.T, own bool) {
	var asked atomic.Int32
	once := func() bool { return asked.Add(1) == 1 }
	there, here := newEventLog(), newEventLog()
	far := startUserAgent(t, answerCalls(there))
	near := startUserAgent(t, func(c *sip.Config, _ *sip.UserAgent) {
		if !own {
			c.MayCall = once
		}
	})
	in := sip.Invite{Attempt: "a", Leg: 1, Target: resolve.Target{Host: "127.0.0.1", Port: int(far.Addr("udp").Port())}, To: "+15550001", From: "+15559999", Notify: here.add}
	if own {
		in.MayBegin = once
	}
	_, err := near.Invite(in)
	require.NoError(t, err, "the first check")
	f := next[sip.Refused](t, here).Final
	assert.True(t, f.CallsSuspended)
	in.Attempt = "b"
	_, err = near.Invite(in)
	require.ErrorIs(t, err, transport.ErrCallsSuspended)
	assert.Zero(t, far.Counters().Incoming)
}

func TestSuspendCallsKeepsLiveCalls(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		d, _, _ := s.establishCall()
		s.ua.SuspendCalls(true)
		d.Reoffer([]byte(sdp), func(sip.OfferResult) {})
		again := s.peer.expect("INVITE")
		assert.Equal(t, d.CallID(), again.get("Call-ID"), "within its dialog")
		d.Bye(16, "done")
	})
}

func TestSuspendCallsStopsInviteWaitingForConnection(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	of, asked, goOn := ca.certificateSource("127.0.0.1", time.Hour), make(chan struct{}, 8), make(chan struct{})
	var slow atomic.Bool
	there, here := newEventLog(), newEventLog()
	far := startUserAgent(t, listenTLS(&transport.TLS{Roots: ca.pool, Certificate: func() (*tls.Certificate, error) {
		if slow.Load() {
			asked <- struct{}{}
			<-goOn
		}
		return of()
	}}, answerCalls(there)))
	near := startUserAgent(t, listenTLS(&transport.TLS{Certificate: of, Roots: ca.pool}, nil))
	slow.Store(true)
	_, err := near.Invite(newTLSInvite(far, here, ""))
	require.NoError(t, err)
	<-asked // the handshake has begun
	near.SuspendCalls(true)
	close(goOn)
	f := next[sip.Refused](t, here).Final
	assert.True(t, f.CallsSuspended)
	assert.Equal(t, domain.ReasonNotSent, outcome.Classify(f).Reason)
	near.SuspendCalls(false)
	again := newTLSInvite(far, here, "")
	again.Attempt = "again"
	d, err := near.Invite(again)
	require.NoError(t, err)
	next[sip.Trying](t, here)
	next[sip.Ringing](t, here)
	next[sip.Answered](t, here)
	assert.Equal(t, uint64(1), far.Counters().Incoming, "one INVITE arrived")
	assert.Equal(t, 1, near.Counters().TCP, "the connection was good")
	d.Bye(16, "done")
}

func TestSuspendCallsRefusesRefer(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		d, _, _ := s.establishCall()
		s.ua.SuspendCalls(true)
		told := make(chan sip.ReferProgress, 1)
		d.Refer(sip.ReferTo{URI: "sip:88@127.0.0.1:5070"}, func(p sip.ReferProgress) { told <- p })
		p := <-told
		assert.True(t, p.Final && p.Failed)
		assert.Equal(t, 503, p.Code)
		s.peer.expectNothing(time.Second)
		d.Bye(16, "done")
	})
}
