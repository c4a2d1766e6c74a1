package campaigns_test

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/persistence/pebbletest"
	"github.com/callboard/callboard/service/campaigns"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/record/contactlist"
	"github.com/callboard/callboard/service/record/recordtest"
)

// node is a fake of the service's dependencies that records its method calls. Its campaigns have no actors.
type node struct {
	store *pebbletest.Store
	calls []string // methods with their arguments
	owned []string // numbers of the workspace
}

func (n *node) record(call string)                                       { n.calls = append(n.calls, call) }
func (*node) CampaignPID(string, string) *actor.PID                      { return nil }
func (*node) IsRunning(*actor.PID) bool                                  { return false }
func (n *node) StartCampaignActor(_ context.Context, c *domain.Campaign) { n.record("start " + c.Name) }
func (*node) StartIfDraft(context.Context, *domain.Campaign) bool        { return false }
func (n *node) CampaignChanged(c *domain.Campaign)                       { n.record("changed " + c.Name) }
func (*node) LockSettings(string) (func(), error)                        { return func() {}, nil }
func (n *node) WebhookCreating(w *domain.Webhook)                        { n.record("creating " + w.URL) }

func (n *node) WebhookChanged(_ context.Context, w *domain.Webhook) { n.record("changed " + w.URL) }

func (n *node) WebhookDeleted(w *domain.Webhook) { n.record("deleted " + w.URL) }

func (*node) Context() context.Context                       { return context.Background() }
func (*node) RunInBackground(f func())                       { f() }
func (*node) LockUploads(*domain.Campaign) (func(), error)   { return func() {}, nil }
func (*node) StopAndWait(string)                             {}
func (*node) DeleteBulk(context.Context, *domain.Bulk) error { return nil }
func (n *node) Delete(_ context.Context, _, name string) error {
	n.record("deleted " + name)
	return nil
}

func (n *node) AddContacts(context.Context, domain.Principal, string, iter.Seq2[domain.RawContact, error]) (contactlist.UploadSummary, error) {
	return contactlist.UploadSummary{}, errors.New("a copy of few contacts needs no upload")
}

func (n *node) NewImport(ctx context.Context, _ domain.Principal, c *domain.Campaign, before *domain.Progress, at time.Time) (*contactlist.Import, error) {
	list := contactlist.New(n.store)
	return contactlist.NewImport(ctx, &list, c, before, at, contactlist.Checks{})
}

func (*node) ListExists(_ context.Context, _ domain.Principal, param, id string) error {
	if id != "" {
		return domain.FieldError(param, domain.CodeValidation, "there is no such list")
	}
	return nil
}

func (n *node) DeleteCalls(_ context.Context, _ string, calls []*domain.Call) error {
	for range calls {
		n.record("deleted a call")
	}
	return nil
}

func (*node) CheckURL(_ context.Context, param, url string) error {
	if url == "http://10.0.0.1" {
		return domain.FieldError(param, domain.CodeInvalidURL, "is a private address")
	}
	return nil
}

type fixture struct {
	*campaigns.Service

	node   *node
	outbox recordtest.Outbox
	by     domain.Principal
}

