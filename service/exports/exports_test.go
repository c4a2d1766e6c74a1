package exports_test

import (
	"context"
	"errors"
	"io"
	"iter"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/persistence/pebbletest"
	"github.com/callboard/callboard/service/exports"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/record/contactlist"
	"github.com/callboard/callboard/service/record/recordtest"
)

// jobs is a fake job runner. It stores the work of an export, which the test then runs.
type jobs struct {
	work func(context.Context) error
}

func (j *jobs) Start(_ context.Context, _ string, work func(context.Context) error) bool {
	j.work = work
	return true
}

// campaignSource is a fake with one campaign that has one result. If err is set, reading further results fails with err.
type campaignSource struct{ err error }

func (*campaignSource) Campaign(_ context.Context, _ domain.Principal, id string) (*domain.Campaign, error) {
	if id != "campaign_1" {
		return nil, domain.NotFound("campaign")
	}
	return &domain.Campaign{}, nil
}

func (s *campaignSource) CampaignResults(context.Context, domain.Principal, string) (iter.Seq2[contactlist.ResultRow, error], error) {
	return func(yield func(contactlist.ResultRow, error) bool) {
		if yield(contactlist.ResultRow{Phone: "+12025550101", Outcome: "completed"}, nil) && s.err != nil {
			yield(contactlist.ResultRow{}, s.err)
		}
	}, nil
}

func (*campaignSource) ExportContacts(context.Context, domain.Principal, string, string) (contactlist.ContactsExport, error) {
	return contactlist.ContactsExport{}, errors.New("the test exports no contacts")
}

type fixture struct {
	*exports.Service

	store     *pebbletest.Store
	blobs     recordtest.Blobs
	jobs      jobs
	campaigns campaignSource
	by        domain.Principal
}

func setUp(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{store: pebbletest.OpenStore(t), by: recordtest.Live(recordtest.Workspace)}
	f.Service = exports.New(exports.Config{
		Store: f.store, Blobs: &f.blobs, Jobs: &f.jobs, Campaigns: &f.campaigns, Background: t.Context, OnCalls: func() bool { return false },
		PublicURL: "https://callboard.example/", Log: slog.New(slog.DiscardHandler),
	})
	return f
}

func (f *fixture) create(t *testing.T, e *domain.Export) *domain.Export {
	t.Helper()
	e, err := f.CreateExport(t.Context(), f.by, e)
	require.NoError(t, err)
	return e
}

func (f *fixture) results(t *testing.T) *domain.Export {
	t.Helper()
	return f.create(t, &domain.Export{Type: domain.ExportResults, Format: "csv", Filters: domain.ExportFilters{CampaignID: "campaign_1"}})
}

// file returns the content of an export's file, or the error code if the file cannot be opened.
func (f *fixture) file(t *testing.T, e *domain.Export) (string, domain.Code) {
	t.Helper()
	r, err := f.ExportFile(t.Context(), f.by, e.ID)
	if err != nil {
		return "", domain.CodeOf(err)
	}
	text, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	return string(text), ""
}

func TestExportFileIsWrittenInBackground(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	_, err := f.CreateExport(t.Context(), f.by, &domain.Export{Type: domain.ExportResults, Filters: domain.ExportFilters{CampaignID: "campaign_2"}})
	assert.Equal(t, "filters.campaign_id", recordtest.ErrorField(err))
	e := f.results(t)
	_, code := f.file(t, e)
	assert.Equal(t, domain.CodeProcessing, code)
	require.NoError(t, f.jobs.work(t.Context()))
	text, _ := f.file(t, e)
	lines := strings.Split(text, "\r\n")
	require.Len(t, lines, 3)
	assert.True(t, strings.HasPrefix(lines[0], "phone,"), lines[0])
	assert.True(t, strings.HasPrefix(lines[1], "+12025550101,"), lines[1])
	_, err = f.Export(t.Context(), recordtest.Live(recordtest.OtherWorkspace), e.ID)
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err))

	require.NoError(t, f.SweepExports(t.Context(), recordtest.Workspace, time.Now().Add(domain.ExportLifetime+time.Hour)))
	_, code = f.file(t, e)
	assert.Equal(t, domain.CodeExportExpired, code)
}

func TestCallExportContainsCallsOfEnvironmentWithURLs(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	for _, env := range []domain.Environment{domain.Live, domain.Test} {
		c := &domain.Call{RecordingAvailable: true, To: "+1202555010" + string(env[:1])}
		c.Init("call", domain.Principal{WorkspaceID: recordtest.Workspace, Environment: env}, record.RequestResourceID(t.Context(), domain.PrefixCall), record.Now())
		require.NoError(t, record.Create(t.Context(), f.store, c))
	}
	e := f.create(t, &domain.Export{Type: domain.ExportCalls, Format: "jsonl"})
	require.NoError(t, f.jobs.work(t.Context()))
	text, _ := f.file(t, e)
	assert.Equal(t, 1, strings.Count(text, "\n"))
	assert.Contains(t, text, `"recording_url":"https://callboard.example/v1/calls/call_`)
	e, err := f.Export(t.Context(), f.by, e.ID)
	require.NoError(t, err)
	assert.Equal(t, []any{1, int64(len(text))}, []any{e.Rows, e.Size})
}

func TestExportFailsAfterFiveTries(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	e := f.results(t)
	f.campaigns.err = domain.ErrBlobsUnavailable
	for range 10 {
		require.ErrorIs(t, f.jobs.work(t.Context()), domain.ErrBlobsUnavailable, "an unavailable store is not a failed try")
	}
	f.campaigns.err = domain.Errorf(domain.CodeUnavailable, "the store cannot be reached")
	for range 4 {
		require.Error(t, f.jobs.work(t.Context()))
		_, code := f.file(t, e)
		assert.Equal(t, domain.CodeProcessing, code)
	}
	require.NoError(t, f.jobs.work(t.Context()))
	_, code := f.file(t, e)
	assert.Equal(t, domain.CodeInvalidState, code)
	e, err := f.Export(t.Context(), f.by, e.ID)
	require.NoError(t, err)
	assert.Equal(t, []any{domain.ExportFailed, domain.CodeUnavailable, 0}, []any{e.Status, e.Reason, e.Rows})
}

func TestFailedExportCommitStartsNoJob(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	f.store.BeforeApply = func(commit.Change) error { return errors.New("the disk is full") }
	_, err := f.CreateExport(t.Context(), f.by, &domain.Export{Type: domain.ExportCalls, Format: "csv"})
	assert.Equal(t, domain.CodeUnavailable, domain.CodeOf(err))
	assert.Nil(t, f.jobs.work)
}
