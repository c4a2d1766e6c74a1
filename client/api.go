// Code generated from the OpenAPI document of the service. DO NOT EDIT.

package client

import (
	"context"
	"encoding/json"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// GetJWKS: Get the keys that tokens are signed with.
//
// GET /.well-known/jwks.json
func (c *Client) GetJWKS(ctx context.Context, options ...Option) (*JWKS, error) {
	return send[JWKS](ctx, c, "GET", "/.well-known/jwks.json", nil, nil, options)
}

// GetOAuthMetadata: Get what clients have to know of the authorization server.
//
// GET /.well-known/oauth-authorization-server
func (c *Client) GetOAuthMetadata(ctx context.Context, options ...Option) (*OAuthMetadata, error) {
	return send[OAuthMetadata](ctx, c, "GET", "/.well-known/oauth-authorization-server", nil, nil, options)
}

// Healthz: Whether the process is alive.
//
// GET /healthz
func (c *Client) Healthz(ctx context.Context, options ...Option) (*HealthAnswer, error) {
	return send[HealthAnswer](ctx, c, "GET", "/healthz", nil, nil, options)
}

// GetDocument: This document.
//
// GET /openapi.json
func (c *Client) GetDocument(ctx context.Context, options ...Option) (*map[string]any, error) {
	return send[map[string]any](ctx, c, "GET", "/openapi.json", nil, nil, options)
}

// Readyz: Whether it can serve; 503 tells why not.
//
// GET /readyz
func (c *Client) Readyz(ctx context.Context, options ...Option) (*HealthAnswer, error) {
	return send[HealthAnswer](ctx, c, "GET", "/readyz", nil, nil, options)
}

// ListAgentsQuery is what ListAgents can be asked; what is zero is left out.
type ListAgentsQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
	// Only what was created after this time.
	CreatedAfter time.Time
	// Only what was created before this time.
	CreatedBefore time.Time
}

