package httpapi

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/rules"
)

// ScheduleChange is what can be changed of a schedule.
type ScheduleChange struct {
	Start         *string  `json:"start,omitempty" doc:"RFC 3339; empty: none."`
	End           *string  `json:"end,omitempty" doc:"RFC 3339; empty: none. Also while it runs."`
	Timezone      *string  `json:"timezone,omitempty"`
	Days          []string `json:"days,omitempty" nullable:"false"`
	ExcludedDates []string `json:"excluded_dates,omitempty" nullable:"false"`
}

// RetryChange is what can be changed of a retry.
type RetryChange struct {
	Enabled       *bool    `json:"enabled,omitempty"`
	MaxAttempts   *int     `json:"max_attempts,omitempty" doc:"Counts the first."`
	IntervalHours *float64 `json:"interval_hours,omitempty"`
	RetryOn       []string `json:"retry_on,omitempty" nullable:"false"`
}

// PacingChange is what can be changed of a pacing.
type PacingChange struct {
	CallsPerMinute *int    `json:"calls_per_minute,omitempty"`
	MaxConcurrent  *int    `json:"max_concurrent,omitempty"`
	Mode           *string `json:"mode,omitempty"`
}

// CampaignChange is what can be changed of a campaign: everything of a draft;
// pacing, schedule.end, retry and compliance of one that is not over.
type CampaignChange struct {
	Name           *string           `json:"name,omitempty"`
	AgentID        *string           `json:"agent_id,omitempty"`
	PathwayID      *string           `json:"pathway_id,omitempty"`
	Schedule       *ScheduleChange   `json:"schedule,omitempty"`
	Pacing         *PacingChange     `json:"pacing,omitempty" doc:"Also while it runs."`
	Retry          *RetryChange      `json:"retry,omitempty" doc:"Also while it runs: for what ends from now on."`
	CallerID       *NewCallerID      `json:"caller_id,omitempty"`
	Webhooks       map[string]string `json:"webhooks,omitempty" doc:"The whole map."`
	Compliance     *NewCompliance    `json:"compliance,omitempty" doc:"Also while it runs."`
	DefaultCountry *string           `json:"default_country,omitempty"`
	AutoComplete   *bool             `json:"auto_complete,omitempty"`
	FollowLatest   *bool             `json:"follow_latest,omitempty"`
	Test           *NewTest          `json:"test,omitempty"`
	Metadata       map[string]string `json:"metadata,omitempty"`
}

// CampaignChanged is the answer to a change.
type CampaignChanged struct {
	domain.Campaign
	WebhookSecret string `json:"webhook_secret,omitempty" doc:"Signs what goes to the new URLs; shown this once."`
}

// DuplicateRequest is the body of a duplicate.
type DuplicateRequest struct {
	Name     string `json:"name,omitempty" doc:"The same unless said."`
	Contacts *bool  `json:"contacts,omitempty" doc:"false: without them."`
}

// RedialRequest is the body of a redial.
type RedialRequest struct {
	Outcomes []string `json:"outcomes" minItems:"1" maxItems:"20" nullable:"false" doc:"Whom to ring again." enum:"completed,confirmed,declined,voicemail,no_answer,busy,failed,skipped,expired,cancelled"`
	Name     string   `json:"name,omitempty" doc:"The same unless said."`
}

