package conversation

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain/pathway"
)

// CheckpointTaken is sent to the call actor after each change of the conversation. Saved is nil if no other process could
// resume at this point. ToolCalls, if not 0, is the number of tool calls so far. The newest of them start only after
// CheckpointStored.
type CheckpointTaken struct {
	Saved     *SavedState
	ToolCalls int
}

// CheckpointStored reports that the checkpoint with the first ToolCalls tool calls is stored. No other process will start
// these calls again.
type CheckpointStored struct{ ToolCalls int }

// BusyChanged reports to the call actor whether a hand-over to another process would interrupt the conversation: the caller
// speaks, or a model or tool call is in progress. It is sent only if Config.Checkpoints is set.
type BusyChanged struct{ Busy bool }

// toolStoreTimeout is the timer message that ends the wait of the first toolCalls tool calls for their checkpoint.
type toolStoreTimeout struct{ toolCalls int }

// Control implements mailbox.Control: a full mailbox accepts this message. Each change and each tool call causes at most one
// of these messages.
func (CheckpointTaken) Control()  {}
func (CheckpointStored) Control() {}
func (BusyChanged) Control()      {}
func (toolStoreTimeout) Control() {}

// toolStoreLimit is how long a tool call waits until its checkpoint is stored.
const toolStoreLimit = 10 * time.Second

// checkpoint holds the state that was last sent to the call actor, and the tool calls that wait until it is stored.
type checkpoint struct {
	sent     *checkpointState // nil: no checkpoint was sent
	busy     bool             // last value reported to the call
	waiting  []toolCall
	released int // number of tool calls that no longer wait
}

// checkpointState is a summary of the conversation's state. Two summaries differ if the state has changed in between.
type checkpointState struct {
	state     pathway.StateMark
	segments  int
	playing   bool
	toolCalls int
	portable  bool
}

// deferTool makes a tool call wait until its checkpoint is stored, for at most toolStoreLimit.
func (p *checkpoint) deferTool(ctx actor.Context, t toolCall) {
	p.waiting = append(p.waiting, t)
	mailbox.SendAfter(ctx, toolStoreLimit, toolStoreTimeout{p.toolCalls()})
}

// toolCalls returns the number of all tool calls so far.
func (p *checkpoint) toolCalls() int { return p.released + len(p.waiting) }

// releaseToolCalls removes and returns the waiting tool calls whose number, counted from the start, is at most calls.
func (p *checkpoint) releaseToolCalls(calls int) []toolCall {
	n := min(max(calls-p.released, 0), len(p.waiting))
	out := p.waiting[:n]
	p.waiting, p.released = p.waiting[n:], p.released+n
	return out
}

// update records the newest state and reports whether it differs from the one before. calls is the number of all tool calls
// so far if there are new ones, else 0.
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

// setBusy records whether the conversation is busy. It returns true if the value has changed.
func (p *checkpoint) setBusy(on bool) (changed bool) {
	changed = on != p.busy
	p.busy = on
	return changed
}

// reportCheckpoint sends a checkpoint to the call actor if the state has changed and Config.Checkpoints is set.
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

// onToolStoreTimeout fails tool calls whose checkpoint was not stored in time. No process has started these calls.
func (c *Conversation) onToolStoreTimeout(ctx actor.Context, m toolStoreTimeout) {
	for _, t := range c.checkpoint.releaseToolCalls(m.toolCalls) {
		c.onToolDone(ctx, toolDone{act: t.act, result: ToolResult{Text: "the start of the tool call could not be stored"}})
	}
}
