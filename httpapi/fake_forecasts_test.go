package httpapi_test

import (
	"context"
	"iter"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/service/forecast"
)

func (f *fakeServices) ForecastCampaign(ctx context.Context, p domain.Principal, id string, o forecast.Request) (*forecast.Simulation, error) {
	if _, err := f.Campaign(ctx, p, id); err != nil {
		return nil, err
	}
	return sampleSimulation(id, o), nil
}

func (f *fakeServices) ForecastDraft(_ context.Context, _ domain.Principal, _ *domain.Campaign, _ iter.Seq2[domain.RawContact, error], o forecast.Request) (*forecast.Simulation, error) {
	return sampleSimulation("", o), nil
}

func sampleSimulation(id string, o forecast.Request) *forecast.Simulation {
	known := forecast.Assumptions{AnswerRate: 0.4, VoicemailRate: 0.4, BusyRate: 0.1, NoAnswerRate: 0.1, TalkSeconds: 60}
	return &forecast.Simulation{
		CampaignID: id, StartsAt: o.StartAt, Outcomes: map[domain.Outcome]int{}, CallsPerHour: []forecast.SimulatedHour{},
		Cost: forecast.SimulatedCost{Months: []forecast.SimulatedMonth{}}, Assumptions: o.Assume(known), AssumedFrom: forecast.AssumedHistory,
	}
}
