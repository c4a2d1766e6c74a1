package campaigns

import (
	"context"
	"iter"
	"net/http"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/service/forecast"
)

// NewAssumptions holds the client's assumptions about call results for a forecast. Missing assumptions are computed
// from the workspace's latest campaign calls.
type NewAssumptions struct {
	AnswerRate       *float64 `json:"answer_rate,omitempty" minimum:"0" maximum:"1" doc:"Share of attempts that a person answers."`
	VoicemailRate    *float64 `json:"voicemail_rate,omitempty" minimum:"0" maximum:"1" doc:"Share of attempts that a machine answers."`
	BusyRate         *float64 `json:"busy_rate,omitempty" minimum:"0" maximum:"1" doc:"Share of attempts to a busy number."`
	FailedRate       *float64 `json:"failed_rate,omitempty" minimum:"0" maximum:"1" doc:"Share of attempts that fail in the trunk."`
	NoAnswerRate     *float64 `json:"no_answer_rate,omitempty" minimum:"0" maximum:"1" doc:"Share of attempts without an answer. Default: 1 minus the other four rates."`
	RingSeconds      *float64 `json:"ring_seconds,omitempty" minimum:"0" maximum:"120" doc:"Mean ringing time of answered attempts."`
	NoAnswerSeconds  *float64 `json:"no_answer_seconds,omitempty" minimum:"1" maximum:"120" doc:"Ringing time of unanswered attempts."`
	TalkSeconds      *float64 `json:"talk_seconds,omitempty" minimum:"0" maximum:"7200" doc:"Mean duration of a call with a person."`
	VoicemailSeconds *float64 `json:"voicemail_seconds,omitempty" minimum:"0" maximum:"7200" doc:"Mean duration of a call with a machine."`
}

// Forecasts predicts the course of campaigns by simulation.
type Forecasts interface {
	// ForecastCampaign simulates the remaining calls of a campaign with a virtual clock until ctx ends. Errors:
	// unavailable while another forecast of the workspace runs, invalid_state for an ended campaign.
	ForecastCampaign(ctx context.Context, p domain.Principal, id string, o forecast.Request) (*forecast.Simulation, error)
	// ForecastDraft simulates a campaign that is not stored.
	ForecastDraft(ctx context.Context, p domain.Principal, c *domain.Campaign, rows iter.Seq2[domain.RawContact, error], o forecast.Request) (*forecast.Simulation, error)
}

// SimulateRequest is the request body of a forecast.
type SimulateRequest struct {
	StartAt     *time.Time      `json:"start_at,omitempty" doc:"Simulated start time. Default: now."`
	Seed        int             `json:"seed,omitempty" minimum:"0" doc:"Seed of the random results."`
	Assumptions *NewAssumptions `json:"assumptions,omitempty" doc:"Assumptions about the results of calls. Missing ones come from the workspace's latest campaign calls, or from defaults if there are fewer than 50 calls."`
}

// assumptions returns a with the values that the client sent in place of the computed ones.
func (n *NewAssumptions) assumptions(a forecast.Assumptions) forecast.Assumptions {
	if n == nil {
		return a
	}
	rates := n.AnswerRate != nil || n.VoicemailRate != nil || n.BusyRate != nil || n.FailedRate != nil || n.NoAnswerRate != nil
	for _, v := range []struct {
		sent *float64
		into *float64
	}{
		{n.AnswerRate, &a.AnswerRate},
		{n.VoicemailRate, &a.VoicemailRate},
		{n.BusyRate, &a.BusyRate},
		{n.FailedRate, &a.FailedRate},
		{n.NoAnswerRate, &a.NoAnswerRate},
		{n.RingSeconds, &a.RingSeconds},
		{n.NoAnswerSeconds, &a.NoAnswerSeconds},
		{n.TalkSeconds, &a.TalkSeconds},
		{n.VoicemailSeconds, &a.VoicemailSeconds},
	} {
		if v.sent != nil {
			*v.into = *v.sent
		}
	}
	if rates {
		n.normalizeRates(&a)
	}
	return a
}

