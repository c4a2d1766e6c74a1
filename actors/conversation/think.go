package conversation

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/booking"
	"github.com/callboard/callboard/domain/pathway"
)

// Mind answers for the agent where a model takes part, and does what is to be
// done besides speaking. Its methods may be called from any goroutine; they end
// early with their context.
type Mind interface {
	// Think asks the model, and tells each sentence as soon as it is whole. first
	// is how long the first piece of the answer took.
	Think(ctx context.Context, t Thought, sentence func(text string, first time.Duration)) Answer
	// Act does what a node, or the model at it, wants done.
	Act(ctx context.Context, s *domain.Script, a pathway.Act) Result
	// Agent is what another agent speaks.
	Agent(ctx context.Context, id string) (domain.Script, error)
}

// Watcher is a Mind that reads along: it is told each segment of the transcript
// when it begins, and again whenever more is known of it. It must not block.
type Watcher interface {
	Wrote(s domain.Segment)
}

// Thought is a question to a model.
type Thought struct {
	Script *domain.Script // of the agent who asks
	Brief  string         // what the model is told of its part
	Ask    pathway.Think
	Read   func(from []domain.Passage) // hears, before the first sentence, what the model was told of the knowledge bases
}

// Answer is what came of it. Failed is "" or the code of why there is none.
type Answer struct {
	Calls   []pathway.Called
	Failed  string
	Message string  // Failed in words
	Lost    []Fault // engines in whose place another one answered
}

// Result is how something ended that was done. Text is JSON or words.
type Result struct {
	OK   bool
	Text string
}

// Acted tells the call what was done for the caller.
type Acted struct {
	Action    string
	Arguments json.RawMessage // an object
	Result    json.RawMessage // an object
	Took      time.Duration
	// Appointment is what was done with one, as it was and not as it may be kept.
	Appointment booking.Act
}

// Intent tells the call what the caller wants.
type Intent struct {
	Name       string
	Confidence float64
	Entities   map[string]string
}

type (
	sentence struct {
		round int
		text  string
		first time.Duration
	}
	read struct {
		round int
		from  []domain.Passage
	}
	thought struct {
		round  int
		answer Answer
	}
	acted struct {
		act    pathway.Act
		result Result
		took   time.Duration
	}
	slow     struct{ round int }
	replaced struct {
		act    pathway.Act
		script domain.Script
		err    error
	}
)

// Control: all of these are bound by the call.
func (Acted) Control()    {}
func (Intent) Control()   {}
func (sentence) Control() {}
func (read) Control()     {}
func (thought) Control()  {}
func (acted) Control()    {}
func (slow) Control()     {}
func (replaced) Control() {}

// How long a model and what it wants done may take: the engines have bounds of
// their own, which are shorter.
const (
	thinkLimit = 3 * time.Minute
	actLimit   = 70 * time.Second
	slowAfter  = 2 * time.Second // then the caller hears that something is being done
	maxShown   = 4 << 10         // of arguments and of a result, in an event
)

// thinking is what a model is asked now.
type thinking struct {
	round  int
	cancel func() // nil: it is asked nothing
	timer  func()
	first  time.Duration    // of the answer that is being said; 0: it has not begun
	from   []domain.Passage // what that was made of
	late   []pathway.Input  // what was done while somebody else had the caller
	// uncredited: the transcript does not tell first and from yet.
	uncredited bool
	ahead      time.Duration // so long before it was known what is asked was the model asked it
}

// mind handles what has to do with a model and with actions.
func (c *Conversation) mind(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case sentence:
		c.sentence(ctx, m)
	case read:
		if m.round == c.thinking.round {
			c.thinking.from = m.from
		}
	case thought:
		c.thought(ctx, m)
	case acted:
		c.acted(ctx, m)
	case slow:
		if m.round == c.thinking.round && !c.away && !c.turn.on {
			c.step(ctx, pathway.Slow{Round: m.round})
		}
	case Stood:
		c.stood(ctx, m)
	case unbegun:
		c.unbegun(ctx, m)
	case replaced:
		c.replaced(ctx, m)
	case keysRest:
		c.keysRested(m)
	case interim:
		c.interim(ctx, m)
	case guessed:
		c.guessed(ctx, m)
	default:
		c.liveMessage(ctx)
	}
}

