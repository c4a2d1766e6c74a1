// Code generated from the OpenAPI document of the service. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/url"
	"strconv"
	"time"
)

// ListPathwaysQuery is what ListPathways can be asked; what is zero is left out.
type ListPathwaysQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
	// Only what was created after this time.
	CreatedAfter time.Time
	// Only what was created before this time.
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

// AllPathways walks the pages of ListPathways to their end; an error is the last that comes.
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
// Nodes say, collect, converse, dtmf, condition, tool, appointment, sms, transfer, agent and end; edges lead from node to node. Text takes {{name}} and {{name | fallback}}. Tools, knowledge bases and agents that nodes name must belong to the workspace. Edges are taken by key presses, words (needs speech recognition), decisions of a language model (needs one), time-outs, always, else, success and failure. A node or edge that needs an engine that is not configured is stored, reported by validate, and refused when a call reaches it (409 engine_not_configured).
func (c *Client) CreatePathway(ctx context.Context, body *NewPathway, options ...Option) (*Pathway, error) {
	return send[Pathway](ctx, c, "POST", "/v1/pathways", nil, asJSON(body), options)
}

// ValidatePathway: Check a pathway without saving it.
//
// POST /v1/pathways/validate
//
// The report lists all problems, those of missing members as well.
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
// Calls and campaigns that are running keep the pathway they began with.
func (c *Client) UpdatePathway(ctx context.Context, id string, body *PathwayUpdate, options ...Option) (*Pathway, error) {
	return send[Pathway](ctx, c, "PATCH", "/v1/pathways/"+url.PathEscape(id), nil, asJSON(body), options)
}

// ChatWithPathway: Walk a pathway in text.
//
// POST /v1/pathways/{id}/chat
//
// By the rules that calls walk it by, but for prompts, which are heard to their end. Transfers, tools, messages and appointments are told of and not done; they count as done well. 409 engine_not_configured where it takes an engine.
func (c *Client) ChatWithPathway(ctx context.Context, id string, body *ChatRequest, options ...Option) (*ChatAnswer, error) {
	return send[ChatAnswer](ctx, c, "POST", "/v1/pathways/"+url.PathEscape(id)+"/chat", nil, asJSON(body), options)
}

// ReplayCall: Walk a pathway as a call went.
//
// POST /v1/pathways/{id}/replay
//
// What was keyed in during a call that is over is keyed in again, and what the pathway says now stands beside what was said then. It shows the words of the call: the key must read calls and agents (*:read).
func (c *Client) ReplayCall(ctx context.Context, id string, body *CallReplay, options ...Option) (*CallReplayed, error) {
	return send[CallReplayed](ctx, c, "POST", "/v1/pathways/"+url.PathEscape(id)+"/replay", nil, asJSON(body), options)
}

// TestPathway: Hold a pathway to scenarios.
//
// POST /v1/pathways/{id}/test
//
// Plays each scenario as a chat is, and says where it went otherwise than expected. Nothing is kept, nothing besides speaking is done. One test runs at a time in a workspace, for as long as a request may take: play many scenarios in several. 409 engine_not_configured where it takes an engine.
func (c *Client) TestPathway(ctx context.Context, id string, body *PathwayTest, options ...Option) (*PathwayTested, error) {
	return send[PathwayTested](ctx, c, "POST", "/v1/pathways/"+url.PathEscape(id)+"/test", nil, asJSON(body), options)
}

// ValidateSavedPathway: Check a saved pathway.
//
// POST /v1/pathways/{id}/validate
func (c *Client) ValidateSavedPathway(ctx context.Context, id string, options ...Option) (*PathwayReport, error) {
	return send[PathwayReport](ctx, c, "POST", "/v1/pathways/"+url.PathEscape(id)+"/validate", nil, nil, options)
}

// Assign is sent to the service.
type Assign struct {
	// The far end wants no more calls: its number goes onto the default list.
	AddToDNC *bool   `json:"add_to_dnc,omitempty"`
	Intent   *string `json:"intent,omitempty"`
	// The language that is spoken and heard from this node on, as BCP 47 writes it.
	Language *string `json:"language,omitempty"`
	Notes    *string `json:"notes,omitempty"`
	// One of completed, confirmed, declined, voicemail, no_answer, busy, failed, cancelled.
	Outcome   *string           `json:"outcome,omitempty"`
	Variables map[string]string `json:"variables,omitzero"`
}

