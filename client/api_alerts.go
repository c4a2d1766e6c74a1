// Code generated from the OpenAPI document of the service. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/url"
	"strconv"
	"time"
)

// ListAlertRulesQuery holds the query parameters of ListAlertRules. Zero values are not sent.
type ListAlertRulesQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the previous page.
	Cursor string
	// Only resources created after this time.
	CreatedAfter time.Time
	// Only resources created before this time.
	CreatedBefore time.Time
}

func (q *ListAlertRulesQuery) values() url.Values {
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

// ListAlertRules: List alert rules.
//
// GET /v1/alert-rules
func (c *Client) ListAlertRules(ctx context.Context, q ListAlertRulesQuery, options ...Option) (*ListAlertRule, error) {
	return send[ListAlertRule](ctx, c, "GET", "/v1/alert-rules", q.values(), nil, options)
}

// AllAlertRules iterates over all pages of ListAlertRules. It ends after the first error.
func (c *Client) AllAlertRules(ctx context.Context, q ListAlertRulesQuery, options ...Option) iter.Seq2[AlertRule, error] {
	return pages(&q.Cursor, func() ([]AlertRule, *string, error) {
		l, err := c.ListAlertRules(ctx, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// CreateAlertRule: Create an alert rule.
//
// POST /v1/alert-rules
//
// Needs an API key or a dashboard session. Operators only, like all alert operations. The rule is evaluated every 15 seconds. When its condition holds, Callboard sends alert.firing to the webhooks of the workspace whose key created the rule, and a mail to each address; when the condition has not held for five minutes, it sends alert.resolved. Each notification is sent once, also across restarts.
func (c *Client) CreateAlertRule(ctx context.Context, body *NewAlertRule, options ...Option) (*AlertRule, error) {
	return send[AlertRule](ctx, c, "POST", "/v1/alert-rules", nil, asJSON(body), options)
}

// DeleteAlertRule: Delete an alert rule.
//
// DELETE /v1/alert-rules/{id}
//
// Needs an API key or a dashboard session. Its alerts end without a notification.
func (c *Client) DeleteAlertRule(ctx context.Context, id string, options ...Option) (*Deleted, error) {
	return send[Deleted](ctx, c, "DELETE", "/v1/alert-rules/"+url.PathEscape(id), nil, nil, options)
}

// GetAlertRule: Get an alert rule.
//
// GET /v1/alert-rules/{id}
func (c *Client) GetAlertRule(ctx context.Context, id string, options ...Option) (*AlertRule, error) {
	return send[AlertRule](ctx, c, "GET", "/v1/alert-rules/"+url.PathEscape(id), nil, nil, options)
}

// UpdateAlertRule: Change an alert rule.
//
// PATCH /v1/alert-rules/{id}
//
// Needs an API key or a dashboard session.
func (c *Client) UpdateAlertRule(ctx context.Context, id string, body *AlertRuleUpdate, options ...Option) (*AlertRule, error) {
	return send[AlertRule](ctx, c, "PATCH", "/v1/alert-rules/"+url.PathEscape(id), nil, asJSON(body), options)
}

// TestAlertRule: Send test notifications of an alert rule.
//
// POST /v1/alert-rules/{id}/test
//
// Sends a test alert.firing to the webhooks and a mail to each address. The response has the answers of the mail server.
func (c *Client) TestAlertRule(ctx context.Context, id string, options ...Option) (*AlertTest, error) {
	return send[AlertTest](ctx, c, "POST", "/v1/alert-rules/"+url.PathEscape(id)+"/test", nil, nil, options)
}

// ListAlertsQuery holds the query parameters of ListAlerts. Zero values are not sent.
type ListAlertsQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the previous page.
	Cursor string
	// Only resources created after this time.
	CreatedAfter time.Time
	// Only resources created before this time.
	CreatedBefore time.Time
}

func (q *ListAlertsQuery) values() url.Values {
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

// ListAlerts: List current alerts.
//
// GET /v1/alerts
//
// Lists alerts whose condition holds. Ended alerts are in the events.
func (c *Client) ListAlerts(ctx context.Context, q ListAlertsQuery, options ...Option) (*ListAlert, error) {
	return send[ListAlert](ctx, c, "GET", "/v1/alerts", q.values(), nil, options)
}

// AllAlerts iterates over all pages of ListAlerts. It ends after the first error.
func (c *Client) AllAlerts(ctx context.Context, q ListAlertsQuery, options ...Option) iter.Seq2[Alert, error] {
	return pages(&q.Cursor, func() ([]Alert, *string, error) {
		l, err := c.ListAlerts(ctx, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// Alert is part of a response.
type Alert struct {
	// The threshold of the rule.
	Bound float64 `json:"bound"`
	// For answer_rate: number of calls.
	Count int64 `json:"count"`
	// When the resource was created.
	CreatedAt time.Time `json:"created_at"`
	// live or test. The environments are separate.
	Environment string `json:"environment"`
	// When the notification was sent.
	FiredAt *time.Time `json:"fired_at"`
	// Unique id. It never changes and is never reused.
	ID string `json:"id"`
	// answer_rate, trunk_down, spend or endpoint_disabled. One of answer_rate, trunk_down, spend, endpoint_disabled.
	Kind string `json:"kind"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata map[string]string `json:"metadata,omitzero"`
	// The type of the resource.
	Object string `json:"object"`
	// The workspace of the alert; missing: all workspaces together.
	OfWorkspaceID string `json:"of_workspace_id,omitzero"`
	// The id of the rule.
	RuleID string `json:"rule_id"`
	// Name of the rule.
	RuleName string `json:"rule_name"`
	// Since when the condition holds.
	Since time.Time `json:"since"`
	// pending: the condition holds, but not long enough yet. firing: a notification was sent. One of pending, firing.
	Status string `json:"status"`
	// The trunk, endpoint or workspace of the alert; all: all workspaces together.
	Subject string `json:"subject"`
	// Name of the subject.
	SubjectName string `json:"subject_name"`
	// When the resource was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// The last measured value: a share, 0 to 1.
	Value float64 `json:"value"`
	// Since when the condition does not hold. The alert ends after five minutes.
	WellSince *time.Time `json:"well_since"`
	// The workspace of the resource.
	WorkspaceID string `json:"workspace_id"`
}

// AlertMailTest is part of a response.
type AlertMailTest struct {
	// Error, if the mail was not accepted.
	Error string `json:"error,omitzero"`
	// true: the mail server has accepted the mail.
	Sent bool `json:"sent"`
	// The address.
	To string `json:"to"`
}

// AlertRule is part of a response.
type AlertRule struct {
	// For answer_rate: the minimum share of answered calls, 0 to 1.
	Below float64 `json:"below,omitzero"`
	// When the resource was created.
	CreatedAt time.Time `json:"created_at"`
	// Mail addresses that get alerts.
	Emails []string `json:"emails"`
	// live or test. The environments are separate.
	Environment string `json:"environment"`
	// Unique id. It never changes and is never reused.
	ID string `json:"id"`
	// answer_rate, trunk_down, spend or endpoint_disabled. One of answer_rate, trunk_down, spend, endpoint_disabled.
	Kind string `json:"kind"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata map[string]string `json:"metadata,omitzero"`
	// For answer_rate: the minimum number of calls for an alert.
	MinCalls int64 `json:"min_calls,omitzero"`
	// For answer_rate: the period of counted calls. For trunk_down: how long the trunk must be down.
	Minutes int64 `json:"minutes,omitzero"`
	// Name for people.
	Name string `json:"name"`
	// The type of the resource.
	Object string `json:"object"`
	// true if the rule is not evaluated.
	Paused bool `json:"paused"`
	// For spend: the used share of daily_spend_cap, 0 to 1.
	Share float64 `json:"share,omitzero"`
	// true if all workspaces are evaluated together.
	Together bool `json:"together"`
	// When the resource was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// The watched workspace; missing: every workspace of the installation, each separately.
	WatchesWorkspaceID string `json:"watches_workspace_id,omitzero"`
	// The workspace of the resource.
	WorkspaceID string `json:"workspace_id"`
}

// AlertRuleUpdate is part of a request.
type AlertRuleUpdate struct {
	// For answer_rate: the minimum share of answered calls, 0 to 1.
	Below Optional[float64] `json:"below,omitzero"`
	// Mail addresses, at most ten. They require the setting smtp_addr.
	Emails Optional[[]string] `json:"emails,omitzero"`
	// Condition of the rule; it cannot change. answer_rate: the share of answered calls is lower than below, among at least min_calls outbound calls of the last minutes. trunk_down: for minutes every target of a trunk is down, or its registration fails. spend: share of daily_spend_cap is used. endpoint_disabled: a webhook endpoint was disabled after failures. One of answer_rate, trunk_down, spend, endpoint_disabled.
	Kind *string `json:"kind,omitempty"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata Optional[map[string]*string] `json:"metadata,omitzero"`
	// For answer_rate: the minimum number of calls for an alert. Default: 20.
	MinCalls Optional[int64] `json:"min_calls,omitzero"`
	// 1 to 60. For answer_rate: the period of counted calls, by default 15. For trunk_down: how long the trunk must be down, by default 2.
	Minutes Optional[int64] `json:"minutes,omitzero"`
	// Name for people.
	Name *string `json:"name,omitempty"`
	// true: the rule is not evaluated.
	Paused Optional[bool] `json:"paused,omitzero"`
	// For spend: the used share of the cap, 0 to 1.
	Share Optional[float64] `json:"share,omitzero"`
	// true: all workspaces are evaluated together. For answer_rate and spend.
	Together Optional[bool] `json:"together,omitzero"`
	// The watched workspace. Empty: every workspace of the installation, each separately.
	WatchesWorkspaceID Optional[string] `json:"watches_workspace_id,omitzero"`
}

// AlertTest is part of a response.
type AlertTest struct {
	// Id of the test alert, which is not stored.
	AlertID string `json:"alert_id"`
	// Id of the committed event alert.firing. It is delivered to the webhooks that subscribe to it.
	EventID string `json:"event_id"`
	// One result for each address.
	Mails []AlertMailTest `json:"mails"`
}

// ListAlert is part of a response.
type ListAlert struct {
	// The resources of this page.
	Data []Alert `json:"data"`
	// true if there is another page.
	HasMore bool `json:"has_more"`
	// Cursor of the next page; null on the last page.
	NextCursor *string `json:"next_cursor"`
	// The type of the resource. One of list.
	Object string `json:"object"`
}

// ListAlertRule is part of a response.
type ListAlertRule struct {
	// The resources of this page.
	Data []AlertRule `json:"data"`
	// true if there is another page.
	HasMore bool `json:"has_more"`
	// Cursor of the next page; null on the last page.
	NextCursor *string `json:"next_cursor"`
	// The type of the resource. One of list.
	Object string `json:"object"`
}

// NewAlertRule is part of a request.
type NewAlertRule struct {
	// For answer_rate: the minimum share of answered calls, 0 to 1.
	Below *float64 `json:"below,omitempty"`
	// Mail addresses, at most ten. They require the setting smtp_addr.
	Emails []string `json:"emails,omitzero"`
	// Condition of the rule; it cannot change. answer_rate: the share of answered calls is lower than below, among at least min_calls outbound calls of the last minutes. trunk_down: for minutes every target of a trunk is down, or its registration fails. spend: share of daily_spend_cap is used. endpoint_disabled: a webhook endpoint was disabled after failures. One of answer_rate, trunk_down, spend, endpoint_disabled.
	Kind string `json:"kind"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata map[string]string `json:"metadata,omitzero"`
	// For answer_rate: the minimum number of calls for an alert. Default: 20.
	MinCalls *int64 `json:"min_calls,omitempty"`
	// 1 to 60. For answer_rate: the period of counted calls, by default 15. For trunk_down: how long the trunk must be down, by default 2.
	Minutes *int64 `json:"minutes,omitempty"`
	// Name for people.
	Name string `json:"name"`
	// true: the rule is not evaluated.
	Paused *bool `json:"paused,omitempty"`
	// For spend: the used share of the cap, 0 to 1.
	Share *float64 `json:"share,omitempty"`
	// true: all workspaces are evaluated together. For answer_rate and spend.
	Together *bool `json:"together,omitempty"`
	// The watched workspace. Empty: every workspace of the installation, each separately.
	WatchesWorkspaceID *string `json:"watches_workspace_id,omitempty"`
}
