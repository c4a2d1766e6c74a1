package node_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
	callsservice "github.com/callboard/callboard/service/calls"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/record/contactlist"
)

// createTool creates a tool in the workspace of the principal.
func (h *fixture) createTool(p domain.Principal, name string) *domain.Tool {
	h.Helper()
	t, err := h.services().Tools.CreateTool(h.Context(), p, &domain.Tool{
		Name: name, Parameters: map[string]any{"type": "object"},
		HTTP: &domain.ToolHTTP{Method: "POST", URL: h.receiver.url, TimeoutMs: 1000, Headers: map[string]string{"Authorization": "Bearer 0123456789abcdef-" + name}},
	})
	require.NoError(h, err)
	return t
}

func TestToolSecretIsHiddenAndReferencedToolCannotBeDeleted(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d, p := t.Context(), h.services(), h.live
	one, other := h.createTool(p, "one"), h.createTool(p, "other")
	h.createTool(h.test, "one") // a tool of the test environment does not count for live
	got, err := d.Tools.Tool(ctx, p, one.ID)
	require.NoError(t, err)
	assert.Equal(t, "Bearer 0123456789abcdef-one", got.HTTP.Headers["Authorization"])
	assert.Equal(t, map[string]string{"Authorization": "…-one"}, got.HTTP.HeaderHints)
	for name, ask := range map[string]func() error{
		"read": func() error { return errorOf(d.Tools.Tool(ctx, h.test, one.ID)) },
		"change": func() error {
			return errorOf(d.Tools.UpdateTool(ctx, h.test, one.ID, func(*domain.Tool) error { return nil }))
		},
		"delete": func() error { return d.Tools.DeleteTool(ctx, h.test, one.ID) },
	} {
		assert.Equal(t, domain.CodeNotFound, domain.CodeOf(ask()), name)
	}
	_, err = d.Tools.UpdateTool(ctx, p, other.ID, func(t *domain.Tool) error { t.Name = "one"; return nil })
	assert.Equal(t, domain.CodeAlreadyExists, domain.CodeOf(err))
	_, err = d.Tools.UpdateTool(ctx, p, other.ID, func(t *domain.Tool) error { t.HTTP.URL = "https://10.0.0.1/inner"; return nil })
	assert.Equal(t, domain.CodeInvalidURL, domain.CodeOf(err), "egress rules forbid the address")

	_, err = d.Agents.CreateAgent(ctx, p, &domain.Agent{Name: "a", FirstMessage: "Hello.", Tools: []string{one.ID, "tool_01J9999999ZZZZZZZZZZZZZZZZ"}, KnowledgeBaseIDs: []string{"kb_01J9999999ZZZZZZZZZZZZZZZZ"}})
	var refused *domain.Error
	require.ErrorAs(t, err, &refused)
	require.Len(t, refused.Details, 2)
	assert.Equal(t, []string{"tools[1]", "knowledge_base_ids[0]"}, []string{refused.Details[0].Param, refused.Details[1].Param})
	a, err := d.Agents.CreateAgent(ctx, p, &domain.Agent{Name: "a", FirstMessage: "Hello.", Tools: []string{one.ID}})
	require.NoError(t, err)
	inUse := func(id string) {
		t.Helper()
		err := d.Tools.DeleteTool(ctx, p, id)
		require.ErrorAs(t, err, &refused)
		assert.Equal(t, domain.CodeInvalidState, refused.Code)
		assert.Contains(t, refused.Message, a.ID)
		assert.Len(t, refused.Extra["used_by"], 1)
	}
	inUse(one.ID)
	_, err = d.Agents.UpdateAgent(ctx, p, a.ID, func(a *domain.Agent) error { a.Tools = []string{other.ID}; return nil })
	require.NoError(t, err)
	inUse(other.ID)
	inUse(one.ID) // the draft does not use the tool, but live calls may
	_, err = d.Agents.PublishAgent(ctx, p, a.ID)
	require.NoError(t, err)
	require.NoError(t, d.Tools.DeleteTool(ctx, p, one.ID))
	inUse(other.ID)

	h.shutdown()
	files, err := filepath.Glob(filepath.Join(h.dir, "store", "*"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, f := range files {
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		assert.NotContains(t, string(text), "0123456789abcdef", f)
	}
	h.start()
	got, err = h.services().Tools.Tool(ctx, p, other.ID)
	require.NoError(t, err)
	assert.Equal(t, "Bearer 0123456789abcdef-other", got.HTTP.Headers["Authorization"])
}

// callAndWaitForTranscript calls a phone that answers and returns the ended call with its transcript.
func (h *fixture) callAndWaitForTranscript(p domain.Principal, agent, to string) (c *domain.Call, text string) {
	h.Helper()
	c, err := h.services().Calls.PlaceCall(h.Context(), p, domain.NewCall{To: to, AgentID: agent, RingTimeout: 5 * time.Second, MaxDuration: time.Minute})
	require.NoError(h, err)
	return h.waitForTranscript(p, c.ID)
}

func (h *fixture) waitForTranscript(p domain.Principal, id string) (c *domain.Call, text string) {
	h.Helper()
	h.waitUntil(20*time.Second, "the call has ended and its transcript is stored", func() bool { c = h.getCall(p, id); return c.Final() && !c.Processing })
	said, err := h.services().Calls.Transcript(h.Context(), p, id)
	require.NoError(h, err)
	return c, said.Text
}

func TestCallsUseThePublishedAgentVersion(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d, p := t.Context(), h.services(), h.live
	a, err := d.Agents.CreateAgent(ctx, p, &domain.Agent{Name: "a", FirstMessage: "The first.", Language: "en-US", Timezone: "UTC"})
	require.NoError(t, err)
	assert.Equal(t, 1, a.Version)
	assert.NotNil(t, a.PublishedAt)
	again, err := d.Agents.PublishAgent(ctx, p, a.ID)
	require.NoError(t, err)
	assert.Equal(t, 1, again.Version, "nothing changed")

	a, err = d.Agents.UpdateAgent(ctx, p, a.ID, func(a *domain.Agent) error { a.FirstMessage, a.Name = "The second.", "b"; return nil })
	require.NoError(t, err)
	assert.Equal(t, []string{"first_message"}, a.Unpublished, "a name holds at once")
	assert.Equal(t, 1, a.Version)
	c, text := h.callAndWaitForTranscript(p, a.ID, carrierNumber(1, 1, "00"))
	assert.Equal(t, 1, c.AgentVersion)
	assert.Contains(t, text, "The first.")
	assert.NotContains(t, text, "The second.", "the draft is not used in calls")

	v, err := d.Agents.PublishAgent(ctx, p, a.ID)
	require.NoError(t, err)
	assert.Equal(t, []any{2, "The second.", "agent_version"}, []any{v.Version, v.FirstMessage, v.Object})
	c, text = h.callAndWaitForTranscript(p, a.ID, carrierNumber(1, 2, "00"))
	assert.Equal(t, 2, c.AgentVersion)
	assert.Contains(t, text, "The second.")
	old, err := d.Agents.AgentVersion(ctx, p, a.ID, 1)
	require.NoError(t, err)
	assert.Equal(t, "The first.", old.FirstMessage, "a version never changes")
	_, err = d.Agents.AgentVersion(ctx, p, a.ID, 3)
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err))
	_, err = d.Agents.AgentVersion(ctx, h.test, a.ID, 1)
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err))
	l, err := d.Agents.ListAgentVersions(ctx, p, a.ID, record.PageQuery{Limit: 1})
	require.NoError(t, err)
	require.Len(t, l.Data, 1)
	assert.Equal(t, 2, l.Data[0].Version, "newest first")
	l, err = d.Agents.ListAgentVersions(ctx, p, a.ID, record.PageQuery{Limit: 2, Cursor: l.Next})
	require.NoError(t, err)
	require.Len(t, l.Data, 1)
	assert.Equal(t, 1, l.Data[0].Version)
	var fields []string
	for _, e := range h.events(p.WorkspaceID) {
		if e.Type == event.AgentUpdated {
			var data event.ResourceChangedData
			require.NoError(t, json.Unmarshal(e.Data, &data))
			fields = append(fields, strings.Join(data.Changed, ","))
		}
	}
	assert.Equal(t, []string{"first_message,name", "version"}, fields)
	require.NoError(t, d.Agents.DeleteAgent(ctx, p, a.ID))
	_, err = h.store.Get(ctx, old)
	assert.ErrorIs(t, err, domain.ErrNotFound, "versions are deleted with the agent")
}

