package conversation

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain/pathway"
)

// CheckpointTaken is sent to the call after each change of the conversation. Saved is nil if no other process could
// resume from here. ToolCalls, if not 0, is the number of tool calls started so far; the last of them wait for
// CheckpointStored.
type CheckpointTaken struct {
	Saved     *SavedState
	ToolCalls int
}

// CheckpointStored reports that the checkpoint with ToolCalls tool calls is stored. No other process will start
// these calls again.
type CheckpointStored struct{ ToolCalls int }

// BusyChanged reports to the call whether a handover to another process would interrupt something: the caller
// speaks, or a model or tool call is in progress. It is sent only with Config.Checkpoints.
type BusyChanged struct{ Busy bool }

// toolStoreTimeout ends the wait of the first toolCalls tool calls for the store.
type toolStoreTimeout struct{ toolCalls int }

// Control implements mailbox.Control. Each change and each tool call causes at most one of these messages.
func (CheckpointTaken) Control()  {}
func (CheckpointStored) Control() {}
func (BusyChanged) Control()      {}
func (toolStoreTimeout) Control() {}

// toolStoreLimit is how long a tool call waits for the store.
const toolStoreLimit = 10 * time.Second

// checkpoint is the state last sent to the call, and the tool calls that wait until it is stored.
type checkpoint struct {
	sent     *checkpointState // nil: no checkpoint was sent
	busy     bool             // last value reported to the call
	waiting  []toolCall
	released int // number of tool calls that no longer wait
}

// checkpointState is compared to detect a change since the last checkpoint.
type checkpointState struct {
	state     pathway.StateMark
	segments  int
	playing   bool
	toolCalls int
	portable  bool
}

// deferTool makes a tool call wait for the store, for at most toolStoreLimit.
func (p *checkpoint) deferTool(ctx actor.Context, t toolCall) {
	p.waiting = append(p.waiting, t)
	mailbox.SendAfter(ctx, toolStoreLimit, toolStoreTimeout{p.toolCalls()})
}

// toolCalls returns the number of all tool calls so far.
func (p *checkpoint) toolCalls() int { return p.released + len(p.waiting) }

// releaseToolCalls returns those of the first calls tool calls that still wait, and ends their wait.
func (p *checkpoint) releaseToolCalls(calls int) []toolCall {
	n := min(max(calls-p.released, 0), len(p.waiting))
	out := p.waiting[:n]
	p.waiting, p.released = p.waiting[n:], p.released+n
	return out
}

// update sets the last checkpoint and reports whether it differs from the one before. calls is the number of all
// tool calls if there are new ones, else 0.
func (p *checkpoint) update(now checkpointState) (calls int, changed bool) {
	now.toolCalls = p.toolCalls()
	if p.sent != nil && now == *p.sent {
		return 0, false
	}
	if p.sent == nil || now.toolCalls != p.sent.toolCalls {
		calls = now.toolCalls
	}
	p.sent = &now
	return calls, true
}

// setBusy reports whether the value has changed.
func (p *checkpoint) setBusy(on bool) (changed bool) {
	changed = on != p.busy
	p.busy = on
	return changed
}

// reportCheckpoint sends a checkpoint to the call if the state has changed and Config.Checkpoints is set.
func (c *Conversation) reportCheckpoint(ctx actor.Context) {
	if !c.cfg.Checkpoints {
		return
	}
	busy := !c.finished && (c.listening.speaking || c.listening.turn.open || c.state.HasPendingWork())
	if c.checkpoint.setBusy(busy) {
		ctx.Send(ctx.Parent(), BusyChanged{busy})
	}
	if c.finished {
		return
	}
	portable := c.canResumeElsewhere()
	calls, changed := c.checkpoint.update(checkpointState{
		state: c.state.Mark(), segments: len(c.transcript.segments), playing: c.playback.isPlaying(), portable: portable,
	})
	if !changed {
		return
	}
	m := CheckpointTaken{ToolCalls: calls}
	if portable {
		m.Saved = c.save()
	}
	ctx.Send(ctx.Parent(), m)
}

// checkpointStored runs the tool calls that waited for the checkpoint.
func (c *Conversation) checkpointStored(ctx actor.Context, m CheckpointStored) {
	if calls := c.checkpoint.releaseToolCalls(m.ToolCalls); !c.finished {
		for _, t := range calls {
			runTool(ctx, c.cfg.AgentRuntime, t)
		}
	}
}

// onToolStoreTimeout fails tool calls that were not stored in time. No process has started them, and none will.
func (c *Conversation) onToolStoreTimeout(ctx actor.Context, m toolStoreTimeout) {
	for _, t := range c.checkpoint.releaseToolCalls(m.toolCalls) {
		c.toolDone(ctx, toolDone{act: t.act, result: ToolResult{Text: "the start of the tool call could not be stored"}})
	}
}