// think asks the model beside the actor.
func (c *Conversation) think(ctx actor.Context, d pathway.Think) {
	c.forget()
	c.supersedeWait()
	t := &c.thinking
	t.round, t.first, t.from, t.uncredited, t.ahead = d.Round, 0, nil, false, 0
	if c.foreseen(ctx, &d) {
		return
	}
	mind, root, self := c.cfg.Mind, ctx.ActorSystem().Root, ctx.Self()
	if mind == nil {
		root.Send(self, thought{d.Round, Answer{Failed: "no_model", Message: "no language model is configured"}})
		return
	}
	script := c.cfg.Script
	ask := Thought{
		Script: &script, Brief: c.state.Brief(script.System, d), Ask: d, Read: func(from []domain.Passage) { root.Send(self, read{d.Round, from}) },
	}
	bound, cancel := context.WithCancel(context.Background())
	t.cancel = cancel
	mailbox.Work(ctx, thinkLimit, func(limit context.Context) any {
		defer context.AfterFunc(limit, cancel)()
		defer cancel()
		return thought{d.Round, safely(func() Answer {
			return mind.Think(bound, ask, func(text string, first time.Duration) { root.Send(self, sentence{d.Round, text, first}) })
		})}
	})
	t.timer = mailbox.After(ctx, slowAfter, slow{d.Round})
}

// safely makes an answer of a panic: it costs a turn.
func safely(f func() Answer) (a Answer) {
	defer func() {
		if v := recover(); v != nil {
			a = Answer{Failed: "internal", Message: fmt.Sprintf("thinking panicked: %v", v)}
		}
	}()
	return f()
}

// forget wants no answer any more.
func (c *Conversation) forget() {
	if c.thinking.cancel != nil {
		c.thinking.cancel()
		c.thinking.cancel = nil
	}
	if c.thinking.timer != nil {
		c.thinking.timer()
		c.thinking.timer = nil
	}
}

// supersedeWait ends the wait for words, but not what is being spoken.
func (c *Conversation) supersedeWait() {
	if c.timer != nil {
		c.timer()
		c.timer = nil
	}
	c.beside.wait = 0
}

func (c *Conversation) sentence(ctx actor.Context, m sentence) {
	if m.round == c.thinking.round && c.thinking.cancel != nil && !c.away {
		if c.thinking.first == 0 {
			c.thinking.first = max(m.first-c.thinking.ahead, time.Millisecond)
			c.thinking.uncredited = true
			c.stages.thought(c.thinking.first)
		}
		c.step(ctx, pathway.Sentence{Round: m.round, Text: m.text})
	}
}

func (c *Conversation) thought(ctx actor.Context, m thought) {
	if m.round != c.thinking.round || c.finished {
		return // nobody asks any more
	}
	c.thinking.cancel = nil
	a := m.answer
	for _, lost := range a.Lost {
		ctx.Send(ctx.Parent(), lost)
	}
	if a.Failed != "" {
		c.cfg.Log.Error("a model gave no answer", slog.String("code", a.Failed), slog.String("reason", a.Message))
		ctx.Send(ctx.Parent(), Fault{Stage: "llm", Code: a.Failed, Message: a.Message})
	}
	if !c.away {
		c.step(ctx, pathway.Answered{Round: m.round, Calls: a.Calls, Failed: a.Failed})
	}
}

// credit writes down how long the model took for the answer that is being said,
// and what it was made of.
func (c *Conversation) credit() {
	if !c.thinking.uncredited || c.beside.on {
		return
	}
	c.thinking.uncredited = false
	s := &c.segments[c.current]
	s.FirstTokenMs, s.Sources = c.thinking.first.Milliseconds(), c.thinking.from
}

// act has something done beside the actor: where another process may go on with
// the conversation, once it is stored that it was begun.
func (c *Conversation) act(ctx actor.Context, d pathway.Act) {
	switch {
	case d.Type == domain.NodeAgent:
		c.handOver(ctx, d)
		return
	case c.cfg.Mind == nil:
		ctx.Send(ctx.Self(), acted{act: d, result: Result{Text: "nothing here can do that"}})
		return
	case c.cfg.Stands:
		c.due.acts = append(c.due.acts, begun{d, c.cfg.Script})
		mailbox.After(ctx, beginLimit, unbegun{c.due.done + len(c.due.acts)})
	default:
		c.do(ctx, begun{d, c.cfg.Script})
	}
	if c.thinking.timer == nil {
		c.thinking.timer = mailbox.After(ctx, slowAfter, slow{d.Round})
	}
}

func (c *Conversation) do(ctx actor.Context, b begun) {
	mind := c.cfg.Mind
	mailbox.Work(ctx, actLimit, func(bound context.Context) any {
		at := time.Now()
		return acted{act: b.act, result: safelyDone(func() Result { return mind.Act(bound, &b.script, b.act) }), took: time.Since(at)}
	})
}

func safelyDone(f func() Result) (r Result) {
	defer func() {
		if v := recover(); v != nil {
			r = Result{Text: "it failed"}
		}
	}()
	return f()
}

