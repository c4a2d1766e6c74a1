package agentruntime

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/engines/llm"
)

func TestModelRequestHasResultForEachToolCall(t *testing.T) {
	t.Parallel()
	got := messagesOf("brief", []pathway.Message{
		{By: pathway.ByAgent, Calls: []pathway.ToolCall{{ID: "1", Name: "look"}, {ID: "2", Name: "book"}}},
		{By: pathway.ByTool, ID: "1", Text: "found"},
	})
	var roles, texts []string
	for _, m := range got {
		roles, texts = append(roles, m.Role), append(texts, m.Text)
	}
	assert.Equal(t, []string{llm.System, llm.Assistant, llm.ToolRole, llm.ToolRole, llm.User}, roles)
	assert.Equal(t, []string{"brief", "", "found", "error: it was not done", "(The caller is on the line and has said nothing yet.)"}, texts)
}
