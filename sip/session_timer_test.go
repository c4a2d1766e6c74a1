package sip_test

import (
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip"
)

// establishTimedCall makes an outbound call with a session timer. extra are headers of the 200.
func (s *stage) establishTimedCall(extra ...string) (d *sip.Dialog, inv msg, at time.Time) {
	s.t.Helper()
	d = s.invite(func(in *sip.Invite) { in.SessionExpires = 30 * time.Minute })
	inv = s.peer.expect("INVITE")
	assert.Equal(s.t, "1800", inv.get("Session-Expires"))
	s.peer.send(inv.reply(200, "p1", append([]string{contact, sdp}, extra...)...), s.localAddr())
	s.peer.expect("ACK")
	next[sip.Answered](s.t, s.events)
	return d, inv, time.Now()
}

func TestSessionTimerRefreshesAtHalfTime(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		_, _, at := s.establishTimedCall("Session-Expires: 1800;refresher=uac", "Allow: UPDATE")
		for i := range 3 {
			m := s.peer.expectWithinHour("UPDATE sip:peer@")
			assert.Equal(t, time.Duration(i+1)*15*time.Minute, m.at.Sub(at))
			assert.Equal(t, "1800;refresher=uac", m.get("Session-Expires"))
			assert.Equal(t, "0", m.get("Content-Length"))
			s.peer.send(m.reply(200, "", contact, "Session-Expires: 1800;refresher=uac"), s.localAddr())
		}
		// The peer does not answer this UPDATE, so it is retransmitted and then the call is ended.
		first := s.peer.expectWithinHour("UPDATE")
		for range 10 {
			s.peer.expect("UPDATE")
		}
		bye := s.peer.expect("BYE")
		assert.Equal(t, 32*time.Second, bye.at.Sub(first.at))
		s.peer.send(bye.reply(200, ""), s.localAddr())
		assert.True(t, next[sip.Ended](t, s.events).Fault)
	})
}

func TestSessionTimerEndsCallWithoutRefresh(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		_, inv, at := s.establishTimedCall("Session-Expires: 1800;refresher=uas")
		time.Sleep(20 * time.Minute)
		s.peer.send(s.request(inv, "UPDATE", 1, "Supported: timer", "x: 600;refresher=uac"), s.localAddr())
		ok := s.peer.expect("SIP/2.0 200")
		assert.Equal(t, []string{"600;refresher=uac", "timer"}, []string{ok.get("Session-Expires"), ok.get("Require")})
		bye := s.peer.expectWithinHour("BYE")
		assert.Equal(t, 30*time.Minute-32*time.Second, bye.at.Sub(at))
		assert.Contains(t, bye.get("Reason"), "cause=102")
		s.peer.send(bye.reply(200, ""), s.localAddr())
		assert.Equal(t, 102, next[sip.Ended](t, s.events).Q850)
	})
}

func TestSessionTimerIsOffWithoutPeerSupport(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		s.establishTimedCall()
		s.peer.expectNothing(5 * time.Hour)
		s.events.requireNoEvent(t)
	})
}

func TestRefusedSessionRefreshFallsBackToReinvite(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		_, _, at := s.establishTimedCall("Session-Expires: 1800;refresher=uac", "Allow: UPDATE")
		update := s.peer.expectWithinHour("UPDATE")
		s.peer.send(update.reply(500, ""), s.localAddr())
		again := s.peer.expectWithinHour("UPDATE")
		assert.Equal(t, 15*time.Minute+434*time.Second, again.at.Sub(at)) // half of the remaining time
		s.peer.send(again.reply(405, ""), s.localAddr())
		re := s.peer.expect("INVITE")
		assert.Equal(t, "1800;refresher=uac", re.get("Session-Expires"))
		assert.True(t, strings.HasSuffix(re.text, sdp))
		s.peer.send(re.reply(200, "", contact, sdp, "Session-Expires: 1800;refresher=uac"), s.localAddr())
		s.peer.expect("ACK")
		settled := time.Now()
		re = s.peer.expectWithinHour("INVITE") // later refreshes also use INVITE
		assert.Equal(t, 15*time.Minute, re.at.Sub(settled))
		s.peer.send(re.reply(422, "", "Min-SE: 3600"), s.localAddr())
		s.peer.expect("ACK")
		re = s.peer.expect("INVITE")
		assert.Equal(t, []string{"3600;refresher=uac", "3600"}, []string{re.get("Session-Expires"), re.get("Min-SE")})
		s.peer.send(re.reply(481, ""), s.localAddr())
		s.peer.expect("ACK")
		s.peer.expect("BYE")
	})
}

func TestSessionTimerIsRaisedAfter422(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		s.invite(nil)
		inv := s.peer.expect("INVITE")
		assert.Empty(t, inv.get("Session-Expires"))
		for i := range 4 {
			least := strconv.Itoa(1800 + i)
			s.peer.send(inv.reply(422, "p0", "Min-SE: "+least), s.localAddr())
			s.peer.expect("ACK")
			inv = s.peer.expect("INVITE")
			assert.Equal(t, []string{least, least}, []string{inv.get("Session-Expires"), inv.get("Min-SE")})
		}
		s.peer.send(inv.reply(422, "p0", "Min-SE: 1900"), s.localAddr()) // the fifth 422 is not followed
		s.peer.expect("ACK")
		assert.Equal(t, 422, next[sip.Refused](t, s.events).Final.Code)
	})
}

