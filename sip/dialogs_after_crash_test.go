package sip_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/resolve"
)

// storedState returns the state after it was encoded to JSON and decoded, as it is after a commit and a read.
func storedState(t *testing.T, s sip.DialogState) sip.DialogState {
	t.Helper()
	b, err := domain.AppendRow(nil, &s)
	require.NoError(t, err)
	var back sip.DialogState
	require.NoError(t, json.Unmarshal(b, &back))
	assert.Equal(t, s, back)
	return back
}

// restart starts a second user agent with the same secret and address, as a restarted process has them.
func (s *stage) restart() *stage {
	s.t.Helper()
	s.stop()
	fresh := newStage(s.t, nil)
	fresh.peer = &peer{s.t, fresh.net.open(peerAddr)}
	return fresh
}

func TestEndAbandonedEndsAnsweredCallAfterCrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old := newStage(t, nil)
		_, inv, _ := old.establishCall()
		s := old.restart()
		done := make(chan bool, 2)
		s.ua.EndAbandoned(storedState(t, stateOf(t, inv)), func(answered bool) { done <- answered })
		bye := s.peer.expect("BYE sip:peer@127.0.0.1:5070")
		assert.Equal(t, inv.get("From"), bye.get("From"))
		assert.Contains(t, bye.get("To"), ";tag=p1")
		s.peer.send(bye.reply(200, ""), s.localAddr())
		assert.True(t, <-done)
		time.Sleep(time.Minute)
		assert.Empty(t, done)
		s.stop()
	})
}

func stateOf(t *testing.T, inv msg) sip.DialogState {
	t.Helper()
	_, tag, _ := splitToTag(inv.get("From"))
	return sip.DialogState{
		CallID: inv.get("Call-ID"), LocalTag: tag, RemoteTag: "p1", LocalURI: "sip:+15559999@127.0.0.1",
		RemoteURI: "sip:+15550001@127.0.0.1:5070", RemoteTarget: "sip:peer@127.0.0.1:5070", LocalCSeq: 1,
		Target: resolve.Target{Host: "127.0.0.1", Port: 5070, Transport: "udp"}, Confirmed: true,
	}
}

func splitToTag(s string) (before, tag string, found bool) {
	for i := range len(s) - 4 {
		if s[i:i+5] == ";tag=" {
			return s[:i], s[i+5:], true
		}
	}
	return s, "", false
}

func TestEndAbandonedCancelsRingingCallAfterCrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old := newStage(t, nil)
		d := old.invite(nil)
		inv := old.peer.expect("INVITE")
		old.peer.send(inv.reply(180, "p1", contact), old.localAddr())
		next[sip.Trying](t, old.events)
		next[sip.Ringing](t, old.events)
		state := storedState(t, d.State())
		s := old.restart()
		done := make(chan bool, 2)
		s.ua.EndAbandoned(state, func(answered bool) { done <- answered })
		cancel := s.peer.expect("CANCEL")
		assert.Equal(t, inv.get("Via"), cancel.get("Via"))
		s.peer.send(cancel.reply(200, ""), s.localAddr())
		s.peer.send(inv.reply(487, "p1"), s.localAddr())
		s.peer.expect("ACK")
		assert.True(t, <-done)
		s.stop()
	})
}

