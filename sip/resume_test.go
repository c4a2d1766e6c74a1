package sip_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip"
)

// resumeAndReoffer resumes a call of an earlier process and sends an offer. heard receives the result of the offer.
func (s *stage) resumeAndReoffer(state sip.DialogState, heard chan sip.OfferResult) *sip.Dialog {
	s.t.Helper()
	state.RaiseCSeq()
	d, err := s.ua.Resume(sip.Resumption{State: state, Notify: s.events.add})
	require.NoError(s.t, err)
	d.Reoffer([]byte(sdp), func(a sip.OfferResult) { heard <- a })
	return d
}

func TestResumeContinuesCallInAnotherProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old := newStage(t, nil)
		d, inv, _ := old.establishCall()
		state := storedState(t, d.State())
		s := old.restart()
		heard := make(chan sip.OfferResult, 1)
		d = s.resumeAndReoffer(state, heard)
		again := s.peer.expect("INVITE sip:peer@127.0.0.1:5070")
		assert.Equal(t, inv.get("From"), again.get("From"), "our tag")
		assert.Equal(t, inv.get("Call-ID"), again.get("Call-ID"))
		assert.Contains(t, again.get("To"), ";tag=p1")
		assert.Equal(t, inv.get("Contact"), again.get("Contact"))
		assert.Equal(t, "4098 INVITE", again.get("CSeq"), "above all CSeqs of the earlier process")
		s.peer.send(again.reply(200, "", contact, sdp), s.localAddr())
		s.peer.expect("ACK")
		assert.Equal(t, sip.OfferResult{Code: 200, Body: []byte(sdp)}, <-heard)
		s.peer.send(s.request(inv, "BYE", 7), s.localAddr())
		s.peer.expect("SIP/2.0 200 OK")
		assert.True(t, next[sip.Ended](t, s.events).ByRemote)
		_, err := s.ua.Resume(sip.Resumption{State: state, Notify: s.events.add})
		require.Error(t, err, "the dialog exists in this process")
		_ = d
		s.stop()
	})
}

func TestResumeOfCallUnknownToRemotePartyEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old := newStage(t, nil)
		d, _, _ := old.establishCall()
		state := storedState(t, d.State())
		s := old.restart()
		heard := make(chan sip.OfferResult, 1)
		s.resumeAndReoffer(state, heard)
		again := s.peer.expect("INVITE")
		s.peer.send(again.reply(481, ""), s.localAddr())
		s.peer.expect("ACK")
		assert.Equal(t, 481, (<-heard).Code)
		bye := s.peer.expect("BYE")
		s.peer.send(bye.reply(481, ""), s.localAddr())
		assert.True(t, next[sip.Ended](t, s.events).Fault)
		s.stop()
	})
}

func TestAbandonSendsNothing(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		d, inv, _ := s.establishCall()
		d.Abandon()
		d.Bye(16, "")
		s.peer.expectNothing(5 * time.Second)
		s.events.requireNoEvent(t)
		s.peer.send(s.request(inv, "BYE", 7), s.localAddr())
		s.peer.expect("SIP/2.0 481")
	})
}

func TestResumeRefusesIncompleteState(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		d, _, _ := s.establishCall()
		whole := d.State()
		for what, change := range map[string]func(*sip.DialogState){
			"not answered": func(s *sip.DialogState) { s.Confirmed = false },
			"no far tag":   func(s *sip.DialogState) { s.RemoteTag = "" },
			"no target":    func(s *sip.DialogState) { s.RemoteTarget = "" },
		} {
			state := whole
			change(&state)
			_, err := s.ua.Resume(sip.Resumption{State: state})
			require.ErrorIs(t, err, sip.ErrIncompleteState, what)
		}
	})
}
