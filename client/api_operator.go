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
	// Number of calls that started, inbound and outbound.
	Calls int64 `json:"calls"`
	// Number of commits to the store.
	Commits int64 `json:"commits"`
	// Number of API requests that count toward the rate limit.
	Requests int64 `json:"requests"`
}

// CallCapacity is part of a response.
type CallCapacity struct {
	// Number of concurrent calls that the plan allows.
	Limit int64 `json:"limit"`
	// Number of concurrent calls in use: live calls, calls that are about to be placed, and calls that may still exist after a crash.
	Used int64 `json:"used"`
	// Number of calls of campaigns and bulk jobs that wait for capacity.
	Waiting int64 `json:"waiting"`
}

// ConcurrentCalls is part of a response.
type ConcurrentCalls struct {
	// Inbound calls in both environments.
	Inbound CallCapacity `json:"inbound"`
	// Outbound calls in the live environment.
	Outbound CallCapacity `json:"outbound"`
	// Outbound calls in the test environment, to the built-in carrier.
	Test CallCapacity `json:"test"`
}

// DiallingNow is part of a response.
type DiallingNow struct {
	By *Actor `json:"by"`
	// The reason that the operator gave.
	Reason string `json:"reason"`
	// Time of the stop. null: dialing is allowed.
	Since *time.Time `json:"since"`
	// true: no outbound call starts in any workspace. Live calls continue.
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
	// true: no inbound or outbound call starts on this node. Live calls continue.
	On bool `json:"on"`
	// Time of the drain. null: the node is not drained.
	Since *time.Time `json:"since"`
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
	// Time of the numbers: up to one second ago.
	AsOf time.Time `json:"as_of"`
	// Whether an operator has stopped all dialing.
	Dialling DiallingNow `json:"dialling"`
	// Whether an operator has drained the node.
	Drain DrainNow `json:"drain"`
	// Activity of all workspaces within the last minute.
	LastMinute Activity `json:"last_minute"`
	// Concurrent calls of all workspaces.
	Lines ConcurrentCalls `json:"lines"`
	// Number of live calls, inbound and outbound, including the test environment.
	LiveCalls int64 `json:"live_calls"`
	// The ten workspaces with the largest share of calls, commits or requests, in descending order.
	Noisy []WorkspaceShare `json:"noisy"`
	// The type of the resource.
	Object string `json:"object"`
	// Whether the node is ready, as in /readyz.
	Ready bool `json:"ready"`
	// Why the node is not ready.
	Reason string `json:"reason,omitzero"`
	// false: spent_today is incomplete. The amounts of a workspace before the start of the service are still being read, or a workspace did not answer.
	SpentKnown bool `json:"spent_known"`
	// Cost of today's outbound calls, including live calls. The day is in UTC.
	SpentToday Money `json:"spent_today"`
	// Number of trunks of all workspaces by health.
	Trunks TrunkCounts `json:"trunks"`
	// Number of workspaces on all nodes.
	Workspaces int64 `json:"workspaces"`
	// Number of workspaces that did not answer within two seconds or whose shard has no node. The sums do not include them.
	WorkspacesSilent int64 `json:"workspaces_silent"`
}

// NodeNow is part of a response.
type NodeNow struct {
	// host:port that the other nodes connect to. Missing if there is only one node.
	Address string `json:"address,omitzero"`
	// Whether an operator has drained the node.
	Drain DrainNow `json:"drain"`
	// true: the node has the operator's own workspace. Requests without a node apply to this node.
	Here bool `json:"here"`
	// The id of the process. It changes with every start.
	ID string `json:"id"`
	// Activity on the node within the last minute.
	LastMinute Activity `json:"last_minute"`
	// true: the node is stopping and hands its shards over.
	Leaving bool `json:"leaving"`
	// Number of live calls on the node, inbound and outbound.
	LiveCalls int64 `json:"live_calls"`
	// The type of the resource.
	Object string `json:"object"`
	// Whether all shards of the node are ready, as in /readyz. true for a node without shards.
	Ready bool `json:"ready"`
	// Why the node is not ready.
	Reason string `json:"reason,omitzero"`
	// Number of shards of the node. 0: the node is on standby or has just joined.
	Shards int64 `json:"shards"`
	// Number of shards of the node that did not answer. The other numbers do not include them.
	ShardsSilent int64 `json:"shards_silent"`
	// host:port for SIP.
	SIP string `json:"sip,omitzero"`
	// Start of the process by the clock of the node.
	StartedAt *time.Time `json:"started_at,omitempty"`
	// Version of the program.
	Version string `json:"version,omitzero"`
	// Number of workspaces of the node.
	Workspaces int64 `json:"workspaces"`
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
	// Share of the calls that started within the last minute, 0 to 1.
	Calls float64 `json:"calls"`
	// Share of the commits to the store, 0 to 1.
	Commits float64 `json:"commits"`
	// Share of the API requests, 0 to 1.
	Requests float64 `json:"requests"`
}

