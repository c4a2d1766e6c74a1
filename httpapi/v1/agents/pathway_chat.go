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

// ChatInput is one input of the caller in a text chat.
type ChatInput struct {
	Text     string `json:"text,omitempty" maxLength:"500" example:"1" doc:"Input of the caller. Phone keys count as DTMF, other text as speech. Text counts as silence where no speech is recognized. Empty: silence."`
	Transfer string `json:"transfer,omitempty" enum:"reached,failed" doc:"Result of the transfer that the pathway waits for. Default: failed."`
}

// ChatRequest is the request body that continues a text chat with a pathway. It contains the whole chat so far, because
// the service stores no chats.
type ChatRequest struct {
	AgentID   string            `json:"agent_id,omitempty" doc:"Agent whose language model and prompt are used. Default: the first model of the installation without a prompt."`
	Answers   []ChatModelAnswer `json:"model_answers,omitempty" nullable:"false" maxItems:"500" doc:"Earlier responses of the language model, as returned by the last request. The model is not requested again for them."`
	Variables map[string]string `json:"variables,omitempty" doc:"Values of variables, at most 200."`
	Results   []ChatResult      `json:"results,omitempty" nullable:"false" maxItems:"200" doc:"Results of actions, in the order of the runs of each node. The last result of a node is repeated. Default: success without a result; an availability node finds three times of the next day."`
	Inputs    []ChatInput       `json:"inputs,omitempty" nullable:"false" maxItems:"200" doc:"All inputs so far, oldest first. The conversation runs from its start, and the response shows the result of the last input. The service stores nothing between requests."`
}

// ChatModelCall is a tool call that a language model requests.
type ChatModelCall struct {
	ID        string `json:"id" maxLength:"256"`
	Name      string `json:"name" maxLength:"256"`
	Arguments string `json:"arguments" maxLength:"32768" doc:"JSON text from the model."`
	Tool      string `json:"tool,omitempty" doc:"The id of the tool in the workspace."`
}

// ChatModelAnswer is one response of a language model.
type ChatModelAnswer struct {
	Sentences []string        `json:"sentences" nullable:"false" maxItems:"100" doc:"Sentences of the response."`
	Calls     []ChatModelCall `json:"calls" nullable:"false" maxItems:"16" doc:"Tool calls of the response."`
	Failed    string          `json:"failed,omitempty" maxLength:"64" doc:"Reason of a failed request."`
}

// ChatMessage is a text that the agent speaks.
type ChatMessage struct {
	Node string `json:"node"`
	Text string `json:"text" doc:"The text. Sensitive input is hidden."`
}

// ChatAction is an action, other than speaking, that the pathway takes. A chat reports the action and does not run it.
type ChatAction struct {
	Type      string            `json:"type" enum:"dtmf,transfer,tool,appointment,sms,agent,add_to_dnc,missing_variable,intent,refused" doc:"Kind of action. intent: the caller's intent was recognized. refused: the model requested a tool that its node does not offer."`
	Node      string            `json:"node,omitempty"`
	Target    string            `json:"target,omitempty" doc:"The destination, the tool, the agent, the appointment operation, the variable, or the intent."`
	Text      string            `json:"text,omitempty" doc:"The keys, the message, or the announcement to the person who answers."`
	Arguments map[string]string `json:"arguments,omitempty"`
}

// ChatWait says which input a pathway waits for.
type ChatWait struct {
	For            string  `json:"for" enum:"keys,words,transfer" doc:"What the pathway waits for. words: a language model processes speech."`
	Length         int     `json:"length,omitempty" doc:"Number of keys still expected."`
	TimeoutSeconds float64 `json:"timeout_seconds,omitempty"`
	Sensitive      bool    `json:"sensitive,omitempty"`
}

// ChatAnswer is the response of a text chat: what the pathway says and does after the last input.
type ChatAnswer struct {
	Object         string            `json:"object" example:"pathway_chat"`
	PathwayID      string            `json:"pathway_id"`
	PathwayVersion int               `json:"pathway_version"`
	Understood     bool              `json:"understood" doc:"false: the last input matched no edge."`
	Messages       []ChatMessage     `json:"messages" doc:"What the agent says after the last input."`
	Actions        []ChatAction      `json:"actions" doc:"What a call would do after the last input."`
	WaitsFor       *ChatWait         `json:"waits_for" doc:"What the pathway waits for; null after its end."`
	Ended          bool              `json:"ended"`
	Outcome        domain.Outcome    `json:"outcome,omitempty"`
	Reason         string            `json:"reason,omitempty" doc:"Why the conversation was aborted."`
	Intent         string            `json:"intent,omitempty"`
	Notes          string            `json:"notes,omitempty"`
	Variables      map[string]string `json:"variables" doc:"Variables collected and set so far, without sensitive ones."`
	Answers        []ChatModelAnswer `json:"model_answers" doc:"All responses of the model. Send them with the next request."`
}

