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

// Campaigns creates campaigns and drives them.
type Campaigns interface {
	// CreateCampaign keeps a campaign (Status draft or scheduled; everything
	// but Meta filled in) with its inline contacts, at most 10,000. Unknown
	// agent or pathway: 422 with param. Each distinct URL of Webhooks becomes
	// an endpoint of the campaign, whose deliveries the secret signs; "": one is
	// made.
	CreateCampaign(ctx context.Context, p domain.Principal, c *domain.Campaign, secret string, rows iter.Seq2[domain.RawContact, error]) (campaignsservice.CreatedCampaign, error)
	// UpdateCampaign answers the secret of endpoints that are new, "" without.
	UpdateCampaign(ctx context.Context, p domain.Principal, id string, change func(*domain.Campaign) error) (c *domain.Campaign, secret string, err error)
	// DeleteCampaign: invalid_state unless it is a draft, or over with no call
	// going on.
	DeleteCampaign(ctx context.Context, p domain.Principal, id string) error
	// CopyCampaign makes a draft of another campaign, with its contacts in one of
	// the states. change makes it fit.
	CopyCampaign(ctx context.Context, p domain.Principal, id string, states []string, change func(*domain.Campaign) error) (campaignsservice.CreatedCampaign, error)
	Campaign(ctx context.Context, p domain.Principal, id string) (*domain.Campaign, error)
	ListCampaigns(ctx context.Context, p domain.Principal, q campaignsservice.Query) (record.Page[*domain.Campaign], error)
	// These four return the status object, also where the campaign is in the target
	// state already. Other errors: invalid_state with current_status, allowed_from.
	StartCampaign(ctx context.Context, p domain.Principal, id string) (domain.CampaignStatusObject, error)
	PauseCampaign(ctx context.Context, p domain.Principal, id string) (domain.CampaignStatusObject, error)
	ResumeCampaign(ctx context.Context, p domain.Principal, id string) (domain.CampaignStatusObject, error)
	CancelCampaign(ctx context.Context, p domain.Principal, id string, hangupActive bool) (domain.CampaignStatusObject, error)
	// CampaignStatus returns the status object of a campaign.
	CampaignStatus(ctx context.Context, p domain.Principal, id string) (*domain.CampaignStatusObject, error)
	// CampaignProgress answers how far a campaign was when, oldest first, 101
	// marks at most.
	CampaignProgress(ctx context.Context, p domain.Principal, id string) ([]domain.ProgressMark, error)
}

// campaignHandlers serves the operations of campaigns.
type campaignHandlers struct {
	*router.Router

	campaigns Campaigns
	forecasts Forecasts
}

// NewContact is a contact as it is sent.
type NewContact struct {
	Phone    string         `json:"phone" maxLength:"64" doc:"E.164, or national in the campaign's default_country." example:"+12025550123"`
	Context  domain.Context `json:"context,omitempty" doc:"Variables of the pathway's text."`
	Timezone string         `json:"timezone,omitempty" doc:"Overrides the zone of the number."`
	Country  string         `json:"country,omitempty" maxLength:"2"`
}

// NewSchedule is a schedule as it is sent.
type NewSchedule struct {
	Start         *time.Time `json:"start,omitempty" doc:"Ahead: the campaign begins scheduled. Left out or past: it stays a draft until it is started."`
	End           *time.Time `json:"end,omitempty"`
	Timezone      string     `json:"timezone,omitempty" default:"UTC"`
	Days          []string   `json:"days,omitempty" enum:"monday,tuesday,wednesday,thursday,friday,saturday,sunday" doc:"All unless said." nullable:"false"`
	ExcludedDates []string   `json:"excluded_dates,omitempty" doc:"YYYY-MM-DD" nullable:"false"`
}

// NewPacing is a pacing as it is sent.
type NewPacing struct {
	CallsPerMinute *int   `json:"calls_per_minute,omitempty" doc:"The plan's ceiling unless said."`
	MaxConcurrent  *int   `json:"max_concurrent,omitempty" doc:"The plan's ceiling unless said."`
	Mode           string `json:"mode,omitempty" enum:"fixed,adaptive" default:"fixed" doc:"fixed keeps the pace. adaptive goes slower, never faster, while many calls are hung up at once, fail or are answered more seldom than before, or while the agent answers late."`
}

// NewRetry is a retry as it is sent.
type NewRetry struct {
	Enabled       bool     `json:"enabled,omitempty"`
	MaxAttempts   *int     `json:"max_attempts,omitempty" doc:"Counts the first."`
	IntervalHours *float64 `json:"interval_hours,omitempty"`
	RetryOn       []string `json:"retry_on,omitempty" enum:"no_answer,busy,voicemail,failed,rejected,interrupted" nullable:"false"`
}

