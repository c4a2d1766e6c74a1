// Code generated from the OpenAPI document of the service. DO NOT EDIT.

package client

import (
	"context"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// ListCampaignsQuery holds the query parameters of ListCampaigns. Zero values are not sent.
type ListCampaignsQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the previous page.
	Cursor string
	// Only resources created after this time.
	CreatedAfter time.Time
	// Only resources created before this time.
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

// AllCampaigns iterates over all pages of ListCampaigns. It ends after the first error.
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
// Creating a campaign places no calls. The campaign stays a draft until it is started, or is scheduled if its start is in the future.
func (c *Client) CreateCampaign(ctx context.Context, body *NewCampaign, options ...Option) (*CampaignCreated, error) {
	return send[CampaignCreated](ctx, c, "POST", "/v1/campaigns", nil, asJSON(body), options)
}

// SimulateDraft: Simulate a campaign without creating it.
//
// POST /v1/campaigns/simulate
//
// The body is a new campaign with inline contacts, plus start_at, seed and assumptions. Nothing is created.
func (c *Client) SimulateDraft(ctx context.Context, body *SimulateDraftRequest, options ...Option) (*Simulation, error) {
	return send[Simulation](ctx, c, "POST", "/v1/campaigns/simulate", nil, asJSON(body), options)
}

// DeleteCampaign: Delete a campaign with everything that belongs to it.
//
// DELETE /v1/campaigns/{id}
//
// Deletes a draft, or an ended campaign without live calls, with its contacts, results, calls, transcripts, recordings and endpoints. Billed attempts remain in the ledger, which contains no number.
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
// All fields of a draft can change. In a scheduled, running or paused campaign only pacing, schedule.end, retry, compliance and metadata can change; other fields are 409 invalid_state.
func (c *Client) UpdateCampaign(ctx context.Context, id string, body *CampaignUpdate, options ...Option) (*CampaignChanged, error) {
	return send[CampaignChanged](ctx, c, "PATCH", "/v1/campaigns/"+url.PathEscape(id), nil, asJSON(body), options)
}

// CancelCampaign: Cancel a campaign.
//
// POST /v1/campaigns/{id}/cancel
func (c *Client) CancelCampaign(ctx context.Context, id string, body *CancelRequest, options ...Option) (*CampaignStatusObject, error) {
	return send[CampaignStatusObject](ctx, c, "POST", "/v1/campaigns/"+url.PathEscape(id)+"/cancel", nil, asJSON(body), options)
}

// ListContactsQuery holds the query parameters of ListContacts. Zero values are not sent.
type ListContactsQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the previous page.
	Cursor string
	// Only resources created after this time.
	CreatedAfter time.Time
	// Only resources created before this time.
	CreatedBefore time.Time
	Status        string
}