// normalizeRates scales the rates that the client did not send, so that all rates add up to 1.
func (n *NewAssumptions) normalizeRates(a *forecast.Assumptions) {
	sentSum, defaultSum := 0.0, 0.0
	defaults := []*float64{}
	for _, v := range []struct {
		sent *float64
		rate *float64
	}{
		{n.AnswerRate, &a.AnswerRate},
		{n.VoicemailRate, &a.VoicemailRate},
		{n.BusyRate, &a.BusyRate},
		{n.FailedRate, &a.FailedRate},
	} {
		if v.sent != nil {
			sentSum += *v.sent
			continue
		}
		defaultSum += *v.rate
		defaults = append(defaults, v.rate)
	}
	if n.NoAnswerRate != nil {
		sentSum += *n.NoAnswerRate
	}
	if (defaultSum+sentSum > 1 || n.NoAnswerRate != nil) && defaultSum > 0 {
		for _, r := range defaults {
			*r *= max(0, 1-sentSum) / defaultSum
		}
		defaultSum = max(0, 1-sentSum)
	}
	if n.NoAnswerRate != nil {
		sentSum -= *n.NoAnswerRate
	}
	a.NoAnswerRate = max(0, 1-sentSum-defaultSum)
}

// roundingError is the tolerance in checkRates: decimal fractions that add up to 1 may exceed 1 in floating point.
const roundingError = 1e-6

// checkRates returns a validation error if the rates that the client sent add up to more than 1.
func (n *NewAssumptions) checkRates() error {
	if n == nil {
		return nil
	}
	total := 0.0
	for _, v := range []*float64{n.AnswerRate, n.VoicemailRate, n.BusyRate, n.FailedRate, n.NoAnswerRate} {
		if v != nil {
			total += *v
		}
	}
	if total <= 1+roundingError {
		return nil
	}
	var p domain.Problems
	p.Add("assumptions", domain.CodeValidation, "the rates add up to %.3g; as shares of all attempts they must add up to at most 1", total)
	return p.Err()
}

func (s *campaignHandlers) registerForecasts() {
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: "/v1/campaigns/{id}/simulate", ID: "simulateCampaign", Tag: "Campaigns",
		Summary: "Simulate a campaign",
		Description: "Runs the campaign with a virtual clock. No call is placed and nothing is stored. Schedule, calling hours, pacing and retries apply as in the real campaign; " +
			"the assumptions determine random results of calls. A workspace can run one simulation at a time, which ends with its request.",
	}, s.simulateCampaign)
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: "/v1/campaigns/simulate", ID: "simulateDraft", Tag: "Campaigns",
		Summary:     "Simulate a campaign without creating it",
		Description: "The body is a new campaign with inline contacts, plus start_at, seed and assumptions. Nothing is created.",
	}, s.simulateDraft)
}

// SimulateDraftRequest is the request body of a simulation of a campaign that is not stored.
type SimulateDraftRequest struct {
	NewCampaign
	SimulateRequest
}

func (s *campaignHandlers) simulateDraft(ctx context.Context, p domain.Principal, in *struct{ Body SimulateDraftRequest }) (*router.Response[*forecast.Simulation], error) {
	o, err := in.Body.simulationOrder()
	if err != nil {
		return nil, err
	}
	c, _, err := newCampaign(ctx, s.Router, p, &in.Body.NewCampaign)
	if err != nil {
		return nil, err
	}
	return router.Respond(s.forecasts.ForecastDraft(ctx, p, c, inlineContacts(in.Body.Contacts), o))
}

// simulationOrder converts the request body to a forecast.Request and validates the assumed rates.
func (r *SimulateRequest) simulationOrder() (forecast.Request, error) {
	o := forecast.Request{Seed: uint64(r.Seed), Assume: r.Assumptions.assumptions} //nolint:gosec // the schema allows no negative seed
	if r.StartAt != nil {
		o.StartAt = r.StartAt.UTC()
	}
	return o, r.Assumptions.checkRates()
}

func (s *campaignHandlers) simulateCampaign(ctx context.Context, p domain.Principal, in *struct {
	router.IDParam
	Body *SimulateRequest
},
) (*router.Response[*forecast.Simulation], error) {
	id, err := router.PathID(domain.PrefixCampaign, in.ID)
	if err != nil {
		return nil, err
	}
	body := in.Body
	if body == nil {
		body = &SimulateRequest{}
	}
	o, err := body.simulationOrder()
	if err != nil {
		return nil, err
	}
	return router.Respond(s.forecasts.ForecastCampaign(ctx, p, id, o))
}
