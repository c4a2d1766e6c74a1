package conversation

import (
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/dnc"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/media/speech"
)

// How a turn of the far end goes. Speech is told of 200 ms after it began, and
// its end after 500 ms of silence.
const (
	noticed   = 200 * time.Millisecond
	hangover  = 500 * time.Millisecond
	before    = 300 * time.Millisecond // soft first sounds that were not taken for speech
	insists   = 500 * time.Millisecond // who speaks so long over a prompt means to interrupt it
	someWords = 2                      // as who says so many
	cough     = 400 * time.Millisecond // what is shorter and has no words was no answer
	turnLimit = 15 * time.Second       // of a turn, pauses included
	lateLimit = 8 * time.Second        // for a recogniser's answer
)

var errLate = errors.New("conversation: the recogniser did not answer in time")

// turn is what the far end says now.
type turn struct {
	on       bool // speech is under way, or being understood
	over     bool // it is being understood
	again    bool // and somebody speaks meanwhile
	aside    bool // the pathway asks for no words: only who wants no more calls is heard
	apart    bool // and an engine has the caller that tells nothing of words
	id       int
	began    time.Duration // on the media clock
	ended    time.Duration
	overAt   time.Time // when it was known that it is over
	stream   speech.Stream
	sofar    speech.Heard  // what was understood of it so far; Text "": nothing
	due      func()        // stops the timer
	paused   bool          // our sound waits for its end
	pausedAt time.Duration // on the media clock
}

type (
	understood struct {
		id    int
		heard speech.Heard
	}
	turnDue struct {
		id   int
		late bool // the recogniser did not answer
	}
)

func (understood) Control() {}
func (turnDue) Control()    {}

// unheardMost is after how many turns in a row that no recogniser understood an
// agent is taken to hear nothing.
const unheardMost = 2

// turns are the agent's settings.
func (c *Conversation) turns() domain.TurnTaking {
	if t := c.cfg.Script.Turns; t != nil {
		return *t
	}
	return domain.TurnTaking{}
}

// interruptible says whether speech may cut what is being said.
func (c *Conversation) interruptible() bool {
	may := c.turns().Interruptible
	return c.current >= 0 && !c.beside.on && c.asked.Interruptible && (may == nil || *may)
}

// began opens a turn: the far end has begun to speak.
func (c *Conversation) began(ctx actor.Context) {
	if c.cfg.Ear == nil || c.cfg.Ears == nil || c.live.open && !c.live.talk.Alone || c.finished || c.away || !c.answering.begun || c.state.Over() || !c.hearsLanguage() {
		return
	}
	if c.turn.on {
		c.turn.again = c.turn.over
		if !c.turn.over && c.turn.due != nil { // it was a pause within the turn
			c.turn.due()
			c.turn.ended = 0
			c.unforesee()
			c.limitTurn(ctx, max(turnLimit-(c.cfg.Sound.Mark()-c.turn.began), time.Millisecond), false)
		}
		return
	}
	phrases, hears := c.state.Expects()
	if !hears && (c.state.Secret() || !HearsAside(c.cfg.Ears, c.cfg.Script.Hearing(), c.cfg.OptOut)) {
		return
	}
	c.turn = turn{on: true, aside: !hears, apart: c.live.round != 0, id: c.turn.id + 1, began: c.cfg.Sound.Mark() - noticed}
	id, root, self, foresees := c.turn.id, ctx.ActorSystem().Root, ctx.Self(), c.foresees()
	c.turn.stream = c.cfg.Ears.Open(c.wanted(append(phrases, c.optOuts()...)), func(h speech.Heard) {
		if h.Final {
			root.Send(self, understood{id, h})
		} else if foresees {
			root.Send(self, interim{id, h})
		}
	})
	if c.turn.apart {
		c.cfg.Ear.BeginAside(c.turn.stream, noticed+before)
	} else {
		c.cfg.Ear.Begin(c.turn.stream, noticed+before)
	}
	c.limitTurn(ctx, turnLimit, false)
	if c.turn.aside {
		return
	}
	if c.timer != nil && c.current < 0 && c.beside.wait > 0 {
		c.timer()
		c.timer = nil
	}
	if c.interruptible() {
		c.pause()
	}
}

