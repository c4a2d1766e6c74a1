package pathway_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
)

func no() *bool { f := false; return &f }

func edge(from, to string, t domain.EdgeType, digits ...string) domain.Edge {
	e := domain.Edge{From: from, To: to, When: domain.When{Type: t}}
	if len(digits) > 0 {
		e.When.Digits = digits[0]
	}
	return e
}

// confirmPathway returns a pathway that asks for 1 or 2, at most twice, and accepts 0 at any node.
func confirmPathway() domain.Pathway {
	return domain.Pathway{
		Name: "confirm", Start: "hello",
		Variables: []domain.Variable{{Name: "day", Default: "tomorrow"}},
		Nodes: []domain.Node{
			{ID: "hello", Type: domain.NodeSay, Prompt: "Hello {{name | there}}."},
			{ID: "ask", Type: domain.NodeCollect, Prompt: "Press 1 for {{day}}.", Values: []string{"1", "2"}, SaveAs: "choice", Retries: 1, TimeoutSeconds: 3},
			{ID: "yes", Type: domain.NodeEnd, Prompt: "Thanks.", Outcome: domain.OutcomeConfirmed, Notes: "chose {{choice}}"},
			{ID: "no", Type: domain.NodeEnd, Outcome: domain.OutcomeDeclined},
			{ID: "help", Type: domain.NodeSay, Prompt: "Goodbye."},
		},
		Edges: []domain.Edge{
			edge("hello", "ask", domain.EdgeAlways),
			edge("ask", "yes", domain.EdgeDTMF, "1"), edge("ask", "no", domain.EdgeDTMF, "2"),
			edge("ask", "help", domain.EdgeTimeout),
			edge("*", "help", domain.EdgeDTMF, "0"),
		},
	}
}

func run(t *testing.T, p domain.Pathway, vars map[string]string, inputs ...pathway.Input) (pathway.State, [][]pathway.Command) {
	t.Helper()
	s := pathway.New(domain.Script{Pathway: p}, vars)
	commands := make([][]pathway.Command, 0, len(inputs))
	for _, in := range inputs {
		var do []pathway.Command
		s, do = pathway.Step(s, in)
		commands = append(commands, do)
	}
	return s, commands
}

func say(node, text string) pathway.Say {
	return pathway.Say{Node: node, Text: text, Shown: text, Interruptible: true}
}

func last(node, text string) pathway.Say { return pathway.Say{Node: node, Text: text, Shown: text} }

var (
	began   = pathway.Started{}
	spoken  = pathway.PromptDone{}
	timeout = pathway.Timeout{}
)

func key(k byte) pathway.Digit { return pathway.Digit{Key: k} }

func collect() pathway.CollectInput { return pathway.CollectInput{Length: 1, Timeout: 3 * time.Second} }

func chosenValue(v string) pathway.UpdateResult {
	return pathway.UpdateResult{Result: pathway.Result{Variables: map[string]string{"choice": v}}}
}

func end(o domain.Outcome, notes string) pathway.End { return pathway.End{Outcome: o, Notes: notes} }

func TestConversationFollowsPathway(t *testing.T) {
	t.Parallel()
	hello, ask := say("hello", "Hello there."), say("ask", "Press 1 for tomorrow.")
	for name, c := range map[string]struct {
		inputs []pathway.Input
		want   [][]pathway.Command
	}{
		"the caller presses 1 after the prompt": {
			[]pathway.Input{began, spoken, spoken, key('1'), spoken},
			[][]pathway.Command{{hello}, {ask}, {collect()}, {chosenValue("1"), last("yes", "Thanks.")}, {end(domain.OutcomeConfirmed, "chose 1")}},
		},
		"a key cuts the prompt": {
			[]pathway.Input{began, spoken, key('2')},
			[][]pathway.Command{{hello}, {ask}, {pathway.StopSpeaking{}, chosenValue("2"), end(domain.OutcomeDeclined, "")}},
		},
		"a key pressed early answers the question": {
			[]pathway.Input{began, key('1'), spoken},
			[][]pathway.Command{{hello}, nil, {chosenValue("1"), last("yes", "Thanks.")}},
		},
		"another key counts as none and the question is asked again": {
			[]pathway.Input{began, spoken, spoken, key('7'), spoken, key('1')},
			[][]pathway.Command{{hello}, {ask}, {collect()}, {ask}, {collect()}, {chosenValue("1"), last("yes", "Thanks.")}},
		},
		"silence leads to the edge for it after all tries": {
			[]pathway.Input{began, spoken, spoken, timeout, spoken, timeout, spoken},
			[][]pathway.Command{{hello}, {ask}, {collect()}, {ask}, {collect()}, {say("help", "Goodbye.")}, {end(domain.OutcomeCompleted, "")}},
		},
		"an edge from anywhere is taken anywhere": {
			[]pathway.Input{began, key('0'), spoken},
			[][]pathway.Command{{hello}, {pathway.StopSpeaking{}, say("help", "Goodbye.")}, {end(domain.OutcomeCompleted, "")}},
		},
		"an edge from anywhere beats the values of a question": {
			[]pathway.Input{began, spoken, spoken, key('0')},
			[][]pathway.Command{{hello}, {ask}, {collect()}, {say("help", "Goodbye.")}},
		},
		"after a hangup nothing happens": {
			[]pathway.Input{began, pathway.Hangup{}, spoken, key('1')},
			[][]pathway.Command{{hello}, nil, nil, nil},
		},
		"what does not fit changes nothing": {
			[]pathway.Input{spoken, timeout, key('1'), began, began, timeout, pathway.DigitsSent{}, key('x')},
			[][]pathway.Command{nil, nil, nil, {hello}, nil, nil, nil, nil},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, commands := run(t, confirmPathway(), nil, c.inputs...)
			assert.Equal(t, c.want, commands)
		})
	}
}

