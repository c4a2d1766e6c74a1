package call

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call/leg"
	"github.com/callboard/callboard/actors/call/recovery"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/numbers"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/auth"
	"github.com/callboard/callboard/sip/transport"
)

const (
	concurrentResumptions = 50               // per workspace
	resumeTimeout         = 8 * time.Second  // for the answer of a peer
	slotHold              = 40 * time.Second // until the actor has bound the trunk slot
)

type (
	// ResumeCalls begins the resumptions, once the supervision tree has started.
	ResumeCalls struct{}
	// resumptionDone says that a call was resumed, or cannot be.
	resumptionDone struct{ callID string }
	// legReopened says that dialog and media session are open and the re-INVITE is sent,
	// or err.
	legReopened struct {
		missing bool // its recording so far is on another node
		err     error
	}
	reofferAnswered struct{ answer sip.OfferResult }
	// retryReopen tries again to open a leg that another process may have had.
	retryReopen struct{}
	// resumptionTimedOut says that the peer has not answered in time.
	resumptionTimedOut struct{}
)

// Control admits it always.
func (ResumeCalls) Control() {}

// Control admits it always.
func (resumptionDone) Control() {}

// Control admits it always.
func (legReopened) Control() {}

// Control admits it always.
func (reofferAnswered) Control() {}

// Control admits it always.
func (retryReopen) Control() {}

// Control admits it always.
func (resumptionTimedOut) Control() {}

// resumption is the progress of a call's resumption.
type resumption struct {
	failed, reported bool
	recordingMissing bool
	startedAt        time.Time
}

// isCutOff reports whether another process may own the calls.
func (cfg *Config) isCutOff() bool {
	return cfg.StoreCheckpoints && cfg.OwnershipUncertain != nil && cfg.OwnershipUncertain()
}

// startResumable makes the actors of the resumable calls, so that a census finds them
// from the start.
func (c *Calls) startResumable(ctx actor.Context) {
	for _, s := range c.cfg.Resumable {
		c.start(ctx, orderOfResumable(s))
	}
}

func orderOfResumable(s *recovery.Resumable) *callSetup {
	k := &s.Checkpoint
	return &callSetup{
		call: s.Call, attempt: s.Attempt, script: s.Script, variables: k.Variables, callerName: k.CallerName, optOut: k.OptOut, scrub: k.Scrub,
		slot:     trunk.Slot{Via: s.Trunk, CallID: s.Call.ID, Target: s.Dialog.Target},
		networks: k.Networks, ringTimeout: k.RingTimeout, maxDuration: k.MaxDuration, owner: s.Owner,
		inbound: s.Call.Direction == domain.Inbound, resumed: k, resumedDialog: s.Dialog, earlierTrace: s.Attempt.Trace,
	}
}

// resumeCalls asks the peers of n more calls.
func (c *Calls) resumeCalls(ctx actor.Context, n int) {
	for _, b := range c.entries {
		if n == 0 {
			return
		}
		if !b.resumable || b.resuming || b.pid == nil {
			continue
		}
		b.resuming = true
		n--
		if c.cfg.Numbers != nil {
			ctx.Send(c.cfg.Numbers, numbers.CallStarted{CallID: b.callID, Number: b.number, Environment: b.environment})
		}
		ctx.Send(b.pid, beginCall{})
	}
}

// started starts the resumable calls, and looks for recordings that others have left.
func (c *Calls) started(ctx actor.Context) {
	c.startResumable(ctx)
	resumable := make(map[string]bool, len(c.cfg.Resumable)) // these calls go on with their files
	for _, s := range c.cfg.Resumable {
		resumable[s.Call.ID] = true
	}
	c.recordings.RecoverSpool(ctx, resumable)
}

// receiveMore handles resumption, hand-over and recordings.
func (c *Calls) receiveMore(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case ResumeCalls:
		c.resumeCalls(ctx, concurrentResumptions)
	case resumptionDone:
		c.resumptionDecided(ctx, m.callID)
	case PrepareHandover, CancelHandover, HandOver, handoverAnswer:
		c.handleHandover(ctx, m)
	default:
		c.recordings.Receive(ctx)
	}
}

// resumptionDecided lets the next call be resumed. Each call counts once, whether it
// has reported its result or has died.
func (c *Calls) resumptionDecided(ctx actor.Context, id string) {
	if b := c.entries[id]; b != nil && b.resuming && !b.decided {
		b.decided = true
		c.resumeCalls(ctx, 1)
	}
}

