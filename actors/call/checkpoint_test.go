package call_test

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/call/recovery"
	"github.com/callboard/callboard/actors/conversation"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/testcarrier"
)

// collectPathway returns a pathway that asks the caller for a digit and waits up to a minute for it.
func collectPathway() domain.Pathway {
	return domain.Pathway{
		Start: "ask",
		Nodes: []domain.Node{
			{ID: "ask", Type: domain.NodeCollect, Prompt: "One or two?", Values: []string{"8"}, TimeoutSeconds: 60, SaveAs: "choice"},
			{ID: "end", Type: domain.NodeEnd, Outcome: domain.OutcomeConfirmed},
		},
		Edges: []domain.Edge{{From: "ask", To: "end", When: domain.When{Type: domain.EdgeDTMF, Digits: "8"}}},
	}
}

// readRows reads the stored call and its open call attempt.
func (h *fixture) readRows(id string) (c domain.Call, a domain.Attempt) {
	h.t.Helper()
	c.Meta, a.ID, a.WorkspaceID = domain.Meta{ID: id, WorkspaceID: workspace}, id, workspace
	_, err := h.store.Get(context.Background(), &c)
	require.NoError(h.t, err)
	_, err = h.store.Get(context.Background(), &a)
	require.NoError(h.t, err)
	return c, a
}

// A process that may have lost the ownership of its calls releases the calls without a BYE. The next owner resumes
// the call.
func TestAnotherProcessResumesACallAfterOwnershipIsLost(t *testing.T) {
	t.Parallel()
	var cut atomic.Bool
	h := newFixture(t, fixtureOptions{config: func(c *call.Config) { c.StoreCheckpoints, c.OwnershipUncertain = true, cut.Load }})
	const number = numberPrefix + "0009" // says and presses nothing
	start := h.prepareCall(number, collectPathway())
	id := h.startCall(start)
	h.waitUntil(10*time.Second, "the checkpoint is stored", func() bool {
		c, a := h.readRows(id)
		_, ok := recovery.NewResumable(c, a, "next", time.Now())
		return ok && h.packetsSent(id) > 60
	})
	cut.Store(true)
	h.sys.Root.Poison(h.calls)
	h.waitUntil(10*time.Second, "the calls actor has stopped", func() bool {
		_, alive := h.sys.ProcessRegistry.Get(h.calls)
		return !alive
	})
	h.assertNever(500*time.Millisecond, "the peer gets a BYE", func() bool { return h.phoneLog.count(number, testcarrier.CallerHungUp) > 0 })

	c, a := h.readRows(id)
	s, ok := recovery.NewResumable(c, a, "next", time.Now())
	require.True(t, ok)
	assert.Equal(t, "next", s.Attempt.Boot)
	s.Trunk, s.Owner = start.Slot.Via, h.owner
	_, err := h.store.Apply(t.Context(), commit.Change{Puts: []domain.Record{&s.Attempt}})
	require.NoError(t, err)
	cut.Store(false)
	took := make(chan string, 4)
	next := h.config
	next.Resumable, next.ResumptionDone = []*recovery.Resumable{s}, func(result string) { took <- result }
	h.calls = h.sys.Root.Spawn(call.Props(next))
	now, err := mailbox.Ask[call.LiveCalls](t.Context(), h.sys, h.calls, call.GetLiveCalls{})
	require.NoError(t, err)
	require.Len(t, now.Calls, 1, "the call is listed from the start")
	h.sys.Root.Send(h.calls, call.ResumeCalls{})
	assert.Equal(t, recovery.ResultResumed, receive(t, took))
	h.waitUntil(10*time.Second, "the prompt is repeated", func() bool { return h.packetsSent(id) > 60 })
	_, err = mailbox.Ask[call.HangupStarted](t.Context(), h.sys, h.calls, call.HangUp{CallID: id})
	require.NoError(t, err)
	e := h.waitForEnd(id)
	assert.Equal(t, domain.ReasonHangup, e.Verdict.Reason)
	assert.Len(t, e.Segments, 2, "the prompt and its repetition")
	done := h.waitUntilFinished(id)
	assert.InDelta(t, done.EndedAt.Sub(*done.AnsweredAt).Seconds(), done.RecordingSeconds, 1, "the recording has both parts")
	assert.Equal(t, 1, h.phoneLog.count(number, testcarrier.Answered))
}

