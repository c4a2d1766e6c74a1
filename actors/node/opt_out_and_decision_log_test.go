package node_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	contactsservice "github.com/callboard/callboard/service/contacts"
	"github.com/callboard/callboard/service/record"
)

// optOutPathway returns a pathway in which pressing key 1 adds the remote party to the do-not-call list.
func optOutPathway() domain.Pathway {
	w := keyMenuPathway()
	w.Nodes[0].TimeoutSeconds = 20 // a busy machine may press the key late
	w.Nodes[1] = domain.Node{ID: "yes", Type: domain.NodeEnd, Outcome: domain.OutcomeDeclined, Set: &domain.Assign{AddToDNC: true}}
	return w
}

func (h *fixture) waitForCompletion(id string) *domain.CampaignStatusObject {
	h.Helper()
	var st *domain.CampaignStatusObject
	h.waitUntil(30*time.Second, "the campaign has ended", func() bool {
		var err error
		st, err = h.services().Campaigns.CampaignStatus(h.Context(), h.live, id)
		return assert.NoError(h, err) && st.Status == domain.CampaignCompleted
	})
	return st
}

func (h *fixture) runCampaign(id string) *domain.CampaignStatusObject {
	h.Helper()
	_, err := h.services().Campaigns.StartCampaign(h.Context(), h.live, id)
	require.NoError(h, err)
	return h.waitForCompletion(id)
}

func (h *fixture) callCount(phone string) int {
	n := 0
	for _, r := range h.phoneLog.all() {
		if r.number == phone {
			n++
		}
	}
	return n
}

func TestOptedOutNumberIsNotCalledAgain(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	phone, other := carrierNumber(1, 1, "11"), carrierNumber(1, 2, "14")
	agent := h.createAgent(h.live, optOutPathway())
	first, second := h.createCampaign(h.live, agent, phone), h.createCampaign(h.live, agent, phone, other) // both campaigns have the number in their queues
	h.runCampaign(first)
	var optedAt, endedAt time.Time
	h.waitUntil(5*time.Second, "the event is committed", func() bool {
		for _, e := range h.events(h.live.WorkspaceID) {
			if e.Type == event.ContactOptedOut {
				optedAt = e.CreatedAt
			}
			if e.Type == event.CallEnded {
				endedAt = e.CreatedAt
			}
		}
		return !optedAt.IsZero() && !endedAt.IsZero()
	})
	assert.Less(t, optedAt.Sub(endedAt), longWait)
	st := h.runCampaign(second)
	assert.Equal(t, domain.Skipped{DNC: 1}, st.Skipped)
	assert.Equal(t, 1, h.callCount(phone), "by the first campaign alone")
	assert.Equal(t, 1, h.callCount(other))
	_, err := d.Calls.PlaceCall(ctx, h.live, domain.NewCall{To: phone, AgentID: agent, RingTimeout: time.Second, MaxDuration: time.Minute})
	assert.Equal(t, domain.CodeDNCBlocked, domain.CodeOf(err))
	found, err := d.DNC.CheckDNC(ctx, h.live, phone)
	require.NoError(t, err)
	require.Len(t, found.Lists, 1)
	assert.Equal(t, domain.DNCOptOut, found.Lists[0].Source)
	assert.NotEmpty(t, found.Lists[0].CallID)
	third := h.createCampaign(h.live, agent, other)
	sum, err := d.Contacts.AddContacts(ctx, h.live, third, contactRows(phone))
	require.NoError(t, err)
	assert.Equal(t, 1, sum.Summary.DNC, "seen at the upload too")

	h.shutdown() // the number must also be blocked after a restart, before the list is loaded
	h.start()
	_, err = h.services().Calls.PlaceCall(ctx, h.live, domain.NewCall{To: phone, AgentID: agent, RingTimeout: time.Second, MaxDuration: time.Minute})
	assert.Equal(t, domain.CodeDNCBlocked, domain.CodeOf(err))
}