// resumeCall asks the peer of a resumed call to continue here: the same dialog with a
// higher CSeq, and a re-INVITE with our new media address.
func (c *call) resumeCall(ctx actor.Context) {
	if c.stage != resuming || !c.resumption.startedAt.IsZero() {
		return
	}
	now := time.Now()
	c.resumption.startedAt, c.reached, c.checkpoint.acknowledged = now, true, true
	c.answeredAt = now.Add(-max(0, now.UTC().Sub(*c.call.AnsweredAt)))
	c.agent.appointments, c.failover.codecs = c.resumed.Appointments, leg.ParseCodecs(c.slot.Trunk().Codecs)
	tag := ""
	if c.inbound {
		tag = c.resumedDialog.LocalTag
	}
	c.cfg.Traces.Claim(c.call.ID, c.resumedDialog.CallID, tag)
	if id := c.trunkID(); c.cfg.Trunks != nil && id != "" && !c.inbound { // as in start
		ctx.Send(c.cfg.Trunks, trunk.HoldChannel{CallID: c.call.ID, TrunkID: id, Until: now.Add(slotHold)})
		ctx.Send(c.cfg.Trunks, trunk.BindCall{CallID: c.call.ID, Call: ctx.Self()})
		perMinute, _ := c.pricePerMinute()
		ctx.Send(c.cfg.Trunks, trunk.ResumeMeter{CallID: c.call.ID, Environment: c.call.Environment, PerMinute: perMinute, Answered: c.answeredAt})
	}
	c.timers.after(ctx, resumeTimeout, resumptionTimedOut{})
	c.reopenLeg(ctx)
}

// reopenLeg opens dialog and media session, beside the actor.
func (c *call) reopenLeg(ctx actor.Context) {
	if c.stage != resuming || c.resumption.failed {
		return
	}
	root, self, number := ctx.ActorSystem().Root, ctx.Self(), c.leg
	c.resumedDialog.Environment = c.call.Environment
	r := sip.Resumption{State: c.resumedDialog, Notify: func(e sip.Event) { root.Send(self, dialogEvent{number, e}) }}
	if !c.inbound {
		if a := c.slot.Trunk().Auth; a != nil {
			r.Credentials = &auth.Credentials{Username: a.Username, Password: a.Password, Realm: a.Realm}
		}
	}
	o, cfg, v := c.options(ctx), c.cfg, c.resources.Resources
	o.Answerer = false
	mailbox.RunTask(ctx, dialLimit, func(context.Context) any {
		return reopenLeg(cfg, v, number, o, r, func(a sip.OfferResult) { root.Send(self, reofferAnswered{a}) })
	})
}

func reopenLeg(cfg *Config, v *leg.Resources, number int, o media.Options, r sip.Resumption, heard func(sip.OfferResult)) (m legReopened) {
	defer func() {
		if v := recover(); v != nil {
			m.err = fmt.Errorf("call: taking up panicked: %v", v)
		}
	}()
	phone, can := cfg.UserAgent.(leg.Resumer)
	if !can {
		return legReopened{err: sip.ErrIncompleteState}
	}
	d, err := phone.Resume(r)
	if err != nil {
		return legReopened{err: err}
	}
	if !v.SetResumedDialog(number, d) {
		return legReopened{err: media.ErrClosed}
	}
	s, err := cfg.Media.Open(o)
	if err != nil {
		return legReopened{err: err} // the owner of the resources ends the dialog
	}
	if !v.SetSession(number, s) {
		s.Close()
		return legReopened{err: media.ErrClosed}
	}
	v.SetDialog(number, d)
	d.Reoffer(s.Offer(), heard)
	if o.RecordPath != "" {
		_, gone := os.Stat(o.RecordPath)
		m.missing = errors.Is(gone, os.ErrNotExist)
	}
	return m
}

func (c *call) legReopened(ctx actor.Context, m legReopened) {
	c.resumption.recordingMissing = m.missing
	if m.err == nil || c.stage != resuming || c.resumption.failed {
		return
	}
	if errors.Is(m.err, transport.ErrCallsSuspended) { // until it is known whose it is, or time is up
		mailbox.SendAfter(ctx, byeRetryAfter, retryReopen{})
		return
	}
	c.log.Warn("a call of an earlier process cannot be taken up", slog.Any("error", m.err))
	c.resumption.failed = true
	c.reportResumption(ctx, recovery.ResultFailed)
	c.endResumed(ctx)
}

