package dashboard

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReadPlanReportsJSONErrorPosition(t *testing.T) {
	t.Parallel()
	p := object{"name": "n", "start": "a", "nodes": []any{object{"id": "a"}}, "edges": []any{}, "version": 3.0}
	plan, err := readPlan(editableJSON(p))
	require.NoError(t, err)
	assert.Equal(t, object{"name": "n", "start": "a", "variables": []any{}, "nodes": []any{object{"id": "a"}}, "edges": []any{}}, plan)
	assert.Contains(t, editableJSON(object{"name": "<b> & co"}), `"<b> & co"`, "HTML characters are not escaped")
	for text, says := range map[string]string{
		"{\n  \"name\": \"ü\", x}": `line 2, column 16: invalid character 'x'`,
		"[]":                       "line 1, column 1: it must be an object",
		"null":                     "line 1, column 1: it must be an object",
		"{\"a\":":                  "it ends too early",
		"{} {}":                    "unexpected data after the object",
		"":                         "it ends too early",
	} {
		_, err := readPlan(text)
		require.Error(t, err, text)
		assert.Contains(t, err.Error(), says, text)
	}
}

func TestChatLinesAreInOrder(t *testing.T) {
	t.Parallel()
	assert.Equal(t, []chatLine{
		{"note", "The input matches no edge."}, {"agent", "Once more?"}, {"note", "A call would now run: transfer, billing"}, {"note", "The conversation has ended. completed"},
	}, linesOf(object{
		"understood": false, "ended": true, "outcome": "completed", "messages": []any{object{"node": "a", "text": "Once more?"}},
		"actions": []any{object{"type": "transfer", "target": "billing"}},
	}))
}
