package sip_test

import (
	"runtime"
	"testing"
	"weak"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/sip"
)

// callOwner is the owner of a call in a test, which can check whether the owner was garbage collected.
type callOwner struct{ events *eventLog }

func (o *callOwner) add(e sip.Event) { o.events.add(e) }

// newCallOwner returns the callback of a call owner. held reports whether the owner is still referenced.
func newCallOwner(e *eventLog) (hear func(sip.Event), held func() bool) {
	o := &callOwner{events: e}
	w := weak.Make(o)
	return o.add, func() bool {
		runtime.GC()
		return w.Value() != nil
	}
}

// An ended dialog stays in memory for up to 40 s for late messages. It must not keep its owner in memory, because the
// owner holds the call's media and conversation.
func TestEndedOutboundDialogReleasesOwner(t *testing.T) {
	for name, end := range map[string]func(s *stage, d *sip.Dialog, inv msg){
		"local BYE": func(s *stage, d *sip.Dialog, inv msg) {
			s.peer.send(inv.reply(200, "p1", contact, sdp), s.localAddr())
			s.peer.expect("ACK")
			next[sip.Answered](s.t, s.events)
			d.Bye(16, "")
			s.peer.send(s.peer.expect("BYE").reply(200, ""), s.localAddr())
			next[sip.Ended](s.t, s.events)
		},
		"remote BYE": func(s *stage, _ *sip.Dialog, inv msg) {
			s.peer.send(inv.reply(200, "p1", contact, sdp), s.localAddr())
			s.peer.expect("ACK")
			next[sip.Answered](s.t, s.events)
			s.peer.send(s.request(inv, "BYE", 1), s.localAddr())
			s.peer.expect("SIP/2.0 200")
			next[sip.Ended](s.t, s.events)
		},
		"refused": func(s *stage, _ *sip.Dialog, inv msg) {
			s.peer.send(inv.reply(486, "p1"), s.localAddr())
			s.peer.expect("ACK")
			next[sip.Refused](s.t, s.events)
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *stage) {
				hear, held := newCallOwner(s.events)
				d := s.invite(func(in *sip.Invite) { in.Notify = hear })
				hear = nil
				inv := s.peer.expect("INVITE")
				assert.True(t, held(), "a live call keeps its owner")
				end(s, d, inv)
				assert.False(t, held())
				runtime.KeepAlive(d)
			})
		})
	}
}

func TestEndedInboundDialogReleasesOwner(t *testing.T) {
	for name, end := range map[string]func(s *stage, i *sip.Incoming, hear func(sip.Event)){
		"answered and ended": func(s *stage, i *sip.Incoming, hear func(sip.Event)) {
			i.Answer([]byte(sdp), hear)
			ok := s.peer.expect("SIP/2.0 200 OK")
			s.peer.send(followUpRequest("ACK", toTagOf(ok), 10), s.localAddr())
			s.peer.send(followUpRequest("BYE", toTagOf(ok), 11), s.localAddr())
			s.peer.expect("SIP/2.0 200 OK")
			next[sip.Ended](s.t, s.events)
		},
		"cancelled by the caller": func(s *stage, _ *sip.Incoming, _ func(sip.Event)) {
			s.peer.send(followUpRequest("CANCEL", "", 10), s.localAddr())
			s.peer.expect("SIP/2.0 200 OK")
			s.peer.expect("SIP/2.0 487")
			next[sip.Refused](s.t, s.events)
		},
		"rejected by the owner": func(s *stage, i *sip.Incoming, _ func(sip.Event)) {
			i.Reject(486, 0)
			s.peer.expect("SIP/2.0 486")
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubbleInbound(t, func(t *testing.T, s *stage, in *callReceiver) {
				s.peer.send(inboundInvite(), s.localAddr())
				s.peer.expect("SIP/2.0 100 Trying")
				i := <-in.calls
				hear, held := newCallOwner(s.events)
				i.Notify(hear)
				assert.True(t, held(), "a live call keeps its owner")
				end(s, i, hear)
				assert.False(t, held())
				runtime.KeepAlive(i)
			})
		})
	}
}
