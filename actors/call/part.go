package call

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/conversation"
)

// How calls are let go of in order, because another process is about to have
// their work: first all of them hold still, or none does; then each stores where
// it stands and lets go without a word to its far end.
type (
	// Part has all calls hold still; Parting answers.
	Part struct{}
	// Parting answers Part. Calls that hold still do so until Keep or LetGo.
	Parting struct {
		Still int // calls that hold still
		Left  int // that cannot be gone on with elsewhere
	}
	// Keep has the calls go on that hold still.
	Keep struct{}
	// LetGo lets go of those calls for good; Gone answers once it is stored where
	// they stand, and nothing is heard of them any more.
	LetGo struct{}
	// Gone answers LetGo.
	Gone struct{}

	part  struct{} // to a call: Part
	letGo struct{} // LetGo
	stay  struct{} // Keep
	// parts is what a call answers to part, and says when it has let go.
	parts struct {
		callID      string
		still, gone bool
	}
)

// Control admits it always.
func (Part) Control() {}

// Control admits it always.
func (Keep) Control() {}

// Control admits it always.
func (LetGo) Control() {}

// Control admits it always.
func (part) Control() {}

// Control admits it always.
func (letGo) Control() {}

// Control admits it always.
func (stay) Control() {}

// Control admits it always.
func (parts) Control() {}

// parting is how far a call is with that.
type parting uint8

const (
	stays   parting = iota
	resting         // its conversation is asked to hold still
	still           // it does
	letting         // where it stands is being stored
	left            // it has let go, and is ended
)

// parts is what a call hears of it.
func (c *call) parts(ctx actor.Context, msg any) {
	p := &c.keeps.parting
	switch m := msg.(type) {
	case part:
		if c.conversation == nil || *p != stays || !c.portable() {
			ctx.Send(ctx.Parent(), parts{callID: c.call.ID})
			return
		}
		*p = resting
		ctx.Send(c.conversation, conversation.Rest{})
	case conversation.Rested:
		if *p != resting {
			return
		}
		*p = still
		if c.keeps.stands = m.Saved; !c.portable() {
			c.wake(ctx)
		}
		ctx.Send(ctx.Parent(), parts{callID: c.call.ID, still: *p == still})
	case stay:
		c.wake(ctx)
	case letGo:
		if *p == still {
			*p = letting
			c.commit(ctx, "", nil, c.lets)
		}
	}
}

// wake has the conversation go on.
func (c *call) wake(ctx actor.Context) {
	if c.keeps.parting == stays || c.keeps.parting >= letting {
		return
	}
	c.keeps.parting = stays
	if c.conversation != nil {
		ctx.Send(c.conversation, conversation.Wake{})
	}
}

// lets: where the call stands is stored, unless it has ended in between. Where it
// could not be, another process has it already.
func (c *call) lets(ctx actor.Context, _ bool) {
	if c.stage != talking || c.byeReason != "" || !c.resources.isStored() {
		ctx.Send(ctx.Parent(), parts{callID: c.call.ID})
		return
	}
	c.keeps.parting = left // nothing of it is stored any more
	c.resources.ReleaseSilently()
	ctx.Send(ctx.Parent(), parts{callID: c.call.ID, gone: true})
}

// handing is what the parent of the calls knows of it.
type handing struct {
	asker *actor.PID // of Part or LetGo; nil: nobody waits
	going bool       // LetGo
	now   Parting
}

// moves says whether another process could go on with a call as it is now.
func (b *berth) moves() bool {
	return b.letGo || b.pid != nil && b.resources.canMove() && (!b.survives || b.told)
}

func (n *LiveNow) count(moves, busy bool) {
	if moves {
		n.Moving++
	}
	if busy {
		n.Busy++
	}
}

func (c *Calls) handing(ctx actor.Context, msg any) {
	h := &c.parting
	switch m := msg.(type) {
	case Part:
		h.asker, h.now = ctx.Sender(), Parting{}
		for _, b := range c.berths {
			switch {
			case b.letGo:
			case b.moves():
				b.asked = true
				ctx.Send(b.pid, part{})
			default:
				h.now.Left++
			}
		}
		c.parted(ctx)
	case Keep:
		h.asker = nil
		c.toAll(ctx, stay{})
	case LetGo:
		h.asker, h.going = ctx.Sender(), true
		c.toAll(ctx, letGo{})
		c.parted(ctx)
	case parts:
		b := c.berths[m.callID]
		if b == nil {
			return
		}
		if m.gone {
			b.letGo = true // before its death is heard of
			ctx.Poison(b.pid)
			c.parted(ctx)
			return
		}
		if h.going { // it has ended instead
			c.parted(ctx)
			return
		}
		c.answers(ctx, b, m.still)
	}
}

// toAll tells all calls that were asked to part.
func (c *Calls) toAll(ctx actor.Context, msg any) {
	for _, b := range c.berths {
		b.asked = false
		if b.pid != nil && !b.letGo {
			ctx.Send(b.pid, msg)
		}
	}
}

// answers: a call holds still, or cannot.
func (c *Calls) answers(ctx actor.Context, b *berth, still bool) {
	if !b.asked {
		return
	}
	b.asked = false
	if still {
		c.parting.now.Still++
	} else {
		c.parting.now.Left++
	}
	c.parted(ctx)
}

// parted answers once nothing is waited for any more.
func (c *Calls) parted(ctx actor.Context) {
	h := &c.parting
	if h.asker == nil {
		return
	}
	for _, b := range c.berths {
		if b.asked || h.going && !b.letGo && b.resources.canMove() {
			return
		}
	}
	if h.going {
		ctx.Send(h.asker, Gone{})
	} else {
		ctx.Send(h.asker, h.now)
	}
	h.asker = nil
}
