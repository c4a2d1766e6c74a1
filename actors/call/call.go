package call

import (
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call/leg"
	"github.com/callboard/callboard/actors/call/transferleg"
	"github.com/callboard/callboard/actors/conversation"
	"github.com/callboard/callboard/actors/lines"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/engines/tracing"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/sip"
)

// Time limits and sizes that apply to every call.
const (
	bindTimeout        = 5 * time.Second
	dialTimeout        = 15 * time.Second
	rerouteTimeout     = 20 * time.Second
	slotWait           = 15 * time.Second // for a slot of the next trunk target
	throttleWait       = 30 * time.Second // for a throttled trunk, if the call belongs to no campaign
	finishTimeout      = 3 * time.Second
	answerStoreTimeout = time.Second
	byeTimeout         = 40 * time.Second // longer than Timer F of RFC 3261
	repeatEndEvery     = 2 * time.Second
	defaultMaxDuration = 30 * time.Minute
	maxLegs            = 5
	mailboxSize        = 1024
	openingVersion     = 1 // version of the attempt's row after the commit that opened the call
)

type stage uint8

// The stages of a call, in order. Fail-over to another leg returns from dialling to rerouting and preparing.
const (
	awaitingPermit stage = iota
	preparing            // the media session is opened and the INVITE is sent
	dialling             // the INVITE is sent
	rerouting            // a leg was refused; the next leg is being prepared and stored
	resuming             // an earlier process answered the call; the peer gets a re-INVITE
	talking              // the call is answered
	ending               // the dialog has ended; the conversation reports its result
	flushing             // the last changes are being stored
	notifying            // the owner gets the end repeatedly until it acknowledges
)

// Messages that the call actor sends to itself.
type (
	dialogEvent struct {
		leg   int
		event sip.Event
	}
	mediaEvent struct {
		leg   int
		event media.Event
	}
	legPrepared struct { // the media session is open and the INVITE is sent; otherwise err is set
		leg    int
		answer []byte // SDP answer of an inbound call
		err    error
		reason domain.Reason
	}
	stageTimeout struct { // a stage took too long
		stage stage
		leg   int
	}
	maxDurationReached struct{}
	repeatEnd          struct{}
	beginCall          struct{}
)

// Control implements mailbox.Control: a full mailbox accepts this message.
func (dialogEvent) Control() {}

// Control implements mailbox.Control: a full mailbox accepts this message.
func (mediaEvent) Control() {}

// Control implements mailbox.Control: a full mailbox accepts this message.
func (legPrepared) Control() {}

// Control implements mailbox.Control: a full mailbox accepts this message.
func (stageTimeout) Control() {}

// Control implements mailbox.Control: a full mailbox accepts this message.
func (maxDurationReached) Control() {}

// Control implements mailbox.Control: a full mailbox accepts this message.
func (repeatEnd) Control() {}

// Control implements mailbox.Control: a full mailbox accepts this message.
func (beginCall) Control() {}

// call is the actor of one call, inbound or outbound. No other goroutine uses the embedded callSetup.
type call struct {
	*callSetup
	cfg        *Config
	log        *slog.Logger
	resources  *callResources
	commits    commitQueue
	stage      stage
	leg        int // number of the current leg, from 1
	reached    bool
	alerting   bool // an inbound call that is not answered yet
	stopping   bool
	invitedAt  time.Time
	answeredAt time.Time // includes the monotonic clock
	failover   failover
	audio      audio
	agent      agent
	hangup     hangup
	result     result
	timers     timers
	transfers  transfers
	checkpoint checkpointing
	resumption resumption
}

func newCall(cfg *Config, o *callSetup, r *callResources) actor.Actor {
	if o.resumed == nil {
		o.maxDuration = o.script.Limits.MaxDuration(o.maxDuration, defaultMaxDuration)
	}
	log := cfg.Log.With(slog.String("call_id", o.call.ID))
	if span := (*tracing.SpanContexts)(nil).Call(o.call.ID, o.call.TraceParent); span.IsValid() {
		log = log.With(slog.String("trace_id", span.TraceID().String()))
	}
	c := &call{callSetup: o, cfg: cfg, log: log, resources: r, commits: commitQueue{cfg: cfg, log: log, version: openingVersion}}
	if o.resumed != nil {
		c.commits.version, c.stage, c.leg = 0, resuming, o.resumed.Leg // the version is read
	}
	return c
}

