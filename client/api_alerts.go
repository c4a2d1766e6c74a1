// Code generated from the OpenAPI document of the service. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/url"
	"strconv"
	"time"
)

// ListAlertRulesQuery is what ListAlertRules can be asked; what is zero is left out.
type ListAlertRulesQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
	// Only what was created after this time.
	CreatedAfter time.Time
	// Only what was created before this time.
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

// AllAlertRules walks the pages of ListAlertRules to their end; an error is the last that comes.
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
// Needs an API key or a dashboard session. Operators only, as all of alerts. It is looked every 15 seconds whether it is so. Once it is, alert.firing is sent to the webhooks of the workspace whose key made the rule, and a mail to each address; once it is well again for five minutes, alert.resolved. Each is told once, also across restarts.
func (c *Client) CreateAlertRule(ctx context.Context, body *NewAlertRule, options ...Option) (*AlertRule, error) {
	return send[AlertRule](ctx, c, "POST", "/v1/alert-rules", nil, asJSON(body), options)
}

// DeleteAlertRule: Delete an alert rule.
//
// DELETE /v1/alert-rules/{id}
//
// Needs an API key or a dashboard session. What it has found is over, and nobody is told of that.
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

// TestAlertRule: Try the ways of an alert rule.
//
// POST /v1/alert-rules/{id}/test
//
// Sends an alert.firing that says it is a test, and a mail to each address, and tells what the mail server said.
func (c *Client) TestAlertRule(ctx context.Context, id string, options ...Option) (*AlertTest, error) {
	return send[AlertTest](ctx, c, "POST", "/v1/alert-rules/"+url.PathEscape(id)+"/test", nil, nil, options)
}

// ListAlertsQuery is what ListAlerts can be asked; what is zero is left out.
type ListAlertsQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
	// Only what was created after this time.
	CreatedAfter time.Time
	// Only what was created before this time.
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

// ListAlerts: List the alerts of now.
//
// GET /v1/alerts
//
// What the rules have found and is so now; what is over is in the events.
func (c *Client) ListAlerts(ctx context.Context, q ListAlertsQuery, options ...Option) (*ListAlert, error) {
	return send[ListAlert](ctx, c, "GET", "/v1/alerts", q.values(), nil, options)
}

