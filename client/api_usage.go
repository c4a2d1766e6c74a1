// Code generated from the OpenAPI document of the service. DO NOT EDIT.

package client

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// GetUsageQuery is what GetUsage can be asked; what is zero is left out.
type GetUsageQuery struct {
	// The first day, YYYY-MM-DD; the first of this month unless said.
	From string
	// The last day; today unless said.
	To string
}

func (q *GetUsageQuery) values() url.Values {
	v := make(url.Values)
	if q.From != "" {
		v.Set("from", q.From)
	}
	if q.To != "" {
		v.Set("to", q.To)
	}
	return v
}

// GetUsage: Attempts, minutes, messages and what they cost, by day and month.
//
// GET /v1/usage
//
// An attempt is billed once, if it reached a carrier; those that were throttled, not sent or interrupted are free, and so is all of the test environment. Each month begins with the plan's quota; what a change of the plan finds used of it stays used. Days are those of UTC. The time at which an attempt was opened sets its day, its month and its price.
func (c *Client) GetUsage(ctx context.Context, q GetUsageQuery, options ...Option) (*Usage, error) {
	return send[Usage](ctx, c, "GET", "/v1/usage", q.values(), nil, options)
}

// ExportLedgerQuery is what ExportLedger can be asked; what is zero is left out.
type ExportLedgerQuery struct {
	// The first day, YYYY-MM-DD; the first of this month unless said.
	From string
	// The last day; today unless said.
	To string
	// csv, or one JSON object per line.
	Format string
}

func (q *ExportLedgerQuery) values() url.Values {
	v := make(url.Values)
	if q.From != "" {
		v.Set("from", q.From)
	}
	if q.To != "" {
		v.Set("to", q.To)
	}
	if q.Format != "" {
		v.Set("format", q.Format)
	}
	return v
}

// ExportLedger: Download every billed attempt with its price.
//
// GET /v1/usage/ledger
//
// One row per attempt that is billed and per call that was taken, in the order in which they were opened; streamed. The amounts add up to what /v1/usage says. Days are those of UTC. The time at which an attempt was opened sets its day, its month and its price.
//
// The caller reads the body and closes it.
func (c *Client) ExportLedger(ctx context.Context, q ExportLedgerQuery, options ...Option) (*http.Response, error) {
	return c.open(ctx, "GET", "/v1/usage/ledger", q.values(), nil, options)
}

// GetRateLimits: Get what is used of the rate limits.
//
// GET /v1/usage/rate-limits
//
// Of the environment of the credential: live and test count apart. Asking counts as a request. Windows slide: what was made is what was made within the last minute or hour. endpoints counts the requests that were permitted and valid; reading exports and bulk jobs is not counted there.
func (c *Client) GetRateLimits(ctx context.Context, options ...Option) (*RateLimits, error) {
	return send[RateLimits](ctx, c, "GET", "/v1/usage/rate-limits", nil, nil, options)
}

// LimitUse is an answer of the service, or a part of one.
type LimitUse struct {
	// The most in a window; a burst above it is slowed down.
	RequestsLimit int64 `json:"requests_limit"`
	// Within the window that ends now.
	RequestsMade int64 `json:"requests_made"`
	// How long the window is.
	WindowSeconds int64 `json:"window_seconds"`
}

// RateLimits is an answer of the service, or a part of one.
type RateLimits struct {
	// Of the whole workspace.
	CurrentWindow WindowUse `json:"current_window"`
	// Paths with limits of their own.
	Endpoints map[string]LimitUse `json:"endpoints"`
}

// Usage is an answer of the service, or a part of one.
type Usage struct {
	// Days on which something was used.
	Days []UsedOn `json:"days"`
	// live or test; nothing is counted in test.
	Environment string `json:"environment"`
	// The first day.
	From string `json:"from"`
	// The months of these days, as far as they belong to them.
	Months []UsedIn `json:"months"`
	// usage.
	Object string `json:"object"`
	// The plan of now. One of starter, professional, enterprise.
	Plan string `json:"plan"`
	// The last day.
	To string `json:"to"`
	// All of these days.
	Total Used `json:"total"`
}

