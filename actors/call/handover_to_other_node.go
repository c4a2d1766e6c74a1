package call

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/conversation"
)

// Messages of a hand-over to another process, which starts before this process stops. First the conversations stop. Then
// each call stores its checkpoint and releases its dialog without a message to the peer.
type (
	// PrepareHandover stops all conversations. The answer is HandoverPrepared.
	PrepareHandover struct{}
	// HandoverPrepared answers PrepareHandover. The conversations stay stopped until CancelHandover or HandOver.
	HandoverPrepared struct {
		Ready int // calls whose conversation has stopped
		Left  int // calls that no other process can resume
	}
	// CancelHandover lets the conversations continue.
	CancelHandover struct{}
	// HandOver releases the prepared calls. The answer HandedOver follows once their checkpoints are stored.
	HandOver struct{}
	// HandedOver answers HandOver and says that all prepared calls are released.
	HandedOver struct{}

	// prepareHandover, handOver and cancelHandover forward the corresponding commands from Calls to one call actor.
	prepareHandover struct{}
	handOver        struct{}
	cancelHandover  struct{}
	// handoverAnswer is the reply of a call actor to prepareHandover and handOver.
	handoverAnswer struct {
		callID      string
		ready, gone bool
	}
)

// Control implements mailbox.Control: a full mailbox accepts this message.
func (PrepareHandover) Control() {}

// Control implements mailbox.Control: a full mailbox accepts this message.
func (CancelHandover) Control() {}

// Control implements mailbox.Control: a full mailbox accepts this message.
func (HandOver) Control() {}

// Control implements mailbox.Control: a full mailbox accepts this message.
func (prepareHandover) Control() {}

// Control implements mailbox.Control: a full mailbox accepts this message.
func (handOver) Control() {}

// Control implements mailbox.Control: a full mailbox accepts this message.
func (cancelHandover) Control() {}

// Control implements mailbox.Control: a full mailbox accepts this message.
func (handoverAnswer) Control() {}

// handoverStage is the progress of a call's hand-over.
type handoverStage uint8

const (
	notHandedOver handoverStage = iota
	conversationStopping
	readyForHandover
	handoverStoring // the checkpoint is being stored
	handedOver      // the dialog is released
)

// handleHandover handles the hand-over messages of a call.
func (c *call) handleHandover(ctx actor.Context, msg any) {
	p := &c.checkpoint.handover
	switch m := msg.(type) {
	case prepareHandover:
		if c.agent.conversation == nil || *p != notHandedOver || !c.canResumeElsewhere() {
			ctx.Send(ctx.Parent(), handoverAnswer{callID: c.call.ID})
			return
		}
		*p = conversationStopping
		ctx.Send(c.agent.conversation, conversation.Suspend{})
	case conversation.SuspendReply:
		if *p != conversationStopping {
			return
		}
		*p = readyForHandover
		if c.checkpoint.conversation = m.Saved; !c.canResumeElsewhere() {
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

// cancelHandover returns the call to normal operation and lets its conversation continue.
func (c *call) cancelHandover(ctx actor.Context) {
	if c.checkpoint.handover == notHandedOver || c.checkpoint.handover >= handoverStoring {
		return
	}
	c.checkpoint.handover = notHandedOver
	if c.agent.conversation != nil {
		ctx.Send(c.agent.conversation, conversation.EndSuspension{})
	}
}

// finishHandover releases a call whose checkpoint is stored, unless the call has ended in the meantime. If the commit of the
// checkpoint failed, another process already owns the call.
func (c *call) finishHandover(ctx actor.Context, _ bool) {
	if c.stage != talking || c.hangup.reason != "" || !c.resources.isStored() {
		ctx.Send(ctx.Parent(), handoverAnswer{callID: c.call.ID})
		return
	}
	c.checkpoint.handover = handedOver // from here on this process stores nothing about the call
	c.resources.ReleaseSilently()
	ctx.Send(ctx.Parent(), handoverAnswer{callID: c.call.ID, gone: true})
}

// handoverRequest tracks the hand-over that Calls has started and counts the replies of the call actors.
type handoverRequest struct {
	requester *actor.PID // sender of PrepareHandover or HandOver; nil: answered
	final     bool       // HandOver was requested
	result    HandoverPrepared
}

// canMove reports whether another process could resume the call as it is now.
func (b *callEntry) canMove() bool {
	return b.handedOver || b.pid != nil && b.resources.canMove() && (!b.resumable || b.resumptionDecided)
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
			b.handedOver = true // set before the Terminated message of the call arrives
			ctx.Poison(b.pid)
			c.checkHandover(ctx)
			return
		}
		if h.final { // the call has ended instead
			c.checkHandover(ctx)
			return
		}
		c.countHandoverAnswer(ctx, b, m.ready)
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

// countHandoverAnswer counts the reply of a call actor to prepareHandover.
func (c *Calls) countHandoverAnswer(ctx actor.Context, b *callEntry, ready bool) {
	if !b.preparing {
		return
	}
	b.preparing = false
	if ready {
		c.handover.result.Ready++
	} else {
		c.handover.result.Left++
	}
	c.checkHandover(ctx)
}

// checkHandover sends the answer to the requester once all call actors have replied.
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
