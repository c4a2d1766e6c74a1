package conversation

import (
	"context"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/media/speech"
)

// A model may be asked as soon as the caller is silent, by what was understood
// so far: before it is known that nothing follows, and before the recogniser's
// last word. What it answers is kept; only where the turn then asks the model
// the same is it said, and what it wants done.

// guessesMost bounds how often a model is asked ahead within a turn.
const guessesMost = 2

// ahead is what a model was asked before the turn was over.
type ahead struct {
	id     int // of the guess; those before it are nobody's
	asked  int // guesses of this turn
	think  pathway.Think
	brief  string
	cancel func() // nil: nothing is being asked ahead
	begun  time.Time
	round  int // whose answer it is by now; 0: it is a guess
	told   []any
}

type (
	interim struct { // bounded by the mailbox
		id    int // of the turn
		heard speech.Heard
	}
	guessed struct {
		id   int
		what any // sentence, read or thought, of round 0
	}
)

// Control: they are bound by what a model may say.
func (guessed) Control() {}

// foresees says whether this agent's model is asked ahead.
func (c *Conversation) foresees() bool {
	l := c.cfg.Script.LLM
	return l != nil && l.Speculative && c.cfg.Mind != nil
}

// interim takes what was understood of a turn so far.
func (c *Conversation) interim(ctx actor.Context, m interim) {
	if m.id != c.turn.id || !c.turn.on || m.heard.Text == "" {
		return
	}
	c.turn.sofar = m.heard
	if c.turn.ended != 0 {
		c.foresee(ctx)
	}
}

// foresee asks the model what the turn would ask it if nothing followed. It is
// asked nothing while something of ours sounds or is about to.
func (c *Conversation) foresee(ctx actor.Context) {
	h, a := c.turn.sofar, &c.ahead
	if !c.foresees() || c.turn.aside || h.Text == "" || h.Confidence < pathway.Unsure || a.asked >= guessesMost || c.current >= 0 || c.beside.busy || c.beside.on || c.away {
		return
	}
	next, dos := pathway.Step(c.state, pathway.Spoken{Text: h.Text, Confidence: h.Confidence})
	if len(dos) != 1 {
		return
	}
	d, ok := dos[0].(pathway.Think)
	if !ok || a.cancel != nil && a.think.Same(&d) {
		return
	}
	c.unforesee()
	script := c.cfg.Script
	a.id++
	a.asked++
	a.think, a.begun, a.brief, a.round, a.told = d, time.Now(), next.Brief(script.System, d), 0, nil
	mind, root, self, id := c.cfg.Mind, ctx.ActorSystem().Root, ctx.Self(), a.id
	bound, cancel := context.WithCancel(context.Background())
	a.cancel = cancel
	ask := Thought{Script: &script, Brief: a.brief, Ask: d, Read: func(from []domain.Passage) { root.Send(self, guessed{id, read{from: from}}) }}
	mailbox.Work(ctx, thinkLimit, func(limit context.Context) any {
		defer context.AfterFunc(limit, cancel)()
		defer cancel()
		return guessed{id, thought{answer: safely(func() Answer {
			return mind.Think(bound, ask, func(text string, first time.Duration) {
				root.Send(self, guessed{id, sentence{text: text, first: first}})
			})
		})}}
	})
}

// unforesee wants no answer to a guess.
func (c *Conversation) unforesee() {
	if a := &c.ahead; a.cancel != nil && a.round == 0 {
		a.cancel()
		a.cancel, a.told = nil, nil
		a.id++
	}
}

// guessed takes a piece of an answer that was asked for ahead.
func (c *Conversation) guessed(ctx actor.Context, m guessed) {
	switch a := &c.ahead; {
	case m.id != a.id:
	case a.round == 0:
		a.told = append(a.told, m.what)
	default:
		ctx.Send(ctx.Self(), a.of(m.what))
	}
}

// of is a piece as one of the answer that it has become. The caller did not
// wait for what came before his turn was over.
func (a *ahead) of(what any) any {
	switch x := what.(type) {
	case sentence:
		x.round = a.round
		return x
	case read:
		x.round = a.round
		return x
	case thought:
		x.round = a.round
		return x
	}
	return what
}

// foreseen makes the guess the answer to what is asked now, where it is that.
func (c *Conversation) foreseen(ctx actor.Context, d *pathway.Think) bool {
	a := &c.ahead
	if a.cancel == nil || a.round != 0 || !a.think.Same(d) || a.brief != c.state.Brief(c.cfg.Script.System, *d) {
		return false
	}
	a.round = d.Round
	c.thinking.cancel = a.cancel
	c.thinking.ahead = time.Since(a.begun)
	for _, what := range a.told {
		ctx.Send(ctx.Self(), a.of(what))
	}
	a.told = nil
	c.thinking.timer = mailbox.After(ctx, slowAfter, slow{d.Round})
	return true
}

// foretold ends the guesses of a turn, and notes what became of them.
func (c *Conversation) foretold() {
	a := &c.ahead
	if a.asked > 0 {
		c.stages.guessed(a.round != 0)
	}
	c.unforesee()
	a.cancel, a.asked = nil, 0
}