// wanted tells the recogniser what it will hear.
func (c *Conversation) wanted(phrases []string) speech.Wanted {
	w := speech.Wanted{Language: c.cfg.Script.Hearing(), Phrases: phrases}
	if s := c.cfg.Script.STT; s != nil {
		w.Engine, w.Model, w.Keywords = s.Engine, s.Model, s.Keywords
	}
	return w
}

// optOuts are the keywords that can be said.
func (c *Conversation) optOuts() []string { return dnc.Sayable(c.cfg.OptOut) }

// pause lets our sound wait until it is known what the far end wants.
func (c *Conversation) pause() {
	c.turn.paused, c.turn.pausedAt = true, c.cfg.Sound.Mark()
	c.cfg.Sound.PausePlaying()
}

// limitTurn sets the turn's one timer.
func (c *Conversation) limitTurn(ctx actor.Context, d time.Duration, late bool) {
	if c.turn.due != nil {
		c.turn.due()
	}
	c.turn.due = mailbox.After(ctx, d, turnDue{c.turn.id, late})
}

// fellSilent ends the turn, at once or after the silence that the agent waits for.
func (c *Conversation) fellSilent(ctx actor.Context) {
	c.turn.again = false
	if !c.turn.on || c.turn.over {
		return
	}
	c.turn.ended = c.cfg.Sound.Mark() - hangover
	c.foresee(ctx)
	if more := time.Duration(c.turns().EndOfTurnMs)*time.Millisecond - hangover; more > 0 && !c.turn.aside {
		c.limitTurn(ctx, more, false)
		return
	}
	c.endTurn(ctx)
}

func (c *Conversation) turnDue(ctx actor.Context, m turnDue) {
	switch {
	case m.id != c.turn.id || !c.turn.on || m.late != c.turn.over:
	case m.late:
		c.turn.stream.Close()
		c.understood(ctx, understood{m.id, speech.Heard{Final: true, Err: errLate}})
	default:
		c.endTurn(ctx)
	}
}

// endTurn has it understood what was said.
func (c *Conversation) endTurn(ctx actor.Context) {
	if c.turn.ended == 0 {
		c.turn.ended = c.cfg.Sound.Mark()
	}
	c.turn.over, c.turn.overAt = true, time.Now()
	c.unhear()
	c.turn.stream.End()
	c.limitTurn(ctx, lateLimit, true)
}

// dropTurn forgets what is being said: a key came, or somebody else has the
// caller.
func (c *Conversation) dropTurn() {
	if !c.turn.on {
		return
	}
	if c.turn.due != nil {
		c.turn.due()
	}
	c.unforesee()
	c.ahead.asked = 0
	c.unhear()
	c.turn.stream.Close()
	c.turn = turn{id: c.turn.id + 1, paused: c.turn.paused, pausedAt: c.turn.pausedAt}
}

// tells says whether a turn is under way in which a keyword counts.
func (c *Conversation) tells() bool {
	return c.turn.on && !c.optedOut && len(c.optOuts()) > 0 && (c.turn.apart || !c.state.Secret())
}

// setApart lets a turn go on beside the engine that takes the caller over: it
// leads nowhere any more, but who wants no more calls may be saying so.
func (c *Conversation) setApart(ctx actor.Context) {
	t := &c.turn
	if !c.tells() {
		c.dropTurn()
		return
	}
	c.unforesee()
	c.ahead.asked = 0
	switch {
	case t.over || t.apart:
	case t.ended > 0: // he is silent
		c.endTurn(ctx)
	default:
		c.cfg.Ear.End()
		c.cfg.Ear.BeginAside(t.stream, 0)
	}
	t.aside, t.apart = true, true
}

// unhear lets the turn hear no more; an engine that has the caller does.
func (c *Conversation) unhear() {
	if c.turn.apart {
		c.cfg.Ear.EndAside()
	} else {
		c.cfg.Ear.End()
	}
}

