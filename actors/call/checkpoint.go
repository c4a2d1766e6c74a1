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
	// checkpointEvery is how old the stored checkpoint of a live call may become.
	checkpointEvery = 15 * time.Second
)

// checkpointing decides when the checkpoint of a call is stored.
type checkpointing struct {
	script       json.RawMessage // as it is stored
	scriptKey    string          // its agent and pathway
	conversation *conversation.SavedState
	dirty        bool // conversation is not stored
	pendingActs  int  // of the conversation, that wait until it is stored; 0: none
	storedAt     time.Time
	acknowledged bool // the peer has the ACK of its answer
	ticking      bool
	handover     handoverStage
}

// encodeScript is the script as it is stored. It is long, and changes with the agent
// only.
func (p *checkpointing) encodeScript(s *domain.Script) json.RawMessage {
	if key := s.AgentID + " " + s.Pathway.ID; p.script == nil || p.scriptKey != key {
		p.script, _ = domain.AppendRow(nil, s) // it came from JSON
		p.scriptKey = key
	}
	return p.script
}

// byeRetryAfter is the pause before a BYE is tried again whose permission could not be checked.
const byeRetryAfter = 250 * time.Millisecond

type (
	checkpointDue struct{}
	byeRetryDue   struct{}
)

// Control admits it always.
func (checkpointDue) Control() {}

// Control admits it always.
func (byeRetryDue) Control() {}

// memoizable is a media session that can continue in another process.
type memoizable interface{ Memo() media.Memo }

// makeCheckpoint encodes what another process needs. It is nil if nothing could be
// resumed: before the ACK, during a transfer, and while the conversation knows what
// must not be stored.
func (c *call) makeCheckpoint(now time.Time) json.RawMessage {
	if !c.portable() {
		return nil
	}
	s, can := c.audio.session.(memoizable)
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
		At: now, Leg: c.leg, Media: s.Memo(), Conversation: c.checkpoint.conversation, Script: c.checkpoint.encodeScript(&c.script), Variables: c.variables, CallerName: c.callerName,
		OptOut: c.optOut, Scrub: c.scrub, Networks: c.networks, MaxDuration: c.maxDuration, RingTimeout: c.ringTimeout,
		Appointments: c.agent.appointments, Confidential: c.audio.confidential, Paused: c.audio.recordingPaused, Resumptions: c.resumptions(), HandedOver: c.checkpoint.handover == handoverStoring,
	}
	if perMinute, known := c.pricePerMinute(); known && !c.inbound {
		k.PerMinute = &perMinute
	}
	b, err := domain.AppendRow(nil, &k)
	if err != nil {
		c.log.Warn("what another process needs of a call cannot be written", slog.Any("error", err))
		return nil
	}
	c.checkpoint.storedAt, c.checkpoint.dirty = now, false
	return b
}

// portable says whether another process could go on with the call.
func (c *call) portable() bool {
	return c.cfg.StoreCheckpoints && c.stage == talking && c.checkpoint.acknowledged && c.hangup.reason == "" && !c.agent.leaving && !c.hangup.requested && c.checkpoint.conversation != nil &&
		c.transfers.current == nil && len(c.transfers.ending) == 0 && c.transfers.adopted == nil && c.agent.pausedBy&^pausedByHold == 0 && len(c.contacts) == 0
}

// trackCheckpoint notes the result of a commit. As soon as a checkpoint may be
// stored, another process may resume the call, until a commit without one is durable.
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
		if acts > 0 && durable && c.agent.conversation != nil { // whoever cannot store it is the owner no more
			ctx.Send(c.agent.conversation, conversation.CheckpointStored{ToolCalls: acts})
		}
		if then != nil {
			then(ctx, durable)
		}
	}
}

// checkpointTaken takes the state of the conversation. The next commit stores it,
// or one of its own if none is under way.
func (c *call) checkpointTaken(ctx actor.Context, m conversation.CheckpointTaken) {
	c.checkpoint.conversation, c.checkpoint.dirty = m.Saved, true
	c.checkpoint.pendingActs = max(c.checkpoint.pendingActs, m.ToolCalls)
	c.storeCheckpoint(ctx)
}

func (c *call) storeCheckpoint(ctx actor.Context) {
	if !c.cfg.StoreCheckpoints || c.stage != talking || !c.commits.isIdle() {
		return
	}
	if !c.checkpoint.ticking {
		c.checkpoint.ticking = true
		mailbox.SendAfter(ctx, checkpointEvery, checkpointDue{})
	}
	if c.checkpoint.dirty {
		c.checkpoint.dirty = false
		c.commit(ctx, "", nil, nil)
	}
}

// refreshCheckpoint stores an old checkpoint again: its time says until when the call
// lived.
func (c *call) refreshCheckpoint(ctx actor.Context) {
	c.checkpoint.ticking = false
	if c.stage != talking {
		return
	}
	if time.Since(c.checkpoint.storedAt) >= checkpointEvery {
		c.checkpoint.dirty = true
	}
	c.storeCheckpoint(ctx)
	if !c.checkpoint.ticking {
		c.checkpoint.ticking = true
		mailbox.SendAfter(ctx, checkpointEvery, checkpointDue{})
	}
}
