package sip_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/sip"
)

// held begins a call owners ACK is held back; a copy of the answer changes
// nothing.
func held(t *testing.T, s *stage) *sip.Dialog {
	t.Helper()
	d := s.invite(func(in *sip.Invite) { in.HoldAck = true })
	inv := s.peer.expect("INVITE")
	s.peer.send(inv.reply(100, ""), s.us())
	next[sip.Trying](t, s.events)
	s.peer.send(inv.reply(200, "p1", contact, sdp), s.us())
	next[sip.Answered](t, s.events)
	s.peer.send(inv.reply(200, "p1", contact, sdp), s.us())
	s.peer.nothing(100 * time.Millisecond)
	return d
}

func TestAnAckIsHeldBackUntilItsOwnerKeptTheAnswer(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		d := held(t, s)
		d.Ack()
		d.Ack()
		assert.Equal(t, "1 ACK", s.peer.expect("ACK").get("CSeq"))
		s.peer.nothing(time.Minute)
	})
}

func TestAHeldAckIsNotHeldForEver(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		begun := time.Now()
		held(t, s)
		s.peer.expect("ACK")
		assert.Equal(t, 3*time.Second, time.Since(begun))
		s.peer.nothing(time.Minute)
	})
}

func TestAHeldAckGoesBeforeTheBye(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		held(t, s).Bye(16, "")
		s.peer.expect("ACK")
		bye := s.peer.expect("BYE")
		s.peer.send(bye.reply(200, ""), s.us())
		next[sip.Ended](t, s.events)
		s.peer.nothing(time.Minute)
	})
}
