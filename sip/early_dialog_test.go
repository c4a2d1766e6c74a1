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

// withHeaders adds headers to a request of the caller. An element of extra with an empty line consists of a header and
// the body after that line.
func withHeaders(request string, extra ...string) string {
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
	sdpContentType = "Content-Type: application/sdp\n\n"
	require100rel  = "Require: 100rel"
)

func TestReliableProvisionalOutOfOrderGetsNoPrack(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		s.invite(func(in *sip.Invite) { in.Reliable = true })
		inv := s.peer.expect("INVITE")
		assert.Equal(t, "timer, replaces, 100rel", inv.get("Supported"))
		assert.Empty(t, inv.get("Require"))
		s.peer.send(inv.reply(183, "p1", contact, require100rel, "RSeq: 5", sdp), s.localAddr())
		prack := s.peer.expect("PRACK sip:peer@127.0.0.1:5070")
		assert.Equal(t, "5 1 INVITE", prack.get("RAck"))
		next[sip.Trying](t, s.events)
		early := next[sip.Early](t, s.events)
		assert.True(t, early.Reliable)
		assert.Equal(t, 500*time.Millisecond, s.peer.expect("PRACK").at.Sub(prack.at))
		s.peer.send(prack.reply(200, ""), s.localAddr())
		s.peer.send(inv.reply(180, "p1", contact, require100rel, "RSeq: 7"), s.localAddr()) // RSeq 6 is missing
		s.peer.send(inv.reply(183, "p1", contact, require100rel, "RSeq: 5", sdp), s.localAddr())
		s.peer.expectNothing(time.Second)
		s.events.requireNoEvent(t)
		s.peer.send(inv.reply(180, "p1", contact, require100rel, "RSeq: 6"), s.localAddr())
		assert.Equal(t, "6 1 INVITE", s.peer.expect("PRACK").get("RAck"))
		next[sip.Ringing](t, s.events)
		s.peer.send(inv.reply(200, "p1", contact), s.localAddr())
		ack := s.peer.expect("ACK")
		assert.Equal(t, "1 ACK", ack.get("CSeq"))
		assert.Equal(t, sdp, string(next[sip.Answered](t, s.events).Body))
	})
}

func TestEarlyDialogsPerInviteAreBounded(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		s.invite(nil)
		inv := s.peer.expect("INVITE")
		for i := range 30 {
			s.peer.send(inv.reply(183, fmt.Sprintf("f%d", i), contact, require100rel, "RSeq: 1", sdp), s.localAddr())
		}
		for i := range 10 {
			m := s.peer.expect("PRACK")
			assert.Contains(t, m.get("To"), fmt.Sprintf("tag=f%d", i))
			s.peer.send(m.reply(200, ""), s.localAddr())
		}
		s.peer.expectNothing(5 * time.Second)
		next[sip.Trying](t, s.events)
		for range 10 {
			next[sip.Early](t, s.events)
		}
		s.events.requireNoEvent(t)
	})
}

func TestReliableProvisionalsAndUpdatesInEarlyDialog(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		d := s.invite(func(in *sip.Invite) { in.Reliable = true })
		inv := s.peer.expect("INVITE")
		offer := sdpContentType + sdp + "a=sendonly\r\n"
		s.peer.send(s.request(inv, "UPDATE", 1, offer), s.localAddr())
		s.peer.expect("SIP/2.0 481") // there is no such early dialog
		s.peer.send(inv.reply(183, "p1", contact, require100rel, "RSeq: 1", "Allow: UPDATE", sdp), s.localAddr())
		prack := s.peer.expect("PRACK")
		s.peer.send(s.request(inv, "UPDATE", 2, offer), s.localAddr())
		s.peer.expect("SIP/2.0 491") // the PRACK of the offer's answer is missing
		s.peer.send(prack.reply(200, ""), s.localAddr())
		s.peer.send(s.request(inv, "UPDATE", 3, offer), s.localAddr())
		next[sip.Trying](t, s.events)
		next[sip.Early](t, s.events)
		got := next[sip.Reoffer](t, s.events)
		assert.Equal(t, message.HoldSendOnly, got.Hold)
		s.peer.send(s.request(inv, "UPDATE", 4, offer), s.localAddr())
		assert.NotEmpty(t, s.peer.expect("SIP/2.0 500").get("Retry-After"))
		got.Reply(200, sdpWithDirection("recvonly"))
		assert.Contains(t, s.peer.expect("SIP/2.0 200").text, "a=recvonly")
		s.peer.send(s.request(inv, "UPDATE", 3, offer), s.localAddr())
		assert.Contains(t, s.peer.expect("SIP/2.0 200").text, "a=recvonly") // retransmission
		s.peer.send(s.request(inv, "BYE", 5), s.localAddr())
		s.peer.expect("SIP/2.0 481") // only a caller may send BYE
		s.peer.send(s.request(inv, "INFO", 6, "Content-Type: application/dtmf\n\n5"), s.localAddr())
		s.peer.expect("SIP/2.0 200")
		s.peer.send(s.request(inv, "INVITE", 7, offer), s.localAddr())
		s.peer.expect("SIP/2.0 491")
		s.events.requireNoEvent(t)
		d.Cancel("")
		s.peer.expect("CANCEL")
	})
}

