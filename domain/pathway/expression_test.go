package pathway_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
)

// conditionPathway returns a pathway whose condition node follows the edge of the first true expression.
func conditionPathway(exprs ...string) domain.Pathway {
	p := domain.Pathway{
		Name: "branch", Start: "which", Variables: []domain.Variable{{Name: "age"}, {Name: "city"}, {Name: "member"}, {Name: "order"}},
		Nodes: []domain.Node{{ID: "which", Type: domain.NodeCondition}, {ID: "rest", Type: domain.NodeEnd, Notes: "rest"}},
	}
	for i, e := range exprs {
		id := string(rune('a' + i))
		p.Nodes = append(p.Nodes, domain.Node{ID: id, Type: domain.NodeEnd, Notes: id})
		p.Edges = append(p.Edges, domain.Edge{From: "which", To: id, When: domain.When{Type: domain.EdgeExpr, Expr: e}})
	}
	p.Edges = append(p.Edges, domain.Edge{From: "which", To: "rest", When: domain.When{Type: domain.EdgeElse}})
	return p
}

func TestConditionFollowsFirstTrueExpression(t *testing.T) {
	t.Parallel()
	ada := map[string]string{"age": "36", "city": "Berlin", "member": "yes", "order": `{"eta": "Tuesday", "items": [{"price": 12.5}], "paid": false}`}
	for text, want := range map[string]bool{
		`order.eta == "tuesday"`: true, `order.items.0.price > 12`: true, `order.paid`: false, `order.lost == "x"`: false,
		`age >= 18`: true, `age > 36`: false, `age == 36.0`: true, `age != 36`: false, `age < 100 && city == "berlin"`: true, `city == 'Bonn' || member`: true,
		`!member`: false, `!(city == "Bonn")`: true, `city contains "LIN"`: true, `city < "Bonn"`: true, `city > 5`: false, `city < 5`: false,
		`member == true || age > 50 && false`: false, `(false || true) && age <= 36`: true, `age > -1`: true, `"2030-01-02" < "2030-01-10"`: true, `phone contains "+1"`: true,
		`"nan" == 5`: false, `"nan" != 5`: true, `"nan" == "NaN"`: true, `"inf" == "Infinity"`: false, `"inf" > 5`: false, `age < "infinity"`: false,
		`"1234567890123456" == "1234567890123457"`: false, `"12345678901234567" == "12345678901234567"`: true, `"0012345678901234567" == "12345678901234567"`: false, `"007" == 7`: true, `"9999999999999999" < "10000000000000000"`: true,
	} {
		p := conditionPathway(text)
		require.NoError(t, pathway.Validate(&p), text)
		play := pathway.TextSession{State: pathway.New(domain.Script{Pathway: p}, map[string]string{"age": ada["age"], "city": ada["city"], "member": ada["member"], "order": ada["order"], "phone": "+12025550123"})}
		play.StartSession()
		require.True(t, play.State.Over(), text)
		assert.Equal(t, map[bool]string{true: "a", false: "rest"}[want], play.State.Result().Notes, text)
	}
	for text, want := range map[string]string{"age < 18": "rest", "age == ''": "a", "age >= 0": "rest", "!age": "a", "city": "rest"} {
		play := pathway.TextSession{State: pathway.New(domain.Script{Pathway: conditionPathway(text)}, nil)}
		play.StartSession()
		assert.Equal(t, want, play.State.Result().Notes, "nothing is known: %s", text)
	}
	play := pathway.TextSession{State: pathway.New(domain.Script{Pathway: conditionPathway("age < 10", "age < 40", "age < 50")}, ada)}
	play.StartSession()
	assert.Equal(t, "b", play.State.Result().Notes, "the first true expression")
}

func TestExpressionsChooseEdgeAfterAnswersAndActions(t *testing.T) {
	t.Parallel()
	p := domain.Pathway{
		Name: "people", Start: "ask",
		Nodes: []domain.Node{
			{ID: "ask", Type: domain.NodeCollect, Prompt: "How many?", SaveAs: "people", Length: 2},
			{ID: "look", Type: domain.NodeTool, ToolID: "tool_01ARZ3NDEKTSV4RRFFQ69G5FAV", SaveAs: "free"},
			{ID: "many", Type: domain.NodeEnd, Notes: "many"},
			{ID: "few", Type: domain.NodeEnd, Notes: "few"},
			{ID: "full", Type: domain.NodeEnd, Notes: "full"},
		},
		Edges: []domain.Edge{
			{From: "ask", To: "look", When: domain.When{Type: domain.EdgeAlways}},
			{From: "ask", To: "many", When: domain.When{Type: domain.EdgeExpr, Expr: "people > 8"}},
			{From: "look", To: "few", When: domain.When{Type: domain.EdgeSuccess}},
			{From: "look", To: "full", When: domain.When{Type: domain.EdgeExpr, Expr: `free == "0"`}},
		},
	}
	require.NoError(t, pathway.Validate(&p))
	for keys, want := range map[string]string{"12": "many", "08": "full", "07": "few"} {
		play := pathway.TextSession{State: pathway.New(domain.Script{Pathway: p}, nil), RunAction: func(a pathway.ActionRequest) pathway.ActionEnded {
			return pathway.ActionEnded{Round: a.Round, OK: true, Result: map[string]string{"08": "0"}[keys] + ""}
		}}
		play.StartSession()
		play.PressKeys(keys)
		assert.Equal(t, want, play.State.Result().Notes, keys)
	}
}

func TestExpressionsAreValidatedOnSave(t *testing.T) {
	t.Parallel()
	for text, why := range map[string]string{
		"": "is required", "age >": "missing at the end", "age > 18 19": "unexpected", "age & 3": "is not allowed", `city == "Berlin`: "not closed", "(age": "not closed",
		"agee > 18": `"agee" is neither declared`, "== 3": "instead of a value", "1.2.3 > age": "not a number", strings.Repeat("(", 30) + "age" + strings.Repeat(")", 30): "nested too deeply",
		strings.Repeat("!", 30) + "age": "nested too deeply", strings.Repeat("age||", 120) + "age": "too long", "contains age": "instead of a value",
	} {
		p := conditionPathway(text)
		assert.ErrorContains(t, pathway.Validate(&p), why, text)
	}
}

func FuzzExpressions(f *testing.F) {
	for _, text := range []string{`age >= 18 && city == "Berlin"`, "!(a || b)", "a contains 'x'", "-1 < 2"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p := conditionPathway(text)
		_ = pathway.Validate(&p)
		play := pathway.TextSession{State: pathway.New(domain.Script{Pathway: p}, map[string]string{"age": text})}
		play.StartSession()
		assert.True(t, play.State.Over())
	})
}
