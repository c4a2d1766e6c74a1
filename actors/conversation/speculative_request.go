package conversation

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/media/speech"
)

// guessesMost bounds the speculative requests of a turn.
const guessesMost = 2

// speculativeRequest asks the model as soon as the caller is silent, with the interim result of the recognizer. It is not known
// yet whether the turn is over. The answer is kept, and used only if the turn then asks the model the same.
type speculativeRequest struct {
	id         int // of the newest request; results of older ones are stale
	requests   int // of this turn
	think      pathway.Think
	brief      string
	cancel     func() // nil: no request is under way or was used
	begunAt    time.Time
	usedRound  int   // of the request whose answer this is now; 0: it is a guess
	unreleased []any // results so far
}

type (
	// interimResult is what was recognized of a turn so far.
	interimResult struct { // bounded by the mailbox
		id    int // of the turn
		heard speech.RecognitionResult
	}
	// speculativeResult is a part of the answer to a speculative request.
	speculativeResult struct {
		id   int
		part any // sentence, passagesRead or modelAnswered of round 0
	}
)

// Control: they are bound by what a model may say.
func (speculativeResult) Control() {}

// beginGuess replaces the guess by a new request, which it numbers.
func (r *speculativeRequest) beginGuess(d pathway.Think, brief string) (id int) {
	r.cancelGuess()
	r.id++
	r.requests++
	r.think, r.begunAt, r.brief, r.usedRound, r.unreleased = d, time.Now(), brief, 0, nil
	return r.id
}

// cancelGuess ends a request whose answer is not used.
func (r *speculativeRequest) cancelGuess() {
	if r.cancel != nil && r.usedRound == 0 {
		r.cancel()
		r.cancel, r.unreleased = nil, nil
		r.id++
	}
}

// drop forgets the requests of a turn that has no result.
func (r *speculativeRequest) drop() {
	r.cancelGuess()
	r.requests = 0
}

// add takes a part of the answer and returns it, for the round that uses it, unless it has to be kept or is stale.
func (r *speculativeRequest) add(m speculativeResult) (part any) {
	switch {
	case m.id != r.id:
	case r.usedRound == 0:
		r.unreleased = append(r.unreleased, m.part)
	default:
		return r.ofRound(m.part)
	}
	return nil
}

// use makes the answer that of a round and returns its parts so far; false: another question was asked.
func (r *speculativeRequest) use(d *pathway.Think, brief string) (parts []any, ok bool) {
	if r.cancel == nil || r.usedRound != 0 || !r.think.Same(d) || r.brief != brief {
		return nil, false
	}
	r.usedRound = d.Round
	for _, part := range r.unreleased {
		parts = append(parts, r.ofRound(part))
	}
	r.unreleased = nil
	return parts, true
}

// ofRound is a part as one of the answer of the round that uses it.
func (r *speculativeRequest) ofRound(part any) any {
	switch x := part.(type) {
	case sentence:
		x.round = r.usedRound
		return x
	case passagesRead:
		x.round = r.usedRound
		return x
	case modelAnswered:
		x.round = r.usedRound
		return x
	}
	return part
}

// end ends the requests of a turn. made: there were some; used: an answer was used.
func (r *speculativeRequest) end() (made, used bool) {
	made, used = r.requests > 0, r.usedRound != 0
	r.cancelGuess()
	r.cancel, r.requests = nil, 0
	return made, used
}

// isSpeculative says whether the agent's model is asked speculatively.
func (c *Conversation) isSpeculative() bool {
	l := c.cfg.Script.LLM
	return l != nil && l.Speculative && c.cfg.AgentRuntime != nil
}

// interimResult takes what was recognized of a turn so far.
func (c *Conversation) interimResult(ctx actor.Context, m interimResult) {
	t := &c.listening.turn
	if m.id != t.id || !t.open || m.heard.Text == "" {
		return
	}
	t.interim = m.heard
	if t.ended != 0 {
		c.speculate(ctx)
	}
}

// speculate asks the model what the turn would ask if nothing followed. While the agent speaks, or is about to, no request is
// made.
func (c *Conversation) speculate(ctx actor.Context) {
	t, s := &c.listening.turn, &c.speculation
	h := t.interim
	if !c.isSpeculative() || t.keywordOnly || h.Text == "" || h.Confidence < pathway.Unsure || s.requests >= guessesMost || !c.playback.isIdle() || c.absence.on {
		return
	}
	next, steps := pathway.Step(c.state, pathway.Spoken{Text: h.Text, Confidence: h.Confidence})
	if len(steps) != 1 {
		return
	}
	d, ok := steps[0].(pathway.Think)
	if !ok || s.cancel != nil && s.think.Same(&d) {
		return
	}
	script := c.cfg.Script
	brief := next.Brief(script.System, d)
	id := s.beginGuess(d, brief)
	root, self := ctx.ActorSystem().Root, ctx.Self()
	s.cancel = askModel(ctx, c.cfg.AgentRuntime, ModelRequest{Script: &script, Brief: brief, Step: d}, 0, func(part any) { root.Send(self, speculativeResult{id, part}) })
}

// speculativeResult takes a part of the answer to a speculative request.
func (c *Conversation) speculativeResult(ctx actor.Context, m speculativeResult) {
	if part := c.speculation.add(m); part != nil {
		ctx.Send(ctx.Self(), part)
	}
}

// useSpeculation makes the speculative answer the one to a request that asks the same. The caller did not wait for what came
// before the turn was over.
func (c *Conversation) useSpeculation(ctx actor.Context, d *pathway.Think, brief string) bool {
	parts, ok := c.speculation.use(d, brief)
	if !ok {
		return false
	}
	c.model.cancelWork = c.speculation.cancel
	c.model.headStart = time.Since(c.speculation.begunAt)
	for _, part := range parts {
		ctx.Send(ctx.Self(), part)
	}
	c.model.startSlowTimer(ctx, d.Round)
	return true
}

// endSpeculation ends the speculative requests of a turn, and notes whether an answer was used.
func (c *Conversation) endSpeculation() {
	if made, used := c.speculation.end(); made {
		c.latency.setSpeculative(used)
	}
}
