package dnc_test

import (
	"errors"
	"iter"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	register "github.com/callboard/callboard/actors/dnc"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/persistence/pebbletest"
	"github.com/callboard/callboard/service/dnc"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/record/recordtest"
)

type fixture struct {
	*dnc.Service

	store *pebbletest.Store
	by    domain.Principal
	list  *domain.DNCList
}

func setUp(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{store: pebbletest.OpenStore(t), by: recordtest.Live(recordtest.Workspace)}
	r := register.New(f.store, func(string, uint64) string { return "" }, nil)
	f.Service = dnc.New(f.store, r, recordtest.Workspaces{recordtest.Workspace: {DefaultCountry: "US"}})
	var err error
	f.list, err = f.CreateDNCList(t.Context(), f.by, &domain.DNCList{Name: "l"})
	require.NoError(t, err)
	return f
}

func numbers(err error, list ...string) iter.Seq2[domain.RawNumber, error] {
	return func(yield func(domain.RawNumber, error) bool) {
		for i, phone := range list {
			if !yield(domain.RawNumber{Line: i + 1, Phone: phone}, nil) {
				return
			}
		}
		if err != nil {
			yield(domain.RawNumber{}, err)
		}
	}
}

func TestDNCImportAddsEachNumberOnce(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	_, err := f.ImportDNC(t.Context(), f.by, f.list.ID, numbers(errors.New("the connection was closed"), "+12025550101"))
	require.Error(t, err)
	l, err := f.DNCList(t.Context(), f.by, f.list.ID)
	require.NoError(t, err)
	assert.Zero(t, l.Entries, "a failed import adds no number")

	sum, err := f.ImportDNC(t.Context(), f.by, f.list.ID, numbers(nil, "+12025550101", "(202) 555-0101", "12", "+12025550102"))
	require.NoError(t, err)
	assert.Equal(t, []int{4, 2, 1, 1}, []int{sum.Received, sum.Added, sum.Duplicates, sum.Invalid})
	assert.Equal(t, []domain.ContactError{{Line: 3, Phone: "12", Code: "invalid_phone", Message: sum.Errors[0].Message}}, sum.Errors)
	check, err := f.CheckDNC(t.Context(), f.by, "202-555-0102")
	require.NoError(t, err)
	require.Len(t, check.Lists, 1)
	assert.Equal(t, f.list.ID, check.Lists[0].ListID)

	e164, err := f.DeleteDNCEntry(t.Context(), f.by, f.list.ID, "12025550102")
	require.NoError(t, err)
	assert.Equal(t, "+12025550102", e164)
	_, err = f.DeleteDNCEntry(t.Context(), f.by, f.list.ID, "12025550102")
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err))
	page, err := f.ListDNCEntries(t.Context(), f.by, f.list.ID, record.PageQuery{Limit: 10})
	require.NoError(t, err)
	assert.Len(t, page.Data, 1)
	_, err = f.ListDNCEntries(t.Context(), f.by, f.list.ID, record.PageQuery{Limit: 10, Cursor: "x"})
	assert.Equal(t, "cursor", recordtest.ErrorField(err))
}

func TestDNCListIsLockedDuringImport(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	_, err := f.ImportDNC(t.Context(), f.by, f.list.ID, func(func(domain.RawNumber, error) bool) {
		_, err := f.ImportDNC(t.Context(), f.by, f.list.ID, numbers(nil))
		assert.Equal(t, domain.CodeInvalidState, domain.CodeOf(err))
		assert.Equal(t, domain.CodeInvalidState, domain.CodeOf(f.DeleteDNCList(t.Context(), f.by, f.list.ID)))
	})
	require.NoError(t, err)
	require.NoError(t, f.DeleteDNCList(t.Context(), f.by, f.list.ID))
}

func TestDNCListOfOpenCampaignIsNotDeleted(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	c := &domain.Campaign{Status: domain.CampaignRunning, Compliance: domain.Compliance{DNCListID: f.list.ID}}
	c.Init("campaign", f.by, record.RequestResourceID(t.Context(), domain.PrefixCampaign), record.Now())
	require.NoError(t, record.Create(t.Context(), f.store, c))
	assert.Equal(t, domain.CodeInvalidState, domain.CodeOf(f.DeleteDNCList(t.Context(), f.by, f.list.ID)))
	c.Status = domain.CampaignCompleted
	_, err := f.store.Apply(t.Context(), commit.Change{Workspace: c.WorkspaceID, Puts: []domain.Record{c}})
	require.NoError(t, err)
	require.NoError(t, f.DeleteDNCList(t.Context(), f.by, f.list.ID))
	assert.Equal(t, "compliance.dnc_list_id", recordtest.ErrorField(f.ListExists(t.Context(), f.by, "compliance.dnc_list_id", f.list.ID)))
}

func TestDNCListOfAnotherWorkspaceIsNotFound(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	_, err := f.ImportDNC(t.Context(), f.by, f.list.ID, numbers(nil, "+12025550101"))
	require.NoError(t, err)
	other := recordtest.Live(recordtest.OtherWorkspace)
	_, err = f.DNCList(t.Context(), other, f.list.ID)
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err))
	_, err = f.ImportDNC(t.Context(), other, f.list.ID, numbers(nil, "+12025550102"))
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err))
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(f.DeleteDNCList(t.Context(), other, f.list.ID)))
	check, err := f.CheckDNC(t.Context(), other, "+12025550101")
	require.NoError(t, err)
	assert.False(t, check.Listed)
}