func TestDNCCheckAndDeletionReadNumbersWithoutPlus(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	const abroad, home = "+6582123456", "+16582123456" // equal digits with and without a country code
	lists, err := d.DNC.ListDNCLists(ctx, h.live, record.PageQuery{Limit: 10})
	require.NoError(t, err)
	list := lists.Data[0].ID
	enter := func(phone string) {
		_, err := d.DNC.ImportDNC(ctx, h.live, list, func(yield func(domain.RawNumber, error) bool) { yield(domain.RawNumber{Line: 1, Phone: phone}, nil) })
		require.NoError(t, err)
	}
	enter(abroad)
	for text, want := range map[string]string{abroad: abroad, abroad[1:]: home, " " + abroad[1:]: abroad, home[1:]: home, " " + home[1:]: home, "442071838750": "+442071838750"} {
		found, err := d.DNC.CheckDNC(ctx, h.live, text)
		require.NoError(t, err)
		assert.Equal(t, []any{want, want == abroad}, []any{found.Phone, found.Listed}, "%q", text)
	}
	enter(home)
	for text, want := range map[string]string{abroad[1:]: abroad, home[1:]: home} { // a path parameter is E.164 without the plus
		removed, err := d.DNC.DeleteDNCEntry(ctx, h.live, list, text)
		require.NoError(t, err)
		assert.Equal(t, want, removed)
	}
	enter("+12025550123")
	removed, err := d.DNC.DeleteDNCEntry(ctx, h.live, list, "(202) 555-0123")
	require.NoError(t, err)
	assert.Equal(t, "+12025550123", removed)
}

func TestCampaignsAndCallsShareTheDailyFrequencyCap(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	_, err := d.Workspaces.UpdateWorkspace(ctx, h.live, func(w *domain.Workspace) error {
		w.FrequencyCaps.PerNumberPerDay = 1
		return nil
	})
	require.NoError(t, err)
	agent, phone := h.createAgent(h.live, keyMenuPathway()), carrierNumber(1, 1, "14")
	h.runCampaign(h.createCampaign(h.live, agent, phone))
	second := h.createCampaign(h.live, agent, phone)
	_, err = d.Campaigns.StartCampaign(ctx, h.live, second)
	require.NoError(t, err)
	var st *domain.CampaignStatusObject
	h.waitUntil(10*time.Second, "the second campaign waits for the number's next day", func() bool {
		st, err = d.Campaigns.CampaignStatus(ctx, h.live, second)
		require.NoError(t, err)
		return st.Waiting != nil && st.Waiting.Reason == "frequency_cap"
	})
	assert.Equal(t, 1, st.Progress.Remaining, "no contact is lost")
	assert.NotNil(t, st.Waiting.Until)
	order := domain.NewCall{To: phone, AgentID: agent, RingTimeout: time.Second, MaxDuration: time.Minute}
	_, err = d.Calls.PlaceCall(ctx, h.live, order)
	assert.Equal(t, domain.CodeFrequencyCap, domain.CodeOf(err))
	h.shutdown() // the restart shows that the count of attempts is stored
	h.start()
	_, err = h.services().Calls.PlaceCall(ctx, h.live, order)
	assert.Equal(t, domain.CodeFrequencyCap, domain.CodeOf(err))
	assert.Equal(t, 1, h.callCount(phone))
}

