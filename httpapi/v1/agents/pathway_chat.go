package agents

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/httpapi/router"
)

// ChatInput is what the far end does in a chat.
type ChatInput struct {
	Text     string `json:"text,omitempty" maxLength:"500" example:"1" doc:"What it says. Keys of a phone are keyed in, other words are spoken; where no words are heard they count as silence. Empty: silence."`
	Transfer string `json:"transfer,omitempty" enum:"reached,failed" doc:"How the transfer went that the pathway waits for; failed unless said."`
}

// ChatRequest is a chat with a pathway so far.
type ChatRequest struct {
	AgentID   string            `json:"agent_id,omitempty" doc:"Whose model and part it is played with; without one the installation's first model, and no part."`
	Answers   []ChatModelAnswer `json:"model_answers,omitempty" nullable:"false" maxItems:"500" doc:"What the model has answered so far, as the last answer told it: it is not asked again for that."`
	Variables map[string]string `json:"variables,omitempty" doc:"Values of its variables; 200 at most."`
	Inputs    []ChatInput       `json:"inputs,omitempty" nullable:"false" maxItems:"200" doc:"All that the far end has done so far, oldest first: the conversation is played from its beginning, and the answer tells what the last one led to. Nothing is kept here in between."`
}

// ChatModelCall is what a model wants done.
type ChatModelCall struct {
	ID        string `json:"id" maxLength:"256"`
	Name      string `json:"name" maxLength:"256"`
	Arguments string `json:"arguments" maxLength:"32768" doc:"JSON, as the model wrote it."`
	Tool      string `json:"tool,omitempty" doc:"The id of the workspace's tool that it names."`
}

// ChatModelAnswer is one answer of a model.
type ChatModelAnswer struct {
	Sentences []string        `json:"sentences" nullable:"false" maxItems:"100" doc:"What it said."`
	Calls     []ChatModelCall `json:"calls" nullable:"false" maxItems:"16" doc:"What it wanted done."`
	Failed    string          `json:"failed,omitempty" maxLength:"64" doc:"Why there was none."`
}

// ChatMessage is what the agent says.
type ChatMessage struct {
	Node string `json:"node"`
	Text string `json:"text" doc:"What was keyed in secretly is hidden."`
}

// ChatAction is what a call would do besides speaking. It is told, never done.
type ChatAction struct {
	Type      string            `json:"type" enum:"dtmf,transfer,tool,appointment,sms,agent,add_to_dnc,missing_variable,intent,refused" doc:"intent: what the caller wants was understood. refused: the model wanted what its node does not offer."`
	Node      string            `json:"node,omitempty"`
	Target    string            `json:"target,omitempty" doc:"The destination, the tool, the agent, what is done with the appointment, the variable, or the intent."`
	Text      string            `json:"text,omitempty" doc:"The keys, the message, or what is told to whoever answers."`
	Arguments map[string]string `json:"arguments,omitempty"`
}

// ChatWait is what a pathway waits for.
type ChatWait struct {
	For            string  `json:"for" enum:"keys,words,transfer" doc:"words: a model listens."`
	Length         int     `json:"length,omitempty" doc:"Keys that are still wanted."`
	TimeoutSeconds float64 `json:"timeout_seconds,omitempty"`
	Sensitive      bool    `json:"sensitive,omitempty"`
}

// ChatAnswer is what the last input led to.
type ChatAnswer struct {
	Object         string            `json:"object" example:"pathway_chat"`
	PathwayID      string            `json:"pathway_id"`
	PathwayVersion int               `json:"pathway_version"`
	Understood     bool              `json:"understood" doc:"false: the last input had words that lead nowhere."`
	Messages       []ChatMessage     `json:"messages" doc:"What the agent says now."`
	Actions        []ChatAction      `json:"actions" doc:"What a call would do now."`
	WaitsFor       *ChatWait         `json:"waits_for" doc:"What is waited for; null once it has ended."`
	Ended          bool              `json:"ended"`
	Outcome        domain.Outcome    `json:"outcome,omitempty"`
	Reason         string            `json:"reason,omitempty" doc:"Why it was broken off."`
	Intent         string            `json:"intent,omitempty"`
	Notes          string            `json:"notes,omitempty"`
	Variables      map[string]string `json:"variables" doc:"What was collected and set so far, without what is sensitive."`
	Answers        []ChatModelAnswer `json:"model_answers" doc:"All that the model has answered, to be sent with the next request."`
}

// checkEngines refuses to play what takes an engine.
func checkEngines(w *domain.Pathway, model bool) error {
	needs := pathway.MissingCapabilities(w, pathway.Capabilities{SimulatedActions: true, Text: true, Model: model})
	if len(needs) == 0 {
		return nil
	}
	e := domain.Errorf(domain.CodeNoEngine, "%s", needs[0].Message)
	e.Param, e.Details = needs[0].Param, needs
	return e
}