// TrunkCounts is part of a response.
type TrunkCounts struct {
	// Number of trunks with a failed target, a back-off or an active alarm.
	Degraded int64 `json:"degraded"`
	// Number of trunks whose targets have all failed.
	Down int64 `json:"down"`
	// Number of trunks that work or were not used yet.
	Up int64 `json:"up"`
}

// UncertainAction is part of a response.
type UncertainAction struct {
	// Time of creation. For a reminder: the time when it was due.
	At time.Time `json:"at"`
	// The environment: live or test.
	Environment string `json:"environment"`
	// The id of the call, campaign, bulk job or message. For a reminder: the id of the appointment.
	ID string `json:"id"`
	// The kind of action. call: it was live at the time of the backup. campaign: it was running or scheduled, and is now paused. bulk: a job of calls or messages that had not ended. message: the message or its answer was queued. reminder: it was due after the backup.
	Kind string `json:"kind"`
	// The phone number of the recipient, if there is one.
	To string `json:"to,omitzero"`
	// The workspace of the action.
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

// UnhealthyTrunk is part of a response.
type UnhealthyTrunk struct {
	// live or test. The environments are separate.
	Environment string `json:"environment"`
	// Unique id. It never changes and is never reused.
	ID string `json:"id"`
	// The last error.
	LastError string `json:"last_error,omitzero"`
	// Name for people.
	Name string `json:"name"`
	// degraded: a target failed, the trunk backs off or an alarm is active. down: every target failed. One of degraded, down.
	Status string `json:"status"`
}

// WorkspaceLoad is part of a response.
type WorkspaceLoad struct {
	// Highest number of calls that may start within one minute.
	CallsPerMinute int64  `json:"calls_per_minute"`
	DailySpendCap  *Money `json:"daily_spend_cap"`
	// Unique id. It never changes and is never reused.
	ID string `json:"id"`
	// Activity of the workspace within the last minute.
	LastMinute Activity `json:"last_minute"`
	// Concurrent calls of the workspace.
	Lines ConcurrentCalls `json:"lines"`
	// Number of live calls, inbound and outbound.
	LiveCalls int64 `json:"live_calls"`
	// Name for people.
	Name string `json:"name"`
	// The type of the resource.
	Object string `json:"object"`
	// The plan: starter, professional or enterprise. One of starter, professional, enterprise.
	Plan string `json:"plan"`
	// Share of the workspace in the activity of all workspaces.
	Share Shares `json:"share"`
	// true: the workspace did not answer within two seconds. Unknown numbers are 0.
	Silent bool `json:"silent"`
	// false: spent_today is incomplete. The amounts before the start of the service are still being read, or the workspace did not answer.
	SpentKnown bool `json:"spent_known"`
	// Cost of today's outbound calls of the workspace. The day is in UTC.
	SpentToday Money `json:"spent_today"`
	// Trunks that are degraded or down, at most 20. Trunks that are down come first.
	Troubles []UnhealthyTrunk `json:"troubles"`
	// Number of trunks of the workspace by health.
	Trunks TrunkCounts `json:"trunks"`
}

// WorkspaceShare is part of a response.
type WorkspaceShare struct {
	// Share of the calls that started within the last minute, 0 to 1.
	Calls float64 `json:"calls"`
	// Share of the commits to the store, 0 to 1.
	Commits float64 `json:"commits"`
	// Name for people.
	Name string `json:"name"`
	// Share of the API requests, 0 to 1.
	Requests float64 `json:"requests"`
	// The workspace of the resource.
	WorkspaceID string `json:"workspace_id"`
}
