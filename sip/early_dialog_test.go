package sip_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/message"
)

// more adds headers, and after "\n\n" a body, to a request of the caller's.
func more(request string, extra ...string) string {
	head, _, _ := strings.Cut(request, "Content-Length: 0")
	body, lines := "", []string{head}
	for _, e := range extra {
		if h, content, isBody := strings.Cut(e, "\n\n"); isBody {
			e, body = h, content
		}
		lines = append(lines, e, "\r\n")
	}
	return strings.Join(lines, "") + fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body)
}

const (
	offerHead = "Content-Type: application/sdp\n\n"
	rel       = "Require: 100rel"
)

func TestReliableAnswersOutOfTurnAreNotAcknowledged(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		s.invite(func(in *sip.Invite) { in.Reliable = true })
		inv := s.peer.expect("INVITE")
		assert.Equal(t, "timer, replaces, 100rel", inv.get("Supported"))
		assert.Empty(t, inv.get("Require"))
		s.peer.send(inv.reply(183, "p1", contact, rel, "RSeq: 5", sdp), s.us())
		prack := s.peer.expect("PRACK sip:peer@127.0.0.1:5070")
		assert.Equal(t, "5 1 INVITE", prack.get("RAck"))
		next[sip.Trying](t, s.events)
		early := next[sip.Early](t, s.events)
		assert.True(t, early.Reliable)
		assert.Equal(t, 500*time.Millisecond, s.peer.expect("PRACK").at.Sub(prack.at))
		s.peer.send(prack.reply(200, ""), s.us())
		s.peer.send(inv.reply(180, "p1", contact, rel, "RSeq: 7"), s.us()) // 6 is missing
		s.peer.send(inv.reply(183, "p1", contact, rel, "RSeq: 5", sdp), s.us())
		s.peer.nothing(time.Second)
		s.events.quiet(t)
		s.peer.send(inv.reply(180, "p1", contact, rel, "RSeq: 6"), s.us())
		assert.Equal(t, "6 1 INVITE", s.peer.expect("PRACK").get("RAck"))
		next[sip.Ringing](t, s.events)
		s.peer.send(inv.reply(200, "p1", contact), s.us())
		ack := s.peer.expect("ACK")
		assert.Equal(t, "1 ACK", ack.get("CSeq"))
		assert.Equal(t, sdp, string(next[sip.Answered](t, s.events).Body))
	})
}

func TestEarlyDialogsAreCapped(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		s.invite(nil)
		inv := s.peer.expect("INVITE")
		for i := range 30 {
			s.peer.send(inv.reply(183, fmt.Sprintf("f%d", i), contact, rel, "RSeq: 1", sdp), s.us())
		}
		for i := range 10 {
			m := s.peer.expect("PRACK")
			assert.Contains(t, m.get("To"), fmt.Sprintf("tag=f%d", i))
			s.peer.send(m.reply(200, ""), s.us())
		}
		s.peer.nothing(5 * time.Second)
		next[sip.Trying](t, s.events)
		for range 10 {
			next[sip.Early](t, s.events)
		}
		s.events.quiet(t)
	})
}

