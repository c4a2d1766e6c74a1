package campaigns

import (
	"context"
	"iter"
	"net/http"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/validation"
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/httpapi/v1/calls"
	campaignsservice "github.com/callboard/callboard/service/campaigns"
	"github.com/callboard/callboard/service/record"
)

// Campaigns creates and controls campaigns.
type Campaigns interface {
	// CreateCampaign stores a campaign with at most 10,000 inline contacts. c has all members except Meta, and its
	// status is draft or scheduled. An unknown agent or pathway is a 422 error with param. Each distinct URL of Webhooks
	// becomes a webhook endpoint of the campaign. secret signs the deliveries. If secret is "", the service creates one.
	CreateCampaign(ctx context.Context, p domain.Principal, c *domain.Campaign, secret string, rows iter.Seq2[domain.RawContact, error]) (campaignsservice.CreatedCampaign, error)
	// UpdateCampaign applies change to a campaign. It returns the signing secret of new webhook endpoints, or "" if the
	// change adds no endpoint.
	UpdateCampaign(ctx context.Context, p domain.Principal, id string, change func(*domain.Campaign) error) (c *domain.Campaign, secret string, err error)
	// DeleteCampaign deletes a draft, or an ended campaign without live calls. Other campaigns are an invalid_state error.
	DeleteCampaign(ctx context.Context, p domain.Principal, id string) error
	// CopyCampaign creates a draft with the settings of a campaign and its contacts that have one of the states. change
	// adjusts the draft before it is stored.
	CopyCampaign(ctx context.Context, p domain.Principal, id string, states []string, change func(*domain.Campaign) error) (campaignsservice.CreatedCampaign, error)
	Campaign(ctx context.Context, p domain.Principal, id string) (*domain.Campaign, error)
	ListCampaigns(ctx context.Context, p domain.Principal, q campaignsservice.Query) (record.Page[*domain.Campaign], error)
	// The following four methods return the status object, also if the campaign already has the requested status.
	// If the current status does not allow the change, the error is invalid_state with current_status and allowed_from.
	StartCampaign(ctx context.Context, p domain.Principal, id string) (domain.CampaignStatusObject, error)
	PauseCampaign(ctx context.Context, p domain.Principal, id string) (domain.CampaignStatusObject, error)
	ResumeCampaign(ctx context.Context, p domain.Principal, id string) (domain.CampaignStatusObject, error)
	CancelCampaign(ctx context.Context, p domain.Principal, id string, hangupActive bool) (domain.CampaignStatusObject, error)
	// CampaignStatus returns the status object of a campaign.
	CampaignStatus(ctx context.Context, p domain.Principal, id string) (*domain.CampaignStatusObject, error)
	// CampaignProgress returns at most 101 measurements of a campaign's progress, oldest first.
	CampaignProgress(ctx context.Context, p domain.Principal, id string) ([]domain.ProgressMark, error)
}

// campaignHandlers serves the operations of campaigns.
type campaignHandlers struct {
	*router.Router

	campaigns Campaigns
	forecasts Forecasts
}

// NewContact is a contact in a request body.
type NewContact struct {
	Phone    string         `json:"phone" maxLength:"64" doc:"E.164, or a national number of the campaign's default_country." example:"+12025550123"`
	Context  domain.Context `json:"context,omitempty" doc:"Values of variables in texts of the pathway."`
	Timezone string         `json:"timezone,omitempty" doc:"Time zone of the contact. Default: the zone of the number."`
	Country  string         `json:"country,omitempty" maxLength:"2"`
}

// NewSchedule is a schedule in a request body.
type NewSchedule struct {
	Start         *time.Time `json:"start,omitempty" doc:"A future time creates a scheduled campaign. Missing or past: the campaign stays a draft until it is started."`
	End           *time.Time `json:"end,omitempty"`
	Timezone      string     `json:"timezone,omitempty" default:"UTC"`
	Days          []string   `json:"days,omitempty" enum:"monday,tuesday,wednesday,thursday,friday,saturday,sunday" doc:"Days with calls. Default: all." nullable:"false"`
	ExcludedDates []string   `json:"excluded_dates,omitempty" doc:"YYYY-MM-DD" nullable:"false"`
}

