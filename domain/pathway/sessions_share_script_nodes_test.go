package pathway_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
)

// The calls of a campaign share one script. A conversation state must not copy the script's nodes, which are larger
// than all other data of a call.
func TestSessionSharesNodesOfItsScript(t *testing.T) { //nolint:paralleltest // the test counts allocations
	with := func(nodes int) domain.Script {
		p := domain.Pathway{Start: "0"}
		for i := range nodes {
			p.Nodes = append(p.Nodes, domain.Node{ID: strconv.Itoa(i), Type: domain.NodeSay, Prompt: "Hello."})
		}
		return domain.Script{Language: "en-US", Pathway: p}
	}
	allocs := func(script domain.Script) float64 {
		return testing.AllocsPerRun(20, func() { pathway.New(script, nil) })
	}
	assert.Less(t, allocs(with(200))-allocs(with(20)), 20.0, "180 more nodes must not cause 180 more objects")
}
