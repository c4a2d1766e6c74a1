package forecast_test

import (
	"context"
	"errors"
	"iter"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/persistence"
	"github.com/callboard/callboard/persistence/pebbletest"
	"github.com/callboard/callboard/service/forecast"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/record/contactlist"
	"github.com/callboard/callboard/service/record/recordtest"
)

const listed = "+12025550109" // number on a do-not-call list

// node is a fake of the service's dependencies. It has one campaign. References to the agent agent_1 are invalid.
type node struct {
	store    *persistence.Store
	campaign *domain.Campaign
	listErr  error
}

func (n *node) Campaign(_ context.Context, p domain.Principal, id string) (*domain.Campaign, error) {
	if id != n.campaign.ID || p.WorkspaceID != recordtest.Workspace {
		return nil, domain.NotFound("campaign")
	}
	return n.campaign, nil
}

func (*node) CheckReferences(_ context.Context, _ domain.Principal, c *domain.Campaign) error {
	if c.AgentID == "agent_1" {
		return domain.FieldError("agent_id", domain.CodeValidation, "there is no such agent")
	}
	return nil
}

func (n *node) NewImport(ctx context.Context, _ domain.Principal, c *domain.Campaign, before *domain.Progress, at time.Time) (*contactlist.Import, error) {
	list := contactlist.New(n.store)
	return contactlist.NewImport(ctx, &list, c, before, at, contactlist.Checks{})
}

func (n *node) Scrubber(*domain.Campaign) func(context.Context, string) (bool, error) {
	return func(_ context.Context, e164 string) (bool, error) { return e164 == listed, n.listErr }
}

func setUp(t *testing.T, limits domain.Limits) (*forecast.Service, *node) {
	t.Helper()
	n := &node{store: pebbletest.Open(t), campaign: draft()}
	n.campaign.ID, n.campaign.WorkspaceID, n.campaign.Environment = "campaign_1", recordtest.Workspace, domain.Live
	return forecast.New(forecast.Config{
		Store: n.store, Campaigns: n, Contacts: n, DNC: n,
		Counters: func(context.Context, string, time.Time, time.Time) ([]*domain.Usage, error) { return nil, nil },
		Workspace: func(context.Context, domain.Principal) (*domain.Workspace, error) {
			return &domain.Workspace{Plan: domain.Starter, Limits: limits, DefaultCountry: "US", Calling: domain.DestinationRules{Countries: []string{"US"}}}, nil
		},
	}), n
}

func draft() *domain.Campaign {
	return &domain.Campaign{
		Status: domain.CampaignDraft, DefaultCountry: "US", AutoComplete: true, Schedule: domain.Schedule{Timezone: "UTC"},
		Pacing: domain.Pacing{CallsPerMinute: 600, MaxConcurrent: 50}, Retry: domain.Retry{Enabled: true, MaxAttempts: 2, IntervalHours: 1, RetryOn: []string{"busy"}},
		Compliance: domain.Compliance{CallingHours: domain.CallingHours{Start: "00:00", End: "24:00", Timezone: "UTC"}},
	}
}

func phones(list ...string) iter.Seq2[domain.RawContact, error] {
	return func(yield func(domain.RawContact, error) bool) {
		for i, phone := range list {
			if !yield(domain.RawContact{Line: i + 1, Phone: phone}, nil) {
				return
			}
		}
	}
}

// allBusy returns a forecast request that assumes that each callee is busy.
func allBusy() forecast.Request {
	return forecast.Request{StartAt: time.Date(2027, 3, 1, 0, 0, 0, 0, time.UTC), Assume: func(a forecast.Assumptions) forecast.Assumptions {
		a.AnswerRate, a.VoicemailRate, a.FailedRate, a.NoAnswerRate, a.BusyRate = 0, 0, 0, 0, 1
		return a
	}}
}