func (q *ListAgentsQuery) values() url.Values {
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

// ListAgents: List agents.
//
// GET /v1/agents
func (c *Client) ListAgents(ctx context.Context, q ListAgentsQuery, options ...Option) (*ListAgent, error) {
	return send[ListAgent](ctx, c, "GET", "/v1/agents", q.values(), nil, options)
}

// AllAgents walks the pages of ListAgents to their end; an error is the last that comes.
func (c *Client) AllAgents(ctx context.Context, q ListAgentsQuery, options ...Option) iter.Seq2[Agent, error] {
	return pages(&q.Cursor, func() ([]Agent, *string, error) {
		l, err := c.ListAgents(ctx, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// CreateAgent: Create an agent.
//
// POST /v1/agents
//
// It is published as version 1 and can take calls at once.
func (c *Client) CreateAgent(ctx context.Context, body *AgentChange, options ...Option) (*Agent, error) {
	return send[Agent](ctx, c, "POST", "/v1/agents", nil, asJSON(body), options)
}

// DeleteAgent: Delete an agent with its versions.
//
// DELETE /v1/agents/{id}
//
// Calls and campaigns that are running keep what they pinned. 409 invalid_state with used_by while a pathway names it.
func (c *Client) DeleteAgent(ctx context.Context, id string, options ...Option) (*Deleted, error) {
	return send[Deleted](ctx, c, "DELETE", "/v1/agents/"+url.PathEscape(id), nil, nil, options)
}

// GetAgent: Get an agent.
//
// GET /v1/agents/{id}
//
// Its draft: unpublished_changes tells what calls do not speak yet.
func (c *Client) GetAgent(ctx context.Context, id string, options ...Option) (*Agent, error) {
	return send[Agent](ctx, c, "GET", "/v1/agents/"+url.PathEscape(id), nil, nil, options)
}

// UpdateAgent: Change an agent's draft.
//
// PATCH /v1/agents/{id}
//
// Calls speak the changes once they are published. name, extension and metadata hold at once.
func (c *Client) UpdateAgent(ctx context.Context, id string, body *AgentChange, options ...Option) (*Agent, error) {
	return send[Agent](ctx, c, "PATCH", "/v1/agents/"+url.PathEscape(id), nil, asJSON(body), options)
}

// PublishAgent: Publish an agent's draft.
//
// POST /v1/agents/{id}/publish
//
// Makes a version, which never changes, and answers it. Calls that begin from now on speak it; a campaign goes on with the version that it began with, unless it says follow_latest. Without changes the newest version is answered. An agent has 1000 versions at most: 409 invalid_state.
func (c *Client) PublishAgent(ctx context.Context, id string, options ...Option) (*AgentVersion, error) {
	return send[AgentVersion](ctx, c, "POST", "/v1/agents/"+url.PathEscape(id)+"/publish", nil, nil, options)
}

// ListAgentVersionsQuery is what ListAgentVersions can be asked; what is zero is left out.
type ListAgentVersionsQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
	// Only what was created after this time.
	CreatedAfter time.Time
	// Only what was created before this time.
	CreatedBefore time.Time
}

func (q *ListAgentVersionsQuery) values() url.Values {
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

// ListAgentVersions: List the versions of an agent.
//
// GET /v1/agents/{id}/versions
func (c *Client) ListAgentVersions(ctx context.Context, id string, q ListAgentVersionsQuery, options ...Option) (*ListAgentVersion, error) {
	return send[ListAgentVersion](ctx, c, "GET", "/v1/agents/"+url.PathEscape(id)+"/versions", q.values(), nil, options)
}

// AllAgentVersions walks the pages of ListAgentVersions to their end; an error is the last that comes.
func (c *Client) AllAgentVersions(ctx context.Context, id string, q ListAgentVersionsQuery, options ...Option) iter.Seq2[AgentVersion, error] {
	return pages(&q.Cursor, func() ([]AgentVersion, *string, error) {
		l, err := c.ListAgentVersions(ctx, id, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// GetAgentVersion: Get a version of an agent.
//
// GET /v1/agents/{id}/versions/{version}
func (c *Client) GetAgentVersion(ctx context.Context, id string, version string, options ...Option) (*AgentVersion, error) {
	return send[AgentVersion](ctx, c, "GET", "/v1/agents/"+url.PathEscape(id)+"/versions/"+url.PathEscape(version), nil, nil, options)
}

// ListKeysQuery is what ListKeys can be asked; what is zero is left out.
type ListKeysQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
	// Only what was created after this time.
	CreatedAfter time.Time
	// Only what was created before this time.
	CreatedBefore time.Time
}

func (q *ListKeysQuery) values() url.Values {
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

// ListKeys: List API keys.
//
// GET /v1/api-keys
func (c *Client) ListKeys(ctx context.Context, q ListKeysQuery, options ...Option) (*ListAPIKey, error) {
	return send[ListAPIKey](ctx, c, "GET", "/v1/api-keys", q.values(), nil, options)
}

// AllKeys walks the pages of ListKeys to their end; an error is the last that comes.
func (c *Client) AllKeys(ctx context.Context, q ListKeysQuery, options ...Option) iter.Seq2[APIKey, error] {
	return pages(&q.Cursor, func() ([]APIKey, *string, error) {
		l, err := c.ListKeys(ctx, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// CreateKey: Create an API key.
//
// POST /v1/api-keys
//
// The answer holds the key, this once.
func (c *Client) CreateKey(ctx context.Context, body *NewKey, options ...Option) (*APIKey, error) {
	return send[APIKey](ctx, c, "POST", "/v1/api-keys", nil, asJSON(body), options)
}

// RevokeKey: Revoke an API key at once.
//
// DELETE /v1/api-keys/{id}
func (c *Client) RevokeKey(ctx context.Context, id string, options ...Option) (*Deleted, error) {
	return send[Deleted](ctx, c, "DELETE", "/v1/api-keys/"+url.PathEscape(id), nil, nil, options)
}

// GetKey: Get an API key.
//
// GET /v1/api-keys/{id}
func (c *Client) GetKey(ctx context.Context, id string, options ...Option) (*APIKey, error) {
	return send[APIKey](ctx, c, "GET", "/v1/api-keys/"+url.PathEscape(id), nil, nil, options)
}

// UpdateKey: Change the addresses or the name of an API key.
//
// PUT /v1/api-keys/{id}
func (c *Client) UpdateKey(ctx context.Context, id string, body *KeyChange, options ...Option) (*APIKey, error) {
	return send[APIKey](ctx, c, "PUT", "/v1/api-keys/"+url.PathEscape(id), nil, asJSON(body), options)
}

// ListAppointmentsQuery is what ListAppointments can be asked; what is zero is left out.
type ListAppointmentsQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
	// Only what was created after this time.
	CreatedAfter time.Time
	// Only what was created before this time.
	CreatedBefore time.Time
	// Only those in this state.
	Status string
	// Only those of this provider, by its id or its name.
	Provider string
	// Only those of this patient.
	PatientPhone string
	// Only those made in this call.
	CallID string
	// Only those that begin at this time or later.
	From time.Time
	// Only those that begin before this time.
	To time.Time
}

func (q *ListAppointmentsQuery) values() url.Values {
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
	if q.Provider != "" {
		v.Set("provider", q.Provider)
	}
	if q.PatientPhone != "" {
		v.Set("patient_phone", q.PatientPhone)
	}
	if q.CallID != "" {
		v.Set("call_id", q.CallID)
	}
	if !q.From.IsZero() {
		v.Set("from", q.From.UTC().Format(time.RFC3339Nano))
	}
	if !q.To.IsZero() {
		v.Set("to", q.To.UTC().Format(time.RFC3339Nano))
	}
	return v
}

// ListAppointments: List appointments.
//
// GET /v1/appointments
func (c *Client) ListAppointments(ctx context.Context, q ListAppointmentsQuery, options ...Option) (*ListAppointment, error) {
	return send[ListAppointment](ctx, c, "GET", "/v1/appointments", q.values(), nil, options)
}

// AllAppointments walks the pages of ListAppointments to their end; an error is the last that comes.
func (c *Client) AllAppointments(ctx context.Context, q ListAppointmentsQuery, options ...Option) iter.Seq2[Appointment, error] {
	return pages(&q.Cursor, func() ([]Appointment, *string, error) {
		l, err := c.ListAppointments(ctx, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// BookAppointment: Book an appointment.
//
// POST /v1/appointments
//
// The time must lie within the provider's hours and touch no other appointment: else 409 slot_unavailable, with a reason (booked or closed) and next_available. However many ask at once, one gets it.
func (c *Client) BookAppointment(ctx context.Context, body *NewAppointment, options ...Option) (*Appointment, error) {
	return send[Appointment](ctx, c, "POST", "/v1/appointments", nil, asJSON(body), options)
}

// GetAvailabilityQuery is what GetAvailability can be asked; what is zero is left out.
type GetAvailabilityQuery struct {
	// Its id or its name.
	Provider string
	// A time (RFC 3339, or without an offset as clocks in timezone show it) or a day (YYYY-MM-DD); now unless said.
	From string
	// As from, exclusive, at most 62 days later; a week later unless said.
	To string
	// In which from, to and local_start are meant; the provider's unless said.
	Timezone string
	// How long the appointment shall take; the provider's slot_minutes unless said.
	DurationMinutes int64
	// The most times that are wanted.
	Limit int64
}

func (q *GetAvailabilityQuery) values() url.Values {
	v := make(url.Values)
	if q.Provider != "" {
		v.Set("provider", q.Provider)
	}
	if q.From != "" {
		v.Set("from", q.From)
	}
	if q.To != "" {
		v.Set("to", q.To)
	}
	if q.Timezone != "" {
		v.Set("timezone", q.Timezone)
	}
	if q.DurationMinutes != 0 {
		v.Set("duration_minutes", strconv.FormatInt(q.DurationMinutes, 10))
	}
	if q.Limit != 0 {
		v.Set("limit", strconv.FormatInt(q.Limit, 10))
	}
	return v
}

// GetAvailability: Ask when a provider is free.
//
// GET /v1/appointments/availability
//
// Oldest first, from now on. What is free may be taken before it is booked: then the booking is 409 slot_unavailable.
func (c *Client) GetAvailability(ctx context.Context, q GetAvailabilityQuery, options ...Option) (*Availability, error) {
	return send[Availability](ctx, c, "GET", "/v1/appointments/availability", q.values(), nil, options)
}

// DeleteAppointment: Delete an appointment.
//
// DELETE /v1/appointments/{id}
//
// One that is open is cancelled first. Events that told of it, with name and number, stay in the event log until the workspace is deleted.
func (c *Client) DeleteAppointment(ctx context.Context, id string, options ...Option) (*Deleted, error) {
	return send[Deleted](ctx, c, "DELETE", "/v1/appointments/"+url.PathEscape(id), nil, nil, options)
}

// GetAppointment: Get an appointment.
//
// GET /v1/appointments/{id}
func (c *Client) GetAppointment(ctx context.Context, id string, options ...Option) (*Appointment, error) {
	return send[Appointment](ctx, c, "GET", "/v1/appointments/"+url.PathEscape(id), nil, nil, options)
}

// UpdateAppointment: Change an appointment without moving it.
//
// PATCH /v1/appointments/{id}
func (c *Client) UpdateAppointment(ctx context.Context, id string, body *AppointmentChange, options ...Option) (*Appointment, error) {
	return send[Appointment](ctx, c, "PATCH", "/v1/appointments/"+url.PathEscape(id), nil, asJSON(body), options)
}

// GetAppointmentCalendar: Get an appointment as a calendar file.
//
// GET /v1/appointments/{id}/calendar.ics
//
// The caller reads the body and closes it.
func (c *Client) GetAppointmentCalendar(ctx context.Context, id string, options ...Option) (*http.Response, error) {
	return c.open(ctx, "GET", "/v1/appointments/"+url.PathEscape(id)+"/calendar.ics", nil, nil, options)
}

// CancelAppointment: Cancel an appointment.
//
// POST /v1/appointments/{id}/cancel
//
// Its time is free again. Repeated, it has no effect.
func (c *Client) CancelAppointment(ctx context.Context, id string, body *CancelAppointmentRequest, options ...Option) (*Appointment, error) {
	return send[Appointment](ctx, c, "POST", "/v1/appointments/"+url.PathEscape(id)+"/cancel", nil, asJSON(body), options)
}

// ConfirmAppointment: Confirm an appointment.
//
// POST /v1/appointments/{id}/confirm
//
// Repeated, it has no effect. 409 invalid_state where the appointment is over or cancelled.
func (c *Client) ConfirmAppointment(ctx context.Context, id string, options ...Option) (*Appointment, error) {
	return send[Appointment](ctx, c, "POST", "/v1/appointments/"+url.PathEscape(id)+"/confirm", nil, nil, options)
}

// RescheduleAppointment: Move an appointment.
//
// POST /v1/appointments/{id}/reschedule
//
// Within its provider's calendar or to another one's; 409 slot_unavailable leaves it where it was. Nobody has confirmed the new time: its status is booked.
func (c *Client) RescheduleAppointment(ctx context.Context, id string, body *RescheduleRequest, options ...Option) (*Appointment, error) {
	return send[Appointment](ctx, c, "POST", "/v1/appointments/"+url.PathEscape(id)+"/reschedule", nil, asJSON(body), options)
}

// ListAuditLogsQuery is what ListAuditLogs can be asked; what is zero is left out.
type ListAuditLogsQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
	// Only what was created after this time.
	CreatedAfter time.Time
	// Only what was created before this time.
	CreatedBefore time.Time
	Type          string
	Action        string
	// The id of whoever did it.
	Actor string
}

func (q *ListAuditLogsQuery) values() url.Values {
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
	if q.Type != "" {
		v.Set("type", q.Type)
	}
	if q.Action != "" {
		v.Set("action", q.Action)
	}
	if q.Actor != "" {
		v.Set("actor", q.Actor)
	}
	return v
}

// ListAuditLogs: Read who did what.
//
// GET /v1/audit-logs
//
// Uses of one key from one address within a minute are one entry with a count.
func (c *Client) ListAuditLogs(ctx context.Context, q ListAuditLogsQuery, options ...Option) (*ListAuditEntry, error) {
	return send[ListAuditEntry](ctx, c, "GET", "/v1/audit-logs", q.values(), nil, options)
}

// AllAuditLogs walks the pages of ListAuditLogs to their end; an error is the last that comes.
func (c *Client) AllAuditLogs(ctx context.Context, q ListAuditLogsQuery, options ...Option) iter.Seq2[AuditEntry, error] {
	return pages(&q.Cursor, func() ([]AuditEntry, *string, error) {
		l, err := c.ListAuditLogs(ctx, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// RefreshToken: Refresh a JWT before it expires.
//
// POST /v1/auth/refresh
//
// Send the JWT itself. The next one lives as long as the first did, but never beyond 24 hours after that was issued.
func (c *Client) RefreshToken(ctx context.Context, options ...Option) (*Token, error) {
	return send[Token](ctx, c, "POST", "/v1/auth/refresh", nil, nil, options)
}

// IssueToken: Issue a JWT for a user of yours.
//
// POST /v1/auth/token
//
// API keys only. The token is for the key's workspace and environment and dies with the key; the key's allowed_ips do not bind it.
func (c *Client) IssueToken(ctx context.Context, body *NewToken, options ...Option) (*Token, error) {
	return send[Token](ctx, c, "POST", "/v1/auth/token", nil, asJSON(body), options)
}

// ListBulksQuery is what ListBulks can be asked; what is zero is left out.
type ListBulksQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
	// Only what was created after this time.
	CreatedAfter time.Time
	// Only what was created before this time.
	CreatedBefore time.Time
}

func (q *ListBulksQuery) values() url.Values {
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

// ListBulks: List bulk jobs.
//
// GET /v1/bulk
func (c *Client) ListBulks(ctx context.Context, q ListBulksQuery, options ...Option) (*ListBulk, error) {
	return send[ListBulk](ctx, c, "GET", "/v1/bulk", q.values(), nil, options)
}

// AllBulks walks the pages of ListBulks to their end; an error is the last that comes.
func (c *Client) AllBulks(ctx context.Context, q ListBulksQuery, options ...Option) iter.Seq2[Bulk, error] {
	return pages(&q.Cursor, func() ([]Bulk, *string, error) {
		l, err := c.ListBulks(ctx, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// BulkCalls: Place many calls.
//
// POST /v1/bulk/calls
//
// Answers at once. The items are done one after another, each exactly once, also where the service ends in between. What is wrong with an item is told with its index (from 0) and field, here for up to 1,000 of them and at …/items for all. An item that is invalid by itself is rejected and stops no other. Calls wait for lines and for the plan's calls per minute, in turns with the campaigns: they are never refused for want of one. A call outside its compliance.calling_hours is `waiting` until they open, and lets the others pass; do-not-call lists are asked again right before it is placed.
func (c *Client) BulkCalls(ctx context.Context, body *NewBulkOfNewCallRequestNewCallRequest, options ...Option) (*Bulk, error) {
	return send[Bulk](ctx, c, "POST", "/v1/bulk/calls", nil, asJSON(body), options)
}

// BulkContacts: Add many contacts to a campaign.
//
// POST /v1/bulk/contacts
//
// Answers at once. The items are done one after another, each exactly once, also where the service ends in between. What is wrong with an item is told with its index (from 0) and field, here for up to 1,000 of them and at …/items for all. An item that is invalid by itself is rejected and stops no other. defaults.campaign_id names the campaign.
func (c *Client) BulkContacts(ctx context.Context, body *NewBulkOfBulkContactDefaultsNewContact, options ...Option) (*Bulk, error) {
	return send[Bulk](ctx, c, "POST", "/v1/bulk/contacts", nil, asJSON(body), options)
}

// BulkNumbers: Put many numbers onto a do-not-call list.
//
// POST /v1/bulk/dnc
//
// Answers at once. The items are done one after another, each exactly once, also where the service ends in between. What is wrong with an item is told with its index (from 0) and field, here for up to 1,000 of them and at …/items for all. An item that is invalid by itself is rejected and stops no other.
func (c *Client) BulkNumbers(ctx context.Context, body *NewBulkOfBulkNumberDefaultsDNCNumber, options ...Option) (*Bulk, error) {
	return send[Bulk](ctx, c, "POST", "/v1/bulk/dnc", nil, asJSON(body), options)
}

// BulkSMS: Send many text messages.
//
// POST /v1/bulk/sms
//
// Answers at once. The items are done one after another, each exactly once, also where the service ends in between. What is wrong with an item is told with its index (from 0) and field, here for up to 1,000 of them and at …/items for all. An item that is invalid by itself is rejected and stops no other. With a live key 409 no_sms_route while no trunk carries messages.
func (c *Client) BulkSMS(ctx context.Context, body *NewBulkOfNewMessageNewMessage, options ...Option) (*Bulk, error) {
	return send[Bulk](ctx, c, "POST", "/v1/bulk/sms", nil, asJSON(body), options)
}

// GetBulk: See how far a bulk job is.
//
// GET /v1/bulk/{id}
//
// A job is kept for 30 days after its end.
func (c *Client) GetBulk(ctx context.Context, id string, options ...Option) (*Bulk, error) {
	return send[Bulk](ctx, c, "GET", "/v1/bulk/"+url.PathEscape(id), nil, nil, options)
}

// CancelBulk: Cancel what a bulk job has not begun.
//
// POST /v1/bulk/{id}/cancel
//
// What was done stays; calls go on. Repeated it has no effect; 409 invalid_state where the job is completed.
func (c *Client) CancelBulk(ctx context.Context, id string, options ...Option) (*Bulk, error) {
	return send[Bulk](ctx, c, "POST", "/v1/bulk/"+url.PathEscape(id)+"/cancel", nil, nil, options)
}

// ListBulkItemsQuery is what ListBulkItems can be asked; what is zero is left out.
type ListBulkItemsQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
	// Only items in this state.
	Status string
}

func (q *ListBulkItemsQuery) values() url.Values {
	v := make(url.Values)
	if q.Limit != 0 {
		v.Set("limit", strconv.FormatInt(q.Limit, 10))
	}
	if q.Cursor != "" {
		v.Set("cursor", q.Cursor)
	}
	if q.Status != "" {
		v.Set("status", q.Status)
	}
	return v
}

// ListBulkItems: See what became of the items of a bulk job, in their order.
//
// GET /v1/bulk/{id}/items
func (c *Client) ListBulkItems(ctx context.Context, id string, q ListBulkItemsQuery, options ...Option) (*ListBulkItem, error) {
	return send[ListBulkItem](ctx, c, "GET", "/v1/bulk/"+url.PathEscape(id)+"/items", q.values(), nil, options)
}

// AllBulkItems walks the pages of ListBulkItems to their end; an error is the last that comes.
func (c *Client) AllBulkItems(ctx context.Context, id string, q ListBulkItemsQuery, options ...Option) iter.Seq2[BulkItem, error] {
	return pages(&q.Cursor, func() ([]BulkItem, *string, error) {
		l, err := c.ListBulkItems(ctx, id, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// ListCallsQuery is what ListCalls can be asked; what is zero is left out.
type ListCallsQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
	// Only what was created after this time.
	CreatedAfter time.Time
	// Only what was created before this time.
	CreatedBefore time.Time
	// active: any that is not final.
	Status string
	// Only those of this campaign.
	CampaignID string
	// Only those of this contact.
	ContactID string
	// Only those of this agent.
	AgentID string
	// Only calls of this direction.
	Direction string
}

func (q *ListCallsQuery) values() url.Values {
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
	if q.CampaignID != "" {
		v.Set("campaign_id", q.CampaignID)
	}
	if q.ContactID != "" {
		v.Set("contact_id", q.ContactID)
	}
	if q.AgentID != "" {
		v.Set("agent_id", q.AgentID)
	}
	if q.Direction != "" {
		v.Set("direction", q.Direction)
	}
	return v
}

// ListCalls: List calls.
//
// GET /v1/calls
func (c *Client) ListCalls(ctx context.Context, q ListCallsQuery, options ...Option) (*ListCall, error) {
	return send[ListCall](ctx, c, "GET", "/v1/calls", q.values(), nil, options)
}

// AllCalls walks the pages of ListCalls to their end; an error is the last that comes.
func (c *Client) AllCalls(ctx context.Context, q ListCallsQuery, options ...Option) iter.Seq2[Call, error] {
	return pages(&q.Cursor, func() ([]Call, *string, error) {
		l, err := c.ListCalls(ctx, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// PlaceCall: Place a call.
//
// POST /v1/calls/outbound
//
// Has its own limit per minute, the plan's. With all lines busy: 429 concurrent_limit_exceeded with active_calls and limit.
func (c *Client) PlaceCall(ctx context.Context, body *NewCallRequest, options ...Option) (*Call, error) {
	return send[Call](ctx, c, "POST", "/v1/calls/outbound", nil, asJSON(body), options)
}

// GetCall: Get a call.
//
// GET /v1/calls/{id}
func (c *Client) GetCall(ctx context.Context, id string, options ...Option) (*Call, error) {
	return send[Call](ctx, c, "GET", "/v1/calls/"+url.PathEscape(id), nil, nil, options)
}

// PressInCall: Send digits to the far end.
//
// POST /v1/calls/{id}/dtmf
func (c *Client) PressInCall(ctx context.Context, id string, body *PressRequest, options ...Option) (*Call, error) {
	return send[Call](ctx, c, "POST", "/v1/calls/"+url.PathEscape(id)+"/dtmf", nil, asJSON(body), options)
}

// ListCallEventsQuery is what ListCallEvents can be asked; what is zero is left out.
type ListCallEventsQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
}

func (q *ListCallEventsQuery) values() url.Values {
	v := make(url.Values)
	if q.Limit != 0 {
		v.Set("limit", strconv.FormatInt(q.Limit, 10))
	}
	if q.Cursor != "" {
		v.Set("cursor", q.Cursor)
	}
	return v
}

// ListCallEvents: List the events of a call, oldest first.
//
// GET /v1/calls/{id}/events
func (c *Client) ListCallEvents(ctx context.Context, id string, q ListCallEventsQuery, options ...Option) (*ListEvent, error) {
	return send[ListEvent](ctx, c, "GET", "/v1/calls/"+url.PathEscape(id)+"/events", q.values(), nil, options)
}

// AllCallEvents walks the pages of ListCallEvents to their end; an error is the last that comes.
func (c *Client) AllCallEvents(ctx context.Context, id string, q ListCallEventsQuery, options ...Option) iter.Seq2[Event, error] {
	return pages(&q.Cursor, func() ([]Event, *string, error) {
		l, err := c.ListCallEvents(ctx, id, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// HangUpCall: Hang up.
//
// POST /v1/calls/{id}/hangup
func (c *Client) HangUpCall(ctx context.Context, id string, options ...Option) (*Call, error) {
	return send[Call](ctx, c, "POST", "/v1/calls/"+url.PathEscape(id)+"/hangup", nil, nil, options)
}

// GetRecording: Download the recording.
//
// GET /v1/calls/{id}/recording
//
// Stereo: the caller on the left, the agent or a human on the right. Takes Range.
//
// The caller reads the body and closes it.
func (c *Client) GetRecording(ctx context.Context, id string, options ...Option) (*http.Response, error) {
	return c.open(ctx, "GET", "/v1/calls/"+url.PathEscape(id)+"/recording", nil, nil, options)
}

// LinkRecording: Make a link to the recording.
//
// POST /v1/calls/{id}/recording/link
//
// The link needs no credential and takes Range. It dies with its time, and with the recording.
func (c *Client) LinkRecording(ctx context.Context, id string, body *LinkRequest, options ...Option) (*Link, error) {
	return send[Link](ctx, c, "POST", "/v1/calls/"+url.PathEscape(id)+"/recording/link", nil, asJSON(body), options)
}

// PauseRecording: Pause the recording.
//
// POST /v1/calls/{id}/recording/pause
//
// As for card numbers: the gap is silence of the same length, and the call goes on. 409 unless somebody is talking and the call is recorded.
func (c *Client) PauseRecording(ctx context.Context, id string, options ...Option) (*RecordingState, error) {
	return send[RecordingState](ctx, c, "POST", "/v1/calls/"+url.PathEscape(id)+"/recording/pause", nil, nil, options)
}

// ResumeRecording: Go on recording.
//
// POST /v1/calls/{id}/recording/resume
//
// As for card numbers: the gap is silence of the same length, and the call goes on. 409 unless somebody is talking and the call is recorded.
func (c *Client) ResumeRecording(ctx context.Context, id string, options ...Option) (*RecordingState, error) {
	return send[RecordingState](ctx, c, "POST", "/v1/calls/"+url.PathEscape(id)+"/recording/resume", nil, nil, options)
}

// SayInCall: Have the agent say a text.
//
// POST /v1/calls/{id}/say
//
// It is said besides the pathway, once nothing else sounds.
func (c *Client) SayInCall(ctx context.Context, id string, body *SayRequest, options ...Option) (*Call, error) {
	return send[Call](ctx, c, "POST", "/v1/calls/"+url.PathEscape(id)+"/say", nil, asJSON(body), options)
}

// GetCallMessagesQuery is what GetCallMessages can be asked; what is zero is left out.
type GetCallMessagesQuery struct {
	// How the messages are shown.
	Format string
}

func (q *GetCallMessagesQuery) values() url.Values {
	v := make(url.Values)
	if q.Format != "" {
		v.Set("format", q.Format)
	}
	return v
}

// GetCallMessages: See the SIP messages of a call.
//
// GET /v1/calls/{id}/sip
//
// Of a live call: those so far. A call that a crash interrupted has none. Credentials, keys of SRTP and digits told by INFO are stars. In the capture every message is one UDP packet, whatever carried it.
func (c *Client) GetCallMessages(ctx context.Context, id string, q GetCallMessagesQuery, options ...Option) (*CallMessages, error) {
	return send[CallMessages](ctx, c, "GET", "/v1/calls/"+url.PathEscape(id)+"/sip", q.values(), nil, options)
}

// GetCallMessagesRaw: See the SIP messages of a call.
//
// GET /v1/calls/{id}/sip
//
// Of a live call: those so far. A call that a crash interrupted has none. Credentials, keys of SRTP and digits told by INFO are stars. In the capture every message is one UDP packet, whatever carried it.
//
// The caller reads the body and closes it.
func (c *Client) GetCallMessagesRaw(ctx context.Context, id string, q GetCallMessagesQuery, options ...Option) (*http.Response, error) {
	return c.open(ctx, "GET", "/v1/calls/"+url.PathEscape(id)+"/sip", q.values(), nil, options)
}

// GetTranscript: Read what was said.
//
// GET /v1/calls/{id}/transcript
func (c *Client) GetTranscript(ctx context.Context, id string, options ...Option) (*Transcript, error) {
	return send[Transcript](ctx, c, "GET", "/v1/calls/"+url.PathEscape(id)+"/transcript", nil, nil, options)
}

// TransferCall: Hand the caller on.
//
// POST /v1/calls/{id}/transfer
//
// Answered at once with the call as transferring; call.transferred tells how it ends. Where nobody is reached, and when the other side of a bridge hangs up, the caller is the agent's again.
func (c *Client) TransferCall(ctx context.Context, id string, body *TransferRequest, options ...Option) (*Call, error) {
	return send[Call](ctx, c, "POST", "/v1/calls/"+url.PathEscape(id)+"/transfer", nil, asJSON(body), options)
}

// ListCampaignsQuery is what ListCampaigns can be asked; what is zero is left out.
type ListCampaignsQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
	// Only what was created after this time.
	CreatedAfter time.Time
	// Only what was created before this time.
	CreatedBefore time.Time
	Status        string
}

func (q *ListCampaignsQuery) values() url.Values {
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

// ListCampaigns: List campaigns.
//
// GET /v1/campaigns
func (c *Client) ListCampaigns(ctx context.Context, q ListCampaignsQuery, options ...Option) (*ListCampaign, error) {
	return send[ListCampaign](ctx, c, "GET", "/v1/campaigns", q.values(), nil, options)
}

// AllCampaigns walks the pages of ListCampaigns to their end; an error is the last that comes.
func (c *Client) AllCampaigns(ctx context.Context, q ListCampaignsQuery, options ...Option) iter.Seq2[Campaign, error] {
	return pages(&q.Cursor, func() ([]Campaign, *string, error) {
		l, err := c.ListCampaigns(ctx, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// CreateCampaign: Create a campaign.
//
// POST /v1/campaigns
//
// Creating a campaign never rings a phone: it stays a draft until it is started, or scheduled where its start lies ahead.
func (c *Client) CreateCampaign(ctx context.Context, body *NewCampaign, options ...Option) (*CampaignMade, error) {
	return send[CampaignMade](ctx, c, "POST", "/v1/campaigns", nil, asJSON(body), options)
}

// SimulateDraft: Play a campaign that is not kept.
//
// POST /v1/campaigns/simulate
//
// The body is that of a new campaign with its inline contacts, start_at, seed and assumptions beside. Nothing is created.
func (c *Client) SimulateDraft(ctx context.Context, body *SimulateDraftRequest, options ...Option) (*Simulation, error) {
	return send[Simulation](ctx, c, "POST", "/v1/campaigns/simulate", nil, asJSON(body), options)
}

// DeleteCampaign: Delete a campaign with everything that belongs to it.
//
// DELETE /v1/campaigns/{id}
//
// A draft, or one that is over and has no call going on. Contacts, results, calls, transcripts, recordings and endpoints go; what was billed stays in the ledger, which holds no number.
func (c *Client) DeleteCampaign(ctx context.Context, id string, options ...Option) (*Deleted, error) {
	return send[Deleted](ctx, c, "DELETE", "/v1/campaigns/"+url.PathEscape(id), nil, nil, options)
}

// GetCampaign: Get a campaign.
//
// GET /v1/campaigns/{id}
func (c *Client) GetCampaign(ctx context.Context, id string, options ...Option) (*Campaign, error) {
	return send[Campaign](ctx, c, "GET", "/v1/campaigns/"+url.PathEscape(id), nil, nil, options)
}

// UpdateCampaign: Change a campaign.
//
// PATCH /v1/campaigns/{id}
//
// Everything of a draft. Of one that is scheduled, running or paused pacing, schedule.end, retry and compliance; other fields are 409 invalid_state.
func (c *Client) UpdateCampaign(ctx context.Context, id string, body *CampaignChange, options ...Option) (*CampaignChanged, error) {
	return send[CampaignChanged](ctx, c, "PATCH", "/v1/campaigns/"+url.PathEscape(id), nil, asJSON(body), options)
}

// CancelCampaign: End a campaign for good.
//
// POST /v1/campaigns/{id}/cancel
func (c *Client) CancelCampaign(ctx context.Context, id string, body *CancelRequest, options ...Option) (*CampaignStatusObject, error) {
	return send[CampaignStatusObject](ctx, c, "POST", "/v1/campaigns/"+url.PathEscape(id)+"/cancel", nil, asJSON(body), options)
}

// ListContactsQuery is what ListContacts can be asked; what is zero is left out.
type ListContactsQuery struct {
	Limit  int64
	Cursor string
	Status string
}

func (q *ListContactsQuery) values() url.Values {
	v := make(url.Values)
	if q.Limit != 0 {
		v.Set("limit", strconv.FormatInt(q.Limit, 10))
	}
	if q.Cursor != "" {
		v.Set("cursor", q.Cursor)
	}
	if q.Status != "" {
		v.Set("status", q.Status)
	}
	return v
}

// ListContacts: List a campaign's contacts, in the order of upload.
//
// GET /v1/campaigns/{id}/contacts
func (c *Client) ListContacts(ctx context.Context, id string, q ListContactsQuery, options ...Option) (*ListContact, error) {
	return send[ListContact](ctx, c, "GET", "/v1/campaigns/"+url.PathEscape(id)+"/contacts", q.values(), nil, options)
}

// AllContacts walks the pages of ListContacts to their end; an error is the last that comes.
func (c *Client) AllContacts(ctx context.Context, id string, q ListContactsQuery, options ...Option) iter.Seq2[Contact, error] {
	return pages(&q.Cursor, func() ([]Contact, *string, error) {
		l, err := c.ListContacts(ctx, id, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// AddContacts: Add contacts to a campaign.
//
// POST /v1/campaigns/{id}/contacts
//
// Takes JSON, one JSON object per line, or CSV, all streamed and as large as 1 GB, up to 1,000,000 contacts per campaign. CSV has a header row with a column phone, optionally timezone and country; every other column becomes context. UTF-8 or UTF-16; commas, semicolons or tabs; what spreadsheets add (a line sep=;, a byte order mark, empty columns and rows) is understood. multipart/form-data takes one such file. Rows that cannot be used are counted and the first 100 of them told; the first of duplicates wins. An upload counts as a whole or not at all; GET …/uploads shows how far it is. A campaign that is running goes on with the new contacts at once.
func (c *Client) AddContacts(ctx context.Context, id string, body *ContactsUpload, options ...Option) (*UploadSummary, error) {
	return send[UploadSummary](ctx, c, "POST", "/v1/campaigns/"+url.PathEscape(id)+"/contacts", nil, asJSON(body), options)
}

// AddContactsFrom sends the body as it is read, of a media type that the operation takes.
func (c *Client) AddContactsFrom(ctx context.Context, id string, mediaType string, body io.Reader, options ...Option) (*UploadSummary, error) {
	return send[UploadSummary](ctx, c, "POST", "/v1/campaigns/"+url.PathEscape(id)+"/contacts", nil, stream{mediaType, body}, options)
}

// ExportContactsCSVQuery is what ExportContactsCSV can be asked; what is zero is left out.
type ExportContactsCSVQuery struct {
	// Only contacts in this state.
	Status string
}

func (q *ExportContactsCSVQuery) values() url.Values {
	v := make(url.Values)
	if q.Status != "" {
		v.Set("status", q.Status)
	}
	return v
}

// ExportContactsCSV: Download the contacts as CSV.
//
// GET /v1/campaigns/{id}/contacts.csv
//
// RFC 4180, streamed, in the order of upload; works while the campaign runs. phone, timezone and country, then what became of the contact, then a column for each name in the contexts (200 at most; JSON lines have them all). A value that a spreadsheet would take for a formula begins with an apostrophe, in every column but phone.
//
// The caller reads the body and closes it.
func (c *Client) ExportContactsCSV(ctx context.Context, id string, q ExportContactsCSVQuery, options ...Option) (*http.Response, error) {
	return c.open(ctx, "GET", "/v1/campaigns/"+url.PathEscape(id)+"/contacts.csv", q.values(), nil, options)
}

// ExportContactsJSONLinesQuery is what ExportContactsJSONLines can be asked; what is zero is left out.
type ExportContactsJSONLinesQuery struct {
	// Only contacts in this state.
	Status string
}

func (q *ExportContactsJSONLinesQuery) values() url.Values {
	v := make(url.Values)
	if q.Status != "" {
		v.Set("status", q.Status)
	}
	return v
}

// ExportContactsJSONLines: Download the contacts as JSON, one per line.
//
// GET /v1/campaigns/{id}/contacts.jsonl
//
// Streamed, in the order of upload; works while the campaign runs. Each line is a contact as GET shows it.
//
// The caller reads the body and closes it.
func (c *Client) ExportContactsJSONLines(ctx context.Context, id string, q ExportContactsJSONLinesQuery, options ...Option) (*http.Response, error) {
	return c.open(ctx, "GET", "/v1/campaigns/"+url.PathEscape(id)+"/contacts.jsonl", q.values(), nil, options)
}

// DeleteContact: Take a contact out of a campaign.
//
// DELETE /v1/campaigns/{id}/contacts/{contact_id}
//
// Only while it is pending or retry_wait. It is not rung any more, counts as cancelled, and stays in lists and results.
func (c *Client) DeleteContact(ctx context.Context, id string, contactID string, options ...Option) (*Deleted, error) {
	return send[Deleted](ctx, c, "DELETE", "/v1/campaigns/"+url.PathEscape(id)+"/contacts/"+url.PathEscape(contactID), nil, nil, options)
}

// GetContact: Get a contact of a campaign.
//
// GET /v1/campaigns/{id}/contacts/{contact_id}
func (c *Client) GetContact(ctx context.Context, id string, contactID string, options ...Option) (*Contact, error) {
	return send[Contact](ctx, c, "GET", "/v1/campaigns/"+url.PathEscape(id)+"/contacts/"+url.PathEscape(contactID), nil, nil, options)
}

// UpdateContact: Change a contact that waits.
//
// PATCH /v1/campaigns/{id}/contacts/{contact_id}
//
// Only while it is pending or retry_wait. The very next attempt uses what was changed.
func (c *Client) UpdateContact(ctx context.Context, id string, contactID string, body *ContactPatch, options ...Option) (*Contact, error) {
	return send[Contact](ctx, c, "PATCH", "/v1/campaigns/"+url.PathEscape(id)+"/contacts/"+url.PathEscape(contactID), nil, asJSON(body), options)
}

// ListDecisionsQuery is what ListDecisions can be asked; what is zero is left out.
type ListDecisionsQuery struct {
	Limit  int64
	Cursor string
	// Of this number only.
	Phone string
}

func (q *ListDecisionsQuery) values() url.Values {
	v := make(url.Values)
	if q.Limit != 0 {
		v.Set("limit", strconv.FormatInt(q.Limit, 10))
	}
	if q.Cursor != "" {
		v.Set("cursor", q.Cursor)
	}
	if q.Phone != "" {
		v.Set("phone", q.Phone)
	}
	return v
}

// ListDecisions: Why each contact was or was not called.
//
// GET /v1/campaigns/{id}/decisions
//
// Each rule that let a contact pass, left it out or held it, with what it went by, in the order in which that was written. What held a contact again and again is one rule with a count.
func (c *Client) ListDecisions(ctx context.Context, id string, q ListDecisionsQuery, options ...Option) (*ListDecision, error) {
	return send[ListDecision](ctx, c, "GET", "/v1/campaigns/"+url.PathEscape(id)+"/decisions", q.values(), nil, options)
}

// AllDecisions walks the pages of ListDecisions to their end; an error is the last that comes.
func (c *Client) AllDecisions(ctx context.Context, id string, q ListDecisionsQuery, options ...Option) iter.Seq2[Decision, error] {
	return pages(&q.Cursor, func() ([]Decision, *string, error) {
		l, err := c.ListDecisions(ctx, id, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// ExportDecisions: Download the log of decisions as csv.
//
// GET /v1/campaigns/{id}/decisions.csv
//
// Every row, streamed; works while the campaign runs.
//
// The caller reads the body and closes it.
func (c *Client) ExportDecisions(ctx context.Context, id string, options ...Option) (*http.Response, error) {
	return c.open(ctx, "GET", "/v1/campaigns/"+url.PathEscape(id)+"/decisions.csv", nil, nil, options)
}

// ExportDecisionLines: Download the log of decisions as jsonl.
//
// GET /v1/campaigns/{id}/decisions.jsonl
//
// Every row, streamed; works while the campaign runs.
//
// The caller reads the body and closes it.
func (c *Client) ExportDecisionLines(ctx context.Context, id string, options ...Option) (*http.Response, error) {
	return c.open(ctx, "GET", "/v1/campaigns/"+url.PathEscape(id)+"/decisions.jsonl", nil, nil, options)
}

// VerifyDecisions: Check that the log of decisions is as it was written.
//
// GET /v1/campaigns/{id}/decisions/verify
//
// Each row holds the hash of the one before it, and the campaign the hash of the last; the hashes are keyed by the master key of the service, so that whoever can write to the store cannot make them anew. Tells the first row that does not fit. Keep head elsewhere to prove later that the log has only grown.
func (c *Client) VerifyDecisions(ctx context.Context, id string, options ...Option) (*DecisionsVerified, error) {
	return send[DecisionsVerified](ctx, c, "GET", "/v1/campaigns/"+url.PathEscape(id)+"/decisions/verify", nil, nil, options)
}

// DuplicateCampaign: Make a draft of a campaign.
//
// POST /v1/campaigns/{id}/duplicate
//
// The same settings and contacts, and nothing of what happened. A start or an end that has passed is left out.
func (c *Client) DuplicateCampaign(ctx context.Context, id string, body *DuplicateRequest, options ...Option) (*CampaignMade, error) {
	return send[CampaignMade](ctx, c, "POST", "/v1/campaigns/"+url.PathEscape(id)+"/duplicate", nil, asJSON(body), options)
}

// PauseCampaign: Place no more calls for now.
//
// POST /v1/campaigns/{id}/pause
func (c *Client) PauseCampaign(ctx context.Context, id string, options ...Option) (*CampaignStatusObject, error) {
	return send[CampaignStatusObject](ctx, c, "POST", "/v1/campaigns/"+url.PathEscape(id)+"/pause", nil, nil, options)
}

// RedialCampaign: Make a draft of those whom a campaign has not reached.
//
// POST /v1/campaigns/{id}/redial
//
// A duplicate with the contacts that have one of the outcomes now. Do-not-call lists and calling hours are asked again before each of them is rung.
func (c *Client) RedialCampaign(ctx context.Context, id string, body *RedialRequest, options ...Option) (*CampaignMade, error) {
	return send[CampaignMade](ctx, c, "POST", "/v1/campaigns/"+url.PathEscape(id)+"/redial", nil, asJSON(body), options)
}

// GetCampaignResults: Download the results as CSV.
//
// GET /v1/campaigns/{id}/results
//
// RFC 4180, one row per contact, streamed; works while the campaign runs. A value that a spreadsheet would take for a formula begins with an apostrophe, in every column but phone.
//
// The caller reads the body and closes it.
func (c *Client) GetCampaignResults(ctx context.Context, id string, options ...Option) (*http.Response, error) {
	return c.open(ctx, "GET", "/v1/campaigns/"+url.PathEscape(id)+"/results", nil, nil, options)
}

// ResumeCampaign: Go on after a pause.
//
// POST /v1/campaigns/{id}/resume
func (c *Client) ResumeCampaign(ctx context.Context, id string, options ...Option) (*CampaignStatusObject, error) {
	return send[CampaignStatusObject](ctx, c, "POST", "/v1/campaigns/"+url.PathEscape(id)+"/resume", nil, nil, options)
}

// SimulateCampaign: Play a campaign on a virtual clock.
//
// POST /v1/campaigns/{id}/simulate
//
// Nobody is rung and nothing is kept. Schedule, calling hours, pacing and retries decide as in the real campaign; how calls end is drawn by the assumptions. One simulation of a workspace runs at a time, and it ends with its request.
func (c *Client) SimulateCampaign(ctx context.Context, id string, body *SimulateRequest, options ...Option) (*Simulation, error) {
	return send[Simulation](ctx, c, "POST", "/v1/campaigns/"+url.PathEscape(id)+"/simulate", nil, asJSON(body), options)
}

// StartCampaign: Start a draft.
//
// POST /v1/campaigns/{id}/start
func (c *Client) StartCampaign(ctx context.Context, id string, options ...Option) (*CampaignStatusObject, error) {
	return send[CampaignStatusObject](ctx, c, "POST", "/v1/campaigns/"+url.PathEscape(id)+"/start", nil, nil, options)
}

// GetCampaignStatus: Progress, outcomes, and why nothing rings.
//
// GET /v1/campaigns/{id}/status
func (c *Client) GetCampaignStatus(ctx context.Context, id string, options ...Option) (*CampaignStatusObject, error) {
	return send[CampaignStatusObject](ctx, c, "GET", "/v1/campaigns/"+url.PathEscape(id)+"/status", nil, nil, options)
}

// ListUploadsQuery is what ListUploads can be asked; what is zero is left out.
type ListUploadsQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
	// Only what was created after this time.
	CreatedAfter time.Time
	// Only what was created before this time.
	CreatedBefore time.Time
}

func (q *ListUploadsQuery) values() url.Values {
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

// ListUploads: List the uploads of contacts to a campaign.
//
// GET /v1/campaigns/{id}/uploads
//
// Newest first. One that is still being received shows how far it is.
func (c *Client) ListUploads(ctx context.Context, id string, q ListUploadsQuery, options ...Option) (*ListUpload, error) {
	return send[ListUpload](ctx, c, "GET", "/v1/campaigns/"+url.PathEscape(id)+"/uploads", q.values(), nil, options)
}

// AllUploads walks the pages of ListUploads to their end; an error is the last that comes.
func (c *Client) AllUploads(ctx context.Context, id string, q ListUploadsQuery, options ...Option) iter.Seq2[Upload, error] {
	return pages(&q.Cursor, func() ([]Upload, *string, error) {
		l, err := c.ListUploads(ctx, id, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// GetUpload: See how far an upload is, or what became of it.
//
// GET /v1/campaigns/{id}/uploads/{upload_id}
func (c *Client) GetUpload(ctx context.Context, id string, uploadID string, options ...Option) (*Upload, error) {
	return send[Upload](ctx, c, "GET", "/v1/campaigns/"+url.PathEscape(id)+"/uploads/"+url.PathEscape(uploadID), nil, nil, options)
}

// ListDNCListsQuery is what ListDNCLists can be asked; what is zero is left out.
type ListDNCListsQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
	// Only what was created after this time.
	CreatedAfter time.Time
	// Only what was created before this time.
	CreatedBefore time.Time
}

func (q *ListDNCListsQuery) values() url.Values {
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

// ListDNCLists: List the do-not-call lists.
//
// GET /v1/dnc-lists
//
// The default list takes the opt-outs; every call is checked against it.
func (c *Client) ListDNCLists(ctx context.Context, q ListDNCListsQuery, options ...Option) (*ListDNCList, error) {
	return send[ListDNCList](ctx, c, "GET", "/v1/dnc-lists", q.values(), nil, options)
}

// AllDNCLists walks the pages of ListDNCLists to their end; an error is the last that comes.
func (c *Client) AllDNCLists(ctx context.Context, q ListDNCListsQuery, options ...Option) iter.Seq2[DNCList, error] {
	return pages(&q.Cursor, func() ([]DNCList, *string, error) {
		l, err := c.ListDNCLists(ctx, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// CreateDNCList: Create a do-not-call list.
//
// POST /v1/dnc-lists
func (c *Client) CreateDNCList(ctx context.Context, body *NewDNCList, options ...Option) (*DNCList, error) {
	return send[DNCList](ctx, c, "POST", "/v1/dnc-lists", nil, asJSON(body), options)
}

// DeleteDNCList: Delete a do-not-call list.
//
// DELETE /v1/dnc-lists/{id}
//
// 409 invalid_state for the default list, and while an open campaign names it.
func (c *Client) DeleteDNCList(ctx context.Context, id string, options ...Option) (*Deleted, error) {
	return send[Deleted](ctx, c, "DELETE", "/v1/dnc-lists/"+url.PathEscape(id), nil, nil, options)
}

// GetDNCList: Get a do-not-call list.
//
// GET /v1/dnc-lists/{id}
func (c *Client) GetDNCList(ctx context.Context, id string, options ...Option) (*DNCList, error) {
	return send[DNCList](ctx, c, "GET", "/v1/dnc-lists/"+url.PathEscape(id), nil, nil, options)
}

// UpdateDNCList: Change a do-not-call list.
//
// PATCH /v1/dnc-lists/{id}
func (c *Client) UpdateDNCList(ctx context.Context, id string, body *DNCListChange, options ...Option) (*DNCList, error) {
	return send[DNCList](ctx, c, "PATCH", "/v1/dnc-lists/"+url.PathEscape(id), nil, asJSON(body), options)
}

// ListDNCEntriesQuery is what ListDNCEntries can be asked; what is zero is left out.
type ListDNCEntriesQuery struct {
	Limit  int64
	Cursor string
}

func (q *ListDNCEntriesQuery) values() url.Values {
	v := make(url.Values)
	if q.Limit != 0 {
		v.Set("limit", strconv.FormatInt(q.Limit, 10))
	}
	if q.Cursor != "" {
		v.Set("cursor", q.Cursor)
	}
	return v
}

// ListDNCEntries: List the numbers of a do-not-call list, in an order of its own.
//
// GET /v1/dnc-lists/{id}/entries
func (c *Client) ListDNCEntries(ctx context.Context, id string, q ListDNCEntriesQuery, options ...Option) (*ListDNCEntry, error) {
	return send[ListDNCEntry](ctx, c, "GET", "/v1/dnc-lists/"+url.PathEscape(id)+"/entries", q.values(), nil, options)
}

// AllDNCEntries walks the pages of ListDNCEntries to their end; an error is the last that comes.
func (c *Client) AllDNCEntries(ctx context.Context, id string, q ListDNCEntriesQuery, options ...Option) iter.Seq2[DNCEntry, error] {
	return pages(&q.Cursor, func() ([]DNCEntry, *string, error) {
		l, err := c.ListDNCEntries(ctx, id, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// ImportDNCEntries: Put numbers onto a do-not-call list.
//
// POST /v1/dnc-lists/{id}/entries
//
// Takes JSON, or text/csv with a header row and a column phone, or text/plain with one number per line; these may be streamed and hold 10 million numbers. Rows that cannot be used are counted and the first 100 of them told. What was added before an import broke off stays; the same import again adds the rest. Each number holds from its import on, also for attempts that are queued.
func (c *Client) ImportDNCEntries(ctx context.Context, id string, body *DNCNumbers, options ...Option) (*DNCImport, error) {
	return send[DNCImport](ctx, c, "POST", "/v1/dnc-lists/"+url.PathEscape(id)+"/entries", nil, asJSON(body), options)
}

// ImportDNCEntriesFrom sends the body as it is read, of a media type that the operation takes.
func (c *Client) ImportDNCEntriesFrom(ctx context.Context, id string, mediaType string, body io.Reader, options ...Option) (*DNCImport, error) {
	return send[DNCImport](ctx, c, "POST", "/v1/dnc-lists/"+url.PathEscape(id)+"/entries", nil, stream{mediaType, body}, options)
}

// DeleteDNCEntry: Take a number off a do-not-call list.
//
// DELETE /v1/dnc-lists/{id}/entries/{phone}
func (c *Client) DeleteDNCEntry(ctx context.Context, id string, phone string, options ...Option) (*DNCEntryDeleted, error) {
	return send[DNCEntryDeleted](ctx, c, "DELETE", "/v1/dnc-lists/"+url.PathEscape(id)+"/entries/"+url.PathEscape(phone), nil, nil, options)
}

// CheckDNCQuery is what CheckDNC can be asked; what is zero is left out.
type CheckDNCQuery struct {
	// Best in E.164.
	Phone string
}

func (q *CheckDNCQuery) values() url.Values {
	v := make(url.Values)
	if q.Phone != "" {
		v.Set("phone", q.Phone)
	}
	return v
}

// CheckDNC: Ask whether a number is on a do-not-call list.
//
// GET /v1/dnc/check
//
// Looks into every list of the workspace.
func (c *Client) CheckDNC(ctx context.Context, q CheckDNCQuery, options ...Option) (*DNCCheck, error) {
	return send[DNCCheck](ctx, c, "GET", "/v1/dnc/check", q.values(), nil, options)
}

// ListEventsQuery is what ListEvents can be asked; what is zero is left out.
type ListEventsQuery struct {
	// The id of the last event seen; left out: from the oldest that is kept.
	After string
	// The same, under the name that lists give it.
	Cursor string
	// Event names, or a category such as call.*, parted by commas.
	Type  string
	Limit int64
}

func (q *ListEventsQuery) values() url.Values {
	v := make(url.Values)
	if q.After != "" {
		v.Set("after", q.After)
	}
	if q.Cursor != "" {
		v.Set("cursor", q.Cursor)
	}
	if q.Type != "" {
		v.Set("type", q.Type)
	}
	if q.Limit != 0 {
		v.Set("limit", strconv.FormatInt(q.Limit, 10))
	}
	return v
}

// ListEvents: Read events forwards, oldest first.
//
// GET /v1/events
//
// For the next page send the last id as after. Only events of resources that the credential may read are shown.
func (c *Client) ListEvents(ctx context.Context, q ListEventsQuery, options ...Option) (*ListEvent, error) {
	return send[ListEvent](ctx, c, "GET", "/v1/events", q.values(), nil, options)
}

// AllEvents walks the pages of ListEvents to their end; an error is the last that comes.
func (c *Client) AllEvents(ctx context.Context, q ListEventsQuery, options ...Option) iter.Seq2[Event, error] {
	return pages(&q.Cursor, func() ([]Event, *string, error) {
		l, err := c.ListEvents(ctx, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// StreamEventsQuery is what StreamEvents can be asked; what is zero is left out.
type StreamEventsQuery struct {
	// The id of the last event seen, or now.
	After string
	// Event names, or a category such as call.*, parted by commas.
	Type string
}

func (q *StreamEventsQuery) values() url.Values {
	v := make(url.Values)
	if q.After != "" {
		v.Set("after", q.After)
	}
	if q.Type != "" {
		v.Set("type", q.Type)
	}
	return v
}

// StreamEvents: Follow events as they happen.
//
// GET /v1/events/stream
//
// Server-sent events (EventSource), forwards in the order in which they happened: each with its id and, as data, an Event in one line. Begins after Last-Event-ID or after; at the oldest event that is kept without either; with after=now at the next that happens. A comment every 15 seconds shows that the line holds. Nothing is lost on a reader who is slow, nor on one who comes back with the last id. The stream ends with its credential, and when the service stops: come back then. A workspace may have 100 open. Browsers use a ticket, and another each time they come back.
//
// The caller reads the body and closes it.
func (c *Client) StreamEvents(ctx context.Context, q StreamEventsQuery, options ...Option) (*http.Response, error) {
	return c.open(ctx, "GET", "/v1/events/stream", q.values(), nil, options)
}

// GetEvent: Read an event.
//
// GET /v1/events/{id}
//
// 403 where the credential may not read the resource that it is about.
func (c *Client) GetEvent(ctx context.Context, id string, options ...Option) (*Event, error) {
	return send[Event](ctx, c, "GET", "/v1/events/"+url.PathEscape(id), nil, nil, options)
}

// ListExportsQuery is what ListExports can be asked; what is zero is left out.
type ListExportsQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
	// Only what was created after this time.
	CreatedAfter time.Time
	// Only what was created before this time.
	CreatedBefore time.Time
}

func (q *ListExportsQuery) values() url.Values {
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

// ListExports: List exports.
//
// GET /v1/exports
func (c *Client) ListExports(ctx context.Context, q ListExportsQuery, options ...Option) (*ListExport, error) {
	return send[ListExport](ctx, c, "GET", "/v1/exports", q.values(), nil, options)
}

// AllExports walks the pages of ListExports to their end; an error is the last that comes.
func (c *Client) AllExports(ctx context.Context, q ListExportsQuery, options ...Option) iter.Seq2[Export, error] {
	return pages(&q.Cursor, func() ([]Export, *string, error) {
		l, err := c.ListExports(ctx, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// CreateExport: Order a file of many rows.
//
// POST /v1/exports
//
// Ten per hour. The file is written in the background, oldest rows first, and kept for seven days. In CSV no cell is taken for a formula.
func (c *Client) CreateExport(ctx context.Context, body *NewExport, options ...Option) (*Export, error) {
	return send[Export](ctx, c, "POST", "/v1/exports", nil, asJSON(body), options)
}

// GetExport: See whether a file is ready.
//
// GET /v1/exports/{id}
func (c *Client) GetExport(ctx context.Context, id string, options ...Option) (*Export, error) {
	return send[Export](ctx, c, "GET", "/v1/exports/"+url.PathEscape(id), nil, nil, options)
}

// DownloadExport: Download the file.
//
// GET /v1/exports/{id}/download
//
// Takes Range. 202 while the file is made, 410 export_expired once it is deleted.
//
// The caller reads the body and closes it.
func (c *Client) DownloadExport(ctx context.Context, id string, options ...Option) (*http.Response, error) {
	return c.open(ctx, "GET", "/v1/exports/"+url.PathEscape(id)+"/download", nil, nil, options)
}

// ListKnowledgeBasesQuery is what ListKnowledgeBases can be asked; what is zero is left out.
type ListKnowledgeBasesQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
	// Only what was created after this time.
	CreatedAfter time.Time
	// Only what was created before this time.
	CreatedBefore time.Time
}

func (q *ListKnowledgeBasesQuery) values() url.Values {
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

// ListKnowledgeBases: List knowledge bases.
//
// GET /v1/knowledge-base
func (c *Client) ListKnowledgeBases(ctx context.Context, q ListKnowledgeBasesQuery, options ...Option) (*ListKnowledgeBase, error) {
	return send[ListKnowledgeBase](ctx, c, "GET", "/v1/knowledge-base", q.values(), nil, options)
}

// AllKnowledgeBases walks the pages of ListKnowledgeBases to their end; an error is the last that comes.
func (c *Client) AllKnowledgeBases(ctx context.Context, q ListKnowledgeBasesQuery, options ...Option) iter.Seq2[KnowledgeBase, error] {
	return pages(&q.Cursor, func() ([]KnowledgeBase, *string, error) {
		l, err := c.ListKnowledgeBases(ctx, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// CreateKnowledgeBase: Create a knowledge base.
//
// POST /v1/knowledge-base
//
// Its sources are read after the answer: status goes from processing to ready, or to failed where no source could be read. All routes of this path share 60 requests per minute.
func (c *Client) CreateKnowledgeBase(ctx context.Context, body *NewKnowledge, options ...Option) (*KnowledgeBase, error) {
	return send[KnowledgeBase](ctx, c, "POST", "/v1/knowledge-base", nil, asJSON(body), options)
}

// DeleteKnowledgeBase: Delete a knowledge base with its sources.
//
// DELETE /v1/knowledge-base/{id}
func (c *Client) DeleteKnowledgeBase(ctx context.Context, id string, options ...Option) (*Deleted, error) {
	return send[Deleted](ctx, c, "DELETE", "/v1/knowledge-base/"+url.PathEscape(id), nil, nil, options)
}

// GetKnowledgeBase: Get a knowledge base.
//
// GET /v1/knowledge-base/{id}
func (c *Client) GetKnowledgeBase(ctx context.Context, id string, options ...Option) (*KnowledgeBase, error) {
	return send[KnowledgeBase](ctx, c, "GET", "/v1/knowledge-base/"+url.PathEscape(id), nil, nil, options)
}

// UpdateKnowledgeBase: Change a knowledge base.
//
// PATCH /v1/knowledge-base/{id}
func (c *Client) UpdateKnowledgeBase(ctx context.Context, id string, body *KnowledgeChange, options ...Option) (*KnowledgeBase, error) {
	return send[KnowledgeBase](ctx, c, "PATCH", "/v1/knowledge-base/"+url.PathEscape(id), nil, asJSON(body), options)
}

// SearchKnowledgeBase: Search a knowledge base.
//
// POST /v1/knowledge-base/{id}/search
//
// By words: passages that hold rarer ones, and more of them, come first. Only sources that are ready are searched.
func (c *Client) SearchKnowledgeBase(ctx context.Context, id string, body *KnowledgeQuery, options ...Option) (*KnowledgeFound, error) {
	return send[KnowledgeFound](ctx, c, "POST", "/v1/knowledge-base/"+url.PathEscape(id)+"/search", nil, asJSON(body), options)
}

// ListKnowledgeSourcesQuery is what ListKnowledgeSources can be asked; what is zero is left out.
type ListKnowledgeSourcesQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
	// Only what was created after this time.
	CreatedAfter time.Time
	// Only what was created before this time.
	CreatedBefore time.Time
}

func (q *ListKnowledgeSourcesQuery) values() url.Values {
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

// ListKnowledgeSources: List the sources of a knowledge base.
//
// GET /v1/knowledge-base/{id}/sources
func (c *Client) ListKnowledgeSources(ctx context.Context, id string, q ListKnowledgeSourcesQuery, options ...Option) (*ListKnowledgeSource, error) {
	return send[ListKnowledgeSource](ctx, c, "GET", "/v1/knowledge-base/"+url.PathEscape(id)+"/sources", q.values(), nil, options)
}

// AllKnowledgeSources walks the pages of ListKnowledgeSources to their end; an error is the last that comes.
func (c *Client) AllKnowledgeSources(ctx context.Context, id string, q ListKnowledgeSourcesQuery, options ...Option) iter.Seq2[KnowledgeSource, error] {
	return pages(&q.Cursor, func() ([]KnowledgeSource, *string, error) {
		l, err := c.ListKnowledgeSources(ctx, id, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// AddKnowledgeSource: Add a source to a knowledge base.
//
// POST /v1/knowledge-base/{id}/sources
func (c *Client) AddKnowledgeSource(ctx context.Context, id string, body *NewSource, options ...Option) (*KnowledgeSource, error) {
	return send[KnowledgeSource](ctx, c, "POST", "/v1/knowledge-base/"+url.PathEscape(id)+"/sources", nil, asJSON(body), options)
}

// DeleteKnowledgeSource: Delete a source of a knowledge base.
//
// DELETE /v1/knowledge-base/{id}/sources/{source_id}
func (c *Client) DeleteKnowledgeSource(ctx context.Context, id string, sourceID string, options ...Option) (*Deleted, error) {
	return send[Deleted](ctx, c, "DELETE", "/v1/knowledge-base/"+url.PathEscape(id)+"/sources/"+url.PathEscape(sourceID), nil, nil, options)
}

// GetKnowledgeSource: Get a source of a knowledge base.
//
// GET /v1/knowledge-base/{id}/sources/{source_id}
func (c *Client) GetKnowledgeSource(ctx context.Context, id string, sourceID string, options ...Option) (*KnowledgeSource, error) {
	return send[KnowledgeSource](ctx, c, "GET", "/v1/knowledge-base/"+url.PathEscape(id)+"/sources/"+url.PathEscape(sourceID), nil, nil, options)
}

// ListClientsQuery is what ListClients can be asked; what is zero is left out.
type ListClientsQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
	// Only what was created after this time.
	CreatedAfter time.Time
	// Only what was created before this time.
	CreatedBefore time.Time
}

func (q *ListClientsQuery) values() url.Values {
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

// ListClients: List OAuth clients.
//
// GET /v1/oauth/clients
func (c *Client) ListClients(ctx context.Context, q ListClientsQuery, options ...Option) (*ListOAuthClient, error) {
	return send[ListOAuthClient](ctx, c, "GET", "/v1/oauth/clients", q.values(), nil, options)
}

// AllClients walks the pages of ListClients to their end; an error is the last that comes.
func (c *Client) AllClients(ctx context.Context, q ListClientsQuery, options ...Option) iter.Seq2[OAuthClient, error] {
	return pages(&q.Cursor, func() ([]OAuthClient, *string, error) {
		l, err := c.ListClients(ctx, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// CreateClient: Create an OAuth client.
//
// POST /v1/oauth/clients
//
// API keys only; 403 plan_required below the plan enterprise. The answer holds client_secret, this once: for another secret create another client.
func (c *Client) CreateClient(ctx context.Context, body *NewOAuthClient, options ...Option) (*OAuthClient, error) {
	return send[OAuthClient](ctx, c, "POST", "/v1/oauth/clients", nil, asJSON(body), options)
}

// DeleteClient: Delete an OAuth client and refuse its tokens at once.
//
// DELETE /v1/oauth/clients/{id}
//
// On every plan: what was given can always be taken away.
func (c *Client) DeleteClient(ctx context.Context, id string, options ...Option) (*Deleted, error) {
	return send[Deleted](ctx, c, "DELETE", "/v1/oauth/clients/"+url.PathEscape(id), nil, nil, options)
}

// GetClient: Get an OAuth client.
//
// GET /v1/oauth/clients/{id}
func (c *Client) GetClient(ctx context.Context, id string, options ...Option) (*OAuthClient, error) {
	return send[OAuthClient](ctx, c, "GET", "/v1/oauth/clients/"+url.PathEscape(id), nil, nil, options)
}

// ListPathwaysQuery is what ListPathways can be asked; what is zero is left out.
type ListPathwaysQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
	// Only what was created after this time.
	CreatedAfter time.Time
	// Only what was created before this time.
	CreatedBefore time.Time
}

func (q *ListPathwaysQuery) values() url.Values {
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

// ListPathways: List pathways.
//
// GET /v1/pathways
func (c *Client) ListPathways(ctx context.Context, q ListPathwaysQuery, options ...Option) (*ListPathway, error) {
	return send[ListPathway](ctx, c, "GET", "/v1/pathways", q.values(), nil, options)
}

// AllPathways walks the pages of ListPathways to their end; an error is the last that comes.
func (c *Client) AllPathways(ctx context.Context, q ListPathwaysQuery, options ...Option) iter.Seq2[Pathway, error] {
	return pages(&q.Cursor, func() ([]Pathway, *string, error) {
		l, err := c.ListPathways(ctx, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// CreatePathway: Create a pathway.
//
// POST /v1/pathways
//
// Nodes say, collect, converse, dtmf, condition, tool, appointment, sms, transfer, agent and end; edges lead from node to node. Text takes {{name}} and {{name | fallback}}. Tools, knowledge bases and agents that nodes name must be the workspace's. Calls walk say, collect (of keys), dtmf, transfer and end, by key presses, time-outs, always, else, success and failure; what takes an engine that is not configured is kept, told of by validate, and refused when a call would walk it (409 engine_not_configured).
func (c *Client) CreatePathway(ctx context.Context, body *PathwayChange, options ...Option) (*Pathway, error) {
	return send[Pathway](ctx, c, "POST", "/v1/pathways", nil, asJSON(body), options)
}

// ValidatePathway: Check a pathway without saving it.
//
// POST /v1/pathways/validate
func (c *Client) ValidatePathway(ctx context.Context, body *PathwayChange, options ...Option) (*PathwayReport, error) {
	return send[PathwayReport](ctx, c, "POST", "/v1/pathways/validate", nil, asJSON(body), options)
}

// DeletePathway: Delete a pathway.
//
// DELETE /v1/pathways/{id}
func (c *Client) DeletePathway(ctx context.Context, id string, options ...Option) (*Deleted, error) {
	return send[Deleted](ctx, c, "DELETE", "/v1/pathways/"+url.PathEscape(id), nil, nil, options)
}

// GetPathway: Get a pathway.
//
// GET /v1/pathways/{id}
func (c *Client) GetPathway(ctx context.Context, id string, options ...Option) (*Pathway, error) {
	return send[Pathway](ctx, c, "GET", "/v1/pathways/"+url.PathEscape(id), nil, nil, options)
}

// UpdatePathway: Change a pathway.
//
// PATCH /v1/pathways/{id}
//
// Calls and campaigns that are running keep the pathway they began with.
func (c *Client) UpdatePathway(ctx context.Context, id string, body *PathwayChange, options ...Option) (*Pathway, error) {
	return send[Pathway](ctx, c, "PATCH", "/v1/pathways/"+url.PathEscape(id), nil, asJSON(body), options)
}

// ChatWithPathway: Walk a pathway in text.
//
// POST /v1/pathways/{id}/chat
//
// By the rules that calls walk it by, but for prompts, which are heard to their end. Transfers, tools, messages and appointments are told of and not done; they count as done well. 409 engine_not_configured where it takes an engine.
func (c *Client) ChatWithPathway(ctx context.Context, id string, body *ChatRequest, options ...Option) (*ChatAnswer, error) {
	return send[ChatAnswer](ctx, c, "POST", "/v1/pathways/"+url.PathEscape(id)+"/chat", nil, asJSON(body), options)
}

// ReplayCall: Walk a pathway as a call went.
//
// POST /v1/pathways/{id}/replay
//
// What was keyed in during a call that is over is keyed in again, and what the pathway says now stands beside what was said then. It shows the words of the call: the key must read calls and agents (*:read).
func (c *Client) ReplayCall(ctx context.Context, id string, body *CallReplay, options ...Option) (*CallReplayed, error) {
	return send[CallReplayed](ctx, c, "POST", "/v1/pathways/"+url.PathEscape(id)+"/replay", nil, asJSON(body), options)
}

// ValidateSavedPathway: Check a saved pathway.
//
// POST /v1/pathways/{id}/validate
func (c *Client) ValidateSavedPathway(ctx context.Context, id string, options ...Option) (*PathwayReport, error) {
	return send[PathwayReport](ctx, c, "POST", "/v1/pathways/"+url.PathEscape(id)+"/validate", nil, nil, options)
}

// ListNumbersQuery is what ListNumbers can be asked; what is zero is left out.
type ListNumbersQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
	// Only what was created after this time.
	CreatedAfter time.Time
	// Only what was created before this time.
	CreatedBefore time.Time
}

func (q *ListNumbersQuery) values() url.Values {
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

// ListNumbers: List numbers.
//
// GET /v1/phone-numbers
func (c *Client) ListNumbers(ctx context.Context, q ListNumbersQuery, options ...Option) (*ListPhoneNumber, error) {
	return send[ListPhoneNumber](ctx, c, "GET", "/v1/phone-numbers", q.values(), nil, options)
}

// AllNumbers walks the pages of ListNumbers to their end; an error is the last that comes.
func (c *Client) AllNumbers(ctx context.Context, q ListNumbersQuery, options ...Option) iter.Seq2[PhoneNumber, error] {
	return pages(&q.Cursor, func() ([]PhoneNumber, *string, error) {
		l, err := c.ListNumbers(ctx, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// CreateNumber: Let an agent answer a number.
//
// POST /v1/phone-numbers
//
// A number is unique in the installation: 409 already_exists.
func (c *Client) CreateNumber(ctx context.Context, body *NewNumber, options ...Option) (*PhoneNumber, error) {
	return send[PhoneNumber](ctx, c, "POST", "/v1/phone-numbers", nil, asJSON(body), options)
}

// DeleteNumber: Give a number up.
//
// DELETE /v1/phone-numbers/{id}
func (c *Client) DeleteNumber(ctx context.Context, id string, options ...Option) (*Deleted, error) {
	return send[Deleted](ctx, c, "DELETE", "/v1/phone-numbers/"+url.PathEscape(id), nil, nil, options)
}

// GetNumber: Get a number.
//
// GET /v1/phone-numbers/{id}
func (c *Client) GetNumber(ctx context.Context, id string, options ...Option) (*PhoneNumber, error) {
	return send[PhoneNumber](ctx, c, "GET", "/v1/phone-numbers/"+url.PathEscape(id), nil, nil, options)
}

// UpdateNumber: Let somebody else answer a number.
//
// PATCH /v1/phone-numbers/{id}
func (c *Client) UpdateNumber(ctx context.Context, id string, body *NumberChange, options ...Option) (*PhoneNumber, error) {
	return send[PhoneNumber](ctx, c, "PATCH", "/v1/phone-numbers/"+url.PathEscape(id), nil, asJSON(body), options)
}

// ListPhonesQuery is what ListPhones can be asked; what is zero is left out.
type ListPhonesQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
	// Only what was created after this time.
	CreatedAfter time.Time
	// Only what was created before this time.
	CreatedBefore time.Time
}

func (q *ListPhonesQuery) values() url.Values {
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

// ListPhones: List phones.
//
// GET /v1/phones
func (c *Client) ListPhones(ctx context.Context, q ListPhonesQuery, options ...Option) (*ListPhone, error) {
	return send[ListPhone](ctx, c, "GET", "/v1/phones", q.values(), nil, options)
}

// AllPhones walks the pages of ListPhones to their end; an error is the last that comes.
func (c *Client) AllPhones(ctx context.Context, q ListPhonesQuery, options ...Option) iter.Seq2[Phone, error] {
	return pages(&q.Cursor, func() ([]Phone, *string, error) {
		l, err := c.ListPhones(ctx, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// CreatePhone: Let a phone register.
//
// POST /v1/phones
//
// The phone signs in at the service's SIP address with username and password. A password that was made is shown in this answer only.
func (c *Client) CreatePhone(ctx context.Context, body *PhoneChange, options ...Option) (*Phone, error) {
	return send[Phone](ctx, c, "POST", "/v1/phones", nil, asJSON(body), options)
}

// DeletePhone: Delete a phone.
//
// DELETE /v1/phones/{id}
func (c *Client) DeletePhone(ctx context.Context, id string, options ...Option) (*Deleted, error) {
	return send[Deleted](ctx, c, "DELETE", "/v1/phones/"+url.PathEscape(id), nil, nil, options)
}

// GetPhone: Get a phone.
//
// GET /v1/phones/{id}
func (c *Client) GetPhone(ctx context.Context, id string, options ...Option) (*Phone, error) {
	return send[Phone](ctx, c, "GET", "/v1/phones/"+url.PathEscape(id), nil, nil, options)
}

// UpdatePhone: Change a phone.
//
// PATCH /v1/phones/{id}
//
// Calls that are running go on.
func (c *Client) UpdatePhone(ctx context.Context, id string, body *PhoneChange, options ...Option) (*Phone, error) {
	return send[Phone](ctx, c, "PATCH", "/v1/phones/"+url.PathEscape(id), nil, asJSON(body), options)
}

// ListProvidersQuery is what ListProviders can be asked; what is zero is left out.
type ListProvidersQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
	// Only what was created after this time.
	CreatedAfter time.Time
	// Only what was created before this time.
	CreatedBefore time.Time
}

func (q *ListProvidersQuery) values() url.Values {
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

// ListProviders: List providers.
//
// GET /v1/providers
func (c *Client) ListProviders(ctx context.Context, q ListProvidersQuery, options ...Option) (*ListProvider, error) {
	return send[ListProvider](ctx, c, "GET", "/v1/providers", q.values(), nil, options)
}

// AllProviders walks the pages of ListProviders to their end; an error is the last that comes.
func (c *Client) AllProviders(ctx context.Context, q ListProvidersQuery, options ...Option) iter.Seq2[Provider, error] {
	return pages(&q.Cursor, func() ([]Provider, *string, error) {
		l, err := c.ListProviders(ctx, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// CreateProvider: Make a provider that can be booked.
//
// POST /v1/providers
//
// A provider has one appointment at a time. Where clocks are changed, its hours are what they show.
func (c *Client) CreateProvider(ctx context.Context, body *ProviderChange, options ...Option) (*Provider, error) {
	return send[Provider](ctx, c, "POST", "/v1/providers", nil, asJSON(body), options)
}

// DeleteProvider: Delete a provider.
//
// DELETE /v1/providers/{id}
//
// 409 invalid_state while an appointment lies ahead. Past ones stay.
func (c *Client) DeleteProvider(ctx context.Context, id string, options ...Option) (*Deleted, error) {
	return send[Deleted](ctx, c, "DELETE", "/v1/providers/"+url.PathEscape(id), nil, nil, options)
}

// GetProvider: Get a provider.
//
// GET /v1/providers/{id}
func (c *Client) GetProvider(ctx context.Context, id string, options ...Option) (*Provider, error) {
	return send[Provider](ctx, c, "GET", "/v1/providers/"+url.PathEscape(id), nil, nil, options)
}

// UpdateProvider: Change a provider.
//
// PATCH /v1/providers/{id}
//
// Appointments that there are stay where they are.
func (c *Client) UpdateProvider(ctx context.Context, id string, body *ProviderChange, options ...Option) (*Provider, error) {
	return send[Provider](ctx, c, "PATCH", "/v1/providers/"+url.PathEscape(id), nil, asJSON(body), options)
}

// ListSMSQuery is what ListSMS can be asked; what is zero is left out.
type ListSMSQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
	// Only what was created after this time.
	CreatedAfter time.Time
	// Only what was created before this time.
	CreatedBefore time.Time
	// Only those in this state.
	Status string
	// Only those of this direction.
	Direction string
	// Only those to this number.
	To string
	// Only those from this number.
	From string
}

func (q *ListSMSQuery) values() url.Values {
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
	if q.Direction != "" {
		v.Set("direction", q.Direction)
	}
	if q.To != "" {
		v.Set("to", q.To)
	}
	if q.From != "" {
		v.Set("from", q.From)
	}
	return v
}

// ListSMS: List text messages.
//
// GET /v1/sms
func (c *Client) ListSMS(ctx context.Context, q ListSMSQuery, options ...Option) (*ListMessage, error) {
	return send[ListMessage](ctx, c, "GET", "/v1/sms", q.values(), nil, options)
}

// AllSMS walks the pages of ListSMS to their end; an error is the last that comes.
func (c *Client) AllSMS(ctx context.Context, q ListSMSQuery, options ...Option) iter.Seq2[Message, error] {
	return pages(&q.Cursor, func() ([]Message, *string, error) {
		l, err := c.ListSMS(ctx, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// SendSMS: Send a text message.
//
// POST /v1/sms
//
// Answers with the message as queued; what becomes of it is told by sms.sent, sms.delivered and sms.failed. Who opted out is 403 recipient_opted_out. With a live key 409 no_sms_route while no trunk carries messages; with a test key the built-in carrier takes them. All routes of this path share 100 requests per minute.
func (c *Client) SendSMS(ctx context.Context, body *NewMessage, options ...Option) (*Message, error) {
	return send[Message](ctx, c, "POST", "/v1/sms", nil, asJSON(body), options)
}

// DeleteSMS: Delete a text message.
//
// DELETE /v1/sms/{id}
//
// 409 invalid_state while it is on its way. Events that told of it, with numbers and, of one that came in, its words, stay in the event log until the workspace is deleted.
func (c *Client) DeleteSMS(ctx context.Context, id string, options ...Option) (*Deleted, error) {
	return send[Deleted](ctx, c, "DELETE", "/v1/sms/"+url.PathEscape(id), nil, nil, options)
}

// GetSMS: Get a text message.
//
// GET /v1/sms/{id}
func (c *Client) GetSMS(ctx context.Context, id string, options ...Option) (*Message, error) {
	return send[Message](ctx, c, "GET", "/v1/sms/"+url.PathEscape(id), nil, nil, options)
}

// TestInboundCall: Let the built-in carrier call a number.
//
// POST /v1/test/inbound-calls
//
// With a test key only. The call runs over real SIP and RTP within the machine.
func (c *Client) TestInboundCall(ctx context.Context, body *TestInbound, options ...Option) (*Call, error) {
	return send[Call](ctx, c, "POST", "/v1/test/inbound-calls", nil, asJSON(body), options)
}

// TestInboundSMS: Let the built-in carrier send a text message to the workspace.
//
// POST /v1/test/inbound-sms
//
// With a test key only. sms.received tells of it; a message that only says STOP, or another word that carriers know, opts its sender out.
func (c *Client) TestInboundSMS(ctx context.Context, body *TestMessage, options ...Option) (*Message, error) {
	return send[Message](ctx, c, "POST", "/v1/test/inbound-sms", nil, asJSON(body), options)
}

// CreateTicket: Make a ticket for a browser.
//
// POST /v1/tickets
//
// The URL opens the path once, within 60 seconds, with the rights of the key that asks, as long as that is good.
func (c *Client) CreateTicket(ctx context.Context, body *TicketRequest, options ...Option) (*Ticket, error) {
	return send[Ticket](ctx, c, "POST", "/v1/tickets", nil, asJSON(body), options)
}

// ListToolsQuery is what ListTools can be asked; what is zero is left out.
type ListToolsQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
	// Only what was created after this time.
	CreatedAfter time.Time
	// Only what was created before this time.
	CreatedBefore time.Time
}

func (q *ListToolsQuery) values() url.Values {
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

// ListTools: List tools.
//
// GET /v1/tools
func (c *Client) ListTools(ctx context.Context, q ListToolsQuery, options ...Option) (*ListTool, error) {
	return send[ListTool](ctx, c, "GET", "/v1/tools", q.values(), nil, options)
}

// AllTools walks the pages of ListTools to their end; an error is the last that comes.
func (c *Client) AllTools(ctx context.Context, q ListToolsQuery, options ...Option) iter.Seq2[Tool, error] {
	return pages(&q.Cursor, func() ([]Tool, *string, error) {
		l, err := c.ListTools(ctx, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// CreateTool: Create a tool.
//
// POST /v1/tools
//
// What agents and pathways may do besides speaking: a request over HTTP, or a tool of an MCP server.
func (c *Client) CreateTool(ctx context.Context, body *ToolChange, options ...Option) (*Tool, error) {
	return send[Tool](ctx, c, "POST", "/v1/tools", nil, asJSON(body), options)
}

// DeleteTool: Delete a tool.
//
// DELETE /v1/tools/{id}
//
// 409 invalid_state with used_by while an agent (its draft or the version that it speaks) or a pathway names it.
func (c *Client) DeleteTool(ctx context.Context, id string, options ...Option) (*Deleted, error) {
	return send[Deleted](ctx, c, "DELETE", "/v1/tools/"+url.PathEscape(id), nil, nil, options)
}

// GetTool: Get a tool.
//
// GET /v1/tools/{id}
func (c *Client) GetTool(ctx context.Context, id string, options ...Option) (*Tool, error) {
	return send[Tool](ctx, c, "GET", "/v1/tools/"+url.PathEscape(id), nil, nil, options)
}

// UpdateTool: Change a tool.
//
// PATCH /v1/tools/{id}
func (c *Client) UpdateTool(ctx context.Context, id string, body *ToolChange, options ...Option) (*Tool, error) {
	return send[Tool](ctx, c, "PATCH", "/v1/tools/"+url.PathEscape(id), nil, asJSON(body), options)
}

// ListTrunksQuery is what ListTrunks can be asked; what is zero is left out.
type ListTrunksQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
	// Only what was created after this time.
	CreatedAfter time.Time
	// Only what was created before this time.
	CreatedBefore time.Time
}

func (q *ListTrunksQuery) values() url.Values {
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

// ListTrunks: List trunks.
//
// GET /v1/trunks
func (c *Client) ListTrunks(ctx context.Context, q ListTrunksQuery, options ...Option) (*ListTrunk, error) {
	return send[ListTrunk](ctx, c, "GET", "/v1/trunks", q.values(), nil, options)
}

// AllTrunks walks the pages of ListTrunks to their end; an error is the last that comes.
func (c *Client) AllTrunks(ctx context.Context, q ListTrunksQuery, options ...Option) iter.Seq2[Trunk, error] {
	return pages(&q.Cursor, func() ([]Trunk, *string, error) {
		l, err := c.ListTrunks(ctx, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// CreateTrunk: Connect a trunk.
//
// POST /v1/trunks
func (c *Client) CreateTrunk(ctx context.Context, body *TrunkChange, options ...Option) (*Trunk, error) {
	return send[Trunk](ctx, c, "POST", "/v1/trunks", nil, asJSON(body), options)
}

// DeleteTrunk: Disconnect a trunk.
//
// DELETE /v1/trunks/{id}
//
// 409 invalid_state while a phone number stands on it.
func (c *Client) DeleteTrunk(ctx context.Context, id string, options ...Option) (*Deleted, error) {
	return send[Deleted](ctx, c, "DELETE", "/v1/trunks/"+url.PathEscape(id), nil, nil, options)
}

// GetTrunk: Get a trunk.
//
// GET /v1/trunks/{id}
func (c *Client) GetTrunk(ctx context.Context, id string, options ...Option) (*Trunk, error) {
	return send[Trunk](ctx, c, "GET", "/v1/trunks/"+url.PathEscape(id), nil, nil, options)
}

// UpdateTrunk: Change a trunk.
//
// PATCH /v1/trunks/{id}
//
// Calls that are running go on as they began.
func (c *Client) UpdateTrunk(ctx context.Context, id string, body *TrunkChange, options ...Option) (*Trunk, error) {
	return send[Trunk](ctx, c, "PATCH", "/v1/trunks/"+url.PathEscape(id), nil, asJSON(body), options)
}

// TestTrunk: Ask a trunk whether it lives.
//
// POST /v1/trunks/{id}/test
//
// Sends OPTIONS to each target, those that its names lead to included, and tells what they answered.
func (c *Client) TestTrunk(ctx context.Context, id string, options ...Option) (*TrunkTest, error) {
	return send[TrunkTest](ctx, c, "POST", "/v1/trunks/"+url.PathEscape(id)+"/test", nil, nil, options)
}

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
// Asking counts as a request. Windows slide: what was made is what was made within the last minute or hour.
func (c *Client) GetRateLimits(ctx context.Context, options ...Option) (*RateLimits, error) {
	return send[RateLimits](ctx, c, "GET", "/v1/usage/rate-limits", nil, nil, options)
}

// ListUsersQuery is what ListUsers can be asked; what is zero is left out.
type ListUsersQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
	// Only what was created after this time.
	CreatedAfter time.Time
	// Only what was created before this time.
	CreatedBefore time.Time
}

func (q *ListUsersQuery) values() url.Values {
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

// ListUsers: List users.
//
// GET /v1/users
func (c *Client) ListUsers(ctx context.Context, q ListUsersQuery, options ...Option) (*ListUser, error) {
	return send[ListUser](ctx, c, "GET", "/v1/users", q.values(), nil, options)
}

// AllUsers walks the pages of ListUsers to their end; an error is the last that comes.
func (c *Client) AllUsers(ctx context.Context, q ListUsersQuery, options ...Option) iter.Seq2[User, error] {
	return pages(&q.Cursor, func() ([]User, *string, error) {
		l, err := c.ListUsers(ctx, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// CreateUser: Create a user.
//
// POST /v1/users
//
// API keys only.
func (c *Client) CreateUser(ctx context.Context, body *NewUser, options ...Option) (*User, error) {
	return send[User](ctx, c, "POST", "/v1/users", nil, asJSON(body), options)
}

// DeleteUser: Delete a user, with sessions and consents, at once.
//
// DELETE /v1/users/{id}
func (c *Client) DeleteUser(ctx context.Context, id string, options ...Option) (*Deleted, error) {
	return send[Deleted](ctx, c, "DELETE", "/v1/users/"+url.PathEscape(id), nil, nil, options)
}

// GetUser: Get a user.
//
// GET /v1/users/{id}
func (c *Client) GetUser(ctx context.Context, id string, options ...Option) (*User, error) {
	return send[User](ctx, c, "GET", "/v1/users/"+url.PathEscape(id), nil, nil, options)
}

// UpdateUser: Change a user.
//
// PATCH /v1/users/{id}
func (c *Client) UpdateUser(ctx context.Context, id string, body *UserChange, options ...Option) (*User, error) {
	return send[User](ctx, c, "PATCH", "/v1/users/"+url.PathEscape(id), nil, asJSON(body), options)
}

// ListSessionsQuery is what ListSessions can be asked; what is zero is left out.
type ListSessionsQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
	// Only what was created after this time.
	CreatedAfter time.Time
	// Only what was created before this time.
	CreatedBefore time.Time
}

func (q *ListSessionsQuery) values() url.Values {
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

// ListSessions: List where a user is signed in.
//
// GET /v1/users/{id}/sessions
func (c *Client) ListSessions(ctx context.Context, id string, q ListSessionsQuery, options ...Option) (*ListSession, error) {
	return send[ListSession](ctx, c, "GET", "/v1/users/"+url.PathEscape(id)+"/sessions", q.values(), nil, options)
}

// AllSessions walks the pages of ListSessions to their end; an error is the last that comes.
func (c *Client) AllSessions(ctx context.Context, id string, q ListSessionsQuery, options ...Option) iter.Seq2[Session, error] {
	return pages(&q.Cursor, func() ([]Session, *string, error) {
		l, err := c.ListSessions(ctx, id, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// EndSession: Sign a user out in one browser.
//
// DELETE /v1/users/{id}/sessions/{session_id}
func (c *Client) EndSession(ctx context.Context, id string, sessionID string, options ...Option) (*Deleted, error) {
	return send[Deleted](ctx, c, "DELETE", "/v1/users/"+url.PathEscape(id)+"/sessions/"+url.PathEscape(sessionID), nil, nil, options)
}

// CreateSignInLink: Make a link that signs a user in.
//
// POST /v1/users/{id}/sign-in-link
//
// API keys only. The link opens once, within five minutes.
func (c *Client) CreateSignInLink(ctx context.Context, id string, options ...Option) (*SignInLink, error) {
	return send[SignInLink](ctx, c, "POST", "/v1/users/"+url.PathEscape(id)+"/sign-in-link", nil, nil, options)
}

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
// The answer holds the secret, this once.
func (c *Client) CreateWebhook(ctx context.Context, body *NewWebhook, options ...Option) (*Webhook, error) {
	return send[Webhook](ctx, c, "POST", "/v1/webhooks", nil, asJSON(body), options)
}

// DeleteWebhook: Remove an endpoint.
//
// DELETE /v1/webhooks/{id}
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
// The answer to a change of the secret holds it, this once.
func (c *Client) UpdateWebhook(ctx context.Context, id string, body *WebhookChange, options ...Option) (*Webhook, error) {
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
// Either event_ids (100 at most), or what the endpoint subscribes to between from and to, of some types: 1000 at most, more tells that there are others. Events keep id and created_at, come with X-Svc-Replay: true and have all five attempts again; those that are on their way already go on as they are.
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

// GetWorkspace: Get the workspace.
//
// GET /v1/workspace
func (c *Client) GetWorkspace(ctx context.Context, options ...Option) (*Workspace, error) {
	return send[Workspace](ctx, c, "GET", "/v1/workspace", nil, nil, options)
}

// UpdateWorkspace: Change the workspace.
//
// PATCH /v1/workspace
//
// Plan, price, limits and destination rules take an operator key: 403 operator_required.
func (c *Client) UpdateWorkspace(ctx context.Context, body *WorkspaceChange, options ...Option) (*Workspace, error) {
	return send[Workspace](ctx, c, "PATCH", "/v1/workspace", nil, asJSON(body), options)
}

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
// Operators only, as all of /v1/workspaces. Without a plan it is a starter.
func (c *Client) CreateWorkspace(ctx context.Context, body *WorkspaceChange, options ...Option) (*WorkspaceCreated, error) {
	return send[WorkspaceCreated](ctx, c, "POST", "/v1/workspaces", nil, asJSON(body), options)
}

// DeleteWorkspace: Delete a workspace with everything in it.
//
// DELETE /v1/workspaces/{id}
//
// Its keys are refused from the answer on and its calls hang up. Rows, events, recordings and exports go in the background, and its data key with them: what backups hold of its secrets and recordings does not open any more. 409 invalid_state for the workspace whose key asks.
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
// Plan, limits and rules hold from the answer on.
func (c *Client) UpdateAnyWorkspace(ctx context.Context, id string, body *WorkspaceChange, options ...Option) (*Workspace, error) {
	return send[Workspace](ctx, c, "PATCH", "/v1/workspaces/"+url.PathEscape(id), nil, asJSON(body), options)
}

// APIKey is an answer of the service, or a part of one.
type APIKey struct {
	AllowedIPs []string `json:"allowed_ips"`
	// When it was made.
	CreatedAt time.Time `json:"created_at"`
	// live or test; the two never see each other.
	Environment string `json:"environment"`
	// When it ends.
	ExpiresAt *time.Time `json:"expires_at"`
	// Names it; never changes and is never given again.
	ID string `json:"id"`
	// The key itself, only in the answer to its creation.
	Key        string     `json:"key,omitzero"`
	KeyPrefix  string     `json:"key_prefix"`
	Last4      string     `json:"last4"`
	LastUsedAt *time.Time `json:"last_used_at"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// For people.
	Name string `json:"name"`
	// What kind of resource this is.
	Object      string     `json:"object"`
	Operator    bool       `json:"operator"`
	ParentID    string     `json:"parent_id,omitzero"`
	Permissions []string   `json:"permissions"`
	RevokedAt   *time.Time `json:"revoked_at,omitempty"`
	// When it was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}

// Actor is an answer of the service, or a part of one.
type Actor struct {
	// Names it; never changes and is never given again.
	ID   string `json:"id"`
	Type string `json:"type"`
}

// Agent is an answer of the service, or a part of one.
type Agent struct {
	// What it does about answering machines.
	AMD *AgentAMD `json:"amd,omitempty"`
	// What is wanted to be known of its calls.
	Analysis *AgentAnalysis `json:"analysis,omitempty"`
	// When it was made.
	CreatedAt time.Time `json:"created_at"`
	// live or test; the two never see each other.
	Environment string `json:"environment"`
	// What phones of the workspace dial to reach it: 2 to 6 digits.
	Extension string `json:"extension,omitzero"`
	// What it says first, before its pathway begins.
	FirstMessage string `json:"first_message,omitzero"`
	// Names it; never changes and is never given again.
	ID string `json:"id"`
	// How it takes calls.
	Inbound AgentInbound `json:"inbound"`
	// What it may look things up in.
	KnowledgeBaseIDs []string `json:"knowledge_base_ids"`
	// The language that it speaks, as BCP 47 writes it.
	Language string `json:"language"`
	// What ends a conversation.
	Limits AgentLimits `json:"limits"`
	// By which language model it speaks.
	Llm *AgentLLM `json:"llm,omitempty"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// For people.
	Name string `json:"name"`
	// What kind of resource this is.
	Object string `json:"object"`
	// Whom to ask when a call comes in.
	OnInbound *AgentHook `json:"on_inbound,omitempty"`
	// Which pathway it follows.
	PathwayID string `json:"pathway_id,omitzero"`
	// When that was published.
	PublishedAt *time.Time `json:"published_at"`
	// The engine that hears and speaks by itself.
	Realtime *AgentRealtime `json:"realtime,omitempty"`
	// How it hears.
	Stt *AgentSTT `json:"stt,omitempty"`
	// What a language model is told of its part.
	SystemPrompt string `json:"system_prompt,omitzero"`
	// Its zone, for times in texts.
	Timezone string `json:"timezone"`
	// The ids of the tools that it may use.
	Tools []string `json:"tools"`
	// Whom it may hand callers to.
	Transfer AgentTransfer `json:"transfer"`
	// When it takes the word.
	TurnTaking *AgentTurns `json:"turn_taking,omitempty"`
	// The fields of the draft that differ from it.
	UnpublishedChanges []string `json:"unpublished_changes"`
	// When it was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// The newest published version, which calls speak; counts from 1.
	Version int64 `json:"version"`
	// How it sounds.
	Voice Voice `json:"voice"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}

// AgentAMD is an answer of the service, or a part of one.
type AgentAMD struct {
	// What is left.
	Message string `json:"message,omitzero"`
	// off, async or wait.
	Mode string `json:"mode"`
	// hangup, leave_message or continue.
	VoicemailAction string `json:"voicemail_action,omitzero"`
}

// AgentAnalysis is an answer of the service, or a part of one.
type AgentAnalysis struct {
	// What is to be found.
	Fields []AnalysisField `json:"fields,omitzero"`
	// When a call was a success.
	SuccessCriteria string `json:"success_criteria,omitzero"`
	// Whether a summary is wanted.
	Summary bool `json:"summary"`
}

// AgentChange is sent to the service.
type AgentChange struct {
	// What it does about answering machines.
	AMD *NewAMD `json:"amd,omitempty"`
	// What is wanted to be known of its calls.
	Analysis *NewAnalysis `json:"analysis,omitempty"`
	// 2 to 6 digits that phones of the workspace dial to reach the agent.
	Extension *string `json:"extension,omitempty"`
	// Without a pathway: all that the agent says.
	FirstMessage *string `json:"first_message,omitempty"`
	// How it takes calls.
	Inbound *NewAgentInbound `json:"inbound,omitempty"`
	// What it may look things up in; 20 at most.
	KnowledgeBaseIDs []string `json:"knowledge_base_ids,omitzero"`
	// The language that it speaks, as BCP 47 writes it.
	Language *string `json:"language,omitempty"`
	// What ends a conversation.
	Limits *NewAgentLimits `json:"limits,omitempty"`
	// The language model. {} takes it away, as with the objects below.
	Llm *NewLLM `json:"llm,omitempty"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// For people.
	Name *string `json:"name,omitempty"`
	// Whom to ask when a call comes in.
	OnInbound *NewInboundHook `json:"on_inbound,omitempty"`
	// Which pathway it follows.
	PathwayID *string `json:"pathway_id,omitempty"`
	// An engine that hears and speaks by itself; calls of such an agent need it.
	Realtime *NewRealtime `json:"realtime,omitempty"`
	// How it hears.
	Stt *NewSTT `json:"stt,omitempty"`
	// What a language model is told of its part. An agent that has neither a pathway nor a first_message speaks by it alone, and its calls need such a model.
	SystemPrompt *string `json:"system_prompt,omitempty"`
	// Its zone, for times in texts.
	Timezone *string `json:"timezone,omitempty"`
	// The ids of the tools that it may use; 50 at most.
	Tools []string `json:"tools,omitzero"`
	// Whom it may hand callers to.
	Transfer *NewAgentTransfer `json:"transfer,omitempty"`
	// When it takes the word. It counts where speech is heard.
	TurnTaking *NewTurns `json:"turn_taking,omitempty"`
	// How it sounds.
	Voice *NewVoice `json:"voice,omitempty"`
}

// AgentHook is an answer of the service, or a part of one.
type AgentHook struct {
	// How long an answer is waited for.
	TimeoutMs int64 `json:"timeout_ms"`
	// Where is asked.
	URL string `json:"url"`
}

// AgentInbound is an answer of the service, or a part of one.
type AgentInbound struct {
	// ring: 180, then 200; direct: 200 at once; early: 183 with a ringing of ours.
	Answer string `json:"answer,omitzero"`
	// How long it rings before the answer.
	RingSeconds int64 `json:"ring_seconds,omitzero"`
}

// AgentLLM is an answer of the service, or a part of one.
type AgentLLM struct {
	// An engine of the installation; empty: its own choice.
	Engine string `json:"engine,omitzero"`
	// The longest answer.
	MaxTokens int64 `json:"max_tokens,omitzero"`
	// Its model.
	Model string `json:"model,omitzero"`
	// How freely it chooses words.
	Temperature float64 `json:"temperature,omitzero"`
}

// AgentLimits is an answer of the service, or a part of one.
type AgentLimits struct {
	// The longest conversation.
	MaxMinutes int64 `json:"max_minutes,omitzero"`
	// So much silence ends it.
	SilenceSeconds int64 `json:"silence_seconds,omitzero"`
}

// AgentRealtime is an answer of the service, or a part of one.
type AgentRealtime struct {
	// An engine of the installation; empty: its own choice.
	Engine string `json:"engine,omitzero"`
	// Its model.
	Model string `json:"model,omitzero"`
	// Its voice.
	Voice string `json:"voice,omitzero"`
}

// AgentSTT is an answer of the service, or a part of one.
type AgentSTT struct {
	// An engine of the installation; empty: its own choice.
	Engine string `json:"engine,omitzero"`
	// Words that are likely to be said.
	Keywords []string `json:"keywords,omitzero"`
	// Where it is not the agent's.
	Language string `json:"language,omitzero"`
	// Its model.
	Model string `json:"model,omitzero"`
}

// AgentTransfer is an answer of the service, or a part of one.
type AgentTransfer struct {
	// Whether the far end may send the call elsewhere, by REFER or Replaces.
	AcceptRefer bool `json:"accept_refer,omitzero"`
	// To whom it may hand callers.
	Destinations []Destination `json:"destinations,omitzero"`
	// What a party hears that waits: silence, tone, or wav:NAME.wav of the prompts.
	HoldMusic string `json:"hold_music,omitzero"`
	// Whether the caller hears it ring meanwhile.
	Ringback bool `json:"ringback,omitzero"`
}

// AgentTurns is an answer of the service, or a part of one.
type AgentTurns struct {
	// So much silence ends the caller's turn.
	EndOfTurnMs int64 `json:"end_of_turn_ms,omitzero"`
	// Whether speech may cut what it says.
	Interruptible bool `json:"interruptible,omitzero"`
	// So many words count as an interruption.
	InterruptionWords int64 `json:"interruption_words,omitzero"`
}

// AgentVersion is an answer of the service, or a part of one.
type AgentVersion struct {
	// What it does about answering machines.
	AMD *AgentAMD `json:"amd,omitempty"`
	// What is wanted to be known of its calls.
	Analysis *AgentAnalysis `json:"analysis,omitempty"`
	// When it was made.
	CreatedAt time.Time `json:"created_at"`
	// live or test; the two never see each other.
	Environment string `json:"environment"`
	// What phones of the workspace dial to reach it: 2 to 6 digits.
	Extension string `json:"extension,omitzero"`
	// What it says first, before its pathway begins.
	FirstMessage string `json:"first_message,omitzero"`
	// Names it; never changes and is never given again.
	ID string `json:"id"`
	// How it takes calls.
	Inbound AgentInbound `json:"inbound"`
	// What it may look things up in.
	KnowledgeBaseIDs []string `json:"knowledge_base_ids"`
	// The language that it speaks, as BCP 47 writes it.
	Language string `json:"language"`
	// What ends a conversation.
	Limits AgentLimits `json:"limits"`
	// By which language model it speaks.
	Llm *AgentLLM `json:"llm,omitempty"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// For people.
	Name string `json:"name"`
	// What kind of resource this is.
	Object string `json:"object"`
	// Whom to ask when a call comes in.
	OnInbound *AgentHook `json:"on_inbound,omitempty"`
	// Which pathway it follows.
	PathwayID string `json:"pathway_id,omitzero"`
	// When it was published.
	PublishedAt *time.Time `json:"published_at"`
	// The engine that hears and speaks by itself.
	Realtime *AgentRealtime `json:"realtime,omitempty"`
	// How it hears.
	Stt *AgentSTT `json:"stt,omitempty"`
	// What a language model is told of its part.
	SystemPrompt string `json:"system_prompt,omitzero"`
	// Its zone, for times in texts.
	Timezone string `json:"timezone"`
	// The ids of the tools that it may use.
	Tools []string `json:"tools"`
	// Whom it may hand callers to.
	Transfer AgentTransfer `json:"transfer"`
	// When it takes the word.
	TurnTaking *AgentTurns `json:"turn_taking,omitempty"`
	// Always empty.
	UnpublishedChanges []string `json:"unpublished_changes"`
	// When it was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// Which version this is.
	Version int64 `json:"version"`
	// How it sounds.
	Voice Voice `json:"voice"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}

// AnalysisField is sent to the service.
type AnalysisField struct {
	// What it is.
	Description *string `json:"description,omitempty"`
	// For people.
	Name string `json:"name"`
	// Whether it has to be found.
	Required *bool `json:"required,omitempty"`
	// string, number, integer or boolean.
	Type string `json:"type"`
	// The ones that it may have.
	Values []string `json:"values,omitzero"`
}

// Appointment is an answer of the service, or a part of one.
type Appointment struct {
	// As id.
	AppointmentID string `json:"appointment_id"`
	// The call.
	CallID string `json:"call_id,omitzero"`
	// Why it was cancelled.
	CancelReason string `json:"cancel_reason,omitzero"`
	// When it was cancelled.
	CancelledAt *time.Time `json:"cancelled_at"`
	// When the patient said yes to this time.
	ConfirmedAt *time.Time `json:"confirmed_at"`
	// When it was made.
	CreatedAt time.Time `json:"created_at"`
	// When it begins.
	Datetime time.Time `json:"datetime"`
	// How long it takes.
	DurationMinutes int64 `json:"duration_minutes"`
	// When it ends.
	EndsAt time.Time `json:"ends_at"`
	// live or test; the two never see each other.
	Environment string `json:"environment"`
	// Names it; never changes and is never given again.
	ID string `json:"id"`
	// When it begins, as clocks in timezone show it.
	LocalDatetime string `json:"local_datetime"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// How often it was moved.
	Moves int64 `json:"moves"`
	// Yours.
	Notes string `json:"notes,omitzero"`
	// What kind of resource this is.
	Object string `json:"object"`
	// For whom it is.
	Patient Patient `json:"patient"`
	// Whose time it is: its name when it was booked.
	Provider string `json:"provider"`
	// Whose time it is.
	ProviderID string `json:"provider_id"`
	// How often it was changed, as its calendar file says it.
	Sequence int64 `json:"sequence"`
	// booked, confirmed, cancelled, completed or no_show.
	Status string `json:"status"`
	// In which local_datetime is told.
	Timezone string `json:"timezone"`
	// What it is about, in your words.
	Type string `json:"type"`
	// When it was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}

// AppointmentChange is sent to the service.
type AppointmentChange struct {
	// The call in which it was made.
	CallID *string `json:"call_id,omitempty"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// Yours, for people; 2000 letters at most.
	Notes *string `json:"notes,omitempty"`
	// For whom it is.
	Patient *NewPatient `json:"patient,omitempty"`
	// What became of it, once it has begun. The other states have routes of their own. One of completed, no_show.
	Status *string `json:"status,omitempty"`
	// What it is about, in your words.
	Type *string `json:"type,omitempty"`
}

// Assign is sent to the service.
type Assign struct {
	// The far end wants no more calls: its number goes onto the default list.
	AddToDNC  *bool             `json:"add_to_dnc,omitempty"`
	Intent    *string           `json:"intent,omitempty"`
	Notes     *string           `json:"notes,omitempty"`
	Outcome   *string           `json:"outcome,omitempty"`
	Variables map[string]string `json:"variables,omitzero"`
}

// Assumptions is an answer of the service, or a part of one.
type Assumptions struct {
	// Share of the attempts that a person answers.
	AnswerRate float64 `json:"answer_rate"`
	// Share that is busy.
	BusyRate float64 `json:"busy_rate"`
	// Share that the trunk cannot reach.
	FailedRate float64 `json:"failed_rate"`
	// Share that nobody answers.
	NoAnswerRate float64 `json:"no_answer_rate"`
	// How long it rings where nobody does.
	NoAnswerSeconds float64 `json:"no_answer_seconds"`
	// How long it rings before somebody answers, on average.
	RingSeconds float64 `json:"ring_seconds"`
	// How long a call with a person lasts, on average.
	TalkSeconds float64 `json:"talk_seconds"`
	// Share that a machine answers.
	VoicemailRate float64 `json:"voicemail_rate"`
	// How long a call with a machine lasts, on average.
	VoicemailSeconds float64 `json:"voicemail_seconds"`
}

// AuditEntry is an answer of the service, or a part of one.
type AuditEntry struct {
	Action string `json:"action"`
	Actor  Actor  `json:"actor"`
	Count  int64  `json:"count"`
	// When it was made.
	CreatedAt time.Time `json:"created_at"`
	// live or test; the two never see each other.
	Environment string `json:"environment"`
	// Names it; never changes and is never given again.
	ID string `json:"id"`
	IP string `json:"ip"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// What kind of resource this is.
	Object   string   `json:"object"`
	Outcome  string   `json:"outcome"`
	Reason   string   `json:"reason,omitzero"`
	Resource Resource `json:"resource"`
	Type     string   `json:"type"`
	// When it was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	UserAgent string    `json:"user_agent"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}

// Availability is an answer of the service, or a part of one.
type Availability struct {
	// How long each slot is.
	DurationMinutes int64 `json:"duration_minutes"`
	// From when on it was looked.
	From time.Time `json:"from"`
	// Whether more are free before to.
	HasMore bool `json:"has_more"`
	// What kind of resource this is.
	Object string `json:"object"`
	// The provider's name.
	Provider string `json:"provider"`
	// Whose time it is.
	ProviderID string `json:"provider_id"`
	// How far they lie apart.
	SlotMinutes int64 `json:"slot_minutes"`
	// What is free, oldest first.
	Slots []Slot `json:"slots"`
	// In which local_start is told.
	Timezone string `json:"timezone"`
	// Until when.
	To time.Time `json:"to"`
}

// Bulk is an answer of the service, or a part of one.
type Bulk struct {
	// How many of them are carried out: the sum of pending, done, failed and cancelled.
	Accepted int64 `json:"accepted"`
	// How many were never begun.
	Cancelled int64 `json:"cancelled"`
	// When the last item was done, or the job cancelled.
	CompletedAt *time.Time `json:"completed_at"`
	// When it was made.
	CreatedAt time.Time `json:"created_at"`
	// How many were carried out.
	Done int64 `json:"done"`
	// live or test; the two never see each other.
	Environment string `json:"environment"`
	// What was wrong with items, the first 1,000.
	Errors []BulkError `json:"errors"`
	// How many could not be carried out when their turn came.
	Failed int64 `json:"failed"`
	// Names it; never changes and is never given again.
	ID    string `json:"id"`
	KeyID string `json:"key_id,omitzero"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	Next     int64             `json:"next,omitzero"`
	// What kind of resource this is.
	Object   string `json:"object"`
	Operator bool   `json:"operator,omitzero"`
	// How many are still to come.
	Pending int64 `json:"pending"`
	// How many of them were invalid by themselves.
	Rejected int64 `json:"rejected"`
	// queued, running, completed or cancelled.
	Status string `json:"status"`
	// The campaign that takes the contacts, or the list that takes the numbers.
	TargetID string `json:"target_id,omitzero"`
	// How many items came.
	Total int64 `json:"total"`
	// What its items become: calls, sms, contacts or dnc.
	Type string `json:"type"`
	// When it was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// What the next call waits for, if it waits: line or trunk; calling_hours where all that are left do.
	Waiting string `json:"waiting,omitzero"`
	// When the first of the calling hours opens that are waited for.
	WaitingUntil *time.Time `json:"waiting_until,omitempty"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}

// BulkError is an answer of the service, or a part of one.
type BulkError struct {
	// What was wrong with it.
	Code string `json:"code"`
	// The item's place, from 0.
	Index int64 `json:"index"`
	// The same in words.
	Message string `json:"message"`
	// The field to blame.
	Param string `json:"param"`
}

// BulkItem is an answer of the service, or a part of one.
type BulkItem struct {
	// The job.
	BulkID string `json:"bulk_id"`
	// Why it was rejected or failed.
	Code string `json:"code,omitzero"`
	// Its place among the items, from 0.
	Index int64 `json:"index"`
	// The same in words.
	Message string `json:"message,omitzero"`
	// What kind of resource this is. One of bulk_item.
	Object string `json:"object"`
	// The field to blame.
	Param string `json:"param,omitzero"`
	// What it became, e.g. a call.
	ResultID string `json:"result_id,omitzero"`
	// pending, done, failed, rejected or cancelled.
	Status string `json:"status"`
	// When the calling hours of one that waits open.
	Until *time.Time `json:"until,omitempty"`
}

// Call is an answer of the service, or a part of one.
type Call struct {
	// Which agent speaks.
	AgentID string `json:"agent_id,omitzero"`
	// Which version of the agent was pinned.
	AgentVersion int64 `json:"agent_version,omitzero"`
	// When it was answered; null: never.
	AnsweredAt *time.Time `json:"answered_at"`
	// Who answered, where that is known.
	AnsweredBy string `json:"answered_by,omitzero"`
	// Which attempt at its contact this is, from 1.
	Attempt int64 `json:"attempt"`
	// Of an inbound call: what its trunk told of the caller.
	Caller *Caller `json:"caller,omitempty"`
	// Of which campaign it is, where it is of one.
	CampaignID string `json:"campaign_id,omitzero"`
	// For which contact it is, where it is for one.
	ContactID string `json:"contact_id,omitzero"`
	// What was known beforehand, as it was sent.
	Context map[string]any `json:"context,omitzero"`
	// By the costs of its trunk.
	Cost *Money `json:"cost,omitempty"`
	// When it was made.
	CreatedAt time.Time `json:"created_at"`
	// inbound or outbound.
	Direction string `json:"direction"`
	// The outcome in a word, once it is over.
	Disposition string `json:"disposition,omitzero"`
	// From the answer to the end.
	DurationSeconds int64 `json:"duration_seconds"`
	// When it ended; null: it lives.
	EndedAt *time.Time `json:"ended_at"`
	// Who ended it: agent, remote, api or service.
	EndedBy string `json:"ended_by,omitzero"`
	// Why it ended: one of a closed list.
	EndedReason string `json:"ended_reason,omitzero"`
	// live or test; the two never see each other.
	Environment string `json:"environment"`
	// The number that called, or anonymous.
	From string `json:"from"`
	// Names it; never changes and is never given again.
	ID string `json:"id"`
	// What the caller wanted, where the pathway found out.
	Intent string `json:"intent,omitzero"`
	// Each INVITE of it, in order: other targets that were tried, and transfers.
	Legs []Leg `json:"legs"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// What kind of resource this is.
	Object string `json:"object"`
	// What came of it; null until it is over.
	Outcome *CallOutcome `json:"outcome"`
	// Which pathway it follows.
	PathwayID string `json:"pathway_id,omitzero"`
	// Whether recording or transcript are still to come.
	Processing bool `json:"processing"`
	// How the sound was.
	Quality *Quality `json:"quality,omitempty"`
	// Whether it is recorded.
	Record bool `json:"record"`
	// Whether the recording can be downloaded.
	RecordingAvailable bool `json:"recording_available"`
	// When retention deleted the recording.
	RecordingDeletedAt *time.Time `json:"recording_deleted_at,omitempty"`
	// How long the recording is.
	RecordingSeconds float64 `json:"recording_seconds,omitzero"`
	// Where the recording is, for who has a credential.
	RecordingURL string `json:"recording_url,omitzero"`
	// When the far end began to ring; null: never.
	RingingAt *time.Time `json:"ringing_at"`
	// The longest that the called waited for the next words of the agent, in milliseconds.
	SlowestTurnMs int64 `json:"slowest_turn_ms,omitzero"`
	// When it began.
	StartedAt *time.Time `json:"started_at"`
	// Where it stands. completed, busy, no_answer, failed and cancelled are final.
	Status string `json:"status"`
	// The number or extension that was called.
	To string `json:"to"`
	// Whether the transcript can be read.
	TranscriptAvailable bool `json:"transcript_available"`
	// When retention deleted the transcript.
	TranscriptDeletedAt *time.Time `json:"transcript_deleted_at,omitempty"`
	// Where the transcript is.
	TranscriptURL string `json:"transcript_url,omitzero"`
	// Each attempt to hand the caller on, in order.
	Transfers []Transfer `json:"transfers,omitzero"`
	// When it was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// What the pathway has collected.
	Variables map[string]string `json:"variables"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}

// CallCompliance is sent to the service.
type CallCompliance struct {
	// When it may ring.
	CallingHours *NewHours `json:"calling_hours,omitempty"`
}

// CallMessage is an answer of the service, or a part of one.
type CallMessage struct {
	// When it was sent or came.
	At time.Time `json:"at"`
	// Sent by the service or received. One of sent, received.
	Direction string `json:"direction"`
	// Our address.
	Local string `json:"local"`
	// As it stood on the wire, but that secrets are stars.
	Message string `json:"message"`
	// The far end's address.
	Remote string `json:"remote"`
	// The Call-ID: a call with several legs has several.
	SIPCallID string `json:"sip_call_id"`
	// Its first line.
	StartLine string `json:"start_line"`
	// What carried it. One of udp, tcp, tls.
	Transport string `json:"transport"`
}

// CallMessages is an answer of the service, or a part of one.
type CallMessages struct {
	// The call.
	CallID string `json:"call_id"`
	// Messages that were too many or too large to keep.
	Dropped int64 `json:"dropped"`
	// In the order in which they were sent and came.
	Messages []CallMessage `json:"messages"`
}

// CallOutcome is an answer of the service, or a part of one.
type CallOutcome struct {
	// Whether an appointment came of it.
	AppointmentBooked bool `json:"appointment_booked"`
	// What the caller wanted.
	Intent string `json:"intent,omitzero"`
	// As the pathway put it.
	Notes string `json:"notes,omitzero"`
	// The outcome in a word.
	Result string `json:"result"`
}

// CallReplay is sent to the service.
type CallReplay struct {
	// A call that is over.
	CallID string `json:"call_id"`
}

// CallReplayLine is an answer of the service, or a part of one.
type CallReplayLine struct {
	// The node that says it now.
	Node string `json:"node,omitzero"`
	// assumed: it was keyed in secretly and is not known; zeros stand for it. beside: it was said besides the pathway. One of assumed, beside.
	Note string `json:"note,omitzero"`
	// What the pathway has now; empty: nothing.
	Now string `json:"now"`
	// What the call had; empty: nothing.
	Recorded string `json:"recorded"`
	// Whether nothing differs.
	Same bool `json:"same"`
	// Who says it. One of agent, caller.
	Speaker string `json:"speaker"`
}

// CallReplayResult is an answer of the service, or a part of one.
type CallReplayResult struct {
	// The intent that was set.
	Intent string `json:"intent,omitzero"`
	// The notes that were set.
	Notes string `json:"notes,omitzero"`
	// How it ended.
	Outcome string `json:"outcome,omitzero"`
}

// CallReplayed is an answer of the service, or a part of one.
type CallReplayed struct {
	// The call.
	CallID string `json:"call_id"`
	// The pathway comes to its end.
	Ended bool `json:"ended"`
	// The index of the first line that differs; null: none does. Behind it keys and prompts may no longer belong together.
	FirstDifferent *int64 `json:"first_different"`
	// All that was said and keyed in, in order.
	Lines []CallReplayLine `json:"lines"`
	// What it would come to; without an outcome where the far end hangs up before its end.
	Now CallReplayResult `json:"now"`
	// What kind of resource this is.
	Object string `json:"object"`
	// Which pathway it follows.
	PathwayID string `json:"pathway_id"`
	// Which version was walked.
	PathwayVersion int64 `json:"pathway_version"`
	// What the call came to.
	Recorded CallReplayResult `json:"recorded"`
	// Nothing differs.
	Same bool `json:"same"`
}

// Caller is an answer of the service, or a part of one.
type Caller struct {
	// The number that the trunk vouches for; only of trunks whose headers are believed.
	Asserted string `json:"asserted,omitzero"`
	// Who was called before, the last first.
	Diversions []Diverted `json:"diversions,omitzero"`
	// The entries of History-Info, oldest first.
	History []string `json:"history,omitzero"`
	// The signature of the number, as the trunk passed it on (RFC 8224).
	Identity string `json:"identity,omitzero"`
	// As it was told beside the number.
	Name string `json:"name,omitzero"`
	// The trunk's judgement of the signature.
	Verstat string `json:"verstat,omitzero"`
	// The caller does not want the number shown.
	Withheld bool `json:"withheld,omitzero"`
}

// CallerID is an answer of the service, or a part of one.
type CallerID struct {
	// For people.
	Name   string `json:"name,omitzero"`
	Number string `json:"number"`
}

// Calling is an answer of the service, or a part of one.
type Calling struct {
	// Beginnings of numbers that are never called.
	BlockedPrefixes []string `json:"blocked_prefixes"`
	// ISO 3166 codes; * is every country.
	Countries []string `json:"countries"`
	// Of outbound calls per day in UTC; null: none.
	DailySpendCap *Money `json:"daily_spend_cap"`
	// Of an outbound or transferred call; 0: none of its own.
	MaxCallMinutes int64 `json:"max_call_minutes"`
}

// CallingChange is sent to the service.
type CallingChange struct {
	// Beginnings of numbers that are never called.
	BlockedPrefixes []string `json:"blocked_prefixes,omitzero"`
	// ISO 3166 codes; * is every country.
	Countries []string `json:"countries,omitzero"`
	// Of outbound calls per day in UTC, by the costs of the trunks, or by the plan's price of an attempt where a trunk names none. An empty amount takes it away.
	DailySpendCap *NewMoney `json:"daily_spend_cap,omitempty"`
	// Of an outbound or transferred call. 0: none of its own.
	MaxCallMinutes *int64 `json:"max_call_minutes,omitempty"`
}

// CallingHours is an answer of the service, or a part of one.
type CallingHours struct {
	End      string `json:"end"`
	Start    string `json:"start"`
	Timezone string `json:"timezone"`
}

// Campaign is an answer of the service, or a part of one.
type Campaign struct {
	// Which agent speaks.
	AgentID          string     `json:"agent_id,omitzero"`
	AutoComplete     bool       `json:"auto_complete"`
	CallerID         CallerID   `json:"caller_id"`
	CompletionReason string     `json:"completion_reason,omitzero"`
	Compliance       Compliance `json:"compliance"`
	// When it was made.
	CreatedAt      time.Time  `json:"created_at"`
	DefaultCountry string     `json:"default_country"`
	EndedAt        *time.Time `json:"ended_at,omitempty"`
	// live or test; the two never see each other.
	Environment string `json:"environment"`
	// Whether calls speak what is newest when they begin.
	FollowLatest bool `json:"follow_latest,omitzero"`
	// Names it; never changes and is never given again.
	ID string `json:"id"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// For people.
	Name string `json:"name"`
	// What kind of resource this is.
	Object string `json:"object"`
	Pacing Pacing `json:"pacing"`
	// Which pathway it follows.
	PathwayID   string     `json:"pathway_id,omitzero"`
	PauseReason string     `json:"pause_reason,omitzero"`
	Retry       Retry      `json:"retry"`
	Schedule    Schedule   `json:"schedule"`
	StartedAt   *time.Time `json:"started_at,omitempty"`
	Status      string     `json:"status"`
	// How its clock goes; test environment only.
	Test *TestMode `json:"test,omitempty"`
	// When it was last changed.
	UpdatedAt time.Time         `json:"updated_at"`
	Webhooks  map[string]string `json:"webhooks,omitzero"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}

// CampaignChange is sent to the service.
type CampaignChange struct {
	// Who speaks.
	AgentID *string `json:"agent_id,omitempty"`
	// false: stays open when all contacts are done.
	AutoComplete *bool `json:"auto_complete,omitempty"`
	// The number that is shown.
	CallerID *NewCallerID `json:"caller_id,omitempty"`
	// Also while it runs.
	Compliance *NewCompliance `json:"compliance,omitempty"`
	// For numbers without +.
	DefaultCountry *string `json:"default_country,omitempty"`
	// Whether calls speak what is newest when they begin.
	FollowLatest *bool `json:"follow_latest,omitempty"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// For people.
	Name *string `json:"name,omitempty"`
	// Also while it runs.
	Pacing *PacingChange `json:"pacing,omitempty"`
	// What is said.
	PathwayID *string `json:"pathway_id,omitempty"`
	// Also while it runs: for what ends from now on.
	Retry *RetryChange `json:"retry,omitempty"`
	// When it may ring.
	Schedule *ScheduleChange `json:"schedule,omitempty"`
	// How its clock goes; with test keys only.
	Test *NewTest `json:"test,omitempty"`
	// The whole map.
	Webhooks map[string]string `json:"webhooks,omitzero"`
}

// CampaignChanged is an answer of the service, or a part of one.
type CampaignChanged struct {
	// Which agent speaks.
	AgentID          string     `json:"agent_id,omitzero"`
	AutoComplete     bool       `json:"auto_complete"`
	CallerID         CallerID   `json:"caller_id"`
	CompletionReason string     `json:"completion_reason,omitzero"`
	Compliance       Compliance `json:"compliance"`
	// When it was made.
	CreatedAt      time.Time  `json:"created_at"`
	DefaultCountry string     `json:"default_country"`
	EndedAt        *time.Time `json:"ended_at,omitempty"`
	// live or test; the two never see each other.
	Environment string `json:"environment"`
	// Whether calls speak what is newest when they begin.
	FollowLatest bool `json:"follow_latest,omitzero"`
	// Names it; never changes and is never given again.
	ID string `json:"id"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// For people.
	Name string `json:"name"`
	// What kind of resource this is.
	Object string `json:"object"`
	Pacing Pacing `json:"pacing"`
	// Which pathway it follows.
	PathwayID   string     `json:"pathway_id,omitzero"`
	PauseReason string     `json:"pause_reason,omitzero"`
	Retry       Retry      `json:"retry"`
	Schedule    Schedule   `json:"schedule"`
	StartedAt   *time.Time `json:"started_at,omitempty"`
	Status      string     `json:"status"`
	// How its clock goes; test environment only.
	Test *TestMode `json:"test,omitempty"`
	// When it was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// Signs what goes to the new URLs; shown this once.
	WebhookSecret string            `json:"webhook_secret,omitzero"`
	Webhooks      map[string]string `json:"webhooks,omitzero"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}

// CampaignMade is an answer of the service, or a part of one.
type CampaignMade struct {
	// Which agent speaks.
	AgentID          string     `json:"agent_id,omitzero"`
	AutoComplete     bool       `json:"auto_complete"`
	CallerID         CallerID   `json:"caller_id"`
	CompletionReason string     `json:"completion_reason,omitzero"`
	Compliance       Compliance `json:"compliance"`
	// What was wrong, row by row; the first 100.
	ContactErrors []ContactError `json:"contact_errors"`
	// What became of the rows, counted.
	ContactsSummary ContactsSummary `json:"contacts_summary"`
	// When it was made.
	CreatedAt      time.Time  `json:"created_at"`
	DefaultCountry string     `json:"default_country"`
	EndedAt        *time.Time `json:"ended_at,omitempty"`
	// live or test; the two never see each other.
	Environment  string `json:"environment"`
	FollowLatest bool   `json:"follow_latest,omitzero"`
	// Names it; never changes and is never given again.
	ID string `json:"id"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// For people.
	Name string `json:"name"`
	// What kind of resource this is.
	Object string `json:"object"`
	Pacing Pacing `json:"pacing"`
	// Which pathway it follows.
	PathwayID   string     `json:"pathway_id,omitzero"`
	PauseReason string     `json:"pause_reason,omitzero"`
	Retry       Retry      `json:"retry"`
	Schedule    Schedule   `json:"schedule"`
	StartedAt   *time.Time `json:"started_at,omitempty"`
	Status      string     `json:"status"`
	// How its clock goes; test environment only.
	Test *TestMode `json:"test,omitempty"`
	// When it was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	UploadID  string    `json:"upload_id,omitzero"`
	// Signs the campaign's webhooks; shown this once.
	WebhookSecret string            `json:"webhook_secret,omitzero"`
	Webhooks      map[string]string `json:"webhooks,omitzero"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}

// CampaignStatusObject is an answer of the service, or a part of one.
type CampaignStatusObject struct {
	// Of which campaign it is, where it is of one.
	CampaignID       string                             `json:"campaign_id"`
	CompletionReason string                             `json:"completion_reason,omitzero"`
	Expired          int64                              `json:"expired"`
	Outcomes         map[string]int64                   `json:"outcomes"`
	PauseReason      string                             `json:"pause_reason,omitzero"`
	Progress         CampaignStatusObjectProgressStruct `json:"progress"`
	Skipped          Skipped                            `json:"skipped"`
	Status           string                             `json:"status"`
	Timing           CampaignStatusObjectTimingStruct   `json:"timing"`
	Waiting          *Waiting                           `json:"waiting"`
}

// CampaignStatusObjectProgressStruct is an answer of the service, or a part of one.
type CampaignStatusObjectProgressStruct struct {
	Attempted  int64 `json:"attempted"`
	InProgress int64 `json:"in_progress"`
	Remaining  int64 `json:"remaining"`
	Total      int64 `json:"total"`
}

// CampaignStatusObjectTimingStruct is an answer of the service, or a part of one.
type CampaignStatusObjectTimingStruct struct {
	EstimatedCompletion *time.Time `json:"estimated_completion"`
	StartedAt           *time.Time `json:"started_at"`
}

// CancelAppointmentRequest is sent to the service.
type CancelAppointmentRequest struct {
	// Kept as cancel_reason; 500 letters at most.
	Reason *string `json:"reason,omitempty"`
}

// CancelRequest is sent to the service.
type CancelRequest struct {
	// true: live calls end at once.
	HangupActive *bool `json:"hangup_active,omitempty"`
}

// CapsChange is sent to the service.
type CapsChange struct {
	// Attempts to reach one number on one calendar day where it is: of all campaigns and single calls together. They are counted from the moment a cap is set. 0: no cap.
	PerNumberPerDay *int64 `json:"per_number_per_day,omitempty"`
}

// ChatAction is an answer of the service, or a part of one.
type ChatAction struct {
	// What it would be called with.
	Arguments map[string]string `json:"arguments,omitzero"`
	// The node that does it.
	Node string `json:"node,omitzero"`
	// The destination, the tool, the agent, what is done with the appointment, or the variable.
	Target string `json:"target,omitzero"`
	// The keys, the message, or what is told to whoever answers.
	Text string `json:"text,omitzero"`
	// What a call would do. One of dtmf, transfer, tool, appointment, sms, agent, add_to_dnc, missing_variable.
	Type string `json:"type"`
}

// ChatAnswer is an answer of the service, or a part of one.
type ChatAnswer struct {
	// What a call would do now.
	Actions []ChatAction `json:"actions"`
	// Whether it is over.
	Ended bool `json:"ended"`
	// The intent that was set.
	Intent string `json:"intent,omitzero"`
	// What the agent says now.
	Messages []ChatMessage `json:"messages"`
	// The notes that were set.
	Notes string `json:"notes,omitzero"`
	// What kind of resource this is.
	Object string `json:"object"`
	// How it ended.
	Outcome string `json:"outcome,omitzero"`
	// Which pathway it follows.
	PathwayID string `json:"pathway_id"`
	// Which version was walked.
	PathwayVersion int64 `json:"pathway_version"`
	// Why it was broken off.
	Reason string `json:"reason,omitzero"`
	// false: the last input had words that nobody hears.
	Understood bool `json:"understood"`
	// What was collected and set so far, without what is sensitive.
	Variables map[string]string `json:"variables"`
	WaitsFor  *ChatWait         `json:"waits_for"`
}

// ChatInput is sent to the service.
type ChatInput struct {
	// What it says. Keys of a phone are keyed in; other words count as silence, for no engine hears them. Empty: silence.
	Text *string `json:"text,omitempty"`
	// How the transfer went that the pathway waits for; failed unless said. One of reached, failed.
	Transfer *string `json:"transfer,omitempty"`
}

// ChatMessage is an answer of the service, or a part of one.
type ChatMessage struct {
	// The node that says it.
	Node string `json:"node"`
	// What was keyed in secretly is hidden.
	Text string `json:"text"`
}

// ChatRequest is sent to the service.
type ChatRequest struct {
	// All that the far end has done so far, oldest first: the conversation is played from its beginning, and the answer tells what the last one led to. Nothing is kept here in between.
	Inputs []ChatInput `json:"inputs,omitzero"`
	// Values of its variables; 200 at most.
	Variables map[string]string `json:"variables,omitzero"`
}

// ChatWait is an answer of the service, or a part of one.
type ChatWait struct {
	// keys, or the end of a transfer. One of keys, transfer.
	For string `json:"for"`
	// Keys that are still wanted.
	Length int64 `json:"length,omitzero"`
	// Whether what is keyed in is kept nowhere.
	Sensitive bool `json:"sensitive,omitzero"`
	// How long a call waits.
	TimeoutSeconds float64 `json:"timeout_seconds,omitzero"`
}

// OAuthClient is an answer of the service, or a part of one.
type OAuthClient struct {
	// The id, under the name that OAuth has for it.
	ClientID string `json:"client_id"`
	// The secret itself, only in the answer to its creation.
	ClientSecret string `json:"client_secret,omitzero"`
	// When it was made.
	CreatedAt time.Time `json:"created_at"`
	// The API key that made it.
	CreatedBy string `json:"created_by"`
	// live or test; the two never see each other.
	Environment string `json:"environment"`
	// How it gets tokens.
	GrantTypes []string `json:"grant_types"`
	// Names it; never changes and is never given again.
	ID string `json:"id"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// For people.
	Name string `json:"name"`
	// What kind of resource this is.
	Object string `json:"object"`
	// It has no secret.
	Public bool `json:"public"`
	// Where users are sent back to.
	RedirectURIs []string `json:"redirect_uris"`
	// The most that it can be given.
	Scopes []string `json:"scopes"`
	// The end of the secret.
	SecretHint string `json:"secret_hint,omitzero"`
	// When it was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}

// Compliance is an answer of the service, or a part of one.
type Compliance struct {
	CallingHours   CallingHours `json:"calling_hours"`
	DNCListID      string       `json:"dnc_list_id,omitzero"`
	DNCScrub       bool         `json:"dnc_scrub"`
	OptOutHandling *OptOut      `json:"opt_out_handling,omitempty"`
}

// Contact is an answer of the service, or a part of one.
type Contact struct {
	// How often it was tried.
	Attempts int64 `json:"attempts"`
	// Of which campaign it is, where it is of one.
	CampaignID string `json:"campaign_id"`
	// When its last attempt ended.
	CompletedAt *time.Time `json:"completed_at"`
	// Variables of the pathway's text.
	Context map[string]any `json:"context,omitzero"`
	// Its country, where it is not the campaign's.
	Country string `json:"country,omitzero"`
	// When it was made.
	CreatedAt time.Time `json:"created_at"`
	// live or test; the two never see each other.
	Environment string `json:"environment"`
	// Names it; never changes and is never given again.
	ID string `json:"id"`
	// The call of its last attempt.
	LastCallID string `json:"last_call_id,omitzero"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// When it is tried again.
	NextAttemptAt *time.Time `json:"next_attempt_at"`
	// What kind of resource this is.
	Object string `json:"object"`
	// How its last attempt ended.
	Outcome string `json:"outcome,omitzero"`
	// E.164.
	Phone string `json:"phone"`
	// Why.
	Reason string `json:"reason,omitzero"`
	// pending, dialing, retry_wait, or how it ended.
	Status string `json:"status"`
	// Its zone, where it is not that of its number.
	Timezone string `json:"timezone,omitzero"`
	// When it was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}

// ContactError is an answer of the service, or a part of one.
type ContactError struct {
	// The rule: invalid_row, invalid_phone, invalid_timezone, duplicate, dnc or missing_variable.
	Code string `json:"code"`
	// The row: 1 for the first line of a file or the first item of a list.
	Line int64 `json:"line"`
	// The rule in words.
	Message string `json:"message"`
	// The number as it was sent.
	Phone string `json:"phone,omitzero"`
}

// ContactPatch is sent to the service.
type ContactPatch struct {
	// Merged by name; null takes a name away.
	Context map[string]any `json:"context,omitzero"`
	// Empty: the campaign's.
	Country *string `json:"country,omitempty"`
	// E.164, or national in the contact's country.
	Phone *string `json:"phone,omitempty"`
	// Empty: that of the number.
	Timezone *string `json:"timezone,omitempty"`
}

// ContactsSummary is an answer of the service, or a part of one.
type ContactsSummary struct {
	// Contacts of the campaign now.
	Accepted int64 `json:"accepted"`
	// Rows whose number is on the do-not-call list.
	DNC int64 `json:"dnc"`
	// Rows whose number the campaign had already.
	Duplicates int64 `json:"duplicates"`
	// Rows that cannot be used.
	Invalid int64 `json:"invalid"`
	// Accepted rows without a variable that the pathway requires.
	MissingVariables int64 `json:"missing_variables"`
	// Rows that were read.
	Received int64 `json:"received"`
}

// ContactsUpload is sent to the service.
type ContactsUpload struct {
	Contacts []NewContact `json:"contacts"`
}

// DNCCheck is an answer of the service, or a part of one.
type DNCCheck struct {
	// Whether it is on any list.
	Listed bool `json:"listed"`
	// Where it is listed.
	Lists []DNCFound `json:"lists"`
	// E.164.
	Phone string `json:"phone"`
}

// DNCEntry is an answer of the service, or a part of one.
type DNCEntry struct {
	// The call in which its owner opted out.
	CallID string `json:"call_id,omitzero"`
	// When it came onto the list.
	CreatedAt time.Time `json:"created_at"`
	// The message that opted out.
	MessageID string `json:"message_id,omitzero"`
	// E.164.
	Phone string `json:"phone"`
	// import, api or opt_out.
	Source string `json:"source"`
}

// DNCEntryDeleted is an answer of the service, or a part of one.
type DNCEntryDeleted struct {
	// True.
	Deleted bool `json:"deleted"`
	// What kind of resource this is. One of dnc_entry.
	Object string `json:"object"`
	// E.164.
	Phone string `json:"phone"`
}

// DNCFound is an answer of the service, or a part of one.
type DNCFound struct {
	// The call in which its owner opted out.
	CallID string `json:"call_id,omitzero"`
	// When it came onto the list.
	CreatedAt time.Time `json:"created_at"`
	// Whether it is the default list.
	Default bool `json:"default"`
	// The list.
	DNCListID string `json:"dnc_list_id"`
	// The message that opted out.
	MessageID string `json:"message_id,omitzero"`
	// Its name.
	Name string `json:"name"`
	// E.164.
	Phone string `json:"phone"`
	// import, api or opt_out.
	Source string `json:"source"`
}

// DNCImport is an answer of the service, or a part of one.
type DNCImport struct {
	// Numbers that are new on the list.
	Added int64 `json:"added"`
	// The list.
	DNCListID string `json:"dnc_list_id"`
	// Numbers that were on it already, or came twice.
	Duplicates int64 `json:"duplicates"`
	// The first 100 of these.
	Errors []ContactError `json:"errors"`
	// Rows that are no telephone number.
	Invalid int64 `json:"invalid"`
	// Rows that came.
	Received int64 `json:"received"`
}

// DNCList is an answer of the service, or a part of one.
type DNCList struct {
	// When it was made.
	CreatedAt time.Time `json:"created_at"`
	// It takes the opt-outs, and every call is checked against it.
	Default bool `json:"default"`
	// Numbers on it.
	Entries int64 `json:"entries"`
	// live or test; the two never see each other.
	Environment string `json:"environment"`
	// Names it; never changes and is never given again.
	ID string `json:"id"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// Yours.
	Name string `json:"name"`
	// What kind of resource this is.
	Object string `json:"object"`
	// When it was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}

// DNCListChange is sent to the service.
type DNCListChange struct {
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// Yours.
	Name *string `json:"name,omitempty"`
}

// DNCNumber is sent to the service.
type DNCNumber struct {
	// ISO 3166: how a number without country code is read. Left out: the workspace's default_country.
	Country *string `json:"country,omitempty"`
	// A number that is not to be called.
	Phone string `json:"phone"`
}

// DNCNumbers is sent to the service.
type DNCNumbers struct {
	// Numbers; instead of an object its phone alone may stand as a text.
	Entries []string `json:"entries"`
}

// Decision is an answer of the service, or a part of one.
type Decision struct {
	// When it was decided.
	At time.Time `json:"at"`
	// The number of the attempt; of a skip, how many there were.
	Attempt int64 `json:"attempt"`
	// The call of the attempt.
	CallID string `json:"call_id,omitzero"`
	// The contact.
	ContactID string `json:"contact_id"`
	// dial: an attempt was opened. skip: the contact is left out.
	Decision string `json:"decision"`
	// E.164.
	Phone string `json:"phone"`
	// Of the log: its chain is checked row by row.
	Row int64 `json:"row"`
	// What each rule said, and by what.
	Rules []Ruling `json:"rules"`
}

// DecisionsVerified is an answer of the service, or a part of one.
type DecisionsVerified struct {
	// The first row that does not fit; null: none.
	BrokenRow *int64 `json:"broken_row"`
	// The campaign.
	CampaignID string `json:"campaign_id"`
	// Decisions in them.
	Decisions int64 `json:"decisions"`
	// Hash of the last of them.
	Head string `json:"head"`
	// The first row whose hash needs the key of the service; those before it are older than that key, and whoever can write to the store could have made them anew. null: no row has one.
	KeyedFrom *int64 `json:"keyed_from"`
	// What is wrong with it.
	Reason string `json:"reason,omitzero"`
	// Rows that hold.
	Rows int64 `json:"rows"`
	// Whether the log is as it was written.
	Valid bool `json:"valid"`
}

// Deleted is an answer of the service, or a part of one.
type Deleted struct {
	// Always true.
	Deleted bool `json:"deleted"`
	// Names it; never changes and is never given again.
	ID string `json:"id"`
	// What kind of resource this is.
	Object string `json:"object"`
}

// Destination is an answer of the service, or a part of one.
type Destination struct {
	// How callers are handed on; left out: as the transfer says.
	Mode string `json:"mode,omitzero"`
	// For people.
	Name string `json:"name"`
	// Extension or id of a phone.
	Phone string `json:"phone,omitzero"`
	// A telephone number.
	To string `json:"to,omitzero"`
}

// Detail is an answer of the service, or a part of one.
type Detail struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Param   string `json:"param"`
}

// Diverted is an answer of the service, or a part of one.
type Diverted struct {
	// The number that was called before.
	From string `json:"from"`
	// Why the call went on.
	Reason string `json:"reason,omitzero"`
}

// DuplicateRequest is sent to the service.
type DuplicateRequest struct {
	// false: without them.
	Contacts *bool `json:"contacts,omitempty"`
	// The same unless said.
	Name *string `json:"name,omitempty"`
}

// Edge is sent to the service.
type Edge struct {
	From string `json:"from"`
	To   string `json:"to"`
	When When   `json:"when"`
}

// Event is an answer of the service, or a part of one.
type Event struct {
	// When it was made.
	CreatedAt time.Time `json:"created_at"`
	// What happened; its shape goes by the type.
	Data json.RawMessage `json:"data"`
	// Names it; never changes and is never given again.
	ID string `json:"id"`
	// Counts the events of a subject from 1.
	Sequence int64 `json:"sequence"`
	// What it is about: a call, a campaign.
	Subject string `json:"subject"`
	// The unit that it is of.
	SvcID string `json:"svc_id"`
	// What happened, such as call.ended.
	Type string `json:"type"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}

// Export is an answer of the service, or a part of one.
type Export struct {
	// When the file was ready.
	CompletedAt *time.Time `json:"completed_at"`
	// When it was made.
	CreatedAt time.Time `json:"created_at"`
	// Where the file is, while there is one.
	DownloadURL string `json:"download_url,omitzero"`
	// live or test; the two never see each other.
	Environment string `json:"environment"`
	// When the file is deleted.
	ExpiresAt *time.Time `json:"expires_at"`
	// Which rows are wanted.
	Filters ExportFilters `json:"filters"`
	// csv or jsonl.
	Format string `json:"format"`
	// Names it; never changes and is never given again.
	ID string `json:"id"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// What kind of resource this is.
	Object string `json:"object"`
	// Why it failed.
	Reason string `json:"reason,omitzero"`
	// How many rows the file has.
	Rows int64 `json:"rows"`
	// Of the file, in bytes.
	Size int64 `json:"size"`
	// queued, running, completed, failed or expired: its file was deleted.
	Status string `json:"status"`
	// What the rows are.
	Type string `json:"type"`
	// When it was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}

// ExportFilters is an answer of the service, or a part of one.
type ExportFilters struct {
	// Of which campaign it is, where it is of one.
	CampaignID string `json:"campaign_id,omitzero"`
	// Only what was created after this time.
	CreatedAfter *time.Time `json:"created_after,omitempty"`
	// Only what was created before this time.
	CreatedBefore *time.Time `json:"created_before,omitempty"`
	// Only calls or contacts in this state.
	Status string `json:"status,omitzero"`
	// Only events of these names.
	Types []string `json:"types,omitzero"`
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

// FrequencyCaps is an answer of the service, or a part of one.
type FrequencyCaps struct {
	// Attempts to reach one number on one of its calendar days; 0: no cap.
	PerNumberPerDay int64 `json:"per_number_per_day"`
}

// HealthAnswer is an answer of the service, or a part of one.
type HealthAnswer struct {
	// One of ok.
	Status string `json:"status"`
}

// JWK is an answer of the service, or a part of one.
type JWK struct {
	// How it signs. One of EdDSA.
	Alg string `json:"alg"`
	// Its curve. One of Ed25519.
	Crv string `json:"crv"`
	// Its name, as tokens carry it.
	Kid string `json:"kid"`
	// The kind of key. One of OKP.
	Kty string `json:"kty"`
	// What it is for. One of sig.
	Use string `json:"use"`
	// The public key, base64url.
	X string `json:"x"`
}

// JWKS is an answer of the service, or a part of one.
type JWKS struct {
	// All keys whose tokens may still hold.
	Keys []JWK `json:"keys"`
}

// KeyChange is sent to the service.
type KeyChange struct {
	// [] lets every address in.
	AllowedIPs []string `json:"allowed_ips,omitzero"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// For people.
	Name *string `json:"name,omitempty"`
}

// KnowledgeBase is an answer of the service, or a part of one.
type KnowledgeBase struct {
	// How much text that is.
	Bytes int64 `json:"bytes"`
	// When it was made.
	CreatedAt time.Time `json:"created_at"`
	// live or test; the two never see each other.
	Environment string `json:"environment"`
	// Names it; never changes and is never given again.
	ID string `json:"id"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// For people.
	Name string `json:"name"`
	// What kind of resource this is.
	Object string `json:"object"`
	// How many passages a search looks through.
	PassageCount int64 `json:"passage_count"`
	// How many sources it has.
	SourceCount int64 `json:"source_count"`
	// processing: some source is still to be read. ready. failed: no source could be read.
	Status string `json:"status"`
	// When it was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}

// KnowledgeChange is sent to the service.
type KnowledgeChange struct {
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// For people.
	Name *string `json:"name,omitempty"`
}

// KnowledgeFound is an answer of the service, or a part of one.
type KnowledgeFound struct {
	// The passages, best first.
	Data []KnowledgeHit `json:"data"`
	// Which was searched.
	KnowledgeBaseID string `json:"knowledge_base_id"`
	// What kind of resource this is.
	Object string `json:"object"`
	// What was looked for.
	Query string `json:"query"`
}

// KnowledgeHit is an answer of the service, or a part of one.
type KnowledgeHit struct {
	// The headings that it stands below.
	Heading string `json:"heading,omitzero"`
	// The higher the better; comparable within one answer.
	Score float64 `json:"score"`
	// From which source it is.
	SourceID string `json:"source_id"`
	// Its name.
	SourceName string `json:"source_name"`
	// The words.
	Text string `json:"text"`
	// Its address.
	URL string `json:"url,omitzero"`
}

// KnowledgeQuery is sent to the service.
type KnowledgeQuery struct {
	// Words; at most 500 letters.
	Query string `json:"query"`
	// The most passages that are wanted.
	TopK *int64 `json:"top_k,omitempty"`
}

// KnowledgeSource is an answer of the service, or a part of one.
type KnowledgeSource struct {
	// How much text it has.
	Bytes int64 `json:"bytes"`
	// text/plain, text/markdown or text/html.
	ContentType string `json:"content_type"`
	// When it was made.
	CreatedAt time.Time `json:"created_at"`
	// live or test; the two never see each other.
	Environment string `json:"environment"`
	// Why it failed.
	Error string `json:"error,omitzero"`
	// Names it; never changes and is never given again.
	ID string `json:"id"`
	// Of which knowledge base it is.
	KnowledgeBaseID string `json:"knowledge_base_id"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// For people.
	Name string `json:"name"`
	// What kind of resource this is.
	Object string `json:"object"`
	// Into how many passages it was cut.
	PassageCount int64 `json:"passage_count"`
	// When it was read.
	ReadyAt *time.Time `json:"ready_at"`
	// processing, ready or failed.
	Status string `json:"status"`
	// What the page calls itself.
	Title string `json:"title,omitzero"`
	// text, url or file.
	Type string `json:"type"`
	// When it was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// Where it was read.
	URL string `json:"url,omitzero"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}

// Leg is an answer of the service, or a part of one.
type Leg struct {
	// The final SIP answer; 0: none came.
	Code int64 `json:"code"`
	// What the sound was written with.
	Codec string `json:"codec,omitzero"`
	// When it ended; null: it lives.
	EndedAt *time.Time `json:"ended_at"`
	// From the INVITE to the first ringing or final answer.
	PDDMs int64 `json:"pdd_ms"`
	// The cause of its end as the network has it (Q.850).
	Q850 int64 `json:"q850,omitzero"`
	// The phrase of the answer, or why there was none.
	Reason string `json:"reason"`
	// transfer: to whom the caller was handed; empty: the far end itself.
	Role string `json:"role,omitzero"`
	// The Call-ID of its messages.
	SIPCallID string `json:"sip_call_id"`
	// When its INVITE was sent or came.
	StartedAt time.Time `json:"started_at"`
	// host:port;transport.
	Target string `json:"target"`
	// Over which trunk.
	TrunkID string `json:"trunk_id"`
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

// Limits is an answer of the service, or a part of one.
type Limits struct {
	// Outbound calls that may begin in a minute.
	CallsPerMinute int64 `json:"calls_per_minute"`
	// Inbound calls at once.
	ConcurrentInbound int64 `json:"concurrent_inbound"`
	// Outbound calls at once.
	ConcurrentOutbound int64 `json:"concurrent_outbound"`
	// Requests to the API.
	RequestsPerMinute int64 `json:"requests_per_minute"`
}

// LimitsChange is sent to the service.
type LimitsChange struct {
	// Outbound calls that may begin in a minute.
	CallsPerMinute *int64 `json:"calls_per_minute,omitempty"`
	// Inbound calls at once.
	ConcurrentInbound *int64 `json:"concurrent_inbound,omitempty"`
	// Outbound calls at once.
	ConcurrentOutbound *int64 `json:"concurrent_outbound,omitempty"`
	// Requests to the API.
	RequestsPerMinute *int64 `json:"requests_per_minute,omitempty"`
}

// Link is an answer of the service, or a part of one.
type Link struct {
	// The call.
	CallID string `json:"call_id"`
	// When it ends.
	ExpiresAt time.Time `json:"expires_at"`
	// Whoever has it may fetch the recording: hand it on with care.
	URL string `json:"url"`
}

// LinkRequest is sent to the service.
type LinkRequest struct {
	// Seconds for which the link opens.
	ExpiresIn *int64 `json:"expires_in,omitempty"`
}

// ListAPIKey is an answer of the service, or a part of one.
type ListAPIKey struct {
	// The rows of this page.
	Data []APIKey `json:"data"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as cursor for the next page; null at the end.
	NextCursor *string `json:"next_cursor"`
	// What kind of resource this is. One of list.
	Object string `json:"object"`
}

// ListAgent is an answer of the service, or a part of one.
type ListAgent struct {
	// The rows of this page.
	Data []Agent `json:"data"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as cursor for the next page; null at the end.
	NextCursor *string `json:"next_cursor"`
	// What kind of resource this is. One of list.
	Object string `json:"object"`
}

// ListAgentVersion is an answer of the service, or a part of one.
type ListAgentVersion struct {
	// The rows of this page.
	Data []AgentVersion `json:"data"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as cursor for the next page; null at the end.
	NextCursor *string `json:"next_cursor"`
	// What kind of resource this is. One of list.
	Object string `json:"object"`
}

// ListAppointment is an answer of the service, or a part of one.
type ListAppointment struct {
	// The rows of this page.
	Data []Appointment `json:"data"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as cursor for the next page; null at the end.
	NextCursor *string `json:"next_cursor"`
	// What kind of resource this is. One of list.
	Object string `json:"object"`
}

// ListAuditEntry is an answer of the service, or a part of one.
type ListAuditEntry struct {
	// The rows of this page.
	Data []AuditEntry `json:"data"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as cursor for the next page; null at the end.
	NextCursor *string `json:"next_cursor"`
	// What kind of resource this is. One of list.
	Object string `json:"object"`
}

// ListBulk is an answer of the service, or a part of one.
type ListBulk struct {
	// The rows of this page.
	Data []Bulk `json:"data"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as cursor for the next page; null at the end.
	NextCursor *string `json:"next_cursor"`
	// What kind of resource this is. One of list.
	Object string `json:"object"`
}

// ListBulkItem is an answer of the service, or a part of one.
type ListBulkItem struct {
	// The rows of this page.
	Data []BulkItem `json:"data"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as cursor for the next page; null at the end.
	NextCursor *string `json:"next_cursor"`
	// What kind of resource this is. One of list.
	Object string `json:"object"`
}

// ListCall is an answer of the service, or a part of one.
type ListCall struct {
	// The rows of this page.
	Data []Call `json:"data"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as cursor for the next page; null at the end.
	NextCursor *string `json:"next_cursor"`
	// What kind of resource this is. One of list.
	Object string `json:"object"`
}

// ListCampaign is an answer of the service, or a part of one.
type ListCampaign struct {
	// The rows of this page.
	Data []Campaign `json:"data"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as cursor for the next page; null at the end.
	NextCursor *string `json:"next_cursor"`
	// What kind of resource this is. One of list.
	Object string `json:"object"`
}

// ListOAuthClient is an answer of the service, or a part of one.
type ListOAuthClient struct {
	// The rows of this page.
	Data []OAuthClient `json:"data"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as cursor for the next page; null at the end.
	NextCursor *string `json:"next_cursor"`
	// What kind of resource this is. One of list.
	Object string `json:"object"`
}

// ListContact is an answer of the service, or a part of one.
type ListContact struct {
	// The rows of this page.
	Data []Contact `json:"data"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as cursor for the next page; null at the end.
	NextCursor *string `json:"next_cursor"`
	// What kind of resource this is. One of list.
	Object string `json:"object"`
}

// ListDNCEntry is an answer of the service, or a part of one.
type ListDNCEntry struct {
	// The rows of this page.
	Data []DNCEntry `json:"data"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as cursor for the next page; null at the end.
	NextCursor *string `json:"next_cursor"`
	// What kind of resource this is. One of list.
	Object string `json:"object"`
}

// ListDNCList is an answer of the service, or a part of one.
type ListDNCList struct {
	// The rows of this page.
	Data []DNCList `json:"data"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as cursor for the next page; null at the end.
	NextCursor *string `json:"next_cursor"`
	// What kind of resource this is. One of list.
	Object string `json:"object"`
}

// ListDecision is an answer of the service, or a part of one.
type ListDecision struct {
	// The rows of this page.
	Data []Decision `json:"data"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as cursor for the next page; null at the end.
	NextCursor *string `json:"next_cursor"`
	// What kind of resource this is. One of list.
	Object string `json:"object"`
}

// ListEvent is an answer of the service, or a part of one.
type ListEvent struct {
	// The rows of this page.
	Data []Event `json:"data"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as cursor for the next page; null at the end.
	NextCursor *string `json:"next_cursor"`
	// What kind of resource this is. One of list.
	Object string `json:"object"`
}

// ListExport is an answer of the service, or a part of one.
type ListExport struct {
	// The rows of this page.
	Data []Export `json:"data"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as cursor for the next page; null at the end.
	NextCursor *string `json:"next_cursor"`
	// What kind of resource this is. One of list.
	Object string `json:"object"`
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

// ListKnowledgeBase is an answer of the service, or a part of one.
type ListKnowledgeBase struct {
	// The rows of this page.
	Data []KnowledgeBase `json:"data"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as cursor for the next page; null at the end.
	NextCursor *string `json:"next_cursor"`
	// What kind of resource this is. One of list.
	Object string `json:"object"`
}

// ListKnowledgeSource is an answer of the service, or a part of one.
type ListKnowledgeSource struct {
	// The rows of this page.
	Data []KnowledgeSource `json:"data"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as cursor for the next page; null at the end.
	NextCursor *string `json:"next_cursor"`
	// What kind of resource this is. One of list.
	Object string `json:"object"`
}

// ListMessage is an answer of the service, or a part of one.
type ListMessage struct {
	// The rows of this page.
	Data []Message `json:"data"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as cursor for the next page; null at the end.
	NextCursor *string `json:"next_cursor"`
	// What kind of resource this is. One of list.
	Object string `json:"object"`
}

// ListPathway is an answer of the service, or a part of one.
type ListPathway struct {
	// The rows of this page.
	Data []Pathway `json:"data"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as cursor for the next page; null at the end.
	NextCursor *string `json:"next_cursor"`
	// What kind of resource this is. One of list.
	Object string `json:"object"`
}

// ListPhone is an answer of the service, or a part of one.
type ListPhone struct {
	// The rows of this page.
	Data []Phone `json:"data"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as cursor for the next page; null at the end.
	NextCursor *string `json:"next_cursor"`
	// What kind of resource this is. One of list.
	Object string `json:"object"`
}

// ListPhoneNumber is an answer of the service, or a part of one.
type ListPhoneNumber struct {
	// The rows of this page.
	Data []PhoneNumber `json:"data"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as cursor for the next page; null at the end.
	NextCursor *string `json:"next_cursor"`
	// What kind of resource this is. One of list.
	Object string `json:"object"`
}

// ListProvider is an answer of the service, or a part of one.
type ListProvider struct {
	// The rows of this page.
	Data []Provider `json:"data"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as cursor for the next page; null at the end.
	NextCursor *string `json:"next_cursor"`
	// What kind of resource this is. One of list.
	Object string `json:"object"`
}

// ListSession is an answer of the service, or a part of one.
type ListSession struct {
	// The rows of this page.
	Data []Session `json:"data"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as cursor for the next page; null at the end.
	NextCursor *string `json:"next_cursor"`
	// What kind of resource this is. One of list.
	Object string `json:"object"`
}

// ListTool is an answer of the service, or a part of one.
type ListTool struct {
	// The rows of this page.
	Data []Tool `json:"data"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as cursor for the next page; null at the end.
	NextCursor *string `json:"next_cursor"`
	// What kind of resource this is. One of list.
	Object string `json:"object"`
}

// ListTrunk is an answer of the service, or a part of one.
type ListTrunk struct {
	// The rows of this page.
	Data []Trunk `json:"data"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as cursor for the next page; null at the end.
	NextCursor *string `json:"next_cursor"`
	// What kind of resource this is. One of list.
	Object string `json:"object"`
}

// ListUpload is an answer of the service, or a part of one.
type ListUpload struct {
	// The rows of this page.
	Data []Upload `json:"data"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as cursor for the next page; null at the end.
	NextCursor *string `json:"next_cursor"`
	// What kind of resource this is. One of list.
	Object string `json:"object"`
}

// ListUser is an answer of the service, or a part of one.
type ListUser struct {
	// The rows of this page.
	Data []User `json:"data"`
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
	Status         string     `json:"status"`
}

// Logs is an answer of the service, or a part of one.
type Logs struct {
	// Whether there is another page.
	HasMore bool       `json:"has_more"`
	Logs    []LogEntry `json:"logs"`
	// The cursor of the next page; null on the last.
	NextCursor *string `json:"next_cursor"`
}

// Message is an answer of the service, or a part of one.
type Message struct {
	// The words, with the context filled in.
	Body string `json:"body"`
	// What was filled in.
	Context map[string]any `json:"context,omitzero"`
	// When it was made.
	CreatedAt time.Time `json:"created_at"`
	// When it was reported as delivered.
	DeliveredAt *time.Time `json:"delivered_at"`
	// outbound or inbound.
	Direction string `json:"direction"`
	// gsm7: up to 160 letters, or 153 in each of several segments. ucs2: 70, or 67.
	Encoding string `json:"encoding"`
	// live or test; the two never see each other.
	Environment string `json:"environment"`
	// Why it failed.
	ErrorCode string `json:"error_code,omitzero"`
	// Why, in words.
	ErrorMessage string `json:"error_message,omitzero"`
	// When it failed.
	FailedAt *time.Time `json:"failed_at"`
	// E.164.
	From string `json:"from"`
	// Names it; never changes and is never given again.
	ID string `json:"id"`
	// Addresses of pictures and the like.
	Media []string `json:"media"`
	// As id.
	MessageID string `json:"message_id"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// Outbound: it answers an opt-out, once.
	Notice bool `json:"notice"`
	// What kind of resource this is.
	Object string `json:"object"`
	// Inbound: the sender wants no more; the number is on the default do-not-call list.
	OptOut bool `json:"opt_out"`
	// The message that it answers.
	ReplyTo string `json:"reply_to,omitzero"`
	// How many pieces it takes over the air.
	Segments int64 `json:"segments"`
	// When a carrier took it.
	SentAt *time.Time `json:"sent_at"`
	// queued, sent (a carrier has it), delivered or undelivered (so it reports), failed (none took it), received.
	Status string `json:"status"`
	// E.164.
	To string `json:"to"`
	// When it was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}

// Money is an answer of the service, or a part of one.
type Money struct {
	// Decimal text.
	Amount string `json:"amount"`
	// ISO 4217.
	Currency string `json:"currency"`
}

// NewAMD is sent to the service.
type NewAMD struct {
	// leave_message: what is left.
	Message *string `json:"message,omitempty"`
	// off; async: while the agent speaks already; wait: before it speaks. One of off, async, wait.
	Mode *string `json:"mode,omitempty"`
	// What is done where a machine answers. One of hangup, leave_message, continue.
	VoicemailAction *string `json:"voicemail_action,omitempty"`
}

// NewAgentInbound is sent to the service.
type NewAgentInbound struct {
	// ring: 180, then 200. direct: 200 at once. early: 183 with a ringing of ours, for 3 seconds unless ring_seconds says otherwise. One of ring, direct, early.
	Answer *string `json:"answer,omitempty"`
	// ring, early: how long before the answer.
	RingSeconds *int64 `json:"ring_seconds,omitempty"`
}

// NewAgentLimits is sent to the service.
type NewAgentLimits struct {
	// The longest conversation.
	MaxMinutes *int64 `json:"max_minutes,omitempty"`
	// So much silence ends it.
	SilenceSeconds *int64 `json:"silence_seconds,omitempty"`
}

// NewAgentTransfer is sent to the service.
type NewAgentTransfer struct {
	// The far end may send the call elsewhere, by REFER, within the destination rules.
	AcceptRefer *bool `json:"accept_refer,omitempty"`
	// Whom callers may be handed to, by name.
	Destinations []NewDestination `json:"destinations,omitzero"`
	// What a party hears while the other side of a bridged call has put it on hold, and the caller while a transfer is dialled without ringback: silence (the default), tone, or wav:NAME.wav, a file of the prompts folder.
	HoldMusic *string `json:"hold_music,omitempty"`
	// The caller hears it ring while a transfer is dialled.
	Ringback *bool `json:"ringback,omitempty"`
}

// NewAnalysis is sent to the service.
type NewAnalysis struct {
	// 50 at most.
	Fields []NewAnalysisField `json:"fields,omitzero"`
	// When a call was a success, in words.
	SuccessCriteria *string `json:"success_criteria,omitempty"`
	// Whether a summary is wanted.
	Summary *bool `json:"summary,omitempty"`
}

// NewAnalysisField is sent to the service.
type NewAnalysisField struct {
	// What it is.
	Description *string `json:"description,omitempty"`
	// For people.
	Name string `json:"name"`
	// Whether it has to be found.
	Required *bool `json:"required,omitempty"`
	// What kind of value it is. One of string, number, integer, boolean.
	Type *string `json:"type,omitempty"`
	// The ones that a string may have; 100 at most.
	Values []string `json:"values,omitzero"`
}

// NewAppointment is sent to the service.
type NewAppointment struct {
	// The call in which it was made.
	CallID *string `json:"call_id,omitempty"`
	// RFC 3339 with an offset; without one, as clocks in timezone show it. A time that these never show, or twice, is 422.
	Datetime string `json:"datetime"`
	// The provider's slot_minutes (30) unless said.
	DurationMinutes *int64 `json:"duration_minutes,omitempty"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// Yours, for people; 2000 letters at most.
	Notes *string `json:"notes,omitempty"`
	// For whom it is.
	Patient NewPatient `json:"patient"`
	// The id or the name of a provider.
	Provider string `json:"provider"`
	// confirmed: the patient has said so already. One of booked, confirmed.
	Status *string `json:"status,omitempty"`
	// In which the time is meant and told; the provider's unless said.
	Timezone *string `json:"timezone,omitempty"`
	// What it is about, in your words.
	Type *string `json:"type,omitempty"`
}

// NewAssumptions is sent to the service.
type NewAssumptions struct {
	// Share of the attempts that a person answers.
	AnswerRate *float64 `json:"answer_rate,omitempty"`
	// Share that is busy.
	BusyRate *float64 `json:"busy_rate,omitempty"`
	// Share that the trunk cannot reach. What the four leave of 1 does not answer.
	FailedRate *float64 `json:"failed_rate,omitempty"`
	// How long it rings where nobody does.
	NoAnswerSeconds *float64 `json:"no_answer_seconds,omitempty"`
	// How long it rings before somebody answers, on average.
	RingSeconds *float64 `json:"ring_seconds,omitempty"`
	// How long a call with a person lasts, on average.
	TalkSeconds *float64 `json:"talk_seconds,omitempty"`
	// Share that a machine answers.
	VoicemailRate *float64 `json:"voicemail_rate,omitempty"`
	// How long a call with a machine lasts, on average.
	VoicemailSeconds *float64 `json:"voicemail_seconds,omitempty"`
}

// NewBulkOfBulkContactDefaultsNewContact is sent to the service.
type NewBulkOfBulkContactDefaultsNewContact struct {
	// What every item has unless it says otherwise.
	Defaults map[string]any `json:"defaults,omitzero"`
	// At most 10,000.
	Items []NewContact `json:"items"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
}

// NewBulkOfBulkNumberDefaultsDNCNumber is sent to the service.
type NewBulkOfBulkNumberDefaultsDNCNumber struct {
	// What every item has unless it says otherwise.
	Defaults map[string]any `json:"defaults,omitzero"`
	// At most 10,000.
	Items []DNCNumber `json:"items"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
}

// NewBulkOfNewCallRequestNewCallRequest is sent to the service.
type NewBulkOfNewCallRequestNewCallRequest struct {
	// What every item has unless it says otherwise.
	Defaults map[string]any `json:"defaults,omitzero"`
	// At most 10,000.
	Items []NewCallRequest `json:"items"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
}

// NewBulkOfNewMessageNewMessage is sent to the service.
type NewBulkOfNewMessageNewMessage struct {
	// What every item has unless it says otherwise.
	Defaults map[string]any `json:"defaults,omitzero"`
	// At most 10,000.
	Items []NewMessage `json:"items"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
}

// NewCallRequest is sent to the service.
type NewCallRequest struct {
	// agent_id or pathway_id is required.
	AgentID *string `json:"agent_id,omitempty"`
	// Rules of this call.
	Compliance *CallCompliance `json:"compliance,omitempty"`
	// Variables of the pathway.
	Context map[string]any `json:"context,omitzero"`
	// The workspace's first number unless said.
	From *string `json:"from,omitempty"`
	// After so long it is ended.
	MaxDurationSeconds *int64 `json:"max_duration_seconds,omitempty"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// agent_id or pathway_id is required.
	PathwayID *string `json:"pathway_id,omitempty"`
	// false: nothing is recorded.
	Record *bool `json:"record,omitempty"`
	// How long it may ring, from the first ringing.
	RingTimeoutSeconds *int64 `json:"ring_timeout_seconds,omitempty"`
	// A telephone number, or the extension or SIP address of a phone of the workspace.
	To string `json:"to"`
}

// NewCallerID is sent to the service.
type NewCallerID struct {
	// For people.
	Name *string `json:"name,omitempty"`
	// The workspace's first number unless said.
	Number *string `json:"number,omitempty"`
}

// NewCampaign is sent to the service.
type NewCampaign struct {
	// agent_id or pathway_id is required.
	AgentID *string `json:"agent_id,omitempty"`
	// false: stays open when all contacts are done.
	AutoComplete *bool          `json:"auto_complete,omitempty"`
	CallerID     *NewCallerID   `json:"caller_id,omitempty"`
	Compliance   *NewCompliance `json:"compliance,omitempty"`
	// At most 10,000; upload more to /contacts.
	Contacts []NewContact `json:"contacts,omitzero"`
	// For numbers without +.
	DefaultCountry *string `json:"default_country,omitempty"`
	// true: stays a draft even with a start ahead.
	Draft *bool `json:"draft,omitempty"`
	// Calls speak the version of the agent, and the pathway, that is newest when they begin; otherwise those that the campaign began with.
	FollowLatest *bool `json:"follow_latest,omitempty"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// For people.
	Name   string     `json:"name"`
	Pacing *NewPacing `json:"pacing,omitempty"`
	// Which pathway it follows.
	PathwayID *string      `json:"pathway_id,omitempty"`
	Retry     *NewRetry    `json:"retry,omitempty"`
	Schedule  *NewSchedule `json:"schedule,omitempty"`
	// With test keys only.
	Test *NewTest `json:"test,omitempty"`
	// Signs the campaign's webhooks; made here unless said.
	WebhookSecret *string `json:"webhook_secret,omitempty"`
	// Campaign event name → https URL.
	Webhooks map[string]string `json:"webhooks,omitzero"`
}

// NewOAuthClient is sent to the service.
type NewOAuthClient struct {
	// authorization_code and refresh_token where there is a redirect URI, else client_credentials, unless said.
	GrantTypes []string `json:"grant_types,omitzero"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// What its users see when they are asked.
	Name string `json:"name"`
	// It can keep no secret (a page, a program on a phone): it gets none, and PKCE is required of it.
	Public *bool `json:"public,omitempty"`
	// Where users are sent back to, compared letter by letter. https, or http on 127.0.0.1, [::1] and localhost.
	RedirectURIs []string `json:"redirect_uris,omitzero"`
	// The most that it can be given: permissions, not more than the key holds that makes it.
	Scopes []string `json:"scopes"`
}

// NewCompliance is sent to the service.
type NewCompliance struct {
	// 08:00 to 21:00 local unless said.
	CallingHours *NewHours `json:"calling_hours,omitempty"`
	DNCListID    *string   `json:"dnc_list_id,omitempty"`
	// true unless said.
	DNCScrub       *bool      `json:"dnc_scrub,omitempty"`
	OptOutHandling *NewOptOut `json:"opt_out_handling,omitempty"`
}

// NewContact is sent to the service.
type NewContact struct {
	// Variables of the pathway's text.
	Context map[string]any `json:"context,omitzero"`
	Country *string        `json:"country,omitempty"`
	// E.164, or national in the campaign's default_country.
	Phone string `json:"phone"`
	// Overrides the zone of the number.
	Timezone *string `json:"timezone,omitempty"`
}

// NewDNCList is sent to the service.
type NewDNCList struct {
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// Yours.
	Name string `json:"name"`
}

// NewDestination is sent to the service.
type NewDestination struct {
	// How callers are handed on; left out: as the transfer says. One of blind, attended, bridge.
	Mode *string `json:"mode,omitempty"`
	// For people.
	Name string `json:"name"`
	// The extension or the id of a phone; phone or to is required.
	Phone *string `json:"phone,omitempty"`
	// A telephone number; to or phone is required.
	To *string `json:"to,omitempty"`
}

// NewExport is sent to the service.
type NewExport struct {
	// Which rows are wanted; without any all.
	Filters *NewExportFilters `json:"filters,omitempty"`
	// csv, or one JSON object per line. One of csv, jsonl.
	Format *string `json:"format,omitempty"`
	// What the rows are. The credential must be allowed to read it. One of calls, legs, transcripts, campaign_results, contacts, events, usage, audit_logs.
	Type string `json:"type"`
}

// NewExportFilters is sent to the service.
type NewExportFilters struct {
	// Of calls, legs and transcripts; required for campaign_results and contacts.
	CampaignID *string `json:"campaign_id,omitempty"`
	// Only what was created after this time; of usage: the first day.
	CreatedAfter *time.Time `json:"created_after,omitempty"`
	// Only what was created before this time; of usage: the last day.
	CreatedBefore *time.Time `json:"created_before,omitempty"`
	// Only calls or contacts in this state.
	Status *string `json:"status,omitempty"`
	// Only events of these names or wildcards. All that the credential may read where there are none.
	Types []string `json:"types,omitzero"`
}

// NewHours is sent to the service.
type NewHours struct {
	// HH:MM, up to 24:00
	End string `json:"end"`
	// HH:MM
	Start string `json:"start"`
	// A zone's name, or local: the contact's.
	Timezone *string `json:"timezone,omitempty"`
}

// NewInboundHook is sent to the service.
type NewInboundHook struct {
	// How long an answer is waited for: 100 to 5000.
	TimeoutMs *int64 `json:"timeout_ms,omitempty"`
	// https only, at an address that may be reached.
	URL *string `json:"url,omitempty"`
}

// NewKey is sent to the service.
type NewKey struct {
	// Addresses or CIDRs; empty: from everywhere.
	AllowedIPs []string `json:"allowed_ips,omitzero"`
	// live or test; that of the key that makes it unless said.
	Environment *string `json:"environment,omitempty"`
	// When it ends.
	ExpiresAt *time.Time `json:"expires_at,omitempty"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// For people.
	Name string `json:"name"`
	// Not more than the key holds that makes it.
	Permissions []string `json:"permissions"`
}

// NewKnowledge is sent to the service.
type NewKnowledge struct {
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// For people.
	Name string `json:"name"`
	// 100 at most.
	Sources []NewSource `json:"sources,omitzero"`
}

// NewLLM is sent to the service.
type NewLLM struct {
	// An engine of the installation; empty: its own choice.
	Engine *string `json:"engine,omitempty"`
	// Of one answer; 0: as the engine has it.
	MaxTokens *int64 `json:"max_tokens,omitempty"`
	// Its model.
	Model *string `json:"model,omitempty"`
	// How freely it chooses words.
	Temperature *float64 `json:"temperature,omitempty"`
}

// NewMessage is sent to the service.
type NewMessage struct {
	// At most 1600 letters; {{name}} and {{name | fallback}} are filled in from context.
	Body string `json:"body"`
	// Values for the names in body.
	Context map[string]any `json:"context,omitzero"`
	// The workspace's first number unless said.
	From *string `json:"from,omitempty"`
	// Addresses of pictures and the like, https only; 10 at most.
	Media []string `json:"media,omitzero"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// Best in E.164.
	To string `json:"to"`
}

// NewMoney is sent to the service.
type NewMoney struct {
	// Decimal text.
	Amount string `json:"amount"`
	// ISO 4217. One of USD.
	Currency *string `json:"currency,omitempty"`
}

// NewNumber is sent to the service.
type NewNumber struct {
	// Who answers.
	AgentID string `json:"agent_id"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// E.164, or * for whatever else its trunk brings.
	Number string `json:"number"`
	// Messages that name no from come from the oldest number that says so; without one, from the workspace's first.
	SMSEnabled *bool `json:"sms_enabled,omitempty"`
	// The only trunk over which it may be called; * needs it.
	TrunkID *string `json:"trunk_id,omitempty"`
}

// NewOptOut is sent to the service.
type NewOptOut struct {
	Action   *string  `json:"action,omitempty"`
	Keywords []string `json:"keywords,omitzero"`
}

// NewPacing is sent to the service.
type NewPacing struct {
	// The plan's ceiling unless said.
	CallsPerMinute *int64 `json:"calls_per_minute,omitempty"`
	// The plan's ceiling unless said.
	MaxConcurrent *int64 `json:"max_concurrent,omitempty"`
	// fixed keeps the pace. adaptive goes slower, never faster, while many calls are hung up at once, fail or are answered more seldom than before, or while the agent answers late.
	Mode *string `json:"mode,omitempty"`
}

// NewPatient is sent to the service.
type NewPatient struct {
	// For people.
	Name string `json:"name"`
	// Best in E.164.
	Phone string `json:"phone"`
}

// NewPricing is sent to the service.
type NewPricing struct {
	// Per month.
	IncludedAttempts *int64 `json:"included_attempts,omitempty"`
	// Of each further one. An empty amount takes the price away.
	PricePerAttempt NewMoney `json:"price_per_attempt"`
}

// NewProxy is sent to the service.
type NewProxy struct {
	// A name or an address.
	Host string `json:"host"`
	// 0 or left out: 5060, over TLS 5061; of a name by its SRV records first.
	Port *int64 `json:"port,omitempty"`
	// Lower first.
	Priority *int64 `json:"priority,omitempty"`
	// Left out: udp, or what the NAPTR and SRV records of a name without a port say. One of udp, tcp, tls.
	Transport *string `json:"transport,omitempty"`
	// Share among targets of one priority.
	Weight *int64 `json:"weight,omitempty"`
}

// NewRate is sent to the service.
type NewRate struct {
	// Dollars a minute; counted by the second.
	Cost string `json:"cost"`
	// + is everywhere. The longest that matches counts.
	Prefix string `json:"prefix"`
}

// NewRealtime is sent to the service.
type NewRealtime struct {
	// An engine of the installation; empty: its own choice.
	Engine *string `json:"engine,omitempty"`
	// Its model.
	Model *string `json:"model,omitempty"`
	// Its voice.
	Voice *string `json:"voice,omitempty"`
}

// NewRetry is sent to the service.
type NewRetry struct {
	Enabled       *bool    `json:"enabled,omitempty"`
	IntervalHours *float64 `json:"interval_hours,omitempty"`
	// Counts the first.
	MaxAttempts *int64 `json:"max_attempts,omitempty"`
	// no_answer, busy, voicemail, failed, rejected, interrupted
	RetryOn []string `json:"retry_on,omitzero"`
}

// NewSTT is sent to the service.
type NewSTT struct {
	// An engine of the installation; empty: its own choice.
	Engine *string `json:"engine,omitempty"`
	// Words that are likely to be said; 100 at most.
	Keywords []string `json:"keywords,omitzero"`
	// Where it is not the agent's.
	Language *string `json:"language,omitempty"`
	// Its model.
	Model *string `json:"model,omitempty"`
}

// NewSchedule is sent to the service.
type NewSchedule struct {
	// monday … sunday; all unless said.
	Days []string   `json:"days,omitzero"`
	End  *time.Time `json:"end,omitempty"`
	// YYYY-MM-DD
	ExcludedDates []string `json:"excluded_dates,omitzero"`
	// Ahead: the campaign begins scheduled. Left out or past: it stays a draft until it is started.
	Start    *time.Time `json:"start,omitempty"`
	Timezone *string    `json:"timezone,omitempty"`
}

// NewSource is sent to the service.
type NewSource struct {
	// Of a file: its text, or base64 where encoding says so.
	Content *string `json:"content,omitempty"`
	// Of a file it follows from its name (.txt, .md, .html) unless said, of a page from its server; a text is plain. One of text/plain, text/markdown, text/html.
	ContentType *string `json:"content_type,omitempty"`
	// Of content. One of utf-8, base64.
	Encoding *string `json:"encoding,omitempty"`
	// For people; a file's own name, which is required for it.
	Name *string `json:"name,omitempty"`
	// Of a text.
	Text *string `json:"text,omitempty"`
	// text, url or file. One of text, url, file.
	Type string `json:"type"`
	// Of a page, https only. It is read once, without following redirects, and must lie at an address that may be reached.
	URL *string `json:"url,omitempty"`
}

// NewSpan is sent to the service.
type NewSpan struct {
	// HH:MM, up to 24:00. What runs over midnight takes two days.
	End string `json:"end"`
	// HH:MM, as clocks in the provider's zone show it.
	Start string `json:"start"`
}

// NewTest is sent to the service.
type NewTest struct {
	// How much faster the campaign's clock goes: schedule, calling hours, pace and retries. Calls take their time.
	TimeFactor int64 `json:"time_factor"`
}

// NewToken is sent to the service.
type NewToken struct {
	// Seconds, 60 to 86400; 3600 unless said.
	ExpiresIn *int64 `json:"expires_in,omitempty"`
	// Not more than the API key holds.
	Permissions []string `json:"permissions"`
	// Whom the token is for: its sub.
	UserID string `json:"user_id"`
}

// NewToolHTTP is sent to the service.
type NewToolHTTP struct {
	// JSON that is sent, in whose strings {{name}} stands for an argument. Without it the arguments are sent.
	Body map[string]any `json:"body,omitzero"`
	// Secret: kept encrypted and never shown again but for a hint. In a PATCH those that were sent before stay where this is left out and the host stays the same; {} takes them away.
	Headers map[string]string `json:"headers,omitzero"`
	// The method. One of GET, POST, PUT, PATCH, DELETE.
	Method *string `json:"method,omitempty"`
	// How long an answer is waited for: 100 to 60000.
	TimeoutMs *int64 `json:"timeout_ms,omitempty"`
	// https only, at an address that may be reached. {{name}} in its path and query stands for an argument.
	URL string `json:"url"`
}

// NewToolMCP is sent to the service.
type NewToolMCP struct {
	// As those of http.
	Headers map[string]string `json:"headers,omitzero"`
	// Of the server, https only, at an address that may be reached. It is asked for the tool's name.
	URL string `json:"url"`
}

// NewTrunkAlarms is sent to the service.
type NewTrunkAlarms struct {
	// Short ones of answered calls, 0 to 1. 0: no alarm.
	MaxShortCallShare *float64 `json:"max_short_call_share,omitempty"`
	// Mean length of answered calls. 0: no alarm.
	MinAcdSeconds *float64 `json:"min_acd_seconds,omitempty"`
	// Answered of attempted calls, 0 to 1. 0: no alarm.
	MinAsr *float64 `json:"min_asr,omitempty"`
	// There is no judgement over fewer calls.
	MinCalls *int64 `json:"min_calls,omitempty"`
	// Up to here a call is short.
	ShortCallSeconds *int64 `json:"short_call_seconds,omitempty"`
}

// NewTrunkAuth is sent to the service.
type NewTrunkAuth struct {
	// Never shown again. In a PATCH it may be left out and stays.
	Password *string `json:"password,omitempty"`
	// The only realm that is answered; empty: any.
	Realm *string `json:"realm,omitempty"`
	// The name at the carrier.
	Username string `json:"username"`
}

// NewTrunkInbound is sent to the service.
type NewTrunkInbound struct {
	// Addresses and networks. Empty: the addresses of the proxies.
	AllowedIPs []string `json:"allowed_ips,omitzero"`
	// Calls have to prove it by digest; an empty username takes it away.
	Auth *NewTrunkAuth `json:"auth,omitempty"`
	// Calls beyond get 503 with Retry-After. 0: no limit of its own.
	CallsPerSecond *float64 `json:"calls_per_second,omitempty"`
}

// NewTurns is sent to the service.
type NewTurns struct {
	// So much silence ends the caller's turn; 0: as the engine has it.
	EndOfTurnMs *int64 `json:"end_of_turn_ms,omitempty"`
	// Speech may cut what it says.
	Interruptible *bool `json:"interruptible,omitempty"`
	// So many words count as an interruption; 0: as the engine has it.
	InterruptionWords *int64 `json:"interruption_words,omitempty"`
}

// NewUser is sent to the service.
type NewUser struct {
	// Addresses or CIDRs from which the user signs in; empty: from everywhere.
	AllowedIPs []string `json:"allowed_ips,omitzero"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// For people.
	Name string `json:"name"`
	// viewer reads; agent places calls; manager changes agents and campaigns, too; admin may do everything. Not more than the key may that makes it. One of viewer, agent, manager, admin.
	Role string `json:"role"`
}

// NewVoice is sent to the service.
type NewVoice struct {
	// espeak-ng, or wav for recorded prompts. One of espeak-ng, wav.
	Engine *string `json:"engine,omitempty"`
	// The engine's name of the voice.
	Name *string `json:"name,omitempty"`
	// How fast it speaks: 1 is normal.
	Rate *float64 `json:"rate,omitempty"`
}

// NewWebhook is sent to the service.
type NewWebhook struct {
	// Event names, a category such as call.*, or *.
	Events []string `json:"events"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// Signs the deliveries; made here unless said.
	Secret *string `json:"secret,omitempty"`
	// https only.
	URL string `json:"url"`
}

// Node is sent to the service.
type Node struct {
	// appointment: availability, book, confirm, cancel or reschedule.
	Action *string `json:"action,omitempty"`
	// agent: who goes on.
	AgentID *string `json:"agent_id,omitempty"`
	// tool, appointment: what it is called with; text takes {{name}}.
	Arguments map[string]string `json:"arguments,omitzero"`
	// sms: the message.
	Body        *string `json:"body,omitempty"`
	Destination *string `json:"destination,omitempty"`
	Digits      *string `json:"digits,omitempty"`
	// converse: what is to be found out; each becomes a variable.
	Extract []AnalysisField `json:"extract,omitzero"`
	// Names it within the pathway.
	ID string `json:"id"`
	// collect: dtmf, speech or both.
	Input         *string `json:"input,omitempty"`
	Interruptible *bool   `json:"interruptible,omitempty"`
	// converse: what may be looked up in.
	KnowledgeBaseIDs []string `json:"knowledge_base_ids,omitzero"`
	Length           *int64   `json:"length,omitempty"`
	Mode             *string  `json:"mode,omitempty"`
	Notes            *string  `json:"notes,omitempty"`
	Outcome          *string  `json:"outcome,omitempty"`
	// What is said; of a converse node what is to be talked about.
	Prompt         *string  `json:"prompt,omitempty"`
	Retries        *int64   `json:"retries,omitempty"`
	SaveAs         *string  `json:"save_as,omitempty"`
	Sensitive      *bool    `json:"sensitive,omitempty"`
	Set            *Assign  `json:"set,omitempty"`
	Summary        *string  `json:"summary,omitempty"`
	TimeoutSeconds *float64 `json:"timeout_seconds,omitempty"`
	// tool: which one.
	ToolID *string `json:"tool_id,omitempty"`
	// converse: the tools that may be used, by id.
	Tools []string `json:"tools,omitzero"`
	// say, collect, converse, dtmf, condition, tool, appointment, sms, transfer, agent or end.
	Type   string   `json:"type"`
	Values []string `json:"values,omitzero"`
}

// NumberChange is sent to the service.
type NumberChange struct {
	// Who answers.
	AgentID *string `json:"agent_id,omitempty"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// Whether messages that name no from may come from it.
	SMSEnabled *bool `json:"sms_enabled,omitempty"`
	// The only trunk over which it may be called.
	TrunkID *string `json:"trunk_id,omitempty"`
}

// OAuthMetadata is an answer of the service, or a part of one.
type OAuthMetadata struct {
	// Where users are sent to be asked.
	AuthorizationEndpoint string `json:"authorization_endpoint"`
	// iss comes with every answer (RFC 9207).
	AuthorizationResponseIssParameterSupported bool `json:"authorization_response_iss_parameter_supported"`
	// Of PKCE.
	CodeChallengeMethodsSupported []string `json:"code_challenge_methods_supported"`
	// How tokens are got.
	GrantTypesSupported []string `json:"grant_types_supported"`
	// Where a client asks after its tokens.
	IntrospectionEndpoint string `json:"introspection_endpoint"`
	// How clients prove themselves there.
	IntrospectionEndpointAuthMethodsSupported []string `json:"introspection_endpoint_auth_methods_supported"`
	// The service, as its tokens name it.
	Issuer string `json:"issuer"`
	// The keys that tokens are signed with.
	JWKSURI string `json:"jwks_uri"`
	// What the authorization endpoint answers.
	ResponseTypesSupported []string `json:"response_types_supported"`
	// Where tokens are given back.
	RevocationEndpoint string `json:"revocation_endpoint"`
	// How clients prove themselves there.
	RevocationEndpointAuthMethodsSupported []string `json:"revocation_endpoint_auth_methods_supported"`
	// The permissions.
	ScopesSupported []string `json:"scopes_supported"`
	// Where tokens are got.
	TokenEndpoint string `json:"token_endpoint"`
	// How clients prove themselves.
	TokenEndpointAuthMethodsSupported []string `json:"token_endpoint_auth_methods_supported"`
}

// OpenSpan is an answer of the service, or a part of one.
type OpenSpan struct {
	// HH:MM, up to 24:00.
	End string `json:"end"`
	// HH:MM.
	Start string `json:"start"`
}

// OptOut is an answer of the service, or a part of one.
type OptOut struct {
	Action   string   `json:"action"`
	Keywords []string `json:"keywords"`
}

// Pacing is an answer of the service, or a part of one.
type Pacing struct {
	CallsPerMinute int64 `json:"calls_per_minute"`
	MaxConcurrent  int64 `json:"max_concurrent"`
	// fixed keeps the pace; adaptive goes slower, never faster, while calls go badly.
	Mode string `json:"mode,omitzero"`
}

// PacingChange is sent to the service.
type PacingChange struct {
	CallsPerMinute *int64  `json:"calls_per_minute,omitempty"`
	MaxConcurrent  *int64  `json:"max_concurrent,omitempty"`
	Mode           *string `json:"mode,omitempty"`
}

// Pathway is an answer of the service, or a part of one.
type Pathway struct {
	// When it was made.
	CreatedAt time.Time `json:"created_at"`
	Edges     []Edge    `json:"edges"`
	// live or test; the two never see each other.
	Environment string `json:"environment"`
	// Names it; never changes and is never given again.
	ID string `json:"id"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// For people.
	Name  string `json:"name"`
	Nodes []Node `json:"nodes"`
	// What kind of resource this is.
	Object string `json:"object"`
	// The id of the first node.
	Start string `json:"start"`
	// When it was last changed.
	UpdatedAt time.Time  `json:"updated_at"`
	Variables []Variable `json:"variables"`
	Version   int64      `json:"version"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}

// PathwayChange is sent to the service.
type PathwayChange struct {
	Edges []Edge `json:"edges,omitzero"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// For people.
	Name  *string `json:"name,omitempty"`
	Nodes []Node  `json:"nodes,omitzero"`
	// The id of the first node.
	Start     *string    `json:"start,omitempty"`
	Variables []Variable `json:"variables,omitzero"`
}

// PathwayReport is an answer of the service, or a part of one.
type PathwayReport struct {
	// What keeps the pathway from being saved.
	Errors []Detail `json:"errors"`
	// What takes an engine that is not configured: it can be saved, but calls that would walk it are 409 engine_not_configured.
	Needs []Detail `json:"needs"`
	// Calls can walk it here.
	Runnable bool `json:"runnable"`
	Valid    bool `json:"valid"`
	// What is odd but stops nothing.
	Warnings []Detail `json:"warnings"`
}

// Patient is an answer of the service, or a part of one.
type Patient struct {
	// For people.
	Name string `json:"name"`
	// E.164.
	Phone string `json:"phone"`
}

// Phone is an answer of the service, or a part of one.
type Phone struct {
	// Where it is registered now.
	Contacts []PhoneContact `json:"contacts,omitzero"`
	// When it was made.
	CreatedAt time.Time `json:"created_at"`
	// live or test; the two never see each other.
	Environment string `json:"environment"`
	// What is dialled to reach it.
	Extension string `json:"extension"`
	// Names it; never changes and is never given again.
	ID string `json:"id"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// For people.
	Name string `json:"name"`
	// What kind of resource this is.
	Object string `json:"object"`
	// Only in the answer that made it.
	Password string `json:"password,omitzero"`
	// registered: it can be rung. One of registered, unregistered.
	Status string `json:"status,omitzero"`
	// When it was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// What it signs in with.
	Username string `json:"username"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}

// PhoneChange is sent to the service.
type PhoneChange struct {
	// 2 to 6 digits, unique among the phones and agents of the workspace.
	Extension *string `json:"extension,omitempty"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// For people.
	Name *string `json:"name,omitempty"`
	// At least 12 letters; made where it is left out, and then shown once. Another one ends the phone's registrations.
	Password *string `json:"password,omitempty"`
	// What the phone signs in with; the extension unless said. Unique in the installation.
	Username *string `json:"username,omitempty"`
}

// PhoneContact is an answer of the service, or a part of one.
type PhoneContact struct {
	// Where its messages come from, and where it is rung.
	Address string `json:"address"`
	// When it ends.
	ExpiresAt time.Time `json:"expires_at"`
	// Its own wish, 0 to 1.
	Priority float64 `json:"priority"`
	// When it registered there.
	Since time.Time `json:"since"`
	// udp, tcp or tls.
	Transport string `json:"transport"`
	// What it calls itself.
	UserAgent string `json:"user_agent,omitzero"`
}

// PhoneNumber is an answer of the service, or a part of one.
type PhoneNumber struct {
	// Who answers.
	AgentID string `json:"agent_id"`
	// When it was made.
	CreatedAt time.Time `json:"created_at"`
	// live or test; the two never see each other.
	Environment string `json:"environment"`
	// Names it; never changes and is never given again.
	ID string `json:"id"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// E.164, or * for whatever else its trunk brings.
	Number string `json:"number"`
	// What kind of resource this is.
	Object string `json:"object"`
	// Whether messages that name no from may come from it.
	SMSEnabled bool `json:"sms_enabled"`
	// The only trunk over which it may be called; empty: any of the workspace.
	TrunkID string `json:"trunk_id"`
	// When it was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}

// PressRequest is sent to the service.
type PressRequest struct {
	// 0-9, *, # and A-D; w and a comma wait for half a second.
	Digits string `json:"digits"`
}

// Pricing is an answer of the service, or a part of one.
type Pricing struct {
	// Attempts per month that cost nothing.
	IncludedAttempts int64 `json:"included_attempts"`
	// Of each further one.
	PricePerAttempt Money `json:"price_per_attempt"`
}

// Provider is an answer of the service, or a part of one.
type Provider struct {
	// When it was made.
	CreatedAt time.Time `json:"created_at"`
	// live or test; the two never see each other.
	Environment string `json:"environment"`
	// Days without any hours.
	ExcludedDates []string `json:"excluded_dates"`
	// Opening hours by weekday, as clocks in its zone show them.
	Hours map[string][]OpenSpan `json:"hours"`
	// Names it; never changes and is never given again.
	ID string `json:"id"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// For people.
	Name string `json:"name"`
	// What kind of resource this is.
	Object string `json:"object"`
	// How far free times lie apart, and how long an appointment takes unless it says otherwise.
	SlotMinutes int64 `json:"slot_minutes"`
	// In which its hours are meant.
	Timezone string `json:"timezone"`
	// When it was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}

// ProviderChange is sent to the service.
type ProviderChange struct {
	// Days (YYYY-MM-DD, in the zone) without any hours.
	ExcludedDates []string `json:"excluded_dates,omitzero"`
	// Opening hours by lowercase weekday; days that are not named are closed. Monday to Friday, 09:00 to 17:00, unless said.
	Hours map[string][]NewSpan `json:"hours,omitzero"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// Unique among the providers.
	Name *string `json:"name,omitempty"`
	// How far free times lie apart, and how long an appointment takes unless it says otherwise; 30 unless said.
	SlotMinutes *int64 `json:"slot_minutes,omitempty"`
	// In which hours and times without an offset are meant; UTC unless said.
	Timezone *string `json:"timezone,omitempty"`
}

// Proxy is an answer of the service, or a part of one.
type Proxy struct {
	// A name or an address.
	Host string `json:"host"`
	// 0: by DNS.
	Port int64 `json:"port"`
	// Lower first.
	Priority int64 `json:"priority"`
	// udp, tcp or tls; empty: by DNS.
	Transport string `json:"transport"`
	// Share among targets of one priority.
	Weight int64 `json:"weight"`
}

// Quality is an answer of the service, or a part of one.
type Quality struct {
	// What the sound was written with.
	Codec string `json:"codec,omitzero"`
	// How unevenly packets came.
	JitterMs float64 `json:"jitter_ms"`
	// Packets of the far end that did not come.
	LossPercent float64 `json:"loss_percent"`
	// The expected judgement of a listener, 1 to 4.5.
	MOS float64 `json:"mos"`
	// Packets that were heard.
	PacketsReceived int64 `json:"packets_received"`
	// Packets of others, forged ones and replays.
	PacketsRefused int64 `json:"packets_refused"`
	// Packets that were sent.
	PacketsSent int64 `json:"packets_sent"`
	// To the far end and back, by its reports.
	RoundTripMs float64 `json:"round_trip_ms"`
}

// Rate is an answer of the service, or a part of one.
type Rate struct {
	// Dollars a minute.
	Cost string `json:"cost"`
	// The beginning of the number; + is everywhere.
	Prefix string `json:"prefix"`
}

// RateLimits is an answer of the service, or a part of one.
type RateLimits struct {
	// Of the whole workspace.
	CurrentWindow WindowUse `json:"current_window"`
	// Paths with limits of their own.
	Endpoints map[string]LimitUse `json:"endpoints"`
}

// RecordingState is an answer of the service, or a part of one.
type RecordingState struct {
	// The call.
	CallID string `json:"call_id"`
	// Whether it is recorded now. One of recording, paused.
	Status string `json:"status"`
}

// RedialRequest is sent to the service.
type RedialRequest struct {
	// The same unless said.
	Name *string `json:"name,omitempty"`
	// Whom to ring again.
	Outcomes []string `json:"outcomes"`
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

// RescheduleRequest is sent to the service.
type RescheduleRequest struct {
	// As when it is made.
	Datetime string `json:"datetime"`
	// As it was unless said.
	DurationMinutes *int64 `json:"duration_minutes,omitempty"`
	// As it was unless said.
	Provider *string `json:"provider,omitempty"`
	// As it was unless said.
	Timezone *string `json:"timezone,omitempty"`
}

// Resource is an answer of the service, or a part of one.
type Resource struct {
	// Names it; never changes and is never given again.
	ID   string `json:"id"`
	Type string `json:"type"`
}

// Retention is an answer of the service, or a part of one.
type Retention struct {
	// Days after its end after which an appointment is deleted; 0: it is kept.
	AppointmentDays int64 `json:"appointment_days"`
	// Days after which an event and the log of its deliveries are deleted, 7 at least, but not before it was sent; 0: they are kept.
	EventDays int64 `json:"event_days"`
	// Days after which a text message is deleted; 0: it is kept.
	MessageDays int64 `json:"message_days"`
	// Days after which a call's recording is deleted; 0: it is kept.
	RecordingDays int64 `json:"recording_days"`
	// Days after which a call's SIP messages are deleted; 0: they are kept.
	TraceDays int64 `json:"trace_days"`
	// Days after which a call's transcript is deleted; 0: it is kept.
	TranscriptDays int64 `json:"transcript_days"`
}

// RetentionChange is sent to the service.
type RetentionChange struct {
	// Days after their end after which appointments are deleted; 0: they are kept.
	AppointmentDays *int64 `json:"appointment_days,omitempty"`
	// Days after which events and the logs of their deliveries are deleted, 7 at least; 0: they are kept.
	EventDays *int64 `json:"event_days,omitempty"`
	// Days after which text messages are deleted; 0: they are kept.
	MessageDays *int64 `json:"message_days,omitempty"`
	// Days after which recordings are deleted; 0: they are kept.
	RecordingDays *int64 `json:"recording_days,omitempty"`
	// Days after which the SIP messages of calls are deleted; 0: they are kept.
	TraceDays *int64 `json:"trace_days,omitempty"`
	// Days after which transcripts are deleted; 0: they are kept.
	TranscriptDays *int64 `json:"transcript_days,omitempty"`
}

// Retry is an answer of the service, or a part of one.
type Retry struct {
	Enabled       bool     `json:"enabled"`
	IntervalHours float64  `json:"interval_hours"`
	MaxAttempts   int64    `json:"max_attempts"`
	RetryOn       []string `json:"retry_on"`
}

// RetryChange is sent to the service.
type RetryChange struct {
	// Whether anything is tried again.
	Enabled *bool `json:"enabled,omitempty"`
	// Between attempts.
	IntervalHours *float64 `json:"interval_hours,omitempty"`
	// Counts the first.
	MaxAttempts *int64 `json:"max_attempts,omitempty"`
	// no_answer, busy, voicemail, failed, rejected, interrupted.
	RetryOn []string `json:"retry_on,omitzero"`
}

// Ruling is an answer of the service, or a part of one.
type Ruling struct {
	// Attempts of the number's day before this one.
	Count int64 `json:"count,omitzero"`
	// Of the destination.
	Country string `json:"country,omitzero"`
	// When it held it first.
	First *time.Time `json:"first,omitempty"`
	// How often it held the contact.
	Held int64 `json:"held,omitzero"`
	// When it held it last.
	Last *time.Time `json:"last,omitempty"`
	// How many its day may have.
	Limit int64 `json:"limit,omitzero"`
	// Lists that were looked into; where it did not pass, the one on which the number stands.
	Lists []string `json:"lists,omitzero"`
	// The time there; of several zones in the first.
	Local string `json:"local,omitzero"`
	// Whether it let the contact pass.
	Passed bool `json:"passed"`
	// schedule, calling_hours, dnc, frequency, destination, line (somebody else talks with the number) or unknown (the store did not say).
	Rule string `json:"rule"`
	// How the number came onto the list.
	Source string `json:"source,omitzero"`
	// Calling hours.
	Window string `json:"window,omitzero"`
	// Of the calling hours or the schedule; of several zones all must allow.
	Zone string `json:"zone,omitzero"`
}

// SIPStep is an answer of the service, or a part of one.
type SIPStep struct {
	// When it came.
	At time.Time `json:"at"`
	// The answer; 0: none came.
	Code int64 `json:"code"`
	// REFER, NOTIFY or INVITE.
	Method string `json:"method"`
	// Its phrase.
	Phrase string `json:"phrase,omitzero"`
}

// SayRequest is sent to the service.
type SayRequest struct {
	// Said in the voice of the agent.
	Text string `json:"text"`
}

// Schedule is an answer of the service, or a part of one.
type Schedule struct {
	Days          []string   `json:"days"`
	End           *time.Time `json:"end,omitempty"`
	ExcludedDates []string   `json:"excluded_dates"`
	Start         *time.Time `json:"start,omitempty"`
	Timezone      string     `json:"timezone"`
}

// ScheduleChange is sent to the service.
type ScheduleChange struct {
	// monday … sunday.
	Days []string `json:"days,omitzero"`
	// RFC 3339; empty: none. Also while it runs.
	End *string `json:"end,omitempty"`
	// YYYY-MM-DD.
	ExcludedDates []string `json:"excluded_dates,omitzero"`
	// RFC 3339; empty: none.
	Start *string `json:"start,omitempty"`
	// The zone of days and dates.
	Timezone *string `json:"timezone,omitempty"`
}

// Segment is an answer of the service, or a part of one.
type Segment struct {
	// How sure the text is, 0 to 1.
	Confidence float64 `json:"confidence"`
	// When it ended, from the answer.
	EndMs int64 `json:"end_ms"`
	// Counts them from 0.
	Index int64 `json:"index"`
	// Whether the other side broke in.
	Interrupted bool `json:"interrupted"`
	// agent, caller or human.
	Speaker string `json:"speaker"`
	// When it began, from the answer.
	StartMs int64 `json:"start_ms"`
	// What was said.
	Text string `json:"text"`
}

// Session is an answer of the service, or a part of one.
type Session struct {
	// When it was made.
	CreatedAt time.Time `json:"created_at"`
	// live or test; the two never see each other.
	Environment string `json:"environment"`
	// When it ends.
	ExpiresAt time.Time `json:"expires_at"`
	// Names it; never changes and is never given again.
	ID string `json:"id"`
	// The address that it was used from last.
	IP string `json:"ip"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// What kind of resource this is.
	Object string `json:"object"`
	// When it was used last, to five minutes.
	SeenAt time.Time `json:"seen_at"`
	// When it was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// What the browser calls itself.
	UserAgent string `json:"user_agent"`
	// Who is signed in.
	UserID string `json:"user_id"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}

// SignInLink is an answer of the service, or a part of one.
type SignInLink struct {
	// When it ends.
	ExpiresAt time.Time `json:"expires_at"`
	// Whoever opens it first is that user: hand it on with care.
	URL string `json:"url"`
	// Whom it signs in.
	UserID string `json:"user_id"`
}

// SimulateDraftRequest is sent to the service.
type SimulateDraftRequest struct {
	// agent_id or pathway_id is required.
	AgentID *string `json:"agent_id,omitempty"`
	// What the called are taken to do; what is left out is taken from the workspace's latest campaign calls, or from the defaults where there are fewer than 50.
	Assumptions *NewAssumptions `json:"assumptions,omitempty"`
	// false: stays open when all contacts are done.
	AutoComplete *bool          `json:"auto_complete,omitempty"`
	CallerID     *NewCallerID   `json:"caller_id,omitempty"`
	Compliance   *NewCompliance `json:"compliance,omitempty"`
	// At most 10,000; upload more to /contacts.
	Contacts []NewContact `json:"contacts,omitzero"`
	// For numbers without +.
	DefaultCountry *string `json:"default_country,omitempty"`
	// true: stays a draft even with a start ahead.
	Draft *bool `json:"draft,omitempty"`
	// Calls speak the version of the agent, and the pathway, that is newest when they begin; otherwise those that the campaign began with.
	FollowLatest *bool `json:"follow_latest,omitempty"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// For people.
	Name   string     `json:"name"`
	Pacing *NewPacing `json:"pacing,omitempty"`
	// Which pathway it follows.
	PathwayID *string      `json:"pathway_id,omitempty"`
	Retry     *NewRetry    `json:"retry,omitempty"`
	Schedule  *NewSchedule `json:"schedule,omitempty"`
	// Draws another course of the same assumptions.
	Seed *int64 `json:"seed,omitempty"`
	// When the campaign would go on; now unless said.
	StartAt *time.Time `json:"start_at,omitempty"`
	// With test keys only.
	Test *NewTest `json:"test,omitempty"`
	// Signs the campaign's webhooks; made here unless said.
	WebhookSecret *string `json:"webhook_secret,omitempty"`
	// Campaign event name → https URL.
	Webhooks map[string]string `json:"webhooks,omitzero"`
}

// SimulateRequest is sent to the service.
type SimulateRequest struct {
	// What the called are taken to do; what is left out is taken from the workspace's latest campaign calls, or from the defaults where there are fewer than 50.
	Assumptions *NewAssumptions `json:"assumptions,omitempty"`
	// Draws another course of the same assumptions.
	Seed *int64 `json:"seed,omitempty"`
	// When the campaign would go on; now unless said.
	StartAt *time.Time `json:"start_at,omitempty"`
}

// SimulatedCost is an answer of the service, or a part of one.
type SimulatedCost struct {
	// What they cost.
	Amount Money `json:"amount"`
	// Attempts that are billed.
	Attempts int64 `json:"attempts"`
	// Of these, those that the plan covers.
	Included int64 `json:"included"`
	// The same by month.
	Months []SimulatedMonth `json:"months"`
	// Of these, those that are charged.
	Overage int64 `json:"overage"`
}

// SimulatedHour is an answer of the service, or a part of one.
type SimulatedHour struct {
	// Calls that begin in it.
	Calls int64 `json:"calls"`
	// Its beginning.
	Hour time.Time `json:"hour"`
}

// SimulatedMonth is an answer of the service, or a part of one.
type SimulatedMonth struct {
	// What they cost.
	Amount Money `json:"amount"`
	// Attempts that are billed.
	Attempts int64 `json:"attempts"`
	// Of these, those that the plan covers.
	Included int64 `json:"included"`
	// YYYY-MM in UTC.
	Month string `json:"month"`
	// Of these, those that are charged.
	Overage int64 `json:"overage"`
}

// Simulation is an answer of the service, or a part of one.
type Simulation struct {
	// history: the workspace's latest campaign calls. defaults: there are too few of these. Before what was sent is put over it.
	AssumedFrom string `json:"assumed_from"`
	// What the called were taken to do.
	Assumptions Assumptions `json:"assumptions"`
	// Calls that would be placed.
	Attempts int64 `json:"attempts"`
	// How many calls would begin in each hour that has any.
	CallsPerHour []SimulatedHour `json:"calls_per_hour"`
	// Of which campaign it is, where it is of one.
	CampaignID string `json:"campaign_id,omitzero"`
	// When the last call would be over; null where that is more than 400 days ahead.
	CompletesAt *time.Time `json:"completes_at"`
	// exhausted: everybody would be done. window_ended: the end of the schedule comes before.
	CompletionReason string `json:"completion_reason,omitzero"`
	// Contacts to whom something may still happen.
	Contacts int64 `json:"contacts"`
	// What the calls would add to the bill, beside what this month has already.
	Cost SimulatedCost `json:"cost"`
	// Contacts whom the end of the schedule would leave behind.
	Expired int64 `json:"expired"`
	// How many contacts would end in each outcome.
	Outcomes map[string]int64 `json:"outcomes"`
	// The pace that was played: the campaign's within the limits of the workspace.
	Pacing Pacing `json:"pacing"`
	// The most calls at a time.
	PeakConcurrent int64 `json:"peak_concurrent"`
	// Contacts who would never be rung, by rule.
	Skipped Skipped `json:"skipped"`
	// When the first call would be possible.
	StartsAt time.Time `json:"starts_at"`
	// Minutes of answered calls.
	TalkMinutes float64 `json:"talk_minutes"`
}

// Skipped is an answer of the service, or a part of one.
type Skipped struct {
	DNC       int64 `json:"dnc"`
	Frequency int64 `json:"frequency"`
	Hours     int64 `json:"hours"`
	Invalid   int64 `json:"invalid"`
}

// Slot is an answer of the service, or a part of one.
type Slot struct {
	// When it ends.
	End time.Time `json:"end"`
	// When it begins, as clocks in timezone show it.
	LocalStart string `json:"local_start"`
	// When it begins.
	Start time.Time `json:"start"`
}

// TargetHealth is an answer of the service, or a part of one.
type TargetHealth struct {
	// How often it failed since it last did not.
	ConsecutiveFailures int64 `json:"consecutive_failures"`
	// What went wrong last.
	LastError string `json:"last_error,omitzero"`
	// Until then it is tried last.
	OutUntil *time.Time `json:"out_until"`
	// What it answered to OPTIONS.
	PingCode int64 `json:"ping_code,omitzero"`
	// How long that took.
	PingMs int64 `json:"ping_ms,omitzero"`
	// Whether it answered.
	PingOk *bool `json:"ping_ok"`
	// When it was asked by OPTIONS.
	PingedAt *time.Time `json:"pinged_at"`
	// As the trunk names it.
	Proxy string `json:"proxy"`
	// up, out (tried last) or resting (not tried).
	Status string `json:"status"`
	// host:port;transport.
	Target string `json:"target"`
}

// TargetTest is an answer of the service, or a part of one.
type TargetTest struct {
	// The methods that it says it knows.
	Allow string `json:"allow,omitzero"`
	// What it answered; 0: nothing.
	Code int64 `json:"code"`
	// Why there was no answer.
	Error string `json:"error,omitzero"`
	// Whether it answered.
	Reachable bool `json:"reachable"`
	// The phrase of its answer.
	Reason string `json:"reason"`
	// How long that took.
	ResponseTimeMs int64 `json:"response_time_ms"`
	// What it calls itself.
	Server string `json:"server,omitzero"`
	// host:port;transport.
	Target string `json:"target"`
}

// TestInbound is sent to the service.
type TestInbound struct {
	// Keys that the caller presses, one by one, as the agent pauses.
	Digits *string `json:"digits,omitempty"`
	// A number, or anonymous.
	From *string `json:"from,omitempty"`
	// After so long the caller hangs up. 0: when the agent does, after three minutes at most.
	HangUpSeconds *int64 `json:"hang_up_seconds,omitempty"`
	// Shown beside the number.
	Name *string `json:"name,omitempty"`
	// What the caller says once the agent pauses.
	Says *string `json:"says,omitempty"`
	// A number of the test environment.
	To string `json:"to"`
}

// TestMessage is sent to the service.
type TestMessage struct {
	// The words.
	Body string `json:"body"`
	// Who sends it.
	From string `json:"from"`
	// To which number of yours.
	To string `json:"to"`
}

// TestMode is an answer of the service, or a part of one.
type TestMode struct {
	// When the clock began to go faster.
	Since *time.Time `json:"since,omitempty"`
	// How much faster it goes.
	TimeFactor int64 `json:"time_factor"`
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

// Ticket is an answer of the service, or a part of one.
type Ticket struct {
	// When it ends.
	ExpiresAt time.Time `json:"expires_at"`
	// Opens the path, once.
	URL string `json:"url"`
}

// TicketRequest is sent to the service.
type TicketRequest struct {
	// The path to be opened, with its query.
	Path string `json:"path"`
}

// Token is an answer of the service, or a part of one.
type Token struct {
	// When it ends.
	ExpiresAt time.Time `json:"expires_at"`
	// Seconds.
	ExpiresIn int64 `json:"expires_in"`
	// What it may do.
	Permissions []string `json:"permissions"`
	// The JWT: send it as Authorization: Bearer.
	Token string `json:"token"`
	// Always Bearer. One of Bearer.
	TokenType string `json:"token_type"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}

// Tool is an answer of the service, or a part of one.
type Tool struct {
	// When it was made.
	CreatedAt time.Time `json:"created_at"`
	// What it is for: a model decides by it.
	Description string `json:"description"`
	// live or test; the two never see each other.
	Environment string `json:"environment"`
	// How it is called over HTTP.
	HTTP *ToolHTTP `json:"http,omitempty"`
	// Names it; never changes and is never given again.
	ID string `json:"id"`
	// Of which MCP server it is.
	Mcp *ToolMCP `json:"mcp,omitempty"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// For people.
	Name string `json:"name"`
	// What kind of resource this is.
	Object string `json:"object"`
	// A JSON Schema of its arguments.
	Parameters map[string]any `json:"parameters"`
	// When it was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}

// ToolChange is sent to the service.
type ToolChange struct {
	// What it is for: a model decides by it.
	Description *string `json:"description,omitempty"`
	// One of http and mcp.
	HTTP *NewToolHTTP `json:"http,omitempty"`
	// A tool of an MCP server; one of http and mcp.
	Mcp *NewToolMCP `json:"mcp,omitempty"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// Letters, digits, _ and -; unique in the workspace.
	Name *string `json:"name,omitempty"`
	// A JSON Schema of the arguments, which are an object: 32 KiB and 16 levels at most, without references to elsewhere.
	Parameters map[string]any `json:"parameters,omitzero"`
}

// ToolHTTP is an answer of the service, or a part of one.
type ToolHTTP struct {
	// What is sent, in whose strings {{name}} stands for an argument; without it the arguments are.
	Body map[string]any `json:"body,omitzero"`
	// The headers that are sent, each with the end of what it says.
	HeaderHints map[string]string `json:"header_hints"`
	// The method.
	Method string `json:"method"`
	// How long an answer is waited for.
	TimeoutMs int64 `json:"timeout_ms"`
	// Where it is called; {{name}} stands for an argument.
	URL string `json:"url"`
}

// ToolMCP is an answer of the service, or a part of one.
type ToolMCP struct {
	// The headers that are sent, each with the end of what it says.
	HeaderHints map[string]string `json:"header_hints"`
	// Where the server is.
	URL string `json:"url"`
}

// Transcript is an answer of the service, or a part of one.
type Transcript struct {
	// The call.
	CallID string `json:"call_id"`
	// The language spoken.
	Language string `json:"language"`
	// What was said, in order.
	Segments []Segment `json:"segments"`
	// ready, or processing while it is still to come. One of ready, processing.
	Status string `json:"status"`
	// All of it as one text.
	Text string `json:"text"`
}

// Transfer is an answer of the service, or a part of one.
type Transfer struct {
	// When somebody answered.
	AnsweredAt *time.Time `json:"answered_at,omitempty"`
	// Who began it: api, agent or remote.
	By string `json:"by"`
	// When it was over.
	EndedAt *time.Time `json:"ended_at,omitempty"`
	// Which legs of the call it dialled, from 1.
	Legs []int64 `json:"legs,omitzero"`
	// blind, attended or bridge.
	Mode string `json:"mode"`
	// The agent's name of the destination.
	Name string `json:"name,omitzero"`
	// Why it failed.
	Reason string `json:"reason,omitzero"`
	// What SIP answered, in order, 16 at most.
	SIP []SIPStep `json:"sip,omitzero"`
	// When it began.
	StartedAt time.Time `json:"started_at"`
	// in_progress, connected, completed, returned or failed. The last three are final.
	Status string `json:"status"`
	// What was told to whoever answered.
	Summary string `json:"summary,omitzero"`
	// A number, an extension or a SIP address.
	To string `json:"to"`
}

// TransferRequest is sent to the service.
type TransferRequest struct {
	// A name of the agent's transfer.destinations.
	Destination *string `json:"destination,omitempty"`
	// blind: the far end is asked to call (REFER). attended: we call, and the far end takes that call over. bridge: we call and join both; the recording goes on. Left out: as the destination says, otherwise bridge. One of blind, attended, bridge.
	Mode *string `json:"mode,omitempty"`
	// The extension or the id of a phone.
	Phone *string `json:"phone,omitempty"`
	// Told to whoever answers, before the caller is heard; not in mode blind.
	Summary *string `json:"summary,omitempty"`
	// A number; exactly one of to, phone and destination is required.
	To *string `json:"to,omitempty"`
}

// Trunk is an answer of the service, or a part of one.
type Trunk struct {
	// Bounds beyond which system.degraded is sent.
	Alarms TrunkAlarms `json:"alarms"`
	// What answers its digest challenges; without the password.
	Auth *TrunkAuth `json:"auth,omitempty"`
	// Headers that tell who calls: sent to it, and believed of it.
	CallerIDHeaders []string `json:"caller_id_headers"`
	// Numbers that may be shown over it.
	CallerIDs []string `json:"caller_ids"`
	// How many calls may begin in a second; others wait for their turn.
	CallsPerSecond float64 `json:"calls_per_second"`
	// In the order of preference.
	Codecs []string `json:"codecs"`
	// What a minute costs, by prefix.
	Costs []Rate `json:"costs"`
	// When it was made.
	CreatedAt time.Time `json:"created_at"`
	// The way of key presses.
	Dtmf string `json:"dtmf"`
	// live or test; the two never see each other.
	Environment string `json:"environment"`
	// The host of From; empty: our own.
	FromDomain string `json:"from_domain,omitzero"`
	// How it does now.
	Health *TrunkHealth `json:"health,omitempty"`
	// Names it; never changes and is never given again.
	ID string `json:"id"`
	// From where its calls may come.
	Inbound TrunkInbound `json:"inbound"`
	// Calls at once; 0: no limit of its own.
	MaxChannels int64 `json:"max_channels"`
	// From where its sound may come, and where it may go, besides its proxies.
	MediaNetworks []string `json:"media_networks"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// For people.
	Name string `json:"name"`
	// Put before the number called.
	NumberAdd string `json:"number_add,omitzero"`
	// ISO 3166: how numbers without a country code are read and written.
	NumberCountry string `json:"number_country,omitzero"`
	// e164, digits or national.
	NumberFormat string `json:"number_format"`
	// Taken off the beginning of the number called.
	NumberStrip string `json:"number_strip,omitzero"`
	// What kind of resource this is.
	Object string `json:"object"`
	// Whether its targets are asked every 30 seconds if they live.
	OptionsPing bool `json:"options_ping"`
	// What is sent to the proxies goes by way of it.
	OutboundProxy *Proxy `json:"outbound_proxy,omitempty"`
	// Beginnings of the numbers that it takes; empty: all.
	Prefixes []string `json:"prefixes"`
	// Among trunks of one prefix length: lower first.
	Priority int64 `json:"priority"`
	// Its targets.
	Proxies []Proxy `json:"proxies"`
	// What became of its calls.
	Quality *TrunkQuality `json:"quality,omitempty"`
	// Whether it is registered at.
	Register bool `json:"register"`
	// The built-in carrier.
	Simulator bool `json:"simulator,omitzero"`
	// Where the carrier is to send calls.
	SIPURI string `json:"sip_uri,omitzero"`
	// Whether the sound is encrypted: off, optional or required.
	Srtp string `json:"srtp"`
	// Whether keys are told without TLS.
	SrtpKeysInClear bool `json:"srtp_keys_in_clear"`
	// When it was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}

// TrunkAlarms is an answer of the service, or a part of one.
type TrunkAlarms struct {
	// Short ones of answered calls, 0 to 1; 0: no alarm.
	MaxShortCallShare float64 `json:"max_short_call_share"`
	// Mean length of answered calls; 0: no alarm.
	MinAcdSeconds float64 `json:"min_acd_seconds"`
	// Answered of attempted calls, 0 to 1; 0: no alarm.
	MinAsr float64 `json:"min_asr"`
	// There is no judgement over fewer calls.
	MinCalls int64 `json:"min_calls"`
	// Up to here a call is short.
	ShortCallSeconds int64 `json:"short_call_seconds"`
}

// TrunkAuth is an answer of the service, or a part of one.
type TrunkAuth struct {
	// Never shown.
	Password string `json:"password,omitzero"`
	// The only realm that is answered; empty: any.
	Realm string `json:"realm,omitzero"`
	// The name at the carrier.
	Username string `json:"username"`
}

// TrunkChange is sent to the service.
type TrunkChange struct {
	// Beyond these bounds, over the last hour, system.degraded is sent.
	Alarms *NewTrunkAlarms `json:"alarms,omitempty"`
	// Answers the trunk's digest challenges. An empty username takes it away.
	Auth *NewTrunkAuth `json:"auth,omitempty"`
	// P-Asserted-Identity, Remote-Party-ID, Diversion: sent to the trunk, and believed of it.
	CallerIDHeaders []string `json:"caller_id_headers,omitzero"`
	// Numbers that may be shown over it.
	CallerIDs []string `json:"caller_ids,omitzero"`
	// 50 unless said. Calls wait for their turn.
	CallsPerSecond *float64 `json:"calls_per_second,omitempty"`
	// PCMU, PCMA, G722, opus, in the order of preference.
	Codecs []string `json:"codecs,omitzero"`
	// Among trunks of one priority: cheaper first. They also count for daily_spend_cap.
	Costs []NewRate `json:"costs,omitzero"`
	// The way of key presses; auto: as events where both ends take them, else as tones. One of auto, rfc4733, info, inband.
	Dtmf *string `json:"dtmf,omitempty"`
	// The host of From; empty: our own.
	FromDomain *string `json:"from_domain,omitempty"`
	// From where its calls may come.
	Inbound *NewTrunkInbound `json:"inbound,omitempty"`
	// 0: no limit of its own.
	MaxChannels *int64 `json:"max_channels,omitempty"`
	// From where its sound may come, and where it may go, besides its proxies.
	MediaNetworks []string `json:"media_networks,omitzero"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// For people.
	Name *string `json:"name,omitempty"`
	// Then put before it.
	NumberAdd *string `json:"number_add,omitempty"`
	// ISO 3166. Of national, and of numbers that come in without a country code.
	NumberCountry *string `json:"number_country,omitempty"`
	// +12025550100, 12025550100, or as it is dialled within number_country. One of e164, digits, national.
	NumberFormat *string `json:"number_format,omitempty"`
	// Taken off the beginning of the number called, once it is written.
	NumberStrip *string `json:"number_strip,omitempty"`
	// Asks the targets every 30 seconds by OPTIONS. One that does not answer comes last, unless its calls succeed.
	OptionsPing *bool `json:"options_ping,omitempty"`
	// What goes to the proxies is sent by way of it. An empty host takes it away.
	OutboundProxy *NewProxy `json:"outbound_proxy,omitempty"`
	// Numbers that it takes; empty: all. The trunk with the longest one is taken.
	Prefixes []string `json:"prefixes,omitzero"`
	// Among trunks of one prefix length: lower first.
	Priority *int64 `json:"priority,omitempty"`
	// Its targets, 20 at most.
	Proxies []NewProxy `json:"proxies,omitzero"`
	// Registers at the first proxy with the credentials of auth.
	Register *bool `json:"register,omitempty"`
	// Keys go in the SDP: without transport tls, optional counts as off. One of off, optional, required.
	Srtp *string `json:"srtp,omitempty"`
	// Tells keys of SRTP without TLS too, where whoever sees the signalling can listen.
	SrtpKeysInClear *bool `json:"srtp_keys_in_clear,omitempty"`
}

// TrunkHealth is an answer of the service, or a part of one.
type TrunkHealth struct {
	// It asked for a pause until then.
	BackoffUntil *time.Time `json:"backoff_until"`
	// Calls over it now.
	Channels int64 `json:"channels"`
	// What went wrong last.
	LastError string `json:"last_error,omitzero"`
	// Where its registration stands; only of a trunk that registers.
	Registration *TrunkRegistration `json:"registration,omitempty"`
	// up, degraded (a target is out, or it rests) or down (all are out).
	Status string `json:"status"`
	// Each of its targets, those that DNS yields included.
	Targets []TargetHealth `json:"targets"`
	// Calls that wait for their turn.
	Waiting int64 `json:"waiting"`
}

// TrunkInbound is an answer of the service, or a part of one.
type TrunkInbound struct {
	// From where its calls may come; empty: its proxies' addresses.
	AllowedIPs []string `json:"allowed_ips"`
	// What its calls have to prove; without the password.
	Auth *TrunkAuth `json:"auth,omitempty"`
	// Calls beyond get 503; 0: no limit of its own.
	CallsPerSecond float64 `json:"calls_per_second"`
}

// TrunkQuality is an answer of the service, or a part of one.
type TrunkQuality struct {
	// Mean length of answered calls.
	AcdSeconds float64 `json:"acd_seconds"`
	// What is beyond its bound now.
	Alarms []string `json:"alarms"`
	// Calls that were answered.
	Answered int64 `json:"answered"`
	// Answered of attempted calls, 0 to 1.
	Asr float64 `json:"asr"`
	// Calls that came to an answer or a refusal.
	Attempts int64 `json:"attempts"`
	// Calls that came in and were taken, since the start of the service.
	InboundCalls int64 `json:"inbound_calls"`
	// Calls that came in and were refused, by reason.
	InboundRefusals map[string]int64 `json:"inbound_refusals"`
	// Calls that it refused, by reason.
	Refusals map[string]int64 `json:"refusals"`
	// Short ones of answered calls, 0 to 1.
	ShortCallShare float64 `json:"short_call_share"`
	// Answered calls that were short.
	ShortCalls int64 `json:"short_calls"`
	// How far back this looks.
	WindowSeconds int64 `json:"window_seconds"`
}

// TrunkRegistration is an answer of the service, or a part of one.
type TrunkRegistration struct {
	// The last answer.
	Code int64 `json:"code,omitzero"`
	// When it ends.
	ExpiresAt *time.Time `json:"expires_at"`
	// The phrase of the last answer.
	Reason string `json:"reason,omitzero"`
	// When it is tried again.
	RetryAt *time.Time `json:"retry_at"`
	// trying, registered, failed or removed.
	Status string `json:"status"`
}

// TrunkTest is an answer of the service, or a part of one.
type TrunkTest struct {
	// Whether any target answered.
	Ok bool `json:"ok"`
	// Each target and what it answered.
	Targets []TargetTest `json:"targets"`
	// Over which trunk.
	TrunkID string `json:"trunk_id"`
}

// Upload is an answer of the service, or a part of one.
type Upload struct {
	// Of which campaign it is, where it is of one.
	CampaignID string `json:"campaign_id"`
	// When its contacts became the campaign's.
	CompletedAt *time.Time `json:"completed_at"`
	// What was wrong, row by row; the first 100.
	ContactErrors []ContactError `json:"contact_errors"`
	// What became of the rows, counted.
	ContactsSummary ContactsSummary `json:"contacts_summary"`
	// When it was made.
	CreatedAt time.Time `json:"created_at"`
	// live or test; the two never see each other.
	Environment string `json:"environment"`
	// The names in the contexts, sorted; 200 at most.
	Fields []string `json:"fields"`
	// Names it; never changes and is never given again.
	ID string `json:"id"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// What kind of resource this is.
	Object string `json:"object"`
	// Why it failed: an error's code, or interrupted where the service ended meanwhile.
	Reason string `json:"reason,omitzero"`
	// receiving, completed or failed. The contacts of one that failed are not in the campaign.
	Status string `json:"status"`
	// When it was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}

// UploadSummary is an answer of the service, or a part of one.
type UploadSummary struct {
	// What was wrong, row by row; the first 100.
	ContactErrors []ContactError `json:"contact_errors"`
	// What became of the rows, counted.
	ContactsSummary ContactsSummary `json:"contacts_summary"`
	UploadID        string          `json:"upload_id"`
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
	// The plan of now.
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
}

// User is an answer of the service, or a part of one.
type User struct {
	// From where the user signs in; empty: from everywhere.
	AllowedIPs []string `json:"allowed_ips"`
	// When it was made.
	CreatedAt time.Time `json:"created_at"`
	// live or test; the two never see each other.
	Environment string `json:"environment"`
	// Names it; never changes and is never given again.
	ID string `json:"id"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// For people.
	Name string `json:"name"`
	// What kind of resource this is.
	Object string `json:"object"`
	// viewer reads; agent places calls; manager changes agents and campaigns, too; admin may do everything.
	Role string `json:"role"`
	// When it was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}

// UserChange is sent to the service.
type UserChange struct {
	// [] lets every address in.
	AllowedIPs []string `json:"allowed_ips,omitzero"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// For people.
	Name *string `json:"name,omitempty"`
	// Holds at once, also for programs that the user has let in. One of viewer, agent, manager, admin.
	Role *string `json:"role,omitempty"`
}

// Variable is sent to the service.
type Variable struct {
	Default *string `json:"default,omitempty"`
	// For people.
	Name     string `json:"name"`
	Required *bool  `json:"required,omitempty"`
}

// Voice is an answer of the service, or a part of one.
type Voice struct {
	// espeak-ng, or wav for recorded prompts.
	Engine string `json:"engine,omitzero"`
	// The engine's name of the voice.
	Name string `json:"name,omitzero"`
	// How fast it speaks: 1 is normal.
	Rate float64 `json:"rate,omitzero"`
}

// Waiting is an answer of the service, or a part of one.
type Waiting struct {
	Reason string     `json:"reason"`
	Until  *time.Time `json:"until"`
}

// Webhook is an answer of the service, or a part of one.
type Webhook struct {
	// Of which campaign it is, where it is of one.
	CampaignID string `json:"campaign_id,omitzero"`
	// When it was made.
	CreatedAt  time.Time  `json:"created_at"`
	DisabledAt *time.Time `json:"disabled_at,omitempty"`
	// Why it was disabled: gone (it answered 410), failing (no delivery succeeded for three days).
	DisabledReason string `json:"disabled_reason,omitzero"`
	// live or test; the two never see each other.
	Environment string   `json:"environment"`
	Events      []string `json:"events"`
	// The first of the failed attempts since which none succeeded.
	FailingSince *time.Time `json:"failing_since,omitempty"`
	FailureCount int64      `json:"failure_count"`
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
	Object     string `json:"object"`
	Secret     string `json:"secret,omitzero"`
	SecretHint string `json:"secret_hint"`
	Status     string `json:"status"`
	// When it was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	URL       string    `json:"url"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}

// WebhookChange is sent to the service.
type WebhookChange struct {
	Events []string `json:"events,omitzero"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// Another secret; an empty one is made here and shown in the answer, this once.
	Secret *string `json:"secret,omitempty"`
	// With secret: how long the old one goes on signing X-Svc-Signature, while X-Svc-Signature-Next is by the new one; 24 unless said, 0: not at all.
	SecretOverlapHours *int64  `json:"secret_overlap_hours,omitempty"`
	URL                *string `json:"url,omitempty"`
}

// When is sent to the service.
type When struct {
	Digits *string `json:"digits,omitempty"`
	// expr: what has to hold of the variables.
	Expr *string `json:"expr,omitempty"`
	// intent: what was meant.
	Intent *string `json:"intent,omitempty"`
	// llm: what has to hold, in words.
	Prompt *string `json:"prompt,omitempty"`
	// always, else, dtmf, timeout, success, failure, intent, expr or llm.
	Type string `json:"type"`
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

// Workspace is an answer of the service, or a part of one.
type Workspace struct {
	// Origins whose pages may come with the tokens of users.
	AllowedOrigins []string `json:"allowed_origins"`
	// Whom it may call, and for how much.
	Calling Calling `json:"calling"`
	// When it was made.
	CreatedAt time.Time `json:"created_at"`
	// ISO 3166: how numbers without a country code are read.
	DefaultCountry string `json:"default_country"`
	// The list of numbers that are never called.
	DefaultDNCListID string `json:"default_dnc_list_id"`
	// live or test; the two never see each other.
	Environment string `json:"environment"`
	// How often somebody may be rung.
	FrequencyCaps FrequencyCaps `json:"frequency_caps"`
	// Names it; never changes and is never given again.
	ID string `json:"id"`
	// Its ceilings.
	Limits Limits `json:"limits"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// For people.
	Name string `json:"name"`
	// What kind of resource this is.
	Object string `json:"object"`
	// starter, professional or enterprise.
	Plan string `json:"plan"`
	// What an account on enterprise pays for an attempt; null: nothing.
	Pricing *Pricing `json:"pricing,omitempty"`
	// How long its data are kept.
	Retention Retention `json:"retention"`
	// The number of the price that holds now; each change of it counts on.
	Tariff int64 `json:"tariff"`
	// When it was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}

// WorkspaceChange is sent to the service.
type WorkspaceChange struct {
	// Origins whose pages may come with the tokens of users, e.g. https://app.example.com; [] is none.
	AllowedOrigins []string `json:"allowed_origins,omitzero"`
	// Operators only.
	Calling *CallingChange `json:"calling,omitempty"`
	// ISO 3166: how numbers without a country code are read.
	DefaultCountry *string `json:"default_country,omitempty"`
	// How often somebody may be rung.
	FrequencyCaps *CapsChange `json:"frequency_caps,omitempty"`
	// On enterprise only. Operators only.
	Limits *LimitsChange `json:"limits,omitempty"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// For people.
	Name *string `json:"name,omitempty"`
	// starter, professional or enterprise. Operators only.
	Plan *string `json:"plan,omitempty"`
	// What an account on enterprise has agreed to pay. Operators only.
	Pricing *NewPricing `json:"pricing,omitempty"`
	// How long its data are kept.
	Retention *RetentionChange `json:"retention,omitempty"`
}

// WorkspaceCreated is an answer of the service, or a part of one.
type WorkspaceCreated struct {
	AllowedOrigins []string `json:"allowed_origins"`
	Calling        Calling  `json:"calling"`
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
	Object    string    `json:"object"`
	Plan      string    `json:"plan"`
	Pricing   *Pricing  `json:"pricing,omitempty"`
	Retention Retention `json:"retention"`
	Tariff    int64     `json:"tariff"`
	// When it was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}