// NewPacing are pacing settings in a request body.
type NewPacing struct {
	CallsPerMinute *int   `json:"calls_per_minute,omitempty" doc:"Maximum calls per minute. Default: the plan's limit."`
	MaxConcurrent  *int   `json:"max_concurrent,omitempty" doc:"Maximum concurrent calls. Default: the plan's limit."`
	Mode           string `json:"mode,omitempty" enum:"fixed,adaptive" default:"fixed" doc:"fixed keeps the pace. adaptive lowers the pace while many calls fail, are hung up at once or are answered less often than before, or while the agent responds late."`
}

// NewRetry are retry settings in a request body.
type NewRetry struct {
	Enabled       bool     `json:"enabled,omitempty"`
	MaxAttempts   *int     `json:"max_attempts,omitempty" doc:"Maximum attempts per contact, including the first."`
	IntervalHours *float64 `json:"interval_hours,omitempty"`
	RetryOn       []string `json:"retry_on,omitempty" enum:"no_answer,busy,voicemail,failed,rejected,interrupted" nullable:"false"`
}

// NewOptOut are opt-out settings in a request body.
type NewOptOut struct {
	Keywords []string `json:"keywords,omitempty" nullable:"false"`
	Action   string   `json:"action,omitempty"`
}

// NewCompliance are the compliance rules of a campaign in a request body.
type NewCompliance struct {
	DNCScrub     *bool           `json:"dnc_scrub,omitempty" doc:"Check contacts against do-not-call lists. Default: true."`
	DNCListID    *string         `json:"dnc_list_id,omitempty" doc:"A do-not-call list that is checked in addition to the default list. Empty: only the default list."`
	CallingHours *calls.NewHours `json:"calling_hours,omitempty" doc:"Daily window for calls. Default: 08:00 to 21:00 in the zone of the contact."`
	OptOut       *NewOptOut      `json:"opt_out_handling,omitempty"`
}

// NewCallerID is a caller ID in a request body.
type NewCallerID struct {
	Number string `json:"number,omitempty" doc:"A number of the workspace, or one in caller_ids of a trunk. Default: each call shows a number of the trunk that carries it."`
	Name   string `json:"name,omitempty"`
}

// NewTestMode is the clock setting of a test campaign in a request body.
type NewTestMode struct {
	TimeFactor int `json:"time_factor" minimum:"1" maximum:"1440" doc:"Speed of the campaign's clock for schedule, calling hours, pacing and retries. Calls run in real time."`
}

// NewCampaign is a campaign in a request body.
type NewCampaign struct {
	Name           string            `json:"name" example:"Reminders in March"`
	AgentID        string            `json:"agent_id,omitempty" doc:"agent_id or pathway_id is required."`
	PathwayID      string            `json:"pathway_id,omitempty"`
	Contacts       []NewContact      `json:"contacts,omitempty" nullable:"false" update:"-" doc:"At most 10,000 contacts. Upload more to /contacts."`
	Schedule       *NewSchedule      `json:"schedule,omitempty" doc:"When the campaign may call. end can change while the campaign runs."`
	Pacing         *NewPacing        `json:"pacing,omitempty" doc:"Pacing. It can change while the campaign runs."`
	Retry          *NewRetry         `json:"retry,omitempty" doc:"Retries. They can change while the campaign runs; a change applies to attempts that end afterwards."`
	CallerID       *NewCallerID      `json:"caller_id,omitempty"`
	Webhooks       map[string]string `json:"webhooks,omitempty" doc:"https URL by campaign event type."`
	Compliance     *NewCompliance    `json:"compliance,omitempty" doc:"Compliance rules. They can change while the campaign runs."`
	WebhookSecret  string            `json:"webhook_secret,omitempty" minLength:"8" maxLength:"256" update:"-" doc:"Secret that signs the campaign's webhooks. Default: Callboard creates one."`
	DefaultCountry string            `json:"default_country,omitempty" doc:"Country of numbers without a country code, as an ISO 3166 code."`
	AutoComplete   *bool             `json:"auto_complete,omitempty" doc:"false: the campaign stays open when all contacts are finished. Default: true."`
	FollowLatest   bool              `json:"follow_latest,omitempty" doc:"true: each call uses the newest version of the agent and the pathway. false: calls use the versions with which the campaign started."`
	Draft          bool              `json:"draft,omitempty" update:"-" doc:"true: the campaign stays a draft even with a future start."`
	Test           *NewTestMode      `json:"test,omitempty" doc:"Settings of test campaigns. With test keys only."`
	Metadata       map[string]string `json:"metadata,omitempty"`
}

