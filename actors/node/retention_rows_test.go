package node_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
)

// areStored reports for each row whether it is stored.
func (h *fixture) areStored(rows ...domain.Record) []bool {
	h.Helper()
	out := make([]bool, len(rows))
	for i, r := range rows {
		_, err := h.store.Get(h.Context(), r)
		if err != nil {
			require.ErrorIs(h, err, domain.ErrNotFound)
		}
		out[i] = err == nil
	}
	return out
}

func (h *fixture) setRetention(change func(r *domain.Retention)) {
	h.Helper()
	_, err := h.services().Workspaces.UpdateWorkspace(h.Context(), h.live, func(w *domain.Workspace) error { change(&w.Retention); return nil })
	require.NoError(h, err)
}

func TestCallDeletionRemovesAllRowsOfTheCall(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	d, ctx, ws := h.services(), t.Context(), h.live.WorkspaceID
	id := h.storeTranscribedCall(h.live, 1, 1, 0)
	c := h.getCall(h.live, id)
	ready := event.Draft{ID: "evt_01J00000000000000000000001", Type: event.CallRecordingReady, CreatedAt: time.Now(), WorkspaceID: ws, Environment: domain.Live, Subject: id, Data: event.RecordingData{CallRef: event.NewCallRef(c), RecordingURL: "https://example.com/x", DurationSeconds: 1}}
	_, err := h.store.Apply(ctx, commit.Change{Workspace: ws, Events: []event.Draft{ready}, Puts: []domain.Record{&domain.AnalysisDue{CallID: id, WorkspaceID: ws}}})
	require.NoError(t, err)
	live := *c
	live.ID, live.Status, live.EndedAt = domain.ID(domain.PrefixCall, time.Now(), [10]byte{9}), domain.CallInProgress, nil
	_, err = h.store.Apply(ctx, commit.Change{Workspace: ws, Puts: []domain.Record{&live}})
	require.NoError(t, err)

	err = d.Calls.DeleteCall(ctx, h.live, live.ID)
	assert.Equal(t, domain.CodeInvalidState, domain.CodeOf(err))
	refused, is := errors.AsType[*domain.Error](err)
	require.True(t, is)
	assert.Equal(t, domain.CallInProgress, refused.Extra["current_status"])
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(d.Calls.DeleteCall(ctx, h.test, id)), "a call of another environment")
	require.NoError(t, d.Calls.DeleteCall(ctx, h.live, id))
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(d.Calls.DeleteCall(ctx, h.live, id)))
	assert.Equal(t, []bool{false, false, false, false}, h.areStored(
		&domain.Call{Meta: domain.Meta{ID: id, WorkspaceID: ws}}, &domain.Transcript{CallID: id, WorkspaceID: ws},
		&domain.TraceRow{CallID: id, WorkspaceID: ws}, &domain.AnalysisDue{CallID: id, WorkspaceID: ws}))
	ready.ID = "evt_01J00000000000000000000002"
	got, err := h.store.Apply(ctx, commit.Change{Workspace: ws, Events: []event.Draft{ready}})
	require.NoError(t, err)
	assert.Equal(t, uint64(1), got[0].Sequence, "the event sequence of the call is deleted")
}

