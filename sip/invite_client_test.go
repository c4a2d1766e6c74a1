package sip_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/outcome"
	"github.com/callboard/callboard/sip/resolve"
)

// bubble runs a test on synthetic time with a user agent and a scripted peer.
func bubble(t *testing.T, f func(t *testing.T, s *stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, nil)
		f(t, s)
		s.stop()
	})
}

func TestCallIsAnswered(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		d := s.invite(func(in *sip.Invite) { in.FromName = `Praxis "Ä"` })
		inv := s.peer.expect("INVITE sip:+15550001@127.0.0.1:5070 SIP/2.0")
		assert.Equal(t, d.CallID(), inv.get("Call-ID"))
		assert.Equal(t, s.ua.CallID("att_1", 1), inv.get("Call-ID"))
		assert.True(t, strings.HasPrefix(inv.get("From"), `"Praxis \"Ä\"" <sip:+15559999@127.0.0.1>;tag=`), inv.get("From"))
		assert.Equal(t, "timer, replaces", inv.get("Supported"))
		assert.Empty(t, inv.get("Require"))
		s.peer.send(inv.reply(100, ""), s.localAddr())
		next[sip.Trying](t, s.events)
		time.Sleep(2 * time.Second)
		s.peer.send(inv.reply(180, "p1", contact), s.localAddr())
		ring := next[sip.Ringing](t, s.events)
		assert.Equal(t, 180, ring.Code)
		assert.Equal(t, "p1", ring.State.RemoteTag)
		assert.False(t, ring.State.Confirmed)
		s.peer.send(inv.reply(200, "p1", contact, "Record-Route: <sip:10.0.0.1;lr>, <sip:127.0.0.1:5070;lr;n=2>", sdp), s.localAddr())
		ack := s.peer.expect("ACK sip:peer@127.0.0.1:5070 SIP/2.0")
		assert.Equal(t, "1 ACK", ack.get("CSeq"))
		answered := next[sip.Answered](t, s.events)
		assert.Equal(t, 2*time.Second, answered.PDD)
		assert.Equal(t, sdp, string(answered.Body))
		assert.True(t, answered.State.Confirmed)
		assert.Equal(t, []string{"sip:127.0.0.1:5070;lr;n=2", "sip:10.0.0.1;lr"}, answered.State.Routes)
		assert.Equal(t, "<sip:127.0.0.1:5070;lr;n=2>", ack.get("Route"))
		s.peer.expectNothing(time.Minute)
	})
}

func TestByeEndsTheCallOnce(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		d, _, _ := s.establishCall()
		d.Bye(16, "done")
		d.Bye(16, "done")
		bye := s.peer.expect("BYE sip:peer@127.0.0.1:5070")
		assert.Equal(t, `Q.850;cause=16;text="done"`, bye.get("Reason"))
		assert.Equal(t, "2 BYE", bye.get("CSeq"))
		s.events.requireNoEvent(t)
		s.peer.send(bye.reply(200, ""), s.localAddr())
		ended := next[sip.Ended](t, s.events)
		assert.False(t, ended.ByRemote)
		s.peer.expectNothing(time.Minute)
		s.events.requireNoEvent(t)
	})
}

func TestByeWithoutResponseIsRepeatedAndGivenUp(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		d, _, _ := s.establishCall()
		d.Bye(16, "")
		first := s.peer.expect("BYE")
		var waits []time.Duration
		for range 10 {
			waits = append(waits, s.peer.expect("BYE").at.Sub(first.at))
		}
		ms := time.Millisecond
		assert.Equal(t, []time.Duration{
			500 * ms, 1500 * ms, 3500 * ms, 7500 * ms, 11500 * ms, 15500 * ms, 19500 * ms, 23500 * ms, 27500 * ms, 31500 * ms,
		}, waits)
		assert.True(t, next[sip.Ended](t, s.events).Fault)
		assert.Equal(t, 32*time.Second, time.Since(first.at))
		s.peer.expectNothing(time.Minute)
	})
}

func TestRingingBeforeTryingIsReportedInOrder(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		s.invite(nil)
		inv := s.peer.expect("INVITE")
		s.peer.send(inv.reply(180, "p1", contact), s.localAddr())
		s.peer.send(inv.reply(100, ""), s.localAddr())
		s.peer.send(inv.reply(180, "p1", contact), s.localAddr())
		next[sip.Trying](t, s.events)
		next[sip.Ringing](t, s.events)
		synctest.Wait()
		s.events.requireNoEvent(t)
	})
}