// CallReplay is sent to the service.
type CallReplay struct {
	// A call that is over.
	CallID string `json:"call_id"`
	// The version of the pathway that is walked, one of the newest 101; the newest unless said.
	Version *int64 `json:"version,omitempty"`
}

// CallReplayLine is an answer of the service, or a part of one.
type CallReplayLine struct {
	// The node that says it now.
	Node string `json:"node,omitzero"`
	// assumed: it was keyed in secretly and is not known; zeros stand for it. beside: it was said besides the pathway. One of assumed, beside.
	Note string `json:"note,omitzero"`
	// What the pathway has now; empty: nothing.
	Now string `json:"now"`
	// What the call had; empty: nothing.
	Recorded string `json:"recorded"`
	// Whether nothing differs.
	Same bool `json:"same"`
	// Who says it. One of agent, caller.
	Speaker string `json:"speaker"`
}

// CallReplayResult is an answer of the service, or a part of one.
type CallReplayResult struct {
	// The intent that was set.
	Intent string `json:"intent,omitzero"`
	// The notes that were set.
	Notes string `json:"notes,omitzero"`
	// How it ended. One of completed, confirmed, declined, voicemail, no_answer, busy, failed, cancelled.
	Outcome string `json:"outcome,omitzero"`
}

// CallReplayed is an answer of the service, or a part of one.
type CallReplayed struct {
	// The call.
	CallID string `json:"call_id"`
	// The pathway comes to its end.
	Ended bool `json:"ended"`
	// The index of the first line that differs; null: none does. Behind it keys and prompts may no longer belong together.
	FirstDifferent *int64 `json:"first_different"`
	// All that was said and keyed in, in order.
	Lines []CallReplayLine `json:"lines"`
	// What it would come to; without an outcome where the far end hangs up before its end.
	Now CallReplayResult `json:"now"`
	// What kind of resource this is.
	Object string `json:"object"`
	// Which pathway it follows.
	PathwayID string `json:"pathway_id"`
	// Which version was walked.
	PathwayVersion int64 `json:"pathway_version"`
	// What the call came to.
	Recorded CallReplayResult `json:"recorded"`
	// Nothing differs.
	Same bool `json:"same"`
}

// ChatAction is an answer of the service, or a part of one.
type ChatAction struct {
	// What it would be called with.
	Arguments map[string]string `json:"arguments,omitzero"`
	// The node that does it.
	Node string `json:"node,omitzero"`
	// The destination, the tool, the agent, what is done with the appointment, the variable, or the intent.
	Target string `json:"target,omitzero"`
	// The keys, the message, or what is told to whoever answers.
	Text string `json:"text,omitzero"`
	// intent: what the caller wants was understood. refused: the model wanted what its node does not offer. One of dtmf, transfer, tool, appointment, sms, agent, add_to_dnc, missing_variable, intent, refused.
	Type string `json:"type"`
}

// ChatAnswer is an answer of the service, or a part of one.
type ChatAnswer struct {
	// What a call would do now.
	Actions []ChatAction `json:"actions"`
	// Whether it is over.
	Ended bool `json:"ended"`
	// The intent that was set.
	Intent string `json:"intent,omitzero"`
	// What the agent says now.
	Messages []ChatMessage `json:"messages"`
	// All that the model has answered, to be sent with the next request.
	ModelAnswers []ChatModelAnswer `json:"model_answers"`
	// The notes that were set.
	Notes string `json:"notes,omitzero"`
	// What kind of resource this is.
	Object string `json:"object"`
	// How it ended. One of completed, confirmed, declined, voicemail, no_answer, busy, failed, cancelled.
	Outcome string `json:"outcome,omitzero"`
	// Which pathway it follows.
	PathwayID string `json:"pathway_id"`
	// Which version was walked.
	PathwayVersion int64 `json:"pathway_version"`
	// Why it was broken off.
	Reason string `json:"reason,omitzero"`
	// false: the last input had words that lead nowhere.
	Understood bool `json:"understood"`
	// What was collected and set so far, without what is sensitive.
	Variables map[string]string `json:"variables"`
	WaitsFor  *ChatWait         `json:"waits_for"`
}

