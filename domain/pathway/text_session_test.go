package pathway_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
)

func spokenTexts(commands []pathway.Command) []string {
	var texts []string
	for _, d := range commands {
		if s, ok := d.(pathway.Say); ok {
			texts = append(texts, s.Shown)
		}
	}
	return texts
}

func TestTextSessionRunsPathway(t *testing.T) {
	t.Parallel()
	play := pathway.TextSession{State: pathway.New(domain.Script{Pathway: confirmPathway()}, map[string]string{"name": "Ada"})}
	assert.Equal(t, []string{"Hello Ada.", "Press 1 for tomorrow."}, spokenTexts(play.StartSession()))
	require.NotNil(t, play.Waiting)
	assert.Equal(t, 1, play.Waiting.Length)
	assert.Equal(t, []string{"Press 1 for tomorrow."}, spokenTexts(play.PressKeys("")), "silence: it asks again")
	assert.Equal(t, []string{"Thanks."}, spokenTexts(play.PressKeys("1")))
	assert.True(t, play.State.Over())
	assert.Nil(t, play.Waiting)
	assert.Equal(t, domain.OutcomeConfirmed, play.State.Result().Outcome)
	assert.Empty(t, play.PressKeys("2"), "nobody is there")
	for text, want := range map[string]bool{"1": true, "1 2 #": true, "": true, "yes": false, "one": false, "a": true} {
		_, ok := pathway.ParseKeys(text)
		assert.Equal(t, want, ok, text)
	}
}

// actionsPathway returns a pathway that runs a tool, sends a text message and transfers the caller.
func actionsPathway() domain.Pathway {
	return domain.Pathway{
		Name: "errand", Start: "look", Variables: []domain.Variable{{Name: "order", Default: "7"}},
		Nodes: []domain.Node{
			{ID: "look", Type: domain.NodeTool, ToolID: "tool_01J00000000000000000000001", Arguments: map[string]string{"order": "{{order}}"}, SaveAs: "place"},
			{ID: "text", Type: domain.NodeSMS, Body: "Order {{order}}."},
			{ID: "hand", Type: domain.NodeTransfer, Destination: "desk"},
			{ID: "sorry", Type: domain.NodeEnd, Prompt: "Nobody is there."},
			{ID: "bye", Type: domain.NodeEnd},
		},
		Edges: []domain.Edge{
			edge("look", "text", domain.EdgeSuccess), edge("look", "sorry", domain.EdgeFailure), edge("text", "hand", domain.EdgeAlways),
			edge("hand", "bye", domain.EdgeSuccess), edge("hand", "sorry", domain.EdgeFailure),
		},
	}
}

func TestTextSessionReportsActionsWithoutExecutingThem(t *testing.T) {
	t.Parallel()
	p := actionsPathway()
	require.NoError(t, pathway.Validate(&p))
	assert.Len(t, pathway.MissingCapabilities(&p, pathway.Capabilities{}), 2, "calls do not walk it")
	assert.Empty(t, pathway.MissingCapabilities(&p, pathway.Capabilities{SimulatedActions: true}))
	play := pathway.TextSession{State: pathway.New(domain.Script{Pathway: p}, nil)}
	assert.Equal(t, []pathway.Command{
		pathway.ActionRequest{Node: "look", Type: domain.NodeTool, Target: "tool_01J00000000000000000000001", Round: 1, Arguments: map[string]string{"order": "7"}},
		pathway.ActionRequest{Node: "text", Type: domain.NodeSMS, Text: "Order 7.", Round: 2},
		pathway.Transfer{Node: "hand", Destination: "desk", Mode: domain.TransferBridge},
	}, play.StartSession())
	assert.True(t, play.IsTransferring())
	assert.Equal(t, []string{"Nobody is there."}, spokenTexts(play.EndTransfer(false)))
	assert.True(t, play.State.Over())
}

