// Code generated from the OpenAPI document of the service. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/url"
	"strconv"
	"time"
)

// ResumeDialling: Let people be rung again.
//
// POST /v1/operator/dialling/resume
//
// Operators only. Campaigns go on where they stood, within their hours and pace; what was paused stays so.
func (c *Client) ResumeDialling(ctx context.Context, options ...Option) (*DiallingNow, error) {
	return send[DiallingNow](ctx, c, "POST", "/v1/operator/dialling/resume", nil, nil, options)
}

// StopDialling: Stop all dialling, in all workspaces.
//
// POST /v1/operator/dialling/stop
//
// Operators only. From the answer on nobody is rung: no campaign, bulk job, reminder, transfer or call of the API sends an INVITE that begins a call, in both environments. Live calls go on, calls still come in. It holds across restarts. Campaigns stay running and wait: waiting.reason is dialling_stopped; whoever orders a call is told 503 with reason dialling_stopped.
func (c *Client) StopDialling(ctx context.Context, body *DiallingStop, options ...Option) (*DiallingNow, error) {
	return send[DiallingNow](ctx, c, "POST", "/v1/operator/dialling/stop", nil, asJSON(body), options)
}

// DrainNode: Take no calls on a node.
//
// POST /v1/operator/drain
//
// Operators only. No call begins any more, in or out: SIP answers 503, campaigns wait (waiting.reason is draining), /readyz is 503 and says why. Live calls go on, and may be transferred. It ends by undrain, or with the process. 409 invalid_state for a node that has no part of the work.
func (c *Client) DrainNode(ctx context.Context, body *NodeChoice, options ...Option) (*DrainNow, error) {
	return send[DrainNow](ctx, c, "POST", "/v1/operator/drain", nil, asJSON(body), options)
}

// GetLoad: Get how the service does, over all workspaces.
//
// GET /v1/operator/load
//
// Operators only, as all of /v1/operator. However many ask, the workspaces are looked at once in a second; what is stored costs nothing. ready and drain are those of the node that has the operator's own workspace; /v1/operator/nodes tells of all.
func (c *Client) GetLoad(ctx context.Context, options ...Option) (*NodeLoad, error) {
	return send[NodeLoad](ctx, c, "GET", "/v1/operator/load", nil, nil, options)
}

// ListNodes: List the nodes that live, and how each does.
//
// GET /v1/operator/nodes
//
// Operators only. All of them, on one page. One without a part of the work stands by, or has just joined.
func (c *Client) ListNodes(ctx context.Context, options ...Option) (*ListNodeNow, error) {
	return send[ListNodeNow](ctx, c, "GET", "/v1/operator/nodes", nil, nil, options)
}

// GetQuarantine: List what may have gone out since the backup that the store was restored from.
//
// GET /v1/operator/quarantine
//
// Operators only. A store that callboard restore has made is in quarantine: reads and writes work, and nothing leaves the service: no call, BYE, CANCEL, REGISTER, webhook, message, reminder, mail or bulk job. What is listed may have gone out between the backup and the restore, and the service does not do it again. Without a quarantine active is false and the list is empty.
func (c *Client) GetQuarantine(ctx context.Context, options ...Option) (*Quarantine, error) {
	return send[Quarantine](ctx, c, "GET", "/v1/operator/quarantine", nil, nil, options)
}

// ReleaseQuarantine: Release a restored store: calls, webhooks and messages go out again.
//
// POST /v1/operator/release
//
// Operators only. Make sure first that the service that was backed up does not run any more. Jobs of calls and messages from before the backup that were not over are cancelled, messages that were queued and reminders that were due are marked failed with the reason restored; campaigns stay paused until each is resumed. Webhook deliveries that were open are made: their receivers know an event that comes twice by its id. The service then starts anew, which takes about a second. The answer lists what was held back. Without a quarantine nothing happens.
func (c *Client) ReleaseQuarantine(ctx context.Context, options ...Option) (*Quarantine, error) {
	return send[Quarantine](ctx, c, "POST", "/v1/operator/release", nil, nil, options)
}