func TestCalledSideSpeaksBeforeItsAnswer(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		d := s.invite(func(in *sip.Invite) { in.Reliable = true })
		inv := s.peer.expect("INVITE")
		offer := offerHead + sdp + "a=sendonly\r\n"
		s.peer.send(s.request(inv, "UPDATE", 1, offer), s.us())
		s.peer.expect("SIP/2.0 481") // no such early dialog
		s.peer.send(inv.reply(183, "p1", contact, rel, "RSeq: 1", "Allow: UPDATE", sdp), s.us())
		prack := s.peer.expect("PRACK")
		s.peer.send(s.request(inv, "UPDATE", 2, offer), s.us())
		s.peer.expect("SIP/2.0 491") // our offer's answer has not been acknowledged
		s.peer.send(prack.reply(200, ""), s.us())
		s.peer.send(s.request(inv, "UPDATE", 3, offer), s.us())
		next[sip.Trying](t, s.events)
		next[sip.Early](t, s.events)
		got := next[sip.Reoffer](t, s.events)
		assert.Equal(t, message.HoldSendOnly, got.Hold)
		s.peer.send(s.request(inv, "UPDATE", 4, offer), s.us())
		assert.NotEmpty(t, s.peer.expect("SIP/2.0 500").get("Retry-After"))
		got.Reply(200, way("recvonly"))
		assert.Contains(t, s.peer.expect("SIP/2.0 200").text, "a=recvonly")
		s.peer.send(s.request(inv, "UPDATE", 3, offer), s.us())
		assert.Contains(t, s.peer.expect("SIP/2.0 200").text, "a=recvonly") // repeated
		s.peer.send(s.request(inv, "BYE", 5), s.us())
		s.peer.expect("SIP/2.0 481") // only a caller may
		s.peer.send(s.request(inv, "INFO", 6, "Content-Type: application/dtmf\n\n5"), s.us())
		s.peer.expect("SIP/2.0 200")
		s.peer.send(s.request(inv, "INVITE", 7, offer), s.us())
		s.peer.expect("SIP/2.0 491")
		s.events.quiet(t)
		d.Cancel("")
		s.peer.expect("CANCEL")
	})
}

func TestProgressIsRepeatedUntilItsPRACKOrTheCallIsRefused(t *testing.T) {
	bubbleIn(t, func(t *testing.T, s *stage, in *desk) {
		s.peer.send(callUs("Supported: 100rel"), s.us())
		s.peer.expect("SIP/2.0 100")
		i := <-in.calls
		i.Notify(s.events.add)
		i.Progress(183, []byte(sdp))
		i.Progress(180, nil)
		first := s.peer.expect("SIP/2.0 183")
		assert.Equal(t, []string{"100rel", "1"}, []string{first.get("Require"), first.get("RSeq")})
		var waits []time.Duration
		for range 6 {
			again := s.peer.expect("SIP/2.0 183")
			assert.Equal(t, first.text, again.text)
			waits = append(waits, again.at.Sub(first.at))
		}
		ms := time.Millisecond
		assert.Equal(t, []time.Duration{500 * ms, 1500 * ms, 3500 * ms, 7500 * ms, 15500 * ms, 31500 * ms}, waits)
		assert.Equal(t, 32*time.Second, s.peer.expect("SIP/2.0 504").at.Sub(first.at))
		assert.Equal(t, 504, next[sip.Refused](t, s.events).Final.Code)
	})
}

func TestAnswerWaitsForThePRACKOfItsSound(t *testing.T) {
	bubbleIn(t, func(t *testing.T, s *stage, in *desk) {
		s.peer.send(callUs("Supported: 100rel"), s.us())
		s.peer.expect("SIP/2.0 100")
		i := <-in.calls
		i.Progress(183, []byte(sdp))
		progress := s.peer.expect("SIP/2.0 183")
		tag := tagOf(progress)
		i.Answer([]byte(sdp), s.events.add)
		s.peer.nothing(100 * time.Millisecond)
		s.peer.send(more(follow("PRACK", tag, 101), "RAck: 2 10 INVITE"), s.us())
		s.peer.expect("SIP/2.0 481")
		s.peer.send(follow("PRACK", tag, 102), s.us())
		s.peer.expect("SIP/2.0 400")
		s.peer.send(more(follow("PRACK", tag, 103), "RAck: 1 10 INVITE"), s.us())
		assert.Equal(t, "103 PRACK", s.peer.expect("SIP/2.0 200").get("CSeq"))
		ok := s.peer.expect("SIP/2.0 200")
		assert.Equal(t, "10 INVITE", ok.get("CSeq"))
		assert.NotContains(t, ok.text, "m=audio")
		s.peer.send(follow("ACK", tag, 10), s.us())
		s.peer.nothing(5 * time.Minute)
		s.events.quiet(t)
	})
}

