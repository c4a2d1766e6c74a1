package node_test

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// waitForExport waits until an export is completed. It returns the export and the content of its file.
func (h *fixture) waitForExport(p domain.Principal, e *domain.Export) (*domain.Export, string) {
	h.Helper()
	h.waitUntil(longWait, "the export has ended", func() bool {
		now, err := h.services().Exports.Export(h.Context(), p, e.ID)
		require.NoError(h, err)
		e = now
		return e.Status == domain.ExportCompleted || e.Status == domain.ExportFailed
	})
	file, err := h.services().Exports.ExportFile(h.Context(), p, e.ID)
	require.NoError(h, err, "%v", e)
	defer func() { _ = file.Body.Close() }()
	text, err := io.ReadAll(file.Body)
	require.NoError(h, err)
	assert.Equal(h, []int64{e.Size, e.Size}, []int64{file.Size, int64(len(text))})
	return e, string(text)
}

func TestExportContainsEachRowOnceWithoutSpreadsheetFormulas(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	campaign := h.createCampaign(h.live, h.createAgent(h.live, keyMenuPathway()), phoneNumber(0))
	_, err := d.Contacts.AddContacts(ctx, h.live, campaign, func(yield func(domain.RawContact, error) bool) {
		for i := range 1300 {
			if !yield(domain.RawContact{Line: i, Phone: phoneNumber(1 + i), Timezone: "UTC", Context: domain.Context{"name": "=1+1"}}, nil) {
				return
			}
		}
	})
	require.NoError(t, err)
	order := func(kind domain.ExportType, format string, x domain.ExportFilters) (*domain.Export, string) {
		e, err := d.Exports.CreateExport(ctx, h.live, &domain.Export{Type: kind, Format: format, Filters: x})
		require.NoError(t, err)
		return h.waitForExport(h.live, e)
	}
	e, text := order(domain.ExportContacts, "csv", domain.ExportFilters{CampaignID: campaign})
	records, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	require.NoError(t, err)
	assert.Equal(t, []int{1302, 1301}, []int{len(records), e.Rows})
	seen := map[string]bool{}
	for _, r := range records[1:] {
		seen[r[0]] = true
	}
	assert.Len(t, seen, 1301)
	for _, kind := range []domain.ExportType{domain.ExportCalls, domain.ExportLegs, domain.ExportTranscripts, domain.ExportUsage, domain.ExportEvents} {
		for _, format := range []string{"csv", "jsonl"} {
			_, text = order(kind, format, domain.ExportFilters{})
			if format == "csv" {
				_, err = csv.NewReader(strings.NewReader(text)).ReadAll()
				require.NoError(t, err, "every row has the columns of %s", kind)
				continue
			}
			for line := range strings.Lines(text) {
				require.True(t, json.Valid([]byte(line)), line)
			}
		}
	}
	_, text = order(domain.ExportEvents, "jsonl", domain.ExportFilters{Types: []string{"campaign.*"}})
	assert.Equal(t, 1, strings.Count(text, "campaign.created"))
	_, text = order(domain.ExportResults, "csv", domain.ExportFilters{CampaignID: campaign})
	assert.Contains(t, text, ",'=1+1,", "no cell is a formula")
	assert.NotContains(t, text, ",=1+1")
	_, err = d.Exports.CreateExport(ctx, h.test, &domain.Export{Type: domain.ExportContacts, Format: "csv", Filters: domain.ExportFilters{CampaignID: campaign}})
	assert.Equal(t, domain.CodeValidation, domain.CodeOf(err), "the other environment cannot access it")
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(errorOf(d.Exports.Export(ctx, h.test, e.ID))))
}

func TestExportIsRebuiltAfterACrashAndExpires(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	campaign := h.createCampaign(h.live, h.createAgent(h.live, keyMenuPathway()), phoneNumber(0), phoneNumber(1))
	e := &domain.Export{Type: domain.ExportContacts, Format: "csv", Status: domain.ExportRunning, Filters: domain.ExportFilters{CampaignID: campaign}}
	e.Meta = domain.Meta{ID: domain.ID(domain.PrefixExport, time.Now(), [10]byte{1}), Object: "export", WorkspaceID: h.live.WorkspaceID, Environment: domain.Live, CreatedAt: time.Now()}
	h.shutdown()
	h.start()
	h.putRow(e) // the row as a process that was killed during the export left it
	h.shutdown()
	h.start()
	e, text := h.waitForExport(h.live, e)
	assert.Equal(t, 3, strings.Count(text, "\r\n"))
	past := time.Now().Add(-time.Hour)
	e.ExpiresAt = &past
	old := *e
	old.ID = domain.ID(domain.PrefixExport, past.Add(-domain.ExportLifetime), [10]byte{2})
	h.putRow(&old)
	_, err := h.services().Exports.ExportFile(t.Context(), h.live, old.ID)
	assert.Equal(t, domain.CodeExportExpired, domain.CodeOf(err))
	require.NoError(t, os.WriteFile(filepath.Join(h.dir, "blobs", h.live.WorkspaceID, old.File()), []byte("x"), 0o600))
	require.NoError(t, h.services().Exports.SweepExports(t.Context(), h.live.WorkspaceID, time.Now()))
	now, err := h.services().Exports.Export(t.Context(), h.live, old.ID)
	require.NoError(t, err)
	assert.Equal(t, domain.ExportExpired, now.Status)
	assert.NoFileExists(t, filepath.Join(h.dir, "blobs", h.live.WorkspaceID, old.File()))
	require.NoError(t, h.services().Exports.SweepExports(t.Context(), h.live.WorkspaceID, time.Now().AddDate(0, 2, 0)))
	_, err = h.services().Exports.Export(t.Context(), h.live, old.ID)
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err), "the row of the expired export is deleted")
}

// putRow stores a row without any checks.
func (h *fixture) putRow(r domain.Record) {
	h.Helper()
	_, err := h.store.Apply(h.Context(), commit.Change{Workspace: r.Key().Workspace, Puts: []domain.Record{r}})
	require.NoError(h, err)
}

// deleteRow deletes a stored row.
func (h *fixture) deleteRow(k domain.Key) error {
	h.Helper()
	_, err := h.store.Apply(h.Context(), commit.Change{Workspace: k.Workspace, Deletes: []domain.Key{k}})
	return err
}
