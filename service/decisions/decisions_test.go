package decisions_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/persistence"
	"github.com/callboard/callboard/persistence/pebbletest"
	"github.com/callboard/callboard/service/decisions"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/record/decisionlist"
	"github.com/callboard/callboard/service/record/recordtest"
)

// campaigns is a fake campaign service that reads campaigns from the store.
type campaigns struct{ store *persistence.Store }

func (c campaigns) Campaign(ctx context.Context, p domain.Principal, id string) (*domain.Campaign, error) {
	one, _, err := record.Get[domain.Campaign](ctx, c.store, p, domain.PrefixCampaign, id)
	return one, err
}

var chainKey = []byte("key")

type fixture struct {
	*decisions.Service

	store    *persistence.Store
	by       domain.Principal
	campaign *domain.Campaign
	progress domain.Progress
}

func setUp(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{store: pebbletest.Open(t), by: recordtest.Live(recordtest.Workspace), campaign: &domain.Campaign{Status: domain.CampaignRunning}}
	f.campaign.Init("campaign", f.by, record.RequestResourceID(t.Context(), domain.PrefixCampaign), record.Now())
	f.progress = domain.Progress{CampaignID: f.campaign.ID, WorkspaceID: recordtest.Workspace}
	f.put(t, f.campaign)
	f.Service = decisions.New(decisions.Config{
		Store: f.store, Campaigns: campaigns{f.store}, Country: func(domain.Principal) string { return "US" }, ChainKey: func(string) []byte { return chainKey },
	})
	return f
}

func (f *fixture) put(t *testing.T, rows ...domain.Record) {
	t.Helper()
	_, err := f.store.Apply(t.Context(), commit.Change{Workspace: recordtest.Workspace, Puts: rows})
	require.NoError(t, err)
}

// decide adds a page with one dial decision for each number to the decision log.
func (f *fixture) decide(t *testing.T, at time.Time, phones ...string) *domain.DecisionPage {
	t.Helper()
	f.progress.DecisionPages++
	page := &domain.DecisionPage{WorkspaceID: recordtest.Workspace, CampaignID: f.campaign.ID, Seq: f.progress.DecisionPages, Prev: f.progress.DecisionHead}
	for i, phone := range phones {
		page.Decisions = append(page.Decisions, domain.Decision{At: at, Ordinal: i, Phone: phone, Verdict: domain.DecidedDial})
	}
	page.Hash = page.ComputeHash(chainKey)
	f.progress.DecisionHead = page.Hash
	f.put(t, page, &f.progress)
	return page
}

func phones(all []decisionlist.Decision) (out []string) {
	for i := range all {
		out = append(out, all[i].Phone)
	}
	return out
}

func TestListDecisionsPagesByNumberAndTime(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	const a, b = "+12025550101", "+12025550102"
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	f.decide(t, noon, a, b)
	f.decide(t, noon.Add(time.Hour), a)
	list := func(phone string, page record.PageQuery) record.Page[decisionlist.Decision] {
		l, err := f.ListDecisions(t.Context(), f.by, f.campaign.ID, phone, page)
		require.NoError(t, err)
		return l
	}
	page := list("", record.PageQuery{Limit: 2})
	assert.Equal(t, []string{a, b}, phones(page.Data))
	page = list("", record.PageQuery{Limit: 2, Cursor: page.Next})
	assert.Equal(t, []string{a}, phones(page.Data))
	assert.Empty(t, page.Next)
	assert.Len(t, list("(202) 555-0101", record.PageQuery{Limit: 10}).Data, 2)
	assert.Equal(t, []string{a}, phones(list("", record.PageQuery{Limit: 10, CreatedAfter: noon}).Data))

	for param, do := range map[string]func() error{
		"phone": func() error {
			_, err := f.ListDecisions(t.Context(), f.by, f.campaign.ID, "12", record.PageQuery{Limit: 1})
			return err
		},
		"cursor": func() error {
			_, err := f.ListDecisions(t.Context(), f.by, f.campaign.ID, "", record.PageQuery{Limit: 1, Cursor: "0-0"})
			return err
		},
	} {
		assert.Equal(t, param, recordtest.ErrorField(do()))
	}
	_, err := f.ListDecisions(t.Context(), recordtest.Live(recordtest.OtherWorkspace), f.campaign.ID, "", record.PageQuery{Limit: 1})
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err))
}

func TestDecisionLogListsCampaignEndForRemainingContacts(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	now := record.Now()
	f.decide(t, now, "+12025550101")
	f.progress.DecisionPages++
	end := &domain.DecisionPage{
		WorkspaceID: recordtest.Workspace, CampaignID: f.campaign.ID, Seq: f.progress.DecisionPages, Prev: f.progress.DecisionHead,
		Decisions: []domain.Decision{{At: now, Verdict: domain.DecidedExpire, Contacts: 1}},
	}
	end.Hash = end.ComputeHash(chainKey)
	f.campaign.Status = domain.CampaignCompleted
	f.put(t, end, &f.progress, f.campaign)
	l, err := f.ListDecisions(t.Context(), f.by, f.campaign.ID, "+12025550101", record.PageQuery{Limit: 10})
	require.NoError(t, err)
	require.Len(t, l.Data, 2)
	assert.Equal(t, []string{domain.DecidedDial, domain.DecidedExpire}, []string{l.Data[0].Decision, l.Data[1].Decision})
}

func TestVerifyDecisionsFindsChangedOrMissingRow(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	now := record.Now()
	f.decide(t, now, "+12025550101")
	second := f.decide(t, now, "+12025550102")
	f.decide(t, now, "+12025550103")
	verify := func() decisions.DecisionsVerified {
		v, err := f.VerifyDecisions(t.Context(), f.by, f.campaign.ID)
		require.NoError(t, err)
		return v
	}
	v := verify()
	assert.Equal(t, []any{true, 3, 3, f.progress.DecisionHead}, []any{v.Valid, v.Rows, v.Decisions, v.Head})
	last := f.decide(t, now, "+12025550104")
	remove := func(r domain.Record) {
		_, err := f.store.Apply(t.Context(), commit.Change{Workspace: recordtest.Workspace, Deletes: []domain.Key{r.Key()}})
		require.NoError(t, err)
	}
	remove(last)
	v = verify()
	require.False(t, v.Valid, "the last row is missing")
	assert.Equal(t, 4, *v.BrokenRow)
	f.put(t, last)
	second.EraseNumber(chainKey, "+12025550102")
	f.put(t, second)
	v = verify()
	assert.Equal(t, []any{true, 1}, []any{v.Valid, v.Erased}, "erasing a number keeps the hash of its row")
	second.Decisions[0].Verdict = domain.DecidedSkip
	f.put(t, second)
	v = verify()
	require.False(t, v.Valid)
	assert.Equal(t, 2, *v.BrokenRow)
	remove(second)
	assert.Equal(t, 2, *verify().BrokenRow)
}
