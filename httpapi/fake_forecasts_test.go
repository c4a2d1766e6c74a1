package httpapi_test

import (
	"context"
	"iter"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/service/simulation"
)

func (f *fakeServices) SimulateCampaign(ctx context.Context, p domain.Principal, id string, o simulation.Order) (*simulation.Simulation, error) {
	if _, err := f.Campaign(ctx, p, id); err != nil {
		return nil, err
	}
	return simulated(id, o), nil
}

func (f *fakeServices) SimulateDraft(_ context.Context, _ domain.Principal, _ *domain.Campaign, _ iter.Seq2[domain.RawContact, error], o simulation.Order) (*simulation.Simulation, error) {
	return simulated("", o), nil
}

func simulated(id string, o simulation.Order) *simulation.Simulation {
	known := simulation.Assumptions{AnswerRate: 0.4, VoicemailRate: 0.4, BusyRate: 0.1, NoAnswerRate: 0.1, TalkSeconds: 60}
	return &simulation.Simulation{
		CampaignID: id, StartsAt: o.StartAt, Outcomes: map[domain.Outcome]int{}, CallsPerHour: []simulation.SimulatedHour{},
		Cost: simulation.SimulatedCost{Months: []simulation.SimulatedMonth{}}, Assumptions: o.Assume(known), AssumedFrom: simulation.AssumedHistory,
	}
}