// Used is an answer of the service, or a part of one.
type Used struct {
	// What the overage costs, by the price of each attempt's opening.
	Amount Money `json:"amount"`
	// Attempts that are billed.
	Attempts int64 `json:"attempts"`
	// Calls that were taken.
	InboundCalls int64 `json:"inbound_calls"`
	// How long was talked on them.
	InboundSeconds int64 `json:"inbound_seconds"`
	// Of the attempts, those within the quota of their month.
	Included int64 `json:"included"`
	// Of all calls, outbound and inbound.
	Minutes float64 `json:"minutes"`
	// How long was talked on billed attempts.
	OutboundSeconds int64 `json:"outbound_seconds"`
	// The other attempts.
	Overage int64 `json:"overage"`
	// Messages sent.
	SMS int64 `json:"sms"`
	// What they cost, by the price of a segment when they were sent.
	SMSAmount Money `json:"sms_amount"`
	// The segments that they were in.
	SMSSegments int64 `json:"sms_segments"`
	// What attempts and messages cost together.
	TotalAmount Money `json:"total_amount"`
}

// UsedIn is an answer of the service, or a part of one.
type UsedIn struct {
	// What it costs.
	Amount Money `json:"amount"`
	// Attempts that are billed.
	Attempts int64 `json:"attempts"`
	// Calls that were taken.
	InboundCalls int64 `json:"inbound_calls"`
	// How long was talked on them.
	InboundSeconds int64 `json:"inbound_seconds"`
	// Of the attempts, those within the quota of their month.
	Included int64 `json:"included"`
	// Of all calls, outbound and inbound.
	Minutes float64 `json:"minutes"`
	// YYYY-MM.
	Month string `json:"month"`
	// How long was talked on billed attempts.
	OutboundSeconds int64 `json:"outbound_seconds"`
	// The other attempts.
	Overage int64 `json:"overage"`
	// Messages sent.
	SMS int64 `json:"sms"`
	// What they cost, by the price of a segment when they were sent.
	SMSAmount Money `json:"sms_amount"`
	// The segments that they were in.
	SMSSegments int64 `json:"sms_segments"`
	// What attempts and messages cost together.
	TotalAmount Money `json:"total_amount"`
}

// UsedOn is an answer of the service, or a part of one.
type UsedOn struct {
	// What it costs.
	Amount Money `json:"amount"`
	// Attempts that are billed.
	Attempts int64 `json:"attempts"`
	// YYYY-MM-DD in UTC.
	Day string `json:"day"`
	// Calls that were taken.
	InboundCalls int64 `json:"inbound_calls"`
	// How long was talked on them.
	InboundSeconds int64 `json:"inbound_seconds"`
	// Of the attempts, those within the quota of their month.
	Included int64 `json:"included"`
	// Of all calls, outbound and inbound.
	Minutes float64 `json:"minutes"`
	// How long was talked on billed attempts.
	OutboundSeconds int64 `json:"outbound_seconds"`
	// The other attempts.
	Overage int64 `json:"overage"`
	// Messages sent.
	SMS int64 `json:"sms"`
	// What they cost, by the price of a segment when they were sent.
	SMSAmount Money `json:"sms_amount"`
	// The segments that they were in.
	SMSSegments int64 `json:"sms_segments"`
	// What attempts and messages cost together.
	TotalAmount Money `json:"total_amount"`
}

// WindowUse is an answer of the service, or a part of one.
type WindowUse struct {
	// The most in a window; a burst above it is slowed down.
	RequestsLimit int64 `json:"requests_limit"`
	// Within the window that ends now.
	RequestsMade int64 `json:"requests_made"`
	// When the oldest request leaves the window.
	WindowReset time.Time `json:"window_reset"`
	// How long the window is.
	WindowSeconds int64 `json:"window_seconds"`
}
