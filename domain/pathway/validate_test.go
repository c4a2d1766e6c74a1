package pathway_test

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
)

func params(t *testing.T, err error) map[string]int {
	t.Helper()
	var e *domain.Error
	require.ErrorAs(t, err, &e)
	m := make(map[string]int)
	for _, d := range e.Details {
		m[d.Param]++
	}
	return m
}

func TestValidPathwayIsAccepted(t *testing.T) {
	t.Parallel()
	p := confirmPathway()
	require.NoError(t, pathway.Validate(&p))
	assert.Empty(t, pathway.Warnings(&p))
	q := pathway.MessagePathway("Hello {{name}} from {{campaign_name}}.")
	require.NoError(t, pathway.Validate(&q))
	q.Nodes = append(q.Nodes, domain.Node{ID: "island", Type: domain.NodeEnd})
	require.NoError(t, pathway.Validate(&q), "a node that nothing leads to is odd, but stops nothing")
	assert.Len(t, pathway.Warnings(&q), 1)
}

func TestAllProblemsAreReportedTogether(t *testing.T) {
	t.Parallel()
	p := domain.Pathway{
		Start:     "nowhere",
		Variables: []domain.Variable{{Name: "1st"}, {Name: "a"}, {Name: "a"}},
		Nodes: []domain.Node{
			{ID: "a", Type: domain.NodeSay, RetryPrompt: "Again."},
			{ID: "a", Type: domain.NodeSay, Prompt: strings.Repeat("x", 4001)},
			{ID: "b", Type: "dance"},
			{ID: "c", Type: domain.NodeCollect, Input: "smell", Length: 99, Retries: 99, TimeoutSeconds: 999, SaveAs: "not good", Values: []string{"x", ""}, RetryPrompt: "{{who}}" + strings.Repeat("x", 4000)},
			{ID: "d", Type: domain.NodeDTMF, Digits: "12a3"},
			{ID: "e", Type: domain.NodeEnd, Outcome: "voicemail", Prompt: "{{who}} {{}} {{ok | x}}"},
			{ID: "no good", Type: domain.NodeSay, Prompt: "{{open", Set: &domain.Assign{Outcome: "great", Variables: map[string]string{"b c": "{{gone}}"}}},
		},
		Edges: []domain.Edge{
			edge("a", "z", domain.EdgeAlways), edge("y", "a", domain.EdgeAlways), edge("a", "b", "mood"),
			edge("a", "b", domain.EdgeDTMF, "x"), edge("*", "a", domain.EdgeAlways),
			edge("e", "a", domain.EdgeElse), edge("e", "b", domain.EdgeElse),
		},
	}
	assert.Equal(t, map[string]int{
		"name": 1, "start": 1, "variables[0].name": 1, "variables[2].name": 1,
		"nodes[0].prompt": 1, "nodes[0].retry_prompt": 1, "nodes[3].retry_prompt": 2, "nodes[1].id": 1, "nodes[1].prompt": 1, "nodes[2].type": 1,
		"nodes[3].input": 1, "nodes[3].length": 1, "nodes[3].retries": 1, "nodes[3].timeout_seconds": 1, "nodes[3].save_as": 1,
		"nodes[3].values[0]": 1, "nodes[3].values[1]": 1, "nodes[3]": 1,
		"nodes[5].outcome": 1, "nodes[5].prompt": 2, "nodes[6].id": 1, "nodes[6].prompt": 1,
		"nodes[6].set.outcome": 1, "nodes[6].set.variables": 1, "nodes[6].set.variables.b c": 1,
		"edges[0].to": 1, "edges[1].from": 1, "edges[2].when.type": 1, "edges[3].when.digits": 1, "edges[4].when.type": 1, "edges[6]": 1,
	}, params(t, pathway.Validate(&p)))
}

func TestTooManyNodesAreRefusedQuickly(t *testing.T) {
	t.Parallel()
	p := domain.Pathway{Name: "x", Start: "a", Nodes: make([]domain.Node, 100_000), Edges: make([]domain.Edge, 100_000)}
	assert.Equal(t, map[string]int{"nodes": 1, "edges": 1}, params(t, pathway.Validate(&p)))
}

func TestBuiltInVariablesUseAgentTimeZone(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 11, 22, 23, 30, 0, 0, time.UTC)
	script := domain.Script{AgentName: "Zoe", Timezone: "Europe/Berlin"}
	given := pathway.RuntimeVariables(&script, began)
	assert.Equal(t, map[string]string{"agent_name": "Zoe", "now": "2026-11-23T00:30:00+01:00", "today": "2026-11-23"}, given)
	assert.Equal(t, map[string]string{"now": "2026-11-22T23:30:00Z", "today": "2026-11-22"}, pathway.RuntimeVariables(&domain.Script{Timezone: "Nowhere"}, began))
	for name := range given {
		assert.Contains(t, pathway.BuiltInVariables(), name)
	}
	first := pathway.New(script, given)
	said, _, missing := first.ContinueWith(domain.Script{AgentName: "Ada"}).FillText("{{agent_name}}, {{today}}")
	assert.Equal(t, "Ada, 2026-11-23", said, "the next agent uses its own name")
	assert.Empty(t, missing)
	said, _, _ = first.FillText("{{agent_name}}")
	assert.Equal(t, "Zoe", said)
}

