package contacts_test

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"testing"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/persistence/pebbletest"
	"github.com/callboard/callboard/service/contacts"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/record/recordtest"
)

// campaigns reads campaigns from the store. It returns no campaign actors.
type campaigns struct {
	store *pebbletest.Store
	added []int // totals of contacts that were reported to campaign actors
}

func (c *campaigns) Campaign(ctx context.Context, p domain.Principal, id string) (*domain.Campaign, error) {
	one, _, err := record.Get[domain.Campaign](ctx, c.store, p, domain.PrefixCampaign, id)
	return one, err
}
func (*campaigns) StartIfDraft(context.Context, *domain.Campaign) bool { return false }
func (*campaigns) CampaignPID(string, string) *actor.PID               { return nil }
func (c *campaigns) AwaitContacts(_ context.Context, _ *domain.Campaign, total int) {
	c.added = append(c.added, total)
}

// listed is a fake do-not-call list that contains one number.
type listed string

func (l listed) Scrubber(*domain.Campaign) func(context.Context, string) (bool, error) {
	return func(_ context.Context, e164 string) (bool, error) { return e164 == string(l), nil }
}

type fixture struct {
	*contacts.Service

	store     *pebbletest.Store
	campaigns *campaigns
	by        domain.Principal
	campaign  *domain.Campaign
}

func setUp(t *testing.T) *fixture {
	t.Helper()
	store := pebbletest.OpenStore(t)
	f := &fixture{store: store, campaigns: &campaigns{store: store}, by: recordtest.Live(recordtest.Workspace)}
	f.Service = contacts.New(contacts.Config{
		Store: store, Campaigns: f.campaigns, Actors: f.campaigns, DNC: listed("+12025550199"), OnCalls: func() bool { return false }, Log: slog.New(slog.DiscardHandler),
		Workspaces: recordtest.Workspaces{recordtest.Workspace: {DefaultCountry: "US", Calling: domain.DestinationRules{Countries: []string{"US"}}}},
		Script: func(context.Context, domain.Principal, string, string) (domain.Script, error) {
			return domain.Script{Pathway: domain.Pathway{Variables: []domain.Variable{{Name: "name", Required: true}}}}, nil
		},
	})
	f.campaign = f.addCampaign(t, domain.CampaignDraft)
	return f
}

func (f *fixture) addCampaign(t *testing.T, status domain.CampaignStatus) *domain.Campaign {
	t.Helper()
	c := &domain.Campaign{Name: "c", Status: status, DefaultCountry: "US"}
	c.Init("campaign", f.by, record.RequestResourceID(t.Context(), domain.PrefixCampaign), record.Now())
	require.NoError(t, record.Create(t.Context(), f.store, c, func(change *commit.Change) {
		change.Puts = append(change.Puts, &domain.Progress{CampaignID: c.ID, WorkspaceID: c.WorkspaceID})
	}))
	return c
}

// rows yields contacts named Ada, followed by err if it is not nil.
func rows(err error, phones ...string) iter.Seq2[domain.RawContact, error] {
	return func(yield func(domain.RawContact, error) bool) {
		for i, phone := range phones {
			if !yield(domain.RawContact{Line: i + 1, Phone: phone, Context: domain.Context{"name": "Ada"}}, nil) {
				return
			}
		}
		if err != nil {
			yield(domain.RawContact{}, err)
		}
	}
}

// phones returns the phone numbers of the campaign's contacts.
func (f *fixture) phones(t *testing.T) (all []string) {
	t.Helper()
	l, err := f.ListContacts(t.Context(), f.by, f.campaign.ID, contacts.Query{Limit: 100})
	require.NoError(t, err)
	for _, one := range l.Data {
		all = append(all, one.Phone)
	}
	return all
}

func TestUploadAddsValidContactsAndCountsRefusedRows(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	sum, err := f.AddContacts(t.Context(), f.by, f.campaign.ID, rows(nil, "+12025550101", "(202) 555-0102", "+12025550101", "12", "+12025550199", "+4930123456"))
	require.NoError(t, err)
	assert.Equal(t, domain.ContactsSummary{Received: 6, Accepted: 2, Duplicates: 1, Invalid: 1, DNC: 1, NotAllowed: 1}, sum.Summary)
	assert.Equal(t, []string{"+12025550101", "+12025550102"}, f.phones(t))
	u, err := f.Upload(t.Context(), f.by, f.campaign.ID, sum.UploadID)
	require.NoError(t, err)
	assert.Equal(t, domain.UploadCompleted, u.Status)

	_, err = f.AddContacts(t.Context(), f.by, f.campaign.ID, rows(nil, "+12025550103", "+12025550102"))
	require.NoError(t, err)
	assert.Equal(t, []string{"+12025550101", "+12025550102", "+12025550103"}, f.phones(t), "the second upload appends its contact")
	assert.Equal(t, []int{2, 3}, f.campaigns.added)

	other := f.addCampaign(t, domain.CampaignDraft)
	_, err = f.Upload(t.Context(), f.by, other.ID, sum.UploadID)
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err), "the upload belongs to another campaign")
	_, err = f.AddContacts(t.Context(), recordtest.Live(recordtest.OtherWorkspace), f.campaign.ID, rows(nil, "+12025550103"))
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err))
	over := f.addCampaign(t, domain.CampaignCompleted)
	_, err = f.AddContacts(t.Context(), f.by, over.ID, rows(nil, "+12025550103"))
	assert.Equal(t, domain.CodeInvalidState, domain.CodeOf(err))
}

