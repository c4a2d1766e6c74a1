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

// stored is a state as it comes back from a commit.
func stored(t *testing.T, s sip.DialogState) sip.DialogState {
	t.Helper()
	b, err := domain.AppendRow(nil, &s)
	require.NoError(t, err)
	var back sip.DialogState
	require.NoError(t, json.Unmarshal(b, &back))
	assert.Equal(t, s, back)
	return back
}

// reborn is a second user agent with the same secret and address.
func (s *stage) reborn() *stage {
	s.t.Helper()
	s.stop()
	fresh := onStage(s.t, nil)
	fresh.peer = &peer{s.t, fresh.net.open(peerAddr)}
	return fresh
}

func TestCrashLeavesNoCallBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old := onStage(t, nil)
		_, inv, _ := old.answered()
		s := old.reborn()
		done := make(chan bool, 2)
		s.ua.EndAbandoned(stored(t, stateOf(t, inv)), func(answered bool) { done <- answered })
		bye := s.peer.expect("BYE sip:peer@127.0.0.1:5070")
		assert.Equal(t, inv.get("From"), bye.get("From"))
		assert.Contains(t, bye.get("To"), ";tag=p1")
		s.peer.send(bye.reply(200, ""), s.us())
		assert.True(t, <-done)
		time.Sleep(time.Minute)
		assert.Empty(t, done)
		s.stop()
	})
}

func stateOf(t *testing.T, inv msg) sip.DialogState {
	t.Helper()
	_, tag, _ := cutTag(inv.get("From"))
	return sip.DialogState{
		CallID: inv.get("Call-ID"), LocalTag: tag, RemoteTag: "p1", LocalURI: "sip:+15559999@127.0.0.1",
		RemoteURI: "sip:+15550001@127.0.0.1:5070", RemoteTarget: "sip:peer@127.0.0.1:5070", LocalCSeq: 1,
		Target: resolve.Target{Host: "127.0.0.1", Port: 5070, Transport: "udp"}, Confirmed: true,
	}
}

func cutTag(s string) (before, tag string, found bool) {
	for i := range len(s) - 4 {
		if s[i:i+5] == ";tag=" {
			return s[:i], s[i+5:], true
		}
	}
	return s, "", false
}

func TestCrashCancelsWhatRang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old := onStage(t, nil)
		d := old.invite(nil)
		inv := old.peer.expect("INVITE")
		old.peer.send(inv.reply(180, "p1", contact), old.us())
		next[sip.Trying](t, old.events)
		next[sip.Ringing](t, old.events)
		state := stored(t, d.State())
		s := old.reborn()
		done := make(chan bool, 2)
		s.ua.EndAbandoned(state, func(answered bool) { done <- answered })
		cancel := s.peer.expect("CANCEL")
		assert.Equal(t, inv.get("Via"), cancel.get("Via"))
		s.peer.send(cancel.reply(200, ""), s.us())
		s.peer.send(inv.reply(487, "p1"), s.us())
		s.peer.expect("ACK")
		assert.True(t, <-done)
		s.stop()
	})
}

// Another node ends what rang. A far end that compares owners INVITE a CANCEL is
// for (RFC 3261 9.2, 17.2.3), as proxies do, takes it for that of the node before.
func TestCrashOfAnotherNodeCancelsInItsNameAndByItsRoute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old := onStage(t, nil)
		d := old.invite(func(in *sip.Invite) {
			in.Proxy = &resolve.Target{Host: "127.0.0.1", Port: 5070, Transport: "udp"}
			in.Target = resolve.Target{Host: "127.0.0.9", Port: 5060, Transport: "udp"}
		})
		inv := old.peer.expect("INVITE")
		require.NotEmpty(t, inv.get("Route"))
		old.peer.send(inv.reply(180, "p1", contact), old.us())
		next[sip.Trying](t, old.events)
		next[sip.Ringing](t, old.events)
		state := stored(t, d.State())
		assert.Equal(t, ourAddr, state.SentBy)
		const elsewhere = "127.0.0.8:5060" // where the node before was
		state.SentBy = elsewhere
		inv.text = strings.Replace(inv.text, ourAddr+";rport", elsewhere+";rport", 1)
		s := old.reborn()
		done := make(chan bool, 2)
		s.ua.EndAbandoned(state, func(answered bool) { done <- answered })
		cancel := s.peer.expect("CANCEL")
		assert.Contains(t, cancel.get("Via"), elsewhere)
		assert.Equal(t, inv.get("Via"), cancel.get("Via"))
		assert.Equal(t, inv.get("Route"), cancel.get("Route"))
		s.peer.send(cancel.reply(200, ""), s.us())
		s.peer.send(inv.reply(487, "p1"), s.us())
		assert.Equal(t, inv.get("Via"), s.peer.expect("ACK").get("Via"))
		assert.True(t, <-done)
		s.stop()
	})
}

func TestCrashBeforeAnyAnswerEndsWhatStillComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old := onStage(t, nil)
		d := old.invite(nil)
		inv := old.peer.expect("INVITE")
		callID := d.CallID()
		s := old.reborn()
		done := make(chan bool, 2)
		s.ua.EndAbandoned(sip.DialogState{CallID: callID, Target: resolve.Target{Host: "127.0.0.1", Port: 5070, Transport: "udp"}},
			func(answered bool) { done <- answered })
		s.peer.nothing(10 * time.Second)
		s.peer.send(inv.reply(180, "p1", contact), s.us())
		cancel := s.peer.expect("CANCEL sip:+15550001@127.0.0.1:5070")
		assert.Equal(t, inv.get("Via"), cancel.get("Via"))
		s.peer.send(cancel.reply(200, ""), s.us())
		s.peer.send(inv.reply(200, "p1", contact, sdp), s.us()) // they crossed
		s.peer.expect("ACK sip:peer@")
		bye := s.peer.expect("BYE sip:peer@")
		s.peer.send(bye.reply(200, ""), s.us())
		assert.True(t, <-done)
		s.stop()
	})
}

func TestAbandonedDialogWithoutAResponseIsReportedAfterHalfAMinute(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		done := make(chan bool, 2)
		start := time.Now()
		s.ua.EndAbandoned(sip.DialogState{CallID: s.ua.CallID("att_9", 1), Target: resolve.Target{Host: "127.0.0.1", Port: 5070}},
			func(answered bool) { done <- answered })
		assert.False(t, <-done)
		assert.Equal(t, 32*time.Second, time.Since(start))
	})
}

func TestAnswerToACallOfAnEarlierProcessIsEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old := onStage(t, nil)
		old.invite(nil)
		inv := old.peer.expect("INVITE")
		s := old.reborn()
		s.peer.send(inv.reply(200, "p1", contact, sdp), s.us())
		ack := s.peer.expect("ACK sip:peer@127.0.0.1:5070")
		assert.Equal(t, "1 ACK", ack.get("CSeq"))
		bye := s.peer.expect("BYE sip:peer@127.0.0.1:5070")
		assert.Equal(t, inv.get("From"), bye.get("From"))
		s.peer.send(bye.reply(200, ""), s.us())
		// A forged one gets nothing.
		forged := inv
		forged.text = strings.ReplaceAll(inv.text, inv.get("Call-ID"), "cb-000000000000000000000000000000000000")
		s.peer.send(forged.reply(200, "p1", contact, sdp), s.us())
		s.peer.nothing(time.Minute)
		s.stop()
	})
}
