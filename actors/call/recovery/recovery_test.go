package recovery_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/call/recovery"
	"github.com/callboard/callboard/actors/conversation"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/persistence/pebbletest"
	"github.com/callboard/callboard/sip"
)

// storedCall is the stored state of an answered call whose process has ended.
type storedCall struct {
	call       domain.Call
	checkpoint recovery.Checkpoint
	dialog     sip.DialogState
}

func newStoredCall(t *testing.T, now time.Time) *storedCall {
	t.Helper()
	script, err := domain.EncodeJSON(domain.Script{Pathway: pathway.MessagePathway("Hello.")})
	require.NoError(t, err)
	return &storedCall{
		call:       domain.Call{Status: domain.CallInProgress, AnsweredAt: &now, Legs: []domain.Leg{{}}},
		checkpoint: recovery.Checkpoint{At: now, Leg: 1, Conversation: &conversation.SavedState{}, Script: script},
		dialog:     sip.DialogState{CallID: "a", Confirmed: true, SessionSeconds: 90},
	}
}

func (l *storedCall) resumable(t *testing.T, now time.Time) (*recovery.Resumable, bool) {
	t.Helper()
	kept, err := domain.AppendRow(nil, &l.checkpoint)
	require.NoError(t, err)
	dialog, err := domain.AppendRow(nil, &l.dialog)
	require.NoError(t, err)
	return recovery.NewResumable(l.call, domain.Attempt{Boot: "before", ResumeState: kept, Legs: []domain.AttemptLeg{{TrunkID: "trunk_1", Dialog: dialog}}}, "next", now)
}

func TestResumableAttemptBelongsToTheNewProcess(t *testing.T) {
	t.Parallel()
	now := time.Now()
	l := newStoredCall(t, now)
	l.checkpoint.Media.Version, l.dialog.LocalCSeq = 7, 3
	r, ok := l.resumable(t, now.Add(recovery.MaxAge))
	require.True(t, ok)
	assert.Equal(t, []any{"next", "trunk_1", "a"}, []any{r.Attempt.Boot, r.TrunkID(), r.Dialog.CallID})
	var stored recovery.Checkpoint
	require.NoError(t, domain.ReadRow(r.Attempt.ResumeState, &stored))
	assert.Equal(t, 1, stored.Resumptions)
	assert.Greater(t, stored.Media.Version, uint64(7), "a process that resumes it after this one begins above what this one sends")
	var dialog sip.DialogState
	require.NoError(t, domain.ReadRow(r.Attempt.Legs[0].Dialog, &dialog))
	assert.Greater(t, dialog.LocalCSeq, uint32(3))

	l.checkpoint.HandedOver, l.checkpoint.Resumptions = true, 3
	r, ok = l.resumable(t, now)
	require.True(t, ok, "a resumption after a hand-over is not counted")
	assert.Equal(t, []any{3, false}, []any{r.Checkpoint.Resumptions, r.Checkpoint.HandedOver})
}

func TestUnsuitableCheckpointIsNotResumed(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for name, makeUnresumable := range map[string]func(*storedCall){
		"too old":                      func(l *storedCall) { l.checkpoint.At = now.Add(-recovery.MaxAge - time.Second) },
		"session timer expired":        func(l *storedCall) { l.dialog.SessionSeconds, l.checkpoint.At = 30, now.Add(-31*time.Second) },
		"resumed three times":          func(l *storedCall) { l.checkpoint.Resumptions = 3 },
		"no conversation":              func(l *storedCall) { l.checkpoint.Conversation = nil },
		"unknown node":                 func(l *storedCall) { l.checkpoint.Conversation.State.Node = "gone" },
		"no leg":                       func(l *storedCall) { l.checkpoint.Leg = 2 },
		"not answered":                 func(l *storedCall) { l.call.AnsweredAt = nil },
		"over":                         func(l *storedCall) { l.call.Status = domain.CallCompleted },
		"no dialog after its answer":   func(l *storedCall) { l.dialog.Confirmed = false },
		"a script that cannot be read": func(l *storedCall) { l.checkpoint.Script = []byte(`"x"`) },
	} {
		l := newStoredCall(t, now)
		makeUnresumable(l)
		_, ok := l.resumable(t, now)
		assert.False(t, ok, name)
	}
	_, ok := recovery.NewResumable(newStoredCall(t, now).call, domain.Attempt{}, "next", now)
	assert.False(t, ok, "no checkpoint")
}

func TestOpenAttemptsListsCallsAndCampaigns(t *testing.T) {
	t.Parallel()
	store := pebbletest.Open(t)
	var puts []domain.Record
	for _, id := range []string{"call_1", "call_2", "campaign_1/1"} {
		puts = append(puts, &domain.Attempt{ID: id, WorkspaceID: "ws_1"})
	}
	puts = append(puts, &domain.Attempt{ID: "call_3", WorkspaceID: "ws_2"})
	for _, r := range puts {
		_, err := store.Apply(t.Context(), commit.Change{Workspace: r.Key().Workspace, Puts: []domain.Record{r}})
		require.NoError(t, err)
	}
	all, err := recovery.OpenAttempts(t.Context(), store, "ws_1")
	require.NoError(t, err)
	var ids []string
	for _, a := range all {
		ids = append(ids, a.ID)
	}
	assert.Equal(t, []string{"call_1", "call_2", "campaign_1/1"}, ids)
}
