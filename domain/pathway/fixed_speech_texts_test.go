package pathway_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
)

func TestFixedTextsOfPathwayAreListed(t *testing.T) {
	t.Parallel()
	s := domain.Script{
		AMD: &domain.AgentAMD{Mode: domain.AMDWait, VoicemailAction: domain.AMDMessage, Message: "Call us back."},
		Pathway: domain.Pathway{Nodes: []domain.Node{
			{ID: "a", Type: domain.NodeSay, Prompt: "Good morning."},
			{ID: "b", Type: domain.NodeSay, Prompt: "Hello {{name}}."},
			{ID: "c", Type: domain.NodeCollect, Prompt: "Your PIN, please.", Sensitive: true},
			{ID: "d", Type: domain.NodeEnd, Prompt: "Good morning."},
			{ID: "e", Type: domain.NodeConverse, Prompt: "Be kind."},
			{ID: "f", Type: domain.NodeEnd},
		}},
	}
	assert.Equal(t, []string{"Good morning.", "Call us back."}, pathway.FixedTexts(&s))
	s.AMD = nil
	assert.Equal(t, []string{"Good morning."}, pathway.FixedTexts(&s))
}
