package campaigns

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/validation"
	"github.com/callboard/callboard/httpapi/router"
)

// CampaignChanged is the response to a change of a campaign.
type CampaignChanged struct {
	domain.Campaign
	WebhookSecret string `json:"webhook_secret,omitempty" doc:"Secret that signs deliveries to the new URLs. Only in this response."`
}

// DuplicateRequest is the request body of the operation that copies a campaign and its contacts into a new draft.
type DuplicateRequest struct {
	Name     string `json:"name,omitempty" doc:"Default: the name of the original campaign."`
	Contacts *bool  `json:"contacts,omitempty" doc:"false: copy no contacts. Default: true."`
}

// RedialRequest is the request body of the operation that creates a draft from the contacts with some outcomes.
type RedialRequest struct {
	Outcomes []string `json:"outcomes" minItems:"1" maxItems:"20" nullable:"false" doc:"Outcomes of the contacts to call again." enum:"completed,confirmed,declined,voicemail,no_answer,busy,failed,skipped,expired,cancelled"`
	Name     string   `json:"name,omitempty" doc:"Default: the name of the original campaign."`
}

func (s *campaignHandlers) registerChanges(tag, path string) {
	router.Add(s.Router, router.Operation{
		Method: http.MethodPatch, Path: path + "/{id}", ID: "updateCampaign", Tag: tag, Summary: "Change a campaign", Errors: []int{http.StatusConflict},
		Description: "All fields of a draft can change. In a scheduled, running or paused campaign only pacing, schedule.end, retry, compliance and metadata can change; other fields are 409 invalid_state.",
	}, func(ctx context.Context, p domain.Principal, in *struct {
		router.IDParam
		Body router.Patch[NewCampaign]
	},
	) (*router.Response[*CampaignChanged], error) {
		id, err := router.PathID(domain.PrefixCampaign, in.ID)
		if err != nil {
			return nil, err
		}
		limits, err := router.ValidationLimits(ctx, s.Router, p)
		if err != nil {
			return nil, err
		}
		c, secret, err := s.campaigns.UpdateCampaign(ctx, p, id, changeCampaign(s.Registry, &in.Body, limits))
		if err != nil {
			return nil, err
		}
		return router.Respond(&CampaignChanged{Campaign: *c, WebhookSecret: secret}, nil)
	})
	router.Add(s.Router, router.Operation{
		Method: http.MethodDelete, Path: path + "/{id}", ID: "deleteCampaign", Tag: tag, Summary: "Delete a campaign with everything that belongs to it",
		Errors: []int{http.StatusConflict},
		Description: "Deletes a draft, or an ended campaign without live calls, with its contacts, results, calls, transcripts, recordings and endpoints. Billed attempts remain " +
			"in the ledger, which contains no number.",
	}, router.HandleDeleteByID(domain.PrefixCampaign, "campaign", s.campaigns, Campaigns.DeleteCampaign))
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: path + "/{id}/duplicate", ID: "duplicateCampaign", Tag: tag, Status: http.StatusCreated, Summary: "Copy a campaign to a draft",
		Description: "Copies the settings and contacts without results. A start or an end in the past is not copied.",
	}, func(ctx context.Context, p domain.Principal, in *struct {
		router.IDParam
		Body *DuplicateRequest
	},
	) (*router.Response[*CampaignCreated], error) {
		states := contactStates()
		name := ""
		if in.Body != nil {
			if name = in.Body.Name; in.Body.Contacts != nil && !*in.Body.Contacts {
				states = nil
			}
		}
		return s.copyCampaign(ctx, p, in.ID, name, states, func(*domain.Campaign) error { return nil })
	})
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: path + "/{id}/redial", ID: "redialCampaign", Tag: tag, Status: http.StatusCreated,
		Summary: "Create a draft with the unreached contacts of a campaign", Errors: []int{http.StatusConflict},
		Description: "Copies the campaign with the contacts that currently have one of the outcomes. Do-not-call lists and calling hours are checked again before each call.",
	}, func(ctx context.Context, p domain.Principal, in *struct {
		router.IDParam
		Body RedialRequest
	},
	) (*router.Response[*CampaignCreated], error) {
		return s.copyCampaign(ctx, p, in.ID, in.Body.Name, in.Body.Outcomes, nil)
	})
}

// contactStates returns the names of all states that a contact can have.
func contactStates() []string {
	var out []string
	for c := domain.ContactPending; c <= domain.ContactCancelled; c++ {
		out = append(out, c.String())
	}
	return out
}