// ChatInput is sent to the service.
type ChatInput struct {
	// What it says. Keys of a phone are keyed in, other words are spoken; where no words are heard they count as silence. Empty: silence.
	Text *string `json:"text,omitempty"`
	// How the transfer went that the pathway waits for; failed unless said. One of reached, failed.
	Transfer *string `json:"transfer,omitempty"`
}

// ChatMessage is an answer of the service, or a part of one.
type ChatMessage struct {
	// The node that says it.
	Node string `json:"node"`
	// What was keyed in secretly is hidden.
	Text string `json:"text"`
}

// ChatModelAnswer is sent to the service.
type ChatModelAnswer struct {
	// What it wanted done.
	Calls []ChatModelCall `json:"calls"`
	// Why there was none.
	Failed *string `json:"failed,omitempty"`
	// What it said.
	Sentences []string `json:"sentences"`
}

// ChatModelCall is sent to the service.
type ChatModelCall struct {
	// JSON, as the model wrote it.
	Arguments string `json:"arguments"`
	// Names it; never changes and is never given again.
	ID string `json:"id"`
	// For people.
	Name string `json:"name"`
	// The id of the workspace's tool that it names.
	Tool *string `json:"tool,omitempty"`
}

// ChatRequest is sent to the service.
type ChatRequest struct {
	// Whose model and part it is played with; without one the installation's first model, and no part.
	AgentID *string `json:"agent_id,omitempty"`
	// All that the far end has done so far, oldest first: the conversation is played from its beginning, and the answer tells what the last one led to. Nothing is kept here in between.
	Inputs []ChatInput `json:"inputs,omitzero"`
	// What the model has answered so far, as the last answer told it: it is not asked again for that.
	ModelAnswers []ChatModelAnswer `json:"model_answers,omitzero"`
	// Values of its variables; 200 at most.
	Variables map[string]string `json:"variables,omitzero"`
}

// ChatWait is an answer of the service, or a part of one.
type ChatWait struct {
	// words: a model listens. One of keys, words, transfer.
	For string `json:"for"`
	// Keys that are still wanted.
	Length int64 `json:"length,omitzero"`
	// Whether what is keyed in is kept nowhere.
	Sensitive bool `json:"sensitive,omitzero"`
	// How long a call waits.
	TimeoutSeconds float64 `json:"timeout_seconds,omitzero"`
}

// Edge is sent to the service.
type Edge struct {
	From string `json:"from"`
	To   string `json:"to"`
	When When   `json:"when"`
}

// ListPathway is an answer of the service, or a part of one.
type ListPathway struct {
	// The rows of this page.
	Data []Pathway `json:"data"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as cursor for the next page; null at the end.
	NextCursor *string `json:"next_cursor"`
	// What kind of resource this is. One of list.
	Object string `json:"object"`
}

// NewPathway is sent to the service.
type NewPathway struct {
	Edges []Edge `json:"edges,omitzero"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// For people.
	Name  string `json:"name"`
	Nodes []Node `json:"nodes"`
	// The id of the first node.
	Start     string     `json:"start"`
	Variables []Variable `json:"variables,omitzero"`
}

// Node is sent to the service.
type Node struct {
	// appointment: availability, book, confirm, cancel or reschedule.
	Action *string `json:"action,omitempty"`
	// agent: who goes on.
	AgentID *string `json:"agent_id,omitempty"`
	// tool, appointment: what it is called with; text takes {{name}}.
	Arguments map[string]string `json:"arguments,omitzero"`
	// sms: the message.
	Body        *string `json:"body,omitempty"`
	Destination *string `json:"destination,omitempty"`
	Digits      *string `json:"digits,omitempty"`
	// converse: what is to be found out; each becomes a variable.
	Extract []AnalysisField `json:"extract,omitzero"`
	// Names it within the pathway.
	ID string `json:"id"`
	// collect: dtmf, speech or both.
	Input         *string `json:"input,omitempty"`
	Interruptible *bool   `json:"interruptible,omitempty"`
	// converse: what may be looked up in.
	KnowledgeBaseIDs []string `json:"knowledge_base_ids,omitzero"`
	Length           *int64   `json:"length,omitempty"`
	// converse: how many answers its model may give before the node is left, 1 to 500; 40 unless said.
	MaxTurns *int64 `json:"max_turns,omitempty"`
	// One of blind, attended, bridge.
	Mode  *string `json:"mode,omitempty"`
	Notes *string `json:"notes,omitempty"`
	// One of completed, confirmed, declined, voicemail, no_answer, busy, failed, cancelled.
	Outcome *string `json:"outcome,omitempty"`
	// What is said; of a converse node what is to be talked about.
	Prompt         *string  `json:"prompt,omitempty"`
	Retries        *int64   `json:"retries,omitempty"`
	RetryPrompt    *string  `json:"retry_prompt,omitempty"`
	SaveAs         *string  `json:"save_as,omitempty"`
	Sensitive      *bool    `json:"sensitive,omitempty"`
	Set            *Assign  `json:"set,omitempty"`
	Summary        *string  `json:"summary,omitempty"`
	TimeoutSeconds *float64 `json:"timeout_seconds,omitempty"`
	// tool: which one.
	ToolID *string `json:"tool_id,omitempty"`
	// converse: what its model may do there and nothing else: tools by id, and the built-in appointment, sms, transfer, dnc and end.
	Tools []string `json:"tools,omitzero"`
	// say, collect, converse, dtmf, condition, tool, appointment, sms, transfer, agent or end. One of say, collect, dtmf, end, transfer, converse, condition, tool, appointment, sms, agent.
	Type   string   `json:"type"`
	Values []string `json:"values,omitzero"`
}