// UndrainNode: Take calls on a node again.
//
// POST /v1/operator/undrain
//
// Operators only.
func (c *Client) UndrainNode(ctx context.Context, body *NodeChoice, options ...Option) (*DrainNow, error) {
	return send[DrainNow](ctx, c, "POST", "/v1/operator/undrain", nil, asJSON(body), options)
}

// ListLoadsQuery is what ListLoads can be asked; what is zero is left out.
type ListLoadsQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
}

func (q *ListLoadsQuery) values() url.Values {
	v := make(url.Values)
	if q.Limit != 0 {
		v.Set("limit", strconv.FormatInt(q.Limit, 10))
	}
	if q.Cursor != "" {
		v.Set("cursor", q.Cursor)
	}
	return v
}

// ListLoads: List how each workspace does.
//
// GET /v1/operator/workspaces
//
// Operators only. The newest workspace comes first.
func (c *Client) ListLoads(ctx context.Context, q ListLoadsQuery, options ...Option) (*ListWorkspaceLoad, error) {
	return send[ListWorkspaceLoad](ctx, c, "GET", "/v1/operator/workspaces", q.values(), nil, options)
}

// AllLoads walks the pages of ListLoads to their end; an error is the last that comes.
func (c *Client) AllLoads(ctx context.Context, q ListLoadsQuery, options ...Option) iter.Seq2[WorkspaceLoad, error] {
	return pages(&q.Cursor, func() ([]WorkspaceLoad, *string, error) {
		l, err := c.ListLoads(ctx, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// Activity is an answer of the service, or a part of one.
type Activity struct {
	// Calls that began, in and out.
	Calls int64 `json:"calls"`
	// Changes of the store.
	Commits int64 `json:"commits"`
	// Requests of the API that were counted against its limit.
	Requests int64 `json:"requests"`
}

// DiallingNow is an answer of the service, or a part of one.
type DiallingNow struct {
	By *Actor `json:"by"`
	// What the operator has said about it.
	Reason string `json:"reason"`
	// Since when; null while people may be rung.
	Since *time.Time `json:"since"`
	// true: nobody is rung, in no workspace; live calls go on.
	Stopped bool `json:"stopped"`
}

// DiallingStop is sent to the service.
type DiallingStop struct {
	// Why, for whoever asks why nobody is rung.
	Reason *string `json:"reason,omitempty"`
}

// DrainNow is an answer of the service, or a part of one.
type DrainNow struct {
	By *Actor `json:"by"`
	// true: no call begins on this node, in or out; live ones go on.
	On bool `json:"on"`
	// Since when; null while it is not drained.
	Since *time.Time `json:"since"`
}

// LineUse is an answer of the service, or a part of one.
type LineUse struct {
	// As many as the plan allows at a time.
	Limit int64 `json:"limit"`
	// Taken by calls that live, are about to be placed, or may have outlived a crash.
	Used int64 `json:"used"`
	// Lines that campaigns and bulk jobs wait for.
	Waiting int64 `json:"waiting"`
}

// LinesNow is an answer of the service, or a part of one.
type LinesNow struct {
	// Calls that come in, both environments.
	Inbound LineUse `json:"inbound"`
	// Calls that go out, live environment.
	Outbound LineUse `json:"outbound"`
	// Calls that go out in the test environment, to the built-in carrier.
	Test LineUse `json:"test"`
}

// ListNodeNow is an answer of the service, or a part of one.
type ListNodeNow struct {
	// The rows of this page.
	Data []NodeNow `json:"data"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as cursor for the next page; null at the end.
	NextCursor *string `json:"next_cursor"`
	// What kind of resource this is. One of list.
	Object string `json:"object"`
}

// ListWorkspaceLoad is an answer of the service, or a part of one.
type ListWorkspaceLoad struct {
	// The rows of this page.
	Data []WorkspaceLoad `json:"data"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as cursor for the next page; null at the end.
	NextCursor *string `json:"next_cursor"`
	// What kind of resource this is. One of list.
	Object string `json:"object"`
}

// NodeChoice is sent to the service.
type NodeChoice struct {
	// As /v1/operator/nodes tells; the one that has the operator's own workspace unless it is said.
	NodeID *string `json:"node_id,omitempty"`
}

// NodeLoad is an answer of the service, or a part of one.
type NodeLoad struct {
	// When the workspaces were asked: up to a second ago.
	AsOf time.Time `json:"as_of"`
	// Whether an operator has stopped all dialling.
	Dialling DiallingNow `json:"dialling"`
	// Whether an operator has drained the node.
	Drain DrainNow `json:"drain"`
	// What was done within the last minute.
	LastMinute Activity `json:"last_minute"`
	// The lines of all workspaces.
	Lines LinesNow `json:"lines"`
	// Calls that have a line, in and out, those of the test environment included.
	LiveCalls int64 `json:"live_calls"`
	// The ten workspaces that take the largest part of anything, the largest first.
	Noisy []NoisyShare `json:"noisy"`
	// What kind of resource this is.
	Object string `json:"object"`
	// As /readyz tells.
	Ready bool `json:"ready"`
	// Why it is not ready.
	Reason string `json:"reason,omitzero"`
	// false: what some workspace spent before the service started is still being read, or it did not answer; spent_today is less than all.
	SpentKnown bool `json:"spent_known"`
	// What the outbound calls of the day have cost so far, in UTC, the live ones included.
	SpentToday Money `json:"spent_today"`
	// All trunks, by their health.
	Trunks TrunkCounts `json:"trunks"`
	// How many there are, on all nodes.
	Workspaces int64 `json:"workspaces"`
	// Those of them that did not answer within two seconds, or whose part of the work no node has; what they do is missing in the sums.
	WorkspacesSilent int64 `json:"workspaces_silent"`
}

// NodeNow is an answer of the service, or a part of one.
type NodeNow struct {
	// host:port by which the other nodes reach it; missing where the process is alone.
	Address string `json:"address,omitzero"`
	// Whether an operator has drained it.
	Drain DrainNow `json:"drain"`
	// true: it has the operator's own workspace. What is said without a node is said to it.
	Here bool `json:"here"`
	// New at every start of the process.
	ID string `json:"id"`
	// What was done there within the last minute.
	LastMinute Activity `json:"last_minute"`
	// true: it is being stopped, and gives what it has away.
	Leaving bool `json:"leaving"`
	// Calls that have a line there, in and out.
	LiveCalls int64 `json:"live_calls"`
	// What kind of resource this is.
	Object string `json:"object"`
	// As /readyz tells of what it has. true of one that has nothing.
	Ready bool `json:"ready"`
	// Why it is not ready.
	Reason string `json:"reason,omitzero"`
	// How many parts of the work it has. One without any stands by, or has just joined.
	Shards int64 `json:"shards"`
	// Those of them that did not answer; what they do is missing here.
	ShardsSilent int64 `json:"shards_silent"`
	// host:port of its SIP.
	SIP string `json:"sip,omitzero"`
	// By its own clock.
	StartedAt *time.Time `json:"started_at,omitempty"`
	// Of the program.
	Version string `json:"version,omitzero"`
	// How many workspaces it has.
	Workspaces int64 `json:"workspaces"`
}

// NoisyShare is an answer of the service, or a part of one.
type NoisyShare struct {
	// Of the calls that began within the last minute, 0 to 1.
	Calls float64 `json:"calls"`
	// Of the changes of the store, 0 to 1.
	Commits float64 `json:"commits"`
	// For people.
	Name string `json:"name"`
	// Of the requests of the API, 0 to 1.
	Requests float64 `json:"requests"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}

// Quarantine is an answer of the service, or a part of one.
type Quarantine struct {
	// What may have gone out since the backup and is not done again: 1000 of each kind at most.
	Actions []UncertainAction `json:"actions"`
	// true: the store was restored from a backup, and nothing leaves the service.
	Active bool `json:"active"`
	// When the backup was made; null without a quarantine.
	BackupAt *time.Time `json:"backup_at"`
	// How many there are of each kind.
	Counts UncertainCounts `json:"counts"`
	// Always quarantine. One of quarantine.
	Object string `json:"object"`
	// When the store was restored; null without a quarantine.
	RestoredAt *time.Time `json:"restored_at"`
}

// Shares is an answer of the service, or a part of one.
type Shares struct {
	// Of the calls that began within the last minute, 0 to 1.
	Calls float64 `json:"calls"`
	// Of the changes of the store, 0 to 1.
	Commits float64 `json:"commits"`
	// Of the requests of the API, 0 to 1.
	Requests float64 `json:"requests"`
}

// TrunkCounts is an answer of the service, or a part of one.
type TrunkCounts struct {
	// Trunks of which a target is out, that back off, or of which an alarm is on.
	Degraded int64 `json:"degraded"`
	// Trunks of which every target is out.
	Down int64 `json:"down"`
	// Trunks that do their work, or were not tried yet.
	Up int64 `json:"up"`
}

// TrunkTrouble is an answer of the service, or a part of one.
type TrunkTrouble struct {
	// live or test; the two never see each other.
	Environment string `json:"environment"`
	// Names it; never changes and is never given again.
	ID string `json:"id"`
	// What went wrong last.
	LastError string `json:"last_error,omitzero"`
	// For people.
	Name string `json:"name"`
	// degraded, or down: every target is out. One of degraded, down.
	Status string `json:"status"`
}

// UncertainAction is an answer of the service, or a part of one.
type UncertainAction struct {
	// When it was made; for a reminder, when it was due.
	At time.Time `json:"at"`
	// live or test.
	Environment string `json:"environment"`
	// The id of the call, campaign, bulk job or message; that of the appointment for a reminder.
	ID string `json:"id"`
	// What it is: call (it was live when the backup was made), campaign (it was running or scheduled, and is paused), bulk (a job of calls or messages that was not over), message (it was queued, or its answer was), or reminder (it was due since).
	Kind string `json:"kind"`
	// The number that it is for, where there is one.
	To string `json:"to,omitzero"`
	// The workspace that it belongs to.
	WorkspaceID string `json:"workspace_id"`
}

// UncertainCounts is an answer of the service, or a part of one.
type UncertainCounts struct {
	// Jobs of calls or messages that were not over. The release cancels them.
	Bulks int64 `json:"bulks"`
	// Calls that were live when the backup was made.
	Calls int64 `json:"calls"`
	// Campaigns that were running or scheduled, and are paused.
	Campaigns int64 `json:"campaigns"`
	// Messages that were queued, and answers to messages. The release marks them failed.
	Messages int64 `json:"messages"`
	// Reminders that were due since. The release marks them failed.
	Reminders int64 `json:"reminders"`
}

// WorkspaceLoad is an answer of the service, or a part of one.
type WorkspaceLoad struct {
	// As many calls as may begin in a minute.
	CallsPerMinute int64  `json:"calls_per_minute"`
	DailySpendCap  *Money `json:"daily_spend_cap"`
	// Names it; never changes and is never given again.
	ID string `json:"id"`
	// What it did within the last minute.
	LastMinute Activity `json:"last_minute"`
	// Its lines.
	Lines LinesNow `json:"lines"`
	// Calls that have a line, in and out.
	LiveCalls int64 `json:"live_calls"`
	// For people.
	Name string `json:"name"`
	// What kind of resource this is.
	Object string `json:"object"`
	// starter, professional or enterprise. One of starter, professional, enterprise.
	Plan string `json:"plan"`
	// Which part that is of what all workspaces did.
	Share Shares `json:"share"`
	// true: it did not answer within two seconds; what is not known is 0.
	Silent bool `json:"silent"`
	// false: what it spent before the service started is still being read, or it did not answer; spent_today is less than all.
	SpentKnown bool `json:"spent_known"`
	// What its outbound calls of the day have cost so far, in UTC.
	SpentToday Money `json:"spent_today"`
	// The trunks that are not well, at most twenty, those that are down first.
	Troubles []TrunkTrouble `json:"troubles"`
	// Its trunks, by their health.
	Trunks TrunkCounts `json:"trunks"`
}
