package transferleg_test

import (
	"context"
	"log/slog"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/call/leg"
	"github.com/callboard/callboard/actors/call/transferleg"
	"github.com/callboard/callboard/actors/lines"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/mailbox/actortest"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/dnc"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/outcome"
	"github.com/callboard/callboard/sip/registrar"
	"github.com/callboard/callboard/sip/resolve"
)

// fixture simulates everything around a transfer leg: the call, the lines and trunk actors, SIP and media.
type fixture struct {
	sys           *actor.ActorSystem
	leg           *actor.PID
	reports       []any        // messages to the call
	trunkMessages []any        // messages to the trunks actor
	permit        any          // answer to lines.TryPermit
	slots         []trunk.Slot // granted one per request; afterwards requests are denied
	listed        bool         // the number is on a do-not-call list
	invites       []sip.Invite
	byes          []string
	sdp           []string // SDP answers that the session accepted
	sdpErr        error
}

// Open, Bridge and Preview implement leg.Media. The methods of session implement leg.Session.
func (s *fixture) Open(media.Options) (leg.Session, error)      { return session{fixture: s}, nil }
func (*fixture) Bridge(leg.Session, leg.Session) (undo func())  { return func() {} }
func (*fixture) Preview(leg.Session, leg.Session) (undo func()) { return func() {} }

type session struct {
	leg.Session
	*fixture
}

func (session) Offer() []byte { return []byte("offer") }
func (s session) Accept(answer []byte) error {
	s.sdp = append(s.sdp, string(answer))
	return s.sdpErr
}
func (session) Close() (media.Stats, <-chan media.Recording) { return media.Stats{}, nil }

type userAgent struct {
	leg.UserAgent
	*fixture
}

func (userAgent) Host(string, netip.AddrPort) (a netip.Addr) { return a }
func (u userAgent) Invite(in sip.Invite) (leg.Dialog, error) {
	u.invites = append(u.invites, in)
	return dialog{fixture: u.fixture}, nil
}

type dialog struct {
	leg.Dialog
	*fixture
}

func (d dialog) Bye(_ int, text string) { d.byes = append(d.byes, text) }

// numberTarget returns a transfer target that is a number. phoneTarget returns a registered phone.
func numberTarget() transferleg.Target { return transferleg.Target{To: "+12025550101"} }

func phoneTarget() transferleg.Target {
	return transferleg.Target{To: "100", Phone: &transferleg.Phone{To: "desk", Contacts: []registrar.Contact{{Target: resolve.Target{Host: "192.0.2.1"}}}}}
}

// runTransferLeg starts a transfer leg to target, runs script, and then stops the leg.
func runTransferLeg(t *testing.T, s *fixture, target transferleg.Target, script func(s *fixture)) {
	t.Helper()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		t.Helper()
		s.sys = sys
		if s.permit == nil {
			s.permit = lines.Permit{ID: 1}
		}
		spawn := func(f actor.ReceiveFunc) *actor.PID {
			return sys.Root.Spawn(mailbox.Props(func() actor.Actor { return f }, 100))
		}
		grants := spawn(func(ctx actor.Context) {
			switch ctx.Message().(type) {
			case lines.TryPermit:
				ctx.Respond(s.permit)
			case lines.BindPermit:
				ctx.Respond(lines.PermitBound{})
			}
		})
		trunks := spawn(func(ctx actor.Context) {
			switch m := ctx.Message().(type) {
			case trunk.RequestSlot:
				s.trunkMessages = append(s.trunkMessages, m)
				if len(s.slots) == 0 {
					ctx.Respond(trunk.SlotDenied{Reason: trunk.ReasonExhausted})
					return
				}
				slot := s.slots[0]
				s.slots, slot.Generation = s.slots[1:], m.Generation
				ctx.Respond(slot)
			case trunk.ReturnSlot, trunk.LegResult, trunk.CallEnded:
				s.trunkMessages = append(s.trunkMessages, m)
			}
		})
		call := spawn(func(ctx actor.Context) {
			switch m := ctx.Message().(type) {
			case *actor.Started:
				cfg := transferleg.Config{
					Workspace: "ws_1", UserAgent: userAgent{fixture: s}, Media: s, Lines: grants, Trunks: trunks, Log: slog.New(slog.DiscardHandler),
					IsListed: func(context.Context, dnc.ScrubRules, string) (bool, error) { return s.listed, nil },
				}
				order := transferleg.Request{CallID: "call_1", Key: "call_1/2", Target: target, From: "+12025550170"}
				s.leg = ctx.Spawn(mailbox.Props(func() actor.Actor { return transferleg.New(cfg, order, leg.NewResources(nil)) }, 100))
			case transferleg.LegPrepared, transferleg.LegRinging, transferleg.LegAnswered, transferleg.LegRefused, transferleg.LegEnded, transferleg.DialogEvent, transferleg.MediaEvent:
				s.reports = append(s.reports, m)
			}
		})
		synctest.Wait()
		script(s)
		synctest.Wait()
		for _, pid := range []*actor.PID{call, trunks, grants} {
			sys.Root.Poison(pid)
		}
		synctest.Wait()
	})
}

