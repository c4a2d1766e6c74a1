// Code generated from the OpenAPI document of the service. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/url"
	"strconv"
	"time"
)

// ListWorkspacesQuery is what ListWorkspaces can be asked; what is zero is left out.
type ListWorkspacesQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
	// Only what was created after this time.
	CreatedAfter time.Time
	// Only what was created before this time.
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

// ListWorkspaces: List the workspaces of the install.
//
// GET /v1/workspaces
func (c *Client) ListWorkspaces(ctx context.Context, q ListWorkspacesQuery, options ...Option) (*ListWorkspace, error) {
	return send[ListWorkspace](ctx, c, "GET", "/v1/workspaces", q.values(), nil, options)
}

// AllWorkspaces walks the pages of ListWorkspaces to their end; an error is the last that comes.
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
// Needs an API key or a dashboard session. Operators only, as all of /v1/workspaces. Default plan: starter. The setting default_plan is the plan of the first workspace only, default, which the first start makes.
func (c *Client) CreateWorkspace(ctx context.Context, body *NewWorkspace, options ...Option) (*WorkspaceCreated, error) {
	return send[WorkspaceCreated](ctx, c, "POST", "/v1/workspaces", nil, asJSON(body), options)
}

// DeleteWorkspace: Delete a workspace with everything in it.
//
// DELETE /v1/workspaces/{id}
//
// Needs an API key or a dashboard session. Its keys are refused from the answer on and its calls hang up. Rows, events, recordings and exports go in the background, and its data key with them: what backups hold of its secrets and recordings does not open any more. 409 invalid_state for the workspace whose key asks.
func (c *Client) DeleteWorkspace(ctx context.Context, id string, options ...Option) (*Deleted, error) {
	return send[Deleted](ctx, c, "DELETE", "/v1/workspaces/"+url.PathEscape(id), nil, nil, options)
}

// GetAnyWorkspace: Get a workspace of the install.
//
// GET /v1/workspaces/{id}
func (c *Client) GetAnyWorkspace(ctx context.Context, id string, options ...Option) (*Workspace, error) {
	return send[Workspace](ctx, c, "GET", "/v1/workspaces/"+url.PathEscape(id), nil, nil, options)
}

// UpdateAnyWorkspace: Change a workspace of the install.
//
// PATCH /v1/workspaces/{id}
//
// Needs an API key or a dashboard session. Plan, limits and rules hold from the answer on.
func (c *Client) UpdateAnyWorkspace(ctx context.Context, id string, body *WorkspaceUpdate, options ...Option) (*Workspace, error) {
	return send[Workspace](ctx, c, "PATCH", "/v1/workspaces/"+url.PathEscape(id), nil, asJSON(body), options)
}

// ListAnyNumbersQuery is what ListAnyNumbers can be asked; what is zero is left out.
type ListAnyNumbersQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
	// Only what was created after this time.
	CreatedAfter time.Time
	// Only what was created before this time.
	CreatedBefore time.Time
	// In this state only.
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

// ListAnyNumbers: List the numbers of a workspace of the install.
//
// GET /v1/workspaces/{id}/phone-numbers
//
// Operators only. Those of the live environment.
func (c *Client) ListAnyNumbers(ctx context.Context, id string, q ListAnyNumbersQuery, options ...Option) (*ListPhoneNumber, error) {
	return send[ListPhoneNumber](ctx, c, "GET", "/v1/workspaces/"+url.PathEscape(id)+"/phone-numbers", q.values(), nil, options)
}

