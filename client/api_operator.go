// Code generated from the OpenAPI document of the service. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/url"
	"strconv"
	"time"
)

// ResumeDialling: Resume dialing.
//
// POST /v1/operator/dialling/resume
//
// Operators only. Campaigns continue within their hours and pace. Paused campaigns stay paused.
func (c *Client) ResumeDialling(ctx context.Context, options ...Option) (*DiallingNow, error) {
	return send[DiallingNow](ctx, c, "POST", "/v1/operator/dialling/resume", nil, nil, options)
}

// StopDialling: Stop all dialing in all workspaces.
//
// POST /v1/operator/dialling/stop
//
// Operators only. As of the response, no campaign, bulk job, reminder, transfer or API request places a call, in both environments. Live and inbound calls are not affected. The stop survives restarts. Campaigns stay running and wait with waiting.reason dialling_stopped. Requests for a call get 503 with reason dialling_stopped.
func (c *Client) StopDialling(ctx context.Context, body *DiallingStop, options ...Option) (*DiallingNow, error) {
	return send[DiallingNow](ctx, c, "POST", "/v1/operator/dialling/stop", nil, asJSON(body), options)
}

// DrainNode: Stop new calls on a node.
//
// POST /v1/operator/drain
//
// Operators only. No inbound or outbound call starts: SIP responds with 503, campaigns wait (waiting.reason is draining), and /readyz is 503 with the reason. Live calls continue and can be transferred. Draining ends by undrain, or with the process. 409 invalid_state for a node that owns no shard.
func (c *Client) DrainNode(ctx context.Context, body *NodeChoice, options ...Option) (*DrainNow, error) {
	return send[DrainNow](ctx, c, "POST", "/v1/operator/drain", nil, asJSON(body), options)
}

// GetLoad: Get the load of the service over all workspaces.
//
// GET /v1/operator/load
//
// Operators only, like all of /v1/operator. The load is measured at most once per second, whatever the number of requests. ready and drain describe the node that owns the operator's own workspace; /v1/operator/nodes lists all nodes.
func (c *Client) GetLoad(ctx context.Context, options ...Option) (*NodeLoad, error) {
	return send[NodeLoad](ctx, c, "GET", "/v1/operator/load", nil, nil, options)
}

// ListNodes: List the live nodes with their load.
//
// GET /v1/operator/nodes
//
// Operators only. All nodes on one page. A node without a shard is on standby, or has just joined.
func (c *Client) ListNodes(ctx context.Context, options ...Option) (*ListNodeNow, error) {
	return send[ListNodeNow](ctx, c, "GET", "/v1/operator/nodes", nil, nil, options)
}

// GetQuarantine: List what may have been sent since the backup of the restored store.
//
// GET /v1/operator/quarantine
//
// Operators only. A store that callboard restore has created is in quarantine. Reads and writes work, but the service sends nothing out: no call, BYE, CANCEL, REGISTER, webhook, message, reminder, mail or bulk job. The listed items may have been sent between the backup and the restore, and the service does not repeat them. Without a quarantine active is false and the list is empty.
func (c *Client) GetQuarantine(ctx context.Context, options ...Option) (*Quarantine, error) {
	return send[Quarantine](ctx, c, "GET", "/v1/operator/quarantine", nil, nil, options)
}

// ReleaseQuarantine: Release a restored store from quarantine.
//
// POST /v1/operator/release
//
// Operators only. Make sure first that the original service has stopped. Open bulk jobs of calls and messages from before the backup are cancelled. Queued messages and due reminders are marked failed with the reason restored. Campaigns stay paused until you resume them. Pending webhook deliveries are made; receivers recognize repeated events by their id. The service then restarts, which takes about a second. The response lists the affected items. Without a quarantine nothing happens.
func (c *Client) ReleaseQuarantine(ctx context.Context, options ...Option) (*Quarantine, error) {
	return send[Quarantine](ctx, c, "POST", "/v1/operator/release", nil, nil, options)
}

// UndrainNode: Allow new calls on a node.
//
// POST /v1/operator/undrain
//
// Operators only.
func (c *Client) UndrainNode(ctx context.Context, body *NodeChoice, options ...Option) (*DrainNow, error) {
	return send[DrainNow](ctx, c, "POST", "/v1/operator/undrain", nil, asJSON(body), options)
}

// ListLoadsQuery holds the query parameters of ListLoads. Zero values are not sent.
type ListLoadsQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the previous page.
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

// ListLoads: List the load of each workspace.
//
// GET /v1/operator/workspaces
//
// Operators only. Newest workspace first.
func (c *Client) ListLoads(ctx context.Context, q ListLoadsQuery, options ...Option) (*ListWorkspaceLoad, error) {
	return send[ListWorkspaceLoad](ctx, c, "GET", "/v1/operator/workspaces", q.values(), nil, options)
}

