package sip_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/forking"
	"github.com/callboard/callboard/sip/registrar"
	"github.com/callboard/callboard/sip/resolve"
)

// callTwoPhones calls one account with two registered phones. Each phone is behind NAT, so its Contact cannot be
// reached.
func callTwoPhones(s *stage) (r *forking.Call, a, b *peer) {
	s.t.Helper()
	a, b = &peer{s.t, s.net.open("127.0.0.1:5071")}, &peer{s.t, s.net.open("127.0.0.1:5072")}
	r, err := forking.Invite(s.ua, sip.Invite{
		Attempt: "att_ring", Leg: 1, To: "1001", From: "agent", Body: []byte(sdp), Notify: s.events.add,
		Contacts: []registrar.Contact{
			{URI: "sip:1001@10.0.0.7:5060;ob", Target: resolve.Target{Host: "127.0.0.1", Port: 5071, Transport: "udp"}},
			{URI: "sip:1001@10.0.0.8:5060", Target: resolve.Target{Host: "127.0.0.1", Port: 5072, Transport: "udp"}},
		},
	})
	require.NoError(s.t, err)
	return r, a, b
}

// answeredBeforeReturn is an Inviter whose leg is answered before Invite returns the dialog.
type answeredBeforeReturn struct{ d *sip.Dialog }

func (a answeredBeforeReturn) Invite(in sip.Invite) (*sip.Dialog, error) {
	in.Notify(sip.Answered{})
	return a.d, nil
}

const natContact = "Contact: <sip:1001@10.0.0.7:5060>"

func TestForkingFirstAnswerGetsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, nil)
		defer s.stop()
		r, a, b := callTwoPhones(s)
		inA, inB := a.expect("INVITE sip:1001@10.0.0.7:5060;ob "), b.expect("INVITE sip:1001@10.0.0.8:5060 ")
		a.send(inA.reply(180, "a"), s.localAddr())
		b.send(inB.reply(180, "b"), s.localAddr())
		next[sip.Trying](t, s.events)
		next[sip.Ringing](t, s.events)
		next[sip.Ringing](t, s.events)
		b.send(inB.reply(200, "b", natContact, sdp), s.localAddr())
		b.expect("ACK sip:1001@10.0.0.7:5060 ")
		next[sip.Answered](t, s.events)
		cancel := a.expect("CANCEL")
		a.send(cancel.reply(200, "a"), s.localAddr())
		a.send(inA.reply(487, "a"), s.localAddr())
		a.expect("ACK")
		r.Bye(16, "")
		bye := b.expect("BYE sip:1001@10.0.0.7:5060 ")
		b.send(bye.reply(200, "b"), s.localAddr())
		next[sip.Ended](t, s.events)
		s.events.requireNoEvent(t)
	})
}

func TestForkingAnswerBeforeInviteReturnsKeepsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, nil)
		defer s.stop()
		d, _, _ := s.establishCall()
		_, err := forking.Invite(answeredBeforeReturn{d}, sip.Invite{Contacts: []registrar.Contact{{URI: "sip:1001@10.0.0.7:5060"}}, Notify: s.events.add})
		require.NoError(t, err)
		next[sip.Answered](t, s.events)
		select {
		case got := <-s.peer.port.in:
			require.Fail(t, "nothing is to be said", "%s", got.b)
		case <-time.After(time.Second):
		}
	})
}

func TestForkingSecondSimultaneousAnswerIsEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, nil)
		defer s.stop()
		_, a, b := callTwoPhones(s)
		inA, inB := a.expect("INVITE"), b.expect("INVITE")
		a.send(inA.reply(200, "a", natContact, sdp), s.localAddr())
		b.send(inB.reply(200, "b", natContact, sdp), s.localAddr())
		synctest.Wait()
		a.expect("ACK")
		b.expect("ACK")
		next[sip.Answered](t, s.events)
		var ended int
		for _, p := range []*peer{a, b} {
			select {
			case d := <-p.port.in:
				require.True(t, strings.HasPrefix(string(d.b), "BYE"), "%s", d.b)
				p.send(msg{text: string(d.b)}.reply(200, ""), s.localAddr())
				ended++
			case <-time.After(time.Second):
			}
		}
		assert.Equal(t, 1, ended)
		s.events.requireNoEvent(t)
	})
}

func TestForkingRefusalKeepsOtherPhonesRinging(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, nil)
		defer s.stop()
		_, a, b := callTwoPhones(s)
		inA, inB := a.expect("INVITE"), b.expect("INVITE")
		a.send(inA.reply(603, "a"), s.localAddr())
		a.expect("ACK")
		b.send(inB.reply(180, "b"), s.localAddr())
		next[sip.Trying](t, s.events)
		next[sip.Ringing](t, s.events)
		b.send(inB.reply(480, "b"), s.localAddr())
		b.expect("ACK")
		assert.Equal(t, 603, next[sip.Refused](t, s.events).Final.Code, "the refusal of a person is preferred")
		s.events.requireNoEvent(t)
	})
}

func TestForkingCancelStopsAllPhones(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, nil)
		defer s.stop()
		r, a, b := callTwoPhones(s)
		for _, p := range []*peer{a, b} {
			p.send(p.expect("INVITE").reply(180, "x"), s.localAddr())
		}
		synctest.Wait()
		r.Cancel("enough")
		for _, p := range []*peer{a, b} {
			c := p.expect("CANCEL")
			p.send(c.reply(200, "x"), s.localAddr())
			p.send(strings.Replace(c.reply(487, "x"), "CSeq: 1 CANCEL", "CSeq: 1 INVITE", 1), s.localAddr())
			p.expect("ACK")
		}
		next[sip.Trying](t, s.events)
		next[sip.Ringing](t, s.events)
		next[sip.Ringing](t, s.events)
		assert.True(t, next[sip.Refused](t, s.events).Final.Cancelled)
		s.events.requireNoEvent(t)
	})
}
