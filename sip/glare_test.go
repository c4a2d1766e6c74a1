package sip_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip"
)

func TestReinviteGlareOfOutboundCall(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		d, inv, _ := s.establishCall()
		got := make(chan sip.OfferResult, 2)
		d.Reoffer([]byte(sdp), func(r sip.OfferResult) { got <- r })
		re := s.peer.expect("INVITE sip:peer@")
		assert.Equal(t, "2 INVITE", re.get("CSeq"))
		s.peer.send(s.request(inv, "INVITE", 5, "Content-Type: application/sdp\n\n"+sdp), s.localAddr())
		s.peer.expect("SIP/2.0 491")
		s.peer.send(s.request(inv, "ACK", 5), s.localAddr())
		s.peer.send(re.reply(491, ""), s.localAddr())
		s.peer.expect("ACK")
		again := s.peer.expect("INVITE sip:peer@")
		assert.GreaterOrEqual(t, again.at.Sub(re.at), 2100*time.Millisecond)
		assert.LessOrEqual(t, again.at.Sub(re.at), 4*time.Second)
		s.peer.send(again.reply(200, "", contact, sdp), s.localAddr())
		assert.Equal(t, "3 ACK", s.peer.expect("ACK").get("CSeq"))
		assert.Equal(t, sip.OfferResult{Code: 200, Body: []byte(sdp)}, <-got)

		d.Reoffer([]byte(sdp), func(r sip.OfferResult) { got <- r })
		for range 10 {
			if m := s.peer.expect(""); strings.HasPrefix(m.text, "BYE") {
				break
			}
		}
		require.Error(t, (<-got).Err)
		assert.Empty(t, got)
	})
}

// The callee of a call repeats its re-INVITE within two seconds after a glare (RFC 3261 §14.1).
func TestReinviteGlareOfInboundCall(t *testing.T) {
	bubbleInbound(t, func(t *testing.T, s *stage, in *callReceiver) {
		s.peer.send(inboundInvite(), s.localAddr())
		s.peer.expect("SIP/2.0 100")
		d := (<-in.calls).Answer([]byte(sdp), s.events.add)
		s.peer.send(followUpRequest("ACK", toTagOf(s.peer.expect("SIP/2.0 200")), 10), s.localAddr())
		got := make(chan sip.OfferResult, 1)
		d.Reoffer([]byte(sdp), func(r sip.OfferResult) { got <- r })
		re := s.peer.expect("INVITE sip:peer@")
		for range 4 {
			s.peer.send(re.reply(491, ""), s.localAddr())
			s.peer.expect("ACK")
			again := s.peer.expect("INVITE sip:peer@")
			assert.LessOrEqual(t, again.at.Sub(re.at), 2*time.Second)
			re = again
		}
		s.peer.send(re.reply(200, "", contact, sdp), s.localAddr())
		s.peer.expect("ACK")
		assert.Equal(t, 200, (<-got).Code)
	})
}