// copyCampaign creates a draft from a campaign and its contacts in the given states. check returns an error if the
// campaign must not be copied. With a nil check, the campaign must have started.
func (s *campaignHandlers) copyCampaign(
	ctx context.Context, p domain.Principal, id, name string, states []string, check func(*domain.Campaign) error,
) (*router.Response[*CampaignCreated], error) {
	id, err := router.PathID(domain.PrefixCampaign, id)
	if err != nil {
		return nil, err
	}
	limits, err := router.ValidationLimits(ctx, s.Router, p)
	if err != nil {
		return nil, err
	}
	if check == nil {
		from, errRead := s.campaigns.Campaign(ctx, p, id)
		if errRead != nil {
			return nil, errRead
		}
		if from.StartedAt == nil {
			return nil, domain.Errorf(domain.CodeInvalidState, "The campaign has not placed any call yet.").With("current_status", from.Status)
		}
	}
	created, err := s.campaigns.CopyCampaign(ctx, p, id, states, func(c *domain.Campaign) error {
		if name != "" {
			c.Name = name
		}
		if t := c.Schedule.Start; t != nil && !t.After(limits.Now) {
			c.Schedule.Start = nil
		}
		if t := c.Schedule.End; t != nil && !t.After(limits.Now) {
			c.Schedule.End = nil
		}
		return validation.Campaign(c, limits).Err()
	})
	return campaignMade(ctx, created, err)
}

// changedFields returns the members of a campaign that a patch contains. It lists the members of schedule
// separately, because some of them can change while the campaign runs.
func changedFields(patch *router.Patch[NewCampaign]) []string {
	var out []string
	for name, v := range patch.Members {
		schedule, parts := v.(map[string]any)
		if name != "schedule" || !parts {
			out = append(out, name)
			continue
		}
		for part := range schedule {
			out = append(out, name+"."+part)
		}
	}
	slices.Sort(out)
	return out
}

// changeCampaign returns a function that applies a patch to a campaign if the campaign's status allows the change.
// The function validates the patched members only, because other stored settings may have become invalid.
func changeCampaign(registry *router.Registry, patch *router.Patch[NewCampaign], h validation.Limits) func(*domain.Campaign) error {
	fields := changedFields(patch)
	merged := router.PatchFunc(registry, patch, func(n *NewCampaign, c *domain.Campaign) error {
		n.copyTo(c)
		validation.CampaignDefaults(c, h)
		var problems domain.Problems
		for _, d := range validation.Campaign(c, h) {
			if slices.ContainsFunc(fields, func(f string) bool {
				return d.Param == f || strings.HasPrefix(d.Param, f+".") || strings.HasPrefix(d.Param, f+"[") || f == "pathway_id" && d.Param == "agent_id"
			}) {
				problems = append(problems, d)
			}
		}
		return problems.Err()
	})
	return func(c *domain.Campaign) error {
		if err := checkChange(c, fields); err != nil {
			return err
		}
		return merged(c)
	}
}

// checkChange returns invalid_state if the campaign's status does not allow changes of the given fields.
func checkChange(c *domain.Campaign, fields []string) error {
	if c.Status.Final() {
		return domain.Errorf(domain.CodeInvalidState, "A %s campaign cannot be changed.", c.Status).With("current_status", c.Status)
	}
	if c.Status == domain.CampaignDraft {
		return nil
	}
	for _, f := range fields {
		if !slices.Contains([]string{"pacing", "schedule.end", "retry", "compliance", "metadata"}, f) {
			e := domain.Errorf(domain.CodeInvalidState, "In a %s campaign only pacing, schedule.end, retry, compliance and metadata can change.", c.Status).
				With("current_status", c.Status).With("allowed_from", []domain.CampaignStatus{domain.CampaignDraft})
			e.Param = f
			return e
		}
	}
	return nil
}

// PruneStored removes stored values that a merge patch must not keep. These are the values of a disabled retry, and the
// default time zone of calling hours in the test environment. The patched members then get the defaults of a new campaign.
func (*NewCampaign) PruneStored(current any, stored, patch map[string]any) {
	retry, _ := stored["retry"].(map[string]any)
	if on, _ := retry["enabled"].(bool); !on {
		off := map[string]any{"max_attempts": json.Number("1"), "interval_hours": json.Number("0"), "retry_on": []any{}}
		for name, v := range off {
			if reflect.DeepEqual(retry[name], v) {
				delete(retry, name)
			}
		}
	}
	c, _ := current.(*domain.Campaign)
	if c == nil || c.Environment != domain.Test || c.Compliance.CallingHours != validation.TestHours() {
		return
	}
	change, _ := patch["compliance"].(map[string]any)
	if hours, isObject := change["calling_hours"].(map[string]any); isObject && len(hours) > 0 {
		compliance, _ := stored["compliance"].(map[string]any)
		stored["compliance"] = router.MergePatch(compliance, map[string]any{"calling_hours": map[string]any{"timezone": nil}})
	}
}
