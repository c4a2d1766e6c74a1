package analysis

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
)

func TestParseAnswerReadsCodeBlockAndDropsInvalidFields(t *testing.T) {
	t.Parallel()
	wanted := &domain.AgentAnalysis{Summary: true, Fields: []domain.AnalysisField{{Name: "rooms", Type: "integer"}, {Name: "name", Type: "string"}}}
	found, err := parseAnswer(wanted, "```json\n{\"summary\":\" Two rooms. \",\"fields\":{\"rooms\":\"many\",\"name\":\"Ada\",\"other\":1}}\n```")
	require.NoError(t, err)
	assert.Equal(t, "Two rooms.", found.Summary)
	assert.Equal(t, map[string]any{"name": "Ada"}, found.Fields)
}

func TestParseAnswerRequiresRequestedParts(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "no JSON", `{"summary":""}`, `{"fields":{}}`} {
		_, err := parseAnswer(&domain.AgentAnalysis{Summary: true}, text)
		require.ErrorIs(t, err, errAnalysis, text)
	}
	_, err := parseAnswer(&domain.AgentAnalysis{SuccessCriteria: "booked"}, `{"summary":"x"}`)
	assert.ErrorIs(t, err, errAnalysis)
}
