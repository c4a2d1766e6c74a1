package conversation

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/media/speech"
)

// maxSpeculativeRequests is the maximum number of speculative requests per turn.
const maxSpeculativeRequests = 2

// speculativeRequest is a model request with the text recognized so far. It is sent when the caller falls silent, before the
// turn is known to be over. The response is used only if the finished turn leads to the same request.
type speculativeRequest struct {
	id        int // of the newest request; results of older ones are ignored
	requests  int // number of requests in this turn
	step      pathway.ModelRequest
	brief     string
	cancel    func() // nil: no request is in progress or in use
	begunAt   time.Time
	usedRound int   // round that uses the response; 0: not used so far
	parts     []any // parts of the response so far
}

type (
	// interimResult carries the text that was recognized so far in a turn.
	interimResult struct { // the mailbox bounds the number of these messages
		id    int // ID of the turn
		heard speech.RecognitionResult
	}
	// speculativeResult carries a part of the response to a speculative request.
	speculativeResult struct {
		id   int
		part any // modelSentence, passagesRead or modelAnswered of round 0
	}
)

// Control implements mailbox.Control: a full mailbox accepts this message. Limits of the model's output bound the number of
// messages.
func (speculativeResult) Control() {}

// start replaces the current speculative request by a new one and returns its ID.
func (r *speculativeRequest) start(d pathway.ModelRequest, brief string) (id int) {
	r.cancelUnused()
	r.id++
	r.requests++
	r.step, r.begunAt, r.brief, r.usedRound, r.parts = d, time.Now(), brief, 0, nil
	return r.id
}

// cancelUnused cancels the current request unless its response is in use.
func (r *speculativeRequest) cancelUnused() {
	if r.cancel != nil && r.usedRound == 0 {
		r.cancel()
		r.cancel, r.parts = nil, nil
		r.id++
	}
}

// drop cancels the unused requests of a turn that was dropped.
func (r *speculativeRequest) drop() {
	r.cancelUnused()
	r.requests = 0
}

// add stores a part of the response for later. If a model round already uses the response, add returns the part for that
// round.
func (r *speculativeRequest) add(m speculativeResult) (part any) {
	switch {
	case m.id != r.id:
	case r.usedRound == 0:
		r.parts = append(r.parts, m.part)
	default:
		return r.withRound(m.part)
	}
	return nil
}

// use assigns the response to a model round and returns its parts so far. It returns false if the round's request differs
// from the speculative one.
func (r *speculativeRequest) use(d *pathway.ModelRequest, brief string) (parts []any, ok bool) {
	if r.cancel == nil || r.usedRound != 0 || !r.step.IsSame(d) || r.brief != brief {
		return nil, false
	}
	r.usedRound = d.Round
	for _, part := range r.parts {
		parts = append(parts, r.withRound(part))
	}
	r.parts = nil
	return parts, true
}

// withRound returns a part of the response, changed to carry the number of the model round that uses it.
func (r *speculativeRequest) withRound(part any) any {
	switch x := part.(type) {
	case modelSentence:
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

// end ends the speculative requests of a turn. made reports that requests were sent, used that a response was used.
func (r *speculativeRequest) end() (made, used bool) {
	made, used = r.requests > 0, r.usedRound != 0
	r.cancelUnused()
	r.cancel, r.requests = nil, 0
	return made, used
}

// isSpeculative reports whether the agent is configured to send speculative requests.
func (c *Conversation) isSpeculative() bool {
	l := c.cfg.Script.LLM
	return l != nil && l.Speculative && c.cfg.AgentRuntime != nil
}

// interimResult handles an interim result of the recognizer.
func (c *Conversation) interimResult(ctx actor.Context, m interimResult) {
	t := &c.listening.turn
	if m.id != t.id || !t.open || m.heard.Text == "" {
		return
	}
	t.interim = t.withEarlierWords(m.heard)
	if t.ended != 0 && !t.recognizing {
		c.speculate(ctx)
		c.endTurnInTime(ctx)
	}
}

// speculate sends the model request that would follow if the caller's turn ended now. It sends none while the agent speaks
// or is about to speak.
func (c *Conversation) speculate(ctx actor.Context) {
	t, s := &c.listening.turn, &c.speculation
	h := t.interim
	if !c.isSpeculative() || t.keywordOnly || h.Text == "" || h.Confidence < pathway.ConfirmConfidence || s.requests >= maxSpeculativeRequests || !c.playback.isIdle() || c.agentPause.active {
		return
	}
	next, steps := pathway.Step(c.state, pathway.Utterance{Text: h.Text, Confidence: h.Confidence})
	if len(steps) != 1 {
		return
	}
	d, ok := steps[0].(pathway.ModelRequest)
	if !ok || s.cancel != nil && s.step.IsSame(&d) {
		return
	}
	script := c.cfg.Script
	brief := next.SystemPrompt(script.System, d)
	id := s.start(d, brief)
	root, self := ctx.ActorSystem().Root, ctx.Self()
	s.cancel = startModelRequest(ctx, c.cfg.AgentRuntime, ModelRequest{Script: &script, Brief: brief, Step: d}, 0, func(part any) { root.Send(self, speculativeResult{id, part}) })
}

// speculativeResult handles a part of a speculative response.
func (c *Conversation) speculativeResult(ctx actor.Context, m speculativeResult) {
	if part := c.speculation.add(m); part != nil {
		ctx.Send(ctx.Self(), part)
	}
}

// useSpeculation uses the speculative response if its request equals d. The latency still counts from the end of the turn.
func (c *Conversation) useSpeculation(ctx actor.Context, d *pathway.ModelRequest, brief string) bool {
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

// endSpeculation ends the speculative requests of a turn. It records in the turn's latency whether a response was used.
func (c *Conversation) endSpeculation() {
	if made, used := c.speculation.end(); made {
		c.latency.setSpeculative(used)
	}
}
