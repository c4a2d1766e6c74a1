package conversation

import "github.com/asynkron/protoactor-go/actor"

type (
	// Rest has it do nothing until Wake or Finish: another process is about to go
	// on with it. Rested answers.
	Rest struct{}
	// Wake goes on with whatever came since Rest.
	Wake struct{}
	// Rested answers Rest. Saved is where it stands, and will until Wake; nil:
	// nobody else could go on from there.
	Rested struct{ Saved *Saved }
	// Busy tells the call, where Config.Stands, whether it is in the middle of what
	// another process could not go on with as well: the caller speaks, a model
	// thinks, something is being done.
	Busy struct{ On bool }
)

// rest is what a conversation knows of its rest.
type rest struct {
	on      bool
	waiting []any // what came meanwhile
	busy    bool  // as the call was told
}

// Control: all of these are bound by the call.
func (Rest) Control()   {}
func (Wake) Control()   {}
func (Rested) Control() {}
func (Busy) Control()   {}

// rests says whether a message is not for now: it waits until the conversation
// is woken, or is about that.
func (c *Conversation) rests(ctx actor.Context) bool {
	switch m := ctx.Message().(type) {
	case Rest:
		c.rest.on = true
		ctx.Send(ctx.Parent(), Rested{c.savedNow()})
		return true
	case Wake:
		c.wake(ctx)
		return true
	case Finish:
		if c.rest.on {
			c.rest.waiting = append(c.rest.waiting, m)
			c.wake(ctx)
			return true
		}
	case *actor.Started, *actor.Stopping, *actor.Stopped, *actor.Restarting:
		return false
	}
	if c.rest.on {
		c.rest.waiting = append(c.rest.waiting, ctx.Message())
	}
	return c.rest.on
}

// wake hears what has come meanwhile, in order.
func (c *Conversation) wake(ctx actor.Context) {
	waiting := c.rest.waiting
	c.rest.on, c.rest.waiting = false, nil
	for _, m := range waiting {
		ctx.Receive(&actor.MessageEnvelope{Message: m})
	}
}

// savedNow is where it stands; nil: nobody else could go on from here.
func (c *Conversation) savedNow() *Saved {
	if c.finished || !c.portable() {
		return nil
	}
	return c.saved()
}

// portable says whether the conversation is at a place that another process can
// go on from.
func (c *Conversation) portable() bool {
	return c.answering.stage == noDrop && !c.away && !c.handing && c.human < 0 && !c.state.Over()
}

// tellBusy tells the call when that changes.
func (c *Conversation) tellBusy(ctx actor.Context) {
	if busy := !c.finished && (c.speaking || c.turn.on || c.state.Working()); c.cfg.Stands && busy != c.rest.busy {
		c.rest.busy = busy
		ctx.Send(ctx.Parent(), Busy{busy})
	}
}