// pathwayOf is the pathway that a path names.
func (s *pathwayHandlers) pathwayOf(ctx context.Context, p domain.Principal, in router.IDParam) (*domain.Pathway, error) {
	id, err := router.PathID(domain.PrefixPathway, in.ID)
	if err != nil {
		return nil, err
	}
	return s.pathways.Pathway(ctx, p, id)
}

func (s *pathwayHandlers) registerChat(tag, path string) {
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: path + "/{id}/chat", ID: "chatWithPathway", Tag: tag, Summary: "Walk a pathway in text", Errors: []int{http.StatusConflict},
		Description: "By the rules that calls walk it by, but for prompts, which are heard to their end. Transfers, tools, messages and appointments are told of and not done; they count as done well. " +
			"409 engine_not_configured where it takes an engine.",
	}, s.chat)
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: path + "/{id}/replay", ID: "replayCall", Tag: tag, Summary: "Walk a pathway as a call went", Errors: []int{http.StatusConflict},
		Description: "What was keyed in during a call that is over is keyed in again, and what the pathway says now stands beside what was said then. It shows the words of the call: the key must read calls and agents (*:read).",
	}, s.replayCall)
}

// answerModel answers the requests to the model: from memory, then by the model itself. All
// answers are passed to out.
func (s *pathwayHandlers) answerModel(ctx context.Context, p domain.Principal, script *domain.Script, play *pathway.TextSession, memory []ChatModelAnswer, out *ChatAnswer) func(pathway.ModelRequest) ([]string, pathway.ModelAnswered) {
	return func(t pathway.ModelRequest) ([]string, pathway.ModelAnswered) {
		var a ChatModelAnswer
		if len(memory) > 0 {
			a, memory = memory[0], memory[1:]
		} else {
			a = s.askModel(ctx, p, script, play, t)
		}
		out.Answers = append(out.Answers, a)
		end := pathway.ModelAnswered{Failed: a.Failed}
		for _, c := range a.Calls {
			end.Calls = append(end.Calls, pathway.ToolCall(c))
		}
		return a.Sentences, end
	}
}

func (s *pathwayHandlers) chat(ctx context.Context, p domain.Principal, in *struct {
	router.IDParam
	Body ChatRequest
},
) (*router.Response[ChatAnswer], error) {
	w, err := s.pathwayOf(ctx, p, in.IDParam)
	if err != nil {
		return nil, err
	}
	if err = checkChat(&in.Body); err != nil {
		return nil, err
	}
	script, err := s.chatScript(ctx, p, w, in.Body.AgentID)
	if err != nil {
		return nil, err
	}
	if err = checkEngines(w, s.models.Thinks(ctx, p, script.LLM)); err != nil {
		return nil, err
	}
	out := ChatAnswer{Object: "pathway_chat", PathwayID: w.ID, PathwayVersion: w.Version, Understood: true, Answers: []ChatModelAnswer{}}
	play := pathway.TextSession{State: pathway.New(script, chatVariables(&script, in.Body.Variables))}
	play.Model = s.answerModel(ctx, p, &script, &play, in.Body.Answers, &out)
	dos := play.StartSession()
	for i, input := range in.Body.Inputs {
		if play.State.Over() {
			e := domain.Errorf(domain.CodeInvalidState, "the conversation has ended before inputs[%d]", i)
			e.Param = fmt.Sprintf("inputs[%d]", i)
			return nil, e
		}
		dos, out.Understood = applyInput(&play, input)
	}
	out.addActions(dos)
	r := play.State.Result()
	out.Intent, out.Notes, out.Variables = r.Intent, r.Notes, r.Variables
	out.WaitsFor = waitOf(&play)
	return router.Respond(out, nil)
}

// applyInput continues a conversation with the input of the caller.
func applyInput(play *pathway.TextSession, input ChatInput) (dos []pathway.Command, understood bool) {
	if play.IsTransferring() {
		return play.EndTransfer(input.Transfer == "reached"), true
	}
	keyed, keys := pathway.ParseKeys(input.Text)
	switch {
	case !keys && play.HearsSpeech():
		understood = play.WaitsForSpeech() || play.State.Understands(input.Text)
		return play.Speak(input.Text), understood
	case !keys:
		return play.PressKeys(""), false
	}
	return play.PressKeys(keyed), true
}

// waitOf returns what a pathway waits for; nil: it has ended.
func waitOf(play *pathway.TextSession) *ChatWait {
	switch c := play.Waiting; {
	case play.IsTransferring():
		return &ChatWait{For: "transfer"}
	case c != nil && play.WaitsForSpeech():
		return &ChatWait{For: "words", TimeoutSeconds: c.Timeout.Seconds()}
	case c != nil:
		return &ChatWait{For: "keys", Length: c.Length, TimeoutSeconds: c.Timeout.Seconds(), Sensitive: c.Sensitive}
	}
	return nil
}

