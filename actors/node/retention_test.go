package node_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/storecache"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/persistence/redis/redistest"
)

// storeTranscribedCall stores a call that ended some days ago and lasted some hours, with a transcript and a SIP
// trace.
func (h *fixture) storeTranscribedCall(p domain.Principal, n, days, hours int) string {
	h.Helper()
	ended := time.Now().AddDate(0, 0, -days)
	began := ended.Add(-time.Duration(hours) * time.Hour)
	c := &domain.Call{
		Meta: domain.Meta{
			ID: domain.ID(domain.PrefixCall, began, [10]byte{byte(n >> 8), byte(n)}), Object: "call", WorkspaceID: p.WorkspaceID, Environment: p.Environment,
		},
		Direction: domain.Inbound, Status: domain.CallCompleted, EndedAt: &ended, TranscriptAvailable: true, TranscriptURL: "x",
	}
	trace := domain.CallTrace{CallID: c.ID, WorkspaceID: c.WorkspaceID, Messages: []domain.SIPMessage{
		{At: ended, Network: "udp", Local: "192.0.2.1:5060", Remote: "192.0.2.2:5060", SIPCallID: "a", Data: []byte("BYE sip:a SIP/2.0\r\n\r\n")},
	}}
	_, err := h.store.Apply(h.Context(), commit.Change{Workspace: c.WorkspaceID, Puts: []domain.Record{
		c, trace.Pack(), &domain.Transcript{CallID: c.ID, WorkspaceID: c.WorkspaceID, Status: "ready", Text: "caller: my secret"},
	}})
	require.NoError(h, err)
	return c.ID
}

// remainingDataOf returns which data of a call is still stored: the letter t for the transcript, s for SIP messages.
func (h *fixture) remainingDataOf(p domain.Principal, id string) string {
	h.Helper()
	stored := func(r domain.Record) bool {
		_, err := h.store.Get(h.Context(), r)
		if err != nil {
			require.ErrorIs(h, err, domain.ErrNotFound)
		}
		return err == nil
	}
	transcript := stored(&domain.Transcript{CallID: id, WorkspaceID: p.WorkspaceID})
	messages := stored(&domain.TraceRow{CallID: id, WorkspaceID: p.WorkspaceID})
	_, err := h.services().Calls.Transcript(h.Context(), p, id)
	c := h.getCall(p, id)
	assert.Equal(h, []bool{transcript, transcript, !transcript}, []bool{err == nil, c.TranscriptAvailable && c.TranscriptURL != "", c.TranscriptDeletedAt != nil})
	trace, err := h.services().Calls.CallTrace(h.Context(), p, id)
	require.NoError(h, err)
	assert.Equal(h, messages, len(trace.Messages) == 1)
	return map[bool]string{true: "t"}[transcript] + map[bool]string{true: "s"}[messages]
}

func TestTranscriptsAndSIPTracesAreDeletedAfterTheirRetentionPeriod(t *testing.T) {
	t.Parallel()
	for name, redisURL := range map[string]func(*testing.T) string{
		"embedded": func(*testing.T) string { return "" },
		"redis":    func(t *testing.T) string { t.Helper(); url, _ := redistest.Start(t); return url },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newFixtureOn(t, redisURL(t), nil)
			ids := map[string]string{
				"old": h.storeTranscribedCall(h.live, 1, 31, 0), "older": h.storeTranscribedCall(h.live, 2, 400, 0), "young": h.storeTranscribedCall(h.live, 3, 9, 0),
				"tried": h.storeTranscribedCall(h.test, 4, 40, 0), "between": h.storeTranscribedCall(h.live, 5, 20, 0), "long": h.storeTranscribedCall(h.live, 6, 29, 48),
			}
			keeps := func() map[string]string {
				out := make(map[string]string, len(ids))
				for what, id := range ids {
					p := h.live
					if what == "tried" {
						p = h.test
					}
					out[what] = h.remainingDataOf(p, id)
				}
				return out
			}
			retain := func(transcripts, traces int) {
				_, err := h.services().Workspaces.UpdateWorkspace(t.Context(), h.live, func(w *domain.Workspace) error {
					w.Retention.TranscriptDays, w.Retention.TraceDays = transcripts, traces
					return nil
				})
				require.NoError(t, err)
				h.node.Sweep(t.Context())
			}
			h.node.Sweep(t.Context())
			all := map[string]string{"old": "ts", "older": "ts", "young": "ts", "tried": "ts", "between": "ts", "long": "ts"}
			assert.Equal(t, all, keeps(), "without retention nothing is deleted")
			retain(30, 0)
			want := map[string]string{"old": "s", "older": "s", "young": "ts", "tried": "s", "between": "ts", "long": "ts"}
			assert.Equal(t, want, keeps(), "each kind has its own retention, counted from the end of the call")
			retain(30, 10)
			want = map[string]string{"old": "", "older": "", "young": "ts", "tried": "", "between": "t", "long": "t"}
			assert.Equal(t, want, keeps())
		})
	}
}

