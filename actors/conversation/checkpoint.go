package conversation

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain/pathway"
)

// CheckpointTaken is sent to the call each time that the conversation has changed. Saved is nil where no other
// process could go on. Acts, if not 0, is how many tool calls were begun so far, the last ones of which wait for CheckpointStored.
type CheckpointTaken struct {
	Saved     *SavedState
	ToolCalls int
}

// CheckpointStored says that the CheckpointTaken with as many Acts is stored: no other process begins these tool calls again.
type CheckpointStored struct{ ToolCalls int }

// BusyChanged reports to the call, if Config.Checkpoints, whether another process could not go on as well at this moment: the caller speaks,
// a model is asked or a tool is called.
type BusyChanged struct{ Busy bool }

// toolNotStored says that the first so many of all tool calls have waited long enough.
type toolNotStored struct{ calls int }

// Control: one for a change, a CheckpointTaken and a tool call.
func (CheckpointTaken) Control()  {}
func (CheckpointStored) Control() {}
func (BusyChanged) Control()      {}
func (toolNotStored) Control()    {}

// storeLimit is how long a tool call waits for the store.
const storeLimit = 10 * time.Second

// checkpoint is what the call was sent last, and the tool calls that wait until a checkpoint with them is stored.
type checkpoint struct {
	sent     *checkpointMark // nil: none was sent
	busy     bool            // as the call was informed last
	waiting  []toolCall
	released int // tool calls of all so far that wait no more
}

// checkpointMark tells whether something has changed since the last checkpoint.
type checkpointMark struct {
	state     pathway.Mark
	segments  int
	playing   bool
	toolCalls int
	portable  bool
}

// deferTool lets a tool call wait for the store, for at most storeLimit.
func (p *checkpoint) deferTool(ctx actor.Context, t toolCall) {
	p.waiting = append(p.waiting, t)
	mailbox.SendAfter(ctx, storeLimit, toolNotStored{p.toolCalls()})
}

// toolCalls is the number of all tool calls so far.
func (p *checkpoint) toolCalls() int { return p.released + len(p.waiting) }

// release returns those of the first tool calls of all that still wait: they wait no more.
func (p *checkpoint) release(calls int) []toolCall {
	n := min(max(calls-p.released, 0), len(p.waiting))
	out := p.waiting[:n]
	p.waiting, p.released = p.waiting[n:], p.released+n
	return out
}

// advance says whether something has changed since the last checkpoint, which now becomes the last. calls is the number of all
// tool calls if there are more, else 0.
func (p *checkpoint) advance(now checkpointMark) (calls int, changed bool) {
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

// setBusy says whether the call has to be told.
func (p *checkpoint) setBusy(on bool) (changed bool) {
	changed = on != p.busy
	p.busy = on
	return changed
}

// reportCheckpoint sends the call what has changed, if Config.Checkpoints.
func (c *Conversation) reportCheckpoint(ctx actor.Context) {
	if !c.cfg.Checkpoints {
		return
	}
	busy := !c.finished && (c.listening.speaking || c.listening.turn.open || c.state.Working())
	if c.checkpoint.setBusy(busy) {
		ctx.Send(ctx.Parent(), BusyChanged{busy})
	}
	if c.finished {
		return
	}
	portable := c.isPortable()
	calls, changed := c.checkpoint.advance(checkpointMark{
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

// checkpointStored calls the tools that have waited for the checkpoint.
func (c *Conversation) checkpointStored(ctx actor.Context, m CheckpointStored) {
	if calls := c.checkpoint.release(m.ToolCalls); !c.finished {
		for _, t := range calls {
			runTool(ctx, c.cfg.AgentRuntime, t)
		}
	}
}

// toolNotStored fails the tool calls that were not stored in time: no process has begun them, and none will.
func (c *Conversation) toolNotStored(ctx actor.Context, m toolNotStored) {
	for _, t := range c.checkpoint.release(m.calls) {
		c.toolDone(ctx, toolDone{act: t.act, result: ToolResult{Text: "it could not be stored that it begins"}})
	}
}