// chatScript is what a chat speaks: the pathway, with the part and the model of
// an agent.
func (s *pathwayHandlers) chatScript(ctx context.Context, p domain.Principal, w *domain.Pathway, agentID string) (domain.Script, error) {
	script := domain.Script{Pathway: *w}
	if agentID == "" {
		return script, nil
	}
	var problems domain.Problems
	problems.Add("agent_id", domain.CodeValidation, "there is no such agent")
	id, err := domain.ParseID(domain.PrefixAgent, agentID)
	if err != nil {
		return script, problems.Err()
	}
	a, err := s.agents.Agent(ctx, p, id)
	if domain.CodeOf(err) == domain.CodeNotFound {
		return script, problems.Err()
	}
	if err != nil {
		return script, err
	}
	script.AgentID, script.AgentName, script.Language, script.Timezone, script.System, script.LLM, script.Transfer = a.ID, a.Name, a.Language, a.Timezone, a.SystemPrompt, a.LLM, a.Transfer
	return script, nil
}

// chatVariables are the variables of a conversation that is tried out now: what is
// built in gives way to what was sent.
func chatVariables(script *domain.Script, sent map[string]string) map[string]string {
	values := pathway.RuntimeVariables(script, time.Now())
	maps.Copy(values, sent)
	return values
}

// askModel asks the model, once.
func (s *pathwayHandlers) askModel(ctx context.Context, p domain.Principal, script *domain.Script, play *pathway.TextSession, t pathway.ModelRequest) ChatModelAnswer {
	sentences, end := s.models.Think(ctx, p, script.LLM, play.State.SystemPrompt(script.System, t), t)
	a := ChatModelAnswer{Sentences: sentences, Calls: []ChatModelCall{}, Failed: end.Failed}
	if a.Sentences == nil {
		a.Sentences = []string{}
	}
	for _, c := range end.Calls {
		a.Calls = append(a.Calls, ChatModelCall(c))
	}
	return a
}

// Limits of the values that a chat brings.
const (
	maxValues = 200
	maxValue  = 2000
)

func checkChat(b *ChatRequest) error {
	var problems domain.Problems
	if len(b.Variables) > maxValues {
		problems.Add("variables", domain.CodeValidation, "has %d entries; %d at most", len(b.Variables), maxValues)
	}
	for name, v := range b.Variables {
		if len(name) > 64 || len(v) > maxValue {
			problems.Add("variables", domain.CodeValidation, "a name has 64 bytes at most, a value %d", maxValue)
			break
		}
	}
	return problems.Err()
}

// addActions takes over what a pathway did.
func (a *ChatAnswer) addActions(dos []pathway.Command) {
	act := func(x ChatAction) { a.Actions = append(a.Actions, x) }
	for _, d := range dos {
		switch d := d.(type) {
		case pathway.Say:
			a.Messages = append(a.Messages, ChatMessage{Node: d.Node, Text: d.Shown})
		case pathway.SendDigits:
			if d.Sensitive {
				d.Digits = "[hidden]"
			}
			act(ChatAction{Type: "dtmf", Text: d.Digits})
		case pathway.Transfer:
			if d.Sensitive {
				d.Summary = "[hidden]"
			}
			act(ChatAction{Type: "transfer", Node: d.Node, Target: d.Destination, Text: d.Summary})
		case pathway.ActionRequest:
			act(actionOf(d))
		case pathway.IntentDetected:
			act(ChatAction{Type: "intent", Node: d.Node, Target: d.Intent})
		case pathway.ToolCallRefused:
			act(ChatAction{Type: "refused", Node: d.Node, Target: d.Name, Text: d.Why})
		case pathway.OptOut:
			act(ChatAction{Type: "add_to_dnc"})
		case pathway.MissingVariable:
			act(ChatAction{Type: "missing_variable", Node: d.Node, Target: d.Name})
		case pathway.End:
			a.Ended, a.Outcome, a.Reason = true, d.Outcome, d.Reason
		}
	}
}

// actionOf shows what is to be done, without what is sensitive.
func actionOf(d pathway.ActionRequest) ChatAction {
	a := ChatAction{Type: string(d.Type), Node: d.Node, Target: d.Target, Text: d.Text, Arguments: d.Arguments}
	if d.Record != nil {
		a.Text, a.Arguments = d.Record.Text, d.Record.Arguments
	}
	var given map[string]any
	if domain.DecodeLenient(d.Given, &given) == nil {
		a.Arguments = make(map[string]string, len(given))
		for name, v := range given {
			text, isText := v.(string)
			if !isText {
				b, _ := json.Marshal(v) // was JSON
				text = string(b)
			}
			a.Arguments[name] = text
		}
	}
	return a
}
