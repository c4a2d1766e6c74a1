package analysis_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/engines/llm"
	"github.com/callboard/callboard/persistence/pebbletest"
	"github.com/callboard/callboard/service/analysis"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/record/recordtest"
)

// model is a fake language model that always returns the same answer or error.
type model struct {
	answer  string
	err     error
	request llm.Request // last request
}

func (m *model) Ask(_ context.Context, _ []llm.Engine, r llm.Request, _ func(string, time.Duration), _ func(*llm.Fault)) (llm.Answer, error) {
	m.request = r
	return llm.Answer{Text: m.answer}, m.err
}

// outbox is a fake outbox that signals each commit.
type outbox chan struct{}

func (o outbox) Committed(string) { o <- struct{}{} }

// analyse runs the service until the analysis of a call is stored. It returns the call and the types of its events.
// tries is the number of requests that have already failed.
func analyse(t *testing.T, m *model, tries int) (*domain.Call, []string) {
	t.Helper()
	store, committed, p := pebbletest.Open(t), make(outbox), recordtest.Live(recordtest.Workspace)
	s := analysis.New(analysis.Config{
		Store: store, Outbox: committed, Client: m, Log: slog.New(slog.DiscardHandler),
		Models: llm.Models{List: []llm.Engine{{Name: "one"}}, Order: []string{"one"}},
	})
	c := &domain.Call{Status: domain.CallCompleted}
	c.Init("call", p, record.RequestResourceID(t.Context(), domain.PrefixCall), record.Now())
	_, err := store.Apply(t.Context(), commit.Change{Workspace: recordtest.Workspace, Puts: []domain.Record{
		c, &domain.Transcript{CallID: c.ID, WorkspaceID: recordtest.Workspace, Language: "en-US", Text: "Two rooms, please."},
		&domain.AnalysisDue{CallID: c.ID, WorkspaceID: recordtest.Workspace, Wanted: domain.AgentAnalysis{Summary: true}, Tries: tries},
		&domain.AnalysisDue{CallID: "call_deleted", WorkspaceID: recordtest.Workspace},
	}})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); s.Run(ctx) }()
	s.Wake(recordtest.Workspace)
	<-committed
	stop()
	<-ended
	c, _, err = record.Get[domain.Call](t.Context(), store, p, domain.PrefixCall, c.ID)
	require.NoError(t, err)
	all, err := store.Events(t.Context(), recordtest.Workspace, 0, 10)
	require.NoError(t, err)
	var types []string
	for i := range all {
		types = append(types, string(all[i].Type))
	}
	return c, types
}

func TestCallAnalysisIsStoredWithEvent(t *testing.T) {
	t.Parallel()
	m := &model{answer: `{"summary":"Two rooms."}`}
	c, events := analyse(t, m, 0)
	require.NotNil(t, c.Analysis)
	assert.Equal(t, []string{"Two rooms.", ""}, []string{c.Analysis.Summary, c.Analysis.Error})
	assert.Equal(t, []string{"call.analysis.ready"}, events)
	assert.NotNil(t, m.request.Format)
	assert.True(t, strings.HasSuffix(m.request.Messages[1].Text, "en-US:\nTwo rooms, please."))
}

func TestFifthFailedAnalysisIsStoredInCall(t *testing.T) {
	t.Parallel()
	m := &model{err: errors.New("the engine is overloaded")}
	c, events := analyse(t, m, 4)
	require.NotNil(t, c.Analysis)
	assert.NotEmpty(t, c.Analysis.Error)
	assert.Equal(t, []string{"call.analysis.ready", "agent.error"}, events)
	assert.Nil(t, m.request.Format, "retries leave out the format")
}