func TestInterruptedUploadLeavesNoContacts(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	_, err := f.AddContacts(t.Context(), f.by, f.campaign.ID, rows(context.Canceled, "+12025550101"))
	require.ErrorIs(t, err, context.Canceled)
	l, err := f.ListUploads(t.Context(), f.by, f.campaign.ID, record.PageQuery{Limit: 10})
	require.NoError(t, err)
	require.Len(t, l.Data, 1)
	assert.Equal(t, []any{domain.UploadFailed, "cancelled"}, []any{l.Data[0].Status, l.Data[0].Reason})

	// The test simulates that the process ends during the upload. A new service must then undo the upload.
	f.store.BeforeApply = func(c commit.Change) error {
		for _, r := range c.Puts {
			if u, ok := r.(*domain.Upload); ok && u.Status != domain.UploadReceiving {
				return errors.New("the disk is full")
			}
		}
		return nil
	}
	_, err = f.AddContacts(t.Context(), f.by, f.campaign.ID, rows(nil, "+12025550102"))
	assert.Equal(t, domain.CodeUnavailable, domain.CodeOf(err))
	f.store.BeforeApply = nil
	require.NoError(t, f.UndoInterruptedUploads(t.Context(), recordtest.Workspace))
	l, err = f.ListUploads(t.Context(), f.by, f.campaign.ID, record.PageQuery{Limit: 10})
	require.NoError(t, err)
	assert.Equal(t, domain.UploadInterrupted, l.Data[0].Reason)
	assert.Empty(t, f.phones(t))
	_, err = f.AddContacts(t.Context(), f.by, f.campaign.ID, rows(nil, "+12025550103"))
	require.NoError(t, err)
	assert.Equal(t, []string{"+12025550103"}, f.phones(t))
}

func TestCampaignAllowsOneUploadAtATime(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	_, err := f.AddContacts(t.Context(), f.by, f.campaign.ID, func(yield func(domain.RawContact, error) bool) {
		_, err := f.AddContacts(t.Context(), f.by, f.campaign.ID, rows(nil, "+12025550102"))
		assert.Equal(t, domain.CodeInvalidState, domain.CodeOf(err))
		_, err = f.LockUploads(f.campaign)
		assert.Equal(t, domain.CodeInvalidState, domain.CodeOf(err))
		rows(nil, "+12025550101")(yield)
	})
	require.NoError(t, err)
	assert.Equal(t, []string{"+12025550101"}, f.phones(t))
	unlock, err := f.LockUploads(f.campaign)
	require.NoError(t, err)
	unlock()
}

func TestUpdateContactErrorsNameField(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	_, err := f.AddContacts(t.Context(), f.by, f.campaign.ID, rows(nil, "+12025550101", "+12025550102"))
	require.NoError(t, err)
	l, err := f.ListContacts(t.Context(), f.by, f.campaign.ID, contacts.Query{Limit: 1})
	require.NoError(t, err)
	for name, c := range map[string]struct {
		change func(*domain.Contact)
		param  string
		code   domain.Code
	}{
		"no number":           {func(c *domain.Contact) { c.Phone = "12" }, "phone", domain.CodeValidation},
		"number of another":   {func(c *domain.Contact) { c.Phone = "(202) 555-0102" }, "phone", domain.CodeAlreadyExists},
		"forbidden country":   {func(c *domain.Contact) { c.Phone = "+4930123456" }, "phone", domain.CodeDestinationNotAllowed},
		"unknown zone":        {func(c *domain.Contact) { c.Timezone = "Mars" }, "timezone", domain.CodeValidation},
		"a required variable": {func(c *domain.Contact) { c.Context = domain.Context{"x": "y"} }, "context", domain.CodeValidation},
		"no actor":            {func(c *domain.Contact) { c.Context = domain.Context{"name": "Bo"} }, "", domain.CodeUnavailable},
	} {
		_, err = f.UpdateContact(t.Context(), f.by, f.campaign.ID, l.Data[0].ID, func(one *domain.Contact) error { c.change(one); return nil })
		assert.Equal(t, c.param, recordtest.ErrorField(err), name)
		assert.Equal(t, c.code, domain.CodeOf(err), name)
	}
	_, err = f.Contact(t.Context(), recordtest.Live(recordtest.OtherWorkspace), f.campaign.ID, l.Data[0].ID)
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err))
}