func TestReliableProvisionalIsRepeatedUntilPrack(t *testing.T) {
	bubbleInbound(t, func(t *testing.T, s *stage, in *callReceiver) {
		s.peer.send(inboundInvite("Supported: 100rel"), s.localAddr())
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

func Test2xxWaitsForPrackOfEarlySDP(t *testing.T) {
	bubbleInbound(t, func(t *testing.T, s *stage, in *callReceiver) {
		s.peer.send(inboundInvite("Supported: 100rel"), s.localAddr())
		s.peer.expect("SIP/2.0 100")
		i := <-in.calls
		i.Progress(183, []byte(sdp))
		progress := s.peer.expect("SIP/2.0 183")
		tag := toTagOf(progress)
		i.Answer([]byte(sdp), s.events.add)
		s.peer.expectNothing(100 * time.Millisecond)
		s.peer.send(withHeaders(followUpRequest("PRACK", tag, 101), "RAck: 2 10 INVITE"), s.localAddr())
		s.peer.expect("SIP/2.0 481")
		s.peer.send(followUpRequest("PRACK", tag, 102), s.localAddr())
		s.peer.expect("SIP/2.0 400")
		s.peer.send(withHeaders(followUpRequest("PRACK", tag, 103), "RAck: 1 10 INVITE"), s.localAddr())
		assert.Equal(t, "103 PRACK", s.peer.expect("SIP/2.0 200").get("CSeq"))
		ok := s.peer.expect("SIP/2.0 200")
		assert.Equal(t, "10 INVITE", ok.get("CSeq"))
		assert.NotContains(t, ok.text, "m=audio")
		s.peer.send(followUpRequest("ACK", tag, 10), s.localAddr())
		s.peer.expectNothing(5 * time.Minute)
		s.events.requireNoEvent(t)
	})
}

func TestCancelWhile2xxWaitsForPrack(t *testing.T) {
	bubbleInbound(t, func(t *testing.T, s *stage, in *callReceiver) {
		s.peer.send(inboundInvite("Supported: 100rel"), s.localAddr())
		s.peer.expect("SIP/2.0 100")
		i := <-in.calls
		i.Progress(183, []byte(sdp))
		s.peer.expect("SIP/2.0 183")
		i.Answer([]byte(sdp), s.events.add)
		s.peer.send(followUpRequest("CANCEL", "", 10), s.localAddr())
		s.peer.expect("SIP/2.0 200")
		s.peer.expect("SIP/2.0 487")
		assert.True(t, next[sip.Ended](t, s.events).ByRemote)
		synctest.Wait()
		assert.Zero(t, s.ua.Counters().UnansweredCalls)
	})
}

func TestOfferInPrackIsAnswered(t *testing.T) {
	bubbleInbound(t, func(t *testing.T, s *stage, in *callReceiver) {
		s.peer.send(inboundInvite("Supported: 100rel", "no body"), s.localAddr())
		s.peer.expect("SIP/2.0 100")
		i := <-in.calls
		i.Notify(s.events.add)
		i.Progress(183, []byte(sdp)) // an offer of this side, as the INVITE had none
		tag := toTagOf(s.peer.expect("SIP/2.0 183"))
		s.peer.send(withHeaders(followUpRequest("PRACK", tag, 11), "RAck: 1 10 INVITE", sdpContentType+sdp), s.localAddr())
		s.peer.expect("SIP/2.0 200")
		assert.Equal(t, sdp, string(next[sip.Accepted](t, s.events).Body))
		i.Progress(180, nil)
		s.peer.expect("SIP/2.0 180")
		s.peer.send(withHeaders(followUpRequest("PRACK", tag, 12), "RAck: 2 10 INVITE", sdpContentType+sdp+"a=inactive\r\n"), s.localAddr())
		offer := next[sip.Reoffer](t, s.events)
		assert.Equal(t, message.HoldInactive, offer.Hold)
		offer.Reply(200, sdpWithDirection("inactive"))
		assert.Contains(t, s.peer.expect("SIP/2.0 200").text, "a=inactive")
	})
}

func TestUnreliableProvisionalCarriesNoOffer(t *testing.T) {
	bubbleInbound(t, func(t *testing.T, s *stage, in *callReceiver) {
		s.peer.send(inboundInvite("no body"), s.localAddr())
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

func TestReofferBeforeAnswerNeedsUpdate(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		d := s.invite(func(in *sip.Invite) { in.Reliable = true })
		inv := s.peer.expect("INVITE")
		got := make(chan sip.OfferResult, 2)
		d.Reoffer([]byte(sdp), func(r sip.OfferResult) { got <- r })
		require.Error(t, (<-got).Err)
		s.peer.send(inv.reply(183, "p1", contact, require100rel, "RSeq: 1", "Allow: INVITE, BYE", sdp), s.localAddr())
		prack := s.peer.expect("PRACK")
		s.peer.send(prack.reply(200, ""), s.localAddr())
		synctest.Wait()
		d.Reoffer([]byte(sdp), func(r sip.OfferResult) { got <- r })
		require.Error(t, (<-got).Err)
	})
}

func TestConcurrentPracksAreBounded(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		s.invite(func(in *sip.Invite) { in.Reliable = true })
		inv := s.peer.expect("INVITE")
		for n := range 100 {
			s.peer.send(inv.reply(180, "p1", contact, require100rel, fmt.Sprintf("RSeq: %d", n+1)), s.localAddr())
		}
		for range 8 {
			s.peer.expect("PRACK")
		}
		s.peer.expectNothing(400 * time.Millisecond)
	})
}