func TestSilentTargetFailsAndLateRingingIsCancelled(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		s.invite(nil)
		first := s.peer.expect("INVITE")
		var waits []time.Duration
		for range 3 {
			m := s.peer.expect("INVITE")
			assert.Equal(t, first.text, m.text)
			waits = append(waits, m.at.Sub(first.at))
		}
		assert.Equal(t, []time.Duration{500 * time.Millisecond, 1500 * time.Millisecond, 3500 * time.Millisecond}, waits)
		refused := next[sip.Refused](t, s.events)
		assert.Equal(t, 5*time.Second, time.Since(first.at))
		assert.Equal(t, outcome.Final{NoResponse: true, Sent: true}, refused.Final)
		s.peer.expectNothing(20 * time.Second)
		s.peer.send(first.reply(180, "p1", contact), s.localAddr())
		cancel := s.peer.expect("CANCEL")
		assert.Equal(t, first.get("Via"), cancel.get("Via"))
		s.peer.send(cancel.reply(200, ""), s.localAddr())
		s.peer.send(first.reply(487, "p1"), s.localAddr())
		ack := s.peer.expect("ACK")
		assert.Equal(t, first.get("Via"), ack.get("Via"))
		assert.Contains(t, ack.get("To"), "tag=p1")
		synctest.Wait()
		s.events.requireNoEvent(t)
	})
}

func TestLate2xxIsAcknowledgedAndEnded(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		s.invite(nil)
		first := s.peer.expect("INVITE")
		for range 3 {
			s.peer.expect("INVITE")
		}
		next[sip.Refused](t, s.events)
		time.Sleep(30 * time.Second)
		s.peer.send(first.reply(200, "p1", contact, sdp), s.localAddr())
		s.peer.expect("ACK")
		bye := s.peer.expect("BYE")
		assert.Contains(t, bye.get("To"), "tag=p1")
		s.peer.send(bye.reply(200, ""), s.localAddr())
		s.peer.expectNothing(time.Minute)
		s.events.requireNoEvent(t)
	})
}

func TestCancelWaitsForTheFirstProvisional(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		d := s.invite(nil)
		inv := s.peer.expect("INVITE")
		d.Cancel("given up")
		d.Cancel("given up")
		s.peer.expectNothing(400 * time.Millisecond)
		s.peer.send(inv.reply(100, ""), s.localAddr())
		next[sip.Trying](t, s.events)
		cancel := s.peer.expect("CANCEL " + strings.Fields(inv.line())[1])
		assert.Equal(t, inv.get("Via"), cancel.get("Via"))
		assert.Equal(t, inv.get("To"), cancel.get("To"))
		assert.Equal(t, "1 CANCEL", cancel.get("CSeq"))
		s.peer.send(cancel.reply(200, "p1"), s.localAddr())
		s.peer.expectNothing(time.Second)
		s.events.requireNoEvent(t)
		s.peer.send(inv.reply(487, "p1"), s.localAddr())
		s.peer.expect("ACK")
		refused := next[sip.Refused](t, s.events)
		assert.Equal(t, outcome.Final{Code: 487, Phrase: "X", Cancelled: true, Sent: true}, refused.Final)
		// The remote party repeats the 487 because its ACK was lost. The 487 gets another ACK.
		s.peer.send(inv.reply(487, "p1"), s.localAddr())
		s.peer.expect("ACK")
		s.peer.expectNothing(time.Minute)
		s.events.requireNoEvent(t)
	})
}

func TestCancelOfSilentTargetIsNotSent(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		d := s.invite(nil)
		s.peer.expect("INVITE")
		d.Cancel("")
		for range 3 {
			s.peer.expect("INVITE")
		}
		f := next[sip.Refused](t, s.events).Final
		assert.True(t, f.NoResponse && f.Cancelled)
	})
}

func TestCancelCrossing2xxEndsCall(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		d := s.invite(nil)
		inv := s.peer.expect("INVITE")
		s.peer.send(inv.reply(180, "p1", contact), s.localAddr())
		next[sip.Trying](t, s.events)
		next[sip.Ringing](t, s.events)
		d.Cancel("given up")
		cancel := s.peer.expect("CANCEL")
		s.peer.send(inv.reply(200, "p1", contact, sdp), s.localAddr())
		s.peer.expect("ACK")
		bye := s.peer.expect("BYE")
		s.peer.send(cancel.reply(481, "p1"), s.localAddr())
		s.events.requireNoEvent(t)
		s.peer.send(bye.reply(200, ""), s.localAddr())
		f := next[sip.Refused](t, s.events).Final
		assert.True(t, f.Cancelled)
		assert.True(t, f.RangBefore)
		// The remote party repeats the 200, which gets another ACK and no second BYE.
		s.peer.send(inv.reply(200, "p1", contact, sdp), s.localAddr())
		s.peer.expect("ACK")
		s.peer.expectNothing(time.Minute)
		s.events.requireNoEvent(t)
	})
}