// reofferAnswered handles the peer's answer to the re-INVITE.
func (c *call) reofferAnswered(ctx actor.Context, m reofferAnswered) {
	if c.stage != resuming || c.resumption.failed {
		return
	}
	s := c.resources.Session()
	err := m.answer.Err
	switch {
	case err == nil && m.answer.Code != sipOK:
		err = fmt.Errorf("the far end answered %d", m.answer.Code)
	case err == nil && s == nil:
		err = media.ErrClosed
	case err == nil:
		err = s.Accept(m.answer.Body)
	}
	if err != nil {
		c.mediaRefused(err)
		c.resumptionFailed(ctx, err.Error())
		return
	}
	c.continueCall(ctx, s)
}

// resumptionFailed ends a call that could not be resumed.
func (c *call) resumptionFailed(ctx actor.Context, why string) {
	if c.stage != resuming || c.resumption.failed {
		return
	}
	c.resumption.failed = true
	result := recovery.ResultRefused
	if time.Since(c.resumption.startedAt) >= resumeTimeout {
		result = recovery.ResultNoAnswer
	}
	c.log.Info("a call of an earlier process is over: its far end does not go on with it", slog.String("reason", why))
	c.reportResumption(ctx, result)
	c.endResumed(ctx)
}

// endResumed sends the BYE of a call that could not be resumed, with its dialog or
// without. It waits while another node may own the shard: that node asks the peer as
// well.
func (c *call) endResumed(ctx actor.Context) {
	if c.cfg.isCutOff() {
		mailbox.SendAfter(ctx, byeRetryAfter, byeRetryDue{})
		return
	}
	c.timers.after(ctx, byeLimit, stageTimeout{stage: resuming})
	if d := c.resources.Dialog(); d != nil {
		d.Bye(41, "service restarted")
		return
	}
	root, self, number := ctx.ActorSystem().Root, ctx.Self(), c.leg
	over := dialogEvent{number, sip.Ended{}}
	if phone, can := c.cfg.UserAgent.(leg.Resumer); can {
		c.resumedDialog.Environment = c.call.Environment
		phone.EndAbandoned(c.resumedDialog, func(bool) { root.Send(self, over) })
		return
	}
	ctx.Send(self, over)
}

// retryBye tries a postponed BYE again.
func (c *call) retryBye(ctx actor.Context) {
	switch {
	case c.stage == talking:
		c.sendBye(ctx)
	case c.stage == resuming && c.resumption.failed:
		c.endResumed(ctx)
	}
}

func (c *call) reportResumption(ctx actor.Context, result string) {
	if c.resumption.reported {
		return
	}
	c.resumption.reported = true
	if c.cfg.ResumptionDone != nil {
		c.cfg.ResumptionDone(result)
	}
	ctx.Send(ctx.Parent(), resumptionDone{c.call.ID})
}

// continueCall begins the media and continues the conversation.
func (c *call) continueCall(ctx actor.Context, s leg.Session) {
	c.stage, c.audio.session = talking, s
	if c.audio.recordingPaused = c.resumed.Paused; c.audio.recordingPaused {
		s.PauseRecording()
	}
	s.Resume()
	s.Begin()
	c.checkpoint.conversation = c.resumed.Conversation
	c.startConversation(ctx, c.resumed.Conversation)
	c.timers.stopClock = mailbox.SendAfter(ctx, max(time.Second, c.maxDuration-time.Since(c.answeredAt)), maxDurationReached{})
	c.legRecord(c.leg).Codec = s.Stats().Codec
	silent := time.Since(c.resumed.At)
	c.log.Info("a call of an earlier process goes on here", slog.Duration("kept_before", silent.Round(time.Millisecond)),
		slog.Duration("asked_for", time.Since(c.resumption.startedAt).Round(time.Millisecond)), slog.Bool("recording_missing", c.resumption.recordingMissing))
	c.reportResumption(ctx, recovery.ResultResumed)
	c.commit(ctx, "", nil, nil)
	if c.hangup.requested {
		c.endAnswered(ctx, byAPI, c.hangup.requestReason)
	}
}
