// Code generated from the OpenAPI document of the service. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/url"
	"strconv"
	"time"
)

// ListWebhooksQuery is what ListWebhooks can be asked; what is zero is left out.
type ListWebhooksQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
	// Only what was created after this time.
	CreatedAfter time.Time
	// Only what was created before this time.
	CreatedBefore time.Time
	// Only those that a campaign owns.
	CampaignID string
	// Only those in this state.
	Status string
	// Only those that subscribe to this event.
	Event string
}

func (q *ListWebhooksQuery) values() url.Values {
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
	if q.CampaignID != "" {
		v.Set("campaign_id", q.CampaignID)
	}
	if q.Status != "" {
		v.Set("status", q.Status)
	}
	if q.Event != "" {
		v.Set("event", q.Event)
	}
	return v
}

// ListWebhooks: List endpoints.
//
// GET /v1/webhooks
func (c *Client) ListWebhooks(ctx context.Context, q ListWebhooksQuery, options ...Option) (*ListWebhook, error) {
	return send[ListWebhook](ctx, c, "GET", "/v1/webhooks", q.values(), nil, options)
}

// AllWebhooks walks the pages of ListWebhooks to their end; an error is the last that comes.
func (c *Client) AllWebhooks(ctx context.Context, q ListWebhooksQuery, options ...Option) iter.Seq2[Webhook, error] {
	return pages(&q.Cursor, func() ([]Webhook, *string, error) {
		l, err := c.ListWebhooks(ctx, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// CreateWebhook: Register an endpoint.
//
// POST /v1/webhooks
//
// Needs an API key or a dashboard session. The answer holds the secret, this once.
func (c *Client) CreateWebhook(ctx context.Context, body *NewWebhook, options ...Option) (*Webhook, error) {
	return send[Webhook](ctx, c, "POST", "/v1/webhooks", nil, asJSON(body), options)
}

// DeleteWebhook: Remove an endpoint.
//
// DELETE /v1/webhooks/{id}
//
// Needs an API key or a dashboard session.
func (c *Client) DeleteWebhook(ctx context.Context, id string, options ...Option) (*Deleted, error) {
	return send[Deleted](ctx, c, "DELETE", "/v1/webhooks/"+url.PathEscape(id), nil, nil, options)
}

// GetWebhook: Get an endpoint.
//
// GET /v1/webhooks/{id}
func (c *Client) GetWebhook(ctx context.Context, id string, options ...Option) (*Webhook, error) {
	return send[Webhook](ctx, c, "GET", "/v1/webhooks/"+url.PathEscape(id), nil, nil, options)
}

// UpdateWebhook: Change an endpoint.
//
// PATCH /v1/webhooks/{id}
//
// Needs an API key or a dashboard session. The answer to a change of the secret holds it, this once.
func (c *Client) UpdateWebhook(ctx context.Context, id string, body *WebhookUpdate, options ...Option) (*Webhook, error) {
	return send[Webhook](ctx, c, "PATCH", "/v1/webhooks/"+url.PathEscape(id), nil, asJSON(body), options)
}

// GetFailedEventsQuery is what GetFailedEvents can be asked; what is zero is left out.
type GetFailedEventsQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
	// Only what was created after this time.
	CreatedAfter time.Time
	// Only what was created before this time.
	CreatedBefore time.Time
}

func (q *GetFailedEventsQuery) values() url.Values {
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

// GetFailedEvents: List the events that were given up.
//
// GET /v1/webhooks/{id}/failed
func (c *Client) GetFailedEvents(ctx context.Context, id string, q GetFailedEventsQuery, options ...Option) (*ListFailedEvent, error) {
	return send[ListFailedEvent](ctx, c, "GET", "/v1/webhooks/"+url.PathEscape(id)+"/failed", q.values(), nil, options)
}

// AllFailedEvents walks the pages of GetFailedEvents to their end; an error is the last that comes.
func (c *Client) AllFailedEvents(ctx context.Context, id string, q GetFailedEventsQuery, options ...Option) iter.Seq2[FailedEvent, error] {
	return pages(&q.Cursor, func() ([]FailedEvent, *string, error) {
		l, err := c.GetFailedEvents(ctx, id, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// GetWebhookLogsQuery is what GetWebhookLogs can be asked; what is zero is left out.
type GetWebhookLogsQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
	// Only what was created after this time.
	CreatedAfter time.Time
	// Only what was created before this time.
	CreatedBefore time.Time
}

func (q *GetWebhookLogsQuery) values() url.Values {
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

// GetWebhookLogs: Read the log of deliveries.
//
// GET /v1/webhooks/{id}/logs
func (c *Client) GetWebhookLogs(ctx context.Context, id string, q GetWebhookLogsQuery, options ...Option) (*Logs, error) {
	return send[Logs](ctx, c, "GET", "/v1/webhooks/"+url.PathEscape(id)+"/logs", q.values(), nil, options)
}

// PauseWebhook: Hold the deliveries back.
//
// POST /v1/webhooks/{id}/pause
//
// Events queue for 72 hours.
func (c *Client) PauseWebhook(ctx context.Context, id string, options ...Option) (*Webhook, error) {
	return send[Webhook](ctx, c, "POST", "/v1/webhooks/"+url.PathEscape(id)+"/pause", nil, nil, options)
}

// ReplayEvents: Deliver events again.
//
// POST /v1/webhooks/{id}/replay
//
// Either event_ids (100 at most), or what the endpoint subscribes to between from and to, of some types: about 1000 at most (what was made at one moment stays together), more tells that there are others. Events keep id and created_at, come with X-Svc-Replay: true and have all five attempts again; those that are on their way already go on as they are.
func (c *Client) ReplayEvents(ctx context.Context, id string, body *ReplayRequest, options ...Option) (*Replay, error) {
	return send[Replay](ctx, c, "POST", "/v1/webhooks/"+url.PathEscape(id)+"/replay", nil, asJSON(body), options)
}

// ResumeWebhook: Deliver again.
//
// POST /v1/webhooks/{id}/resume
//
// What queued goes out in order.
func (c *Client) ResumeWebhook(ctx context.Context, id string, options ...Option) (*Webhook, error) {
	return send[Webhook](ctx, c, "POST", "/v1/webhooks/"+url.PathEscape(id)+"/resume", nil, nil, options)
}

// TestWebhook: Send a test event and wait for the answer.
//
// POST /v1/webhooks/{id}/test
func (c *Client) TestWebhook(ctx context.Context, id string, body *TestRequest, options ...Option) (*TestResult, error) {
	return send[TestResult](ctx, c, "POST", "/v1/webhooks/"+url.PathEscape(id)+"/test", nil, asJSON(body), options)
}

// EventFilters is sent to the service.
type EventFilters struct {
	// Agents that the event is about, or whose call it is about.
	AgentIDs []string `json:"agent_ids,omitzero"`
	// Campaigns that the event is about, or whose call it is about.
	CampaignIDs []string `json:"campaign_ids,omitzero"`
	// inbound, outbound: which way the call goes.
	Directions []string `json:"directions,omitzero"`
	// Telephone numbers, E.164, one of which the call or message comes from or goes to.
	Numbers []string `json:"numbers,omitzero"`
}

// EventFiltersUpdate is sent to the service.
type EventFiltersUpdate struct {
	// Agents that the event is about, or whose call it is about.
	AgentIDs Optional[[]string] `json:"agent_ids,omitzero"`
	// Campaigns that the event is about, or whose call it is about.
	CampaignIDs Optional[[]string] `json:"campaign_ids,omitzero"`
	// inbound, outbound: which way the call goes.
	Directions Optional[[]string] `json:"directions,omitzero"`
	// Telephone numbers, E.164, one of which the call or message comes from or goes to.
	Numbers Optional[[]string] `json:"numbers,omitzero"`
}

// FailedEvent is an answer of the service, or a part of one.
type FailedEvent struct {
	Attempts int64 `json:"attempts"`
	// When it was made.
	CreatedAt     time.Time  `json:"created_at"`
	EventID       string     `json:"event_id"`
	EventType     string     `json:"event_type"`
	LastAttemptAt *time.Time `json:"last_attempt_at"`
	LastError     string     `json:"last_error"`
}

// ListFailedEvent is an answer of the service, or a part of one.
type ListFailedEvent struct {
	// The rows of this page.
	Data []FailedEvent `json:"data"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as cursor for the next page; null at the end.
	NextCursor *string `json:"next_cursor"`
	// What kind of resource this is. One of list.
	Object string `json:"object"`
}

// ListWebhook is an answer of the service, or a part of one.
type ListWebhook struct {
	// The rows of this page.
	Data []Webhook `json:"data"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as cursor for the next page; null at the end.
	NextCursor *string `json:"next_cursor"`
	// What kind of resource this is. One of list.
	Object string `json:"object"`
}

// LogEntry is an answer of the service, or a part of one.
type LogEntry struct {
	// When it was made.
	CreatedAt      time.Time  `json:"created_at"`
	DeliveredAt    *time.Time `json:"delivered_at"`
	Error          string     `json:"error,omitzero"`
	EventID        string     `json:"event_id"`
	EventType      string     `json:"event_type"`
	LastRetryAt    *time.Time `json:"last_retry_at,omitempty"`
	NextAttemptAt  *time.Time `json:"next_attempt_at,omitempty"`
	ResponseStatus int64      `json:"response_status"`
	ResponseTimeMs int64      `json:"response_time_ms"`
	Retries        int64      `json:"retries,omitzero"`
	// One of queued, retrying, delivered, failed.
	Status string `json:"status"`
}

// Logs is an answer of the service, or a part of one.
type Logs struct {
	// Whether there is another page.
	HasMore bool       `json:"has_more"`
	Logs    []LogEntry `json:"logs"`
	// The cursor of the next page; null on the last.
	NextCursor *string `json:"next_cursor"`
}

// NewWebhook is sent to the service.
type NewWebhook struct {
	// Event names, a category such as call.*, or *.
	Events []string `json:"events"`
	// Of these events, only those that pass: of each list one entry.
	Filters *EventFilters `json:"filters,omitempty"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// With test keys only. Divides the delays before retries (30 seconds, 2 minutes, 10 minutes, 1 hour): 1440 makes all five attempts within 3 seconds. Default: 1.
	RetryTimeFactor *int64 `json:"retry_time_factor,omitempty"`
	// Signs the deliveries; made here unless said.
	Secret *string `json:"secret,omitempty"`
	// https only.
	URL string `json:"url"`
}

// Replay is an answer of the service, or a part of one.
type Replay struct {
	// The events that are delivered again.
	Accepted []string `json:"accepted"`
	// Nothing was delivered: it was only asked.
	DryRun bool `json:"dry_run"`
	// There may be more events between from and to: go on from next_from.
	More bool `json:"more"`
	// With more: from, for the next request.
	NextFrom *time.Time `json:"next_from,omitempty"`
	// Those that there are not, or not any more.
	NotFound []string `json:"not_found"`
}

// ReplayRequest is sent to the service.
type ReplayRequest struct {
	// Only tell which would be delivered.
	DryRun *bool `json:"dry_run,omitempty"`
	// Which; or from and to.
	EventIDs []string `json:"event_ids,omitzero"`
	// What was made at this time or later.
	From *time.Time `json:"from,omitempty"`
	// What was made before this time; now unless said.
	To *time.Time `json:"to,omitempty"`
	// With from: event names, or a category such as call.*.
	Types []string `json:"types,omitzero"`
}

// TestRequest is sent to the service.
type TestRequest struct {
	// A sample of this event instead of webhook.test.
	EventType *string `json:"event_type,omitempty"`
}

// TestResult is an answer of the service, or a part of one.
type TestResult struct {
	Delivered      bool   `json:"delivered"`
	Error          string `json:"error,omitzero"`
	EventID        string `json:"event_id"`
	ResponseStatus int64  `json:"response_status"`
	ResponseTimeMs int64  `json:"response_time_ms"`
}

// Webhook is an answer of the service, or a part of one.
type Webhook struct {
	// Of which campaign it is, where it is of one.
	CampaignID string `json:"campaign_id,omitzero"`
	// When it was made.
	CreatedAt time.Time `json:"created_at"`
	// The credential that created it.
	CreatedBy  *Creator   `json:"created_by,omitempty"`
	DisabledAt *time.Time `json:"disabled_at,omitempty"`
	// Why it was disabled: gone (it answered 410), failing (no delivery succeeded for three days).
	DisabledReason string `json:"disabled_reason,omitzero"`
	// live or test; the two never see each other.
	Environment string   `json:"environment"`
	Events      []string `json:"events"`
	// The first of the failed attempts since which none succeeded.
	FailingSince *time.Time `json:"failing_since,omitempty"`
	FailureCount int64      `json:"failure_count"`
	// Of these events, only those that pass.
	Filters *EventFilters `json:"filters,omitempty"`
	// Names it; never changes and is never given again.
	ID             string     `json:"id"`
	LastDeliveryAt *time.Time `json:"last_delivery_at"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// When it does; until then X-Svc-Signature-Next carries its signature.
	NextSecretAt *time.Time `json:"next_secret_at,omitempty"`
	// Of the secret that takes over.
	NextSecretHint string `json:"next_secret_hint,omitzero"`
	// What kind of resource this is.
	Object string `json:"object"`
	// Since when it is paused. What was queued then is given up 72 hours later, what came since 72 hours after it came.
	PausedAt *time.Time `json:"paused_at,omitempty"`
	// How much faster the retries follow each other, in the test environment. Default: 1.
	RetryTimeFactor int64  `json:"retry_time_factor,omitzero"`
	Secret          string `json:"secret,omitzero"`
	SecretHint      string `json:"secret_hint"`
	// One of active, paused, disabled.
	Status string `json:"status"`
	// When it was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	URL       string    `json:"url"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}

// WebhookUpdate is sent to the service.
type WebhookUpdate struct {
	// Event names, a category such as call.*, or *.
	Events []string `json:"events,omitzero"`
	// Of these events, only those that pass: of each list one entry.
	Filters Optional[EventFiltersUpdate] `json:"filters,omitzero"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata Optional[map[string]*string] `json:"metadata,omitzero"`
	// With test keys only. Divides the delays before retries; with null they are the documented ones again.
	RetryTimeFactor Optional[int64] `json:"retry_time_factor,omitzero"`
	// Another secret. With null Callboard makes one. The answer shows it, this once.
	Secret Optional[string] `json:"secret,omitzero"`
	// With secret: how long the old one goes on signing X-Svc-Signature, while X-Svc-Signature-Next is by the new one; 24 unless said, 0: not at all.
	SecretOverlapHours Optional[int64] `json:"secret_overlap_hours,omitzero"`
	// https only.
	URL *string `json:"url,omitempty"`
}