func TestRetentionDeletesMoreTracesThanOneCommitHolds(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	young := h.storeTranscribedCall(h.live, 9999, 5, 0)
	var puts []domain.Record
	for n := range 450 {
		at := time.Now().AddDate(0, 0, -20).Add(time.Duration(n) * time.Minute)
		puts = append(puts, &domain.TraceRow{
			CallID: domain.ID(domain.PrefixCall, at, [10]byte{byte(n >> 8), byte(n)}), WorkspaceID: h.live.WorkspaceID, Data: []byte("trace"),
		})
	}
	_, err := h.store.Apply(t.Context(), commit.Change{Workspace: h.live.WorkspaceID, Puts: puts})
	require.NoError(t, err)
	_, err = h.services().Workspaces.UpdateWorkspace(t.Context(), h.live, func(w *domain.Workspace) error { w.Retention.TraceDays = 10; return nil })
	require.NoError(t, err)
	h.node.Sweep(t.Context())
	for _, r := range puts {
		_, err = h.store.Get(t.Context(), &domain.TraceRow{CallID: r.Key().ID, WorkspaceID: h.live.WorkspaceID})
		require.ErrorIs(t, err, domain.ErrNotFound, "also for a call without a row")
	}
	assert.Equal(t, "ts", h.remainingDataOf(h.live, young))
}

// callDuringSweepStore runs functions of the test while old rows that count calls to numbers are being deleted.
type callDuringSweepStore struct {
	storecache.Backend
	listed, found func() // called after rows are listed and before rows are deleted
}

func (l *callDuringSweepStore) List(ctx context.Context, q commit.Query, fresh func() domain.Record, each func(domain.Record) error) (string, error) {
	next, err := l.Backend.List(ctx, q, fresh, each)
	if q.Kind == "number_days" && l.listed != nil {
		l.listed()
	}
	return next, err
}

func (l *callDuringSweepStore) Apply(ctx context.Context, c commit.Change) ([]event.Event, error) {
	if l.found != nil && slices.ContainsFunc(c.Deletes, func(k domain.Key) bool { return k.Kind == "number_days" }) {
		l.found()
	}
	return l.Backend.Apply(ctx, c)
}

func TestSweepOfOldCallCountsKeepsCountsOfConcurrentCalls(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	h.shutdown()
	slow := &callDuringSweepStore{}
	h.wrapStore = func(s storecache.Backend) storecache.Backend { slow.Backend = s; return slow }
	h.start()
	ring := func(phone string, at time.Time) {
		row := &domain.NumberAttempts{WorkspaceID: h.live.WorkspaceID, Environment: domain.Live, Number: phone, Attempts: []domain.DialAttempt{{CallID: "call_1", At: at}}}
		_, err := h.store.Apply(t.Context(), commit.Change{Workspace: h.live.WorkspaceID, Puts: []domain.Record{row}})
		require.NoError(t, err)
	}
	old, first, second, young := carrierNumber(3, 1, "11"), carrierNumber(3, 2, "11"), carrierNumber(3, 3, "11"), carrierNumber(3, 4, "11")
	for _, phone := range []string{old, first, second} {
		ring(phone, time.Now().Add(-60*time.Hour))
	}
	ring(young, time.Now().Add(-40*time.Hour))
	slow.listed = func() { ring(first, time.Now()) }
	slow.found = func() { ring(second, time.Now()); slow.found = nil }
	h.node.Sweep(t.Context()) // the sweep meets the concurrent calls and keeps their rows
	h.node.Sweep(t.Context())
	var stored []string
	for _, phone := range []string{old, first, second, young} {
		_, err := h.store.Get(t.Context(), &domain.NumberAttempts{WorkspaceID: h.live.WorkspaceID, Environment: domain.Live, Number: phone})
		if err == nil {
			stored = append(stored, phone)
		}
	}
	assert.Equal(t, []string{first, second, young}, stored)
}