func (s *Server) amendRoutes(tag, path string) {
	add(s, operation{
		method: http.MethodPatch, path: path + "/{id}", id: "updateCampaign", tag: tag, summary: "Change a campaign", errors: []int{http.StatusConflict},
		about: "Everything of a draft. Of one that is scheduled, running or paused pacing, schedule.end, retry and compliance; other fields are 409 invalid_state.",
	}, func(ctx context.Context, p domain.Principal, in *struct {
		One
		Body CampaignChange
	},
	) (*answer[*CampaignChanged], error) {
		id, err := named(domain.PrefixCampaign, in.ID)
		if err != nil {
			return nil, err
		}
		house, err := s.house(ctx, p)
		if err != nil {
			return nil, err
		}
		c, secret, err := s.ports.Campaigns.UpdateCampaign(ctx, p, id, func(c *domain.Campaign) error { return in.Body.apply(c, house) })
		if err != nil {
			return nil, err
		}
		return ok(&CampaignChanged{Campaign: *c, WebhookSecret: secret}, nil)
	})
	add(s, operation{
		method: http.MethodDelete, path: path + "/{id}", id: "deleteCampaign", tag: tag, summary: "Delete a campaign with everything that belongs to it",
		errors: []int{http.StatusConflict},
		about: "A draft, or one that is over and has no call going on. Contacts, results, calls, transcripts, recordings and endpoints go; what was billed stays " +
			"in the ledger, which holds no number.",
	}, func(ctx context.Context, p domain.Principal, in *One) (*answer[Deleted], error) {
		id, err := named(domain.PrefixCampaign, in.ID)
		if err != nil {
			return nil, err
		}
		return deleted(id, "campaign", s.ports.Campaigns.DeleteCampaign(ctx, p, id))
	})
	add(s, operation{
		method: http.MethodPost, path: path + "/{id}/duplicate", id: "duplicateCampaign", tag: tag, status: http.StatusCreated, summary: "Make a draft of a campaign",
		about: "The same settings and contacts, and nothing of what happened. A start or an end that has passed is left out.",
	}, func(ctx context.Context, p domain.Principal, in *struct {
		One
		Body *DuplicateRequest
	},
	) (*answer[*CampaignMade], error) {
		states := contactWords()
		name := ""
		if in.Body != nil {
			if name = in.Body.Name; in.Body.Contacts != nil && !*in.Body.Contacts {
				states = nil
			}
		}
		return s.copyCampaign(ctx, p, in.ID, name, states, func(*domain.Campaign) error { return nil })
	})
	add(s, operation{
		method: http.MethodPost, path: path + "/{id}/redial", id: "redialCampaign", tag: tag, status: http.StatusCreated,
		summary: "Make a draft of those whom a campaign has not reached", errors: []int{http.StatusConflict},
		about: "A duplicate with the contacts that have one of the outcomes now. Do-not-call lists and calling hours are asked again before each of them is rung.",
	}, func(ctx context.Context, p domain.Principal, in *struct {
		One
		Body RedialRequest
	},
	) (*answer[*CampaignMade], error) {
		return s.copyCampaign(ctx, p, in.ID, in.Body.Name, in.Body.Outcomes, nil)
	})
}

// contactWords are the states that a contact may be in.
func contactWords() []string {
	var out []string
	for c := domain.ContactPending; c <= domain.ContactCancelled; c++ {
		out = append(out, c.String())
	}
	return out
}

// copyCampaign makes a draft of a campaign; may says whether it can be copied
// in its state, nil: only once it has begun.
func (s *Server) copyCampaign(
	ctx context.Context, p domain.Principal, id, name string, states []string, may func(*domain.Campaign) error,
) (*answer[*CampaignMade], error) {
	id, err := named(domain.PrefixCampaign, id)
	if err != nil {
		return nil, err
	}
	house, err := s.house(ctx, p)
	if err != nil {
		return nil, err
	}
	if may == nil {
		from, errRead := s.ports.Campaigns.Campaign(ctx, p, id)
		if errRead != nil {
			return nil, errRead
		}
		if from.StartedAt == nil {
			return nil, domain.Errorf(domain.CodeInvalidState, "The campaign has rung nobody yet.").With("current_status", from.Status)
		}
	}
	made, err := s.ports.Campaigns.CopyCampaign(ctx, p, id, states, func(c *domain.Campaign) error {
		if name != "" {
			c.Name = name
		}
		if t := c.Schedule.Start; t != nil && !t.After(house.Now) {
			c.Schedule.Start = nil
		}
		if t := c.Schedule.End; t != nil && !t.After(house.Now) {
			c.Schedule.End = nil
		}
		return rules.Campaign(c, house).Err()
	})
	return campaignMade(ctx, made, err)
}

// fields are the names that were sent, by which problems are told.
func (n *CampaignChange) fields() []string {
	var out []string
	for _, f := range []struct {
		name string
		sent bool
	}{
		{"name", n.Name != nil},
		{"agent_id", n.AgentID != nil},
		{"pathway_id", n.PathwayID != nil},
		{"pacing", n.Pacing != nil},
		{"retry", n.Retry != nil},
		{"caller_id", n.CallerID != nil},
		{"webhooks", n.Webhooks != nil},
		{"compliance", n.Compliance != nil},
		{"default_country", n.DefaultCountry != nil},
		{"auto_complete", n.AutoComplete != nil},
		{"follow_latest", n.FollowLatest != nil},
		{"test", n.Test != nil},
		{"metadata", n.Metadata != nil},
	} {
		if f.sent {
			out = append(out, f.name)
		}
	}
	if x := n.Schedule; x != nil {
		for name, sent := range map[string]bool{"start": x.Start != nil, "end": x.End != nil, "timezone": x.Timezone != nil, "days": x.Days != nil, "excluded_dates": x.ExcludedDates != nil} {
			if sent {
				out = append(out, "schedule."+name)
			}
		}
	}
	slices.Sort(out)
	return out
}

