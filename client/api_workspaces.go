// Code generated from the OpenAPI document of the service. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/url"
	"strconv"
	"time"
)

// ListWorkspacesQuery holds the query parameters of ListWorkspaces. Zero values are not sent.
type ListWorkspacesQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the previous page.
	Cursor string
	// Only resources created after this time.
	CreatedAfter time.Time
	// Only resources created before this time.
	CreatedBefore time.Time
}

func (q *ListWorkspacesQuery) values() url.Values {
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

// ListWorkspaces: List the workspaces of the installation.
//
// GET /v1/workspaces
func (c *Client) ListWorkspaces(ctx context.Context, q ListWorkspacesQuery, options ...Option) (*ListWorkspace, error) {
	return send[ListWorkspace](ctx, c, "GET", "/v1/workspaces", q.values(), nil, options)
}

// AllWorkspaces iterates over all pages of ListWorkspaces. It ends after the first error.
func (c *Client) AllWorkspaces(ctx context.Context, q ListWorkspacesQuery, options ...Option) iter.Seq2[Workspace, error] {
	return pages(&q.Cursor, func() ([]Workspace, *string, error) {
		l, err := c.ListWorkspaces(ctx, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// CreateWorkspace: Create a workspace.
//
// POST /v1/workspaces
//
// Needs an API key or a dashboard session. Operators only, like all of /v1/workspaces. Default plan: starter. The setting default_plan applies only to the workspace default, which the first start creates.
func (c *Client) CreateWorkspace(ctx context.Context, body *NewWorkspace, options ...Option) (*WorkspaceCreated, error) {
	return send[WorkspaceCreated](ctx, c, "POST", "/v1/workspaces", nil, asJSON(body), options)
}

// DeleteWorkspace: Delete a workspace with all its data.
//
// DELETE /v1/workspaces/{id}
//
// Needs an API key or a dashboard session. As of the response its keys are refused and its calls hang up. Records, events, recordings and exports are deleted in the background, and so is its encryption key: its secrets and recordings in backups can no longer be decrypted. 409 invalid_state for the workspace of the requesting key.
func (c *Client) DeleteWorkspace(ctx context.Context, id string, options ...Option) (*Deleted, error) {
	return send[Deleted](ctx, c, "DELETE", "/v1/workspaces/"+url.PathEscape(id), nil, nil, options)
}

// GetAnyWorkspace: Get a workspace of the installation.
//
// GET /v1/workspaces/{id}
func (c *Client) GetAnyWorkspace(ctx context.Context, id string, options ...Option) (*Workspace, error) {
	return send[Workspace](ctx, c, "GET", "/v1/workspaces/"+url.PathEscape(id), nil, nil, options)
}

// UpdateAnyWorkspace: Change a workspace of the installation.
//
// PATCH /v1/workspaces/{id}
//
// Needs an API key or a dashboard session. Plan, limits and rules apply as of the response.
func (c *Client) UpdateAnyWorkspace(ctx context.Context, id string, body *WorkspaceUpdate, options ...Option) (*Workspace, error) {
	return send[Workspace](ctx, c, "PATCH", "/v1/workspaces/"+url.PathEscape(id), nil, asJSON(body), options)
}

// ListAnyNumbersQuery holds the query parameters of ListAnyNumbers. Zero values are not sent.
type ListAnyNumbersQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the previous page.
	Cursor string
	// Only resources created after this time.
	CreatedAfter time.Time
	// Only resources created before this time.
	CreatedBefore time.Time
	// Filters by status.
	Status string
}

func (q *ListAnyNumbersQuery) values() url.Values {
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
	if q.Status != "" {
		v.Set("status", q.Status)
	}
	return v
}

// ListAnyNumbers: List the numbers of a workspace of the installation.
//
// GET /v1/workspaces/{id}/phone-numbers
//
// Operators only. Numbers of the live environment.
func (c *Client) ListAnyNumbers(ctx context.Context, id string, q ListAnyNumbersQuery, options ...Option) (*ListPhoneNumber, error) {
	return send[ListPhoneNumber](ctx, c, "GET", "/v1/workspaces/"+url.PathEscape(id)+"/phone-numbers", q.values(), nil, options)
}

// AllAnyNumbers iterates over all pages of ListAnyNumbers. It ends after the first error.
func (c *Client) AllAnyNumbers(ctx context.Context, id string, q ListAnyNumbersQuery, options ...Option) iter.Seq2[PhoneNumber, error] {
	return pages(&q.Cursor, func() ([]PhoneNumber, *string, error) {
		l, err := c.ListAnyNumbers(ctx, id, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// ApproveNumber: Approve a number.
//
// POST /v1/workspaces/{id}/phone-numbers/{number_id}/approve
//
// Needs an API key or a dashboard session. Operators only. In an installation with several workspaces, a number that no operator created is pending until its approval: it cannot receive or place calls and messages.
func (c *Client) ApproveNumber(ctx context.Context, id string, numberID string, options ...Option) (*PhoneNumber, error) {
	return send[PhoneNumber](ctx, c, "POST", "/v1/workspaces/"+url.PathEscape(id)+"/phone-numbers/"+url.PathEscape(numberID)+"/approve", nil, nil, options)
}

// ListAnyTrunksQuery holds the query parameters of ListAnyTrunks. Zero values are not sent.
type ListAnyTrunksQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the previous page.
	Cursor string
	// Only resources created after this time.
	CreatedAfter time.Time
	// Only resources created before this time.
	CreatedBefore time.Time
}

func (q *ListAnyTrunksQuery) values() url.Values {
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

// ListAnyTrunks: List the trunks of a workspace of the installation.
//
// GET /v1/workspaces/{id}/trunks
//
// Operators only. Trunks of the live environment.
func (c *Client) ListAnyTrunks(ctx context.Context, id string, q ListAnyTrunksQuery, options ...Option) (*ListTrunk, error) {
	return send[ListTrunk](ctx, c, "GET", "/v1/workspaces/"+url.PathEscape(id)+"/trunks", q.values(), nil, options)
}

// AllAnyTrunks iterates over all pages of ListAnyTrunks. It ends after the first error.
func (c *Client) AllAnyTrunks(ctx context.Context, id string, q ListAnyTrunksQuery, options ...Option) iter.Seq2[Trunk, error] {
	return pages(&q.Cursor, func() ([]Trunk, *string, error) {
		l, err := c.ListAnyTrunks(ctx, id, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// UpdateAnyTrunk: Change a trunk of a workspace of the installation.
//
// PATCH /v1/workspaces/{id}/trunks/{trunk_id}
//
// Needs an API key or a dashboard session. Operators only, for trunks of the live environment. Sets every member, including those that the workspace cannot set: costs, by which daily_spend_cap counts, number_strip, number_add, and number_format national with any number_country. A patch that contains number_strip or number_add approves both, also with unchanged values.
func (c *Client) UpdateAnyTrunk(ctx context.Context, id string, trunkID string, body *TrunkUpdate, options ...Option) (*Trunk, error) {
	return send[Trunk](ctx, c, "PATCH", "/v1/workspaces/"+url.PathEscape(id)+"/trunks/"+url.PathEscape(trunkID), nil, asJSON(body), options)
}

// ListWorkspace is part of a response.
type ListWorkspace struct {
	// The resources of this page.
	Data []Workspace `json:"data"`
	// true if there is another page.
	HasMore bool `json:"has_more"`
	// Cursor of the next page; null on the last page.
	NextCursor *string `json:"next_cursor"`
	// The type of the resource. One of list.
	Object string `json:"object"`
}

// NewDestinationRules is part of a request.
type NewDestinationRules struct {
	// Number prefixes that are never called.
	BlockedPrefixes []string `json:"blocked_prefixes,omitzero"`
	// Countries that may be called, as ISO 3166 codes. *: every country. []: the current default_country; a later change of default_country does not change this list.
	Countries []string `json:"countries,omitzero"`
	// Maximum spend per UTC day for outbound calls and text messages. Calls count by the costs of the trunk, or by the plan's price of an attempt for a trunk without costs. Text messages count by sms_price_per_segment: a message sent over the API when it is queued, an agent's reply before it is sent. A call reserves its first minute when it is placed and each following minute in advance. A call that cannot reserve a minute ends with spend_cap_reached. Once the cap is reached, no call, transfer or text message goes out.
	DailySpendCap *NewMoney `json:"daily_spend_cap,omitempty"`
	// Maximum duration of an outbound or transferred call. 0: no limit.
	MaxCallMinutes *int64 `json:"max_call_minutes,omitempty"`
}

// NewFrequencyCaps is part of a request.
type NewFrequencyCaps struct {
	// Maximum attempts to reach one number per calendar day in its time zone, over all campaigns and single calls. Attempts are counted from the moment a cap is set. 0: no cap.
	PerNumberPerDay *int64 `json:"per_number_per_day,omitempty"`
}

// NewLimits is part of a request.
type NewLimits struct {
	// Maximum outbound calls that start per minute.
	CallsPerMinute *int64 `json:"calls_per_minute,omitempty"`
	// Maximum concurrent inbound calls.
	ConcurrentInbound *int64 `json:"concurrent_inbound,omitempty"`
	// Maximum concurrent outbound calls.
	ConcurrentOutbound *int64 `json:"concurrent_outbound,omitempty"`
	// Maximum API requests per minute.
	RequestsPerMinute *int64 `json:"requests_per_minute,omitempty"`
}

// NewMoney is part of a request.
type NewMoney struct {
	// Decimal amount.
	Amount string `json:"amount"`
	// ISO 4217. One of USD.
	Currency *string `json:"currency,omitempty"`
}

// NewPricing is part of a request.
type NewPricing struct {
	// Free attempts per month.
	IncludedAttempts *int64 `json:"included_attempts,omitempty"`
	// Price of each further attempt.
	PricePerAttempt NewMoney `json:"price_per_attempt"`
}

// NewRedaction is part of a request.
type NewRedaction struct {
	// Regular expressions (RE2) of at most 500 bytes each. Matches in utterances, in sequences of pressed keys and in received text messages are stored as [redacted]. []: no redaction. Applies to calls answered from now on.
	Patterns []string `json:"patterns,omitzero"`
}

// NewRetention is part of a request.
type NewRetention struct {
	// Days after their end after which appointments are deleted; 0: they are kept.
	AppointmentsDays *int64 `json:"appointments_days,omitempty"`
	// Days after which entries of the audit log are deleted, at least 30; 0: they are kept.
	AuditDays *int64 `json:"audit_days,omitempty"`
	// Days after their end after which calls are deleted with recordings, transcripts and SIP messages; 0: they are kept.
	CallsDays *int64 `json:"calls_days,omitempty"`
	// Days after which decisions of campaigns are deleted; 0: they are kept.
	DecisionsDays *int64 `json:"decisions_days,omitempty"`
	// Days after which events and the logs of their deliveries are deleted, at least 7; 0: they are kept.
	EventsDays *int64 `json:"events_days,omitempty"`
	// Days after which the bills of attempts are deleted, at least 35; 0: they are kept. Counts per day and month stay.
	LedgerDays *int64 `json:"ledger_days,omitempty"`
	// Days after which text messages are deleted; 0: they are kept.
	MessagesDays *int64 `json:"messages_days,omitempty"`
	// Days after which recordings are deleted; 0: they are kept.
	RecordingsDays *int64 `json:"recordings_days,omitempty"`
	// Days after which the SIP messages of calls are deleted; 0: they are kept.
	TracesDays *int64 `json:"traces_days,omitempty"`
	// Days after which transcripts are deleted; 0: they are kept.
	TranscriptsDays *int64 `json:"transcripts_days,omitempty"`
	// Days after which reports of uploads of contacts are deleted; 0: they are kept.
	UploadsDays *int64 `json:"uploads_days,omitempty"`
}

// NewWorkspace is part of a request.
type NewWorkspace struct {
	// Origins of web pages that may use the API with user tokens, e.g. https://app.example.com. []: none.
	AllowedOrigins []string `json:"allowed_origins,omitzero"`
	// Operators only.
	Calling *NewDestinationRules `json:"calling,omitempty"`
	// Country of numbers without a country code, as an ISO 3166 code. Default: US.
	DefaultCountry *string `json:"default_country,omitempty"`
	// Frequency caps of calls.
	FrequencyCaps *NewFrequencyCaps `json:"frequency_caps,omitempty"`
	// Enterprise plan only. Operators only.
	Limits *NewLimits `json:"limits,omitempty"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata map[string]string `json:"metadata,omitzero"`
	// Name for people.
	Name string `json:"name"`
	// Default: starter. Operators only. One of starter, professional, enterprise.
	Plan *string `json:"plan,omitempty"`
	// Price of attempts on the enterprise plan. Operators only.
	Pricing *NewPricing `json:"pricing,omitempty"`
	// Redaction rules for transcripts and messages.
	Redaction *NewRedaction `json:"redaction,omitempty"`
	// Retention periods.
	Retention *NewRetention `json:"retention,omitempty"`
	// Price of each segment of a live text message that a carrier accepted, on any plan, at most 1000.00. Operators only.
	SMSPricePerSegment *NewMoney `json:"sms_price_per_segment,omitempty"`
}

// WorkspaceCreated is part of a response.
type WorkspaceCreated struct {
	AllowedOrigins []string         `json:"allowed_origins"`
	Calling        DestinationRules `json:"calling"`
	// When the resource was created.
	CreatedAt        time.Time `json:"created_at"`
	DefaultCountry   string    `json:"default_country"`
	DefaultDNCListID string    `json:"default_dnc_list_id"`
	// live or test. The environments are separate.
	Environment   string        `json:"environment"`
	FrequencyCaps FrequencyCaps `json:"frequency_caps"`
	// Unique id. It never changes and is never reused.
	ID string `json:"id"`
	// The secret of the key, which is live and has all permissions except those of operators. Only in this response.
	Key string `json:"key"`
	// The first API key.
	KeyID  string `json:"key_id"`
	Limits Limits `json:"limits"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata map[string]string `json:"metadata,omitzero"`
	// Name for people.
	Name string `json:"name"`
	// The type of the resource.
	Object string `json:"object"`
	// One of starter, professional, enterprise.
	Plan               string    `json:"plan"`
	Pricing            *Pricing  `json:"pricing,omitempty"`
	Redaction          Redaction `json:"redaction"`
	Retention          Retention `json:"retention"`
	SMSPricePerSegment *Money    `json:"sms_price_per_segment,omitempty"`
	Tariff             int64     `json:"tariff"`
	// When the resource was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	Warnings  []Detail  `json:"warnings,omitzero"`
	// The workspace of the resource.
	WorkspaceID string `json:"workspace_id"`
}