func TestCancelWithoutResponseEndsAfter32Seconds(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		d := s.invite(nil)
		inv := s.peer.expect("INVITE")
		s.peer.send(inv.reply(180, "p1", contact), s.localAddr())
		next[sip.Trying](t, s.events)
		next[sip.Ringing](t, s.events)
		start := time.Now()
		d.Cancel("")
		next[sip.Refused](t, s.events)
		assert.Equal(t, 32*time.Second, time.Since(start))
	})
}

func TestRingTimeoutCancelsAndIsClassifiedNoAnswer(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		s.invite(nil)
		inv := s.peer.expect("INVITE")
		s.peer.send(inv.reply(100, ""), s.localAddr())
		time.Sleep(10 * time.Second)
		s.peer.send(inv.reply(180, "p1", contact), s.localAddr())
		next[sip.Trying](t, s.events)
		next[sip.Ringing](t, s.events)
		rang := time.Now()
		cancel := s.peer.expect("CANCEL")
		assert.Equal(t, 30*time.Second, cancel.at.Sub(rang))
		s.peer.send(cancel.reply(200, ""), s.localAddr())
		s.peer.send(inv.reply(487, "p1"), s.localAddr())
		s.peer.expect("ACK")
		f := next[sip.Refused](t, s.events).Final
		assert.Equal(t, outcome.Final{Code: 487, Phrase: "X", RingTimeout: true, RangBefore: true, Sent: true, PDD: 10 * time.Second}, f)
		assert.EqualValues(t, "no_answer", outcome.Classify(f).Outcome)
	})
}

func TestTimerCEndsRingingThatIsNotRefreshed(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		s.invite(func(in *sip.Invite) { in.RingTimeout = time.Hour })
		inv := s.peer.expect("INVITE")
		s.peer.send(inv.reply(180, "p1", contact), s.localAddr())
		time.Sleep(2 * time.Minute)
		s.peer.send(inv.reply(183, "p1", contact), s.localAddr())
		synctest.Wait()
		start := time.Now()
		assert.Equal(t, 3*time.Minute, s.peer.expectWithinHour("CANCEL").at.Sub(start))
	})
}

func TestSetupTimeoutIsClassifiedTrunkError(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		s.invite(nil)
		inv := s.peer.expect("INVITE")
		s.peer.send(inv.reply(100, ""), s.localAddr())
		cancel := s.peer.expect("CANCEL")
		assert.Equal(t, 60*time.Second, cancel.at.Sub(inv.at))
		s.peer.send(inv.reply(487, "p1"), s.localAddr())
		next[sip.Trying](t, s.events)
		f := next[sip.Refused](t, s.events).Final
		assert.EqualValues(t, "trunk_error", outcome.Classify(f).Reason)
	})
}

func TestSurplusForksAreAcknowledgedAndEnded(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		_, inv, _ := s.establishCall()
		for i := range 12 {
			tag := "fork" + string(rune('a'+i))
			s.peer.send(inv.reply(200, tag, "Contact: <sip:"+tag+"@127.0.0.1:5070>", sdp), s.localAddr())
			if i >= 10 {
				s.peer.expectNothing(time.Second)
				continue
			}
			ack := s.peer.expect("ACK sip:" + tag + "@")
			assert.Contains(t, ack.get("To"), "tag="+tag)
			bye := s.peer.expect("BYE sip:" + tag + "@")
			assert.Contains(t, bye.get("To"), "tag="+tag)
			s.peer.send(bye.reply(200, ""), s.localAddr())
		}
		s.events.requireNoEvent(t)
	})
}

func TestRepeated2xxGetsSameAck(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		_, inv, ack := s.establishCall()
		for range 3 {
			s.peer.send(inv.reply(200, "p1", contact, sdp), s.localAddr())
			assert.Equal(t, ack.text, s.peer.expect("ACK").text)
		}
		s.events.requireNoEvent(t)
	})
}