func TestDecisionLogGivesReasonsAndRevealsTampering(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	agent := h.createAgent(h.live, keyMenuPathway())
	var phones []string
	for i := range 10 {
		phones = append(phones, carrierNumber(1, i, "14"))
	}
	id := h.createCampaign(h.live, agent, phones...)
	lists, err := d.DNC.ListDNCLists(ctx, h.live, record.PageQuery{Limit: 10})
	require.NoError(t, err)
	sum, err := d.DNC.ImportDNC(ctx, h.live, lists.Data[0].ID, func(yield func(domain.RawNumber, error) bool) {
		yield(domain.RawNumber{Line: 1, Phone: phones[3]}, nil)
	})
	require.NoError(t, err)
	assert.Equal(t, 1, sum.Added)
	_, err = d.Workspaces.UpdateWorkspace(ctx, h.live, func(w *domain.Workspace) error { w.FrequencyCaps.PerNumberPerDay = 5; return nil })
	require.NoError(t, err)
	st := h.runCampaign(id) // without DNC scrubbing: only opt-outs count
	assert.Zero(t, st.Skipped.DNC)
	log, err := d.Decisions.ListDecisions(ctx, h.live, id, phones[3], record.PageQuery{Limit: 10})
	require.NoError(t, err)
	require.Len(t, log.Data, 1)
	one := log.Data[0]
	assert.Equal(t, []any{domain.DecidedDial, 1, phones[3]}, []any{one.Decision, one.Attempt, one.Phone})
	rules := make(map[string]domain.Ruling)
	for _, r := range one.Rules {
		rules[r.Rule] = r
	}
	assert.True(t, rules["dnc"].Passed)
	assert.Equal(t, "00:00-24:00", rules["calling_hours"].Window)
	assert.Equal(t, domain.Ruling{Rule: "frequency", Passed: true, Limit: 5}, rules["frequency"])
	seen := make(map[string]int)
	for cursor := ""; ; {
		page, err := d.Decisions.ListDecisions(ctx, h.live, id, "", record.PageQuery{Limit: 3, Cursor: cursor})
		require.NoError(t, err)
		for _, one := range page.Data {
			seen[one.Phone]++
		}
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	assert.Len(t, seen, 10)
	v, err := d.Decisions.VerifyDecisions(ctx, h.live, id)
	require.NoError(t, err)
	assert.True(t, v.Valid, v.Reason)
	assert.Equal(t, 10, v.Decisions)

	page := &domain.DecisionPage{WorkspaceID: h.live.WorkspaceID, CampaignID: id, Seq: 1}
	_, err = h.store.Get(ctx, page)
	require.NoError(t, err)
	page.Decisions[0].Rules[0].Local = "Mon 03:00"
	page.Hash = page.ComputeHash([]byte("not the key")) // a forged hash, without the key
	_, err = h.store.Apply(ctx, commit.Change{Workspace: h.live.WorkspaceID, Puts: []domain.Record{page}})
	require.NoError(t, err)
	v, err = d.Decisions.VerifyDecisions(ctx, h.live, id)
	require.NoError(t, err)
	require.NotNil(t, v.BrokenRow)
	assert.Equal(t, []any{false, 1}, []any{v.Valid, *v.BrokenRow})
}

func TestDecisionLogRecordsContactsThatEndBeforeTheirCall(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	phones := []string{carrierNumber(1, 1, "14"), carrierNumber(1, 2, "14"), carrierNumber(1, 3, "14")}
	id := h.createCampaign(h.live, h.createAgent(h.live, keyMenuPathway()), phones...)
	log, err := d.Decisions.ListDecisions(ctx, h.live, id, phones[0], record.PageQuery{Limit: 10})
	require.NoError(t, err)
	assert.Empty(t, log.Data)
	people, err := d.Contacts.ListContacts(ctx, h.live, id, contactsservice.Query{Limit: 10})
	require.NoError(t, err)
	require.NoError(t, d.Contacts.DeleteContact(ctx, h.live, id, people.Data[1].ID))
	moved := carrierNumber(1, 4, "14")
	_, err = d.Contacts.UpdateContact(ctx, h.live, id, people.Data[2].ID, contactChange{phone: moved}.apply)
	require.NoError(t, err)
	_, err = d.Campaigns.CancelCampaign(ctx, h.live, id, false)
	require.NoError(t, err)
	for phone, want := range map[string][]any{
		phones[0]: {domain.DecidedCancel, 2, "", "", "cancelled"}, moved: {domain.DecidedCancel, 2, "", "", "cancelled"}, people.Data[1].Phone: {domain.DecidedCancel, 0, people.Data[1].Phone, people.Data[1].ID, "removed"},
	} {
		log, err = d.Decisions.ListDecisions(ctx, h.live, id, phone, record.PageQuery{Limit: 10})
		require.NoError(t, err)
		require.Len(t, log.Data, 1, phone)
		one := log.Data[0]
		assert.Equal(t, want, []any{one.Decision, one.Contacts, one.Phone, one.ContactID, one.Rules[0].Rule})
	}
	for _, phone := range []string{phones[2], carrierNumber(1, 5, "14")} {
		log, err = d.Decisions.ListDecisions(ctx, h.live, id, phone, record.PageQuery{Limit: 10})
		require.NoError(t, err)
		assert.Empty(t, log.Data, "%s is not a contact of the campaign", phone)
	}
	v, err := d.Decisions.VerifyDecisions(ctx, h.live, id)
	require.NoError(t, err)
	assert.Equal(t, []any{true, 2}, []any{v.Valid, v.Decisions})
}

// createScrubbedCampaign creates a campaign that checks numbers against the do-not-call lists. At most four calls are
// concurrent.
func (h *fixture) createScrubbedCampaign(agent string, phones ...string) string {
	h.Helper()
	created, err := h.services().Campaigns.CreateCampaign(h.Context(), h.live, &domain.Campaign{
		Name: "s", Status: domain.CampaignDraft, AgentID: agent, DefaultCountry: "US", AutoComplete: true,
		Schedule: domain.Schedule{Timezone: "UTC", Days: []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}},
		Pacing:   domain.Pacing{CallsPerMinute: 1200, MaxConcurrent: 4}, Retry: domain.Retry{MaxAttempts: 1, IntervalHours: 1},
		CallerID:   domain.CallerID{Number: "+15005550100"},
		Compliance: domain.Compliance{DNCScrub: true, CallingHours: domain.CallingHours{Start: "00:00", End: "24:00", Timezone: "UTC"}},
	}, "", contactRows(phones...))
	require.NoError(h, err)
	return created.Campaign.ID
}

