// Code generated from the OpenAPI document of the service. DO NOT EDIT.

package client

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// GetUsageQuery holds the query parameters of GetUsage. Zero values are not sent.
type GetUsageQuery struct {
	// The first day, YYYY-MM-DD. Default: the first day of this month.
	From string
	// The last day. Default: today.
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

// GetUsage: Get attempts, minutes, messages and costs by day and month.
//
// GET /v1/usage
//
// An attempt is billed once if it reached a carrier. Throttled, unsent and interrupted attempts are free, and so is the whole test environment. Each month starts with the quota of the plan. A change of the plan keeps the used part of the quota. Days are in UTC. The start time of an attempt sets its day, its month and its price.
func (c *Client) GetUsage(ctx context.Context, q GetUsageQuery, options ...Option) (*Usage, error) {
	return send[Usage](ctx, c, "GET", "/v1/usage", q.values(), nil, options)
}

// ExportLedgerQuery holds the query parameters of ExportLedger. Zero values are not sent.
type ExportLedgerQuery struct {
	// The first day, YYYY-MM-DD. Default: the first day of this month.
	From string
	// The last day. Default: today.
	To string
	// csv, or jsonl with one JSON object per line.
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
// One row per billed attempt and per answered inbound call, in the order of their start, streamed. The amounts add up to the totals of /v1/usage. Days are in UTC. The start time of an attempt sets its day, its month and its price.
//
// The caller reads the body and closes it.
func (c *Client) ExportLedger(ctx context.Context, q ExportLedgerQuery, options ...Option) (*http.Response, error) {
	return c.open(ctx, "GET", "/v1/usage/ledger", q.values(), nil, options)
}

// GetRateLimits: Get the use of the rate limits.
//
// GET /v1/usage/rate-limits
//
// For the environment of the credential, because live and test are counted separately. This request counts too. Windows slide: requests_made covers the last minute or hour. endpoints counts permitted and valid requests. Reading exports and bulk jobs is not counted there.
func (c *Client) GetRateLimits(ctx context.Context, options ...Option) (*RateLimits, error) {
	return send[RateLimits](ctx, c, "GET", "/v1/usage/rate-limits", nil, nil, options)
}

// DayUsage is part of a response.
type DayUsage struct {
	// Cost.
	Amount Money `json:"amount"`
	// Billed attempts.
	Attempts int64 `json:"attempts"`
	// YYYY-MM-DD in UTC.
	Day string `json:"day"`
	// Answered inbound calls.
	InboundCalls int64 `json:"inbound_calls"`
	// Duration of inbound calls.
	InboundSeconds int64 `json:"inbound_seconds"`
	// Attempts within the quota of their month.
	Included int64 `json:"included"`
	// Minutes of all calls, outbound and inbound.
	Minutes float64 `json:"minutes"`
	// Duration of billed attempts.
	OutboundSeconds int64 `json:"outbound_seconds"`
	// Attempts beyond the quota.
	Overage int64 `json:"overage"`
	// Sent messages.
	SMS int64 `json:"sms"`
	// Cost of messages, by the segment price at the time of sending.
	SMSAmount Money `json:"sms_amount"`
	// Segments of sent messages.
	SMSSegments int64 `json:"sms_segments"`
	// Total cost of attempts and messages.
	TotalAmount Money `json:"total_amount"`
}

// LimitUse is part of a response.
type LimitUse struct {
	// Maximum requests per window. A burst above it is delayed.
	RequestsLimit int64 `json:"requests_limit"`
	// Requests within the window that ends now.
	RequestsMade int64 `json:"requests_made"`
	// Length of the window.
	WindowSeconds int64 `json:"window_seconds"`
}

// MonthUsage is part of a response.
type MonthUsage struct {
	// Cost.
	Amount Money `json:"amount"`
	// Billed attempts.
	Attempts int64 `json:"attempts"`
	// Answered inbound calls.
	InboundCalls int64 `json:"inbound_calls"`
	// Duration of inbound calls.
	InboundSeconds int64 `json:"inbound_seconds"`
	// Attempts within the quota of their month.
	Included int64 `json:"included"`
	// Minutes of all calls, outbound and inbound.
	Minutes float64 `json:"minutes"`
	// YYYY-MM.
	Month string `json:"month"`
	// Duration of billed attempts.
	OutboundSeconds int64 `json:"outbound_seconds"`
	// Attempts beyond the quota.
	Overage int64 `json:"overage"`
	// Sent messages.
	SMS int64 `json:"sms"`
	// Cost of messages, by the segment price at the time of sending.
	SMSAmount Money `json:"sms_amount"`
	// Segments of sent messages.
	SMSSegments int64 `json:"sms_segments"`
	// Total cost of attempts and messages.
	TotalAmount Money `json:"total_amount"`
}

// RateLimits is part of a response.
type RateLimits struct {
	// Requests of the whole workspace.
	CurrentWindow WindowUse `json:"current_window"`
	// Paths with a separate limit.
	Endpoints map[string]LimitUse `json:"endpoints"`
}

// Usage is part of a response.
type Usage struct {
	// Days with usage.
	Days []DayUsage `json:"days"`
	// live or test. Nothing is billed in test.
	Environment string `json:"environment"`
	// The first day.
	From string `json:"from"`
	// Months of these days, restricted to these days.
	Months []MonthUsage `json:"months"`
	// Always usage.
	Object string `json:"object"`
	// The current plan. One of starter, professional, enterprise.
	Plan string `json:"plan"`
	// The last day.
	To string `json:"to"`
	// Total of these days.
	Total UsageTotals `json:"total"`
}

// UsageTotals is part of a response.
type UsageTotals struct {
	// Cost of the overage, by the price at the start of each attempt.
	Amount Money `json:"amount"`
	// Billed attempts.
	Attempts int64 `json:"attempts"`
	// Answered inbound calls.
	InboundCalls int64 `json:"inbound_calls"`
	// Duration of inbound calls.
	InboundSeconds int64 `json:"inbound_seconds"`
	// Attempts within the quota of their month.
	Included int64 `json:"included"`
	// Minutes of all calls, outbound and inbound.
	Minutes float64 `json:"minutes"`
	// Duration of billed attempts.
	OutboundSeconds int64 `json:"outbound_seconds"`
	// Attempts beyond the quota.
	Overage int64 `json:"overage"`
	// Sent messages.
	SMS int64 `json:"sms"`
	// Cost of messages, by the segment price at the time of sending.
	SMSAmount Money `json:"sms_amount"`
	// Segments of sent messages.
	SMSSegments int64 `json:"sms_segments"`
	// Total cost of attempts and messages.
	TotalAmount Money `json:"total_amount"`
}

// WindowUse is part of a response.
type WindowUse struct {
	// Maximum requests per window. A burst above it is delayed.
	RequestsLimit int64 `json:"requests_limit"`
	// Requests within the window that ends now.
	RequestsMade int64 `json:"requests_made"`
	// When the oldest request leaves the window.
	WindowReset time.Time `json:"window_reset"`
	// Length of the window.
	WindowSeconds int64 `json:"window_seconds"`
}
