package node_test

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/service/campaigns"
	"github.com/callboard/callboard/service/forecast"
	"github.com/callboard/callboard/service/record"
)

// keepAssumptions is the edit function of a forecast that leaves its assumptions unchanged.
func keepAssumptions(a forecast.Assumptions) forecast.Assumptions { return a }

func TestForecastPredictsACampaignWithoutPlacingCalls(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	_, err := d.Workspaces.UpdateWorkspace(ctx, h.live, func(w *domain.Workspace) error {
		w.Plan = domain.Starter
		return nil
	})
	require.NoError(t, err)
	phones := make([]string, 700)
	for i := range phones {
		phones[i] = fmt.Sprintf("+1202555%04d", i)
	}
	end := time.Date(2027, 3, 8, 9, 0, 0, 0, time.UTC)
	created, err := d.Campaigns.CreateCampaign(ctx, h.live, &domain.Campaign{
		Name: "c", Status: domain.CampaignDraft, AgentID: h.createAgent(h.live, keyMenuPathway()), DefaultCountry: "US", AutoComplete: true,
		Schedule:   domain.Schedule{Timezone: "UTC", Days: []string{"monday", "tuesday", "wednesday", "thursday", "friday"}, End: &end},
		Pacing:     domain.Pacing{CallsPerMinute: 5, MaxConcurrent: 5},
		Retry:      domain.Retry{Enabled: true, MaxAttempts: 2, IntervalHours: 0.5, RetryOn: []string{"no_answer"}},
		CallerID:   domain.CallerID{Number: "+15005550100"},
		Compliance: domain.Compliance{CallingHours: domain.CallingHours{Start: "10:00", End: "12:00", Timezone: "UTC"}},
	}, "", contactRows(phones...))
	require.NoError(t, err)
	id, n := created.Campaign.ID, created.Upload.Summary.Accepted
	o := forecast.Request{StartAt: time.Date(2027, 3, 1, 0, 0, 0, 0, time.UTC), Assume: func(a forecast.Assumptions) forecast.Assumptions {
		a.AnswerRate, a.VoicemailRate, a.BusyRate, a.FailedRate, a.NoAnswerSeconds = 0, 0, 0, 0, 30
		return a
	}}
	s, err := d.Forecasts.ForecastCampaign(ctx, h.live, id, o)
	require.NoError(t, err)
	assert.Equal(t, n, s.Contacts)
	assert.Equal(t, forecast.AssumedDefaults, s.AssumedFrom)
	sum := 0
	for _, hour := range s.CallsPerHour {
		sum += hour.Calls
		assert.Contains(t, []int{10, 11}, hour.Hour.Hour())
		assert.LessOrEqual(t, hour.Calls, 300)
	}
	assert.Equal(t, s.Attempts, sum)
	assert.Equal(t, s.Attempts, s.Cost.Attempts)
	assert.Equal(t, 2*n, s.Attempts, "without answers each contact is called twice")
	assert.Equal(t, n, s.Outcomes[domain.OutcomeNoAnswer])
	require.Len(t, s.Cost.Months, 1)
	assert.Equal(t, "2027-03", s.Cost.Months[0].Month)
	assert.Equal(t, min(500, s.Attempts), s.Cost.Included, "the plan covers 500")
	assert.Equal(t, domain.Dollars(domain.Amount(s.Cost.Overage)*100_000), s.Cost.Amount)
	require.NotNil(t, s.CompletesAt)

	again, err := d.Forecasts.ForecastCampaign(ctx, h.live, id, o)
	require.NoError(t, err)
	assert.Equal(t, s, again)
	status, err := d.Campaigns.CampaignStatus(ctx, h.live, id)
	require.NoError(t, err)
	assert.Equal(t, domain.CampaignDraft, status.Status)
	assert.Zero(t, status.Progress.Attempted)
	assert.Empty(t, h.phoneLog.all(), "no number was called")

	deleted, cancel := context.WithCancel(ctx)
	o.Assume = func(a forecast.Assumptions) forecast.Assumptions { cancel(); return a }
	_, err = d.Forecasts.ForecastCampaign(deleted, h.live, id, o)
	require.ErrorIs(t, err, context.Canceled)
	_, err = d.Campaigns.CancelCampaign(ctx, h.live, id, false)
	require.NoError(t, err)
	h.waitUntil(10*time.Second, "an ended campaign has no forecast", func() bool {
		_, err = d.Forecasts.ForecastCampaign(ctx, h.live, id, o)
		return domain.CodeOf(err) == domain.CodeInvalidState
	})
}

