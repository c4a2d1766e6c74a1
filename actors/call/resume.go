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
	resumeTimeout         = 8 * time.Second  // for the peer's answer to the re-INVITE
	slotHold              = 40 * time.Second // until the actor has bound the trunk slot
)

type (
	// ResumeCalls starts resuming the calls in Config.Resumable. It is sent once the supervision tree has started.
	ResumeCalls struct{}
	// resumptionDone reports that a call was resumed or that its resumption failed.
	resumptionDone struct{ callID string }
	// legReopened reports that the dialog and the media session are open and the re-INVITE is sent. If not, err is set.
	legReopened struct {
		missing bool // the recording so far is on another node
		err     error
	}
	reofferAnswered struct{ answer sip.OfferResult }
	// retryReopen opens the leg again after an attempt during which another process may have owned the call.
	retryReopen struct{}
	// resumptionTimedOut ends the wait for the peer's answer to the re-INVITE.
	resumptionTimedOut struct{}
)

// Control implements mailbox.Control: a full mailbox accepts this message.
func (ResumeCalls) Control() {}

// Control implements mailbox.Control: a full mailbox accepts this message.
func (resumptionDone) Control() {}

// Control implements mailbox.Control: a full mailbox accepts this message.
func (legReopened) Control() {}

// Control implements mailbox.Control: a full mailbox accepts this message.
func (reofferAnswered) Control() {}

// Control implements mailbox.Control: a full mailbox accepts this message.
func (retryReopen) Control() {}

// Control implements mailbox.Control: a full mailbox accepts this message.
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

// startResumable spawns the actors of the resumable calls, so that GetLiveCalls includes them from the start.
func (c *Calls) startResumable(ctx actor.Context) {
	for _, s := range c.cfg.Resumable {
		c.start(ctx, setupOfResumable(s))
	}
}

func setupOfResumable(s *recovery.Resumable) *callSetup {
	k := &s.Checkpoint
	return &callSetup{
		call: s.Call, attempt: s.Attempt, script: s.Script, variables: k.Variables, callerName: k.CallerName, optOut: k.OptOut, scrub: k.Scrub,
		slot:     trunk.Slot{Via: s.Trunk, CallID: s.Call.ID, Target: s.Dialog.Target},
		networks: k.Networks, ringTimeout: k.RingTimeout, maxDuration: k.MaxDuration, owner: s.Owner,
		inbound: s.Call.Direction == domain.Inbound, resumed: k, resumedDialog: s.Dialog, earlierTrace: s.Attempt.Trace,
	}
}

// resumeCalls starts to resume up to n of the calls that wait for their resumption.
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

// onStarted spawns the actors of the resumable calls and queues the recordings that earlier processes have left.
func (c *Calls) onStarted(ctx actor.Context) {
	c.startResumable(ctx)
	resumable := make(map[string]bool, len(c.cfg.Resumable)) // their calls still write to the spool files
	for _, s := range c.cfg.Resumable {
		resumable[s.Call.ID] = true
	}
	c.recordings.RecoverSpool(ctx, resumable)
}

// receiveOther handles the messages about resumptions, hand-overs and recordings.
func (c *Calls) receiveOther(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case ResumeCalls:
		c.resumeCalls(ctx, concurrentResumptions)
	case resumptionDone:
		c.onResumptionDone(ctx, m.callID)
	case PrepareHandover, CancelHandover, HandOver, handoverAnswer:
		c.handleHandover(ctx, m)
	default:
		c.recordings.Receive(ctx)
	}
}

// onResumptionDone starts the resumption of the next call. It counts each call only once, even if the call reports a
// result and its actor then stops.
func (c *Calls) onResumptionDone(ctx actor.Context, id string) {
	if b := c.entries[id]; b != nil && b.resuming && !b.resumptionDecided {
		b.resumptionDecided = true
		c.resumeCalls(ctx, 1)
	}
}