// NewOptOut is the handling of opt-outs as it is sent.
type NewOptOut struct {
	Keywords []string `json:"keywords,omitempty" nullable:"false"`
	Action   string   `json:"action,omitempty"`
}

// NewCompliance are the rules of a campaign as they are sent.
type NewCompliance struct {
	DNCScrub     *bool           `json:"dnc_scrub,omitempty" doc:"true unless said."`
	DNCListID    *string         `json:"dnc_list_id,omitempty" doc:"Scrubbed against beside the default list. Empty: against that alone."`
	CallingHours *calls.NewHours `json:"calling_hours,omitempty" doc:"08:00 to 21:00 local unless said."`
	OptOut       *NewOptOut      `json:"opt_out_handling,omitempty"`
}

// NewCallerID is a caller id as it is sent.
type NewCallerID struct {
	Number string `json:"number,omitempty" doc:"A number of the workspace, or one in caller_ids of a trunk. Without it, each call shows a number of the trunk that carries it."`
	Name   string `json:"name,omitempty"`
}

// NewTestMode is the clock of a test campaign in the body of a request.
type NewTestMode struct {
	TimeFactor int `json:"time_factor" minimum:"1" maximum:"1440" doc:"How much faster the campaign's clock goes: schedule, calling hours, pace and retries. Calls take their time."`
}

// NewCampaign is a campaign as it is sent.
type NewCampaign struct {
	Name           string            `json:"name" example:"Reminders in March"`
	AgentID        string            `json:"agent_id,omitempty" doc:"agent_id or pathway_id is required."`
	PathwayID      string            `json:"pathway_id,omitempty"`
	Contacts       []NewContact      `json:"contacts,omitempty" nullable:"false" update:"-" doc:"At most 10,000; upload more to /contacts."`
	Schedule       *NewSchedule      `json:"schedule,omitempty" doc:"When it may ring. end can be changed while it runs."`
	Pacing         *NewPacing        `json:"pacing,omitempty" doc:"Can be changed while it runs."`
	Retry          *NewRetry         `json:"retry,omitempty" doc:"Can be changed while it runs: for what ends from then on."`
	CallerID       *NewCallerID      `json:"caller_id,omitempty"`
	Webhooks       map[string]string `json:"webhooks,omitempty" doc:"Campaign event name → https URL."`
	Compliance     *NewCompliance    `json:"compliance,omitempty" doc:"Can be changed while it runs."`
	WebhookSecret  string            `json:"webhook_secret,omitempty" minLength:"8" maxLength:"256" update:"-" doc:"Signs the campaign's webhooks; made here unless said."`
	DefaultCountry string            `json:"default_country,omitempty" doc:"For numbers without +."`
	AutoComplete   *bool             `json:"auto_complete,omitempty" doc:"false: stays open when all contacts are done."`
	FollowLatest   bool              `json:"follow_latest,omitempty" doc:"Calls speak the version of the agent, and the pathway, that is newest when they begin; otherwise those that the campaign began with."`
	Draft          bool              `json:"draft,omitempty" update:"-" doc:"true: stays a draft even with a start ahead."`
	Test           *NewTestMode      `json:"test,omitempty" doc:"With test keys only."`
	Metadata       map[string]string `json:"metadata,omitempty"`
}

// copyTo copies the settings to a campaign, without defaults.
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

// numberOrDefault is a number that was sent, or 0 for the default. A 0 that was sent is
// no number of anything here: it becomes -1, which no rule takes.
func numberOrDefault(n *int) int {
	switch {
	case n == nil:
		return 0
	case *n == 0:
		return -1
	}
	return *n
}

// CampaignMade is the answer to a new campaign.
type CampaignMade struct {
	domain.Campaign
	UploadID        string                 `json:"upload_id,omitempty"`
	ContactsSummary domain.ContactsSummary `json:"contacts_summary"`
	ContactErrors   []domain.ContactError  `json:"contact_errors"`
	WebhookSecret   string                 `json:"webhook_secret,omitempty" doc:"Signs the campaign's webhooks; shown this once."`
}

// CancelRequest is the body of a cancel.
type CancelRequest struct {
	HangupActive bool `json:"hangup_active,omitempty" doc:"true: live calls end at once."`
}