func TestForecastOfACampaignThatIsNotStored(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	c := &domain.Campaign{
		Name: "c", Status: domain.CampaignDraft, AgentID: h.createAgent(h.test, keyMenuPathway()), DefaultCountry: "US", AutoComplete: true,
		Pacing: domain.Pacing{CallsPerMinute: 10, MaxConcurrent: 5}, Retry: domain.Retry{MaxAttempts: 1},
		Compliance: domain.Compliance{CallingHours: domain.CallingHours{Start: "10:00", End: "12:00", Timezone: "local"}},
	}
	o := forecast.Request{StartAt: time.Date(2027, 3, 1, 0, 0, 0, 0, time.UTC), Assume: keepAssumptions}
	s, err := d.Forecasts.ForecastDraft(ctx, h.test, c, contactRows("+13105550100", "+12125550100", "+12125550100", "+870773111111"), o)
	require.NoError(t, err)
	assert.Equal(t, 2, s.Attempts)
	assert.Equal(t, 15, s.CallsPerHour[0].Hour.Hour(), "New York")
	assert.Equal(t, 18, s.CallsPerHour[1].Hour.Hour(), "Los Angeles")
	assert.Empty(t, s.Cost.Months, "test calls cost nothing")
	list, err := d.Campaigns.ListCampaigns(ctx, h.test, campaigns.Query{PageQuery: record.PageQuery{Limit: 10}})
	require.NoError(t, err)
	assert.Empty(t, list.Data)
}

func TestForecastConsidersPreviousCallsToANumber(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	at := time.Date(2027, 3, 1, 17, 0, 0, 0, time.UTC)
	phones := []string{"+12125550100", "+12125550101", "+13105550100", "+12125550102"}
	for phone, rung := range map[string][]time.Time{
		phones[0]: {at.Add(-time.Hour), at.Add(-2 * time.Hour)},
		phones[1]: {at.Add(-time.Hour), at.Add(-13 * time.Hour)}, // 23:00 of the previous day in New York
		phones[2]: {at.Add(-time.Hour), at.Add(-8 * time.Hour)},  // 01:00 in Los Angeles
	} {
		row := &domain.NumberAttempts{WorkspaceID: h.live.WorkspaceID, Environment: domain.Live, Number: phone}
		for i, at := range rung {
			row = row.WithAttempt(domain.DialAttempt{CallID: strconv.Itoa(i), At: at})
		}
		h.putRow(row)
	}
	id := h.createCampaign(h.live, h.createAgent(h.live, keyMenuPathway()), phones...)
	o := forecast.Request{StartAt: at, Assume: keepAssumptions}
	for limit, want := range map[int]int{0: 0, 2: 2, 1: 3} {
		_, err := d.Workspaces.UpdateWorkspace(ctx, h.live, func(w *domain.Workspace) error {
			w.FrequencyCaps.PerNumberPerDay = limit
			return nil
		})
		require.NoError(t, err)
		s, err := d.Forecasts.ForecastCampaign(ctx, h.live, id, o)
		require.NoError(t, err)
		assert.Equal(t, 4, s.Attempts, "a cap of %d limits the calls and loses no contact", limit)
		assert.Equal(t, 4-want, s.CallsPerHour[0].Calls, "a cap of %d", limit)
	}
}

func TestForecastsOfAWorkspaceRunOneAtATime(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	id := h.createCampaign(h.live, h.createAgent(h.live, keyMenuPathway()), carrierNumber(1, 1, "11"))
	var inner error
	_, err := d.Forecasts.ForecastCampaign(ctx, h.live, id, forecast.Request{Assume: func(a forecast.Assumptions) forecast.Assumptions {
		_, inner = d.Forecasts.ForecastCampaign(ctx, h.live, id, forecast.Request{Assume: keepAssumptions})
		return a
	}})
	require.NoError(t, err)
	assert.Equal(t, domain.CodeUnavailable, domain.CodeOf(inner))
	_, err = d.Forecasts.ForecastCampaign(ctx, h.live, id, forecast.Request{Assume: keepAssumptions})
	require.NoError(t, err)
}