// Pathway is an answer of the service, or a part of one.
type Pathway struct {
	// When it was made.
	CreatedAt time.Time `json:"created_at"`
	Edges     []Edge    `json:"edges"`
	// live or test; the two never see each other.
	Environment string `json:"environment"`
	// Names it; never changes and is never given again.
	ID string `json:"id"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// For people.
	Name  string `json:"name"`
	Nodes []Node `json:"nodes"`
	// What kind of resource this is.
	Object string `json:"object"`
	// The id of the first node.
	Start string `json:"start"`
	// When it was last changed.
	UpdatedAt time.Time  `json:"updated_at"`
	Variables []Variable `json:"variables"`
	Version   int64      `json:"version"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}

// PathwayReport is an answer of the service, or a part of one.
type PathwayReport struct {
	// What keeps the pathway from being saved.
	Errors []Detail `json:"errors"`
	// What takes an engine that is not configured: it can be saved, but calls that would walk it are 409 engine_not_configured.
	Needs []Detail `json:"needs"`
	// Calls can walk it here.
	Runnable bool `json:"runnable"`
	Valid    bool `json:"valid"`
	// What is odd but stops nothing.
	Warnings []Detail `json:"warnings"`
}

// PathwayTest is sent to the service.
type PathwayTest struct {
	// Whose model and part they are played with.
	AgentID *string `json:"agent_id,omitempty"`
	// The share of its runs that a scenario has to pass.
	MinPassShare *float64 `json:"min_pass_share,omitempty"`
	// How often each is played: a model does not always say the same. 2000 turns in all at most, those of callers counted as many as they may be.
	Runs      *int64     `json:"runs,omitempty"`
	Scenarios []Scenario `json:"scenarios"`
}

// PathwayTested is an answer of the service, or a part of one.
type PathwayTested struct {
	// What kind of resource this is.
	Object string `json:"object"`
	// Every scenario did.
	Passed bool `json:"passed"`
	// Which pathway it follows.
	PathwayID      string           `json:"pathway_id"`
	PathwayVersion int64            `json:"pathway_version"`
	Scenarios      []ScenarioReport `json:"scenarios"`
}

