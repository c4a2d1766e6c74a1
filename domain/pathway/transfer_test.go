package pathway_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
)

func transferring(edges ...domain.Edge) domain.Pathway {
	return domain.Pathway{
		Name: "p", Start: "ask",
		Nodes: []domain.Node{
			{ID: "ask", Type: domain.NodeCollect, Prompt: "Your PIN.", SaveAs: "pin", Length: 2, Sensitive: true},
			{ID: "hand", Type: domain.NodeTransfer, Destination: "{{desk | front}}", Summary: "The PIN is {{pin}}."},
			{ID: "fine", Type: domain.NodeEnd, Outcome: domain.OutcomeConfirmed},
			{ID: "bad", Type: domain.NodeEnd, Outcome: domain.OutcomeDeclined},
		},
		Edges: append([]domain.Edge{{From: "ask", To: "hand", When: domain.When{Type: domain.EdgeAlways}}}, edges...),
	}
}

func away(to string, t domain.EdgeType) domain.Edge {
	return domain.Edge{From: "hand", To: to, When: domain.When{Type: t}}
}

// handed walks to the transfer and returns what it asks for.
func handed(t *testing.T, p domain.Pathway, values map[string]string) (pathway.State, pathway.Transfer) {
	t.Helper()
	s := pathway.New(domain.Script{Pathway: p}, values)
	var dos []pathway.Command
	for _, in := range []pathway.Input{pathway.Started{}, pathway.PromptDone{}, pathway.Digit{Key: '4'}, pathway.Digit{Key: '2'}} {
		s, dos = pathway.Step(s, in)
	}
	require.NotEmpty(t, dos)
	out, ok := dos[len(dos)-1].(pathway.Transfer)
	require.True(t, ok, "%#v", dos)
	return s, out
}

func TestATransferIsFilledInAndKeepsSecrets(t *testing.T) {
	t.Parallel()
	_, got := handed(t, transferring(), map[string]string{"desk": " +12025550199 "})
	assert.Equal(t, pathway.Transfer{Node: "hand", Destination: "+12025550199", Mode: domain.TransferBridge, Summary: "The PIN is 42.", Sensitive: true}, got)
	_, got = handed(t, transferring(), nil)
	assert.Equal(t, "front", got.Destination)
}

func TestATransferLeavesByHowItEnded(t *testing.T) {
	t.Parallel()
	success, failure := away("fine", domain.EdgeSuccess), away("bad", domain.EdgeFailure)
	for name, c := range map[string]struct {
		edges []domain.Edge
		ok    bool
		want  domain.Outcome
	}{
		"somebody was there":         {[]domain.Edge{success, failure}, true, domain.OutcomeConfirmed},
		"nobody was there":           {[]domain.Edge{success, failure}, false, domain.OutcomeDeclined},
		"else is a failure":          {[]domain.Edge{success, away("bad", domain.EdgeElse)}, false, domain.OutcomeDeclined},
		"always is either: well":     {[]domain.Edge{away("fine", domain.EdgeAlways)}, true, domain.OutcomeConfirmed},
		"always is either: not well": {[]domain.Edge{away("fine", domain.EdgeAlways)}, false, domain.OutcomeConfirmed},
		"no edge ends it":            {nil, true, domain.OutcomeCompleted},
	} {
		s, _ := handed(t, transferring(c.edges...), nil)
		s, dos := pathway.Step(s, pathway.Digit{Key: '1'})
		assert.Empty(t, dos, "%s: a key means nothing while somebody else has the caller", name)
		s, _ = pathway.Step(s, pathway.Transferred{OK: c.ok})
		assert.True(t, s.Over(), name)
		assert.Equal(t, c.want, s.Result().Outcome, name)
	}
}

func TestATransferThatAlwaysFailsTurnsInNoCircle(t *testing.T) {
	t.Parallel()
	s, _ := handed(t, transferring(away("hand", domain.EdgeFailure)), nil)
	for range 600 {
		s, _ = pathway.Step(s, pathway.Transferred{})
	}
	assert.True(t, s.Over())
}

func TestTransferredMeansNothingWithoutATransfer(t *testing.T) {
	t.Parallel()
	s := pathway.New(domain.Script{Pathway: transferring()}, nil)
	s, _ = pathway.Step(s, pathway.Started{})
	after, dos := pathway.Step(s, pathway.Transferred{OK: true})
	assert.Empty(t, dos)
	assert.Equal(t, s, after)
}

func TestResumeAsksAgainWhereTheCallerWasTakenAway(t *testing.T) {
	t.Parallel()
	s := pathway.New(domain.Script{Pathway: transferring()}, nil)
	for _, in := range []pathway.Input{pathway.Started{}, pathway.PromptDone{}, pathway.Digit{Key: '4'}} {
		s, _ = pathway.Step(s, in)
	}
	s, dos := pathway.Step(s, pathway.ResumeNode{})
	require.Len(t, dos, 1)
	assert.Equal(t, "Your PIN.", dos[0].(pathway.Say).Text)
	s, dos = pathway.Step(s, pathway.PromptDone{})
	assert.Equal(t, 2, dos[0].(pathway.CollectInput).Length, "what was keyed in before counts no more")
	_ = s
}

func TestATransferIsCheckedWhenItIsSaved(t *testing.T) {
	t.Parallel()
	good := transferring(away("fine", domain.EdgeSuccess), away("bad", domain.EdgeFailure))
	require.NoError(t, pathway.Validate(&good))
	bad := transferring(domain.Edge{From: "ask", To: "bad", When: domain.When{Type: domain.EdgeSuccess}})
	bad.Nodes[1].Destination, bad.Nodes[1].Mode, bad.Nodes[1].Summary = " ", "sideways", "{{nobody}}"
	err := pathway.Validate(&bad)
	require.Error(t, err)
	var params []string
	for _, d := range detailsOf(err) {
		params = append(params, d.Param)
	}
	assert.ElementsMatch(t, []string{"nodes[1].destination", "nodes[1].mode", "edges[1].when.type", "nodes[1].summary"}, params)
}

func detailsOf(err error) []domain.Detail {
	if e, ok := err.(*domain.Error); ok { //nolint:errorlint // Validate returns it bare
		return e.Details
	}
	return nil
}