func TestCampaignKeepsItsAgentVersionUnlessFollowLatest(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d, p := t.Context(), h.services(), h.live
	a, err := d.Agents.CreateAgent(ctx, p, &domain.Agent{Name: "a", FirstMessage: "The first.", Language: "en-US", Timezone: "UTC"})
	require.NoError(t, err)
	const keeps, follows = 3, 4
	campaigns := map[int]string{}
	for _, n := range []int{keeps, follows} {
		id := h.createCampaign(p, a.ID, carrierNumber(n, 1, "00"))
		_, _, err = d.Campaigns.UpdateCampaign(ctx, p, id, func(c *domain.Campaign) error {
			c.AutoComplete, c.FollowLatest = false, n == follows
			return nil
		})
		require.NoError(t, err)
		_, err = d.Campaigns.StartCampaign(ctx, p, id)
		require.NoError(t, err)
		campaigns[n] = id
	}
	version := func(n, calls int) int {
		var newest *domain.Call
		h.waitUntil(20*time.Second, "the campaign's calls have ended", func() bool {
			l, err := d.Calls.ListCalls(ctx, p, callsservice.Query{CampaignID: campaigns[n], PageQuery: record.PageQuery{Limit: 10}})
			require.NoError(t, err)
			if len(l.Data) == calls {
				newest = l.Data[0]
			}
			return newest != nil && newest.Final()
		})
		return newest.AgentVersion
	}
	assert.Equal(t, []int{1, 1}, []int{version(keeps, 1), version(follows, 1)})
	_, err = d.Agents.UpdateAgent(ctx, p, a.ID, func(a *domain.Agent) error { a.FirstMessage = "The second."; return nil })
	require.NoError(t, err)
	_, err = d.Agents.PublishAgent(ctx, p, a.ID)
	require.NoError(t, err)
	for n, id := range campaigns {
		_, err = d.Contacts.AddContacts(ctx, p, id, contactRows(carrierNumber(n, 2, "00")))
		require.NoError(t, err)
	}
	assert.Equal(t, []int{1, 2}, []int{version(keeps, 2), version(follows, 2)})
	h.shutdown()
	h.start()
	d = h.services()
	for n, id := range campaigns {
		retryUntilAvailable(h, func(ctx context.Context) (contactlist.UploadSummary, error) {
			return d.Contacts.AddContacts(ctx, p, id, contactRows(carrierNumber(n, 3, "00")))
		})
	}
	assert.Equal(t, []int{1, 2}, []int{version(keeps, 3), version(follows, 3)}, "also after a restart")
}

