package sip_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip"
)

func TestOurReinviteAndItsGlare(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		d, inv, _ := s.answered()
		got := make(chan sip.OfferResult, 2)
		d.Reoffer([]byte(sdp), func(r sip.OfferResult) { got <- r })
		re := s.peer.expect("INVITE sip:peer@")
		assert.Equal(t, "2 INVITE", re.get("CSeq"))
		s.peer.send(s.request(inv, "INVITE", 5, "Content-Type: application/sdp\n\n"+sdp), s.us())
		s.peer.expect("SIP/2.0 491")
		s.peer.send(s.request(inv, "ACK", 5), s.us())
		s.peer.send(re.reply(491, ""), s.us())
		s.peer.expect("ACK")
		again := s.peer.expect("INVITE sip:peer@")
		assert.GreaterOrEqual(t, again.at.Sub(re.at), 2100*time.Millisecond)
		assert.LessOrEqual(t, again.at.Sub(re.at), 4*time.Second)
		s.peer.send(again.reply(200, "", contact, sdp), s.us())
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

// RFC 3261 14.1: whoever was called tries again within two seconds.
func TestTheGlareOfACallThatCameIn(t *testing.T) {
	bubbleIn(t, func(t *testing.T, s *stage, in *desk) {
		s.peer.send(callUs(), s.us())
		s.peer.expect("SIP/2.0 100")
		d := (<-in.calls).Answer([]byte(sdp), s.events.add)
		s.peer.send(follow("ACK", tagOf(s.peer.expect("SIP/2.0 200")), 10), s.us())
		got := make(chan sip.OfferResult, 1)
		d.Reoffer([]byte(sdp), func(r sip.OfferResult) { got <- r })
		re := s.peer.expect("INVITE sip:peer@")
		for range 4 {
			s.peer.send(re.reply(491, ""), s.us())
			s.peer.expect("ACK")
			again := s.peer.expect("INVITE sip:peer@")
			assert.LessOrEqual(t, again.at.Sub(re.at), 2*time.Second)
			re = again
		}
		s.peer.send(re.reply(200, "", contact, sdp), s.us())
		s.peer.expect("ACK")
		assert.Equal(t, 200, (<-got).Code)
	})
}
