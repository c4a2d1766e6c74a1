package call

import (
	"encoding/json"
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call/recovery"
	"github.com/callboard/callboard/actors/conversation"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/media"
)

const (
	// checkpointEvery is the maximum age of the stored checkpoint of a live call.
	checkpointEvery = 15 * time.Second
)

// checkpointing holds the next checkpoint of a call and the progress of storing it.
type checkpointing struct {
	script       json.RawMessage // encoded for the checkpoint
	scriptKey    string          // agent and pathway of script
	conversation *conversation.SavedState
	dirty        bool // conversation has changed since the last commit
	pendingActs  int  // actions of the conversation that wait until the checkpoint is stored
	storedAt     time.Time
	acknowledged bool // the ACK of the answer was exchanged
	timerSet     bool
	handover     handoverStage
}

// encodeScript returns the encoded script and caches it: the script is large and changes only when the agent
// changes.
func (p *checkpointing) encodeScript(s *domain.Script) json.RawMessage {
	if key := s.AgentID + " " + s.Pathway.ID; p.script == nil || p.scriptKey != key {
		p.script, _ = domain.AppendRow(nil, s) // cannot fail: the script was decoded from JSON
		p.scriptKey = key
	}
	return p.script
}

// byeRetryAfter is the pause before a BYE is retried while this process may have lost the ownership of the call.
const byeRetryAfter = 250 * time.Millisecond

type (
	checkpointDue struct{}
	byeRetryDue   struct{}
)

// Control implements mailbox.Control: a full mailbox accepts this message.
func (checkpointDue) Control() {}

// Control implements mailbox.Control: a full mailbox accepts this message.
func (byeRetryDue) Control() {}

// resumableSession is a media session that another process can continue from its state.
type resumableSession interface{ State() media.SessionState }

// makeCheckpoint encodes the state that another process needs to resume the call. It returns nil while the call
// cannot be resumed: before the ACK, during a transfer, or with conversation data that must not be stored.
func (c *call) makeCheckpoint(now time.Time) json.RawMessage {
	if !c.canResumeElsewhere() {
		return nil
	}
	s, can := c.audio.session.(resumableSession)
	line := c.resources.Dialog()
	if !can || line == nil {
		return nil
	}
	state := line.State()
	if !state.Confirmed {
		return nil
	}
	c.setDialog(state)
	k := recovery.Checkpoint{
		At: now, Leg: c.leg, Media: s.State(), Conversation: c.checkpoint.conversation, Script: c.checkpoint.encodeScript(&c.script), Variables: c.variables, CallerName: c.callerName,
		OptOut: c.optOut, Scrub: c.scrub, Networks: c.networks, MaxDuration: c.maxDuration, RingTimeout: c.ringTimeout,
		Appointments: c.agent.appointments, Confidential: c.audio.confidential, Paused: c.audio.recordingPaused, Resumptions: c.resumptions(), HandedOver: c.checkpoint.handover == handoverStoring,
	}
	if perMinute, known := c.pricePerMinute(); known && !c.inbound {
		k.PerMinute = &perMinute
	}
	b, err := domain.AppendRow(nil, &k)
	if err != nil {
		c.log.Warn("checkpoint of a call cannot be encoded", slog.Any("error", err))
		return nil
	}
	c.checkpoint.storedAt, c.checkpoint.dirty = now, false
	return b
}

// canResumeElsewhere reports whether another process could resume the call as it is now.
func (c *call) canResumeElsewhere() bool {
	return c.cfg.StoreCheckpoints && c.stage == talking && c.checkpoint.acknowledged && c.hangup.reason == "" && !c.agent.leaving && !c.hangup.requested && c.checkpoint.conversation != nil &&
		c.transfers.current == nil && len(c.transfers.ending) == 0 && c.transfers.adopted == nil && c.agent.pausedBy&^pausedByHold == 0 && len(c.contacts) == 0
}

// trackCheckpoint wraps the callback of a commit and tracks whether another process may resume the call. That is
// possible from the start of a commit with a checkpoint until a commit without a checkpoint is durable.
func (c *call) trackCheckpoint(then func(actor.Context, bool)) func(actor.Context, bool) {
	kept, acts := c.attempt.ResumeState != nil, c.checkpoint.pendingActs
	c.checkpoint.pendingActs = 0
	if kept {
		c.resources.setStored(true)
	}
	return func(ctx actor.Context, durable bool) {
		if durable && !kept {
			c.resources.setStored(c.commits.hasCheckpoint())
		}
		if acts > 0 && durable && c.agent.conversation != nil { // without a durable commit another process owns the call
			ctx.Send(c.agent.conversation, conversation.CheckpointStored{ToolCalls: acts})
		}
		if then != nil {
			then(ctx, durable)
		}
	}
}

// onCheckpointTaken receives the state of the conversation, which the next commit stores. If no commit is running,
// onCheckpointTaken starts one.
func (c *call) onCheckpointTaken(ctx actor.Context, m conversation.CheckpointTaken) {
	c.checkpoint.conversation, c.checkpoint.dirty = m.Saved, true
	c.checkpoint.pendingActs = max(c.checkpoint.pendingActs, m.ToolCalls)
	c.storeCheckpoint(ctx)
}

func (c *call) storeCheckpoint(ctx actor.Context) {
	if !c.cfg.StoreCheckpoints || c.stage != talking || !c.commits.isIdle() {
		return
	}
	if !c.checkpoint.timerSet {
		c.checkpoint.timerSet = true
		mailbox.SendAfter(ctx, checkpointEvery, checkpointDue{})
	}
	if c.checkpoint.dirty {
		c.checkpoint.dirty = false
		c.commit(ctx, "", nil, nil)
	}
}

// refreshCheckpoint stores the checkpoint again if it is too old. The time in a checkpoint shows that the call was
// alive then.
func (c *call) refreshCheckpoint(ctx actor.Context) {
	c.checkpoint.timerSet = false
	if c.stage != talking {
		return
	}
	if time.Since(c.checkpoint.storedAt) >= checkpointEvery {
		c.checkpoint.dirty = true
	}
	c.storeCheckpoint(ctx)
	if !c.checkpoint.timerSet {
		c.checkpoint.timerSet = true
		mailbox.SendAfter(ctx, checkpointEvery, checkpointDue{})
	}
}