func TestNodesThatNeedAnEngineAreKeptAndNamed(t *testing.T) {
	t.Parallel()
	p := domain.Pathway{
		Name: "talk", Start: "talk",
		Nodes: []domain.Node{
			{ID: "talk", Type: domain.NodeConverse, Prompt: "Find out when.", Extract: []domain.AnalysisField{{Name: "day", Type: "string"}}},
			{ID: "age", Type: domain.NodeCondition},
			{ID: "ask", Type: domain.NodeCollect, Input: "speech", Values: []string{"yes", "no"}, Prompt: "On {{day}}?"},
			{ID: "bye", Type: domain.NodeEnd},
		},
		Edges: []domain.Edge{
			{From: "talk", To: "age", When: domain.When{Type: domain.EdgeLLM, Prompt: "A day was named."}},
			{From: "talk", To: "ask", When: domain.When{Type: domain.EdgeIntent, Intent: "later"}},
			{From: "age", To: "bye", When: domain.When{Type: domain.EdgeExpr, Expr: "day == 1"}},
			edge("ask", "bye", domain.EdgeElse),
		},
	}
	require.NoError(t, pathway.Validate(&p))
	needs := make(map[string]bool)
	for _, d := range pathway.MissingCapabilities(&p, pathway.Capabilities{}) {
		assert.Equal(t, domain.CodeNoEngine, d.Code)
		needs[d.Param] = true
	}
	assert.Equal(t, map[string]bool{
		"nodes[0].type": true, "nodes[2].input": true, "edges[0].when.type": true, "edges[1].when.type": true,
	}, needs)
	p = confirmPathway()
	assert.Empty(t, pathway.MissingCapabilities(&p, pathway.Capabilities{}))

	p.Nodes = append(p.Nodes, domain.Node{ID: "c", Type: domain.NodeConverse, Tools: []string{"x"}}, domain.Node{ID: "t", Type: domain.NodeTool},
		domain.Node{ID: "a", Type: domain.NodeAppointment, Action: "dance", Arguments: map[string]string{"2 words": ""}}, domain.Node{ID: "s", Type: domain.NodeSMS},
		domain.Node{ID: "g", Type: domain.NodeAgent, AgentID: "agent_1"})
	p.Edges = append(p.Edges, edge("c", "t", domain.EdgeLLM), edge("c", "t", domain.EdgeIntent), edge("c", "t", domain.EdgeExpr))
	assert.Equal(t, map[string]int{
		"nodes[5].prompt": 1, "nodes[5].tools[0]": 1, "nodes[6].tool_id": 1, "nodes[7].action": 1, "nodes[7].arguments": 1, "nodes[8].body": 1, "nodes[9].agent_id": 1,
		"edges[5].when.prompt": 1, "edges[6].when.intent": 1, "edges[7].when.expr": 1,
	}, params(t, pathway.Validate(&p)))
}

func segment(speaker, text string, from, to int64) domain.Segment {
	return domain.Segment{Speaker: speaker, Text: text, StartMs: from, EndMs: to}
}

func TestReplayReportsDifferences(t *testing.T) {
	t.Parallel()
	call := pathway.RecordedCall{ByAgent: true, Segments: []domain.Segment{
		segment("agent", "Hello Ada.", 0, 900), segment("agent", "Press 1 for tomorrow.", 900, 2000),
		segment("agent", "Press 1 for tomorrow.", 5000, 6000), segment("caller", "[pressed 1]", 6500, 6500), segment("agent", "Thanks.", 6600, 7000),
	}}
	values := map[string]string{"name": "Ada"}
	same := func(p domain.Pathway, call pathway.RecordedCall) (different []pathway.ReplayLine, r pathway.Result) {
		lines, state := pathway.Replay(domain.Script{Pathway: p}, values, call)
		for _, l := range lines {
			if !l.IsSame() {
				different = append(different, l)
			}
		}
		return different, state.Result()
	}
	different, r := same(confirmPathway(), call)
	assert.Empty(t, different)
	assert.Equal(t, domain.OutcomeConfirmed, r.Outcome)

	changed := confirmPathway()
	changed.Nodes[2].Prompt = "Thank you."
	different, _ = same(changed, call)
	assert.Equal(t, []pathway.ReplayLine{{Speaker: "agent", Node: "yes", Recorded: "Thanks.", Now: "Thank you."}}, different)

	shorter := confirmPathway()
	shorter.Nodes[1].Retries = 0 // silence leaves the node at once
	different, r = same(shorter, call)
	require.NotEmpty(t, different)
	assert.Equal(t, pathway.ReplayLine{Speaker: "agent", Node: "help", Recorded: "Press 1 for tomorrow.", Now: "Goodbye."}, different[0])
	assert.Equal(t, domain.OutcomeCompleted, r.Outcome)

	early := pathway.RecordedCall{ByAgent: true, Segments: []domain.Segment{ // the key interrupts the question
		segment("agent", "Hello Ada.", 0, 900), segment("agent", "Press 1 for tomorrow.", 900, 1400), segment("caller", "[pressed 1]", 1390, 1390), segment("agent", "Thanks.", 1500, 2000),
	}}
	different, r = same(confirmPathway(), early)
	assert.Empty(t, different)
	assert.Equal(t, domain.OutcomeConfirmed, r.Outcome)

	left := pathway.RecordedCall{Segments: early.Segments[:2]} // the caller hangs up
	different, r = same(confirmPathway(), left)
	assert.Empty(t, different)
	assert.Empty(t, r.Outcome)

	byAPI := pathway.RecordedCall{ByAgent: true, Segments: append([]domain.Segment{early.Segments[0], segment("agent", "One moment.", 900, 900)}, early.Segments[1:]...)}
	different, r = same(confirmPathway(), byAPI)
	assert.Empty(t, different, "words of the API are not a difference")
	assert.Equal(t, domain.OutcomeConfirmed, r.Outcome)
}