// resumeCall continues a dialog of a process that has ended, with a higher CSeq. The peer gets a re-INVITE with the new
// media address.
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
	c.cfg.Traces.AssignDialog(c.call.ID, c.resumedDialog.CallID, tag)
	if id := c.trunkID(); c.cfg.Trunks != nil && id != "" && !c.inbound { // inbound calls have no trunk slot
		ctx.Send(c.cfg.Trunks, trunk.HoldChannel{CallID: c.call.ID, TrunkID: id, Until: now.Add(slotHold)})
		ctx.Send(c.cfg.Trunks, trunk.BindCall{CallID: c.call.ID, Call: ctx.Self()})
		perMinute, _ := c.pricePerMinute()
		ctx.Send(c.cfg.Trunks, trunk.ResumeMeter{CallID: c.call.ID, Environment: c.call.Environment, PerMinute: perMinute, Answered: c.answeredAt})
	}
	c.timers.schedule(ctx, resumeTimeout, resumptionTimedOut{})
	c.reopenLeg(ctx)
}

// reopenLeg opens the dialog and the media session of a resumed call, outside the actor.
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
	o.ClassifyAnswer = false
	mailbox.RunTask(ctx, dialTimeout, func(context.Context) any {
		return reopenLeg(cfg, v, number, o, r, func(a sip.OfferResult) { root.Send(self, reofferAnswered{a}) })
	})
}

func reopenLeg(cfg *Config, v *leg.Resources, number int, o media.Options, r sip.Resumption, heard func(sip.OfferResult)) (m legReopened) {
	defer func() {
		if v := recover(); v != nil {
			m.err = fmt.Errorf("call: resumption panicked: %v", v)
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
		return legReopened{err: err} // the release of the resources ends the dialog
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

func (c *call) onLegReopened(ctx actor.Context, m legReopened) {
	c.resumption.recordingMissing = m.missing
	if m.err == nil || c.stage != resuming || c.resumption.failed {
		return
	}
	if errors.Is(m.err, transport.ErrCallsSuspended) { // until the owner of the shard is known or resumeTimeout has passed
		mailbox.SendAfter(ctx, byeRetryAfter, retryReopen{})
		return
	}
	c.log.Warn("call of an earlier process cannot be resumed", slog.Any("error", m.err))
	c.resumption.failed = true
	c.reportResumption(ctx, recovery.ResultFailed)
	c.endResumed(ctx)
}

// onReofferAnswered handles the peer's answer to the re-INVITE.
func (c *call) onReofferAnswered(ctx actor.Context, m reofferAnswered) {
	if c.stage != resuming || c.resumption.failed {
		return
	}
	s := c.resources.Session()
	err := m.answer.Err
	switch {
	case err == nil && m.answer.Code != sipOK:
		err = fmt.Errorf("the peer answered the re-INVITE with %d", m.answer.Code)
	case err == nil && s == nil:
		err = media.ErrClosed
	case err == nil:
		err = s.Accept(m.answer.Body)
	}
	if err != nil {
		c.recordMediaRefusal(err)
		c.failResumption(ctx, err.Error())
		return
	}
	c.continueCall(ctx, s)
}

// failResumption ends a call that cannot be resumed. It logs the reason why and reports the result of the resumption.
func (c *call) failResumption(ctx actor.Context, why string) {
	if c.stage != resuming || c.resumption.failed {
		return
	}
	c.resumption.failed = true
	result := recovery.ResultRefused
	if time.Since(c.resumption.startedAt) >= resumeTimeout {
		result = recovery.ResultNoAnswer
	}
	c.log.Info("call of an earlier process ended: the peer did not continue it", slog.String("reason", why))
	c.reportResumption(ctx, result)
	c.endResumed(ctx)
}

// endResumed sends the BYE of a call that could not be resumed, even if its dialog could not be opened. While another
// node may own the shard, endResumed waits, because that node may resume the call.
func (c *call) endResumed(ctx actor.Context) {
	if c.cfg.isCutOff() {
		mailbox.SendAfter(ctx, byeRetryAfter, byeRetryDue{})
		return
	}
	c.timers.schedule(ctx, byeTimeout, stageTimeout{stage: resuming})
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

// retryBye sends a BYE that was postponed because another process might have owned the call.
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

// continueCall starts the media and continues the conversation of a resumed call.
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
	c.log.Info("call of an earlier process resumed", slog.Duration("checkpoint_age", silent.Round(time.Millisecond)),
		slog.Duration("reoffer_time", time.Since(c.resumption.startedAt).Round(time.Millisecond)), slog.Bool("recording_missing", c.resumption.recordingMissing))
	c.reportResumption(ctx, recovery.ResultResumed)
	c.commit(ctx, "", nil, nil)
	if c.hangup.requested {
		c.endAnswered(ctx, byAPI, c.hangup.requestReason)
	}
}