func setUp(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{node: &node{store: pebbletest.OpenStore(t)}, by: recordtest.Live(recordtest.Workspace)}
	n := f.node
	f.Service = campaigns.New(campaigns.Config{
		Store: n.store, Workspaces: recordtest.Workspaces{recordtest.Workspace: {}}, Outbox: &f.outbox, URLs: n, Actors: n, Webhooks: n, Background: n,
		Contacts: n, DNC: n, Calls: n, Bulk: n, Jobs: n, Blobs: n, Log: slog.New(slog.DiscardHandler),
		Script: func(_ context.Context, _ domain.Principal, agentID, _ string) (domain.Script, error) {
			if agentID != "" {
				return domain.Script{}, domain.Errorf(domain.CodeNotFound, "there is no such agent")
			}
			return domain.Script{}, nil
		},
		CallerIDs: func(context.Context, domain.Principal) ([]string, error) { return n.owned, nil },
	})
	return f
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

func (f *fixture) create(t *testing.T, c *domain.Campaign, list ...string) *domain.Campaign {
	t.Helper()
	created, err := f.CreateCampaign(t.Context(), f.by, c, "", phones(list...))
	require.NoError(t, err)
	return created.Campaign
}

// webhooks returns the webhook endpoints of a campaign, as a map from URL to subscribed event types.
func (f *fixture) webhooks(t *testing.T, c *domain.Campaign) map[string][]string {
	t.Helper()
	all := make(map[string][]string)
	require.NoError(t, commit.ForEachRow(t.Context(), f.node.store, "webhook", c.WorkspaceID, "campaign="+c.ID, func(w *domain.Webhook) { all[w.URL] = w.Events }))
	return all
}

func TestCreateCampaignStoresContactsAndWebhooks(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	hooks := map[string]string{"call.ended": "https://a.example", "call.started": "https://a.example", "campaign.completed": "https://b.example"}
	created, err := f.CreateCampaign(t.Context(), f.by, &domain.Campaign{Name: "c", Status: domain.CampaignDraft, Webhooks: hooks}, "", phones("+12025550101", "12"))
	require.NoError(t, err)
	assert.NotEmpty(t, created.WebhookSecret)
	assert.Equal(t, domain.ContactsSummary{Received: 2, Accepted: 1, Invalid: 1}, created.Upload.Summary)
	assert.Equal(t, map[string][]string{"https://a.example": {"call.ended", "call.started"}, "https://b.example": {"campaign.completed"}}, f.webhooks(t, created.Campaign))
	assert.Equal(t, []string{
		"creating https://a.example", "creating https://b.example", // before the commit
		"changed https://a.example", "changed https://b.example", "start c",
	}, f.node.calls)
	assert.Equal(t, int32(1), f.outbox.Load())
	status, err := f.CampaignStatus(t.Context(), f.by, created.Campaign.ID)
	require.NoError(t, err)
	assert.Equal(t, 1, status.Progress.Total)
}

func TestFailedCampaignCommitLeavesNoWebhooks(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	f.node.store.BeforeApply = func(commit.Change) error { return domain.ErrFenced }
	hooks := map[string]string{"call.ended": "https://a.example"}
	_, err := f.CreateCampaign(t.Context(), f.by, &domain.Campaign{Name: "c", Webhooks: hooks}, "", phones("+12025550101"))
	assert.Equal(t, domain.CodeUnavailable, domain.CodeOf(err))
	assert.Equal(t, []string{"creating https://a.example", "deleted https://a.example"}, f.node.calls, "no campaign actor starts")
	assert.Zero(t, f.outbox.Load())
}

func TestCampaignReferenceErrorsNameField(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	for param, c := range map[string]*domain.Campaign{
		"agent_id":               {AgentID: record.RequestResourceID(t.Context(), domain.PrefixAgent)},
		"compliance.dnc_list_id": {Compliance: domain.Compliance{DNCListID: "dnc_1"}},
		"webhooks.call.ended":    {Webhooks: map[string]string{"call.ended": "http://10.0.0.1"}},
	} {
		_, err := f.CreateCampaign(t.Context(), f.by, c, "", phones())
		assert.Equal(t, param, recordtest.ErrorField(err))
	}
	c := f.create(t, &domain.Campaign{Name: "c", Status: domain.CampaignDraft}, "+12025550101")
	_, err := f.StartCampaign(t.Context(), f.by, c.ID)
	assert.Equal(t, "caller_id.number", recordtest.ErrorField(err), "the workspace has no number to show")
	f.node.owned = []string{"+12025550170"}
	_, err = f.StartCampaign(t.Context(), f.by, c.ID)
	assert.NotEqual(t, domain.CodeCallerIDRequired, domain.CodeOf(err))
}

func TestCampaignOfAnotherWorkspaceOrEnvironmentIsNotFound(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	c := f.create(t, &domain.Campaign{Name: "c", Status: domain.CampaignDraft})
	for _, p := range []domain.Principal{recordtest.Live(recordtest.OtherWorkspace), {WorkspaceID: recordtest.Workspace, Environment: domain.Test}} {
		_, err := f.Campaign(t.Context(), p, c.ID)
		assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err))
		_, err = f.CampaignStatus(t.Context(), p, c.ID)
		assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err))
		_, err = f.PauseCampaign(t.Context(), p, c.ID)
		assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err))
		_, err = f.CampaignProgress(t.Context(), p, c.ID)
		assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err))
		_, _, err = f.UpdateCampaign(t.Context(), p, c.ID, func(*domain.Campaign) error { return nil })
		assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err))
		assert.Equal(t, domain.CodeNotFound, domain.CodeOf(f.DeleteCampaign(t.Context(), p, c.ID)))
	}
}