func TestReplayAlwaysEnds(t *testing.T) {
	t.Parallel()
	p := domain.Pathway{
		Name: "loop", Start: "a",
		Nodes: []domain.Node{{ID: "a", Type: domain.NodeCollect, Retries: 10}, {ID: "b", Type: domain.NodeCollect, Sensitive: true, Length: 4}},
		Edges: []domain.Edge{edge("a", "b", domain.EdgeElse), edge("b", "a", domain.EdgeElse)},
	}
	for _, s := range [][]domain.Segment{nil, {segment("agent", "x", 0, 1)}, {segment("caller", "[hidden]", 0, 1)}, {segment("human", "[on the line]", 0, 1)}} {
		lines, state := pathway.Replay(domain.Script{Pathway: p}, nil, pathway.RecordedCall{Segments: s, ByAgent: true})
		assert.LessOrEqual(t, len(lines), 2)
		assert.True(t, state.Over())
	}
}

func TestReplayAssumesZerosForRedactedDigits(t *testing.T) {
	p := domain.Pathway{
		Start: "pin",
		Nodes: []domain.Node{
			{ID: "pin", Type: domain.NodeCollect, Prompt: "Your pin?", Length: 6, SaveAs: "pin", TimeoutSeconds: 5},
			{ID: "end", Type: domain.NodeEnd, Prompt: "It was {{pin}}, here is 98765."},
		},
		Edges: []domain.Edge{{From: "pin", To: "end", When: domain.When{Type: domain.EdgeAlways}}},
	}
	for name, kept := range map[string]string{"redacted": "It was [redacted], here is [redacted].", "before there was a pattern": "It was 123456, here is 98765."} {
		lines, state := pathway.Replay(domain.Script{Pathway: p}, nil, pathway.RecordedCall{
			Segments: []domain.Segment{
				{Speaker: "agent", Text: "Your pin?", EndMs: 1000},
				{Speaker: "caller", Text: "[pressed [redacted]]", StartMs: 1500, EndMs: 1900},
				{Speaker: "agent", Text: kept, StartMs: 2000, EndMs: 3000},
			},
			ByAgent: true, Redact: domain.Redaction{Patterns: []string{`\d{5,}`}}.Redactor(),
		})
		require.Len(t, lines, 3, name)
		assert.True(t, lines[1].Assumed)
		assert.True(t, lines[2].IsSame(), "%+v", lines[2])
		assert.Equal(t, "It was [redacted], here is [redacted].", lines[2].Now)
		assert.Equal(t, "000000", state.Result().Variables["pin"])
	}
}

func TestBookingCarriesNameOfContact(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]map[string]string{"": {"name": "Ada"}, "{{other}}": {"name": "Eve"}} {
		node := domain.Node{ID: "book", Type: domain.NodeAppointment, Action: "book"}
		if given != "" {
			node.Arguments = map[string]string{"name": given}
		}
		p := domain.Pathway{Start: "book", Nodes: []domain.Node{node}}
		_, got := pathway.Step(pathway.New(domain.Script{Pathway: p}, map[string]string{"name": "Ada", "other": "Eve"}), pathway.Started{})
		assert.Equal(t, want, got[0].(pathway.ActionRequest).Arguments, given)
		assert.Len(t, p.Nodes[0].Arguments, len(node.Arguments), "the pathway is not changed")
	}
	for _, n := range []domain.Node{{ID: "a", Type: domain.NodeAppointment, Action: "availability"}, {ID: "a", Type: domain.NodeTool}} {
		_, got := pathway.Step(pathway.New(domain.Script{Pathway: domain.Pathway{Start: "a", Nodes: []domain.Node{n}}}, map[string]string{"name": "Ada"}), pathway.Started{})
		assert.Empty(t, got[0].(pathway.ActionRequest).Arguments)
	}
}

func TestFieldsOfLongResultsAreRead(t *testing.T) {
	t.Parallel()
	p := domain.Pathway{
		Start: "ask",
		Nodes: []domain.Node{{ID: "ask", Type: domain.NodeTool, SaveAs: "order"}, {ID: "tell", Type: domain.NodeEnd, Prompt: "{{order.eta}}"}, {ID: "failed", Type: domain.NodeEnd, Prompt: "Failed."}},
		Edges: []domain.Edge{edge("ask", "tell", domain.EdgeSuccess), edge("ask", "failed", domain.EdgeFailure)},
	}
	for size, want := range map[int]string{9000: "Tuesday", pathway.MaxResultBytes: "Tuesday", pathway.MaxResultBytes + 1: "Failed."} {
		result := `{"items":"` + strings.Repeat("x", size-len(`{"items":"","eta":"Tuesday"}`)) + `","eta":"Tuesday"}`
		require.Len(t, result, size)
		s := &pathway.TextSession{State: pathway.New(domain.Script{Pathway: p}, nil)}
		s.RunAction = func(a pathway.ActionRequest) pathway.ActionEnded {
			return pathway.ActionEnded{Round: a.Round, OK: true, Result: result}
		}
		assert.Equal(t, want, saidIn(s.StartSession()), size)
		assert.LessOrEqual(t, len(s.State.Result().Variables["order"]), pathway.MaxTextBytes, "the call's record holds the beginning")
	}
}
