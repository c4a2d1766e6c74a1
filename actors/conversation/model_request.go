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

// Time limits: the engines have bounds of their own, which are shorter.
const (
	modelLimit = 3 * time.Minute
	slowAfter  = 2 * time.Second // then the caller hears that something is being done
)

type (
	// sentence is a piece of a model's answer.
	sentence struct {
		round int
		text  string
		first time.Duration // how long the first piece took
	}
	// passagesRead are the passages of knowledge bases that the answer is made of.
	passagesRead struct {
		round int
		from  []domain.Passage
	}
	// modelAnswered is the end of an answer.
	modelAnswered struct {
		round  int
		answer ModelResponse
	}
	// slowNotice says that a model or a tool takes long.
	slowNotice struct{ round int }
)

// Control: all of these are bound by what a model may say.
func (sentence) Control()      {}
func (passagesRead) Control()  {}
func (modelAnswered) Control() {}
func (slowNotice) Control()    {}

// modelRequest is the request to a language model that is under way, or was the last.
type modelRequest struct {
	round      int
	cancelWork func() // nil: no request is under way
	cancelSlow func() // stops the timer of slowNotice; nil: it does not run
	first      time.Duration
	passages   []domain.Passage
	unwritten  bool          // the transcript does not have first and passages yet
	headStart  time.Duration // by which a speculative request was made before the turn was over
}

// beginRound replaces the request that is under way.
func (r *modelRequest) beginRound(round int) {
	r.cancel()
	r.round, r.first, r.passages, r.unwritten, r.headStart = round, 0, nil, false, 0
}

// isCurrent says whether answers of a round are still wanted.
func (r *modelRequest) isCurrent(round int) bool { return round == r.round && r.cancelWork != nil }

// cancel ends the request: its answer is not wanted.
func (r *modelRequest) cancel() {
	if r.cancelWork != nil {
		r.cancelWork()
		r.cancelWork = nil
	}
	if r.cancelSlow != nil {
		r.cancelSlow()
		r.cancelSlow = nil
	}
}

// startSlowTimer sends slowNotice if the round takes long.
func (r *modelRequest) startSlowTimer(ctx actor.Context, round int) {
	r.cancelSlow = mailbox.SendAfter(ctx, slowAfter, slowNotice{round})
}

func (r *modelRequest) setPassages(m passagesRead) {
	if m.round == r.round {
		r.passages = m.from
	}
}

// setFirstToken notes how long the first piece took; false: it was known.
func (r *modelRequest) setFirstToken(took time.Duration) bool {
	if r.first != 0 {
		return false
	}
	r.first, r.unwritten = max(took-r.headStart, time.Millisecond), true
	return true
}

// attribute writes into the first segment of an answer how long the model took and what the answer is made of.
func (r *modelRequest) attribute(s *domain.Segment) {
	if r.unwritten {
		r.unwritten = false
		s.FirstTokenMs, s.Sources = r.first.Milliseconds(), r.passages
	}
}

// askModel runs a request beside the actor and returns what cancels it. send gets sentence, passagesRead and modelAnswered.
func askModel(ctx actor.Context, mind AgentRuntime, t ModelRequest, round int, send func(any)) (cancel func()) {
	t.OnPassages = func(from []domain.Passage) { send(passagesRead{round, from}) }
	bound, cancel := context.WithCancel(context.Background())
	mailbox.RunTask(ctx, modelLimit, func(limit context.Context) any {
		defer context.AfterFunc(limit, cancel)()
		defer cancel()
		send(modelAnswered{round, answerOrFault(func() ModelResponse {
			return mind.Respond(bound, t, func(text string, first time.Duration) { send(sentence{round, text, first}) })
		})})
		return nil
	})
	return cancel
}

// answerOrFault makes an answer of a panic: it costs a turn.
func answerOrFault(f func() ModelResponse) (a ModelResponse) {
	defer func() {
		if v := recover(); v != nil {
			a = ModelResponse{Failed: "internal", Message: fmt.Sprintf("thinking panicked: %v", v)}
		}
	}()
	return f()
}

// requestModel asks the model, or takes the answer that a speculative request has.
func (c *Conversation) requestModel(ctx actor.Context, d pathway.Think) {
	c.model.beginRound(d.Round)
	c.input.end()
	script := c.cfg.Script
	brief := c.state.Brief(script.System, d)
	if c.useSpeculation(ctx, &d, brief) {
		return
	}
	root, self := ctx.ActorSystem().Root, ctx.Self()
	if c.cfg.AgentRuntime == nil {
		root.Send(self, modelAnswered{d.Round, ModelResponse{Failed: "no_model", Message: "no language model is configured"}})
		return
	}
	c.model.cancelWork = askModel(ctx, c.cfg.AgentRuntime, ModelRequest{Script: &script, Brief: brief, Step: d}, d.Round, func(m any) { root.Send(self, m) })
	c.model.startSlowTimer(ctx, d.Round)
}

// speakSentence says a sentence of the answer.
func (c *Conversation) speakSentence(ctx actor.Context, m sentence) {
	if !c.model.isCurrent(m.round) || c.absence.on {
		return
	}
	if c.model.setFirstToken(m.first) {
		c.latency.setFirstToken(c.model.first)
	}
	c.advance(ctx, pathway.Sentence{Round: m.round, Text: m.text})
}

// modelAnswered takes the end of an answer: the tools to call, or why there is no answer.
func (c *Conversation) modelAnswered(ctx actor.Context, m modelAnswered) {
	if m.round != c.model.round || c.finished {
		return
	}
	c.model.cancelWork = nil
	a := m.answer
	for _, lost := range a.Failovers {
		ctx.Send(ctx.Parent(), lost)
	}
	if a.Failed != "" {
		c.cfg.Log.Error("a model gave no answer", slog.String("code", a.Failed), slog.String("reason", a.Message))
		ctx.Send(ctx.Parent(), Fault{Stage: "llm", Code: a.Failed, Message: a.Message})
	}
	if !c.absence.on {
		c.advance(ctx, pathway.Answered{Round: m.round, Calls: a.Calls, Failed: a.Failed})
	}
}

// reportIntent reports what the caller wants, with the dates, times and numbers in the words.
func (c *Conversation) reportIntent(ctx actor.Context, d pathway.Meant) {
	zone, err := time.LoadLocation(c.cfg.Script.Timezone)
	if err != nil {
		zone = time.UTC
	}
	entities := c.cfg.Redact.Texts(pathway.Entities(d.Text, time.Now().In(zone)))
	ctx.Send(ctx.Parent(), IntentRecognized{Name: d.Intent, Confidence: d.Confidence, Entities: entities})
}