func TestPathwayReferencesCannotBeDeletedAndMissingEnginesAreRefused(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d, p := t.Context(), h.services(), h.live
	lookUp := h.createTool(p, "look_up")
	w := domain.Pathway{
		Name: "w", Start: "a",
		Nodes: []domain.Node{{ID: "a", Type: domain.NodeTool, ToolID: lookUp.ID}, {ID: "b", Type: domain.NodeAgent, AgentID: "agent_01J9999999ZZZZZZZZZZZZZZZZ"}},
	}
	_, err := d.Pathways.CreatePathway(ctx, p, &w)
	var refused *domain.Error
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, "nodes[1].agent_id", refused.Param)
	w.Nodes = w.Nodes[:1]
	require.Equal(t, domain.CodeValidation, domain.CodeOf(d.Pathways.CheckPathway(ctx, h.test, &w)), "the tool belongs to the other environment")
	stored, err := d.Pathways.CreatePathway(ctx, p, &w)
	require.NoError(t, err)
	assert.Equal(t, domain.CodeInvalidState, domain.CodeOf(d.Tools.DeleteTool(ctx, p, lookUp.ID)))

	a, err := d.Agents.CreateAgent(ctx, p, &domain.Agent{Name: "a", PathwayID: stored.ID})
	require.NoError(t, err)
	assert.Equal(t, domain.CodeInvalidState, domain.CodeOf(d.Pathways.DeletePathway(ctx, p, stored.ID)))
	thinks, err := d.Agents.CreateAgent(ctx, p, &domain.Agent{Name: "b", SystemPrompt: "You are a receptionist."})
	require.NoError(t, err)
	talks, err := d.Pathways.CreatePathway(ctx, p, &domain.Pathway{Name: "t", Start: "a", Nodes: []domain.Node{{ID: "a", Type: domain.NodeConverse, Prompt: "Help the caller."}}})
	require.NoError(t, err)
	talker, err := d.Agents.CreateAgent(ctx, p, &domain.Agent{Name: "c", PathwayID: talks.ID})
	require.NoError(t, err)
	for param, agent := range map[string]string{"pathway_id": talker.ID, "agent_id": thinks.ID} {
		_, err = d.Calls.PlaceCall(ctx, p, domain.NewCall{To: carrierNumber(1, 1, "00"), AgentID: agent, RingTimeout: time.Second, MaxDuration: time.Second})
		require.ErrorAs(t, err, &refused)
		assert.Equal(t, []any{domain.CodeNoEngine, param}, []any{refused.Code, refused.Param})
	}
	require.NoError(t, d.Agents.DeleteAgent(ctx, p, a.ID))
	require.NoError(t, d.Pathways.DeletePathway(ctx, p, stored.ID))
	require.NoError(t, d.Tools.DeleteTool(ctx, p, lookUp.ID))
}