// copyTo copies the settings of the request body to c without applying defaults.
func (n *NewCampaign) copyTo(c *domain.Campaign) {
	c.Name, c.AgentID, c.PathwayID, c.Metadata = n.Name, n.AgentID, n.PathwayID, n.Metadata
	c.Webhooks, c.DefaultCountry, c.FollowLatest = n.Webhooks, n.DefaultCountry, n.FollowLatest
	c.AutoComplete = n.AutoComplete == nil || *n.AutoComplete
	switch {
	case n.Test == nil:
		c.Test = nil
	case c.Test == nil || c.Test.TimeFactor != n.Test.TimeFactor:
		c.Test = &domain.TestMode{TimeFactor: n.Test.TimeFactor}
	}
	s, p, r, id := router.ValueOrZero(n.Schedule), router.ValueOrZero(n.Pacing), router.ValueOrZero(n.Retry), router.ValueOrZero(n.CallerID)
	c.Schedule = domain.Schedule{Start: router.UTC(s.Start), End: router.UTC(s.End), Timezone: s.Timezone, Days: s.Days, ExcludedDates: s.ExcludedDates}
	c.Pacing = domain.Pacing{CallsPerMinute: numberOrDefault(p.CallsPerMinute), MaxConcurrent: numberOrDefault(p.MaxConcurrent), Mode: domain.PacingMode(p.Mode)}
	c.Retry = domain.Retry{Enabled: r.Enabled, MaxAttempts: numberOrDefault(r.MaxAttempts), RetryOn: r.RetryOn}
	switch {
	case r.IntervalHours != nil:
		c.Retry.IntervalHours = *r.IntervalHours
	case r.Enabled:
		c.Retry.IntervalHours = validation.DefaultInterval()
	}
	c.CallerID = domain.CallerID{Number: id.Number, Name: id.Name}
	n.Compliance.copyTo(&c.Compliance)
}

func (n *NewCompliance) copyTo(c *domain.Compliance) {
	*c = domain.Compliance{DNCScrub: true}
	if n == nil {
		return
	}
	router.SetIfSent(&c.DNCScrub, n.DNCScrub)
	router.SetIfSent(&c.DNCListID, n.DNCListID)
	if h := n.CallingHours; h != nil {
		c.CallingHours = domain.CallingHours{Start: h.Start, End: h.End, Timezone: h.Timezone}
	}
	if o := n.OptOut; o != nil {
		c.OptOut = &domain.OptOut{Keywords: o.Keywords, Action: o.Action}
	}
}

// numberOrDefault returns 0, which stands for the default, if the client sent no number. It turns a sent 0 into -1,
// which validation refuses.
func numberOrDefault(n *int) int {
	switch {
	case n == nil:
		return 0
	case *n == 0:
		return -1
	}
	return *n
}

// CampaignCreated is the response to a new campaign.
type CampaignCreated struct {
	domain.Campaign
	UploadID        string                 `json:"upload_id,omitempty"`
	ContactsSummary domain.ContactsSummary `json:"contacts_summary"`
	ContactErrors   []domain.ContactError  `json:"contact_errors"`
	WebhookSecret   string                 `json:"webhook_secret,omitempty" doc:"Secret that signs the campaign's webhooks. Only in this response."`
}

// CancelRequest is the request body of the operation that cancels a campaign.
type CancelRequest struct {
	HangupActive bool `json:"hangup_active,omitempty" doc:"true: live calls are hung up at once."`
}

