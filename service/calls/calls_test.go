package calls_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/call/recording"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/calls"
	"github.com/callboard/callboard/service/record"
)

// putCall stores a call with this id and status. If said is not empty, the call has a transcript with that sentence of
// the caller.
func putCall(t *testing.T, n *fakeNode, id string, status domain.CallStatus, said string) {
	t.Helper()
	now := time.Now().UTC().Truncate(time.Millisecond)
	c := &domain.Call{
		Meta:      domain.Meta{ID: id, Object: "call", WorkspaceID: "ws_1", Environment: domain.Live, CreatedAt: now, UpdatedAt: now},
		Direction: domain.Outbound, Status: status, Legs: []domain.Leg{}, StartedAt: &now, TranscriptAvailable: said != "",
	}
	change := commit.Change{Workspace: "ws_1", Puts: []domain.Record{c}}
	if said != "" {
		change.Puts = append(change.Puts, &domain.Transcript{CallID: id, WorkspaceID: "ws_1", Segments: []domain.Segment{{Speaker: "caller", Text: said}}})
	}
	_, err := n.store.Apply(t.Context(), change)
	require.NoError(t, err)
}

func TestCallOfAnotherWorkspaceOrEnvironmentIsNotFound(t *testing.T) {
	t.Parallel()
	s, n := newFixture(t)
	id := "call_01J00000000000000000000001"
	putCall(t, n, id, domain.CallInProgress, "hello")
	for name, p := range map[string]domain.Principal{
		"workspace":   {WorkspaceID: "ws_2", Environment: domain.Live},
		"environment": {WorkspaceID: "ws_1", Environment: domain.Test},
	} {
		ctx := t.Context()
		for method, err := range map[string]error{
			"Call":         func() error { _, err := s.Call(ctx, p, id); return err }(),
			"Transcript":   func() error { _, err := s.Transcript(ctx, p, id); return err }(),
			"CallTrace":    func() error { _, err := s.CallTrace(ctx, p, id); return err }(),
			"HangupCall":   func() error { _, err := s.HangupCall(ctx, p, id); return err }(),
			"SayInCall":    func() error { _, err := s.SayInCall(ctx, p, id, "hello"); return err }(),
			"TransferCall": func() error { _, err := s.TransferCall(ctx, p, id, calls.Transfer{To: "+12025550199"}); return err }(),
			"ListenCall":   func() error { _, err := s.ListenCall(ctx, p, id, calls.Listen, func([]byte) {}); return err }(),
			"DeleteCall":   s.DeleteCall(ctx, p, id),
		} {
			assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err), "%s with another %s: %v", method, name, err)
		}
		page, err := s.ListCalls(ctx, p, calls.Query{PageQuery: record.PageQuery{Limit: 10}})
		require.NoError(t, err)
		assert.Empty(t, page.Data, name)
	}
	assert.Empty(t, n.calls.received())
}

func TestEndedCallCannotBeControlled(t *testing.T) {
	t.Parallel()
	s, n := newFixture(t)
	id := "call_01J00000000000000000000001"
	putCall(t, n, id, domain.CallCompleted, "")
	_, err := s.HangupCall(t.Context(), caller(), id)
	assert.Equal(t, domain.CodeInvalidState, domain.CodeOf(err))
	_, err = s.PressInCall(t.Context(), caller(), id, "1")
	assert.Equal(t, domain.CodeInvalidState, domain.CodeOf(err))
	_, err = s.Transcript(t.Context(), caller(), id)
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err))
}

func TestTransferCallUsesModeOfRequest(t *testing.T) {
	t.Parallel()
	s, n := newFixture(t)
	id := "call_01J00000000000000000000001"
	putCall(t, n, id, domain.CallInProgress, "")
	n.calls.answer = func(any) any { return call.RequestDone{} }
	_, err := s.TransferCall(t.Context(), caller(), id, calls.Transfer{To: "+12025550199", Mode: domain.TransferBlind, Summary: " for sales "})
	require.NoError(t, err)
	m, _ := n.calls.received()[0].(call.StartTransfer)
	assert.Equal(t, []any{id, "+12025550199", domain.TransferBlind, "for sales"}, []any{m.CallID, m.Target.To, m.Mode, m.Summary})
	_, err = s.TransferCall(t.Context(), caller(), id, calls.Transfer{Destination: "sales"})
	assert.Equal(t, domain.CodeValidation, domain.CodeOf(err), "a call without an agent has no transfer destinations")
}

func TestDeleteCallDeletesRecordingAndTranscript(t *testing.T) {
	t.Parallel()
	s, n := newFixture(t)
	live, over := "call_01J00000000000000000000001", "call_01J00000000000000000000002"
	putCall(t, n, live, domain.CallInProgress, "")
	putCall(t, n, over, domain.CallCompleted, "goodbye")
	assert.Equal(t, domain.CodeInvalidState, domain.CodeOf(s.DeleteCall(t.Context(), caller(), live)))
	require.NoError(t, s.DeleteCall(t.Context(), caller(), over))
	assert.Equal(t, map[string]int{recording.BlobName(over): 2}, n.deleted, "deleted before and after the commit")
	_, err := s.Call(t.Context(), caller(), over)
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err))
	_, err = n.store.Get(t.Context(), &domain.Transcript{CallID: over, WorkspaceID: "ws_1"})
	assert.ErrorIs(t, err, domain.ErrNotFound)
}

func TestTranscriptSearchFindsCalls(t *testing.T) {
	t.Parallel()
	s, n := newFixture(t)
	putCall(t, n, "call_01J00000000000000000000001", domain.CallCompleted, "I want a refund")
	putCall(t, n, "call_01J00000000000000000000002", domain.CallCompleted, "thank you")
	putCall(t, n, "call_01J00000000000000000000003", domain.CallCompleted, "")
	words, err := domain.ParseTranscriptQuery("refund")
	require.NoError(t, err)
	page, err := s.ListCalls(t.Context(), caller(), calls.Query{PageQuery: record.PageQuery{Limit: 10}, Said: words})
	require.NoError(t, err)
	require.Len(t, page.Data, 1)
	assert.Equal(t, "call_01J00000000000000000000001", page.Data[0].ID)
}
