package restorequarantine_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/persistence/pebbletest"
	"github.com/callboard/callboard/service/restorequarantine"
)

func TestReleaseOfRestoredStoreCancelsUncertainActions(t *testing.T) {
	t.Parallel()
	store, ctx := pebbletest.Open(t), t.Context()
	meta := func(prefix domain.Prefix, n byte, at time.Time) domain.Meta {
		return domain.Meta{ID: domain.ID(prefix, at, [10]byte{n}), WorkspaceID: "ws_1", Environment: domain.Live, CreatedAt: at, UpdatedAt: at}
	}
	backup := time.Now().UTC().Add(-time.Hour).Truncate(time.Millisecond)
	before, after := backup.Add(-time.Minute), backup.Add(time.Minute)
	workspace := &domain.Workspace{Meta: domain.Meta{ID: "ws_1", WorkspaceID: "ws_1", Environment: domain.Live}}
	call := &domain.Call{Meta: meta(domain.PrefixCall, 1, before), To: "+12025550100", Status: domain.CallInProgress}
	attempt := &domain.Attempt{ID: call.ID, WorkspaceID: "ws_1", CallID: call.ID, Environment: domain.Live, OpenedAt: before}
	campaign := &domain.Campaign{Meta: meta(domain.PrefixCampaign, 1, before), Status: domain.CampaignPaused, PauseReason: domain.PausedByRestore}
	job := &domain.Bulk{Meta: meta(domain.PrefixBulk, 1, before), Type: domain.BulkCalls, Status: domain.BulkRunning, Total: 1}
	contacts := &domain.Bulk{Meta: meta(domain.PrefixBulk, 2, before), Type: domain.BulkContacts, Status: domain.BulkRunning}
	orders := &domain.BulkChunk{BulkID: job.ID, WorkspaceID: "ws_1", Entries: []domain.BulkEntry{{Order: []byte(`{"to":"+12025550100"}`)}}}
	message := &domain.Message{Meta: meta(domain.PrefixMessage, 1, before), To: "+12025550101", Status: domain.MessageQueued, Todo: domain.TodoSend}
	fresh := &domain.Message{Meta: meta(domain.PrefixMessage, 2, after), To: "+12025550102", Status: domain.MessageQueued, Todo: domain.TodoSend}
	_, err := store.Apply(ctx, commit.Change{Workspace: "ws_1", Puts: []domain.Record{workspace, call, attempt, campaign, job, contacts, orders, message, fresh}})
	require.NoError(t, err)

	restarts := 0
	s := restorequarantine.New(restorequarantine.Config{Store: store, Restart: func() { restarts++ }, Log: slog.New(slog.DiscardHandler)})
	none, err := s.EndQuarantine(ctx, domain.Principal{})
	require.NoError(t, err)
	assert.Equal(t, []any{false, 0, 0}, []any{none.Active, len(none.Actions), restarts}, "there is no quarantine")

	_, err = restorequarantine.Start(ctx, store, backup)
	require.NoError(t, err)
	q, err := s.Quarantine(ctx, domain.Principal{})
	require.NoError(t, err)
	assert.True(t, q.Active)
	assert.Equal(t, restorequarantine.UncertainCounts{Calls: 1, Campaigns: 1, Bulks: 1, Messages: 1}, q.Counts)
	require.NotEmpty(t, q.Actions)
	assert.Equal(t, []any{domain.UncertainCall, call.ID, "+12025550100"}, []any{q.Actions[0].Kind, q.Actions[0].ID, q.Actions[0].To})

	released, err := s.EndQuarantine(ctx, domain.Principal{})
	require.NoError(t, err)
	assert.Equal(t, []any{false, 1, q.Counts}, []any{released.Active, restarts, released.Counts})
	row, err := restorequarantine.LoadRow(ctx, store)
	require.NoError(t, err)
	assert.Nil(t, row)
	for _, r := range []domain.Record{campaign, job, contacts, orders, message, fresh} {
		_, err = store.Get(ctx, r)
		require.NoError(t, err)
	}
	assert.Equal(t, []any{domain.CampaignPaused, domain.BulkCancelled, domain.BulkRunning}, []any{campaign.Status, job.Status, contacts.Status})
	assert.Equal(t, []any{domain.MessageFailed, "restored", domain.MessageQueued}, []any{message.Status, message.ErrorCode, fresh.Status})
	assert.Empty(t, orders.Entries[0].Order, "the order is personal data")
}