// checkEngines returns engine_not_configured if the pathway needs an engine that a text chat does not have. model
// reports whether a language model is available.
func checkEngines(w *domain.Pathway, model bool) error {
	needs := pathway.MissingCapabilities(w, pathway.Capabilities{SimulatedActions: true, Text: true, Model: model})
	if len(needs) == 0 {
		return nil
	}
	e := domain.Errorf(domain.CodeNoEngine, "%s", needs[0].Message)
	e.Param, e.Details = needs[0].Param, needs
	return e
}

// pathwayOf returns the pathway whose id is in the path of the request.
func (s *pathwayHandlers) pathwayOf(ctx context.Context, p domain.Principal, in router.IDParam) (*domain.Pathway, error) {
	id, err := router.PathID(domain.PrefixPathway, in.ID)
	if err != nil {
		return nil, err
	}
	return s.pathways.Pathway(ctx, p, id)
}

func (s *pathwayHandlers) registerChat(tag, path string) {
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: path + "/{id}/chat", ID: "chatWithPathway", Tag: tag, Summary: "Chat with a pathway", Errors: []int{http.StatusConflict},
		Description: "Runs the pathway by the rules of calls, except that prompts are not interrupted. Transfers, tools, messages and appointments are reported and not run; they count as successful. " +
			"409 engine_not_configured if the pathway needs a missing engine.",
	}, s.chat)
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: path + "/{id}/replay", ID: "replayCall", Tag: tag, Summary: "Replay a call with a pathway", Errors: []int{http.StatusConflict},
		Description: "Repeats the DTMF input of an ended call and compares what the pathway says with what was said in the call. The response contains the transcript, so the key must read calls and agents (*:read).",
	}, s.replayCall)
}

// answerModel returns a function that answers the LLM requests of a chat. It uses the earlier answers in memory first,
// and the language model after them. It appends every answer to out.Answers.
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
	if err = checkEngines(w, s.models.HasModel(ctx, p, script.LLM)); err != nil {
		return nil, err
	}
	out := ChatAnswer{Object: "pathway_chat", PathwayID: w.ID, PathwayVersion: w.Version, Understood: true, Answers: []ChatModelAnswer{}}
	play := pathway.TextSession{State: pathway.New(script, chatVariables(&script, in.Body.Variables))}
	play.Model = s.answerModel(ctx, p, &script, &play, in.Body.Answers, &out)
	play.RunAction = simulateActions(&script, in.Body.Results)
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

// applyInput continues a chat with one input of the caller. understood is false if the input matches no edge of the
// pathway.
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

// waitOf returns the input that a pathway waits for, nil if the pathway has ended.
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

// chatScript returns the script of a chat: the pathway with the system prompt and the language model of an agent. Without
// an agent id the script has only the pathway.
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

// chatVariables returns the variables of a chat: the built-in ones, replaced and supplemented by those that the client
// has sent.
func chatVariables(script *domain.Script, sent map[string]string) map[string]string {
	values := pathway.RuntimeVariables(script, time.Now())
	maps.Copy(values, sent)
	return values
}

// askModel sends one request to the language model and returns its answer in API form.
func (s *pathwayHandlers) askModel(ctx context.Context, p domain.Principal, script *domain.Script, play *pathway.TextSession, t pathway.ModelRequest) ChatModelAnswer {
	sentences, end := s.models.AskModel(ctx, p, script.LLM, play.State.SystemPrompt(script.System, t), t)
	a := ChatModelAnswer{Sentences: sentences, Calls: []ChatModelCall{}, Failed: end.Failed}
	if a.Sentences == nil {
		a.Sentences = []string{}
	}
	for _, c := range end.Calls {
		a.Calls = append(a.Calls, ChatModelCall(c))
	}
	return a
}

// Maximum number of variables in a chat request, and maximum length of a value.
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
			problems.Add("variables", domain.CodeValidation, "a name must have at most 64 bytes, a value at most %d", maxValue)
			break
		}
	}
	return problems.Err()
}

// addActions adds the texts and actions that the pathway has produced to the response.
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

// actionOf converts an action that the pathway requests to API form, without sensitive values.
func actionOf(d pathway.ActionRequest) ChatAction {
	a := ChatAction{Type: string(d.Type), Node: d.Node, Target: d.Target, Text: d.Text, Arguments: d.Arguments}
	if d.Record != nil {
		a.Text, a.Arguments = d.Record.Text, d.Record.Arguments
	}
	var given map[string]any
	if domain.DecodeLenient(d.RawArguments, &given) == nil {
		a.Arguments = make(map[string]string, len(given))
		for name, v := range given {
			text, isText := v.(string)
			if !isText {
				b, _ := json.Marshal(v) // decoded from JSON: marshaling cannot fail
				text = string(b)
			}
			a.Arguments[name] = text
		}
	}
	return a
}