func TestLongInputEndsWithHashOrAtItsLength(t *testing.T) {
	t.Parallel()
	p := domain.Pathway{
		Start: "pin",
		Nodes: []domain.Node{
			{ID: "pin", Type: domain.NodeCollect, Prompt: "Your number?", Interruptible: no(), Length: 4, SaveAs: "pin", TimeoutSeconds: 3, Sensitive: true},
			{ID: "end", Type: domain.NodeEnd, Prompt: "You said {{pin}}.", Notes: "pin {{pin}}"},
		},
		Edges: []domain.Edge{edge("pin", "end", domain.EdgeElse)},
	}
	wait := func(n int) pathway.CollectInput {
		return pathway.CollectInput{Length: n, Timeout: 3 * time.Second, Sensitive: true}
	}
	spelt := pathway.Say{Node: "end", Text: "You said 12.", Shown: "You said [hidden].", Sensitive: true}
	set := pathway.UpdateResult{Result: pathway.Result{Variables: map[string]string{}}}
	s, commands := run(t, p, nil, began, key('1'), spoken, key('2'), key('#'), spoken)
	assert.Equal(t, [][]pathway.Command{
		{pathway.Say{Node: "pin", Text: "Your number?", Shown: "Your number?"}},
		nil,
		{wait(3)},
		{wait(2)},
		{set, spelt},
		{end(domain.OutcomeCompleted, "pin [hidden]")},
	}, commands)
	assert.Equal(t, pathway.Result{Outcome: domain.OutcomeCompleted, Notes: "pin [hidden]", Variables: map[string]string{}}, s.Result(),
		"secret digits are not reported")

	_, commands = run(t, p, nil, began, spoken, key('1'), key('2'), key('3'), key('4'))
	assert.Len(t, commands[5], 2, "four keys complete the input")
}

func TestNodeSetsOutcomeNotesIntentAndVariables(t *testing.T) {
	t.Parallel()
	p := domain.Pathway{
		Start: "a",
		Nodes: []domain.Node{
			{ID: "a", Type: domain.NodeDTMF, Digits: "9{{ext}}x", Set: &domain.Assign{
				Outcome: domain.OutcomeConfirmed, Notes: "for {{name}}", Intent: "confirm", Variables: map[string]string{"who": "{{name}}!"},
			}},
			{ID: "b", Type: domain.NodeEnd},
		},
		Edges: []domain.Edge{edge("a", "b", domain.EdgeAlways)},
	}
	s, commands := run(t, p, map[string]string{"name": "{{ext}}", "ext": "1-2"}, began, pathway.DigitsSent{})
	want := pathway.Result{
		Outcome: domain.OutcomeConfirmed, Notes: "for {{ext}}", Intent: "confirm",
		Variables: map[string]string{"who": "{{ext}}!"},
	}
	assert.Equal(t, [][]pathway.Command{
		{pathway.UpdateResult{Result: want}, pathway.SendDigits{Digits: "912"}},
		{end(domain.OutcomeConfirmed, "for {{ext}}")},
	}, commands)
	assert.Equal(t, want, s.Result())
}

func TestMissingVariableIsLeftOutAndReported(t *testing.T) {
	t.Parallel()
	p := pathway.MessagePathway("Dear {{title}} {{name}},")
	_, commands := run(t, p, map[string]string{"name": "Ada"}, began, spoken)
	assert.Equal(t, [][]pathway.Command{
		{pathway.MissingVariable{Node: "say", Name: "title"}, say("say", "Dear  Ada,")},
		{end(domain.OutcomeCompleted, "")},
	}, commands)
	_, commands = run(t, pathway.MessagePathway(" "), nil, began)
	assert.Equal(t, [][]pathway.Command{{end(domain.OutcomeCompleted, "")}}, commands, "an agent without a word ends")
}

