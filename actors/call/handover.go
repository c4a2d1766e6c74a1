package call

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/conversation"
)

// Messages of a hand-over: the process that owns the calls stops in order. First the
// conversations stop. Then each call stores its checkpoint and releases its dialog
// without a message to the peer.
type (
	// PrepareHandover stops all conversations; HandoverPrepared answers.
	PrepareHandover struct{}
	// HandoverPrepared answers PrepareHandover. The conversations stay stopped until
	// CancelHandover or HandOver.
	HandoverPrepared struct {
		Ready int // calls whose conversation has stopped
		Left  int // calls that no other process can resume
	}
	// CancelHandover lets the conversations continue.
	CancelHandover struct{}
	// HandOver releases the prepared calls. HandedOver answers once their checkpoints
	// are stored.
	HandOver struct{}
	// HandedOver answers HandOver.
	HandedOver struct{}

	// The same from the parent to a call.
	prepareHandover struct{}
	handOver        struct{}
	cancelHandover  struct{}
	// handoverAnswer is the answer of a call to both.
	handoverAnswer struct {
		callID      string
		ready, gone bool
	}
)

// Control admits it always.
func (PrepareHandover) Control() {}

// Control admits it always.
func (CancelHandover) Control() {}

// Control admits it always.
func (HandOver) Control() {}

// Control admits it always.
func (prepareHandover) Control() {}

// Control admits it always.
func (handOver) Control() {}

// Control admits it always.
func (cancelHandover) Control() {}

// Control admits it always.
func (handoverAnswer) Control() {}

// handoverStage is the progress of a call's hand-over.
type handoverStage uint8

const (
	notHandedOver handoverStage = iota
	conversationStopping
	readyForHandover
	handoverStoring // its checkpoint is being stored
	handedOver      // its dialog is released
)

// handleHandover handles the hand-over messages of a call.
func (c *call) handleHandover(ctx actor.Context, msg any) {
	p := &c.checkpoint.handover
	switch m := msg.(type) {
	case prepareHandover:
		if c.agent.conversation == nil || *p != notHandedOver || !c.portable() {
			ctx.Send(ctx.Parent(), handoverAnswer{callID: c.call.ID})
			return
		}
		*p = conversationStopping
		ctx.Send(c.agent.conversation, conversation.Suspend{})
	case conversation.ConversationSuspended:
		if *p != conversationStopping {
			return
		}
		*p = readyForHandover
		if c.checkpoint.conversation = m.Saved; !c.portable() {
			c.cancelHandover(ctx)
		}
		ctx.Send(ctx.Parent(), handoverAnswer{callID: c.call.ID, ready: *p == readyForHandover})
	case cancelHandover:
		c.cancelHandover(ctx)
	case handOver:
		if *p == readyForHandover {
			*p = handoverStoring
			c.commit(ctx, "", nil, c.finishHandover)
		}
	}
}

// cancelHandover lets the conversation continue.
func (c *call) cancelHandover(ctx actor.Context) {
	if c.checkpoint.handover == notHandedOver || c.checkpoint.handover >= handoverStoring {
		return
	}
	c.checkpoint.handover = notHandedOver
	if c.agent.conversation != nil {
		ctx.Send(c.agent.conversation, conversation.EndSuspension{})
	}
}

// finishHandover releases a call whose checkpoint is stored, unless it has ended in
// between. If the commit failed, another process has the call already.
func (c *call) finishHandover(ctx actor.Context, _ bool) {
	if c.stage != talking || c.hangup.reason != "" || !c.resources.isStored() {
		ctx.Send(ctx.Parent(), handoverAnswer{callID: c.call.ID})
		return
	}
	c.checkpoint.handover = handedOver // nothing of it is stored any more
	c.resources.ReleaseSilently()
	ctx.Send(ctx.Parent(), handoverAnswer{callID: c.call.ID, gone: true})
}

// handoverRequest is the hand-over as the parent of the calls sees it.
type handoverRequest struct {
	requester *actor.PID // of PrepareHandover or HandOver; nil: it was answered
	final     bool       // HandOver was requested
	result    HandoverPrepared
}

// canMove reports whether another process could go on with a call as it is now.
func (b *callEntry) canMove() bool {
	return b.handedOver || b.pid != nil && b.resources.canMove() && (!b.resumable || b.decided)
}

func (n *LiveCalls) countMoving(moves, busy bool) {
	if moves {
		n.Movable++
	}
	if busy {
		n.Busy++
	}
}

func (c *Calls) handleHandover(ctx actor.Context, msg any) {
	h := &c.handover
	switch m := msg.(type) {
	case PrepareHandover:
		h.requester, h.result = ctx.Sender(), HandoverPrepared{}
		for _, b := range c.entries {
			switch {
			case b.handedOver:
			case b.canMove():
				b.preparing = true
				ctx.Send(b.pid, prepareHandover{})
			default:
				h.result.Left++
			}
		}
		c.checkHandover(ctx)
	case CancelHandover:
		h.requester = nil
		c.sendAll(ctx, cancelHandover{})
	case HandOver:
		h.requester, h.final = ctx.Sender(), true
		c.sendAll(ctx, handOver{})
		c.checkHandover(ctx)
	case handoverAnswer:
		b := c.entries[m.callID]
		if b == nil {
			return
		}
		if m.gone {
			b.handedOver = true // before its death is heard of
			ctx.Poison(b.pid)
			c.checkHandover(ctx)
			return
		}
		if h.final { // it has ended instead
			c.checkHandover(ctx)
			return
		}
		c.handoverAnswered(ctx, b, m.ready)
	}
}

// sendAll sends a message to all live calls.
func (c *Calls) sendAll(ctx actor.Context, msg any) {
	for _, b := range c.entries {
		b.preparing = false
		if b.pid != nil && !b.handedOver {
			ctx.Send(b.pid, msg)
		}
	}
}

// handoverAnswered counts the answer of a call.
func (c *Calls) handoverAnswered(ctx actor.Context, b *callEntry, still bool) {
	if !b.preparing {
		return
	}
	b.preparing = false
	if still {
		c.handover.result.Ready++
	} else {
		c.handover.result.Left++
	}
	c.checkHandover(ctx)
}

// checkHandover answers the requester once all calls have answered.
func (c *Calls) checkHandover(ctx actor.Context) {
	h := &c.handover
	if h.requester == nil {
		return
	}
	for _, b := range c.entries {
		if b.preparing || h.final && !b.handedOver && b.resources.canMove() {
			return
		}
	}
	if h.final {
		ctx.Send(h.requester, HandedOver{})
	} else {
		ctx.Send(h.requester, h.result)
	}
	h.requester = nil
}
