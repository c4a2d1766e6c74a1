package conversation

import (
	"slices"
	"strings"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
)

// Saved is where a conversation stands, at rest: another process goes on with
// it by Config.After. What must not be kept is not in it.
type Saved struct {
	State    pathway.Saved        `json:"state"`
	Segments []domain.Segment     `json:"segments,omitempty"`
	Sounding bool                 `json:"sounding,omitempty"` // the last segment of the agent was being said
	Turns    []domain.TurnLatency `json:"turns,omitempty"`
	OptedOut bool                 `json:"opted_out,omitempty"`
}

// Stands tells the call where the conversation has come to, each time that it
// has come further; nil: it is at a place that nobody else could go on from.
// Acts, unless 0: this many actions were begun so far, the last ones of which wait
// for Stood.
type Stands struct {
	Saved *Saved
	Acts  int
}

// Control: bound by the call.
func (Stands) Control() {}

// Stood tells the conversation that Stands is stored, with as many Acts: whatever
// becomes of this process, they are not begun again.
type Stood struct{ Acts int }

// Control: one for a Stands.
func (Stood) Control() {}

// due are the actions that wait until it is stored that they have begun.
type due struct {
	acts []begun
	done int // of all so far
}

// unbegun: that many acts of all have waited long enough.
type unbegun struct{ acts int }

// Control: one for an act.
func (unbegun) Control() {}

// beginLimit is how long an act waits for the store.
const beginLimit = 10 * time.Second

type begun struct {
	act    pathway.Act
	script domain.Script // whose it is
}

// stand is what is looked at to see that something has changed.
type stand struct {
	state    pathway.Mark
	segments int
	sounding bool
	acts     int
	kept     bool
}

// tellStand tells the call where the conversation stands, where it wants to know.
func (c *Conversation) tellStand(ctx actor.Context) {
	c.tellBusy(ctx)
	if !c.cfg.Stands || c.finished {
		return
	}
	kept := c.portable()
	now := stand{state: c.state.Mark(), segments: len(c.segments), sounding: c.current >= 0, acts: c.due.done + len(c.due.acts), kept: kept}
	if c.stands != nil && now == *c.stands {
		return
	}
	m := Stands{}
	if c.stands == nil || now.acts != c.stands.acts {
		m.Acts = now.acts
	}
	if kept {
		m.Saved = c.saved()
	}
	c.stands = &now
	ctx.Send(ctx.Parent(), m)
}

// stood begins what has waited until nobody else begins it.
func (c *Conversation) stood(ctx actor.Context, m Stood) {
	if begin := c.duly(m.Acts); !c.finished {
		for _, b := range begin {
			c.do(ctx, b)
		}
	}
}

// unbegun says of what was not stored in time that it cannot be done: nobody has
// begun it, and nobody will.
func (c *Conversation) unbegun(ctx actor.Context, m unbegun) {
	for _, b := range c.duly(m.acts) {
		c.acted(ctx, acted{act: b.act, result: Result{Text: "it could not be stored that it begins"}})
	}
}

// duly are those of the first acts of all that wait still, which then do no more.
func (c *Conversation) duly(acts int) []begun {
	n := min(max(acts-c.due.done, 0), len(c.due.acts))
	out := c.due.acts[:n]
	c.due.acts, c.due.done = c.due.acts[n:], c.due.done+n
	return out
}

func (c *Conversation) saved() *Saved {
	s, ok := c.state.Save(c.cfg.Redact)
	if !ok {
		return nil
	}
	return &Saved{ // whoever has it reads it while we go on
		State: s, Segments: c.cfg.Redact.Segments(slices.Clone(c.segments)), Sounding: c.current >= 0 && c.current == len(c.segments)-1,
		Turns: slices.Clone(c.stages.turns), OptedOut: c.optedOut,
	}
}

// recall lets the conversation stand where another process left it; false: its
// script leads nowhere from there.
func (c *Conversation) recall(s *Saved) bool {
	state, ok := pathway.Restore(c.cfg.Script, s.State)
	if !ok {
		return false
	}
	c.state = state.Lively(c.lively())
	c.segments, c.optedOut = s.Segments, s.OptedOut
	c.stages.turns = s.Turns
	if n := len(c.segments); s.Sounding && n > 0 {
		c.segments[n-1].Interrupted = true
	}
	c.keys.whole = len(c.segments)
	return true
}

func (c *Conversation) beginOrGoOn(ctx actor.Context) {
	if c.cfg.After != nil {
		c.goOnHere(ctx)
		return
	}
	c.begin(ctx)
}

// goOnHere goes on after the silence in which the call found its process: what
// was being said is said again, and who was to speak hears the last words once
// more, so that nobody talks to nobody.
func (c *Conversation) goOnHere(ctx actor.Context) {
	if c.state.Fresh() {
		c.begin(ctx)
		return
	}
	c.answering.begun = true
	if tag := c.state.Language(); tag != "" && tag != c.cfg.Script.Language {
		c.speaks(ctx, tag)
	}
	listened := c.state.Listening()
	c.step(ctx, pathway.TakenUp{})
	c.listen(ctx)
	if last := c.lastSaid(); listened && last != "" {
		c.speakBeside(ctx, last)
	}
}

// lastSaid is what the agent said last, where it can be said again.
func (c *Conversation) lastSaid() string {
	for i := len(c.segments) - 1; i >= 0; i-- {
		if s := &c.segments[i]; s.Speaker == agent {
			if strings.Contains(s.Text, hidden) {
				return ""
			}
			return s.Text
		}
	}
	return ""
}