func TestRefusalIsAcknowledgedAndReported(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		s.invite(nil)
		inv := s.peer.expect("INVITE")
		s.peer.send(inv.reply(503, "p1", "Retry-After: 7 (later);duration=1", `Reason: Q.850;cause=34;text="No circuit"`), s.localAddr())
		ack := s.peer.expect("ACK sip:+15550001@127.0.0.1:5070 SIP/2.0")
		assert.Equal(t, inv.get("Via"), ack.get("Via"))
		f := next[sip.Refused](t, s.events).Final
		assert.Equal(t, outcome.Final{
			Code: 503, Phrase: "X", Reason: `Q.850;cause=34;text="No circuit"`, Q850: 34, RetryAfter: 7 * time.Second, Sent: true,
		}, f)
	})
}

func TestCrossingByesEndCallOnce(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		d, inv, _ := s.establishCall()
		d.Bye(16, "")
		bye := s.peer.expect("BYE")
		s.peer.send(s.request(inv, "BYE", 1), s.localAddr())
		s.peer.expect("SIP/2.0 200 OK")
		next[sip.Ended](t, s.events)
		s.peer.send(bye.reply(481, ""), s.localAddr())
		s.peer.send(s.request(inv, "BYE", 1), s.localAddr())
		s.peer.expect("SIP/2.0 200 OK")
		synctest.Wait()
		s.events.requireNoEvent(t)
	})
}

func TestByeOfRemotePartyReportsReason(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		_, inv, _ := s.establishCall()
		s.peer.send(s.request(inv, "BYE", 7, `Reason: Q.850;cause=17;text="busy"`, "X-RTP-Stat: a=b"), s.localAddr())
		s.peer.expect("SIP/2.0 200 OK")
		assert.Equal(t, sip.Ended{
			ByRemote: true, Q850: 17, Text: "busy",
			Header: map[string]string{"Reason": `Q.850;cause=17;text="busy"`, "X-Rtp-Stat": "a=b"},
		}, next[sip.Ended](t, s.events))
	})
}

func TestPanicInNotifyAffectsOneCallback(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		s.invite(func(in *sip.Invite) {
			in.Notify = func(ev sip.Event) {
				s.events.add(ev)
				panic("planted")
			}
		})
		inv := s.peer.expect("INVITE")
		s.peer.send(inv.reply(180, "p1", contact), s.localAddr())
		s.peer.send(inv.reply(200, "p1", contact, sdp), s.localAddr())
		s.peer.expect("ACK")
		next[sip.Trying](t, s.events)
		next[sip.Ringing](t, s.events)
		next[sip.Answered](t, s.events)
		synctest.Wait()
		assert.EqualValues(t, 3, s.ua.Counters().Panics)
	})
}

func TestInviteRefusesInvalidInput(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		for name, change := range map[string]func(*sip.Invite){
			"number":    func(in *sip.Invite) { in.To = "+1555\r\nX: y" },
			"uri":       func(in *sip.Invite) { in.To = "1@evil;x" },
			"caller":    func(in *sip.Invite) { in.From = "" },
			"name":      func(in *sip.Invite) { in.FromName = "a\nb" },
			"domain":    func(in *sip.Invite) { in.FromDomain = "a b" },
			"host":      func(in *sip.Invite) { in.Target.Host = "a/b" },
			"transport": func(in *sip.Invite) { in.Target.Transport = "sctp" },
			"header":    func(in *sip.Invite) { in.Headers = []message.Header{{Name: "X-A", Value: "1\r\nVia: x"}} },
			"NUL":       func(in *sip.Invite) { in.Headers = []message.Header{{Name: "X-A", Value: "1\x00"}} },
			"core":      func(in *sip.Invite) { in.Headers = []message.Header{{Name: "Call-ID", Value: "1"}} },
			"attempt":   func(in *sip.Invite) { in.Attempt = "" },
		} {
			in := sip.Invite{Attempt: "a", Target: resolve.Target{Host: "127.0.0.1", Port: 5070}, To: "+1555", From: "+1556"}
			change(&in)
			_, err := s.ua.Invite(in)
			require.Error(t, err, name)
		}
		s.invite(nil)
		s.peer.expect("INVITE")
		_, err := s.ua.Invite(sip.Invite{Attempt: "att_1", Leg: 1, Target: resolve.Target{Host: "127.0.0.1"}, To: "+1", From: "+2"})
		require.ErrorContains(t, err, "was already sent")
	})
}