func (q *ListContactsQuery) values() url.Values {
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

// ListContacts: List a campaign's contacts, in the order of upload.
//
// GET /v1/campaigns/{id}/contacts
//
// created_at of a contact is the start of its upload.
func (c *Client) ListContacts(ctx context.Context, id string, q ListContactsQuery, options ...Option) (*ListContact, error) {
	return send[ListContact](ctx, c, "GET", "/v1/campaigns/"+url.PathEscape(id)+"/contacts", q.values(), nil, options)
}

// AllContacts iterates over all pages of ListContacts. It ends after the first error.
func (c *Client) AllContacts(ctx context.Context, id string, q ListContactsQuery, options ...Option) iter.Seq2[Contact, error] {
	return pages(&q.Cursor, func() ([]Contact, *string, error) {
		l, err := c.ListContacts(ctx, id, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// AddContactsQuery holds the query parameters of AddContacts. Zero values are not sent.
type AddContactsQuery struct {
	// The name of the CSV column with the phone, as in the header row. Default: phone. With another name, a column named phone becomes the context variable file_phone. JSON ignores this parameter.
	PhoneColumn string
	// The name of the CSV column with the timezone, as in the header row. Default: timezone. With another name, a column named timezone becomes the context variable file_timezone. JSON ignores this parameter.
	TimezoneColumn string
	// The name of the CSV column with the country, as in the header row. Default: country. With another name, a column named country becomes the context variable file_country. JSON ignores this parameter.
	CountryColumn string
	// The name of the CSV column with the name, as in the header row. Default: name. With another name, a column named name becomes the context variable file_name. JSON ignores this parameter.
	NameColumn string
}

func (q *AddContactsQuery) values() url.Values {
	v := make(url.Values)
	if q.PhoneColumn != "" {
		v.Set("phone_column", q.PhoneColumn)
	}
	if q.TimezoneColumn != "" {
		v.Set("timezone_column", q.TimezoneColumn)
	}
	if q.CountryColumn != "" {
		v.Set("country_column", q.CountryColumn)
	}
	if q.NameColumn != "" {
		v.Set("name_column", q.NameColumn)
	}
	return v
}

// AddContacts: Add contacts to a campaign.
//
// POST /v1/campaigns/{id}/contacts
//
// Accepts JSON, JSON lines or CSV, streamed and up to 1 GB, with up to 1,000,000 contacts per campaign. CSV needs a header row with the column phone, and optionally timezone, country and name. Every other column becomes a context variable. Headers match the variables of the pathway without regard to case, spaces and punctuation: "First Name" matches first_name. Two columns for one variable are 422. A column without a matching variable becomes a context variable with its own name. The response lists columns, unmapped and missing. A row without a required variable does not become a contact and is listed in contact_errors. The encoding is UTF-8, UTF-16 or the charset of the Content-Type. The delimiter is a comma, a semicolon or a tab. A line sep=;, a byte order mark and empty rows or columns are accepted. The parameters phone_column, timezone_column, country_column and name_column name other columns, in the query or in form fields before the file. multipart/form-data accepts one such file; a second one is 422. Invalid rows are counted and the first 100 are listed. The first of duplicate rows is used. An upload is stored completely or not at all. GET …/uploads shows its progress. A running campaign uses the new contacts at once.
func (c *Client) AddContacts(ctx context.Context, id string, q AddContactsQuery, body *ContactsUpload, options ...Option) (*UploadSummary, error) {
	return send[UploadSummary](ctx, c, "POST", "/v1/campaigns/"+url.PathEscape(id)+"/contacts", q.values(), asJSON(body), options)
}

// AddContactsFrom streams a body of another media type that the operation accepts.
func (c *Client) AddContactsFrom(ctx context.Context, id string, q AddContactsQuery, mediaType string, body io.Reader, options ...Option) (*UploadSummary, error) {
	return send[UploadSummary](ctx, c, "POST", "/v1/campaigns/"+url.PathEscape(id)+"/contacts", q.values(), stream{mediaType, body}, options)
}

// ExportContactsCSVQuery holds the query parameters of ExportContactsCSV. Zero values are not sent.
type ExportContactsCSVQuery struct {
	// Filters by status.
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
// RFC 4180, streamed, in the order of upload, also while the campaign runs. The columns are phone, timezone and country, the state of the contact, and a column for each context variable (at most 200; JSON lines contain all). A value that a spreadsheet could interpret as a formula starts with an apostrophe, except in the column phone.
//
// The caller reads the body and closes it.
func (c *Client) ExportContactsCSV(ctx context.Context, id string, q ExportContactsCSVQuery, options ...Option) (*http.Response, error) {
	return c.open(ctx, "GET", "/v1/campaigns/"+url.PathEscape(id)+"/contacts.csv", q.values(), nil, options)
}

// ExportContactsJSONLinesQuery holds the query parameters of ExportContactsJSONLines. Zero values are not sent.
type ExportContactsJSONLinesQuery struct {
	// Filters by status.
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
// Streamed, in the order of upload, also while the campaign runs. Each line is a contact in the format of GET.
//
// The caller reads the body and closes it.
func (c *Client) ExportContactsJSONLines(ctx context.Context, id string, q ExportContactsJSONLinesQuery, options ...Option) (*http.Response, error) {
	return c.open(ctx, "GET", "/v1/campaigns/"+url.PathEscape(id)+"/contacts.jsonl", q.values(), nil, options)
}

// DeleteContact: Remove a contact from a campaign.
//
// DELETE /v1/campaigns/{id}/contacts/{contact_id}
//
// Only in the status pending or retry_wait. The contact is not called again and counts as cancelled (reason removed). It remains in lists and results, and is not copied with the campaign.
func (c *Client) DeleteContact(ctx context.Context, id string, contactID string, options ...Option) (*Deleted, error) {
	return send[Deleted](ctx, c, "DELETE", "/v1/campaigns/"+url.PathEscape(id)+"/contacts/"+url.PathEscape(contactID), nil, nil, options)
}

// GetContact: Get a contact of a campaign.
//
// GET /v1/campaigns/{id}/contacts/{contact_id}
func (c *Client) GetContact(ctx context.Context, id string, contactID string, options ...Option) (*Contact, error) {
	return send[Contact](ctx, c, "GET", "/v1/campaigns/"+url.PathEscape(id)+"/contacts/"+url.PathEscape(contactID), nil, nil, options)
}

// UpdateContact: Change a waiting contact.
//
// PATCH /v1/campaigns/{id}/contacts/{contact_id}
//
// Only in the status pending or retry_wait. The next attempt uses the change.
func (c *Client) UpdateContact(ctx context.Context, id string, contactID string, body *ContactUpdate, options ...Option) (*Contact, error) {
	return send[Contact](ctx, c, "PATCH", "/v1/campaigns/"+url.PathEscape(id)+"/contacts/"+url.PathEscape(contactID), nil, asJSON(body), options)
}

// ListDecisionsQuery holds the query parameters of ListDecisions. Zero values are not sent.
type ListDecisionsQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the previous page.
	Cursor string
	// Only resources created after this time.
	CreatedAfter time.Time
	// Only resources created before this time.
	CreatedBefore time.Time
	// Filters by number.
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
	if !q.CreatedAfter.IsZero() {
		v.Set("created_after", q.CreatedAfter.UTC().Format(time.RFC3339Nano))
	}
	if !q.CreatedBefore.IsZero() {
		v.Set("created_before", q.CreatedBefore.UTC().Format(time.RFC3339Nano))
	}
	if q.Phone != "" {
		v.Set("phone", q.Phone)
	}
	return v
}

// ListDecisions: List why each contact was called or not.
//
// GET /v1/campaigns/{id}/decisions
//
// Lists each rule that allowed, skipped or delayed a contact, with the data that the rule used, in the order of writing. Repeated delays by the same rule form one entry with a count. The end of a campaign decides about all waiting contacts at once. This is one entry (cancel or expire) without a number; contacts is the number of contacts. A filter by phone also shows this entry. Refused rows of an upload are listed in the errors of the upload.
func (c *Client) ListDecisions(ctx context.Context, id string, q ListDecisionsQuery, options ...Option) (*ListDecision, error) {
	return send[ListDecision](ctx, c, "GET", "/v1/campaigns/"+url.PathEscape(id)+"/decisions", q.values(), nil, options)
}

// AllDecisions iterates over all pages of ListDecisions. It ends after the first error.
func (c *Client) AllDecisions(ctx context.Context, id string, q ListDecisionsQuery, options ...Option) iter.Seq2[Decision, error] {
	return pages(&q.Cursor, func() ([]Decision, *string, error) {
		l, err := c.ListDecisions(ctx, id, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// ExportDecisions: Download the decision log as csv.
//
// GET /v1/campaigns/{id}/decisions.csv
//
// All rows, streamed, also while the campaign runs.
//
// The caller reads the body and closes it.
func (c *Client) ExportDecisions(ctx context.Context, id string, options ...Option) (*http.Response, error) {
	return c.open(ctx, "GET", "/v1/campaigns/"+url.PathEscape(id)+"/decisions.csv", nil, nil, options)
}

// ExportDecisionLines: Download the decision log as jsonl.
//
// GET /v1/campaigns/{id}/decisions.jsonl
//
// All rows, streamed, also while the campaign runs.
//
// The caller reads the body and closes it.
func (c *Client) ExportDecisionLines(ctx context.Context, id string, options ...Option) (*http.Response, error) {
	return c.open(ctx, "GET", "/v1/campaigns/"+url.PathEscape(id)+"/decisions.jsonl", nil, nil, options)
}

// VerifyDecisions: Verify that the decision log was not changed.
//
// GET /v1/campaigns/{id}/decisions/verify
//
// Each row contains the hash of the previous row, and the campaign the hash of the last row. The hashes are keyed by the master key of the service, so that write access to the store is not enough to forge them. The response has the first wrong row. Store head elsewhere to prove later that the log has only grown.
func (c *Client) VerifyDecisions(ctx context.Context, id string, options ...Option) (*DecisionsVerified, error) {
	return send[DecisionsVerified](ctx, c, "GET", "/v1/campaigns/"+url.PathEscape(id)+"/decisions/verify", nil, nil, options)
}

// DuplicateCampaign: Copy a campaign to a draft.
//
// POST /v1/campaigns/{id}/duplicate
//
// Copies the settings and contacts without results. A start or an end in the past is not copied.
func (c *Client) DuplicateCampaign(ctx context.Context, id string, body *DuplicateRequest, options ...Option) (*CampaignCreated, error) {
	return send[CampaignCreated](ctx, c, "POST", "/v1/campaigns/"+url.PathEscape(id)+"/duplicate", nil, asJSON(body), options)
}

// PauseCampaign: Pause a campaign.
//
// POST /v1/campaigns/{id}/pause
func (c *Client) PauseCampaign(ctx context.Context, id string, options ...Option) (*CampaignStatusObject, error) {
	return send[CampaignStatusObject](ctx, c, "POST", "/v1/campaigns/"+url.PathEscape(id)+"/pause", nil, nil, options)
}

// GetCampaignProgress: Get the progress of a campaign over time.
//
// GET /v1/campaigns/{id}/progress
//
// Oldest first. A mark is recorded at every five percent, between them at most once per minute, and at the end. Only the last mark of each percent is stored, so there are at most 101.
func (c *Client) GetCampaignProgress(ctx context.Context, id string, options ...Option) (*CampaignProgress, error) {
	return send[CampaignProgress](ctx, c, "GET", "/v1/campaigns/"+url.PathEscape(id)+"/progress", nil, nil, options)
}

// RedialCampaign: Create a draft with the unreached contacts of a campaign.
//
// POST /v1/campaigns/{id}/redial
//
// Copies the campaign with the contacts that currently have one of the outcomes. Do-not-call lists and calling hours are checked again before each call.
func (c *Client) RedialCampaign(ctx context.Context, id string, body *RedialRequest, options ...Option) (*CampaignCreated, error) {
	return send[CampaignCreated](ctx, c, "POST", "/v1/campaigns/"+url.PathEscape(id)+"/redial", nil, asJSON(body), options)
}

// GetCampaignResults: Download the results as CSV.
//
// GET /v1/campaigns/{id}/results
//
// RFC 4180, one row per contact, streamed, also while the campaign runs. reason explains the end of the last attempt, or why a contact was skipped. Upload rows that did not become contacts follow with the outcome skipped and the reason dnc, destination_not_allowed or missing_variable. A value that a spreadsheet could interpret as a formula starts with an apostrophe, except in the column phone.
//
// The caller reads the body and closes it.
func (c *Client) GetCampaignResults(ctx context.Context, id string, options ...Option) (*http.Response, error) {
	return c.open(ctx, "GET", "/v1/campaigns/"+url.PathEscape(id)+"/results", nil, nil, options)
}

// ResumeCampaign: Resume a paused campaign.
//
// POST /v1/campaigns/{id}/resume
func (c *Client) ResumeCampaign(ctx context.Context, id string, options ...Option) (*CampaignStatusObject, error) {
	return send[CampaignStatusObject](ctx, c, "POST", "/v1/campaigns/"+url.PathEscape(id)+"/resume", nil, nil, options)
}

// SimulateCampaign: Simulate a campaign.
//
// POST /v1/campaigns/{id}/simulate
//
// Runs the campaign with a virtual clock. No call is placed and nothing is stored. Schedule, calling hours, pacing and retries apply as in the real campaign; the assumptions determine random results of calls. A workspace can run one simulation at a time, which ends with its request.
func (c *Client) SimulateCampaign(ctx context.Context, id string, body *SimulateRequest, options ...Option) (*Simulation, error) {
	return send[Simulation](ctx, c, "POST", "/v1/campaigns/"+url.PathEscape(id)+"/simulate", nil, asJSON(body), options)
}

// StartCampaign: Start a draft.
//
// POST /v1/campaigns/{id}/start
func (c *Client) StartCampaign(ctx context.Context, id string, options ...Option) (*CampaignStatusObject, error) {
	return send[CampaignStatusObject](ctx, c, "POST", "/v1/campaigns/"+url.PathEscape(id)+"/start", nil, nil, options)
}

// GetCampaignStatus: Get progress, outcomes and the reason for waiting.
//
// GET /v1/campaigns/{id}/status
func (c *Client) GetCampaignStatus(ctx context.Context, id string, options ...Option) (*CampaignStatusObject, error) {
	return send[CampaignStatusObject](ctx, c, "GET", "/v1/campaigns/"+url.PathEscape(id)+"/status", nil, nil, options)
}

// ListUploadsQuery holds the query parameters of ListUploads. Zero values are not sent.
type ListUploadsQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the previous page.
	Cursor string
	// Only resources created after this time.
	CreatedAfter time.Time
	// Only resources created before this time.
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
// Newest first. An upload in progress shows its counts so far.
func (c *Client) ListUploads(ctx context.Context, id string, q ListUploadsQuery, options ...Option) (*ListUpload, error) {
	return send[ListUpload](ctx, c, "GET", "/v1/campaigns/"+url.PathEscape(id)+"/uploads", q.values(), nil, options)
}

// AllUploads iterates over all pages of ListUploads. It ends after the first error.
func (c *Client) AllUploads(ctx context.Context, id string, q ListUploadsQuery, options ...Option) iter.Seq2[Upload, error] {
	return pages(&q.Cursor, func() ([]Upload, *string, error) {
		l, err := c.ListUploads(ctx, id, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// GetUpload: Get an upload with its progress or result.
//
// GET /v1/campaigns/{id}/uploads/{upload_id}
func (c *Client) GetUpload(ctx context.Context, id string, uploadID string, options ...Option) (*Upload, error) {
	return send[Upload](ctx, c, "GET", "/v1/campaigns/"+url.PathEscape(id)+"/uploads/"+url.PathEscape(uploadID), nil, nil, options)
}

// Assumptions is part of a response.
type Assumptions struct {
	// Share of attempts that a person answers.
	AnswerRate float64 `json:"answer_rate"`
	// Share of attempts to a busy number.
	BusyRate float64 `json:"busy_rate"`
	// Share of attempts that fail in the trunk.
	FailedRate float64 `json:"failed_rate"`
	// Share of attempts without an answer.
	NoAnswerRate float64 `json:"no_answer_rate"`
	// Ringing time of unanswered attempts.
	NoAnswerSeconds float64 `json:"no_answer_seconds"`
	// Mean ringing time of answered attempts.
	RingSeconds float64 `json:"ring_seconds"`
	// Mean duration of a call with a person.
	TalkSeconds float64 `json:"talk_seconds"`
	// Share of attempts that a machine answers.
	VoicemailRate float64 `json:"voicemail_rate"`
	// Mean duration of a call with a machine.
	VoicemailSeconds float64 `json:"voicemail_seconds"`
}

// CallerID is part of a response.
type CallerID struct {
	// Name for people.
	Name   string `json:"name,omitzero"`
	Number string `json:"number"`
}

// CallerIDUpdate is part of a request.
type CallerIDUpdate struct {
	// Name for people.
	Name Optional[string] `json:"name,omitzero"`
	// A number of the workspace, or one in caller_ids of a trunk. Default: each call shows a number of the trunk that carries it.
	Number Optional[string] `json:"number,omitzero"`
}

// CallingHours is part of a response.
type CallingHours struct {
	End      string `json:"end"`
	Start    string `json:"start"`
	Timezone string `json:"timezone"`
}

// Campaign is part of a response.
type Campaign struct {
	// The id of the agent.
	AgentID      string   `json:"agent_id,omitzero"`
	AutoComplete bool     `json:"auto_complete"`
	CallerID     CallerID `json:"caller_id"`
	// One of exhausted, window_ended.
	CompletionReason string     `json:"completion_reason,omitzero"`
	Compliance       Compliance `json:"compliance"`
	// When the resource was created.
	CreatedAt      time.Time  `json:"created_at"`
	DefaultCountry string     `json:"default_country"`
	EndedAt        *time.Time `json:"ended_at,omitempty"`
	// live or test. The environments are separate.
	Environment string `json:"environment"`
	// true if each call uses the newest version of the agent and the pathway.
	FollowLatest bool `json:"follow_latest,omitzero"`
	// Unique id. It never changes and is never reused.
	ID string `json:"id"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata map[string]string `json:"metadata,omitzero"`
	// Name for people.
	Name string `json:"name"`
	// The type of the resource.
	Object string `json:"object"`
	Pacing Pacing `json:"pacing"`
	// The id of the pathway.
	PathwayID string `json:"pathway_id,omitzero"`
	// One of trunk_failures, script_unavailable, restored.
	PauseReason string     `json:"pause_reason,omitzero"`
	Retry       Retry      `json:"retry"`
	Schedule    Schedule   `json:"schedule"`
	StartedAt   *time.Time `json:"started_at,omitempty"`
	// One of draft, scheduled, running, paused, completed, cancelled.
	Status string `json:"status"`
	// Clock of a test campaign.
	Test *TestMode `json:"test,omitempty"`
	// When the resource was last changed.
	UpdatedAt time.Time         `json:"updated_at"`
	Webhooks  map[string]string `json:"webhooks,omitzero"`
	// The workspace of the resource.
	WorkspaceID string `json:"workspace_id"`
}

// CampaignChanged is part of a response.
type CampaignChanged struct {
	// The id of the agent.
	AgentID      string   `json:"agent_id,omitzero"`
	AutoComplete bool     `json:"auto_complete"`
	CallerID     CallerID `json:"caller_id"`
	// One of exhausted, window_ended.
	CompletionReason string     `json:"completion_reason,omitzero"`
	Compliance       Compliance `json:"compliance"`
	// When the resource was created.
	CreatedAt      time.Time  `json:"created_at"`
	DefaultCountry string     `json:"default_country"`
	EndedAt        *time.Time `json:"ended_at,omitempty"`
	// live or test. The environments are separate.
	Environment string `json:"environment"`
	// true if each call uses the newest version of the agent and the pathway.
	FollowLatest bool `json:"follow_latest,omitzero"`
	// Unique id. It never changes and is never reused.
	ID string `json:"id"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata map[string]string `json:"metadata,omitzero"`
	// Name for people.
	Name string `json:"name"`
	// The type of the resource.
	Object string `json:"object"`
	Pacing Pacing `json:"pacing"`
	// The id of the pathway.
	PathwayID string `json:"pathway_id,omitzero"`
	// One of trunk_failures, script_unavailable, restored.
	PauseReason string     `json:"pause_reason,omitzero"`
	Retry       Retry      `json:"retry"`
	Schedule    Schedule   `json:"schedule"`
	StartedAt   *time.Time `json:"started_at,omitempty"`
	// One of draft, scheduled, running, paused, completed, cancelled.
	Status string `json:"status"`
	// Clock of a test campaign.
	Test *TestMode `json:"test,omitempty"`
	// When the resource was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// Secret that signs deliveries to the new URLs. Only in this response.
	WebhookSecret string            `json:"webhook_secret,omitzero"`
	Webhooks      map[string]string `json:"webhooks,omitzero"`
	// The workspace of the resource.
	WorkspaceID string `json:"workspace_id"`
}

// CampaignCreated is part of a response.
type CampaignCreated struct {
	// The id of the agent.
	AgentID      string   `json:"agent_id,omitzero"`
	AutoComplete bool     `json:"auto_complete"`
	CallerID     CallerID `json:"caller_id"`
	// One of exhausted, window_ended.
	CompletionReason string     `json:"completion_reason,omitzero"`
	Compliance       Compliance `json:"compliance"`
	// Errors of rows; the first 100.
	ContactErrors []ContactError `json:"contact_errors"`
	// Number of rows by result.
	ContactsSummary ContactsSummary `json:"contacts_summary"`
	// When the resource was created.
	CreatedAt      time.Time  `json:"created_at"`
	DefaultCountry string     `json:"default_country"`
	EndedAt        *time.Time `json:"ended_at,omitempty"`
	// live or test. The environments are separate.
	Environment  string `json:"environment"`
	FollowLatest bool   `json:"follow_latest,omitzero"`
	// Unique id. It never changes and is never reused.
	ID string `json:"id"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata map[string]string `json:"metadata,omitzero"`
	// Name for people.
	Name string `json:"name"`
	// The type of the resource.
	Object string `json:"object"`
	Pacing Pacing `json:"pacing"`
	// The id of the pathway.
	PathwayID string `json:"pathway_id,omitzero"`
	// One of trunk_failures, script_unavailable, restored.
	PauseReason string     `json:"pause_reason,omitzero"`
	Retry       Retry      `json:"retry"`
	Schedule    Schedule   `json:"schedule"`
	StartedAt   *time.Time `json:"started_at,omitempty"`
	// One of draft, scheduled, running, paused, completed, cancelled.
	Status string `json:"status"`
	// Clock of a test campaign.
	Test *TestMode `json:"test,omitempty"`
	// When the resource was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	UploadID  string    `json:"upload_id,omitzero"`
	// Secret that signs the campaign's webhooks. Only in this response.
	WebhookSecret string            `json:"webhook_secret,omitzero"`
	Webhooks      map[string]string `json:"webhooks,omitzero"`
	// The workspace of the resource.
	WorkspaceID string `json:"workspace_id"`
}

// CampaignProgress is part of a response.
type CampaignProgress struct {
	// The id of the campaign, if there is one.
	CampaignID string           `json:"campaign_id"`
	Marks      []ProgressSample `json:"marks"`
}

// CampaignUpdate is part of a request.
type CampaignUpdate struct {
	// agent_id or pathway_id is required.
	AgentID Optional[string] `json:"agent_id,omitzero"`
	// false: the campaign stays open when all contacts are finished. Default: true.
	AutoComplete Optional[bool]           `json:"auto_complete,omitzero"`
	CallerID     Optional[CallerIDUpdate] `json:"caller_id,omitzero"`
	// Compliance rules. They can change while the campaign runs.
	Compliance Optional[ComplianceUpdate] `json:"compliance,omitzero"`
	// Country of numbers without a country code, as an ISO 3166 code.
	DefaultCountry Optional[string] `json:"default_country,omitzero"`
	// true: each call uses the newest version of the agent and the pathway. false: calls use the versions with which the campaign started.
	FollowLatest Optional[bool] `json:"follow_latest,omitzero"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata Optional[map[string]*string] `json:"metadata,omitzero"`
	// Name for people.
	Name *string `json:"name,omitempty"`
	// Pacing. It can change while the campaign runs.
	Pacing Optional[PacingUpdate] `json:"pacing,omitzero"`
	// The id of the pathway.
	PathwayID Optional[string] `json:"pathway_id,omitzero"`
	// Retries. They can change while the campaign runs; a change applies to attempts that end afterwards.
	Retry Optional[RetryUpdate] `json:"retry,omitzero"`
	// When the campaign may call. end can change while the campaign runs.
	Schedule Optional[ScheduleUpdate] `json:"schedule,omitzero"`
	// Settings of test campaigns. With test keys only.
	Test Optional[TestModeUpdate] `json:"test,omitzero"`
	// https URL by campaign event type.
	Webhooks Optional[map[string]*string] `json:"webhooks,omitzero"`
}

// CancelRequest is part of a request.
type CancelRequest struct {
	// true: live calls are hung up at once.
	HangupActive *bool `json:"hangup_active,omitempty"`
}

// Compliance is part of a response.
type Compliance struct {
	CallingHours   CallingHours `json:"calling_hours"`
	DNCListID      string       `json:"dnc_list_id,omitzero"`
	DNCScrub       bool         `json:"dnc_scrub"`
	OptOutHandling *OptOut      `json:"opt_out_handling,omitempty"`
}

// ComplianceUpdate is part of a request.
type ComplianceUpdate struct {
	// Daily window for calls. Default: 08:00 to 21:00 in the zone of the contact.
	CallingHours Optional[HoursUpdate] `json:"calling_hours,omitzero"`
	// A do-not-call list that is checked in addition to the default list. Empty: only the default list.
	DNCListID Optional[string] `json:"dnc_list_id,omitzero"`
	// Check contacts against do-not-call lists. Default: true.
	DNCScrub       Optional[bool]         `json:"dnc_scrub,omitzero"`
	OptOutHandling Optional[OptOutUpdate] `json:"opt_out_handling,omitzero"`
}

// Contact is part of a response.
type Contact struct {
	// Number of attempts.
	Attempts int64 `json:"attempts"`
	// The id of the campaign, if there is one.
	CampaignID string `json:"campaign_id"`
	// When the last attempt ended.
	CompletedAt *time.Time `json:"completed_at"`
	// Values of variables in texts of the pathway.
	Context map[string]any `json:"context,omitzero"`
	// Country of the contact, if it differs from the country of the campaign.
	Country string `json:"country,omitzero"`
	// When the resource was created.
	CreatedAt time.Time `json:"created_at"`
	// live or test. The environments are separate.
	Environment string `json:"environment"`
	// Unique id. It never changes and is never reused.
	ID string `json:"id"`
	// The call of its last attempt.
	LastCallID string `json:"last_call_id,omitzero"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata map[string]string `json:"metadata,omitzero"`
	// When the next attempt is due.
	NextAttemptAt *time.Time `json:"next_attempt_at"`
	// The type of the resource.
	Object string `json:"object"`
	// Outcome of the last attempt. One of completed, confirmed, declined, voicemail, no_answer, busy, failed, cancelled.
	Outcome string `json:"outcome,omitzero"`
	// The number in E.164.
	Phone string `json:"phone"`
	// Reason for the outcome.
	Reason string `json:"reason,omitzero"`
	// pending, dialing, in_call (the call was answered), retry_wait, or a final outcome. One of pending, dialing, retry_wait, completed, confirmed, declined, voicemail, no_answer, busy, failed, skipped, expired, cancelled, in_call.
	Status string `json:"status"`
	// Time zone of the contact, if it differs from the zone of the number.
	Timezone string `json:"timezone,omitzero"`
	// When the resource was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// The workspace of the resource.
	WorkspaceID string `json:"workspace_id"`
}

// ContactUpdate is part of a request.
type ContactUpdate struct {
	// Values of variables in texts of the pathway.
	Context Optional[map[string]any] `json:"context,omitzero"`
	Country Optional[string]         `json:"country,omitzero"`
	// E.164, or a national number of the campaign's default_country.
	Phone *string `json:"phone,omitempty"`
	// Time zone of the contact. Default: the zone of the number.
	Timezone Optional[string] `json:"timezone,omitzero"`
}

// ContactsSummary is part of a response.
type ContactsSummary struct {
	// Rows that became contacts.
	Accepted int64 `json:"accepted"`
	// Rows with a number that the destination rules of the workspace forbid. They do not become contacts.
	DestinationNotAllowed int64 `json:"destination_not_allowed"`
	// Rows whose number is on a do-not-call list.
	DNC int64 `json:"dnc"`
	// Rows whose number is already in the campaign.
	Duplicates int64 `json:"duplicates"`
	// Invalid rows.
	Invalid int64 `json:"invalid"`
	// Rows without a value for a variable that the pathway requires. They do not become contacts.
	MissingVariables int64 `json:"missing_variables"`
	// Number of rows.
	Received int64 `json:"received"`
}

// ContactsUpload is part of a request.
type ContactsUpload struct {
	Contacts []NewContact `json:"contacts"`
}

// Decision is part of a response.
type Decision struct {
	// When the decision was made.
	At time.Time `json:"at"`
	// Number of the attempt. For skip: the number of attempts so far.
	Attempt int64 `json:"attempt"`
	// The call of the attempt.
	CallID string `json:"call_id,omitzero"`
	// The contact; empty if contacts is set.
	ContactID string `json:"contact_id"`
	// Number of contacts that were waiting when the campaign ended, if the decision is about all of them.
	Contacts int64 `json:"contacts,omitzero"`
	// dial: an attempt was started. skip: the contact is skipped. cancel: the contact was removed or the campaign was cancelled. expire: the schedule ended first.
	Decision string `json:"decision"`
	// The number in E.164; empty if contacts is set.
	Phone string `json:"phone"`
	// Row number in the log, whose hash chain is verified row by row.
	Row int64 `json:"row"`
	// Result of each rule with the data it used.
	Rules []Ruling `json:"rules"`
}

// DecisionsVerified is part of a response.
type DecisionsVerified struct {
	// The first wrong row; null: none.
	BrokenRow *int64 `json:"broken_row"`
	// The id of the campaign.
	CampaignID string `json:"campaign_id"`
	// Decisions in the valid rows.
	Decisions int64 `json:"decisions"`
	// First rows that retention.decisions_days has deleted.
	DeletedRows int64 `json:"deleted_rows"`
	// Decisions whose number was erased by a data request.
	Erased int64 `json:"erased"`
	// Hash of the last valid row.
	Head string `json:"head"`
	// What is wrong with that row.
	Reason string `json:"reason,omitzero"`
	// Valid rows.
	Rows int64 `json:"rows"`
	// true if the log is unchanged.
	Valid bool `json:"valid"`
}

// DuplicateRequest is part of a request.
type DuplicateRequest struct {
	// false: copy no contacts. Default: true.
	Contacts *bool `json:"contacts,omitempty"`
	// Default: the name of the original campaign.
	Name *string `json:"name,omitempty"`
}

// HoursUpdate is part of a request.
type HoursUpdate struct {
	// HH:MM, up to 24:00
	End *string `json:"end,omitempty"`
	// HH:MM
	Start *string `json:"start,omitempty"`
	// A time zone, or local for the zone of the contact.
	Timezone Optional[string] `json:"timezone,omitzero"`
}

// ListCampaign is part of a response.
type ListCampaign struct {
	// The resources of this page.
	Data []Campaign `json:"data"`
	// true if there is another page.
	HasMore bool `json:"has_more"`
	// Cursor of the next page; null on the last page.
	NextCursor *string `json:"next_cursor"`
	// The type of the resource. One of list.
	Object string `json:"object"`
}

// ListContact is part of a response.
type ListContact struct {
	// The resources of this page.
	Data []Contact `json:"data"`
	// true if there is another page.
	HasMore bool `json:"has_more"`
	// Cursor of the next page; null on the last page.
	NextCursor *string `json:"next_cursor"`
	// The type of the resource. One of list.
	Object string `json:"object"`
}

// ListDecision is part of a response.
type ListDecision struct {
	// The resources of this page.
	Data []Decision `json:"data"`
	// true if there is another page.
	HasMore bool `json:"has_more"`
	// Cursor of the next page; null on the last page.
	NextCursor *string `json:"next_cursor"`
	// The type of the resource. One of list.
	Object string `json:"object"`
}

// ListUpload is part of a response.
type ListUpload struct {
	// The resources of this page.
	Data []Upload `json:"data"`
	// true if there is another page.
	HasMore bool `json:"has_more"`
	// Cursor of the next page; null on the last page.
	NextCursor *string `json:"next_cursor"`
	// The type of the resource. One of list.
	Object string `json:"object"`
}

// NewAssumptions is part of a request.
type NewAssumptions struct {
	// Share of attempts that a person answers.
	AnswerRate *float64 `json:"answer_rate,omitempty"`
	// Share of attempts to a busy number.
	BusyRate *float64 `json:"busy_rate,omitempty"`
	// Share of attempts that fail in the trunk.
	FailedRate *float64 `json:"failed_rate,omitempty"`
	// Share of attempts without an answer. Default: 1 minus the other four rates.
	NoAnswerRate *float64 `json:"no_answer_rate,omitempty"`
	// Ringing time of unanswered attempts.
	NoAnswerSeconds *float64 `json:"no_answer_seconds,omitempty"`
	// Mean ringing time of answered attempts.
	RingSeconds *float64 `json:"ring_seconds,omitempty"`
	// Mean duration of a call with a person.
	TalkSeconds *float64 `json:"talk_seconds,omitempty"`
	// Share of attempts that a machine answers.
	VoicemailRate *float64 `json:"voicemail_rate,omitempty"`
	// Mean duration of a call with a machine.
	VoicemailSeconds *float64 `json:"voicemail_seconds,omitempty"`
}

// NewCallerID is part of a request.
type NewCallerID struct {
	// Name for people.
	Name *string `json:"name,omitempty"`
	// A number of the workspace, or one in caller_ids of a trunk. Default: each call shows a number of the trunk that carries it.
	Number *string `json:"number,omitempty"`
}

// NewCampaign is part of a request.
type NewCampaign struct {
	// agent_id or pathway_id is required.
	AgentID *string `json:"agent_id,omitempty"`
	// false: the campaign stays open when all contacts are finished. Default: true.
	AutoComplete *bool        `json:"auto_complete,omitempty"`
	CallerID     *NewCallerID `json:"caller_id,omitempty"`
	// Compliance rules. They can change while the campaign runs.
	Compliance *NewCompliance `json:"compliance,omitempty"`
	// At most 10,000 contacts. Upload more to /contacts.
	Contacts []NewContact `json:"contacts,omitzero"`
	// Country of numbers without a country code, as an ISO 3166 code.
	DefaultCountry *string `json:"default_country,omitempty"`
	// true: the campaign stays a draft even with a future start.
	Draft *bool `json:"draft,omitempty"`
	// true: each call uses the newest version of the agent and the pathway. false: calls use the versions with which the campaign started.
	FollowLatest *bool `json:"follow_latest,omitempty"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata map[string]string `json:"metadata,omitzero"`
	// Name for people.
	Name string `json:"name"`
	// Pacing. It can change while the campaign runs.
	Pacing *NewPacing `json:"pacing,omitempty"`
	// The id of the pathway.
	PathwayID *string `json:"pathway_id,omitempty"`
	// Retries. They can change while the campaign runs; a change applies to attempts that end afterwards.
	Retry *NewRetry `json:"retry,omitempty"`
	// When the campaign may call. end can change while the campaign runs.
	Schedule *NewSchedule `json:"schedule,omitempty"`
	// Settings of test campaigns. With test keys only.
	Test *NewTestMode `json:"test,omitempty"`
	// Secret that signs the campaign's webhooks. Default: Callboard creates one.
	WebhookSecret *string `json:"webhook_secret,omitempty"`
	// https URL by campaign event type.
	Webhooks map[string]string `json:"webhooks,omitzero"`
}

// NewCompliance is part of a request.
type NewCompliance struct {
	// Daily window for calls. Default: 08:00 to 21:00 in the zone of the contact.
	CallingHours *NewHours `json:"calling_hours,omitempty"`
	// A do-not-call list that is checked in addition to the default list. Empty: only the default list.
	DNCListID *string `json:"dnc_list_id,omitempty"`
	// Check contacts against do-not-call lists. Default: true.
	DNCScrub       *bool      `json:"dnc_scrub,omitempty"`
	OptOutHandling *NewOptOut `json:"opt_out_handling,omitempty"`
}

// NewOptOut is part of a request.
type NewOptOut struct {
	Action   *string  `json:"action,omitempty"`
	Keywords []string `json:"keywords,omitzero"`
}

// NewPacing is part of a request.
type NewPacing struct {
	// Maximum calls per minute. Default: the plan's limit.
	CallsPerMinute *int64 `json:"calls_per_minute,omitempty"`
	// Maximum concurrent calls. Default: the plan's limit.
	MaxConcurrent *int64 `json:"max_concurrent,omitempty"`
	// fixed keeps the pace. adaptive lowers the pace while many calls fail, are hung up at once or are answered less often than before, or while the agent responds late. One of fixed, adaptive.
	Mode *string `json:"mode,omitempty"`
}

// NewRetry is part of a request.
type NewRetry struct {
	Enabled       *bool    `json:"enabled,omitempty"`
	IntervalHours *float64 `json:"interval_hours,omitempty"`
	// Maximum attempts per contact, including the first.
	MaxAttempts *int64   `json:"max_attempts,omitempty"`
	RetryOn     []string `json:"retry_on,omitzero"`
}

// NewSchedule is part of a request.
type NewSchedule struct {
	// Days with calls. Default: all.
	Days []string   `json:"days,omitzero"`
	End  *time.Time `json:"end,omitempty"`
	// YYYY-MM-DD
	ExcludedDates []string `json:"excluded_dates,omitzero"`
	// A future time creates a scheduled campaign. Missing or past: the campaign stays a draft until it is started.
	Start    *time.Time `json:"start,omitempty"`
	Timezone *string    `json:"timezone,omitempty"`
}

// NewTestMode is part of a request.
type NewTestMode struct {
	// Speed of the campaign's clock for schedule, calling hours, pacing and retries. Calls run in real time.
	TimeFactor int64 `json:"time_factor"`
}

// OptOut is part of a response.
type OptOut struct {
	Action   string   `json:"action"`
	Keywords []string `json:"keywords"`
}

// OptOutUpdate is part of a request.
type OptOutUpdate struct {
	Action   Optional[string]   `json:"action,omitzero"`
	Keywords Optional[[]string] `json:"keywords,omitzero"`
}

// Pacing is part of a response.
type Pacing struct {
	CallsPerMinute int64 `json:"calls_per_minute"`
	MaxConcurrent  int64 `json:"max_concurrent"`
	// fixed keeps the pace. adaptive lowers the pace while calls fail. One of fixed, adaptive.
	Mode string `json:"mode,omitzero"`
}

// PacingUpdate is part of a request.
type PacingUpdate struct {
	// Maximum calls per minute. Default: the plan's limit.
	CallsPerMinute Optional[int64] `json:"calls_per_minute,omitzero"`
	// Maximum concurrent calls. Default: the plan's limit.
	MaxConcurrent Optional[int64] `json:"max_concurrent,omitzero"`
	// fixed keeps the pace. adaptive lowers the pace while many calls fail, are hung up at once or are answered less often than before, or while the agent responds late. One of fixed, adaptive.
	Mode Optional[string] `json:"mode,omitzero"`
}

// ProgressSample is part of a response.
type ProgressSample struct {
	// Time of the mark.
	At time.Time `json:"at"`
	// Number of contacts with at least one attempt.
	Attempted int64 `json:"attempted"`
	// Number of calls to all contacts.
	Attempts int64 `json:"attempts"`
	// Number of finished contacts, including skipped ones.
	Finished int64 `json:"finished"`
	// Number of finished contacts by outcome.
	Outcomes map[string]int64 `json:"outcomes"`
	// Percentage of finished contacts.
	Percent int64 `json:"percent"`
	// Number of contacts at that time.
	Total int64 `json:"total"`
}

// RedialRequest is part of a request.
type RedialRequest struct {
	// Default: the name of the original campaign.
	Name *string `json:"name,omitempty"`
	// Outcomes of the contacts to call again.
	Outcomes []string `json:"outcomes"`
}

// Retry is part of a response.
type Retry struct {
	Enabled       bool     `json:"enabled"`
	IntervalHours float64  `json:"interval_hours"`
	MaxAttempts   int64    `json:"max_attempts"`
	RetryOn       []string `json:"retry_on"`
}

// RetryUpdate is part of a request.
type RetryUpdate struct {
	Enabled       Optional[bool]    `json:"enabled,omitzero"`
	IntervalHours Optional[float64] `json:"interval_hours,omitzero"`
	// Maximum attempts per contact, including the first.
	MaxAttempts Optional[int64]    `json:"max_attempts,omitzero"`
	RetryOn     Optional[[]string] `json:"retry_on,omitzero"`
}

// Ruling is part of a response.
type Ruling struct {
	// Attempts on the day of the number before this one.
	Count int64 `json:"count,omitzero"`
	// Country of the destination.
	Country string `json:"country,omitzero"`
	// When the rule first delayed the contact.
	First *time.Time `json:"first,omitempty"`
	// How often the rule delayed the contact.
	Held int64 `json:"held,omitzero"`
	// When the rule last delayed the contact.
	Last *time.Time `json:"last,omitempty"`
	// Maximum attempts per day.
	Limit int64 `json:"limit,omitzero"`
	// Checked do-not-call lists; for a listed number, the list that contains it.
	Lists []string `json:"lists,omitzero"`
	// Local time in that zone, or in the first of several zones.
	Local string `json:"local,omitzero"`
	// true if the rule allowed the contact.
	Passed bool `json:"passed"`
	// schedule, calling_hours, dnc, frequency, destination, line (the number has another call), cancelled, removed or unknown (the store did not respond).
	Rule string `json:"rule"`
	// How the number was added to the list. One of import, api, opt_out.
	Source string `json:"source,omitzero"`
	// Calling hours.
	Window string `json:"window,omitzero"`
	// Time zone of the calling hours or the schedule. If there are several zones, all must allow the call.
	Zone string `json:"zone,omitzero"`
}

// Schedule is part of a response.
type Schedule struct {
	Days          []string   `json:"days"`
	End           *time.Time `json:"end,omitempty"`
	ExcludedDates []string   `json:"excluded_dates"`
	Start         *time.Time `json:"start,omitempty"`
	Timezone      string     `json:"timezone"`
}

// ScheduleUpdate is part of a request.
type ScheduleUpdate struct {
	// Days with calls. Default: all.
	Days Optional[[]string]  `json:"days,omitzero"`
	End  Optional[time.Time] `json:"end,omitzero"`
	// YYYY-MM-DD
	ExcludedDates Optional[[]string] `json:"excluded_dates,omitzero"`
	// A future time creates a scheduled campaign. Missing or past: the campaign stays a draft until it is started.
	Start    Optional[time.Time] `json:"start,omitzero"`
	Timezone Optional[string]    `json:"timezone,omitzero"`
}

// SimulateDraftRequest is part of a request.
type SimulateDraftRequest struct {
	// agent_id or pathway_id is required.
	AgentID *string `json:"agent_id,omitempty"`
	// Assumptions about the results of calls. Missing ones come from the workspace's latest campaign calls, or from defaults if there are fewer than 50 calls.
	Assumptions *NewAssumptions `json:"assumptions,omitempty"`
	// false: the campaign stays open when all contacts are finished. Default: true.
	AutoComplete *bool        `json:"auto_complete,omitempty"`
	CallerID     *NewCallerID `json:"caller_id,omitempty"`
	// Compliance rules. They can change while the campaign runs.
	Compliance *NewCompliance `json:"compliance,omitempty"`
	// At most 10,000 contacts. Upload more to /contacts.
	Contacts []NewContact `json:"contacts,omitzero"`
	// Country of numbers without a country code, as an ISO 3166 code.
	DefaultCountry *string `json:"default_country,omitempty"`
	// true: the campaign stays a draft even with a future start.
	Draft *bool `json:"draft,omitempty"`
	// true: each call uses the newest version of the agent and the pathway. false: calls use the versions with which the campaign started.
	FollowLatest *bool `json:"follow_latest,omitempty"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata map[string]string `json:"metadata,omitzero"`
	// Name for people.
	Name string `json:"name"`
	// Pacing. It can change while the campaign runs.
	Pacing *NewPacing `json:"pacing,omitempty"`
	// The id of the pathway.
	PathwayID *string `json:"pathway_id,omitempty"`
	// Retries. They can change while the campaign runs; a change applies to attempts that end afterwards.
	Retry *NewRetry `json:"retry,omitempty"`
	// When the campaign may call. end can change while the campaign runs.
	Schedule *NewSchedule `json:"schedule,omitempty"`
	// Seed of the random results.
	Seed *int64 `json:"seed,omitempty"`
	// Simulated start time. Default: now.
	StartAt *time.Time `json:"start_at,omitempty"`
	// Settings of test campaigns. With test keys only.
	Test *NewTestMode `json:"test,omitempty"`
	// Secret that signs the campaign's webhooks. Default: Callboard creates one.
	WebhookSecret *string `json:"webhook_secret,omitempty"`
	// https URL by campaign event type.
	Webhooks map[string]string `json:"webhooks,omitzero"`
}

// SimulateRequest is part of a request.
type SimulateRequest struct {
	// Assumptions about the results of calls. Missing ones come from the workspace's latest campaign calls, or from defaults if there are fewer than 50 calls.
	Assumptions *NewAssumptions `json:"assumptions,omitempty"`
	// Seed of the random results.
	Seed *int64 `json:"seed,omitempty"`
	// Simulated start time. Default: now.
	StartAt *time.Time `json:"start_at,omitempty"`
}

// SimulatedCost is part of a response.
type SimulatedCost struct {
	// Cost of the attempts.
	Amount Money `json:"amount"`
	// Billed attempts.
	Attempts int64 `json:"attempts"`
	// Billed attempts within the quota.
	Included int64 `json:"included"`
	// Cost by month.
	Months []SimulatedMonth `json:"months"`
	// Billed attempts beyond the quota.
	Overage int64 `json:"overage"`
}

// SimulatedHour is part of a response.
type SimulatedHour struct {
	// Calls that start in this hour.
	Calls int64 `json:"calls"`
	// Start of the hour.
	Hour time.Time `json:"hour"`
}

// SimulatedMonth is part of a response.
type SimulatedMonth struct {
	// Cost of the attempts.
	Amount Money `json:"amount"`
	// Billed attempts.
	Attempts int64 `json:"attempts"`
	// Billed attempts within the quota.
	Included int64 `json:"included"`
	// YYYY-MM in UTC.
	Month string `json:"month"`
	// Billed attempts beyond the quota.
	Overage int64 `json:"overage"`
}

// Simulation is part of a response.
type Simulation struct {
	// Source of the assumptions that were not sent. history: the workspace's latest campaign calls. defaults: too few of these.
	AssumedFrom string `json:"assumed_from"`
	// Assumptions about the results of calls.
	Assumptions Assumptions `json:"assumptions"`
	// Simulated calls.
	Attempts int64 `json:"attempts"`
	// Calls that start in each hour with calls.
	CallsPerHour []SimulatedHour `json:"calls_per_hour"`
	// The id of the campaign, if there is one.
	CampaignID string `json:"campaign_id,omitzero"`
	// End of the last call; null if it is more than 400 days ahead.
	CompletesAt *time.Time `json:"completes_at"`
	// exhausted: all contacts would be finished. window_ended: the schedule ends first. One of exhausted, window_ended.
	CompletionReason string `json:"completion_reason,omitzero"`
	// Unfinished contacts.
	Contacts int64 `json:"contacts"`
	// Additional cost of the calls in each month.
	Cost SimulatedCost `json:"cost"`
	// Contacts that would be unfinished at the end of the schedule.
	Expired int64 `json:"expired"`
	// Number of contacts by final outcome.
	Outcomes map[string]int64 `json:"outcomes"`
	// Simulated pacing: the pacing of the campaign within the limits of the workspace.
	Pacing Pacing `json:"pacing"`
	// Maximum concurrent calls.
	PeakConcurrent int64 `json:"peak_concurrent"`
	// Contacts that would never be called, by rule.
	Skipped Skipped `json:"skipped"`
	// Earliest time of the first call.
	StartsAt time.Time `json:"starts_at"`
	// Minutes of answered calls.
	TalkMinutes float64 `json:"talk_minutes"`
}

// TestMode is part of a response.
type TestMode struct {
	// When the accelerated clock started.
	Since *time.Time `json:"since,omitempty"`
	// Speed of the clock.
	TimeFactor int64 `json:"time_factor"`
}

// TestModeUpdate is part of a request.
type TestModeUpdate struct {
	// Speed of the campaign's clock for schedule, calling hours, pacing and retries. Calls run in real time.
	TimeFactor *int64 `json:"time_factor,omitempty"`
}

// Upload is part of a response.
type Upload struct {
	// The id of the campaign, if there is one.
	CampaignID string `json:"campaign_id"`
	// Field of each CSV column by its name in the header: phone, timezone, country, name, or a variable of the pathway.
	Columns map[string]string `json:"columns"`
	// When the contacts were added to the campaign.
	CompletedAt *time.Time `json:"completed_at"`
	// Errors of rows; the first 100.
	ContactErrors []ContactError `json:"contact_errors"`
	// Number of rows by result.
	ContactsSummary ContactsSummary `json:"contacts_summary"`
	// When the resource was created.
	CreatedAt time.Time `json:"created_at"`
	// live or test. The environments are separate.
	Environment string `json:"environment"`
	// Names of the context variables, sorted; at most 200.
	Fields []string `json:"fields"`
	// Unique id. It never changes and is never reused.
	ID string `json:"id"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata map[string]string `json:"metadata,omitzero"`
	// Variables of the pathway for which the CSV file has no column.
	Missing []string `json:"missing"`
	// The type of the resource.
	Object string `json:"object"`
	// Why the upload failed: an error code, or interrupted after a restart of the service.
	Reason string `json:"reason,omitzero"`
	// receiving, completed or failed. The contacts of a failed upload are not added to the campaign. One of receiving, completed, failed.
	Status string `json:"status"`
	// Columns of a CSV file that match no variable. Their values become context variables with the name of the column.
	Unmapped []string `json:"unmapped"`
	// When the resource was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// The workspace of the resource.
	WorkspaceID string `json:"workspace_id"`
}

// UploadSummary is part of a response.
type UploadSummary struct {
	// Field of each CSV column by its name in the header: phone, timezone, country, name, or a variable of the pathway.
	Columns map[string]string `json:"columns"`
	// Errors of rows; the first 100.
	ContactErrors []ContactError `json:"contact_errors"`
	// Number of rows by result.
	ContactsSummary ContactsSummary `json:"contacts_summary"`
	// Variables of the pathway for which the CSV file has no column.
	Missing []string `json:"missing"`
	// Columns of a CSV file that match no variable. Their values become context variables with the name of the column.
	Unmapped []string `json:"unmapped"`
	UploadID string   `json:"upload_id"`
}