// understood takes what was said.
func (c *Conversation) understood(ctx actor.Context, m understood) {
	t := &c.turn
	if m.id != t.id || !t.on {
		return
	}
	if t.due != nil {
		t.due()
	}
	lasted, again, aside, apart := t.ended-t.began, t.again, t.aside, t.apart
	t.on, t.over, t.again, t.due, t.stream = false, false, false, nil, nil
	h := m.heard
	if c.finished {
		c.lastWords(ctx, h, aside, apart)
		return
	}
	for _, f := range h.Faults {
		c.engineFailed(ctx, engineFailed{"stt", f})
	}
	if h.Err != nil {
		c.cfg.Log.Error("what was said could not be understood", slog.Any("error", h.Err))
		ctx.Send(ctx.Parent(), Fault{Stage: "stt", Code: "recognition_failed", Message: "what the caller said could not be understood", Recovered: true})
		if c.unheard++; c.unheard >= unheardMost && !aside && !c.away && !c.unable && c.state.NeedsWords() {
			c.endUnable(ctx)
			return
		}
	} else {
		c.unheard = 0
	}
	h.Text = c.words(h, aside, apart)
	c.saidWords(ctx, h, apart)
	if !aside && !c.away && c.counts(h, lasted) && !c.state.Over() {
		if h.Text == "" {
			c.noteWords(h)
		}
		c.stages.spoke(c.turn.ended, c.cfg.Sound.Mark(), c.turn.overAt)
		c.step(ctx, pathway.Spoken{Text: h.Text, Confidence: h.Confidence})
	}
	c.foretold()
	c.goOn(ctx)
	if again {
		c.began(ctx)
	}
}

// words are those that count of what was heard. Of a turn apart the transcript
// tells no other word than the one that counts.
func (c *Conversation) words(h speech.Heard, aside, apart bool) string {
	switch {
	case h.Confidence < pathway.Unsure, aside && h.Confidence < pathway.Sure:
		return ""
	case apart:
		return dnc.OptOut(h.Text, c.cfg.OptOut)
	}
	return h.Text
}

// saidWords writes words down and looks for a keyword in them; apart: they are one.
func (c *Conversation) saidWords(ctx actor.Context, h speech.Heard, apart bool) {
	switch {
	case h.Text == "" || !c.noteWords(h):
	case apart:
		c.optOut(ctx, bySpeech, h.Text)
	default:
		c.said(ctx, h.Text)
	}
}

// counts says whether words are an answer, or mean to interrupt what is being
// said. An acknowledgement does not, nor does noise.
func (c *Conversation) counts(h speech.Heard, lasted time.Duration) bool {
	switch {
	case c.state.Understands(h.Text):
		return true
	case h.Err != nil:
		return false
	case c.current >= 0 || c.beside.busy: // something of ours sounds, or is about to
		wanted := c.turns().InterruptionWords
		if wanted <= 0 {
			wanted = someWords
		}
		return h.Text != "" && !pathway.Acknowledges(h.Text) && (lasted >= insists || len(strings.Fields(h.Text)) >= wanted)
	case h.Text == "":
		return lasted >= cough
	}
	return true
}

// goOn goes on where a turn has changed nothing: with our sound where it stood,
// or with the wait.
func (c *Conversation) goOn(ctx actor.Context) {
	if c.turn.on {
		return
	}
	switch {
	case c.turn.paused && c.current >= 0:
		c.turn.paused = false
		c.cfg.Sound.ContinuePlaying()
	case c.timer == nil && c.beside.wait > 0 && !c.beside.on && !c.beside.busy && c.current < 0 && !c.away && !c.finished && !c.state.Over():
		c.timer = mailbox.After(ctx, c.beside.wait, waited{c.supersede()})
	}
}

// noteWords writes down what was said, and says whether it may be known.
func (c *Conversation) noteWords(h speech.Heard) bool {
	s := domain.Segment{
		Index: len(c.segments), Speaker: caller, Text: h.Text, Confidence: h.Confidence,
		StartMs: max(c.turn.began, 0).Milliseconds(), EndMs: max(c.turn.ended, 0).Milliseconds(),
	}
	secret := c.state.Secret() && !c.turn.apart // that was said before
	switch {
	case secret:
		s.Text = hidden
	case h.Text == "":
		s.Text = pathway.NotUnderstood
	}
	c.segments = append(c.segments, s)
	return !secret
}