func TestUpdateCampaignReplacesWebhooks(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	c := f.create(t, &domain.Campaign{Name: "c", Status: domain.CampaignDraft, Webhooks: map[string]string{"call.ended": "https://a.example", "call.started": "https://b.example"}})
	f.node.calls = nil
	hooks := map[string]string{"call.ended": "https://a.example", "call.started": "https://a.example", "campaign.completed": "https://c.example"}
	_, secret, err := f.UpdateCampaign(t.Context(), f.by, c.ID, func(c *domain.Campaign) error { c.Webhooks = hooks; return nil })
	require.NoError(t, err)
	assert.NotEmpty(t, secret, "secret of the new endpoint")
	assert.Equal(t, map[string][]string{"https://a.example": {"call.ended", "call.started"}, "https://c.example": {"campaign.completed"}}, f.webhooks(t, c))
	assert.ElementsMatch(t, []string{"changed https://a.example", "changed https://c.example", "deleted https://b.example", "changed c"}, f.node.calls)
	token := f.by
	token.UserID, token.KeyID = "user_1", "key_1"
	_, _, err = f.UpdateCampaign(t.Context(), token, c.ID, func(c *domain.Campaign) error {
		c.Webhooks = map[string]string{"call.ended": "https://d.example"}
		return nil
	})
	assert.Error(t, err, "an endpoint would outlive the access token")
}

func TestDeletedCampaignLeavesNoRows(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	c := f.create(t, &domain.Campaign{Name: "c", Status: domain.CampaignRunning, Webhooks: map[string]string{"call.ended": "https://a.example"}}, "+12025550101")
	assert.Equal(t, domain.CodeInvalidState, domain.CodeOf(f.DeleteCampaign(t.Context(), f.by, c.ID)))
	_, _, err := f.UpdateCampaign(t.Context(), f.by, c.ID, func(c *domain.Campaign) error { c.Status = domain.CampaignCompleted; return nil })
	require.NoError(t, err)
	p := domain.Principal{WorkspaceID: recordtest.Workspace, Environment: domain.Live}
	call := &domain.Call{CampaignID: c.ID}
	call.Init("call", p, record.RequestResourceID(t.Context(), domain.PrefixCall), record.Now())
	export := &domain.Export{Filters: domain.ExportFilters{CampaignID: c.ID}, Status: domain.ExportCompleted}
	export.Init("export", p, record.RequestResourceID(t.Context(), domain.PrefixExport), record.Now())
	require.NoError(t, record.Create(t.Context(), f.node.store, call))
	require.NoError(t, record.Create(t.Context(), f.node.store, export))

	require.NoError(t, f.DeleteCampaign(t.Context(), f.by, c.ID))
	_, err = f.Campaign(t.Context(), f.by, c.ID)
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err))
	for _, want := range []string{"deleted https://a.example", "deleted a call", "deleted " + export.File()} {
		assert.True(t, slices.Contains(f.node.calls, want), want)
	}
	assert.Empty(t, f.webhooks(t, c))
	left := 0
	require.NoError(t, f.node.store.Under(t.Context(), domain.Key{Kind: "chunk", Workspace: recordtest.Workspace, ID: c.ID + "/"}, "", 10,
		func() domain.Record { return &domain.ContactChunk{} }, func(domain.Record) error { left++; return nil }))
	assert.Zero(t, left)
	require.NoError(t, commit.ForEachRow(t.Context(), f.node.store, "doomed", recordtest.Workspace, "all", func(*domain.DeletedCampaign) { left++ }))
	assert.Zero(t, left, "all rows of the campaign are deleted")
}

func TestCopyCampaignCopiesContactsInRequestedStates(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	c := f.create(t, &domain.Campaign{Name: "c", Status: domain.CampaignDraft}, "+12025550101", "+12025550102")
	rename := func(c *domain.Campaign) error { c.Name = "copy"; return nil }
	made, err := f.CopyCampaign(t.Context(), f.by, c.ID, []string{"pending"}, rename)
	require.NoError(t, err)
	assert.Equal(t, []any{"copy", domain.CampaignDraft, 2}, []any{made.Campaign.Name, made.Campaign.Status, made.Upload.Summary.Accepted})
	made, err = f.CopyCampaign(t.Context(), f.by, c.ID, []string{"completed"}, rename)
	require.NoError(t, err)
	assert.Zero(t, made.Upload.Summary.Received)
}