// AllLoads iterates over all pages of ListLoads. It ends after the first error.
func (c *Client) AllLoads(ctx context.Context, q ListLoadsQuery, options ...Option) iter.Seq2[WorkspaceLoad, error] {
	return pages(&q.Cursor, func() ([]WorkspaceLoad, *string, error) {
		l, err := c.ListLoads(ctx, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// Activity is part of a response.
type Activity struct {
	// Calls that began, in and out.
	Calls int64 `json:"calls"`
	// Changes of the store.
	Commits int64 `json:"commits"`
	// Requests of the API that were counted against its limit.
	Requests int64 `json:"requests"`
}

// DiallingNow is part of a response.
type DiallingNow struct {
	By *Actor `json:"by"`
	// What the operator has said about it.
	Reason string `json:"reason"`
	// Since when; null while people may be rung.
	Since *time.Time `json:"since"`
	// true: nobody is rung, in no workspace; live calls go on.
	Stopped bool `json:"stopped"`
}

// DiallingStop is part of a request.
type DiallingStop struct {
	// Reason, which is shown while dialing is stopped.
	Reason *string `json:"reason,omitempty"`
}

// DrainNow is part of a response.
type DrainNow struct {
	By *Actor `json:"by"`
	// true: no call begins on this node, in or out; live ones go on.
	On bool `json:"on"`
	// Since when; null while it is not drained.
	Since *time.Time `json:"since"`
}

// LineUse is part of a response.
type LineUse struct {
	// As many as the plan allows at a time.
	Limit int64 `json:"limit"`
	// Taken by calls that live, are about to be placed, or may have outlived a crash.
	Used int64 `json:"used"`
	// Lines that campaigns and bulk jobs wait for.
	Waiting int64 `json:"waiting"`
}

// LinesNow is part of a response.
type LinesNow struct {
	// Calls that come in, both environments.
	Inbound LineUse `json:"inbound"`
	// Calls that go out, live environment.
	Outbound LineUse `json:"outbound"`
	// Calls that go out in the test environment, to the built-in carrier.
	Test LineUse `json:"test"`
}

// ListNodeNow is part of a response.
type ListNodeNow struct {
	// The resources of this page.
	Data []NodeNow `json:"data"`
	// true if there is another page.
	HasMore bool `json:"has_more"`
	// Cursor of the next page; null on the last page.
	NextCursor *string `json:"next_cursor"`
	// The type of the resource. One of list.
	Object string `json:"object"`
}

// ListWorkspaceLoad is part of a response.
type ListWorkspaceLoad struct {
	// The resources of this page.
	Data []WorkspaceLoad `json:"data"`
	// true if there is another page.
	HasMore bool `json:"has_more"`
	// Cursor of the next page; null on the last page.
	NextCursor *string `json:"next_cursor"`
	// The type of the resource. One of list.
	Object string `json:"object"`
}

// NodeChoice is part of a request.
type NodeChoice struct {
	// The id of a node, see /v1/operator/nodes. Default: the node that owns the operator's own workspace.
	NodeID *string `json:"node_id,omitempty"`
}

// NodeLoad is part of a response.
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
	// The type of the resource.
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

// NodeNow is part of a response.
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
	// The type of the resource.
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

// NoisyShare is part of a response.
type NoisyShare struct {
	// Of the calls that began within the last minute, 0 to 1.
	Calls float64 `json:"calls"`
	// Of the changes of the store, 0 to 1.
	Commits float64 `json:"commits"`
	// Name for people.
	Name string `json:"name"`
	// Of the requests of the API, 0 to 1.
	Requests float64 `json:"requests"`
	// The workspace of the resource.
	WorkspaceID string `json:"workspace_id"`
}

// Quarantine is part of a response.
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

// Shares is part of a response.
type Shares struct {
	// Of the calls that began within the last minute, 0 to 1.
	Calls float64 `json:"calls"`
	// Of the changes of the store, 0 to 1.
	Commits float64 `json:"commits"`
	// Of the requests of the API, 0 to 1.
	Requests float64 `json:"requests"`
}

// TrunkCounts is part of a response.
type TrunkCounts struct {
	// Trunks of which a target is out, that back off, or of which an alarm is on.
	Degraded int64 `json:"degraded"`
	// Trunks of which every target is out.
	Down int64 `json:"down"`
	// Trunks that do their work, or were not tried yet.
	Up int64 `json:"up"`
}

// TrunkTrouble is part of a response.
type TrunkTrouble struct {
	// live or test. The environments are separate.
	Environment string `json:"environment"`
	// Unique id. It never changes and is never reused.
	ID string `json:"id"`
	// What went wrong last.
	LastError string `json:"last_error,omitzero"`
	// Name for people.
	Name string `json:"name"`
	// degraded, or down: every target is out. One of degraded, down.
	Status string `json:"status"`
}

// UncertainAction is part of a response.
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

// UncertainCounts is part of a response.
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

// WorkspaceLoad is part of a response.
type WorkspaceLoad struct {
	// As many calls as may begin in a minute.
	CallsPerMinute int64  `json:"calls_per_minute"`
	DailySpendCap  *Money `json:"daily_spend_cap"`
	// Unique id. It never changes and is never reused.
	ID string `json:"id"`
	// What it did within the last minute.
	LastMinute Activity `json:"last_minute"`
	// Its lines.
	Lines LinesNow `json:"lines"`
	// Calls that have a line, in and out.
	LiveCalls int64 `json:"live_calls"`
	// Name for people.
	Name string `json:"name"`
	// The type of the resource.
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