// AllAlerts walks the pages of ListAlerts to their end; an error is the last that comes.
func (c *Client) AllAlerts(ctx context.Context, q ListAlertsQuery, options ...Option) iter.Seq2[Alert, error] {
	return pages(&q.Cursor, func() ([]Alert, *string, error) {
		l, err := c.ListAlerts(ctx, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// Alert is an answer of the service, or a part of one.
type Alert struct {
	// The bound of the rule.
	Bound float64 `json:"bound"`
	// Of answer_rate: how many calls there were.
	Count int64 `json:"count"`
	// When it was made.
	CreatedAt time.Time `json:"created_at"`
	// live or test; the two never see each other.
	Environment string `json:"environment"`
	// When somebody was told.
	FiredAt *time.Time `json:"fired_at"`
	// Names it; never changes and is never given again.
	ID string `json:"id"`
	// answer_rate, trunk_down, spend or endpoint_disabled. One of answer_rate, trunk_down, spend, endpoint_disabled.
	Kind string `json:"kind"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// What kind of resource this is.
	Object string `json:"object"`
	// The workspace that it is about; left out: all of them together.
	OfWorkspaceID string `json:"of_workspace_id,omitzero"`
	// The rule that found it.
	RuleID string `json:"rule_id"`
	// Its name.
	RuleName string `json:"rule_name"`
	// Since when it is so.
	Since time.Time `json:"since"`
	// pending: it is so, and not for long enough yet. firing: somebody was told. One of pending, firing.
	Status string `json:"status"`
	// The trunk, the endpoint or the workspace that it is about; all: all workspaces together.
	Subject string `json:"subject"`
	// What somebody has called that.
	SubjectName string `json:"subject_name"`
	// When it was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// What was read when it moved last: a share, 0 to 1.
	Value float64 `json:"value"`
	// Since when it is so no more; it is over after five minutes.
	WellSince *time.Time `json:"well_since"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}

// AlertMailTest is an answer of the service, or a part of one.
type AlertMailTest struct {
	// Why not.
	Error string `json:"error,omitzero"`
	// true: the mail server has taken it.
	Sent bool `json:"sent"`
	// The address.
	To string `json:"to"`
}

// AlertRule is an answer of the service, or a part of one.
type AlertRule struct {
	// Of answer_rate: the share of the calls that are to be answered, 0 to 1.
	Below float64 `json:"below,omitzero"`
	// When it was made.
	CreatedAt time.Time `json:"created_at"`
	// Addresses that are sent a mail.
	Emails []string `json:"emails"`
	// live or test; the two never see each other.
	Environment string `json:"environment"`
	// Names it; never changes and is never given again.
	ID string `json:"id"`
	// answer_rate, trunk_down, spend or endpoint_disabled. One of answer_rate, trunk_down, spend, endpoint_disabled.
	Kind string `json:"kind"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// Of answer_rate: with fewer calls nothing is said.
	MinCalls int64 `json:"min_calls,omitzero"`
	// Of answer_rate: how far back calls count. Of trunk_down: for how long it must be down.
	Minutes int64 `json:"minutes,omitzero"`
	// For people.
	Name string `json:"name"`
	// What kind of resource this is.
	Object string `json:"object"`
	// Nobody looks while it is true.
	Paused bool `json:"paused"`
	// Of spend: the share of the daily spend cap, 0 to 1.
	Share float64 `json:"share,omitzero"`
	// All workspaces as if they were one.
	Together bool `json:"together"`
	// When it was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// The workspace that is watched; left out: each of the install by itself.
	WatchesWorkspaceID string `json:"watches_workspace_id,omitzero"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}

// AlertRuleUpdate is sent to the service.
type AlertRuleUpdate struct {
	// Of answer_rate: the share of the calls, 0 to 1.
	Below Optional[float64] `json:"below,omitzero"`
	// Addresses that are sent a mail, ten at most; it takes smtp_addr of the service.
	Emails Optional[[]string] `json:"emails,omitzero"`
	// What is looked for; it stays as the rule was made. answer_rate: below of at least min_calls outbound calls of the last minutes were answered. trunk_down: every target of a trunk is out, or its registration failed, for minutes. spend: share of the daily_spend_cap is used up. endpoint_disabled: a webhook endpoint was disabled because it failed. One of answer_rate, trunk_down, spend, endpoint_disabled.
	Kind *string `json:"kind,omitempty"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata Optional[map[string]*string] `json:"metadata,omitzero"`
	// Of answer_rate: with fewer calls nothing is said; 20 where it is left out.
	MinCalls Optional[int64] `json:"min_calls,omitzero"`
	// 1 to 60. Of answer_rate: how far back calls count, 15 where it is left out. Of trunk_down: for how long it must be down, 2 where it is left out.
	Minutes Optional[int64] `json:"minutes,omitzero"`
	// For people.
	Name *string `json:"name,omitempty"`
	// true: nobody looks.
	Paused Optional[bool] `json:"paused,omitzero"`
	// Of spend: the share of the cap, 0 to 1.
	Share Optional[float64] `json:"share,omitzero"`
	// Of answer_rate and spend: all workspaces as if they were one.
	Together Optional[bool] `json:"together,omitzero"`
	// The workspace that is watched; empty: each of the install by itself.
	WatchesWorkspaceID Optional[string] `json:"watches_workspace_id,omitzero"`
}

// AlertTest is an answer of the service, or a part of one.
type AlertTest struct {
	// Of the alert that is none.
	AlertID string `json:"alert_id"`
	// The alert.firing that was committed: webhooks that take it are on their way.
	EventID string `json:"event_id"`
	// One for each address.
	Mails []AlertMailTest `json:"mails"`
}

// ListAlert is an answer of the service, or a part of one.
type ListAlert struct {
	// The rows of this page.
	Data []Alert `json:"data"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as cursor for the next page; null at the end.
	NextCursor *string `json:"next_cursor"`
	// What kind of resource this is. One of list.
	Object string `json:"object"`
}

// ListAlertRule is an answer of the service, or a part of one.
type ListAlertRule struct {
	// The rows of this page.
	Data []AlertRule `json:"data"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as cursor for the next page; null at the end.
	NextCursor *string `json:"next_cursor"`
	// What kind of resource this is. One of list.
	Object string `json:"object"`
}

// NewAlertRule is sent to the service.
type NewAlertRule struct {
	// Of answer_rate: the share of the calls, 0 to 1.
	Below *float64 `json:"below,omitempty"`
	// Addresses that are sent a mail, ten at most; it takes smtp_addr of the service.
	Emails []string `json:"emails,omitzero"`
	// What is looked for; it stays as the rule was made. answer_rate: below of at least min_calls outbound calls of the last minutes were answered. trunk_down: every target of a trunk is out, or its registration failed, for minutes. spend: share of the daily_spend_cap is used up. endpoint_disabled: a webhook endpoint was disabled because it failed. One of answer_rate, trunk_down, spend, endpoint_disabled.
	Kind string `json:"kind"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// Of answer_rate: with fewer calls nothing is said; 20 where it is left out.
	MinCalls *int64 `json:"min_calls,omitempty"`
	// 1 to 60. Of answer_rate: how far back calls count, 15 where it is left out. Of trunk_down: for how long it must be down, 2 where it is left out.
	Minutes *int64 `json:"minutes,omitempty"`
	// For people.
	Name string `json:"name"`
	// true: nobody looks.
	Paused *bool `json:"paused,omitempty"`
	// Of spend: the share of the cap, 0 to 1.
	Share *float64 `json:"share,omitempty"`
	// Of answer_rate and spend: all workspaces as if they were one.
	Together *bool `json:"together,omitempty"`
	// The workspace that is watched; empty: each of the install by itself.
	WatchesWorkspaceID *string `json:"watches_workspace_id,omitempty"`
}