func TestOptOutsDuringDiallingPreventFurtherCalls(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	agent := h.createAgent(h.live, keyMenuPathway())
	phones := make([]string, 0, 90)
	for series := 1; series < 10; series++ {
		for i := range 10 {
			phones = append(phones, carrierNumber(series, i, "14"))
		}
	}
	created := h.createScrubbedCampaign(agent, phones...)
	lists, err := d.DNC.ListDNCLists(ctx, h.live, record.PageQuery{Limit: 10})
	require.NoError(t, err)
	_, err = d.Campaigns.StartCampaign(ctx, h.live, created)
	require.NoError(t, err)
	listed := make(map[string]time.Time)
	for i := len(phones) - 1; i >= 0; i -= 2 { // from the last number, while the campaign calls from the first
		_, err := d.DNC.ImportDNC(ctx, h.live, lists.Data[0].ID, func(yield func(domain.RawNumber, error) bool) {
			yield(domain.RawNumber{Line: 1, Phone: phones[i]}, nil)
		})
		require.NoError(t, err)
		listed[phones[i]] = time.Now()
	}
	st := h.waitForCompletion(created)
	assert.Positive(t, st.Skipped.DNC)
	for _, r := range h.phoneLog.all() {
		at, ok := listed[r.number]
		if !ok {
			continue
		}
		log, err := d.Decisions.ListDecisions(ctx, h.live, created, r.number, record.PageQuery{Limit: 10})
		require.NoError(t, err)
		for _, one := range log.Data {
			assert.False(t, one.Decision == domain.DecidedDial && one.At.After(at), "%s was rung, as decided %s after it was listed", r.number, one.At.Sub(at))
		}
	}
}
