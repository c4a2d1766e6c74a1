package sip_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/sip"
)

// newCallWithHeldAck starts a call whose ACK is delayed (Invite.HoldAck), and checks that a retransmission of the 200
// gets no ACK.
func newCallWithHeldAck(t *testing.T, s *stage) *sip.Dialog {
	t.Helper()
	d := s.invite(func(in *sip.Invite) { in.HoldAck = true })
	inv := s.peer.expect("INVITE")
	s.peer.send(inv.reply(100, ""), s.localAddr())
	next[sip.Trying](t, s.events)
	s.peer.send(inv.reply(200, "p1", contact, sdp), s.localAddr())
	next[sip.Answered](t, s.events)
	s.peer.send(inv.reply(200, "p1", contact, sdp), s.localAddr())
	s.peer.expectNothing(100 * time.Millisecond)
	return d
}

func TestHoldAckWaitsForDialogAck(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		d := newCallWithHeldAck(t, s)
		d.Ack()
		d.Ack()
		assert.Equal(t, "1 ACK", s.peer.expect("ACK").get("CSeq"))
		s.peer.expectNothing(time.Minute)
	})
}

func TestHoldAckEndsAfterThreeSeconds(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		begun := time.Now()
		newCallWithHeldAck(t, s)
		s.peer.expect("ACK")
		assert.Equal(t, 3*time.Second, time.Since(begun))
		s.peer.expectNothing(time.Minute)
	})
}

func TestHeldAckIsSentBeforeBye(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		newCallWithHeldAck(t, s).Bye(16, "")
		s.peer.expect("ACK")
		bye := s.peer.expect("BYE")
		s.peer.send(bye.reply(200, ""), s.localAddr())
		next[sip.Ended](t, s.events)
		s.peer.expectNothing(time.Minute)
	})
}