// AllAnyNumbers walks the pages of ListAnyNumbers to their end; an error is the last that comes.
func (c *Client) AllAnyNumbers(ctx context.Context, id string, q ListAnyNumbersQuery, options ...Option) iter.Seq2[PhoneNumber, error] {
	return pages(&q.Cursor, func() ([]PhoneNumber, *string, error) {
		l, err := c.ListAnyNumbers(ctx, id, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// ApproveNumber: Let a number go live.
//
// POST /v1/workspaces/{id}/phone-numbers/{number_id}/approve
//
// Needs an API key or a dashboard session. Operators only. Where several workspaces share the install, a number that no operator created is pending until then: no call and no message reaches it or comes from it.
func (c *Client) ApproveNumber(ctx context.Context, id string, numberID string, options ...Option) (*PhoneNumber, error) {
	return send[PhoneNumber](ctx, c, "POST", "/v1/workspaces/"+url.PathEscape(id)+"/phone-numbers/"+url.PathEscape(numberID)+"/approve", nil, nil, options)
}

// ListAnyTrunksQuery is what ListAnyTrunks can be asked; what is zero is left out.
type ListAnyTrunksQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
	// Only what was created after this time.
	CreatedAfter time.Time
	// Only what was created before this time.
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

// ListAnyTrunks: List the trunks of a workspace of the install.
//
// GET /v1/workspaces/{id}/trunks
//
// Operators only. Those of the live environment.
func (c *Client) ListAnyTrunks(ctx context.Context, id string, q ListAnyTrunksQuery, options ...Option) (*ListTrunk, error) {
	return send[ListTrunk](ctx, c, "GET", "/v1/workspaces/"+url.PathEscape(id)+"/trunks", q.values(), nil, options)
}

// AllAnyTrunks walks the pages of ListAnyTrunks to their end; an error is the last that comes.
func (c *Client) AllAnyTrunks(ctx context.Context, id string, q ListAnyTrunksQuery, options ...Option) iter.Seq2[Trunk, error] {
	return pages(&q.Cursor, func() ([]Trunk, *string, error) {
		l, err := c.ListAnyTrunks(ctx, id, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// UpdateAnyTrunk: Change a trunk of a workspace of the install.
//
// PATCH /v1/workspaces/{id}/trunks/{trunk_id}
//
// Needs an API key or a dashboard session. Operators only. Sets what the workspace itself may not set on its trunks: costs, by which daily_spend_cap counts, number_strip, number_add and number_format national with any number_country; every other member too. A patch that names number_strip or number_add approves both, also with the same values. Trunks of the live environment.
func (c *Client) UpdateAnyTrunk(ctx context.Context, id string, trunkID string, body *TrunkUpdate, options ...Option) (*Trunk, error) {
	return send[Trunk](ctx, c, "PATCH", "/v1/workspaces/"+url.PathEscape(id)+"/trunks/"+url.PathEscape(trunkID), nil, asJSON(body), options)
}

// ListWorkspace is an answer of the service, or a part of one.
type ListWorkspace struct {
	// The rows of this page.
	Data []Workspace `json:"data"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as cursor for the next page; null at the end.
	NextCursor *string `json:"next_cursor"`
	// What kind of resource this is. One of list.
	Object string `json:"object"`
}

// NewDestinationRules is sent to the service.
type NewDestinationRules struct {
	// Beginnings of numbers that are never called.
	BlockedPrefixes []string `json:"blocked_prefixes,omitzero"`
	// ISO 3166 codes; * is every country. []: default_country as it is now; another default_country later allows no others.
	Countries []string `json:"countries,omitzero"`
	// Of outbound calls and text messages per day in UTC, by the costs of the trunks, or by the plan's price of an attempt where a trunk names none. A text message counts by sms_price_per_segment: one sent over the API from when it is queued, an agent's reply from when it is about to be handed to a carrier. A call reserves its first minute when it is placed, then each next minute ahead; without money it ends with spend_cap_reached. Once the cap is reached, no call, transfer or text message goes out.
	DailySpendCap *NewMoney `json:"daily_spend_cap,omitempty"`
	// Of an outbound or transferred call. 0: none of its own.
	MaxCallMinutes *int64 `json:"max_call_minutes,omitempty"`
}

// NewFrequencyCaps is sent to the service.
type NewFrequencyCaps struct {
	// Maximum attempts to reach one number per calendar day in its time zone, over all campaigns and single calls. Attempts are counted from the moment a cap is set. 0: no cap.
	PerNumberPerDay *int64 `json:"per_number_per_day,omitempty"`
}

// NewLimits is sent to the service.
type NewLimits struct {
	// Outbound calls that may begin in a minute.
	CallsPerMinute *int64 `json:"calls_per_minute,omitempty"`
	// Inbound calls at once.
	ConcurrentInbound *int64 `json:"concurrent_inbound,omitempty"`
	// Outbound calls at once.
	ConcurrentOutbound *int64 `json:"concurrent_outbound,omitempty"`
	// Requests to the API.
	RequestsPerMinute *int64 `json:"requests_per_minute,omitempty"`
}

// NewMoney is sent to the service.
type NewMoney struct {
	// Decimal text.
	Amount string `json:"amount"`
	// ISO 4217. One of USD.
	Currency *string `json:"currency,omitempty"`
}

// NewPricing is sent to the service.
type NewPricing struct {
	// Per month.
	IncludedAttempts *int64 `json:"included_attempts,omitempty"`
	// Of each further one.
	PricePerAttempt NewMoney `json:"price_per_attempt"`
}

// NewRedaction is sent to the service.
type NewRedaction struct {
	// Regular expressions (RE2) of at most 500 bytes each. Matches in utterances, in sequences of pressed keys and in received text messages are stored as [redacted]. []: no redaction. Applies to calls answered from now on.
	Patterns []string `json:"patterns,omitzero"`
}

// NewRetention is sent to the service.
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

// NewWorkspace is sent to the service.
type NewWorkspace struct {
	// Origins whose pages may come with the tokens of users, e.g. https://app.example.com; [] is none.
	AllowedOrigins []string `json:"allowed_origins,omitzero"`
	// Operators only.
	Calling *NewDestinationRules `json:"calling,omitempty"`
	// ISO 3166: how numbers without a country code are read. Default: US.
	DefaultCountry *string `json:"default_country,omitempty"`
	// How often somebody may be rung.
	FrequencyCaps *NewFrequencyCaps `json:"frequency_caps,omitempty"`
	// On enterprise only. Operators only.
	Limits *NewLimits `json:"limits,omitempty"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// For people.
	Name string `json:"name"`
	// Default: starter. Operators only. One of starter, professional, enterprise.
	Plan *string `json:"plan,omitempty"`
	// What an account on enterprise has agreed to pay. Operators only.
	Pricing *NewPricing `json:"pricing,omitempty"`
	// What is not kept of what is said and written to it.
	Redaction *NewRedaction `json:"redaction,omitempty"`
	// How long its data are kept.
	Retention *NewRetention `json:"retention,omitempty"`
	// Of each segment of a live text message that a carrier took, on any plan, at most 1000.00. Operators only.
	SMSPricePerSegment *NewMoney `json:"sms_price_per_segment,omitempty"`
}

// WorkspaceCreated is an answer of the service, or a part of one.
type WorkspaceCreated struct {
	AllowedOrigins []string         `json:"allowed_origins"`
	Calling        DestinationRules `json:"calling"`
	// When it was made.
	CreatedAt        time.Time `json:"created_at"`
	DefaultCountry   string    `json:"default_country"`
	DefaultDNCListID string    `json:"default_dnc_list_id"`
	// live or test; the two never see each other.
	Environment   string        `json:"environment"`
	FrequencyCaps FrequencyCaps `json:"frequency_caps"`
	// Names it; never changes and is never given again.
	ID string `json:"id"`
	// Its text: live, may do everything but what takes an operator. Shown this once.
	Key string `json:"key"`
	// The first API key.
	KeyID  string `json:"key_id"`
	Limits Limits `json:"limits"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// For people.
	Name string `json:"name"`
	// What kind of resource this is.
	Object string `json:"object"`
	// One of starter, professional, enterprise.
	Plan               string    `json:"plan"`
	Pricing            *Pricing  `json:"pricing,omitempty"`
	Redaction          Redaction `json:"redaction"`
	Retention          Retention `json:"retention"`
	SMSPricePerSegment *Money    `json:"sms_price_per_segment,omitempty"`
	Tariff             int64     `json:"tariff"`
	// When it was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	Warnings  []Detail  `json:"warnings,omitzero"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}