// PathwayUpdate is sent to the service.
type PathwayUpdate struct {
	Edges Optional[[]Edge] `json:"edges,omitzero"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata Optional[map[string]*string] `json:"metadata,omitzero"`
	// For people.
	Name  *string `json:"name,omitempty"`
	Nodes []Node  `json:"nodes,omitzero"`
	// The id of the first node.
	Start     *string              `json:"start,omitempty"`
	Variables Optional[[]Variable] `json:"variables,omitzero"`
	// The version that the change was made to: 409 invalid_state with current_version, and no change, where another one has been saved since. Unless said, whichever there is is changed.
	Version Optional[int64] `json:"version,omitzero"`
}

// Scenario is sent to the service.
type Scenario struct {
	// Who speaks in place of turns: a caller whom the language model of the service plays.
	Caller *ScenarioCaller `json:"caller,omitempty"`
	// What it comes to.
	Expect *ScenarioResult `json:"expect,omitempty"`
	// What is expected before the caller does anything.
	Greeting *ScenarioExpect `json:"greeting,omitempty"`
	// For people.
	Name string `json:"name"`
	// What the caller does, in its order. Turns behind the end of the pathway fail.
	Turns []ScenarioTurn `json:"turns,omitzero"`
	// Values of the pathway's variables; 200 at most.
	Variables map[string]string `json:"variables,omitzero"`
}

// ScenarioCaller is sent to the service.
type ScenarioCaller struct {
	// What the caller wants.
	Goal string `json:"goal"`
	// How often the caller speaks at most; then it hangs up.
	MaxTurns *int64 `json:"max_turns,omitempty"`
	// How the caller is.
	Persona *string `json:"persona,omitempty"`
}

// ScenarioExpect is sent to the service.
type ScenarioExpect struct {
	// A call would do these, by type, or by type and target.
	Actions []string `json:"actions,omitzero"`
	// The agent says each of these, in any case.
	Says []string `json:"says,omitzero"`
	// And none of these.
	SaysNot []string `json:"says_not,omitzero"`
	// Whether the words lead somewhere.
	Understood *bool `json:"understood,omitempty"`
	// One of keys, words, transfer, nothing.
	WaitsFor *string `json:"waits_for,omitempty"`
}

// ScenarioFailure is an answer of the service, or a part of one.
type ScenarioFailure struct {
	// The field that was expected otherwise.
	Check    string `json:"check"`
	Expected string `json:"expected"`
	Got      string `json:"got"`
	// Which one, from 1.
	Run int64 `json:"run"`
	// Behind which turn, from 1; 0: the greeting; -1: at the end.
	Turn int64 `json:"turn"`
}

// ScenarioLine is an answer of the service, or a part of one.
type ScenarioLine struct {
	// One of agent, caller, action.
	Speaker string `json:"speaker"`
	Text    string `json:"text"`
}

// ScenarioReport is an answer of the service, or a part of one.
type ScenarioReport struct {
	// 100 at most.
	Failures []ScenarioFailure `json:"failures"`
	// For people.
	Name string `json:"name"`
	// passed_runs by runs.
	PassShare float64 `json:"pass_share"`
	// Every run did, or as large a share of them as min_pass_share says.
	Passed     bool  `json:"passed"`
	PassedRuns int64 `json:"passed_runs"`
	Runs       int64 `json:"runs"`
	// Of the first run that failed, else of the first.
	Transcript []ScenarioLine `json:"transcript"`
}

// ScenarioResult is sent to the service.
type ScenarioResult struct {
	// A call would do these somewhere in it, by type, or by type and target.
	Actions []string `json:"actions,omitzero"`
	// Whether the pathway comes to its end.
	Ended   *bool   `json:"ended,omitempty"`
	Intent  *string `json:"intent,omitempty"`
	Outcome *string `json:"outcome,omitempty"`
	// The agent says each of these somewhere in it, in any case.
	Says []string `json:"says,omitzero"`
	// And none of these anywhere.
	SaysNot []string `json:"says_not,omitzero"`
	// What is collected and set, among others.
	Variables map[string]string `json:"variables,omitzero"`
}

// ScenarioTurn is sent to the service.
type ScenarioTurn struct {
	Expect *ScenarioExpect `json:"expect,omitempty"`
	// What the caller says or keys in; empty: silence.
	Text *string `json:"text,omitempty"`
	// How the transfer went that is awaited; failed unless said. One of reached, failed.
	Transfer *string `json:"transfer,omitempty"`
}

// Variable is sent to the service.
type Variable struct {
	Default *string `json:"default,omitempty"`
	// For people.
	Name     string `json:"name"`
	Required *bool  `json:"required,omitempty"`
}

// When is sent to the service.
type When struct {
	Digits *string `json:"digits,omitempty"`
	// expr: what has to hold of the variables.
	Expr *string `json:"expr,omitempty"`
	// intent: what was meant.
	Intent *string `json:"intent,omitempty"`
	// llm: what has to hold, in words.
	Prompt *string `json:"prompt,omitempty"`
	// always, else, dtmf, timeout, success, failure, intent, expr or llm. One of always, else, dtmf, timeout, success, failure, intent, expr, llm.
	Type string `json:"type"`
	// intent: what is said for it. Without any it takes the usual English words of yes, no, person or repeat; another intent takes a language model then.
	Words []string `json:"words,omitzero"`
}