func TestEndlessLoopIsStopped(t *testing.T) {
	t.Parallel()
	p := domain.Pathway{
		Start: "a",
		Nodes: []domain.Node{{ID: "a", Type: domain.NodeSay, Prompt: "{{x | }}"}, {ID: "b", Type: domain.NodeSay, Prompt: "{{x | }}"}},
		Edges: []domain.Edge{edge("a", "b", domain.EdgeAlways), edge("b", "a", domain.EdgeAlways)},
	}
	s, commands := run(t, p, nil, began)
	assert.True(t, s.Over())
	assert.Equal(t, [][]pathway.Command{{pathway.End{Outcome: domain.OutcomeCompleted, Reason: "turns_in_a_circle"}}}, commands)

	p.Nodes[0].Prompt = "Once more."
	s, _ = pathway.Step(pathway.New(domain.Script{Pathway: p}, nil), began)
	n := 0
	for !s.Over() && n < 1000 {
		s, _ = pathway.Step(s, spoken)
		n++
	}
	assert.Less(t, n, 100)
}

func TestUpcomingTexts(t *testing.T) {
	t.Parallel()
	s, _ := run(t, confirmPathway(), nil, began)
	assert.Equal(t, []string{"Press 1 for tomorrow."}, s.UpcomingTexts())
	s, _ = run(t, confirmPathway(), nil, began, spoken)
	assert.Equal(t, []string{"Thanks.", "Goodbye."}, s.UpcomingTexts())
}

func TestStepDoesNotChangePreviousState(t *testing.T) {
	t.Parallel()
	before, _ := run(t, confirmPathway(), nil, began, spoken, spoken)
	a, _ := pathway.Step(before, key('1'))
	b, _ := pathway.Step(before, key('2'))
	assert.Equal(t, "1", a.Result().Variables["choice"])
	assert.Equal(t, "2", b.Result().Variables["choice"])
	assert.Empty(t, before.Result().Variables)
}

// For any pathway, valid or not, and any inputs: Step does not panic, ends the conversation at most once, and returns
// no command after the end.
func TestRandomPathwaysNeitherHangNorPanic(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.SampledFrom([]string{"a", "b", "c", "d", "*"})
		types := rapid.SampledFrom([]domain.NodeType{domain.NodeSay, domain.NodeCollect, domain.NodeDTMF, domain.NodeEnd, "other"})
		text := rapid.SampledFrom([]string{"", "Hi.", "{{x}}", "{{x | y}}", "{{", "1"})
		var p domain.Pathway
		p.Start = id.Draw(t, "start")
		for range rapid.IntRange(0, 5).Draw(t, "nodes") {
			p.Nodes = append(p.Nodes, domain.Node{
				ID: id.Draw(t, "id"), Type: types.Draw(t, "type"), Prompt: text.Draw(t, "prompt"), Digits: text.Draw(t, "digits"),
				SaveAs: rapid.SampledFrom([]string{"", "x"}).Draw(t, "save"), Length: rapid.IntRange(-1, 3).Draw(t, "length"),
				Retries: rapid.IntRange(0, 2).Draw(t, "retries"), Sensitive: rapid.Bool().Draw(t, "sensitive"),
				Values: rapid.SliceOfN(rapid.SampledFrom([]string{"1", "12"}), 0, 2).Draw(t, "values"),
			})
		}
		for range rapid.IntRange(0, 8).Draw(t, "edges") {
			p.Edges = append(p.Edges, edge(id.Draw(t, "from"), id.Draw(t, "to"),
				rapid.SampledFrom([]domain.EdgeType{domain.EdgeAlways, domain.EdgeElse, domain.EdgeDTMF, domain.EdgeTimeout}).Draw(t, "when"), "1"))
		}
		_ = pathway.Validate(&p)
		_ = pathway.Warnings(&p)
		s := pathway.New(domain.Script{Pathway: p}, nil)
		inputs := []pathway.Input{began, spoken, timeout, pathway.DigitsSent{}, key('1'), key('#'), key('2')}
		ends := 0
		for i := range 80 {
			over := s.Over()
			in := inputs[0]
			if i > 0 {
				in = rapid.SampledFrom(inputs).Draw(t, "input")
			}
			var commands []pathway.Command
			s, commands = pathway.Step(s, in)
			_ = s.UpcomingTexts()
			if over && len(commands) > 0 {
				t.Fatalf("%v after the end", commands)
			}
			for _, d := range commands {
				if _, ok := d.(pathway.End); ok {
					ends++
				}
			}
		}
		if ends > 1 || s.Over() != (ends == 1) {
			t.Fatalf("%d ends, over %v", ends, s.Over())
		}
	})
}

func TestRequiredVariablesWithoutValueAreReported(t *testing.T) {
	t.Parallel()
	p := domain.Pathway{Variables: []domain.Variable{{Name: "a", Required: true}, {Name: "b", Required: true, Default: "x"}, {Name: "c"}}}
	assert.Equal(t, []string{"a"}, pathway.MissingVariables(&p, nil))
	require.Empty(t, pathway.MissingVariables(&p, map[string]string{"a": "1"}))
}
