package conversation

import (
	"strings"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/domain/pathway"
)

const (
	human     = "human"
	onTheLine = "[on the line]" // what is said is not written down, but that somebody speaks
)

// handOn asks the call to transfer the caller, as the pathway wants.
func (c *Conversation) handOn(ctx actor.Context, d pathway.Transfer) {
	c.goAway(ctx)
	kept := c.cfg.Redact.Text(d.Summary)
	if d.Sensitive {
		kept = ""
	}
	ctx.Send(ctx.Parent(), Transfer{Destination: d.Destination, Mode: d.Mode, Summary: d.Summary, Kept: kept, Reason: c.cfg.Redact.Text(d.Reason)})
	c.handing = true
}

// goAway is silent until Back.
func (c *Conversation) goAway(ctx actor.Context) {
	if c.finished {
		return
	}
	if !c.turn.apart {
		c.dropTurn()
	}
	c.endLive(ctx)
	c.forget()
	c.away, c.handing = true, false
	c.beside = beside{}
	c.hush()
	c.quietNow()
	c.hide(false)
}

// back goes on with the caller: where the pathway had sent him, behind that;
// otherwise where he was taken away.
func (c *Conversation) back(ctx actor.Context, ok bool) {
	if !c.away || c.finished {
		return
	}
	c.joined(false)
	if c.answering.stage != noDrop {
		c.leaveAgain(ctx)
		return
	}
	own := c.handing
	c.away, c.handing = false, false
	if !c.answering.begun {
		if !c.answering.closed {
			c.open(ctx)
		}
		return
	}
	c.listen(ctx)
	if own {
		c.step(ctx, pathway.Transferred{OK: ok})
		return
	}
	c.step(ctx, pathway.Silenced{})
	late := c.thinking.late
	c.thinking.late = nil
	goesOn := false
	for _, in := range late {
		goesOn = c.step(ctx, in) || goesOn
	}
	if c.state.Fresh() {
		c.step(ctx, pathway.Began{}) // another agent took over meanwhile
		return
	}
	if !goesOn {
		c.step(ctx, pathway.Resume{})
	}
}

// joined writes down from when to when somebody else spoke with the caller.
func (c *Conversation) joined(on bool) {
	switch {
	case on && c.human < 0:
		c.human = c.add(human, onTheLine)
	case !on && c.human >= 0:
		c.segments[c.human].EndMs = c.cfg.Sound.Mark().Milliseconds()
		c.human = -1
	}
}

// noteHumanKey writes down a key that somebody else pressed.
func (c *Conversation) noteHumanKey(ctx actor.Context, key byte) {
	if c.human < 0 || c.finished || !strings.ContainsRune("0123456789*#ABCD", rune(key)) {
		return
	}
	c.noteKey(human, key, false)
	c.awaitKeys(ctx)
}

// hide tells whether what is keyed in now must not be kept. Whoever hears the
// far end afterwards hears nothing of it.
func (c *Conversation) hide(on bool) {
	if on == c.hidden {
		return
	}
	c.hidden = on
	if !on && c.cfg.Ear != nil {
		c.cfg.Ear.Forget()
	}
	if c.cfg.Hide != nil {
		c.cfg.Hide(on)
	}
}
