// Code generated from the OpenAPI document of the service. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/url"
	"strconv"
	"time"
)

// ListPathwaysQuery holds the query parameters of ListPathways. Zero values are not sent.
type ListPathwaysQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the previous page.
	Cursor string
	// Only resources created after this time.
	CreatedAfter time.Time
	// Only resources created before this time.
	CreatedBefore time.Time
}

func (q *ListPathwaysQuery) values() url.Values {
	v := make(url.Values)
	if q.Limit != 0 {
		v.Set("limit", strconv.FormatInt(q.Limit, 10))
	}
	if q.Cursor != "" {
		v.Set("cursor", q.Cursor)
	}
	if !q.CreatedAfter.IsZero() {
		v.Set("created_after", q.CreatedAfter.UTC().Format(time.RFC3339Nano))
	}
	if !q.CreatedBefore.IsZero() {
		v.Set("created_before", q.CreatedBefore.UTC().Format(time.RFC3339Nano))
	}
	return v
}

// ListPathways: List pathways.
//
// GET /v1/pathways
func (c *Client) ListPathways(ctx context.Context, q ListPathwaysQuery, options ...Option) (*ListPathway, error) {
	return send[ListPathway](ctx, c, "GET", "/v1/pathways", q.values(), nil, options)
}

// AllPathways iterates over all pages of ListPathways. It ends after the first error.
func (c *Client) AllPathways(ctx context.Context, q ListPathwaysQuery, options ...Option) iter.Seq2[Pathway, error] {
	return pages(&q.Cursor, func() ([]Pathway, *string, error) {
		l, err := c.ListPathways(ctx, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// CreatePathway: Create a pathway.
//
// POST /v1/pathways
//
// Nodes say, collect, offer, converse, dtmf, condition, tool, appointment, sms, transfer, agent and end; edges connect nodes. Texts may contain {{name}} and {{name | fallback}}. Tools, knowledge bases and agents of nodes must belong to the workspace. Edges match key presses, words (needs speech recognition), decisions of a language model (needs a model), timeouts, always, else, success and failure. A node or edge that needs a missing engine can be stored. validate reports it, and its calls are 409 engine_not_configured.
func (c *Client) CreatePathway(ctx context.Context, body *NewPathway, options ...Option) (*Pathway, error) {
	return send[Pathway](ctx, c, "POST", "/v1/pathways", nil, asJSON(body), options)
}

// ValidatePathway: Check a pathway without saving it.
//
// POST /v1/pathways/validate
//
// The report lists all problems, including missing members.
func (c *Client) ValidatePathway(ctx context.Context, body *NewPathway, options ...Option) (*PathwayReport, error) {
	return send[PathwayReport](ctx, c, "POST", "/v1/pathways/validate", nil, asJSON(body), options)
}

// DeletePathway: Delete a pathway.
//
// DELETE /v1/pathways/{id}
func (c *Client) DeletePathway(ctx context.Context, id string, options ...Option) (*Deleted, error) {
	return send[Deleted](ctx, c, "DELETE", "/v1/pathways/"+url.PathEscape(id), nil, nil, options)
}

// GetPathway: Get a pathway.
//
// GET /v1/pathways/{id}
func (c *Client) GetPathway(ctx context.Context, id string, options ...Option) (*Pathway, error) {
	return send[Pathway](ctx, c, "GET", "/v1/pathways/"+url.PathEscape(id), nil, nil, options)
}

// UpdatePathway: Change a pathway.
//
// PATCH /v1/pathways/{id}
//
// Running calls and campaigns keep the version with which they started.
func (c *Client) UpdatePathway(ctx context.Context, id string, body *PathwayUpdate, options ...Option) (*Pathway, error) {
	return send[Pathway](ctx, c, "PATCH", "/v1/pathways/"+url.PathEscape(id), nil, asJSON(body), options)
}

// ChatWithPathway: Chat with a pathway.
//
// POST /v1/pathways/{id}/chat
//
// Runs the pathway by the rules of calls, except that prompts are not interrupted. Transfers, tools, messages and appointments are reported and not run; they count as successful. 409 engine_not_configured if the pathway needs a missing engine.
func (c *Client) ChatWithPathway(ctx context.Context, id string, body *ChatRequest, options ...Option) (*ChatAnswer, error) {
	return send[ChatAnswer](ctx, c, "POST", "/v1/pathways/"+url.PathEscape(id)+"/chat", nil, asJSON(body), options)
}

// ReplayCall: Replay a call with a pathway.
//
// POST /v1/pathways/{id}/replay
//
// Repeats the DTMF input of an ended call and compares what the pathway says with what was said in the call. The response contains the transcript, so the key must read calls and agents (*:read).
func (c *Client) ReplayCall(ctx context.Context, id string, body *CallReplay, options ...Option) (*CallReplayComparison, error) {
	return send[CallReplayComparison](ctx, c, "POST", "/v1/pathways/"+url.PathEscape(id)+"/replay", nil, asJSON(body), options)
}

// TestPathway: Test a pathway with scenarios.
//
// POST /v1/pathways/{id}/test
//
// Runs each scenario like a chat and reports differences from the expected results. Nothing is stored, and no action is run. A workspace can run one test at a time, within the time limit of a request: split many scenarios over several requests. 409 engine_not_configured if the pathway needs a missing engine.
func (c *Client) TestPathway(ctx context.Context, id string, body *PathwayTest, options ...Option) (*PathwayTestResult, error) {
	return send[PathwayTestResult](ctx, c, "POST", "/v1/pathways/"+url.PathEscape(id)+"/test", nil, asJSON(body), options)
}

// ValidateSavedPathway: Check a saved pathway.
//
// POST /v1/pathways/{id}/validate
func (c *Client) ValidateSavedPathway(ctx context.Context, id string, options ...Option) (*PathwayReport, error) {
	return send[PathwayReport](ctx, c, "POST", "/v1/pathways/"+url.PathEscape(id)+"/validate", nil, nil, options)
}

// Assign is part of a request.
type Assign struct {
	// true adds the number of the remote party to the default do-not-call list.
	AddToDNC *bool   `json:"add_to_dnc,omitempty"`
	Intent   *string `json:"intent,omitempty"`
	// Language of speech and recognition from this node on, as a BCP 47 tag.
	Language *string `json:"language,omitempty"`
	Notes    *string `json:"notes,omitempty"`
	// One of completed, confirmed, declined, voicemail, no_answer, busy, failed, cancelled.
	Outcome   *string           `json:"outcome,omitempty"`
	Variables map[string]string `json:"variables,omitzero"`
}

// CallReplay is part of a request.
type CallReplay struct {
	// The id of an ended call.
	CallID string `json:"call_id"`
	// Version of the pathway, one of the newest 101. Default: the newest.
	Version *int64 `json:"version,omitempty"`
}

// CallReplayComparison is part of a response.
type CallReplayComparison struct {
	// The id of the call.
	CallID string `json:"call_id"`
	// The replay reaches the end of the pathway.
	Ended bool `json:"ended"`
	// The index of the first different line; null: no difference. After it, keys may belong to other prompts.
	FirstDifferent *int64 `json:"first_different"`
	// Texts and key input in order.
	Lines []CallReplayLine `json:"lines"`
	// Result of the replay; without an outcome if the remote party hangs up early.
	Now CallReplayResult `json:"now"`
	// The type of the resource.
	Object string `json:"object"`
	// The id of the pathway.
	PathwayID string `json:"pathway_id"`
	// Version of the pathway.
	PathwayVersion int64 `json:"pathway_version"`
	// Result of the call.
	Recorded CallReplayResult `json:"recorded"`
	// Nothing differs.
	Same bool `json:"same"`
}

// CallReplayLine is part of a response.
type CallReplayLine struct {
	// The node of the line in the replay.
	Node string `json:"node,omitzero"`
	// assumed: sensitive input is not stored, so zeros replace it. beside: the text was spoken outside the pathway. One of assumed, beside.
	Note string `json:"note,omitzero"`
	// Text in the replay; empty: none.
	Now string `json:"now"`
	// Text in the call; empty: none.
	Recorded string `json:"recorded"`
	// true if the texts are equal.
	Same bool `json:"same"`
	// agent or caller. One of agent, caller.
	Speaker string `json:"speaker"`
}

// CallReplayResult is part of a response.
type CallReplayResult struct {
	// Intent that the pathway set.
	Intent string `json:"intent,omitzero"`
	// Notes that the pathway set.
	Notes string `json:"notes,omitzero"`
	// Outcome of the conversation. One of completed, confirmed, declined, voicemail, no_answer, busy, failed, cancelled.
	Outcome string `json:"outcome,omitzero"`
}

// ChatAction is part of a response.
type ChatAction struct {
	// Arguments of the action.
	Arguments map[string]string `json:"arguments,omitzero"`
	// The node of the action.
	Node string `json:"node,omitzero"`
	// The destination, the tool, the agent, the appointment operation, the variable, or the intent.
	Target string `json:"target,omitzero"`
	// The keys, the message, or the announcement to the person who answers.
	Text string `json:"text,omitzero"`
	// Kind of action. intent: the caller's intent was recognized. refused: the model requested a tool that its node does not offer. One of dtmf, transfer, tool, appointment, sms, agent, add_to_dnc, missing_variable, intent, refused.
	Type string `json:"type"`
}

// ChatAnswer is part of a response.
type ChatAnswer struct {
	// What a call would do after the last input.
	Actions []ChatAction `json:"actions"`
	// true if the conversation has ended.
	Ended bool `json:"ended"`
	// Intent that the pathway set.
	Intent string `json:"intent,omitzero"`
	// What the agent says after the last input.
	Messages []ChatMessage `json:"messages"`
	// All responses of the model. Send them with the next request.
	ModelAnswers []ChatModelAnswer `json:"model_answers"`
	// Notes that the pathway set.
	Notes string `json:"notes,omitzero"`
	// The type of the resource.
	Object string `json:"object"`
	// Outcome of the conversation. One of completed, confirmed, declined, voicemail, no_answer, busy, failed, cancelled.
	Outcome string `json:"outcome,omitzero"`
	// The id of the pathway.
	PathwayID string `json:"pathway_id"`
	// Version of the pathway.
	PathwayVersion int64 `json:"pathway_version"`
	// Why the conversation was aborted.
	Reason string `json:"reason,omitzero"`
	// false: the last input matched no edge.
	Understood bool `json:"understood"`
	// Variables collected and set so far, without sensitive ones.
	Variables map[string]string `json:"variables"`
	WaitsFor  *ChatWait         `json:"waits_for"`
}

// ChatInput is part of a request.
type ChatInput struct {
	// Input of the caller. Phone keys count as DTMF, other text as speech. Text counts as silence where no speech is recognized. Empty: silence.
	Text *string `json:"text,omitempty"`
	// Result of the transfer that the pathway waits for. Default: failed. One of reached, failed.
	Transfer *string `json:"transfer,omitempty"`
}

// ChatMessage is part of a response.
type ChatMessage struct {
	// The node that speaks.
	Node string `json:"node"`
	// The text. Sensitive input is hidden.
	Text string `json:"text"`
}

// ChatModelAnswer is part of a request.
type ChatModelAnswer struct {
	// Tool calls of the response.
	Calls []ChatModelCall `json:"calls"`
	// Reason of a failed request.
	Failed *string `json:"failed,omitempty"`
	// Sentences of the response.
	Sentences []string `json:"sentences"`
}

// ChatModelCall is part of a request.
type ChatModelCall struct {
	// JSON text from the model.
	Arguments string `json:"arguments"`
	// Unique id. It never changes and is never reused.
	ID string `json:"id"`
	// Name for people.
	Name string `json:"name"`
	// The id of the tool in the workspace.
	Tool *string `json:"tool,omitempty"`
}

// ChatRequest is part of a request.
type ChatRequest struct {
	// Agent whose language model and prompt are used. Default: the first model of the installation without a prompt.
	AgentID *string `json:"agent_id,omitempty"`
	// All inputs so far, oldest first. The conversation runs from its start, and the response shows the result of the last input. The service stores nothing between requests.
	Inputs []ChatInput `json:"inputs,omitzero"`
	// Earlier responses of the language model, as returned by the last request. The model is not requested again for them.
	ModelAnswers []ChatModelAnswer `json:"model_answers,omitzero"`
	// Results of actions, in the order of the runs of each node. The last result of a node is repeated. Default: success without a result; an availability node finds three times of the next day.
	Results []ChatResult `json:"results,omitzero"`
	// Values of variables, at most 200.
	Variables map[string]string `json:"variables,omitzero"`
}

// ChatResult is part of a request.
type ChatResult struct {
	// true: the action fails, for example because the appointment was taken meanwhile.
	Failed *bool `json:"failed,omitempty"`
	// Id of the node that runs the action.
	Node string `json:"node"`
	// Result of the action. The pathway reads its fields from the variable save_as.
	Result map[string]any `json:"result,omitzero"`
}

// ChatWait is part of a response.
type ChatWait struct {
	// What the pathway waits for. words: a language model processes speech. One of keys, words, transfer.
	For string `json:"for"`
	// Number of keys still expected.
	Length int64 `json:"length,omitzero"`
	// true if the input is not stored.
	Sensitive bool `json:"sensitive,omitzero"`
	// Timeout in a call.
	TimeoutSeconds float64 `json:"timeout_seconds,omitzero"`
}

// Edge is part of a request.
type Edge struct {
	From string `json:"from"`
	To   string `json:"to"`
	When When   `json:"when"`
}

// ListPathway is part of a response.
type ListPathway struct {
	// The resources of this page.
	Data []Pathway `json:"data"`
	// true if there is another page.
	HasMore bool `json:"has_more"`
	// Cursor of the next page; null on the last page.
	NextCursor *string `json:"next_cursor"`
	// The type of the resource. One of list.
	Object string `json:"object"`
}

// NewPathway is part of a request.
type NewPathway struct {
	Edges []Edge `json:"edges,omitzero"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata map[string]string `json:"metadata,omitzero"`
	// Name for people.
	Name  string `json:"name"`
	Nodes []Node `json:"nodes"`
	// The id of the first node.
	Start     string     `json:"start"`
	Variables []Variable `json:"variables,omitzero"`
}

// Node is part of a request.
type Node struct {
	// appointment: availability, book, confirm, cancel or reschedule.
	Action *string `json:"action,omitempty"`
	// agent: the agent that continues the conversation.
	AgentID *string `json:"agent_id,omitempty"`
	// tool, appointment: arguments of the call. Texts may contain {{name}}.
	Arguments map[string]string `json:"arguments,omitzero"`
	// sms: text of the message.
	Body        *string `json:"body,omitempty"`
	Destination *string `json:"destination,omitempty"`
	Digits      *string `json:"digits,omitempty"`
	// converse: information to extract; each becomes a variable.
	Extract []AnalysisField `json:"extract,omitzero"`
	// Id of the node, unique in the pathway.
	ID string `json:"id"`
	// collect, offer: dtmf, speech or both. Default of collect: dtmf. Default of offer: both; keys alone where no speech is recognized.
	Input         *string `json:"input,omitempty"`
	Interruptible *bool   `json:"interruptible,omitempty"`
	// converse: knowledge bases that the model can search.
	KnowledgeBaseIDs []string `json:"knowledge_base_ids,omitzero"`
	Length           *int64   `json:"length,omitempty"`
	// offer: the list whose items are spoken one by one, a variable or a field of a result such as times.free. prompt names the item as {{item}}. Keys: 1 takes it, 2 asks for the next, * repeats it. Edges: always with the chosen item in save_as, else if none is chosen.
	List *string `json:"list,omitempty"`
	// converse: maximum number of model responses at this node, 1 to 2000. Default: limits.max_turns of the agent.
	MaxTurns *int64 `json:"max_turns,omitempty"`
	// One of blind, attended, bridge.
	Mode  *string `json:"mode,omitempty"`
	Notes *string `json:"notes,omitempty"`
	// One of completed, confirmed, declined, voicemail, no_answer, busy, failed, cancelled.
	Outcome *string `json:"outcome,omitempty"`
	// Text to speak. For converse: the topic of the conversation.
	Prompt         *string  `json:"prompt,omitempty"`
	Retries        *int64   `json:"retries,omitempty"`
	RetryPrompt    *string  `json:"retry_prompt,omitempty"`
	SaveAs         *string  `json:"save_as,omitempty"`
	Sensitive      *bool    `json:"sensitive,omitempty"`
	Set            *Assign  `json:"set,omitempty"`
	Summary        *string  `json:"summary,omitempty"`
	TimeoutSeconds *float64 `json:"timeout_seconds,omitempty"`
	// tool: the id of the tool.
	ToolID *string `json:"tool_id,omitempty"`
	// converse: tools that the model can call at this node, by id, and the built-in tools appointment, sms, transfer, dnc and end.
	Tools []string `json:"tools,omitzero"`
	// Turn-taking settings of this node. A setting that is missing or 0 is that of the agent. interruptible belongs to the node itself.
	TurnTaking *TurnTaking `json:"turn_taking,omitempty"`
	// say, collect, offer, converse, dtmf, condition, tool, appointment, sms, transfer, agent or end. One of say, collect, dtmf, end, transfer, converse, condition, tool, appointment, sms, agent, offer.
	Type   string   `json:"type"`
	Values []string `json:"values,omitzero"`
}

// Pathway is part of a response.
type Pathway struct {
	// When the resource was created.
	CreatedAt time.Time `json:"created_at"`
	Edges     []Edge    `json:"edges"`
	// live or test. The environments are separate.
	Environment string `json:"environment"`
	// Unique id. It never changes and is never reused.
	ID string `json:"id"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata map[string]string `json:"metadata,omitzero"`
	// Name for people.
	Name  string `json:"name"`
	Nodes []Node `json:"nodes"`
	// The type of the resource.
	Object string `json:"object"`
	// The id of the first node.
	Start string `json:"start"`
	// When the resource was last changed.
	UpdatedAt time.Time  `json:"updated_at"`
	Variables []Variable `json:"variables"`
	Version   int64      `json:"version"`
	// The workspace of the resource.
	WorkspaceID string `json:"workspace_id"`
}

// PathwayReport is part of a response.
type PathwayReport struct {
	// Errors that prevent saving.
	Errors []Detail `json:"errors"`
	// Parts that need a missing engine. The pathway can be saved, but its calls are 409 engine_not_configured.
	Needs []Detail `json:"needs"`
	// This installation can run the pathway.
	Runnable bool `json:"runnable"`
	Valid    bool `json:"valid"`
	// Warnings that do not prevent saving.
	Warnings []Detail `json:"warnings"`
}

// PathwayTest is part of a request.
type PathwayTest struct {
	// Agent whose language model and prompt are used.
	AgentID *string `json:"agent_id,omitempty"`
	// Share of its runs that a scenario must pass.
	MinPassShare *float64 `json:"min_pass_share,omitempty"`
	// Runs of each scenario, because responses of a model vary. At most 2000 turns in all runs; a caller counts with max_turns.
	Runs      *int64     `json:"runs,omitempty"`
	Scenarios []Scenario `json:"scenarios"`
}

// PathwayTestResult is part of a response.
type PathwayTestResult struct {
	// The type of the resource.
	Object string `json:"object"`
	// true if every scenario passed.
	Passed bool `json:"passed"`
	// The id of the pathway.
	PathwayID      string           `json:"pathway_id"`
	PathwayVersion int64            `json:"pathway_version"`
	Scenarios      []ScenarioReport `json:"scenarios"`
}

// PathwayUpdate is part of a request.
type PathwayUpdate struct {
	Edges Optional[[]Edge] `json:"edges,omitzero"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata Optional[map[string]*string] `json:"metadata,omitzero"`
	// Name for people.
	Name  *string `json:"name,omitempty"`
	Nodes []Node  `json:"nodes,omitzero"`
	// The id of the first node.
	Start     *string              `json:"start,omitempty"`
	Variables Optional[[]Variable] `json:"variables,omitzero"`
	// The version that the change is based on. If a newer version exists, 409 invalid_state with current_version. Default: the current version.
	Version Optional[int64] `json:"version,omitzero"`
}

// Scenario is part of a request.
type Scenario struct {
	// A caller that the language model of the service plays, in place of turns.
	Caller *ScenarioCaller `json:"caller,omitempty"`
	// Expected result of the conversation.
	Expect *ScenarioResult `json:"expect,omitempty"`
	// Expected result before the first input of the caller.
	Greeting *ScenarioExpect `json:"greeting,omitempty"`
	// Name for people.
	Name string `json:"name"`
	// Results of actions, in the order of the runs of each node. The last result of a node is repeated. Default: success without a result; an availability node finds three times of the next day.
	Results []ChatResult `json:"results,omitzero"`
	// Inputs of the caller in order. Turns after the end of the pathway fail.
	Turns []ScenarioTurn `json:"turns,omitzero"`
	// Values of variables, at most 200.
	Variables map[string]string `json:"variables,omitzero"`
}

// ScenarioCaller is part of a request.
type ScenarioCaller struct {
	// Goal of the caller.
	Goal string `json:"goal"`
	// Maximum number of inputs; then the caller hangs up.
	MaxTurns *int64 `json:"max_turns,omitempty"`
	// Personality of the caller.
	Persona *string `json:"persona,omitempty"`
}

// ScenarioExpect is part of a request.
type ScenarioExpect struct {
	// Actions that a call would run, by type, or by type and target.
	Actions []string `json:"actions,omitzero"`
	// Texts that the agent must say, without regard to case.
	Says []string `json:"says,omitzero"`
	// Texts that the agent must not say.
	SaysNot []string `json:"says_not,omitzero"`
	// Whether the input must match an edge.
	Understood *bool `json:"understood,omitempty"`
	// One of keys, words, transfer, nothing.
	WaitsFor *string `json:"waits_for,omitempty"`
}

// ScenarioFailure is part of a response.
type ScenarioFailure struct {
	// The field of the expectation.
	Check    string `json:"check"`
	Expected string `json:"expected"`
	Got      string `json:"got"`
	// Number of the run, from 1.
	Run int64 `json:"run"`
	// Number of the turn, from 1; 0: the greeting; -1: the end.
	Turn int64 `json:"turn"`
}

// ScenarioLine is part of a response.
type ScenarioLine struct {
	// One of agent, caller, action.
	Speaker string `json:"speaker"`
	Text    string `json:"text"`
}

// ScenarioReport is part of a response.
type ScenarioReport struct {
	// Failed expectations, at most 100.
	Failures []ScenarioFailure `json:"failures"`
	// Name for people.
	Name string `json:"name"`
	// passed_runs divided by runs.
	PassShare float64 `json:"pass_share"`
	// true if at least the share min_pass_share of the runs passed.
	Passed     bool  `json:"passed"`
	PassedRuns int64 `json:"passed_runs"`
	Runs       int64 `json:"runs"`
	// Transcript of the first failed run, otherwise of the first run.
	Transcript []ScenarioLine `json:"transcript"`
}

// ScenarioResult is part of a request.
type ScenarioResult struct {
	// Actions that a call would run anywhere in the conversation, by type, or by type and target.
	Actions []string `json:"actions,omitzero"`
	// Whether the pathway must reach its end.
	Ended   *bool   `json:"ended,omitempty"`
	Intent  *string `json:"intent,omitempty"`
	Outcome *string `json:"outcome,omitempty"`
	// Texts that the agent must say anywhere in the conversation, without regard to case.
	Says []string `json:"says,omitzero"`
	// Texts that the agent must not say anywhere in the conversation.
	SaysNot []string `json:"says_not,omitzero"`
	// Variables that must have these values; others are not compared.
	Variables map[string]string `json:"variables,omitzero"`
}

// ScenarioTurn is part of a request.
type ScenarioTurn struct {
	Expect *ScenarioExpect `json:"expect,omitempty"`
	// Speech or keys of the caller; empty: silence.
	Text *string `json:"text,omitempty"`
	// Result of the transfer that the pathway waits for. Default: failed. One of reached, failed.
	Transfer *string `json:"transfer,omitempty"`
}

// Variable is part of a request.
type Variable struct {
	Default *string `json:"default,omitempty"`
	// Name for people.
	Name     string `json:"name"`
	Required *bool  `json:"required,omitempty"`
}

// When is part of a request.
type When struct {
	Digits *string `json:"digits,omitempty"`
	// expr: condition on variables.
	Expr *string `json:"expr,omitempty"`
	// intent: the intent.
	Intent *string `json:"intent,omitempty"`
	// llm: condition in words.
	Prompt *string `json:"prompt,omitempty"`
	// always, else, dtmf, timeout, success, failure, intent, expr or llm. One of always, else, dtmf, timeout, success, failure, intent, expr, llm.
	Type string `json:"type"`
	// intent: phrases of the intent. Without any, the intents yes, no, person and repeat use common English words; other intents need a language model.
	Words []string `json:"words,omitzero"`
}