func TestForecastCountsAttemptsAndSkippedContacts(t *testing.T) {
	t.Parallel()
	s, _ := setUp(t, domain.DefaultEnterpriseLimits())
	got, err := s.ForecastDraft(t.Context(), recordtest.Live(recordtest.Workspace), draft(), phones("+12025550101", "+12025550102", listed, "+4930123456"), allBusy())
	require.NoError(t, err)
	assert.Equal(t, forecast.AssumedDefaults, got.AssumedFrom)
	assert.Equal(t, []int{4, 1, 1, 4}, []int{got.Contacts, got.Skipped.DNC, got.Skipped.Invalid, got.Attempts}, "two callees are called twice")
	assert.Equal(t, 2, got.Outcomes[domain.OutcomeBusy])
	assert.Equal(t, []int{4, 4}, []int{got.Cost.Attempts, got.Cost.Included})
}

func TestForecastRespectsWorkspaceLimits(t *testing.T) {
	t.Parallel()
	s, _ := setUp(t, domain.Limits{CallsPerMinute: 1, ConcurrentOutbound: 1})
	got, err := s.ForecastDraft(t.Context(), recordtest.Live(recordtest.Workspace), draft(), phones("+12025550101", "+12025550102", "+12025550103"), allBusy())
	require.NoError(t, err)
	assert.Equal(t, domain.Pacing{CallsPerMinute: 1, MaxConcurrent: 1}, got.Pacing)
	assert.Equal(t, 1, got.PeakConcurrent)
	require.NotNil(t, got.CompletesAt)
	assert.GreaterOrEqual(t, got.CompletesAt.Sub(got.StartsAt), 2*time.Minute)
}

func TestForecastErrors(t *testing.T) {
	t.Parallel()
	s, n := setUp(t, domain.DefaultEnterpriseLimits())
	p := recordtest.Live(recordtest.Workspace)
	_, err := s.ForecastCampaign(t.Context(), recordtest.Live(recordtest.OtherWorkspace), n.campaign.ID, allBusy())
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err))
	unknown := draft()
	unknown.AgentID = "agent_1"
	_, err = s.ForecastDraft(t.Context(), p, unknown, phones(), allBusy())
	assert.Equal(t, "agent_id", recordtest.ErrorField(err))
	order := allBusy()
	assume := order.Assume
	order.Assume = func(a forecast.Assumptions) forecast.Assumptions {
		_, busy := s.ForecastCampaign(t.Context(), p, n.campaign.ID, allBusy())
		assert.Equal(t, domain.CodeUnavailable, domain.CodeOf(busy), "one forecast of a workspace at a time")
		return assume(a)
	}
	_, err = s.ForecastCampaign(t.Context(), p, n.campaign.ID, order)
	require.NoError(t, err)
	n.listErr = errors.New("the store cannot be reached")
	_, err = s.ForecastDraft(t.Context(), p, draft(), phones("+12025550101"), allBusy())
	require.ErrorIs(t, err, n.listErr)
	n.campaign.Status = domain.CampaignCompleted
	_, err = s.ForecastCampaign(t.Context(), p, n.campaign.ID, allBusy())
	assert.Equal(t, domain.CodeInvalidState, domain.CodeOf(err))
}

func TestForecastAssumptionsComeFromRecentCalls(t *testing.T) {
	t.Parallel()
	s, n := setUp(t, domain.DefaultEnterpriseLimits())
	p := recordtest.Live(recordtest.Workspace)
	begin := record.Now()
	for i := range 50 {
		end := begin.Add(time.Minute)
		c := &domain.Call{Direction: domain.Outbound, CampaignID: "campaign_1", Status: domain.CallCompleted, StartedAt: &begin, EndedAt: &end, Disposition: string(domain.OutcomeBusy)}
		if i < 10 {
			c.Disposition, c.AnsweredAt, c.DurationSeconds = string(domain.OutcomeConfirmed), &begin, 30
		}
		c.Init("call", p, record.RequestResourceID(t.Context(), domain.PrefixCall), begin)
		require.NoError(t, record.Create(t.Context(), n.store, c))
	}
	got, err := s.ForecastDraft(t.Context(), p, draft(), phones(), forecast.Request{Assume: func(a forecast.Assumptions) forecast.Assumptions { return a }})
	require.NoError(t, err)
	assert.Equal(t, forecast.AssumedHistory, got.AssumedFrom)
	a := got.Assumptions
	assert.InDeltaSlice(t, []float64{0.2, 0.8, 0, 30}, []float64{a.AnswerRate, a.BusyRate, a.NoAnswerRate, a.TalkSeconds}, 1e-9)
}
