package node_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/service/sms"
)

func TestRedactionPatternsAreAppliedBeforeStorage(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	_, err := d.Workspaces.UpdateWorkspace(ctx, h.live, func(w *domain.Workspace) error {
		w.Redaction.Patterns = []string{`\b\d{4,5}\b`, `(?i)stop`}
		return nil
	})
	require.NoError(t, err)

	c, text := h.callAndWaitForTranscript(h.test, h.createAgent(h.test, domain.Pathway{
		Start: "say",
		Nodes: []domain.Node{
			{ID: "say", Type: domain.NodeSay, Prompt: "Here is {{agent_name}}. Your code is 90210.", Set: &domain.Assign{Notes: "told 90210", Variables: map[string]string{"code": "90210"}}},
			{ID: "end", Type: domain.NodeEnd},
		},
		Edges: []domain.Edge{{From: "say", To: "end", When: domain.When{Type: domain.EdgeAlways}}},
	}), carrierNumber(1, 1, "00"))
	assert.Contains(t, text, "Here is say. Your code is [redacted].")
	assert.Equal(t, map[string]string{"code": "[redacted]"}, c.Variables)
	shown := *c
	shown.Quality, shown.Latency = nil, nil // measurements may contain any digits
	row, err := json.Marshal(shown)
	require.NoError(t, err)
	assert.NotContains(t, string(row), "90210")

	const own, ada, eve = "+15005550410", "+15005551301", "+15005551302"
	h.createMessageAgent(own, 5, chainPathway(1, domain.Node{Type: domain.NodeSay, Prompt: "Hello.", Set: &domain.Assign{Notes: "told 90210", Variables: map[string]string{"code": "90210"}}}))
	m := h.waitForReply(h.receiveText(ada, own, "it is 90210"))
	assert.Equal(t, "it is [redacted]", m.Body)
	talk, err := d.SMS.Conversation(ctx, h.test, m.ConversationID)
	require.NoError(t, err)
	assert.Equal(t, []any{"told [redacted]", "[redacted]"}, []any{talk.Notes, talk.Variables["code"]})
	m = h.waitForReply(h.receiveText(eve, own, "STOP"))
	assert.Equal(t, []any{"[redacted]", true}, []any{m.Body, m.OptOut}, "the opt-out is recognized")

	events := h.events(h.test.WorkspaceID)
	assert.Len(t, countEvents(events, event.SMSReceived), 2)
	assert.Len(t, countEvents(events, event.CallEnded), 1)
	for _, e := range events {
		assert.NotContains(t, string(e.Data), "90210", "%s", e.Type)
	}
}

func TestMessageOfAnUnloadedWorkspaceIsRefusedForRedaction(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	p := h.test
	p.WorkspaceID = "ws_01ARZ3NDEKTSV4RRFFQ69G5FAV" // a workspace that is not loaded or does not exist
	_, err := h.services().SMS.TestInboundMessage(t.Context(), p, sms.InboundMessage{From: "+15005551301", To: "+15005550410", Body: "it is 90210"})
	require.Error(t, err)
	assert.Equal(t, domain.CodeUnavailable, domain.CodeOf(err), "the carrier repeats the message")
	assert.Empty(t, h.events(p.WorkspaceID))
}