// Receive dispatches the messages of the actor.
func (c *call) Receive(ctx actor.Context) { //nolint:funlen // one case per message
	if c.cfg.BeforeMessage != nil {
		c.cfg.BeforeMessage("call", c.call.ID, ctx.Message())
	}
	switch m := ctx.Message().(type) {
	case beginCall:
		c.start(ctx)
	case lines.PermitBound:
		c.onPermitBound(ctx)
	case lines.LeaseExpired:
		c.onStageTimeout(ctx, stageTimeout{stage: awaitingPermit})
	case legPrepared:
		c.onLegPrepared(ctx, m)
	case dialogEvent:
		c.handleDialogEvent(ctx, m)
	case mediaEvent:
		c.handleMediaEvent(ctx, m)
	case trunk.Slot:
		c.onSlotGranted(ctx, m)
	case trunk.SlotDenied:
		c.onSlotDenied(ctx, m)
	case conversation.PathwayEnded:
		c.onAgentEnded(ctx, m)
	case conversation.Fault:
		c.reportFault(ctx, m)
	case conversation.OptOutRequested:
		if c.cfg.OnOptOut != nil {
			c.cfg.OnOptOut(c.call, m.Channel, m.Keyword)
		}
	case conversation.FinishReply:
		c.onConversationFinished(ctx, m)
	case HangUp:
		c.handleHangup(ctx, m)
	case stageTimeout:
		c.onStageTimeout(ctx, m)
	case maxDurationReached:
		c.endAnswered(ctx, byService, domain.ReasonMaxDuration)
	case trunk.SpendCapReached:
		c.endAnswered(ctx, byService, domain.ReasonSpendCap)
	case commitDone:
		c.onCommitDone(ctx, m)
	case repeatEnd:
		c.notifyOwner(ctx)
	case AcknowledgeEnd:
		c.onEndAcknowledged(ctx)
	case *actor.DeadLetterResponse:
		c.reportOwnerGone(ctx)
	case *actor.Stopping:
		c.stopping = true // Calls handles the end of the call; the stop of the conversation is no failure
	case *actor.Terminated:
		c.onConversationDied(ctx, m)
	case mailbox.TaskPanicked:
		panic(m)
	default:
		c.receiveOther(ctx)
	}
}

func (c *call) onCommitDone(ctx actor.Context, m commitDone) {
	c.commits.finishCommit(ctx, m)
	if c.agent.leaving && c.commits.isIdle() {
		c.agentHangsUp(ctx)
	}
	if c.checkpoint.dirty {
		c.storeCheckpoint(ctx)
	}
	c.checkFlushed(ctx)
}

// reportOwnerGone tells Calls that the owner of the call has not received the Ended message.
func (c *call) reportOwnerGone(ctx actor.Context) {
	if c.stage == notifying {
		ctx.Send(ctx.Parent(), ownerGone{*c.result.ended})
	}
}

// start binds the permit and the trunk slot to this actor. Both are released when the actor stops.
func (c *call) start(ctx actor.Context) {
	if c.resumed != nil {
		c.resumeCall(ctx)
		return
	}
	c.leg = max(len(c.attempt.Legs), 1)
	now := time.Now().UTC()
	if c.call.StartedAt == nil {
		c.call.StartedAt = &now
	}
	if c.in != nil {
		root, self := ctx.ActorSystem().Root, ctx.Self()
		c.in.Notify(func(e sip.Event) { root.Send(self, dialogEvent{1, e}) })
		c.failover.codecs = leg.ParseCodecs(c.slot.Trunk().Codecs)
	} else {
		c.failover.tried = []string{c.slot.Key}
		c.failover.codecs = leg.ParseCodecs(c.slot.Trunk().Codecs)
		if most := c.slot.MaxDuration; most > 0 {
			c.maxDuration = min(c.maxDuration, most)
		}
		if c.cfg.Trunks != nil {
			ctx.Send(c.cfg.Trunks, trunk.BindCall{CallID: c.call.ID, Call: ctx.Self()})
		}
	}
	c.recordLeg(now)
	tag := ""
	if c.in != nil {
		tag = c.in.Tag()
	}
	c.cfg.Traces.AssignDialog(c.call.ID, c.call.Legs[c.leg-1].SIPCallID, tag)
	ctx.Request(c.lines(c.cfg), lines.BindPermit{Permit: c.permit, CallID: c.call.ID, Call: ctx.Self()})
	c.timers.schedule(ctx, bindTimeout, stageTimeout{stage: awaitingPermit})
}

