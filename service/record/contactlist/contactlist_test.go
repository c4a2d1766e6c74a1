package contactlist_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/persistence"
	"github.com/callboard/callboard/persistence/pebbletest"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/record/contactlist"
	"github.com/callboard/callboard/service/record/recordtest"
)

type fixture struct {
	contactlist.Reader

	t        *testing.T
	store    *persistence.Store
	campaign *domain.Campaign
	progress *domain.Progress
}

func setUp(t *testing.T) *fixture {
	t.Helper()
	store := pebbletest.Open(t)
	f := &fixture{t: t, Reader: contactlist.New(store), store: store, campaign: &domain.Campaign{Status: domain.CampaignRunning, DefaultCountry: "US"}}
	f.campaign.Init("campaign", recordtest.Live(recordtest.Workspace), record.RequestResourceID(t.Context(), domain.PrefixCampaign), record.Now())
	f.progress = &domain.Progress{CampaignID: f.campaign.ID, WorkspaceID: recordtest.Workspace}
	return f
}

func (f *fixture) put(rows ...domain.Record) {
	f.t.Helper()
	_, err := f.store.Apply(f.t.Context(), commit.Change{Workspace: recordtest.Workspace, Puts: rows})
	require.NoError(f.t, err)
}

// add imports rows and commits them. The contacts count as added at the time after after the campaign's creation.
func (f *fixture) add(after time.Duration, checks contactlist.Checks, rows iter.Seq2[domain.RawContact, error]) *contactlist.Import {
	f.t.Helper()
	in, err := contactlist.NewImport(f.t.Context(), &f.Reader, f.campaign, f.progress, f.campaign.CreatedAt.Add(after), checks)
	require.NoError(f.t, err)
	in.Store = func(chunks []domain.Record) error { f.put(chunks...); return nil }
	require.NoError(f.t, in.Read(rows))
	f.progress.Total, f.progress.Screened = in.Total, in.Screened.Total
	f.put(append(in.Tails, f.progress)...)
	return in
}

// numbered yields n contacts with consecutive phone numbers, beginning with number(first).
func numbered(first, n int) iter.Seq2[domain.RawContact, error] {
	return func(yield func(domain.RawContact, error) bool) {
		for i := range n {
			if !yield(domain.RawContact{Line: i + 1, Phone: number(first + i)}, nil) {
				return
			}
		}
	}
}

func number(i int) string { return fmt.Sprintf("+1202555%04d", i) }

func rows(list ...domain.RawContact) iter.Seq2[domain.RawContact, error] {
	return func(yield func(domain.RawContact, error) bool) {
		for _, row := range list {
			if !yield(row, nil) {
				return
			}
		}
	}
}

// ordinals lists the contacts in a state page by page and returns their positions in the upload order.
func (f *fixture) ordinals(state string, added record.TimeRange) (all []int) {
	f.t.Helper()
	for from := 0; ; {
		page, next, err := f.Page(f.t.Context(), f.campaign, from, 300, state, added)
		require.NoError(f.t, err)
		for _, one := range page {
			ordinal, ok := domain.ContactOrdinal(f.campaign.ID, one.ID)
			require.True(f.t, ok)
			require.Equal(f.t, number(ordinal), one.Phone)
			all = append(all, ordinal)
		}
		if from = next; next == 0 {
			return all
		}
	}
}

func TestContactImportReportsErrorOfEachRow(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	checks := contactlist.Checks{
		Required: []string{"name"}, Listed: func(_ context.Context, phone string) (bool, error) { return phone == number(4), nil },
		Allowed: func(n domain.Number) error {
			if n.Country != "US" {
				return domain.Errorf(domain.CodeDestinationNotAllowed, "no")
			}
			return nil
		},
	}
	ada := domain.Context{"name": "Ada", "rooms": "2"}
	in := f.add(0, checks, rows(
		domain.RawContact{Line: 1, Phone: number(1), Context: ada}, domain.RawContact{Line: 2, Problem: "is no JSON object"}, domain.RawContact{Line: 3, Phone: "12", Context: ada},
		domain.RawContact{Line: 4, Phone: number(2), Context: ada, Timezone: "Mars"}, domain.RawContact{Line: 5, Phone: number(1), Context: ada}, domain.RawContact{Line: 6, Phone: "+4930123456", Context: ada},
		domain.RawContact{Line: 7, Phone: number(3)}, domain.RawContact{Line: 8, Phone: number(4), Context: ada}, domain.RawContact{Line: 9, Phone: number(4), Context: ada},
	))
	assert.Equal(t, domain.ContactsSummary{Received: 9, Accepted: 1, Duplicates: 2, Invalid: 3, DNC: 1, NotAllowed: 1, MissingVariables: 1}, in.Summary)
	var codes []domain.Code
	for i, e := range in.Errors {
		assert.Equal(t, i+2, e.Line)
		codes = append(codes, e.Code)
	}
	assert.Equal(t, []domain.Code{"invalid_row", "invalid_phone", "invalid_timezone", "duplicate", domain.CodeDestinationNotAllowed, "missing_variable", "dnc", "duplicate"}, codes)
	assert.Equal(t, []string{"name", "rooms"}, in.CompleteUpload(domain.Upload{}).Fields)
	reasons := make(map[string]domain.Reason)
	for row, err := range f.Screened(t.Context(), f.campaign, f.progress.Screened) {
		require.NoError(t, err)
		reasons[row.Phone] = row.Reason
	}
	assert.Equal(t, map[string]domain.Reason{"+4930123456": "destination_not_allowed", number(3): "missing_variable", number(4): "dnc"}, reasons, "the results show them")
}

