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
// Everything of a draft. Of one that is scheduled, running or paused pacing, schedule.end, retry, compliance and metadata; other fields are 409 invalid_state.
func (c *Client) UpdateCampaign(ctx context.Context, id string, body *CampaignUpdate, options ...Option) (*CampaignChanged, error) {
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
// created_at of a contact is when its upload began.
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

// AddContactsQuery is what AddContacts can be asked; what is zero is left out.
type AddContactsQuery struct {
	// The name of the CSV column that holds the phone, as the first row writes it. Default: phone. With another name, a column named phone becomes context as file_phone. JSON ignores this.
	PhoneColumn string
	// The name of the CSV column that holds the timezone, as the first row writes it. Default: timezone. With another name, a column named timezone becomes context as file_timezone. JSON ignores this.
	TimezoneColumn string
	// The name of the CSV column that holds the country, as the first row writes it. Default: country. With another name, a column named country becomes context as file_country. JSON ignores this.
	CountryColumn string
	// The name of the CSV column that holds the name, as the first row writes it. Default: name. With another name, a column named name becomes context as file_name. JSON ignores this.
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
// Takes JSON, one JSON object per line, or CSV, all streamed and as large as 1 GB, up to 1,000,000 contacts per campaign. CSV has a header row with a column phone, optionally timezone, country and name; every other column becomes context. Headers match the variables that the pathway declares without regard to case, spaces and punctuation: "First Name" gives first_name; two columns for one variable are 422. A column that matches no variable is kept in the context under its own name. The response shows the result: columns, unmapped and missing. A row that lacks a required variable does not become a contact and is listed in contact_errors. UTF-8 or UTF-16, or the charset of the Content-Type; commas, semicolons or tabs; what spreadsheets add (a line sep=;, a byte order mark, empty columns and rows) is understood. Columns of other names are named by phone_column, timezone_column, country_column and name_column, in the query or in fields before the file. multipart/form-data takes one such file; a second one is 422. Rows that cannot be used are counted and the first 100 of them told; the first of duplicates wins. An upload counts as a whole or not at all; GET …/uploads shows how far it is. A campaign that is running goes on with the new contacts at once.
func (c *Client) AddContacts(ctx context.Context, id string, q AddContactsQuery, body *ContactsUpload, options ...Option) (*UploadSummary, error) {
	return send[UploadSummary](ctx, c, "POST", "/v1/campaigns/"+url.PathEscape(id)+"/contacts", q.values(), asJSON(body), options)
}

// AddContactsFrom sends the body as it is read, of a media type that the operation takes.
func (c *Client) AddContactsFrom(ctx context.Context, id string, q AddContactsQuery, mediaType string, body io.Reader, options ...Option) (*UploadSummary, error) {
	return send[UploadSummary](ctx, c, "POST", "/v1/campaigns/"+url.PathEscape(id)+"/contacts", q.values(), stream{mediaType, body}, options)
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
// Only while it is pending or retry_wait. It is not rung any more, counts as cancelled (reason removed), stays in lists and results, and is in no copy of the campaign.
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
func (c *Client) UpdateContact(ctx context.Context, id string, contactID string, body *ContactUpdate, options ...Option) (*Contact, error) {
	return send[Contact](ctx, c, "PATCH", "/v1/campaigns/"+url.PathEscape(id)+"/contacts/"+url.PathEscape(contactID), nil, asJSON(body), options)
}

// ListDecisionsQuery is what ListDecisions can be asked; what is zero is left out.
type ListDecisionsQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
	// Only what was created after this time.
	CreatedAfter time.Time
	// Only what was created before this time.
	CreatedBefore time.Time
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

// ListDecisions: Why each contact was or was not called.
//
// GET /v1/campaigns/{id}/decisions
//
// Each rule that let a contact pass, left it out or held it, with what it went by, in the order in which that was written. What held a contact again and again is one rule with a count. The end of a campaign decides at once about all who still wait: one entry (cancel or expire) with contacts, how many they are, and no number; it is shown for each number whose log ends before, of a contact or not. Rows that an upload refused are in the errors of the upload.
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

// GetCampaignProgress: See how far a campaign was when.
//
// GET /v1/campaigns/{id}/progress
//
// Oldest first. A mark is made at each five per cent, at most each minute between them, and at the end; of those at the same per cent the last one is kept, so that there are 101 at most.
func (c *Client) GetCampaignProgress(ctx context.Context, id string, options ...Option) (*CampaignProgress, error) {
	return send[CampaignProgress](ctx, c, "GET", "/v1/campaigns/"+url.PathEscape(id)+"/progress", nil, nil, options)
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
// RFC 4180, one row per contact, streamed; works while the campaign runs. reason says why the last attempt ended so, or why a contact was skipped. Rows of uploads that did not become contacts, because of a do-not-call list (dnc), a destination that is not allowed (destination_not_allowed) or a required variable without a value (missing_variable), follow with the outcome skipped. A value that a spreadsheet would take for a formula begins with an apostrophe, in every column but phone.
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

// CallerID is an answer of the service, or a part of one.
type CallerID struct {
	// For people.
	Name   string `json:"name,omitzero"`
	Number string `json:"number"`
}

// CallerIDUpdate is sent to the service.
type CallerIDUpdate struct {
	// For people.
	Name Optional[string] `json:"name,omitzero"`
	// A number of the workspace, or one in caller_ids of a trunk. Without it, each call shows a number of the trunk that carries it.
	Number Optional[string] `json:"number,omitzero"`
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
	AgentID      string   `json:"agent_id,omitzero"`
	AutoComplete bool     `json:"auto_complete"`
	CallerID     CallerID `json:"caller_id"`
	// One of exhausted, window_ended.
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
	PathwayID string `json:"pathway_id,omitzero"`
	// One of trunk_failures, script_unavailable, restored.
	PauseReason string     `json:"pause_reason,omitzero"`
	Retry       Retry      `json:"retry"`
	Schedule    Schedule   `json:"schedule"`
	StartedAt   *time.Time `json:"started_at,omitempty"`
	// One of draft, scheduled, running, paused, completed, cancelled.
	Status string `json:"status"`
	// How its clock goes; test environment only.
	Test *TestMode `json:"test,omitempty"`
	// When it was last changed.
	UpdatedAt time.Time         `json:"updated_at"`
	Webhooks  map[string]string `json:"webhooks,omitzero"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}

// CampaignChanged is an answer of the service, or a part of one.
type CampaignChanged struct {
	// Which agent speaks.
	AgentID      string   `json:"agent_id,omitzero"`
	AutoComplete bool     `json:"auto_complete"`
	CallerID     CallerID `json:"caller_id"`
	// One of exhausted, window_ended.
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
	PathwayID string `json:"pathway_id,omitzero"`
	// One of trunk_failures, script_unavailable, restored.
	PauseReason string     `json:"pause_reason,omitzero"`
	Retry       Retry      `json:"retry"`
	Schedule    Schedule   `json:"schedule"`
	StartedAt   *time.Time `json:"started_at,omitempty"`
	// One of draft, scheduled, running, paused, completed, cancelled.
	Status string `json:"status"`
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
	AgentID      string   `json:"agent_id,omitzero"`
	AutoComplete bool     `json:"auto_complete"`
	CallerID     CallerID `json:"caller_id"`
	// One of exhausted, window_ended.
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
	PathwayID string `json:"pathway_id,omitzero"`
	// One of trunk_failures, script_unavailable, restored.
	PauseReason string     `json:"pause_reason,omitzero"`
	Retry       Retry      `json:"retry"`
	Schedule    Schedule   `json:"schedule"`
	StartedAt   *time.Time `json:"started_at,omitempty"`
	// One of draft, scheduled, running, paused, completed, cancelled.
	Status string `json:"status"`
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

// CampaignProgress is an answer of the service, or a part of one.
type CampaignProgress struct {
	// Of which campaign it is, where it is of one.
	CampaignID string         `json:"campaign_id"`
	Marks      []ProgressMark `json:"marks"`
}

// CampaignUpdate is sent to the service.
type CampaignUpdate struct {
	// agent_id or pathway_id is required.
	AgentID Optional[string] `json:"agent_id,omitzero"`
	// false: stays open when all contacts are done.
	AutoComplete Optional[bool]           `json:"auto_complete,omitzero"`
	CallerID     Optional[CallerIDUpdate] `json:"caller_id,omitzero"`
	// Can be changed while it runs.
	Compliance Optional[ComplianceUpdate] `json:"compliance,omitzero"`
	// For numbers without +.
	DefaultCountry Optional[string] `json:"default_country,omitzero"`
	// Calls speak the version of the agent, and the pathway, that is newest when they begin; otherwise those that the campaign began with.
	FollowLatest Optional[bool] `json:"follow_latest,omitzero"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata Optional[map[string]*string] `json:"metadata,omitzero"`
	// For people.
	Name *string `json:"name,omitempty"`
	// Can be changed while it runs.
	Pacing Optional[PacingUpdate] `json:"pacing,omitzero"`
	// Which pathway it follows.
	PathwayID Optional[string] `json:"pathway_id,omitzero"`
	// Can be changed while it runs: for what ends from then on.
	Retry Optional[RetryUpdate] `json:"retry,omitzero"`
	// When it may ring. end can be changed while it runs.
	Schedule Optional[ScheduleUpdate] `json:"schedule,omitzero"`
	// With test keys only.
	Test Optional[TestModeUpdate] `json:"test,omitzero"`
	// Campaign event name → https URL.
	Webhooks Optional[map[string]*string] `json:"webhooks,omitzero"`
}

// CancelRequest is sent to the service.
type CancelRequest struct {
	// true: live calls end at once.
	HangupActive *bool `json:"hangup_active,omitempty"`
}

// Compliance is an answer of the service, or a part of one.
type Compliance struct {
	CallingHours   CallingHours `json:"calling_hours"`
	DNCListID      string       `json:"dnc_list_id,omitzero"`
	DNCScrub       bool         `json:"dnc_scrub"`
	OptOutHandling *OptOut      `json:"opt_out_handling,omitempty"`
}

// ComplianceUpdate is sent to the service.
type ComplianceUpdate struct {
	// 08:00 to 21:00 local unless said.
	CallingHours Optional[HoursUpdate] `json:"calling_hours,omitzero"`
	// Scrubbed against beside the default list. Empty: against that alone.
	DNCListID Optional[string] `json:"dnc_list_id,omitzero"`
	// true unless said.
	DNCScrub       Optional[bool]         `json:"dnc_scrub,omitzero"`
	OptOutHandling Optional[OptOutUpdate] `json:"opt_out_handling,omitzero"`
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
	// How its last attempt ended. One of completed, confirmed, declined, voicemail, no_answer, busy, failed, cancelled.
	Outcome string `json:"outcome,omitzero"`
	// E.164.
	Phone string `json:"phone"`
	// Why.
	Reason string `json:"reason,omitzero"`
	// pending, dialing, in_call (the call was answered), retry_wait, or how it ended. One of pending, dialing, retry_wait, completed, confirmed, declined, voicemail, no_answer, busy, failed, skipped, expired, cancelled, in_call.
	Status string `json:"status"`
	// Its zone, where it is not that of its number.
	Timezone string `json:"timezone,omitzero"`
	// When it was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}

// ContactUpdate is sent to the service.
type ContactUpdate struct {
	// Variables of the pathway's text.
	Context Optional[map[string]any] `json:"context,omitzero"`
	Country Optional[string]         `json:"country,omitzero"`
	// E.164, or national in the campaign's default_country.
	Phone *string `json:"phone,omitempty"`
	// Overrides the zone of the number.
	Timezone Optional[string] `json:"timezone,omitzero"`
}

// ContactsSummary is an answer of the service, or a part of one.
type ContactsSummary struct {
	// Contacts of the campaign now.
	Accepted int64 `json:"accepted"`
	// Rows with a number that the workspace may not call: its countries, blocked prefixes and kinds. They do not become contacts.
	DestinationNotAllowed int64 `json:"destination_not_allowed"`
	// Rows whose number is on the do-not-call list.
	DNC int64 `json:"dnc"`
	// Rows whose number the campaign had already.
	Duplicates int64 `json:"duplicates"`
	// Rows that cannot be used.
	Invalid int64 `json:"invalid"`
	// Rows without a value for a variable that the pathway requires. They do not become contacts.
	MissingVariables int64 `json:"missing_variables"`
	// Rows that were read.
	Received int64 `json:"received"`
}

// ContactsUpload is sent to the service.
type ContactsUpload struct {
	Contacts []NewContact `json:"contacts"`
}

// Decision is an answer of the service, or a part of one.
type Decision struct {
	// When it was decided.
	At time.Time `json:"at"`
	// The number of the attempt; of a skip, how many there were.
	Attempt int64 `json:"attempt"`
	// The call of the attempt.
	CallID string `json:"call_id,omitzero"`
	// The contact; empty where contacts is there.
	ContactID string `json:"contact_id"`
	// How many contacts waited when the campaign ended, all of whom this is about; not there: it is about the one named.
	Contacts int64 `json:"contacts,omitzero"`
	// dial: an attempt was opened. skip: the contact is left out. cancel: it was taken out, or the campaign was cancelled. expire: the schedule ended before its turn.
	Decision string `json:"decision"`
	// E.164; empty where contacts is there.
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
	// Rows at the beginning that retention.decisions_days has deleted.
	DeletedRows int64 `json:"deleted_rows"`
	// Decisions whose number a data request has erased.
	Erased int64 `json:"erased"`
	// Hash of the last of them.
	Head string `json:"head"`
	// What is wrong with it.
	Reason string `json:"reason,omitzero"`
	// Rows that hold.
	Rows int64 `json:"rows"`
	// Whether the log is as it was written.
	Valid bool `json:"valid"`
}

// DuplicateRequest is sent to the service.
type DuplicateRequest struct {
	// false: without them.
	Contacts *bool `json:"contacts,omitempty"`
	// The same unless said.
	Name *string `json:"name,omitempty"`
}

// HoursUpdate is sent to the service.
type HoursUpdate struct {
	// HH:MM, up to 24:00
	End *string `json:"end,omitempty"`
	// HH:MM
	Start *string `json:"start,omitempty"`
	// A zone's name, or local: the contact's.
	Timezone Optional[string] `json:"timezone,omitzero"`
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

// NewAssumptions is sent to the service.
type NewAssumptions struct {
	// Share of the attempts that a person answers.
	AnswerRate *float64 `json:"answer_rate,omitempty"`
	// Share that is busy.
	BusyRate *float64 `json:"busy_rate,omitempty"`
	// Share that the trunk cannot reach.
	FailedRate *float64 `json:"failed_rate,omitempty"`
	// Share that does not answer: without it, what the other four leave of 1.
	NoAnswerRate *float64 `json:"no_answer_rate,omitempty"`
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

// NewCallerID is sent to the service.
type NewCallerID struct {
	// For people.
	Name *string `json:"name,omitempty"`
	// A number of the workspace, or one in caller_ids of a trunk. Without it, each call shows a number of the trunk that carries it.
	Number *string `json:"number,omitempty"`
}

// NewCampaign is sent to the service.
type NewCampaign struct {
	// agent_id or pathway_id is required.
	AgentID *string `json:"agent_id,omitempty"`
	// false: stays open when all contacts are done.
	AutoComplete *bool        `json:"auto_complete,omitempty"`
	CallerID     *NewCallerID `json:"caller_id,omitempty"`
	// Can be changed while it runs.
	Compliance *NewCompliance `json:"compliance,omitempty"`
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
	Name string `json:"name"`
	// Can be changed while it runs.
	Pacing *NewPacing `json:"pacing,omitempty"`
	// Which pathway it follows.
	PathwayID *string `json:"pathway_id,omitempty"`
	// Can be changed while it runs: for what ends from then on.
	Retry *NewRetry `json:"retry,omitempty"`
	// When it may ring. end can be changed while it runs.
	Schedule *NewSchedule `json:"schedule,omitempty"`
	// With test keys only.
	Test *NewTestMode `json:"test,omitempty"`
	// Signs the campaign's webhooks; made here unless said.
	WebhookSecret *string `json:"webhook_secret,omitempty"`
	// Campaign event name → https URL.
	Webhooks map[string]string `json:"webhooks,omitzero"`
}

// NewCompliance is sent to the service.
type NewCompliance struct {
	// 08:00 to 21:00 local unless said.
	CallingHours *NewHours `json:"calling_hours,omitempty"`
	// Scrubbed against beside the default list. Empty: against that alone.
	DNCListID *string `json:"dnc_list_id,omitempty"`
	// true unless said.
	DNCScrub       *bool      `json:"dnc_scrub,omitempty"`
	OptOutHandling *NewOptOut `json:"opt_out_handling,omitempty"`
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
	// fixed keeps the pace. adaptive goes slower, never faster, while many calls are hung up at once, fail or are answered more seldom than before, or while the agent answers late. One of fixed, adaptive.
	Mode *string `json:"mode,omitempty"`
}

// NewRetry is sent to the service.
type NewRetry struct {
	Enabled       *bool    `json:"enabled,omitempty"`
	IntervalHours *float64 `json:"interval_hours,omitempty"`
	// Counts the first.
	MaxAttempts *int64   `json:"max_attempts,omitempty"`
	RetryOn     []string `json:"retry_on,omitzero"`
}

// NewSchedule is sent to the service.
type NewSchedule struct {
	// All unless said.
	Days []string   `json:"days,omitzero"`
	End  *time.Time `json:"end,omitempty"`
	// YYYY-MM-DD
	ExcludedDates []string `json:"excluded_dates,omitzero"`
	// Ahead: the campaign begins scheduled. Left out or past: it stays a draft until it is started.
	Start    *time.Time `json:"start,omitempty"`
	Timezone *string    `json:"timezone,omitempty"`
}

// NewTestMode is sent to the service.
type NewTestMode struct {
	// How much faster the campaign's clock goes: schedule, calling hours, pace and retries. Calls take their time.
	TimeFactor int64 `json:"time_factor"`
}

// OptOut is an answer of the service, or a part of one.
type OptOut struct {
	Action   string   `json:"action"`
	Keywords []string `json:"keywords"`
}

// OptOutUpdate is sent to the service.
type OptOutUpdate struct {
	Action   Optional[string]   `json:"action,omitzero"`
	Keywords Optional[[]string] `json:"keywords,omitzero"`
}

// Pacing is an answer of the service, or a part of one.
type Pacing struct {
	CallsPerMinute int64 `json:"calls_per_minute"`
	MaxConcurrent  int64 `json:"max_concurrent"`
	// fixed keeps the pace; adaptive goes slower, never faster, while calls go badly. One of fixed, adaptive.
	Mode string `json:"mode,omitzero"`
}

// PacingUpdate is sent to the service.
type PacingUpdate struct {
	// The plan's ceiling unless said.
	CallsPerMinute Optional[int64] `json:"calls_per_minute,omitzero"`
	// The plan's ceiling unless said.
	MaxConcurrent Optional[int64] `json:"max_concurrent,omitzero"`
	// fixed keeps the pace. adaptive goes slower, never faster, while many calls are hung up at once, fail or are answered more seldom than before, or while the agent answers late. One of fixed, adaptive.
	Mode Optional[string] `json:"mode,omitzero"`
}

// ProgressMark is an answer of the service, or a part of one.
type ProgressMark struct {
	// When it was so.
	At time.Time `json:"at"`
	// Contacts with at least one attempt.
	Attempted int64 `json:"attempted"`
	// Calls, all contacts together.
	Attempts int64 `json:"attempts"`
	// Contacts to which nothing more happens, those that were skipped among them.
	Finished int64 `json:"finished"`
	// Contacts that are finished, by how.
	Outcomes map[string]int64 `json:"outcomes"`
	// Contacts to which nothing more happens, of all.
	Percent int64 `json:"percent"`
	// Contacts, by then.
	Total int64 `json:"total"`
}

// RedialRequest is sent to the service.
type RedialRequest struct {
	// The same unless said.
	Name *string `json:"name,omitempty"`
	// Whom to ring again.
	Outcomes []string `json:"outcomes"`
}

// Retry is an answer of the service, or a part of one.
type Retry struct {
	Enabled       bool     `json:"enabled"`
	IntervalHours float64  `json:"interval_hours"`
	MaxAttempts   int64    `json:"max_attempts"`
	RetryOn       []string `json:"retry_on"`
}

// RetryUpdate is sent to the service.
type RetryUpdate struct {
	Enabled       Optional[bool]    `json:"enabled,omitzero"`
	IntervalHours Optional[float64] `json:"interval_hours,omitzero"`
	// Counts the first.
	MaxAttempts Optional[int64]    `json:"max_attempts,omitzero"`
	RetryOn     Optional[[]string] `json:"retry_on,omitzero"`
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
	// schedule, calling_hours, dnc, frequency, destination, line (somebody else talks with the number), cancelled, removed or unknown (the store did not say).
	Rule string `json:"rule"`
	// How the number came onto the list. One of import, api, opt_out.
	Source string `json:"source,omitzero"`
	// Calling hours.
	Window string `json:"window,omitzero"`
	// Of the calling hours or the schedule; of several zones all must allow.
	Zone string `json:"zone,omitzero"`
}

// Schedule is an answer of the service, or a part of one.
type Schedule struct {
	Days          []string   `json:"days"`
	End           *time.Time `json:"end,omitempty"`
	ExcludedDates []string   `json:"excluded_dates"`
	Start         *time.Time `json:"start,omitempty"`
	Timezone      string     `json:"timezone"`
}

// ScheduleUpdate is sent to the service.
type ScheduleUpdate struct {
	// All unless said.
	Days Optional[[]string]  `json:"days,omitzero"`
	End  Optional[time.Time] `json:"end,omitzero"`
	// YYYY-MM-DD
	ExcludedDates Optional[[]string] `json:"excluded_dates,omitzero"`
	// Ahead: the campaign begins scheduled. Left out or past: it stays a draft until it is started.
	Start    Optional[time.Time] `json:"start,omitzero"`
	Timezone Optional[string]    `json:"timezone,omitzero"`
}

// SimulateDraftRequest is sent to the service.
type SimulateDraftRequest struct {
	// agent_id or pathway_id is required.
	AgentID *string `json:"agent_id,omitempty"`
	// What the called are taken to do; what is left out is taken from the workspace's latest campaign calls, or from the defaults where there are fewer than 50.
	Assumptions *NewAssumptions `json:"assumptions,omitempty"`
	// false: stays open when all contacts are done.
	AutoComplete *bool        `json:"auto_complete,omitempty"`
	CallerID     *NewCallerID `json:"caller_id,omitempty"`
	// Can be changed while it runs.
	Compliance *NewCompliance `json:"compliance,omitempty"`
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
	Name string `json:"name"`
	// Can be changed while it runs.
	Pacing *NewPacing `json:"pacing,omitempty"`
	// Which pathway it follows.
	PathwayID *string `json:"pathway_id,omitempty"`
	// Can be changed while it runs: for what ends from then on.
	Retry *NewRetry `json:"retry,omitempty"`
	// When it may ring. end can be changed while it runs.
	Schedule *NewSchedule `json:"schedule,omitempty"`
	// Draws another course of the same assumptions.
	Seed *int64 `json:"seed,omitempty"`
	// When the campaign would go on; now unless said.
	StartAt *time.Time `json:"start_at,omitempty"`
	// With test keys only.
	Test *NewTestMode `json:"test,omitempty"`
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
	// exhausted: everybody would be done. window_ended: the end of the schedule comes before. One of exhausted, window_ended.
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

// TestMode is an answer of the service, or a part of one.
type TestMode struct {
	// When the clock began to go faster.
	Since *time.Time `json:"since,omitempty"`
	// How much faster it goes.
	TimeFactor int64 `json:"time_factor"`
}

// TestModeUpdate is sent to the service.
type TestModeUpdate struct {
	// How much faster the campaign's clock goes: schedule, calling hours, pace and retries. Calls take their time.
	TimeFactor *int64 `json:"time_factor,omitempty"`
}

// Upload is an answer of the service, or a part of one.
type Upload struct {
	// Of which campaign it is, where it is of one.
	CampaignID string `json:"campaign_id"`
	// What the columns of a CSV file hold, by their names in the header: phone, timezone, country, name, or a variable of the pathway.
	Columns map[string]string `json:"columns"`
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
	// The variables that the pathway declares and that no column of a CSV file gives.
	Missing []string `json:"missing"`
	// What kind of resource this is.
	Object string `json:"object"`
	// Why it failed: an error's code, or interrupted where the service ended meanwhile.
	Reason string `json:"reason,omitzero"`
	// receiving, completed or failed. The contacts of one that failed are not in the campaign. One of receiving, completed, failed.
	Status string `json:"status"`
	// The columns of a CSV file that match no variable. Their values are kept in the context under the column's own name.
	Unmapped []string `json:"unmapped"`
	// When it was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}

// UploadSummary is an answer of the service, or a part of one.
type UploadSummary struct {
	// What the columns of a CSV file hold, by their names in the header: phone, timezone, country, name, or a variable of the pathway.
	Columns map[string]string `json:"columns"`
	// What was wrong, row by row; the first 100.
	ContactErrors []ContactError `json:"contact_errors"`
	// What became of the rows, counted.
	ContactsSummary ContactsSummary `json:"contacts_summary"`
	// The variables that the pathway declares and that no column of a CSV file gives.
	Missing []string `json:"missing"`
	// The columns of a CSV file that match no variable. Their values are kept in the context under the column's own name.
	Unmapped []string `json:"unmapped"`
	UploadID string   `json:"upload_id"`
}