func TestFillReplacesVariables(t *testing.T) {
	t.Parallel()
	values := map[string]string{"name": "Ada", "empty": "", "evil": "{{name}}", "first name": "A"}
	for text, want := range map[string]string{
		"Hello {{name}}.":            "Hello Ada.",
		"Hello {{ name|x }}.":        "Hello Ada.",
		"Hello {{nobody | there}}.":  "Hello there.",
		"Hello {{empty | there}}.":   "Hello there.",
		"Hello {{empty}}.":           "Hello .",
		"Hello {{nobody}}.":          "Hello .",
		"Hello {{evil}}.":            "Hello {{name}}.",
		"Hello {{first name}}.":      "Hello A.",
		"Hello {{name.":              "Hello {{name.",
		"{{name}}{{name}} }} {name}": "AdaAda }} {name}",
		"{{a | b | c}}":              "b | c",
		"":                           "",
	} {
		got, _ := pathway.FillPlaceholders(text, values)
		assert.Equal(t, want, got, text)
	}
	_, missing := pathway.FillPlaceholders("{{a}} {{b | x}} {{empty}} {{c}}", values)
	assert.Equal(t, []string{"a", "c"}, missing)
	long, _ := pathway.FillPlaceholders("{{x}}", map[string]string{"x": strings.Repeat("ä", 100_000)})
	assert.True(t, len(long) <= 8000 && utf8.ValidString(long), "a value cannot speak for hours")
}

func FuzzFill(f *testing.F) {
	for _, s := range []string{"", "{{a}}", "{{a|b}}", "{{{{a}}}}", "}}{{", "{{a", "{{\xff}}"} {
		f.Add(s, "v")
	}
	f.Fuzz(func(t *testing.T, text, value string) {
		got, missing := pathway.FillPlaceholders(text, map[string]string{"a": value})
		again, _ := pathway.FillPlaceholders(text, map[string]string{"a": value})
		if got != again {
			t.Fatal("not the same twice")
		}
		if !strings.Contains(text, "{{") && len(text) <= 8000 && (got != text || missing != nil) {
			t.Fatalf("a plain text %q became %q", text, got)
		}
		p := domain.Pathway{Name: "f", Start: "s", Nodes: []domain.Node{{ID: "s", Type: domain.NodeSay, Prompt: text}}}
		var e *domain.Error
		if err := pathway.Validate(&p); err != nil && !errors.As(err, &e) {
			t.Fatalf("validation failed with %v", err)
		} else if err == nil && len(missing) > 0 {
			for _, m := range missing {
				if !strings.Contains("name phone campaign_name agent_name caller_number called_number now today", m) {
					t.Fatalf("validation passed a text that needs %q", m)
				}
			}
		}
	})
}

func TestFieldsOfResultsAreVariables(t *testing.T) {
	t.Parallel()
	values := map[string]string{"order": `{"eta": "Tuesday", "items": [{"name": "Lamp", "price": 12.50}], "paid": true, "note": null, "a.b": "x"}`, "plain": "text", "list": `["one", "two"]`}
	for text, want := range map[string]string{
		"{{order.eta}}": "Tuesday", "{{order.items.0.name}} for {{order.items.0.price}}": "Lamp for 12.50", "{{order.paid}}": "true",
		"{{list.1}}": "two", "{{order.note | none}}": "none", "{{order.lost | none}}": "none", "{{plain.x | none}}": "none",
		"{{order.items.1.name | none}}": "none", "{{order.items.x | none}}": "none",
	} {
		got, missing := pathway.FillPlaceholders(text, values)
		assert.Equal(t, want, got, text)
		assert.Empty(t, missing)
	}
	_, missing := pathway.FillPlaceholders("{{order.lost}} {{none.x}}", values)
	assert.Equal(t, []string{"order.lost", "none.x"}, missing)
}

func TestSayAsDecidesHowAValueIsSpoken(t *testing.T) {
	t.Parallel()
	script := domain.Script{Language: "en-US", Pathway: domain.Pathway{
		Name: "code", Start: "tell", Variables: []domain.Variable{{Name: "code"}},
		Nodes: []domain.Node{{ID: "tell", Type: domain.NodeEnd, Prompt: "It is {{code | say-as: digits}}, {{ code|say-as:money:USD }}, {{lost | none | say-as: date}}."}},
	}}
	require.NoError(t, pathway.Validate(&script.Pathway))
	_, commands := pathway.Step(pathway.New(script, map[string]string{"code": "1<2"}), pathway.Started{})
	say, ok := commands[0].(pathway.Say)
	require.True(t, ok)
	assert.Equal(t, `It is <say-as interpret-as="digits">1&lt;2</say-as>, <say-as interpret-as="money:USD">1&lt;2</say-as>, none.`, say.Text)
	assert.Equal(t, "It is 1<2, 1<2, none.", say.Shown)
	for _, form := range []string{"letters", "", "money:dollars", "money"} {
		script.Pathway.Nodes[0].Prompt = "It is {{code | say-as: " + form + "}}."
		err := pathway.Validate(&script.Pathway)
		assert.Equal(t, map[string]int{"nodes[0].prompt": 1}, params(t, err), form)
		assert.Contains(t, err.Error(), "is not a form of say-as; use one of cardinal, date")
	}
	script.Pathway.Nodes[0].Prompt = "It is {{code.first}}, {{lost.first}}."
	err := pathway.Validate(&script.Pathway)
	require.ErrorContains(t, err, "{{lost.first}} is neither declared nor built in")
	assert.NotContains(t, err.Error(), "{{code.first}}")
}