func TestContactImportStopsWhenDNCCheckFails(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	unknown := errors.New("the store cannot be reached")
	in, err := contactlist.NewImport(t.Context(), &f.Reader, f.campaign, f.progress, f.campaign.CreatedAt, contactlist.Checks{
		Listed: func(context.Context, string) (bool, error) { return false, unknown },
	})
	require.NoError(t, err)
	in.Store = func([]domain.Record) error { t.Error("something is stored"); return nil }
	assert.ErrorIs(t, in.Read(numbered(0, 1)), unknown)
}

func TestContactImportFillsLastChunkOfEarlierUpload(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	f.add(0, contactlist.Checks{}, numbered(0, domain.ChunkSize+10))
	f.add(time.Hour, contactlist.Checks{}, numbered(domain.ChunkSize, 30)) // ten of these numbers are in the campaign already
	f.add(2*time.Hour, contactlist.Checks{}, numbered(domain.ChunkSize+30, domain.ChunkSize))
	total := 2*domain.ChunkSize + 30
	assert.Equal(t, total, f.progress.Total)
	assert.Len(t, f.ordinals("", record.TimeRange{}), total)
	added := f.ordinals("", record.TimeRange{After: f.campaign.CreatedAt.Add(time.Minute), Before: f.campaign.CreatedAt.Add(90 * time.Minute)})
	require.Len(t, added, 20)
	assert.Equal(t, []int{domain.ChunkSize + 10, domain.ChunkSize + 29}, []int{added[0], added[19]})
}

func TestContactsAreListedByState(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	f.add(0, contactlist.Checks{}, numbered(0, 600))
	states := make([]byte, domain.PageSize)
	states[3], states[4], states[5] = byte(domain.ContactOpen), byte(domain.ContactOpen), byte(domain.ContactConfirmed)
	call := &domain.Call{Status: domain.CallInProgress, CampaignID: f.campaign.ID, ContactID: domain.ContactID(f.campaign.ID, domain.PageSize+4)}
	call.Init("call", recordtest.Live(recordtest.Workspace), record.RequestResourceID(t.Context(), domain.PrefixCall), record.Now())
	f.put(&domain.ContactPage{CampaignID: f.campaign.ID, WorkspaceID: recordtest.Workspace, Index: 1, States: states, Attempts: make([]byte, domain.PageSize)}, call,
		&domain.ContactResult{CampaignID: f.campaign.ID, WorkspaceID: recordtest.Workspace, Ordinal: domain.PageSize + 5, Outcome: domain.OutcomeConfirmed, Attempts: 2})
	for state, want := range map[string][]int{
		"dialing": {domain.PageSize + 3}, "in_call": {domain.PageSize + 4}, "confirmed": {domain.PageSize + 5}, "busy": nil,
	} {
		assert.Equal(t, want, f.ordinals(state, record.TimeRange{}), state)
	}
	assert.Len(t, f.ordinals("pending", record.TimeRange{}), 597)
	found, err := f.Find(t.Context(), f.campaign, domain.ContactID(f.campaign.ID, domain.PageSize+5))
	require.NoError(t, err)
	assert.Equal(t, []any{domain.ContactConfirmed, 2}, []any{found.State, found.Result.Attempts})
	for _, id := range []string{domain.ContactID(f.campaign.ID, 600), "contact_1", domain.ContactID("campaign_2", 1)} {
		_, err = f.Find(t.Context(), f.campaign, id)
		assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err))
	}
	n := 0
	for _, err := range f.AllReadAhead(t.Context(), f.campaign, contactlist.StatesShownAs(f.campaign.Status, "pending")) {
		require.NoError(t, err)
		n++
	}
	assert.Equal(t, 597, n)
}

func TestReaderReturnsEditedContact(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	f.add(0, contactlist.Checks{}, numbered(0, 3))
	f.progress.Edits = 1
	f.put(f.progress, &domain.ContactEdit{CampaignID: f.campaign.ID, WorkspaceID: recordtest.Workspace, Ordinal: 1, Contact: domain.Contact{Phone: number(9)}})
	found, err := f.Find(t.Context(), f.campaign, domain.ContactID(f.campaign.ID, 1))
	require.NoError(t, err)
	assert.Equal(t, number(9), found.Contact.Phone)
	in := f.add(time.Hour, contactlist.Checks{}, rows(domain.RawContact{Phone: number(9)}, domain.RawContact{Phone: number(1)}))
	assert.Equal(t, domain.ContactsSummary{Received: 2, Accepted: 1, Duplicates: 1}, in.Summary, "the former number is free")
}