func TestRetentionAppliesToEachKindOfRow(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, ws, now := t.Context(), h.live.WorkspaceID, time.Now()
	old, young := h.storeTranscribedCall(h.live, 1, 91, 0), h.storeTranscribedCall(h.live, 2, 89, 0)
	upload := &domain.Upload{Meta: domain.Meta{ID: domain.ID(domain.PrefixUpload, now.AddDate(0, 0, -91), [10]byte{1}), WorkspaceID: ws}, Status: domain.UploadCompleted}
	entry := &domain.AuditEntry{Meta: domain.Meta{ID: domain.ID(domain.PrefixAudit, now.AddDate(0, 0, -91), [10]byte{1}), WorkspaceID: ws}, Type: "admin", Action: "x"}
	bill := &domain.LedgerRow{AttemptID: "call_x", WorkspaceID: ws, CallID: "call_x", OpenedAt: now}
	_, err := h.store.Apply(ctx, commit.Change{Workspace: ws, Puts: []domain.Record{upload, entry, bill}})
	require.NoError(t, err)
	rows := func() []bool {
		return h.areStored(&domain.Call{Meta: domain.Meta{ID: old, WorkspaceID: ws}}, &domain.Call{Meta: domain.Meta{ID: young, WorkspaceID: ws}},
			&domain.Upload{Meta: upload.Meta}, &domain.AuditEntry{Meta: entry.Meta}, &domain.LedgerRow{AttemptID: "call_x", WorkspaceID: ws})
	}
	require.NoError(t, h.node.SweepRetention(ctx, ws, now))
	assert.Equal(t, []bool{true, true, true, true, true}, rows(), "without retention nothing is deleted")
	h.setRetention(func(r *domain.Retention) { r.CallDays = 90 })
	require.NoError(t, h.node.SweepRetention(ctx, ws, now))
	assert.Equal(t, []bool{false, true, true, true, true}, rows())
	h.setRetention(func(r *domain.Retention) { r.UploadDays = 90 })
	require.NoError(t, h.node.SweepRetention(ctx, ws, now))
	assert.Equal(t, []bool{false, true, false, true, true}, rows())
	h.setRetention(func(r *domain.Retention) { r.AuditDays, r.LedgerDays = 90, 40 })
	require.NoError(t, h.node.SweepRetention(ctx, ws, now))
	assert.Equal(t, []bool{false, true, false, false, true}, rows())
	require.NoError(t, h.node.SweepRetention(ctx, ws, now.AddDate(0, 0, 41)))
	assert.Equal(t, []bool{false, false, false, false, false}, rows(), "the bill of today, and the younger call, are old then")
}

func TestDecisionLogCanBeVerifiedAfterRetentionDeletedItsBeginning(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	d, ctx, ws, now := h.services(), t.Context(), h.live.WorkspaceID, time.Now()
	campaign := &domain.Campaign{Meta: domain.Meta{ID: domain.ID(domain.PrefixCampaign, now, [10]byte{1}), WorkspaceID: ws, Environment: domain.Live}, Status: domain.CampaignCompleted}
	key := h.keys.DecisionLogKey(ws)
	change, head := commit.Change{Workspace: ws, Puts: []domain.Record{campaign}}, ""
	for seq := 1; seq <= 50; seq++ {
		page := &domain.DecisionPage{WorkspaceID: ws, CampaignID: campaign.ID, Seq: seq, Prev: head, Decisions: []domain.Decision{
			{At: now.AddDate(0, 0, seq-60), Ordinal: seq, Phone: "+12025550100", Verdict: domain.DecidedSkip},
		}}
		page.Hash = page.ComputeHash(key)
		head = page.Hash
		change.Puts = append(change.Puts, page)
	}
	change.Puts = append(change.Puts, &domain.Progress{CampaignID: campaign.ID, WorkspaceID: ws, DecisionPages: 50, DecisionHead: head})
	_, err := h.store.Apply(ctx, change)
	require.NoError(t, err)
	h.setRetention(func(r *domain.Retention) { r.DecisionDays = 20 })
	require.NoError(t, h.node.SweepRetention(ctx, ws, now))
	v, err := d.Decisions.VerifyDecisions(ctx, h.live, campaign.ID)
	require.NoError(t, err)
	assert.Equal(t, []any{true, "", 11, 39, head}, []any{v.Valid, v.Reason, v.Rows, v.DeletedRows, v.Head})
	require.NoError(t, h.node.SweepRetention(ctx, ws, now.AddDate(1, 0, 0)))
	v, err = d.Decisions.VerifyDecisions(ctx, h.live, campaign.ID)
	require.NoError(t, err)
	assert.Equal(t, []any{true, 0, 50}, []any{v.Valid, v.Rows, v.DeletedRows})

	start := &domain.DecisionLogStart{WorkspaceID: ws, CampaignID: campaign.ID}
	_, err = h.store.Get(ctx, start)
	require.NoError(t, err)
	start.Seq--
	_, err = h.store.Apply(ctx, commit.Change{Workspace: ws, Puts: []domain.Record{start}})
	require.NoError(t, err)
	v, err = d.Decisions.VerifyDecisions(ctx, h.live, campaign.ID)
	require.NoError(t, err)
	assert.False(t, v.Valid, "without the key the log cannot be truncated")
	assert.NotNil(t, v.BrokenRow)
}