// send sends the transfer leg a message as the call actor does.
func (s *fixture) send(msg any) {
	s.sys.Root.Send(s.leg, msg)
	synctest.Wait()
}

// notify delivers a SIP event to the dialog of the last INVITE.
func (s *fixture) notify(e sip.Event) {
	s.invites[len(s.invites)-1].Notify(e)
	synctest.Wait()
}

func (s *fixture) lastReport() any { return s.reports[len(s.reports)-1] }

func TestPhoneIsCalledOnceItsLegIsCommitted(t *testing.T) {
	t.Parallel()
	runTransferLeg(t, &fixture{}, phoneTarget(), func(s *fixture) {
		require.Len(t, s.reports, 1)
		assert.IsType(t, transferleg.LegPrepared{}, s.lastReport())
		assert.Empty(t, s.invites, "before its row is stored")
		s.send(transferleg.DialLeg{Leg: 2})
		require.Len(t, s.invites, 1)
		assert.Equal(t, []any{2, "desk", 1, "offer"}, []any{s.invites[0].Leg, s.invites[0].To, len(s.invites[0].Contacts), string(s.invites[0].Body)})
		s.notify(sip.Ringing{Code: 180})
		assert.Equal(t, transferleg.LegRinging{Code: 180}, s.lastReport())
		s.notify(sip.Answered{Body: []byte("sdp"), State: sip.DialogState{CallID: "a"}})
		assert.Equal(t, transferleg.LegAnswered{State: sip.DialogState{CallID: "a"}}, s.lastReport())
		assert.Equal(t, []string{"sdp"}, s.sdp)
		s.notify(sip.Ended{ByRemote: true})
		assert.Equal(t, transferleg.LegEnded{Dialog: sip.Ended{ByRemote: true}}, s.lastReport())
		assert.Empty(t, s.trunkMessages, "a phone needs no trunk slot")
	})
}

func TestRefusedLegTriesAnotherTarget(t *testing.T) {
	t.Parallel()
	s := &fixture{slots: []trunk.Slot{{Key: "one", Target: resolve.Target{Host: "192.0.2.1"}}, {Key: "two", Target: resolve.Target{Host: "192.0.2.2"}}}}
	runTransferLeg(t, s, numberTarget(), func(s *fixture) {
		s.send(transferleg.DialLeg{Leg: 2})
		s.notify(sip.Refused{Final: outcome.Final{NoResponse: true}})
		require.Len(t, s.reports, 3)
		assert.IsType(t, transferleg.LegRefused{}, s.reports[1])
		assert.IsType(t, transferleg.LegPrepared{}, s.reports[2])
		s.send(transferleg.DialLeg{Leg: 3})
		assert.Equal(t, "192.0.2.2", s.invites[1].Target.Host)
		s.notify(sip.Refused{Final: outcome.Final{NoResponse: true}})
		assert.Equal(t, transferleg.LegEnded{Reason: trunk.ReasonExhausted}, s.lastReport())
		var tried [][]string
		for _, m := range s.trunkMessages {
			if w, ok := m.(trunk.RequestSlot); ok {
				tried = append(tried, w.Tried)
			}
		}
		assert.Equal(t, [][]string{nil, {"one"}, {"one", "two"}}, tried)
	})
}

