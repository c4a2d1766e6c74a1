package sip_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip"
)

// revived takes a call of the process before up, and offers.
func (s *stage) revived(state sip.DialogState, heard chan sip.OfferResult) *sip.Dialog {
	s.t.Helper()
	state.RaiseCSeq()
	d, err := s.ua.Resume(sip.Resumption{State: state, Notify: s.events.add})
	require.NoError(s.t, err)
	d.Reoffer([]byte(sdp), func(a sip.OfferResult) { heard <- a })
	return d
}

func TestAnAnsweredCallGoesOnInAnotherProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old := onStage(t, nil)
		d, inv, _ := old.answered()
		state := stored(t, d.State())
		s := old.reborn()
		heard := make(chan sip.OfferResult, 1)
		d = s.revived(state, heard)
		again := s.peer.expect("INVITE sip:peer@127.0.0.1:5070")
		assert.Equal(t, inv.get("From"), again.get("From"), "our tag")
		assert.Equal(t, inv.get("Call-ID"), again.get("Call-ID"))
		assert.Contains(t, again.get("To"), ";tag=p1")
		assert.Equal(t, inv.get("Contact"), again.get("Contact"))
		assert.Equal(t, "4098 INVITE", again.get("CSeq"), "above all that the process before can have sent")
		s.peer.send(again.reply(200, "", contact, sdp), s.us())
		s.peer.expect("ACK")
		assert.Equal(t, sip.OfferResult{Code: 200, Body: []byte(sdp)}, <-heard)
		s.peer.send(s.request(inv, "BYE", 7), s.us())
		s.peer.expect("SIP/2.0 200 OK")
		assert.True(t, next[sip.Ended](t, s.events).ByRemote)
		_, err := s.ua.Resume(sip.Resumption{State: state, Notify: s.events.add})
		require.Error(t, err, "it lives here already")
		_ = d
		s.stop()
	})
}

func TestAFarEndThatHasForgottenTheCallEndsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old := onStage(t, nil)
		d, _, _ := old.answered()
		state := stored(t, d.State())
		s := old.reborn()
		heard := make(chan sip.OfferResult, 1)
		s.revived(state, heard)
		again := s.peer.expect("INVITE")
		s.peer.send(again.reply(481, ""), s.us())
		s.peer.expect("ACK")
		assert.Equal(t, 481, (<-heard).Code)
		bye := s.peer.expect("BYE")
		s.peer.send(bye.reply(481, ""), s.us())
		assert.True(t, next[sip.Ended](t, s.events).Fault)
		s.stop()
	})
}

func TestWhatIsLetGoOfIsNotEnded(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		d, inv, _ := s.answered()
		d.Abandon()
		d.Bye(16, "")
		s.peer.nothing(5 * time.Second)
		s.events.quiet(t)
		s.peer.send(s.request(inv, "BYE", 7), s.us())
		s.peer.expect("SIP/2.0 481")
	})
}

func TestNothingIsTakenUpThatWasNotAnswered(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		d, _, _ := s.answered()
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
