package pathway_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
)

func transferPathway(edges ...domain.Edge) domain.Pathway {
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

func transferEdge(to string, t domain.EdgeType) domain.Edge {
	return domain.Edge{From: "hand", To: to, When: domain.When{Type: t}}
}

// stepToTransfer runs a pathway until it requests a transfer, and returns the state and the Transfer command.
func stepToTransfer(t *testing.T, p domain.Pathway, values map[string]string) (pathway.State, pathway.Transfer) {
	t.Helper()
	s := pathway.New(domain.Script{Pathway: p}, values)
	var commands []pathway.Command
	for _, in := range []pathway.Input{pathway.Started{}, pathway.PromptDone{}, pathway.Digit{Key: '4'}, pathway.Digit{Key: '2'}} {
		s, commands = pathway.Step(s, in)
	}
	require.NotEmpty(t, commands)
	out, ok := commands[len(commands)-1].(pathway.Transfer)
	require.True(t, ok, "%#v", commands)
	return s, out
}

func TestTransferFieldsAreFilledAndSecretsKept(t *testing.T) {
	t.Parallel()
	_, got := stepToTransfer(t, transferPathway(), map[string]string{"desk": " +12025550199 "})
	assert.Equal(t, pathway.Transfer{Node: "hand", Destination: "+12025550199", Mode: domain.TransferBridge, Summary: "The PIN is 42.", Sensitive: true}, got)
	_, got = stepToTransfer(t, transferPathway(), nil)
	assert.Equal(t, "front", got.Destination)
}

func TestTransferOutcomeChoosesEdge(t *testing.T) {
	t.Parallel()
	success, failure := transferEdge("fine", domain.EdgeSuccess), transferEdge("bad", domain.EdgeFailure)
	for name, c := range map[string]struct {
		edges []domain.Edge
		ok    bool
		want  domain.Outcome
	}{
		"answered":                   {[]domain.Edge{success, failure}, true, domain.OutcomeConfirmed},
		"not answered":               {[]domain.Edge{success, failure}, false, domain.OutcomeDeclined},
		"else is a failure":          {[]domain.Edge{success, transferEdge("bad", domain.EdgeElse)}, false, domain.OutcomeDeclined},
		"always is either: well":     {[]domain.Edge{transferEdge("fine", domain.EdgeAlways)}, true, domain.OutcomeConfirmed},
		"always is either: not well": {[]domain.Edge{transferEdge("fine", domain.EdgeAlways)}, false, domain.OutcomeConfirmed},
		"no edge ends it":            {nil, true, domain.OutcomeCompleted},
	} {
		s, _ := stepToTransfer(t, transferPathway(c.edges...), nil)
		s, commands := pathway.Step(s, pathway.Digit{Key: '1'})
		assert.Empty(t, commands, "%s: keys are ignored during the transfer", name)
		s, _ = pathway.Step(s, pathway.Transferred{OK: c.ok})
		assert.True(t, s.Over(), name)
		assert.Equal(t, c.want, s.Result().Outcome, name)
	}
}

func TestRepeatedlyFailingTransferEnds(t *testing.T) {
	t.Parallel()
	s, _ := stepToTransfer(t, transferPathway(transferEdge("hand", domain.EdgeFailure)), nil)
	for range 600 {
		s, _ = pathway.Step(s, pathway.Transferred{})
	}
	assert.True(t, s.Over())
}

func TestTransferredIsIgnoredWithoutTransfer(t *testing.T) {
	t.Parallel()
	s := pathway.New(domain.Script{Pathway: transferPathway()}, nil)
	s, _ = pathway.Step(s, pathway.Started{})
	after, commands := pathway.Step(s, pathway.Transferred{OK: true})
	assert.Empty(t, commands)
	assert.Equal(t, s, after)
}

func TestResumeNodeRepeatsPrompt(t *testing.T) {
	t.Parallel()
	s := pathway.New(domain.Script{Pathway: transferPathway()}, nil)
	for _, in := range []pathway.Input{pathway.Started{}, pathway.PromptDone{}, pathway.Digit{Key: '4'}} {
		s, _ = pathway.Step(s, in)
	}
	s, commands := pathway.Step(s, pathway.ResumeNode{})
	require.Len(t, commands, 1)
	assert.Equal(t, "Your PIN.", commands[0].(pathway.Say).Text)
	s, commands = pathway.Step(s, pathway.PromptDone{})
	assert.Equal(t, 2, commands[0].(pathway.CollectInput).Length, "earlier digits are dropped")
	_ = s
}

func TestTransferIsValidatedOnSave(t *testing.T) {
	t.Parallel()
	good := transferPathway(transferEdge("fine", domain.EdgeSuccess), transferEdge("bad", domain.EdgeFailure))
	require.NoError(t, pathway.Validate(&good))
	bad := transferPathway(domain.Edge{From: "ask", To: "bad", When: domain.When{Type: domain.EdgeSuccess}})
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
