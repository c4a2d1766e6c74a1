// Code generated from the OpenAPI document of the service. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/url"
	"strconv"
	"time"
)

// ListWebhooksQuery holds the query parameters of ListWebhooks. Zero values are not sent.
type ListWebhooksQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the previous page.
	Cursor string
	// Only resources created after this time.
	CreatedAfter time.Time
	// Only resources created before this time.
	CreatedBefore time.Time
	// Filters by the campaign that owns the endpoint.
	CampaignID string
	// Filters by status.
	Status string
	// Filters by subscribed event type.
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

// AllWebhooks iterates over all pages of ListWebhooks. It ends after the first error.
func (c *Client) AllWebhooks(ctx context.Context, q ListWebhooksQuery, options ...Option) iter.Seq2[Webhook, error] {
	return pages(&q.Cursor, func() ([]Webhook, *string, error) {
		l, err := c.ListWebhooks(ctx, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// CreateWebhook: Create a webhook endpoint.
//
// POST /v1/webhooks
//
// Needs an API key or a dashboard session. Only this response contains the secret.
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

// UpdateWebhook: Change a webhook endpoint.
//
// PATCH /v1/webhooks/{id}
//
// Needs an API key or a dashboard session. Only the response to a change of the secret contains the secret.
func (c *Client) UpdateWebhook(ctx context.Context, id string, body *WebhookUpdate, options ...Option) (*Webhook, error) {
	return send[Webhook](ctx, c, "PATCH", "/v1/webhooks/"+url.PathEscape(id), nil, asJSON(body), options)
}

// GetFailedEventsQuery holds the query parameters of GetFailedEvents. Zero values are not sent.
type GetFailedEventsQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the previous page.
	Cursor string
	// Only resources created after this time.
	CreatedAfter time.Time
	// Only resources created before this time.
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

// GetFailedEvents: List events whose delivery failed finally.
//
// GET /v1/webhooks/{id}/failed
func (c *Client) GetFailedEvents(ctx context.Context, id string, q GetFailedEventsQuery, options ...Option) (*ListFailedEvent, error) {
	return send[ListFailedEvent](ctx, c, "GET", "/v1/webhooks/"+url.PathEscape(id)+"/failed", q.values(), nil, options)
}

// AllFailedEvents iterates over all pages of GetFailedEvents. It ends after the first error.
func (c *Client) AllFailedEvents(ctx context.Context, id string, q GetFailedEventsQuery, options ...Option) iter.Seq2[FailedEvent, error] {
	return pages(&q.Cursor, func() ([]FailedEvent, *string, error) {
		l, err := c.GetFailedEvents(ctx, id, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// GetWebhookLogsQuery holds the query parameters of GetWebhookLogs. Zero values are not sent.
type GetWebhookLogsQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the previous page.
	Cursor string
	// Only resources created after this time.
	CreatedAfter time.Time
	// Only resources created before this time.
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

// GetWebhookLogs: List deliveries.
//
// GET /v1/webhooks/{id}/logs
func (c *Client) GetWebhookLogs(ctx context.Context, id string, q GetWebhookLogsQuery, options ...Option) (*Logs, error) {
	return send[Logs](ctx, c, "GET", "/v1/webhooks/"+url.PathEscape(id)+"/logs", q.values(), nil, options)
}

// PauseWebhook: Pause deliveries.
//
// POST /v1/webhooks/{id}/pause
//
// Events are queued for up to 72 hours.
func (c *Client) PauseWebhook(ctx context.Context, id string, options ...Option) (*Webhook, error) {
	return send[Webhook](ctx, c, "POST", "/v1/webhooks/"+url.PathEscape(id)+"/pause", nil, nil, options)
}

// ReplayEvents: Deliver events again.
//
// POST /v1/webhooks/{id}/replay
//
// Delivers the events in event_ids (at most 100), or the subscribed events between from and to, optionally of some types. One request delivers about 1000 events; more reports that others remain. Events keep id and created_at, have the header X-Svc-Replay: true and get all five attempts again. Events with a pending delivery are not delivered twice.
func (c *Client) ReplayEvents(ctx context.Context, id string, body *ReplayRequest, options ...Option) (*Replay, error) {
	return send[Replay](ctx, c, "POST", "/v1/webhooks/"+url.PathEscape(id)+"/replay", nil, asJSON(body), options)
}

// ResumeWebhook: Resume deliveries.
//
// POST /v1/webhooks/{id}/resume
//
// Queued events are delivered in order.
func (c *Client) ResumeWebhook(ctx context.Context, id string, options ...Option) (*Webhook, error) {
	return send[Webhook](ctx, c, "POST", "/v1/webhooks/"+url.PathEscape(id)+"/resume", nil, nil, options)
}

// TestWebhook: Send a test event and wait for the response.
//
// POST /v1/webhooks/{id}/test
func (c *Client) TestWebhook(ctx context.Context, id string, body *TestRequest, options ...Option) (*TestResult, error) {
	return send[TestResult](ctx, c, "POST", "/v1/webhooks/"+url.PathEscape(id)+"/test", nil, asJSON(body), options)
}

// EventFilters is part of a request.
type EventFilters struct {
	// Agents of the event or of its call.
	AgentIDs []string `json:"agent_ids,omitzero"`
	// Campaigns of the event or of its call.
	CampaignIDs []string `json:"campaign_ids,omitzero"`
	// Directions of the call: inbound, outbound.
	Directions []string `json:"directions,omitzero"`
	// Phone numbers in E.164 that the call or message comes from or goes to.
	Numbers []string `json:"numbers,omitzero"`
}

// EventFiltersUpdate is part of a request.
type EventFiltersUpdate struct {
	// Agents of the event or of its call.
	AgentIDs Optional[[]string] `json:"agent_ids,omitzero"`
	// Campaigns of the event or of its call.
	CampaignIDs Optional[[]string] `json:"campaign_ids,omitzero"`
	// Directions of the call: inbound, outbound.
	Directions Optional[[]string] `json:"directions,omitzero"`
	// Phone numbers in E.164 that the call or message comes from or goes to.
	Numbers Optional[[]string] `json:"numbers,omitzero"`
}

// FailedEvent is part of a response.
type FailedEvent struct {
	Attempts int64 `json:"attempts"`
	// When the resource was created.
	CreatedAt     time.Time  `json:"created_at"`
	EventID       string     `json:"event_id"`
	EventType     string     `json:"event_type"`
	LastAttemptAt *time.Time `json:"last_attempt_at"`
	LastError     string     `json:"last_error"`
}

// ListFailedEvent is part of a response.
type ListFailedEvent struct {
	// The resources of this page.
	Data []FailedEvent `json:"data"`
	// true if there is another page.
	HasMore bool `json:"has_more"`
	// Cursor of the next page; null on the last page.
	NextCursor *string `json:"next_cursor"`
	// The type of the resource. One of list.
	Object string `json:"object"`
}

// ListWebhook is part of a response.
type ListWebhook struct {
	// The resources of this page.
	Data []Webhook `json:"data"`
	// true if there is another page.
	HasMore bool `json:"has_more"`
	// Cursor of the next page; null on the last page.
	NextCursor *string `json:"next_cursor"`
	// The type of the resource. One of list.
	Object string `json:"object"`
}

// LogEntry is part of a response.
type LogEntry struct {
	// When the resource was created.
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

// Logs is part of a response.
type Logs struct {
	// true if there is another page.
	HasMore bool       `json:"has_more"`
	Logs    []LogEntry `json:"logs"`
	// The cursor of the next page; null on the last.
	NextCursor *string `json:"next_cursor"`
}

// NewWebhook is part of a request.
type NewWebhook struct {
	// Event types, categories such as call.*, or *.
	Events []string `json:"events"`
	// Filters for these events. An event passes if it matches one entry of each list.
	Filters *EventFilters `json:"filters,omitempty"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata map[string]string `json:"metadata,omitzero"`
	// With test keys only. Divides the delays before retries (30 seconds, 2 minutes, 10 minutes, 1 hour): 1440 makes all five attempts within 3 seconds. Default: 1.
	RetryTimeFactor *int64 `json:"retry_time_factor,omitempty"`
	// Secret that signs deliveries. Default: Callboard creates one.
	Secret *string `json:"secret,omitempty"`
	// https only.
	URL string `json:"url"`
}

// Replay is part of a response.
type Replay struct {
	// Ids of events that are delivered again.
	Accepted []string `json:"accepted"`
	// true if nothing was delivered, because the request set dry_run.
	DryRun bool `json:"dry_run"`
	// true if there may be more events between from and to; continue with next_from.
	More bool `json:"more"`
	// Value of from for the next request, if more is true.
	NextFrom *time.Time `json:"next_from,omitempty"`
	// Ids of events that do not exist or were deleted.
	NotFound []string `json:"not_found"`
}

// ReplayRequest is part of a request.
type ReplayRequest struct {
	// true: only list the events that would be delivered.
	DryRun *bool `json:"dry_run,omitempty"`
	// Ids of events. Set either event_ids or from.
	EventIDs []string `json:"event_ids,omitzero"`
	// Events created at this time or later.
	From *time.Time `json:"from,omitempty"`
	// Events created before this time. Default: now.
	To *time.Time `json:"to,omitempty"`
	// Event types, or categories such as call.*. Only with from.
	Types []string `json:"types,omitzero"`
}

// TestRequest is part of a request.
type TestRequest struct {
	// Event type of the sample to send. Default: webhook.test.
	EventType *string `json:"event_type,omitempty"`
}

// TestResult is part of a response.
type TestResult struct {
	Delivered      bool   `json:"delivered"`
	Error          string `json:"error,omitzero"`
	EventID        string `json:"event_id"`
	ResponseStatus int64  `json:"response_status"`
	ResponseTimeMs int64  `json:"response_time_ms"`
}

// Webhook is part of a response.
type Webhook struct {
	// The id of the campaign, if there is one.
	CampaignID string `json:"campaign_id,omitzero"`
	// When the resource was created.
	CreatedAt time.Time `json:"created_at"`
	// The credential that created it.
	CreatedBy  *Creator   `json:"created_by,omitempty"`
	DisabledAt *time.Time `json:"disabled_at,omitempty"`
	// Why the endpoint was disabled. gone: it answered 410. failing: no delivery succeeded for three days.
	DisabledReason string `json:"disabled_reason,omitzero"`
	// live or test. The environments are separate.
	Environment string   `json:"environment"`
	Events      []string `json:"events"`
	// Time of the first failed attempt after the last success.
	FailingSince *time.Time `json:"failing_since,omitempty"`
	FailureCount int64      `json:"failure_count"`
	// Only events that match every filter are sent.
	Filters *EventFilters `json:"filters,omitempty"`
	// Unique id. It never changes and is never reused.
	ID             string     `json:"id"`
	LastDeliveryAt *time.Time `json:"last_delivery_at"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata map[string]string `json:"metadata,omitzero"`
	// When the next secret replaces the current secret. Until then X-Svc-Signature-Next has its signature.
	NextSecretAt *time.Time `json:"next_secret_at,omitempty"`
	// The last characters of the next secret.
	NextSecretHint string `json:"next_secret_hint,omitzero"`
	// The type of the resource.
	Object string `json:"object"`
	// Start of the pause. Deliveries fail 72 hours after the start of the pause, or 72 hours after their event if that is later.
	PausedAt *time.Time `json:"paused_at,omitempty"`
	// Divides the delays before retries in the test environment. Default: 1.
	RetryTimeFactor int64  `json:"retry_time_factor,omitzero"`
	Secret          string `json:"secret,omitzero"`
	SecretHint      string `json:"secret_hint"`
	// One of active, paused, disabled.
	Status string `json:"status"`
	// When the resource was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	URL       string    `json:"url"`
	// The workspace of the resource.
	WorkspaceID string `json:"workspace_id"`
}

// WebhookUpdate is part of a request.
type WebhookUpdate struct {
	// Event types, categories such as call.*, or *.
	Events []string `json:"events,omitzero"`
	// Filters for these events. An event passes if it matches one entry of each list.
	Filters Optional[EventFiltersUpdate] `json:"filters,omitzero"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata Optional[map[string]*string] `json:"metadata,omitzero"`
	// With test keys only. Divides the delays before retries. null: the documented delays.
	RetryTimeFactor Optional[int64] `json:"retry_time_factor,omitzero"`
	// New secret. null: Callboard creates one. Only this response contains the secret.
	Secret Optional[string] `json:"secret,omitzero"`
	// With secret: how many hours the old secret still signs X-Svc-Signature, while the new one signs X-Svc-Signature-Next. 0: none. Default: 24.
	SecretOverlapHours Optional[int64] `json:"secret_overlap_hours,omitzero"`
	// https only.
	URL *string `json:"url,omitempty"`
}