// registerCampaigns registers the HTTP operations that manage and control campaigns.
func registerCampaigns(r *router.Router, campaigns Campaigns, forecasts Forecasts) {
	s := &campaignHandlers{Router: r, campaigns: campaigns, forecasts: forecasts}
	const tag, path = "Campaigns", "/v1/campaigns"
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: path, ID: "createCampaign", Tag: tag, Status: http.StatusCreated, Summary: "Create a campaign",
		Description: "Creating a campaign places no calls. The campaign stays a draft until it is started, or is scheduled if its start is in the future.",
	}, s.createCampaign)
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path, ID: "listCampaigns", Tag: tag, Summary: "List campaigns"},
		func(ctx context.Context, p domain.Principal, in *struct {
			router.Paging
			Status string `query:"status" enum:"draft,scheduled,running,paused,completed,cancelled"`
		},
		) (*router.Response[router.List[domain.Campaign]], error) {
			l, err := s.campaigns.ListCampaigns(ctx, p, campaignsservice.Query{PageQuery: in.Query(), Status: domain.CampaignStatus(in.Status)})
			return router.Page(l, err, router.ValueOrZero)
		})
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path + "/{id}", ID: "getCampaign", Tag: tag, Summary: "Get a campaign"},
		router.HandleByID(domain.PrefixCampaign, s.campaigns, Campaigns.Campaign, router.Identity))
	s.registerActions(tag, path)
	s.registerChanges(tag, path)
	s.registerForecasts()
}

func (s *campaignHandlers) registerActions(tag, path string) {
	type verb = func(Campaigns, context.Context, domain.Principal, string) (domain.CampaignStatusObject, error)
	for _, v := range []struct {
		word, id, summary string
		do                verb
	}{
		{"start", "startCampaign", "Start a draft", Campaigns.StartCampaign},
		{"pause", "pauseCampaign", "Pause a campaign", Campaigns.PauseCampaign},
		{"resume", "resumeCampaign", "Resume a paused campaign", Campaigns.ResumeCampaign},
	} {
		op := router.Operation{Method: http.MethodPost, Path: path + "/{id}/" + v.word, ID: v.id, Tag: tag, Summary: v.summary}
		router.Add(s.Router, op, router.HandleByID(domain.PrefixCampaign, s.campaigns, v.do, router.Identity))
	}
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path + "/{id}/status", ID: "getCampaignStatus", Tag: tag, Summary: "Get progress, outcomes and the reason for waiting"},
		router.HandleByID(domain.PrefixCampaign, s.campaigns, Campaigns.CampaignStatus, router.Identity))
	router.Add(s.Router, router.Operation{
		Method: http.MethodGet, Path: path + "/{id}/progress", ID: "getCampaignProgress", Tag: tag, Summary: "Get the progress of a campaign over time",
		Description: "Oldest first. A mark is recorded at every five percent, between them at most once per minute, and at the end. Only the last mark of each percent is stored, so there are at most 101.",
	}, s.campaignProgress)
	router.Add(s.Router, router.Operation{Method: http.MethodPost, Path: path + "/{id}/cancel", ID: "cancelCampaign", Tag: tag, Summary: "Cancel a campaign"},
		func(ctx context.Context, p domain.Principal, in *struct {
			router.IDParam
			Body *CancelRequest
		},
		) (*router.Response[domain.CampaignStatusObject], error) {
			id, err := router.PathID(domain.PrefixCampaign, in.ID)
			if err != nil {
				return nil, err
			}
			return router.Respond(s.campaigns.CancelCampaign(ctx, p, id, in.Body != nil && in.Body.HangupActive))
		})
}

// CampaignProgress is the response with the progress of a campaign over time.
type CampaignProgress struct {
	CampaignID string           `json:"campaign_id"`
	Marks      []ProgressSample `json:"marks"`
}

// ProgressSample is the progress of a campaign at one time.
type ProgressSample struct {
	At        time.Time      `json:"at" doc:"Time of the mark."`
	Percent   int            `json:"percent" doc:"Percentage of finished contacts."`
	Total     int            `json:"total" doc:"Number of contacts at that time."`
	Attempted int            `json:"attempted" doc:"Number of contacts with at least one attempt."`
	Attempts  int            `json:"attempts" doc:"Number of calls to all contacts."`
	Finished  int            `json:"finished" doc:"Number of finished contacts, including skipped ones."`
	Outcomes  map[string]int `json:"outcomes" doc:"Number of finished contacts by outcome."`
}