func (c *Conversation) acted(ctx actor.Context, m acted) {
	if c.finished {
		return
	}
	d := m.act
	name := d.Name
	if name == "" {
		name = string(d.Type)
		if d.Type == domain.NodeTool {
			name = d.Target
		}
	}
	told := Acted{Action: name, Arguments: given(d, c.cfg.Redact), Result: shown(m.result, c.cfg.Redact), Took: m.took}
	if name == domain.ToolAppointment && m.result.OK {
		_ = json.Unmarshal([]byte(m.result.Text), &told.Appointment) // or it is none
	}
	ctx.Send(ctx.Parent(), told)
	if !m.result.OK {
		text := clip(c.cfg.Redact.Text(m.result.Text), 200)
		ctx.Send(ctx.Parent(), Fault{Stage: "tool", Code: "action_failed", Message: fmt.Sprintf("%s at node %s: %s", name, d.Node, text), Recovered: true})
	}
	in := pathway.Acted{Round: d.Round, ID: d.ID, OK: m.result.OK, Result: m.result.Text}
	if c.away {
		c.thinking.late = append(c.thinking.late, in)
		return
	}
	c.step(ctx, in)
}

// given are the arguments of an action as an event shows them: without what must
// not be kept, of which no piece is to be left by cutting.
func given(d pathway.Act, kept *domain.Redactor) json.RawMessage {
	switch {
	case len(d.Given) > 0 && len(d.Given) <= maxShown && json.Valid(d.Given):
		return kept.JSON(d.Given)
	case len(d.Given) > 0:
		return json.RawMessage(`{"too_long":true}`)
	}
	text, arguments := d.Text, d.Arguments
	if d.Kept != nil {
		text, arguments = d.Kept.Text, d.Kept.Arguments
	}
	all := make(map[string]string, len(arguments)+2)
	for name, value := range arguments {
		all[name] = clip(kept.Text(value), maxShown/4)
	}
	if text != "" {
		all["body"] = clip(kept.Text(text), maxShown/4)
	}
	if d.Type == domain.NodeAppointment {
		all["action"] = d.Target
	}
	b, _ := json.Marshal(all) // texts: cannot fail
	return b
}

// shown is a result as an event shows it: an object, without what must not be
// kept.
func shown(r Result, kept *domain.Redactor) json.RawMessage {
	text := kept.Text(r.Text)
	if json.Valid([]byte(r.Text)) {
		text = string(kept.JSON(json.RawMessage(r.Text)))
	}
	var object map[string]json.RawMessage
	if len(text) <= maxShown && json.Unmarshal([]byte(text), &object) == nil && object != nil && r.OK {
		return json.RawMessage(text)
	}
	name := "text"
	if !r.OK {
		name = "error"
	}
	b, _ := json.Marshal(map[string]string{name: clip(text, maxShown)}) // texts: cannot fail
	return b
}

func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	r := []rune(s[:most])
	return string(r[:len(r)-1]) + "…"
}

// meant tells what the caller wants, with what he named.
func (c *Conversation) meant(ctx actor.Context, d pathway.Meant) {
	zone, err := time.LoadLocation(c.cfg.Script.Timezone)
	if err != nil {
		zone = time.UTC
	}
	entities := c.cfg.Redact.Texts(pathway.Entities(d.Text, time.Now().In(zone)))
	ctx.Send(ctx.Parent(), Intent{Name: d.Intent, Confidence: d.Confidence, Entities: entities})
}

// handOver lets another agent go on with the caller.
func (c *Conversation) handOver(ctx actor.Context, d pathway.Act) {
	mind := c.cfg.Mind
	if mind == nil {
		ctx.Send(ctx.Self(), acted{act: d, result: Result{Text: "there is no other agent"}})
		return
	}
	mailbox.Work(ctx, actLimit, func(bound context.Context) any {
		m := replaced{act: d}
		m.script, m.err = mind.Agent(bound, d.Target)
		return m
	})
}

// replaced begins what the other agent speaks, with all that is known.
func (c *Conversation) replaced(ctx actor.Context, m replaced) {
	switch {
	case c.finished || c.state.Over():
		return
	case m.err != nil:
		c.cfg.Log.Error("another agent could not take over", slog.String("agent_id", m.act.Target), slog.Any("error", m.err))
		c.acted(ctx, acted{act: m.act, result: Result{Text: "the agent cannot take over"}})
		return
	case c.handovers >= mostHandovers:
		c.acted(ctx, acted{act: m.act, result: Result{Text: "too many agents have taken over"}})
		return
	}
	c.handovers++
	c.forget()
	c.supersede()
	before := c.cfg.Script
	c.cfg.Script = m.script
	if before.AMD != nil {
		c.cfg.Script.AMD = before.AMD
	}
	c.home = nil
	c.state = c.state.Continue(m.script).Lively(c.lively())
	clear(c.clips)
	clear(c.prepared)
	ctx.Send(ctx.Parent(), HandedOver{AgentID: m.script.AgentID, Version: m.script.Version, PathwayID: m.script.Pathway.ID, From: before.AgentID})
	if c.away {
		return // Back begins it
	}
	c.step(ctx, pathway.Began{})
}

const mostHandovers = 10

// HandedOver tells the call that another agent speaks now.
type HandedOver struct {
	AgentID, PathwayID, From string
	Version                  int
}

// Control: they are bound by mostHandovers.
func (HandedOver) Control() {}