// onPermitBound sends the INVITE of an outbound call, or prepares the answer of an inbound call.
func (c *call) onPermitBound(ctx actor.Context) {
	if c.stage != awaitingPermit {
		return
	}
	c.stage = preparing
	if c.in != nil {
		c.prepareInbound(ctx)
		return
	}
	c.sendInvite(ctx)
}

func (c *call) onStageTimeout(ctx actor.Context, m stageTimeout) {
	if m.stage != c.stage || m.leg != 0 && m.leg != c.leg {
		return
	}
	switch m.stage {
	case awaitingPermit:
		c.refuseCaller(503)
		c.endCall(ctx, notSent(), byService)
	case rerouting:
		c.endCall(ctx, c.result.verdict, c.result.by)
	case ending:
		c.awaitTransferLegs(ctx)
	case resuming:
		c.endCall(ctx, interrupted(), byService) // the peer did not answer the BYE
	case talking:
		c.onDialogEnded(ctx, sip.Ended{}) // the peer did not answer the BYE
	case preparing, dialling, flushing, notifying:
	}
}

// receiveOther handles the message types that are missing from the switch in Receive.
func (c *call) receiveOther(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case answerCaller:
		if c.stage == preparing {
			c.answerCaller(ctx, m.body)
		}
	case retryCommit:
		c.commits.retryCommit(ctx)
	case conversation.CheckpointTaken:
		c.onCheckpointTaken(ctx, m)
	case conversation.BusyChanged:
		c.resources.setBusy(m.Busy)
	case prepareHandover, conversation.SuspendReply, handOver, cancelHandover:
		c.handleHandover(ctx, m)
	case checkpointDue:
		c.refreshCheckpoint(ctx)
	case byeRetryDue:
		c.retryBye(ctx)
	case retryReopen:
		c.reopenLeg(ctx)
	case resumptionTimedOut:
		c.failResumption(ctx, "no answer in time")
	case legReopened:
		c.onLegReopened(ctx, m)
	case reofferAnswered:
		c.onReofferAnswered(ctx, m)
	case AddListener:
		c.listen(ctx, m)
	case PauseRecording:
		c.pauseRecording(ctx, m)
	case conversation.RequestTransfer:
		c.onTransferRequested(ctx, m)
	case conversation.ActionPerformed:
		c.onActionTaken(ctx, m)
	case conversation.IntentRecognized:
		c.onIntentDetected(ctx, m)
	case conversation.AgentHandedOver:
		c.onAgentChanged(ctx, m)
	case conversation.AnswererDetected:
		c.onAnswererDetected(ctx, m)
	case StartTransfer, SpeakText, SendDigits:
		c.handleAPIRequest(ctx, m)
	case targetFound, referProgress, summarySpoken, summaryTimedOut, musicReady, transferLegTimedOut:
		c.handleTransfer(ctx, m)
	case referChecked:
		c.onReferChecked(ctx, m)
	case peerProbed:
		c.onPeerProbed(ctx, m)
	case transferleg.LegPrepared, transferleg.LegRinging, transferleg.LegAnswered, transferleg.LegRefused, transferleg.LegEnded, transferleg.MediaEvent, transferleg.DialogEvent:
		c.handleTransferLeg(ctx, m)
	}
}