// registerCampaigns registers the operations of campaigns.
func registerCampaigns(r *router.Router, campaigns Campaigns, forecasts Forecasts) {
	s := &campaignHandlers{Router: r, campaigns: campaigns, forecasts: forecasts}
	const tag, path = "Campaigns", "/v1/campaigns"
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: path, ID: "createCampaign", Tag: tag, Status: http.StatusCreated, Summary: "Create a campaign",
		Description: "Creating a campaign never rings a phone: it stays a draft until it is started, or scheduled where its start lies ahead.",
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
		{"pause", "pauseCampaign", "Place no more calls for now", Campaigns.PauseCampaign},
		{"resume", "resumeCampaign", "Go on after a pause", Campaigns.ResumeCampaign},
	} {
		op := router.Operation{Method: http.MethodPost, Path: path + "/{id}/" + v.word, ID: v.id, Tag: tag, Summary: v.summary}
		router.Add(s.Router, op, router.HandleByID(domain.PrefixCampaign, s.campaigns, v.do, router.Identity))
	}
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path + "/{id}/status", ID: "getCampaignStatus", Tag: tag, Summary: "Progress, outcomes, and why nothing rings"},
		router.HandleByID(domain.PrefixCampaign, s.campaigns, Campaigns.CampaignStatus, router.Identity))
	router.Add(s.Router, router.Operation{
		Method: http.MethodGet, Path: path + "/{id}/progress", ID: "getCampaignProgress", Tag: tag, Summary: "See how far a campaign was when",
		Description: "Oldest first. A mark is made at each five per cent, at most each minute between them, and at the end; of those at the same per cent the last one is kept, so that there are 101 at most.",
	}, s.campaignProgress)
	router.Add(s.Router, router.Operation{Method: http.MethodPost, Path: path + "/{id}/cancel", ID: "cancelCampaign", Tag: tag, Summary: "End a campaign for good"},
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

// CampaignProgress is how far a campaign was when.
type CampaignProgress struct {
	CampaignID string         `json:"campaign_id"`
	Marks      []ProgressMark `json:"marks"`
}

// ProgressMark is how far a campaign was at a time.
type ProgressMark struct {
	At        time.Time      `json:"at" doc:"When it was so."`
	Percent   int            `json:"percent" doc:"Contacts to which nothing more happens, of all."`
	Total     int            `json:"total" doc:"Contacts, by then."`
	Attempted int            `json:"attempted" doc:"Contacts with at least one attempt."`
	Attempts  int            `json:"attempts" doc:"Calls, all contacts together."`
	Finished  int            `json:"finished" doc:"Contacts to which nothing more happens, those that were skipped among them."`
	Outcomes  map[string]int `json:"outcomes" doc:"Contacts that are finished, by how."`
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
	out := CampaignProgress{CampaignID: id, Marks: make([]ProgressMark, 0, len(all))}
	for _, m := range all {
		outcomes := make(map[string]int, len(m.Outcomes))
		for o, n := range m.Outcomes {
			outcomes[string(o)] = n
		}
		out.Marks = append(out.Marks, ProgressMark{At: m.At, Percent: m.Percent, Total: m.Total, Attempted: m.Attempted, Attempts: m.Attempts, Finished: m.Finished, Outcomes: outcomes})
	}
	return router.Respond(out, nil)
}

func (s *campaignHandlers) createCampaign(ctx context.Context, p domain.Principal, in *struct{ Body NewCampaign }) (*router.Response[*CampaignMade], error) {
	c, limits, err := newCampaign(ctx, s.Router, p, &in.Body)
	if err != nil {
		return nil, err
	}
	if c.Schedule.Start != nil && c.Schedule.Start.After(limits.Now) && !in.Body.Draft {
		c.Status = domain.CampaignScheduled
	}
	made, err := s.campaigns.CreateCampaign(ctx, p, c, in.Body.WebhookSecret, inlineContacts(in.Body.Contacts))
	if err != nil {
		return nil, err
	}
	return campaignMade(ctx, made, nil)
}

func campaignMade(ctx context.Context, made campaignsservice.CreatedCampaign, err error) (*router.Response[*CampaignMade], error) {
	if err != nil {
		return nil, err
	}
	router.SetResourceID(ctx, made.Campaign.ID)
	return router.Respond(&CampaignMade{
		Campaign: *made.Campaign, UploadID: made.Upload.UploadID, ContactsSummary: made.Upload.Summary,
		ContactErrors: made.Upload.Errors, WebhookSecret: made.WebhookSecret,
	}, nil)
}

// newCampaign returns the campaign of a request with its defaults, and the limits that it
// was validated against.
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
		problems.Add("contacts", domain.CodeValidation, "has %d entries; %d at most, upload more to /contacts", n, validation.MaxInlineContacts)
	}
	return c, limits, problems.Err()
}

// inlineContacts returns the contacts in the body of a request.
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

// CheckRules checks what the schema cannot express.
func (n *NewCampaign) CheckRules(ctx context.Context, s router.Workspaces, p domain.Principal) error {
	_, _, err := newCampaign(ctx, s, p, n)
	return err
}
