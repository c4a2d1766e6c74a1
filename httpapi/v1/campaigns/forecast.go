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

// NewAssumptions are what the called are taken to do, as it is sent. What is
// left out is taken from the workspace's latest campaign calls.
type NewAssumptions struct {
	AnswerRate       *float64 `json:"answer_rate,omitempty" minimum:"0" maximum:"1" doc:"Share of the attempts that a person answers."`
	VoicemailRate    *float64 `json:"voicemail_rate,omitempty" minimum:"0" maximum:"1" doc:"Share that a machine answers."`
	BusyRate         *float64 `json:"busy_rate,omitempty" minimum:"0" maximum:"1" doc:"Share that is busy."`
	FailedRate       *float64 `json:"failed_rate,omitempty" minimum:"0" maximum:"1" doc:"Share that the trunk cannot reach."`
	NoAnswerRate     *float64 `json:"no_answer_rate,omitempty" minimum:"0" maximum:"1" doc:"Share that does not answer: without it, what the other four leave of 1."`
	RingSeconds      *float64 `json:"ring_seconds,omitempty" minimum:"0" maximum:"120" doc:"How long it rings before somebody answers, on average."`
	NoAnswerSeconds  *float64 `json:"no_answer_seconds,omitempty" minimum:"1" maximum:"120" doc:"How long it rings where nobody does."`
	TalkSeconds      *float64 `json:"talk_seconds,omitempty" minimum:"0" maximum:"7200" doc:"How long a call with a person lasts, on average."`
	VoicemailSeconds *float64 `json:"voicemail_seconds,omitempty" minimum:"0" maximum:"7200" doc:"How long a call with a machine lasts, on average."`
}

// Forecasts simulates campaigns.
type Forecasts interface {
	// SimulateCampaign plays what is left of a campaign on a virtual clock;
	// unavailable while another simulation of the workspace runs, invalid_state
	// where the campaign is over. It ends with the context.
	ForecastCampaign(ctx context.Context, p domain.Principal, id string, o forecast.ForecastRequest) (*forecast.Simulation, error)
	// SimulateDraft plays a campaign as CreateCampaign gets it, and keeps nothing.
	ForecastDraft(ctx context.Context, p domain.Principal, c *domain.Campaign, rows iter.Seq2[domain.RawContact, error], o forecast.ForecastRequest) (*forecast.Simulation, error)
}

// SimulateRequest is the body of a forecast.
type SimulateRequest struct {
	StartAt     *time.Time      `json:"start_at,omitempty" doc:"When the campaign would go on; now unless said."`
	Seed        int             `json:"seed,omitempty" minimum:"0" doc:"Draws another course of the same assumptions."`
	Assumptions *NewAssumptions `json:"assumptions,omitempty" doc:"What the called are taken to do; what is left out is taken from the workspace's latest campaign calls, or from the defaults where there are fewer than 50."`
}

// assumptions returns the known assumptions with the sent ones in their place.
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

// normalizeRates makes the rates a whole: those that were not sent share what the sent
// ones leave, as they did before.
func (n *NewAssumptions) normalizeRates(a *forecast.Assumptions) {
	sent, known := 0.0, 0.0
	rest := []*float64{}
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
			sent += *v.sent
			continue
		}
		known += *v.rate
		rest = append(rest, v.rate)
	}
	if n.NoAnswerRate != nil {
		sent += *n.NoAnswerRate
	}
	if (known+sent > 1 || n.NoAnswerRate != nil) && known > 0 {
		for _, r := range rest {
			*r *= max(0, 1-sent) / known
		}
		known = max(0, 1-sent)
	}
	if n.NoAnswerRate != nil {
		sent -= *n.NoAnswerRate
	}
	a.NoAnswerRate = max(0, 1-sent-known)
}

// roundingError is by how much rates that were written as decimals may miss 1.
const roundingError = 1e-6

// checkRates says what does not fit together.
func (n *NewAssumptions) checkRates() error {
	if n == nil {
		return nil
	}
	sum := 0.0
	for _, v := range []*float64{n.AnswerRate, n.VoicemailRate, n.BusyRate, n.FailedRate, n.NoAnswerRate} {
		if v != nil {
			sum += *v
		}
	}
	if sum <= 1+roundingError {
		return nil
	}
	var p domain.Problems
	p.Add("assumptions", domain.CodeValidation, "the rates add up to %.3g; they are shares of all attempts, 1 at most together", sum)
	return p.Err()
}

func (s *campaignHandlers) registerForecasts() {
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: "/v1/campaigns/{id}/simulate", ID: "simulateCampaign", Tag: "Campaigns",
		Summary: "Play a campaign on a virtual clock",
		Description: "Nobody is rung and nothing is kept. Schedule, calling hours, pacing and retries decide as in the real campaign; " +
			"how calls end is drawn by the assumptions. One simulation of a workspace runs at a time, and it ends with its request.",
	}, s.simulateCampaign)
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: "/v1/campaigns/simulate", ID: "simulateDraft", Tag: "Campaigns",
		Summary:     "Play a campaign that is not kept",
		Description: "The body is that of a new campaign with its inline contacts, start_at, seed and assumptions beside. Nothing is created.",
	}, s.simulateDraft)
}

// SimulateDraftRequest is a new campaign and how it is to be played.
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

// simulationOrder is what was sent as the service wants it.
func (r *SimulateRequest) simulationOrder() (forecast.ForecastRequest, error) {
	o := forecast.ForecastRequest{Seed: uint64(r.Seed), Assume: r.Assumptions.assumptions} //nolint:gosec // not below zero
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
