package pathway_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
)

// bookedPathway is offerPathway with the result of the booking in the variable booked.
func bookedPathway(prompt, expr string) domain.Pathway {
	p := offerPathway()
	p.Nodes[2].SaveAs = "booked"
	p.Nodes[3].Prompt = prompt
	if expr != "" {
		p.Edges = append(p.Edges, domain.Edge{From: "book", To: "person", When: domain.When{Type: domain.EdgeExpr, Expr: expr}})
	}
	return p
}

func TestFieldsThatResultsCannotHaveAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		prompt, expr string
		change       func(p *domain.Pathway)
		param, text  string // param "": valid
	}{
		"known fields":           {prompt: "On {{booked.local_datetime | say-as: date}}, {{booked.minutes}} minutes, {{times.free.0}}", expr: `booked.minutes > 20 && booked.status == "booked" && times.free contains "T09"`},
		"unknown field":          {prompt: "{{booked.starts_at}}", param: "nodes[3].prompt", text: `{{booked.starts_at}}: booked has no field "starts_at"; it has action, appointment_id, datetime, local_datetime, minutes`},
		"with a fallback":        {prompt: "{{booked.starts_at | soon}}"},
		"field of a list":        {prompt: "{{times.free.first}}", param: "nodes[3].prompt", text: "times.free is a list; write times.free.0"},
		"field of a text":        {prompt: "{{slot.start}}", param: "nodes[3].prompt", text: "slot is a text and has no fields; write {{slot}}"},
		"field of the item":      {change: func(p *domain.Pathway) { p.Nodes[1].Prompt = "{{item.start}}" }, param: "nodes[1].prompt", text: "times.free.0 is a text and has no fields"},
		"argument":               {change: func(p *domain.Pathway) { p.Nodes[2].Arguments["datetime"] = "{{times.slots.0}}" }, param: "nodes[2].arguments.datetime", text: `times has no field "slots"; it has free`},
		"unknown list":           {change: func(p *domain.Pathway) { p.Nodes[1].List = "times.slots" }, param: "nodes[1].list", text: `"times.slots": times has no field "slots"; it has free`},
		"an offer of an object":  {change: func(p *domain.Pathway) { p.Nodes[1].List = "times" }, param: "nodes[1].list", text: `"times" is an object; name a list such as times.free`},
		"an offer of a text":     {change: func(p *domain.Pathway) { p.Nodes[1].List = "times.free.0" }, param: "nodes[1].list", text: `"times.free.0" is a text; name a list`},
		"unknown in expression":  {expr: "booked.price > 3", param: "edges[8].when.expr", text: `booked has no field "price"`},
		"text above a number":    {expr: "!(booked.status > 3)", param: "edges[8].when.expr", text: "booked.status is a text, compared with the number 3; compare it with a text in quotes"},
		"number as a text":       {expr: `times.free.0 == slot || "long" == booked.minutes`, param: "edges[8].when.expr", text: `booked.minutes is a number, compared with the text "long"; compare it with a number`},
		"also set by the caller": {prompt: "{{booked.anything}}", change: func(p *domain.Pathway) { p.Variables = []domain.Variable{{Name: "booked"}} }},
		"also set by a node": {prompt: "{{booked.anything}}", change: func(p *domain.Pathway) {
			p.Nodes[4].Set = &domain.Assign{Variables: map[string]string{"booked": "{}"}}
		}},
		"also set by a tool": {prompt: "{{booked.anything}}", change: func(p *domain.Pathway) {
			p.Nodes[4] = domain.Node{ID: "none", Type: domain.NodeTool, ToolID: "tool_01ARZ3NDEKTSV4RRFFQ69G5FAV", SaveAs: "booked"}
		}},
		"of one of two results": {prompt: "{{booked.free.0}} {{booked.message_id}}", change: func(p *domain.Pathway) {
			p.Nodes[4] = domain.Node{ID: "none", Type: domain.NodeSMS, Body: "x", SaveAs: "booked"}
		}, param: "nodes[3].prompt", text: `{{booked.free.0}}: booked has no field "free"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := bookedPathway(c.prompt, c.expr)
			if c.change != nil {
				c.change(&p)
			}
			err := pathway.Validate(&p)
			if c.param == "" {
				require.NoError(t, err)
				return
			}
			assert.Equal(t, map[string]int{c.param: 1}, params(t, err), "%v", err)
			assert.ErrorContains(t, err, c.text)
		})
	}
}

func TestSpokenResultIsAWarning(t *testing.T) {
	t.Parallel()
	p := bookedPathway("{{booked}}", "")
	p.Nodes[4].Prompt = "{{times.free}}"
	p.Edges[3].When.Type = domain.EdgeExpr // no else edge leaves the offer
	p.Edges[3].When.Expr = "times.free contains 'x'"
	require.NoError(t, pathway.Validate(&p))
	var all []string
	for _, w := range pathway.Warnings(&p) {
		all = append(all, w.Param+" "+string(w.Code)+" "+w.Message)
	}
	assert.Equal(t, []string{
		`nodes[1] no_else the call ends if the caller takes no item of node "offer"; add an edge of type else`,
		"nodes[3].prompt spoken_result {{booked}} is read aloud with all its fields; name one of action, appointment_id, datetime, local_datetime, minutes, provider, status, timezone",
		"nodes[4].prompt spoken_result {{times.free}} is read aloud with all its items; offer them one by one by an offer node, or name {{times.free.0}}",
	}, all)
}