// storedCounters returns the CSeq of the stored dialog and the SDP version of the stored checkpoint.
func storedCounters(t *testing.T, a domain.Attempt) (cseq uint32, version uint64) {
	t.Helper()
	var dialog sip.DialogState
	require.NoError(t, json.Unmarshal(a.Legs[0].Dialog, &dialog))
	var kept struct{ Sound media.SessionState }
	require.NoError(t, json.Unmarshal(a.ResumeState, &kept))
	return dialog.LocalCSeq, kept.Sound.Version
}

func TestUnsuitableCheckpointsAreNotResumable(t *testing.T) {
	t.Parallel()
	h := newFixture(t, fixtureOptions{config: func(c *call.Config) { c.StoreCheckpoints = true }})
	id := h.dial(numberPrefix+"0003", collectPathway())
	h.waitUntil(10*time.Second, "the checkpoint is stored", func() bool {
		_, a := h.readRows(id)
		return len(a.ResumeState) > 0
	})
	c, a := h.readRows(id)
	now := time.Now()
	_, ok := recovery.NewResumable(c, a, "next", now)
	require.True(t, ok)
	for what, change := range map[string]func(*domain.Call, *domain.Attempt, *time.Time){
		"long ago": func(_ *domain.Call, _ *domain.Attempt, now *time.Time) {
			*now = now.Add(recovery.MaxAge + time.Second)
		},
		"it is over":              func(c *domain.Call, _ *domain.Attempt, _ *time.Time) { c.Status = domain.CallCompleted },
		"it was not answered":     func(c *domain.Call, _ *domain.Attempt, _ *time.Time) { c.AnsweredAt = nil },
		"it is being transferred": func(c *domain.Call, _ *domain.Attempt, _ *time.Time) { c.Status = domain.CallTransferring },
		"no checkpoint":           func(_ *domain.Call, a *domain.Attempt, _ *time.Time) { a.ResumeState = nil },
		"of a later version":      func(_ *domain.Call, a *domain.Attempt, _ *time.Time) { a.ResumeState = []byte(`{"leg":"x"}`) },
		"no dialog":               func(_ *domain.Call, a *domain.Attempt, _ *time.Time) { a.Legs = []domain.AttemptLeg{{Number: 1}} },
	} {
		c, a, at := c, a, now
		change(&c, &a, &at)
		_, ok := recovery.NewResumable(c, a, "next", at)
		assert.False(t, ok, what)
	}
	for range 3 {
		s, ok := recovery.NewResumable(c, a, "next", now)
		require.True(t, ok)
		cseq, version := storedCounters(t, a)
		cseqThen, versionThen := storedCounters(t, s.Attempt)
		assert.GreaterOrEqual(t, cseqThen, cseq+4096, "the next process continues above the values of this one")
		assert.GreaterOrEqual(t, versionThen, version+64)
		a = s.Attempt
	}
	_, ok = recovery.NewResumable(c, a, "next", now)
	assert.False(t, ok, "the call may be what crashes processes")
}

// observedRuntime is an agent runtime that calls onBegin when a tool call starts.
type observedRuntime struct {
	conversation.AgentRuntime

	onBegin func()
}

func (d observedRuntime) CallTool(context.Context, *domain.Script, pathway.ActionRequest) conversation.ToolResult {
	d.onBegin()
	return conversation.ToolResult{OK: true}
}

func TestCheckpointIsStoredBeforeAToolRuns(t *testing.T) {
	t.Parallel()
	const number = numberPrefix + "0003"
	var h *fixture
	stood := make(chan string, 2)
	h = newFixture(t, fixtureOptions{config: func(c *call.Config) {
		c.StoreCheckpoints = true
		c.AgentRuntime = func(of domain.Call) conversation.AgentRuntime {
			return observedRuntime{onBegin: func() {
				_, a := h.readRows(of.ID)
				var kept struct{ Talk conversation.SavedState }
				assert.NoError(t, json.Unmarshal(a.ResumeState, &kept))
				stood <- kept.Talk.State.Node + " " + kept.Talk.State.Phase
			}}
		}
	}})
	p := collectPathway()
	p.Start = "ready"
	p.Nodes = append(p.Nodes, domain.Node{ID: "ready", Type: domain.NodeSay, Prompt: "One moment."}, domain.Node{ID: "does", Type: domain.NodeTool, ToolID: "tool_1"})
	p.Edges = append(p.Edges, domain.Edge{From: "ready", To: "does", When: domain.When{Type: domain.EdgeAlways}}, domain.Edge{From: "does", To: "ask", When: domain.When{Type: domain.EdgeElse}})
	id := h.dial(number, p)
	assert.Equal(t, "does acting", receive(t, stood))
	require.NoError(t, h.hangUp(id))
	h.waitForEnd(id)
	assert.Empty(t, stood, "once")
}
