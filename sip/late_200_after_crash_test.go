package sip_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip"
)

const deadNodeAddr = "127.0.0.8:5060" // address of the node that sent the INVITE

// newRingingCallOfDeadNode returns a call that rings at a remote party behind a proxy, after its process on another
// node was killed. It also returns the stage of the next process and the stored state.
func newRingingCallOfDeadNode(t *testing.T) (s *stage, inv msg, state sip.DialogState) {
	t.Helper()
	old := newStage(t, nil)
	d := old.invite(nil)
	inv = old.peer.expect("INVITE")
	old.peer.send(inv.reply(180, "p1", contact, "Record-Route: <sip:127.0.0.1:5070;lr;in>"), old.localAddr())
	next[sip.Trying](t, old.events)
	next[sip.Ringing](t, old.events)
	state = storedState(t, d.State())
	state.SentBy = deadNodeAddr
	return old.restart(), inv, state
}

// A remote party that answered after the death of one node sent its 200 to the dead node, and a CANCEL has no effect
// on the answered call. The node that takes over must therefore also send ACK and BYE.
func TestEndAbandonedEndsCallAnsweredToDeadNode(t *testing.T) {
	for name, c := range map[string]struct {
		cancel, bye int
		want        bool
		after       time.Duration
	}{
		"INVITE transaction still exists":   {200, 200, true, time.Second},
		"INVITE transaction is over":        {481, 200, true, time.Second},
		"no response to CANCEL":             {0, 200, true, 4 * time.Second},
		"call was not answered":             {200, 481, true, time.Second},
		"CANCEL and BYE get 481":            {481, 481, false, 32 * time.Second},
		"no response to CANCEL, 481 to BYE": {0, 481, false, 32 * time.Second},
		"BYE gets 408":                      {200, 408, true, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, inv, state := newRingingCallOfDeadNode(t)
				begun, done := time.Now(), make(chan bool, 2)
				s.ua.EndAbandoned(state, func(answered bool) { done <- answered })
				cancel := s.peer.expect("CANCEL sip:+15550001@127.0.0.1:5070")
				assert.Contains(t, cancel.get("Via"), deadNodeAddr)
				if c.cancel > 0 {
					s.peer.send(cancel.reply(c.cancel, ""), s.localAddr())
				}
				ack := s.peer.expectIgnoring("ACK sip:peer@", "CANCEL")
				assert.Equal(t, []string{"1 ACK", "<sip:127.0.0.1:5070;lr;in>"}, []string{ack.get("CSeq"), ack.get("Route")})
				assert.Contains(t, ack.get("To"), ";tag=p1")
				assert.Contains(t, ack.get("Via"), localAddr)
				bye := s.peer.expectIgnoring("BYE sip:peer@", "CANCEL")
				assert.Equal(t, []string{inv.get("From"), ack.get("To"), "65 BYE", "<sip:127.0.0.1:5070;lr;in>"},
					[]string{bye.get("From"), bye.get("To"), bye.get("CSeq"), bye.get("Route")})
				s.peer.send(bye.reply(c.bye, ""), s.localAddr())
				assert.Equal(t, c.want, <-done)
				assert.Equal(t, c.after, time.Since(begun).Truncate(time.Second))
				time.Sleep(2 * time.Minute)
				assert.Empty(t, done, "once")
				s.stop()
			})
		})
	}
}

// A 2xx that arrives at the new process gets ACK and BYE, and no second BYE follows.
func TestEndAbandonedSendsOneByeForAnswerAfterCrash(t *testing.T) {
	for name, answered := range map[string]bool{"call was cancelled": false, "call was answered": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, inv, state := newRingingCallOfDeadNode(t)
				done := make(chan bool, 2)
				s.ua.EndAbandoned(state, func(answered bool) { done <- answered })
				cancel := s.peer.expect("CANCEL")
				s.peer.send(cancel.reply(200, ""), s.localAddr())
				if answered {
					s.peer.send(inv.reply(200, "p1", contact, sdp), s.localAddr())
					s.peer.expect("ACK sip:peer@")
					bye := s.peer.expect("BYE sip:peer@")
					s.peer.send(bye.reply(200, ""), s.localAddr())
				} else {
					s.peer.send(inv.reply(487, "p1"), s.localAddr())
					s.peer.expect("ACK sip:+15550001@")
				}
				assert.True(t, <-done)
				s.peer.expectNothing(time.Minute)
				s.stop()
			})
		})
	}
}

// A remote party repeats its 200 until it receives the ACK. A repetition that arrives after the BYE of this process
// gets another ACK.
func TestRepeated2xxAfterByeIsAcknowledgedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, inv, state := newRingingCallOfDeadNode(t)
		done := make(chan bool, 2)
		s.ua.EndAbandoned(state, func(answered bool) { done <- answered })
		cancel := s.peer.expect("CANCEL")
		s.peer.send(cancel.reply(200, ""), s.localAddr())
		s.peer.expect("ACK sip:peer@")
		bye := s.peer.expect("BYE sip:peer@")
		s.peer.send(bye.reply(200, ""), s.localAddr())
		assert.True(t, <-done)
		s.peer.send(inv.reply(200, "p1", contact, sdp), s.localAddr())
		s.peer.expect("ACK sip:peer@")
		s.peer.expectNothing(time.Minute)
		s.stop()
	})
}

// expectIgnoring returns the next message, which must begin with prefix. It skips messages that begin with but.
func (p *peer) expectIgnoring(prefix, but string) msg {
	p.t.Helper()
	for {
		m := p.expect("")
		if !strings.HasPrefix(m.text, but) {
			require.True(p.t, strings.HasPrefix(m.text, prefix), "wanted %s, got\n%s", prefix, m.text)
			return m
		}
	}
}