// When another node ends a ringing leg, its CANCEL repeats the Via and Route of the INVITE. A proxy accepts a CANCEL
// only if its Via matches that of the INVITE (RFC 3261 §9.2, §17.2.3).
func TestEndAbandonedRepeatsViaAndRouteOfAnotherNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old := newStage(t, nil)
		d := old.invite(func(in *sip.Invite) {
			in.Proxy = &resolve.Target{Host: "127.0.0.1", Port: 5070, Transport: "udp"}
			in.Target = resolve.Target{Host: "127.0.0.9", Port: 5060, Transport: "udp"}
		})
		inv := old.peer.expect("INVITE")
		require.NotEmpty(t, inv.get("Route"))
		old.peer.send(inv.reply(180, "p1", contact), old.localAddr())
		next[sip.Trying](t, old.events)
		next[sip.Ringing](t, old.events)
		state := storedState(t, d.State())
		assert.Equal(t, localAddr, state.SentBy)
		const elsewhere = "127.0.0.8:5060" // address of the node that sent the INVITE
		state.SentBy = elsewhere
		inv.text = strings.Replace(inv.text, localAddr+";rport", elsewhere+";rport", 1)
		s := old.restart()
		done := make(chan bool, 2)
		s.ua.EndAbandoned(state, func(answered bool) { done <- answered })
		cancel := s.peer.expect("CANCEL")
		assert.Contains(t, cancel.get("Via"), elsewhere)
		assert.Equal(t, inv.get("Via"), cancel.get("Via"))
		assert.Equal(t, inv.get("Route"), cancel.get("Route"))
		s.peer.send(cancel.reply(200, ""), s.localAddr())
		s.peer.send(inv.reply(487, "p1"), s.localAddr())
		assert.Equal(t, inv.get("Via"), s.peer.expect("ACK").get("Via"))
		assert.True(t, <-done)
		s.stop()
	})
}

func TestEndAbandonedEndsLateResponsesOfUnansweredInvite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old := newStage(t, nil)
		d := old.invite(nil)
		inv := old.peer.expect("INVITE")
		callID := d.CallID()
		s := old.restart()
		done := make(chan bool, 2)
		s.ua.EndAbandoned(sip.DialogState{CallID: callID, Target: resolve.Target{Host: "127.0.0.1", Port: 5070, Transport: "udp"}},
			func(answered bool) { done <- answered })
		s.peer.expectNothing(10 * time.Second)
		s.peer.send(inv.reply(180, "p1", contact), s.localAddr())
		cancel := s.peer.expect("CANCEL sip:+15550001@127.0.0.1:5070")
		assert.Equal(t, inv.get("Via"), cancel.get("Via"))
		s.peer.send(cancel.reply(200, ""), s.localAddr())
		s.peer.send(inv.reply(200, "p1", contact, sdp), s.localAddr()) // the 200 crosses the CANCEL
		s.peer.expect("ACK sip:peer@")
		bye := s.peer.expect("BYE sip:peer@")
		s.peer.send(bye.reply(200, ""), s.localAddr())
		assert.True(t, <-done)
		s.stop()
	})
}

func TestEndAbandonedReportsAfter32SecondsWithoutResponse(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		done := make(chan bool, 2)
		start := time.Now()
		s.ua.EndAbandoned(sip.DialogState{CallID: s.ua.CallID("att_9", 1), Target: resolve.Target{Host: "127.0.0.1", Port: 5070}},
			func(answered bool) { done <- answered })
		assert.False(t, <-done)
		assert.Equal(t, 32*time.Second, time.Since(start))
	})
}

func TestUnknown2xxOfOwnInviteIsAcknowledgedAndEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old := newStage(t, nil)
		old.invite(nil)
		inv := old.peer.expect("INVITE")
		s := old.restart()
		s.peer.send(inv.reply(200, "p1", contact, sdp), s.localAddr())
		ack := s.peer.expect("ACK sip:peer@127.0.0.1:5070")
		assert.Equal(t, "1 ACK", ack.get("CSeq"))
		bye := s.peer.expect("BYE sip:peer@127.0.0.1:5070")
		assert.Equal(t, inv.get("From"), bye.get("From"))
		s.peer.send(bye.reply(200, ""), s.localAddr())
		// A forged response gets no answer.
		forged := inv
		forged.text = strings.ReplaceAll(inv.text, inv.get("Call-ID"), "cb-000000000000000000000000000000000000")
		s.peer.send(forged.reply(200, "p1", contact, sdp), s.localAddr())
		s.peer.expectNothing(time.Minute)
		s.stop()
	})
}