func TestCallerGivesUpWhileTheAnswerWaits(t *testing.T) {
	bubbleIn(t, func(t *testing.T, s *stage, in *desk) {
		s.peer.send(callUs("Supported: 100rel"), s.us())
		s.peer.expect("SIP/2.0 100")
		i := <-in.calls
		i.Progress(183, []byte(sdp))
		s.peer.expect("SIP/2.0 183")
		i.Answer([]byte(sdp), s.events.add)
		s.peer.send(follow("CANCEL", "", 10), s.us())
		s.peer.expect("SIP/2.0 200")
		s.peer.expect("SIP/2.0 487")
		assert.True(t, next[sip.Ended](t, s.events).ByRemote)
		synctest.Wait()
		assert.Zero(t, s.ua.Counters().UnansweredCalls)
	})
}

func TestOfferInThePRACKIsAnsweredThere(t *testing.T) {
	bubbleIn(t, func(t *testing.T, s *stage, in *desk) {
		s.peer.send(callUs("Supported: 100rel", "no body"), s.us())
		s.peer.expect("SIP/2.0 100")
		i := <-in.calls
		i.Notify(s.events.add)
		i.Progress(183, []byte(sdp)) // our offer, for there was none
		tag := tagOf(s.peer.expect("SIP/2.0 183"))
		s.peer.send(more(follow("PRACK", tag, 11), "RAck: 1 10 INVITE", offerHead+sdp), s.us())
		s.peer.expect("SIP/2.0 200")
		assert.Equal(t, sdp, string(next[sip.Accepted](t, s.events).Body))
		i.Progress(180, nil)
		s.peer.expect("SIP/2.0 180")
		s.peer.send(more(follow("PRACK", tag, 12), "RAck: 2 10 INVITE", offerHead+sdp+"a=inactive\r\n"), s.us())
		offer := next[sip.Reoffer](t, s.events)
		assert.Equal(t, message.HoldInactive, offer.Hold)
		offer.Reply(200, way("inactive"))
		assert.Contains(t, s.peer.expect("SIP/2.0 200").text, "a=inactive")
	})
}

func TestEarlySoundIsNotOfferedUnreliably(t *testing.T) {
	bubbleIn(t, func(t *testing.T, s *stage, in *desk) {
		s.peer.send(callUs("no body"), s.us())
		s.peer.expect("SIP/2.0 100")
		i := <-in.calls
		i.Progress(183, []byte(sdp))
		m := s.peer.expect("SIP/2.0 183")
		assert.NotContains(t, m.text, "m=audio")
		assert.Empty(t, m.get("RSeq"))
		assert.Equal(t, time.Minute, s.peer.expect("SIP/2.0 183").at.Sub(m.at))
		i.Reject(486, 0)
		s.peer.expect("SIP/2.0 486")
	})
}

func TestNothingIsOfferedBeforeTheAnswerWithoutUPDATE(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		d := s.invite(func(in *sip.Invite) { in.Reliable = true })
		inv := s.peer.expect("INVITE")
		got := make(chan sip.OfferResult, 2)
		d.Reoffer([]byte(sdp), func(r sip.OfferResult) { got <- r })
		require.Error(t, (<-got).Err)
		s.peer.send(inv.reply(183, "p1", contact, rel, "RSeq: 1", "Allow: INVITE, BYE", sdp), s.us())
		prack := s.peer.expect("PRACK")
		s.peer.send(prack.reply(200, ""), s.us())
		synctest.Wait()
		d.Reoffer([]byte(sdp), func(r sip.OfferResult) { got <- r })
		require.Error(t, (<-got).Err)
	})
}

func TestReliableAnswersThatDoNotWaitForTheirPRACKCostLittle(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		s.invite(func(in *sip.Invite) { in.Reliable = true })
		inv := s.peer.expect("INVITE")
		for n := range 100 {
			s.peer.send(inv.reply(180, "p1", contact, rel, fmt.Sprintf("RSeq: %d", n+1)), s.us())
		}
		for range 8 {
			s.peer.expect("PRACK")
		}
		s.peer.nothing(400 * time.Millisecond)
	})
}
