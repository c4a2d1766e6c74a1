package conversation

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
)

// Time limit of a model request, and the delay until the caller hears a notice. The engines have shorter limits of their own.
const (
	modelTimeout    = 3 * time.Minute
	slowNoticeDelay = 2 * time.Second // the caller then hears a notice
)

type (
	// modelSentence is one sentence of a model's response.
	modelSentence struct {
		round      int
		text       string
		firstToken time.Duration // time to the first token
	}
	// passagesRead carries the passages of knowledge bases on which the response is based.
	passagesRead struct {
		round int
		from  []domain.Passage
	}
	// modelAnswered reports the end of a model's response.
	modelAnswered struct {
		round    int
		response ModelResponse
	}
	// slowNotice is the timer message that a model or a tool takes long to respond.
	slowNotice struct{ round int }
)

// Control implements mailbox.Control: a full mailbox accepts this message. Limits of the model's output bound the number of
// messages.
func (modelSentence) Control() {}
func (passagesRead) Control()  {}
func (modelAnswered) Control() {}
func (slowNotice) Control()    {}

// currentModelRequest is the model request in progress. If none is in progress, it describes the last one.
type currentModelRequest struct {
	round        int
	cancelWork   func() // nil: no request is in progress
	cancelSlow   func() // stops the timer of slowNotice; nil: the timer is stopped
	firstToken   time.Duration
	passages     []domain.Passage
	unattributed bool          // firstToken and passages are not in the transcript yet
	headStart    time.Duration // how long before the end of the turn a speculative request was sent
}

// beginRound cancels the current model request and makes round the current one.
func (r *currentModelRequest) beginRound(round int) {
	r.cancel()
	r.round, r.firstToken, r.passages, r.unattributed, r.headStart = round, 0, nil, false, 0
}

// isCurrent reports whether the model request of a round is the current one and is still in progress.
func (r *currentModelRequest) isCurrent(round int) bool {
	return round == r.round && r.cancelWork != nil
}

// cancel cancels the model request in progress and stops its timer.
func (r *currentModelRequest) cancel() {
	if r.cancelWork != nil {
		r.cancelWork()
		r.cancelWork = nil
	}
	if r.cancelSlow != nil {
		r.cancelSlow()
		r.cancelSlow = nil
	}
}

// startSlowTimer starts the timer that sends slowNotice if the response of a round takes long.
func (r *currentModelRequest) startSlowTimer(ctx actor.Context, round int) {
	r.cancelSlow = mailbox.SendAfter(ctx, slowNoticeDelay, slowNotice{round})
}

func (r *currentModelRequest) setPassages(m passagesRead) {
	if m.round == r.round {
		r.passages = m.from
	}
}

// setFirstToken records the time from the request to the first token. It returns false if the time was already recorded.
func (r *currentModelRequest) setFirstToken(took time.Duration) bool {
	if r.firstToken != 0 {
		return false
	}
	r.firstToken, r.unattributed = max(took-r.headStart, time.Millisecond), true
	return true
}

// attribute adds the time to the first token and the knowledge base passages to the first segment of a response.
func (r *currentModelRequest) attribute(s *domain.Segment) {
	if r.unattributed {
		r.unattributed = false
		s.FirstTokenMs, s.Sources = r.firstToken.Milliseconds(), r.passages
	}
}

// startModelRequest sends a request to the language model in a background task and returns its cancel function. send
// receives the messages modelSentence, passagesRead and modelAnswered.
func startModelRequest(ctx actor.Context, runtime AgentRuntime, t ModelRequest, round int, send func(any)) (cancel func()) {
	t.OnPassages = func(from []domain.Passage) { send(passagesRead{round, from}) }
	bound, cancel := context.WithCancel(context.Background())
	mailbox.RunTask(ctx, modelTimeout, func(limit context.Context) any {
		defer context.AfterFunc(limit, cancel)()
		defer cancel()
		send(modelAnswered{round, recoverResponse(func() ModelResponse {
			return runtime.Respond(bound, t, func(text string, first time.Duration) { send(modelSentence{round, text, first}) })
		})})
		return nil
	})
	return cancel
}

// recoverResponse calls f and converts a panic in f into a failed response.
func recoverResponse(f func() ModelResponse) (a ModelResponse) {
	defer func() {
		if v := recover(); v != nil {
			a = ModelResponse{Failed: "internal", Message: fmt.Sprintf("the model request panicked: %v", v)}
		}
	}()
	return f()
}

// requestModel sends a request to the language model. If a speculative request was the same, its response is used instead.
func (c *Conversation) requestModel(ctx actor.Context, d pathway.ModelRequest) {
	c.model.beginRound(d.Round)
	c.input.end()
	script := c.cfg.Script
	brief := c.state.SystemPrompt(script.System, d)
	if c.useSpeculation(ctx, &d, brief) {
		return
	}
	root, self := ctx.ActorSystem().Root, ctx.Self()
	if c.cfg.AgentRuntime == nil {
		root.Send(self, modelAnswered{d.Round, ModelResponse{Failed: "no_model", Message: "no language model is configured"}})
		return
	}
	c.model.cancelWork = startModelRequest(ctx, c.cfg.AgentRuntime, ModelRequest{Script: &script, Brief: brief, Step: d}, d.Round, func(m any) { root.Send(self, m) })
	c.model.startSlowTimer(ctx, d.Round)
}

// speakSentence speaks a sentence of the model's response. It ignores sentences of a cancelled request.
func (c *Conversation) speakSentence(ctx actor.Context, m modelSentence) {
	if !c.model.isCurrent(m.round) || c.agentPause.active {
		return
	}
	if c.model.setFirstToken(m.firstToken) {
		c.latency.setFirstToken(c.model.firstToken)
	}
	c.advance(ctx, pathway.ModelSentence{Round: m.round, Text: m.text})
}

// onModelAnswered handles the end of a model's response. It runs the requested tool calls or reports the error.
func (c *Conversation) onModelAnswered(ctx actor.Context, m modelAnswered) {
	if m.round != c.model.round || c.finished {
		return
	}
	c.model.cancelWork = nil
	a := m.response
	for _, lost := range a.Failovers {
		ctx.Send(ctx.Parent(), lost)
	}
	if a.Failed != "" {
		c.cfg.Log.Error("model request failed", slog.String("code", a.Failed), slog.String("reason", a.Message))
		ctx.Send(ctx.Parent(), Fault{Stage: "llm", Code: a.Failed, Message: a.Message})
	}
	if !c.agentPause.active {
		c.advance(ctx, pathway.ModelAnswered{Round: m.round, Calls: a.Calls, Failed: a.Failed})
	}
}

// reportIntent reports the recognized intent to the call actor, with the dates, times and numbers in the caller's words.
func (c *Conversation) reportIntent(ctx actor.Context, d pathway.IntentDetected) {
	zone, err := time.LoadLocation(c.cfg.Script.Timezone)
	if err != nil {
		zone = time.UTC
	}
	entities := c.cfg.Redact.RedactMap(pathway.ExtractEntities(d.Text, time.Now().In(zone)))
	ctx.Send(ctx.Parent(), IntentRecognized{Name: d.Intent, Confidence: d.Confidence, Entities: entities})
}