func TestSessionTimerOfInboundCall(t *testing.T) {
	for name, c := range map[string]struct {
		lines []string
		want  []string // Session-Expires and Require of the 200
	}{
		"nobody asks":              {nil, []string{"", ""}},
		"the caller refreshes":     {[]string{"Supported: timer", "Session-Expires: 600;refresher=uac"}, []string{"600;refresher=uac", "timer"}},
		"we refresh":               {[]string{"k: timer", "x: 600;refresher=uas"}, []string{"600;refresher=uas", "timer"}},
		"it is left to us":         {[]string{"Supported: timer", "Session-Expires: 600"}, []string{"600;refresher=uac", "timer"}},
		"a proxy asks":             {[]string{"Session-Expires: 600"}, []string{"600;refresher=uas", ""}},
		"a proxy asks too much":    {[]string{"Session-Expires: 60"}, []string{"", ""}},
		"it cannot be read":        {[]string{"Supported: timer", "Session-Expires: soon"}, []string{"", ""}},
		"nobody knows the referee": {[]string{"Supported: timer", "Session-Expires: 600;refresher=me"}, []string{"", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			bubbleInbound(t, func(t *testing.T, s *stage, in *callReceiver) {
				s.peer.send(inboundInvite(c.lines...), s.localAddr())
				s.peer.expect("SIP/2.0 100")
				(<-in.calls).Answer([]byte(sdp), s.events.add)
				ok := s.peer.expect("SIP/2.0 200")
				assert.Equal(t, c.want, []string{ok.get("Session-Expires"), ok.get("Require")})
				s.peer.send(followUpRequest("ACK", toTagOf(ok), 10), s.localAddr())
				synctest.Wait()
			})
		})
	}
}

func TestShortSessionIntervalGets422(t *testing.T) {
	bubbleInbound(t, func(t *testing.T, s *stage, in *callReceiver) {
		s.peer.send(inboundInvite("Supported: timer", "Session-Expires: 89"), s.localAddr())
		assert.Equal(t, "90", s.peer.expect("SIP/2.0 422").get("Min-SE"))
		s.peer.send(inboundInvite("Supported: timer", "Session-Expires: 90", "CSeq: 11 INVITE"), s.localAddr())
		s.peer.expect("SIP/2.0 100")
		(<-in.calls).Answer([]byte(sdp), s.events.add)
		ok := s.peer.expect("SIP/2.0 200")
		s.peer.send(followUpRequest("ACK", toTagOf(ok), 11), s.localAddr())
		s.peer.send(withHeaders(followUpRequest("UPDATE", toTagOf(ok), 12), "Supported: timer", "Session-Expires: 1"), s.localAddr())
		assert.Equal(t, "90", s.peer.expect("SIP/2.0 422").get("Min-SE"))
		assert.Equal(t, 60*time.Second, func() time.Duration { start := time.Now(); return s.peer.expect("BYE").at.Sub(start) }())
	})
}

func TestEndedCallIsNotRefreshed(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		d, _, _ := s.establishTimedCall("Session-Expires: 1800;refresher=uac", "Allow: UPDATE")
		d.Bye(16, "")
		bye := s.peer.expect("BYE")
		s.peer.send(bye.reply(200, ""), s.localAddr())
		next[sip.Ended](t, s.events)
		s.peer.expectNothing(2 * time.Hour)
		require.Zero(t, s.ua.Counters().Dialogs)
	})
}

func TestReinviteAfterLostAckIsAccepted(t *testing.T) {
	bubbleInbound(t, func(t *testing.T, s *stage, in *callReceiver) {
		s.peer.send(inboundInvite(), s.localAddr())
		s.peer.expect("SIP/2.0 100")
		d := (<-in.calls).Answer([]byte(sdp), s.events.add)
		tag := toTagOf(s.peer.expect("SIP/2.0 200"))
		got := make(chan sip.OfferResult, 1)
		d.Reoffer([]byte(sdp), func(r sip.OfferResult) { got <- r }) // waits for the ACK
		s.peer.send(withHeaders(followUpRequest("INVITE", tag, 11), contact, sdpContentType+sdp), s.localAddr())
		s.peer.expect("SIP/2.0 100")
		next[sip.Reoffer](t, s.events).Reply(200, []byte(sdp))
		assert.Equal(t, "11 INVITE", s.peer.expect("SIP/2.0 200").get("CSeq"))
		s.peer.expectNothing(100 * time.Millisecond)
		s.peer.send(followUpRequest("ACK", tag, 11), s.localAddr())
		ours := s.peer.expect("INVITE")
		s.peer.send(ours.reply(500, "", "Retry-After: 3"), s.localAddr())
		s.peer.expect("ACK")
		again := s.peer.expect("INVITE")
		assert.LessOrEqual(t, again.at.Sub(ours.at), 2*time.Second)
		s.peer.send(again.reply(488, ""), s.localAddr())
		s.peer.expect("ACK")
		assert.Equal(t, 488, (<-got).Code)
		s.peer.expectNothing(10 * time.Minute)
	})
}