// apply changes a campaign as far as its state allows. Only what was sent is
// checked: the rest may have become wrong since, and is not to blame here.
func (n *CampaignChange) apply(c *domain.Campaign, h rules.House) error {
	fields := n.fields()
	if c.Status.Final() {
		return domain.Errorf(domain.CodeInvalidState, "A campaign that is %s cannot be changed.", c.Status).With("current_status", c.Status)
	}
	if c.Status != domain.CampaignDraft {
		for _, f := range fields {
			if !slices.Contains([]string{"pacing", "schedule.end", "retry", "compliance"}, f) {
				e := domain.Errorf(domain.CodeInvalidState, "Of a campaign that is %s only pacing, schedule.end, retry and compliance can be changed.", c.Status).
					With("current_status", c.Status).With("allowed_from", []domain.CampaignStatus{domain.CampaignDraft})
				e.Param = f
				return e
			}
		}
	}
	var problems domain.Problems
	n.fill(c, &problems)
	rules.CampaignDefaults(c, h)
	for _, d := range rules.Campaign(c, h) {
		if slices.ContainsFunc(fields, func(f string) bool {
			return d.Param == f || strings.HasPrefix(d.Param, f+".") || strings.HasPrefix(d.Param, f+"[") || f == "pathway_id" && d.Param == "agent_id"
		}) {
			problems = append(problems, d)
		}
	}
	return problems.Err()
}

func (n *CampaignChange) fill(c *domain.Campaign, problems *domain.Problems) {
	set(&c.Name, n.Name)
	set(&c.AgentID, n.AgentID)
	set(&c.PathwayID, n.PathwayID)
	set(&c.DefaultCountry, n.DefaultCountry)
	set(&c.AutoComplete, n.AutoComplete)
	set(&c.FollowLatest, n.FollowLatest)
	if n.Metadata != nil {
		c.Metadata = n.Metadata
	}
	if n.Webhooks != nil {
		c.Webhooks = n.Webhooks
	}
	if n.Test != nil {
		c.Test = &domain.TestMode{TimeFactor: n.Test.TimeFactor}
	}
	if id := n.CallerID; id != nil {
		c.CallerID = domain.CallerID{Number: id.Number, Name: id.Name}
	}
	n.Schedule.fill(&c.Schedule, problems)
	if p := n.Pacing; p != nil {
		if p.CallsPerMinute != nil {
			c.Pacing.CallsPerMinute = given(p.CallsPerMinute)
		}
		if p.MaxConcurrent != nil {
			c.Pacing.MaxConcurrent = given(p.MaxConcurrent)
		}
		if p.Mode != nil {
			c.Pacing.Mode = domain.PacingMode(*p.Mode)
		}
	}
	if r := n.Retry; r != nil {
		set(&c.Retry.Enabled, r.Enabled)
		set(&c.Retry.IntervalHours, r.IntervalHours)
		if r.MaxAttempts != nil {
			c.Retry.MaxAttempts = given(r.MaxAttempts)
		}
		if r.RetryOn != nil {
			c.Retry.RetryOn = r.RetryOn
		}
	}
	n.Compliance.change(&c.Compliance)
}

func (n *ScheduleChange) fill(s *domain.Schedule, problems *domain.Problems) {
	if n == nil {
		return
	}
	for _, f := range []struct {
		param string
		text  *string
		into  **time.Time
	}{{"schedule.start", n.Start, &s.Start}, {"schedule.end", n.End, &s.End}} {
		if f.text == nil {
			continue
		}
		if *f.text == "" {
			*f.into = nil
			continue
		}
		t, err := time.Parse(time.RFC3339, *f.text)
		if err != nil {
			problems.Add(f.param, domain.CodeValidation, "is no time (RFC 3339)")
			continue
		}
		*f.into = utc(&t)
	}
	set(&s.Timezone, n.Timezone)
	if n.Days != nil {
		s.Days = n.Days
	}
	if n.ExcludedDates != nil {
		s.ExcludedDates = n.ExcludedDates
	}
}

// change is fill, but what was left out stays as it is.
func (n *NewCompliance) change(c *domain.Compliance) {
	if n == nil {
		return
	}
	set(&c.DNCScrub, n.DNCScrub)
	set(&c.DNCListID, n.DNCListID)
	if h := n.CallingHours; h != nil {
		c.CallingHours = domain.CallingHours{Start: h.Start, End: h.End, Timezone: h.Timezone}
	}
	if o := n.OptOut; o != nil {
		c.OptOut = &domain.OptOut{Keywords: o.Keywords, Action: o.Action}
	}
}