func TestBusyTargetIsNotCalledAgain(t *testing.T) {
	t.Parallel()
	s := &fixture{slots: []trunk.Slot{{Key: "one"}, {Key: "two"}}}
	runTransferLeg(t, s, numberTarget(), func(s *fixture) {
		s.send(transferleg.DialLeg{Leg: 2})
		s.notify(sip.Refused{Final: outcome.Final{Code: 486}})
		assert.Equal(t, transferleg.LegEnded{Reason: string(domain.ReasonBusy)}, s.lastReport())
		assert.Len(t, s.slots, 1)
	})
}

func TestLegWithoutPermitOrSlotSendsNoInvite(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fixture fixture
		dial    bool
		reason  string
	}{
		"no permit":           {fixture{permit: domain.Errorf(domain.CodeConcurrentLimit, "no")}, false, string(domain.CodeConcurrentLimit)},
		"the permit was late": {fixture{permit: lines.LeaseExpired{}}, false, "no_line"},
		"no slot":             {fixture{}, false, trunk.ReasonExhausted},
		"do-not-call list":    {fixture{listed: true, slots: []trunk.Slot{{Key: "one"}}}, true, string(domain.CodeDNCBlocked)},
	} {
		runTransferLeg(t, &c.fixture, numberTarget(), func(s *fixture) {
			if c.dial {
				s.send(transferleg.DialLeg{Leg: 2})
			}
			assert.Equal(t, transferleg.LegEnded{Reason: c.reason}, s.lastReport(), name)
			assert.Empty(t, s.invites, name)
		})
	}
}

func TestHungUpLegEndsWithItsDialog(t *testing.T) {
	t.Parallel()
	runTransferLeg(t, &fixture{slots: []trunk.Slot{{Key: "one"}}}, numberTarget(), func(s *fixture) {
		s.send(transferleg.DialLeg{Leg: 2})
		s.send(transferleg.HangUpLeg{Reason: "caller_left"})
		assert.Equal(t, []string{"caller_left"}, s.byes)
		assert.Len(t, s.reports, 1, "it may still ring")
		s.notify(sip.Refused{Final: outcome.Final{Cancelled: true}})
		assert.Equal(t, transferleg.LegEnded{Reason: "caller_left"}, s.lastReport())
	})
	runTransferLeg(t, &fixture{slots: []trunk.Slot{{Key: "one"}}}, numberTarget(), func(s *fixture) {
		s.send(transferleg.DialLeg{Leg: 2})
		s.send(transferleg.HangUpLeg{Reason: "caller_left"})
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Equal(t, transferleg.LegEnded{Reason: "caller_left"}, s.lastReport(), "the peer does not answer the CANCEL")
	})
	runTransferLeg(t, &fixture{}, phoneTarget(), func(s *fixture) {
		s.send(transferleg.HangUpLeg{Reason: "caller_left"})
		assert.Equal(t, transferleg.LegEnded{Reason: "caller_left"}, s.lastReport(), "at once before its INVITE")
	})
}

func TestAnsweredLegEndsAtMaxDuration(t *testing.T) {
	t.Parallel()
	runTransferLeg(t, &fixture{slots: []trunk.Slot{{Key: "one", MaxDuration: time.Minute}}}, numberTarget(), func(s *fixture) {
		s.send(transferleg.DialLeg{Leg: 2})
		s.notify(sip.Answered{})
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Equal(t, []string{string(domain.ReasonMaxDuration)}, s.byes)
		s.notify(sip.Ended{})
		assert.Equal(t, transferleg.LegEnded{Reason: string(domain.ReasonMaxDuration)}, s.lastReport())
		ended, ok := s.trunkMessages[len(s.trunkMessages)-1].(trunk.CallEnded)
		require.True(t, ok)
		assert.Equal(t, time.Minute, ended.Talked, "the trunk counts the seconds")
	})
}

func TestAnswerWithUnusableSDPIsHungUp(t *testing.T) {
	t.Parallel()
	runTransferLeg(t, &fixture{sdpErr: media.ErrNoCodec}, phoneTarget(), func(s *fixture) {
		s.send(transferleg.DialLeg{Leg: 2})
		s.notify(sip.Answered{Body: []byte("sdp")})
		assert.Equal(t, []string{string(domain.ReasonMediaRefused)}, s.byes)
		s.notify(sip.Ended{})
		assert.Equal(t, transferleg.LegEnded{Reason: string(domain.ReasonMediaRefused), MediaErr: media.ErrNoCodec}, s.lastReport())
	})
}