func (s *campaignHandlers) campaignProgress(ctx context.Context, p domain.Principal, in *router.IDParam) (*router.Response[CampaignProgress], error) {
	id, err := router.PathID(domain.PrefixCampaign, in.ID)
	if err != nil {
		return nil, err
	}
	all, err := s.campaigns.CampaignProgress(ctx, p, id)
	if err != nil {
		return nil, err
	}
	out := CampaignProgress{CampaignID: id, Marks: make([]ProgressSample, 0, len(all))}
	for _, m := range all {
		outcomes := make(map[string]int, len(m.Outcomes))
		for o, n := range m.Outcomes {
			outcomes[string(o)] = n
		}
		out.Marks = append(out.Marks, ProgressSample{At: m.At, Percent: m.Percent, Total: m.Total, Attempted: m.Attempted, Attempts: m.Attempts, Finished: m.Finished, Outcomes: outcomes})
	}
	return router.Respond(out, nil)
}

func (s *campaignHandlers) createCampaign(ctx context.Context, p domain.Principal, in *struct{ Body NewCampaign }) (*router.Response[*CampaignCreated], error) {
	c, limits, err := newCampaign(ctx, s.Router, p, &in.Body)
	if err != nil {
		return nil, err
	}
	if c.Schedule.Start != nil && c.Schedule.Start.After(limits.Now) && !in.Body.Draft {
		c.Status = domain.CampaignScheduled
	}
	created, err := s.campaigns.CreateCampaign(ctx, p, c, in.Body.WebhookSecret, inlineContacts(in.Body.Contacts))
	if err != nil {
		return nil, err
	}
	return campaignMade(ctx, created, nil)
}

func campaignMade(ctx context.Context, created campaignsservice.CreatedCampaign, err error) (*router.Response[*CampaignCreated], error) {
	if err != nil {
		return nil, err
	}
	router.SetResourceID(ctx, created.Campaign.ID)
	return router.Respond(&CampaignCreated{
		Campaign: *created.Campaign, UploadID: created.Upload.UploadID, ContactsSummary: created.Upload.Summary,
		ContactErrors: created.Upload.Errors, WebhookSecret: created.WebhookSecret,
	}, nil)
}

// newCampaign builds a draft campaign from a request body, applies the defaults and validates it. It also returns the
// limits of the workspace that the validation used.
func newCampaign(ctx context.Context, s router.Workspaces, p domain.Principal, n *NewCampaign) (*domain.Campaign, validation.Limits, error) {
	limits, err := router.ValidationLimits(ctx, s, p)
	if err != nil {
		return nil, limits, err
	}
	c := &domain.Campaign{Status: domain.CampaignDraft}
	n.copyTo(c)
	validation.CampaignDefaults(c, limits)
	problems := validation.Campaign(c, limits)
	if n := len(n.Contacts); n > validation.MaxInlineContacts {
		problems.Add("contacts", domain.CodeValidation, "has %d entries; at most %d are allowed here, upload more to /contacts", n, validation.MaxInlineContacts)
	}
	return c, limits, problems.Err()
}

// inlineContacts returns the contacts in a request body.
func inlineContacts(list []NewContact) iter.Seq2[domain.RawContact, error] {
	return func(yield func(domain.RawContact, error) bool) {
		for i, c := range list {
			r := domain.RawContact{Line: i + 1, Phone: c.Phone, Context: c.Context, Timezone: c.Timezone, Country: c.Country}
			if !yield(r, nil) {
				return
			}
		}
	}
}

// CheckRules returns the violations of rules that the JSON schema cannot express, such as limits of the workspace.
func (n *NewCampaign) CheckRules(ctx context.Context, s router.Workspaces, p domain.Principal) error {
	_, _, err := newCampaign(ctx, s, p, n)
	return err
}
