package node_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/engines/llm"
	"github.com/callboard/callboard/engines/llm/llmtest"
	"github.com/callboard/callboard/media/speech"
)

// fixedRecognizer recognizes the same words in every turn.
type fixedRecognizer struct{ words string }

func (fixedRecognizer) SupportsLanguage(string) bool      { return true }
func (fixedRecognizer) TranscribesFreeSpeech(string) bool { return true }

func (h fixedRecognizer) Open(_ speech.RecognitionRequest, notify func(speech.RecognitionResult)) speech.Stream {
	return &fixedRecognizerTurn{h.words, notify}
}

type fixedRecognizerTurn struct {
	words  string
	notify func(speech.RecognitionResult)
}

func (*fixedRecognizerTurn) Write([]byte) {}
func (*fixedRecognizerTurn) Close()       {}
func (t *fixedRecognizerTurn) End() {
	go t.notify(speech.RecognitionResult{Text: t.words, Confidence: 0.9, Final: true})
}

// modelsAt returns two language models. The first one is unavailable, and the second one answers with answer.
func modelsAt(t *testing.T, answer func(int, *llmtest.Request) llmtest.Reply) (llm.Models, *llmtest.Server) {
	t.Helper()
	up, down := llmtest.New(t, answer), llmtest.New(t, llmtest.Replies(llmtest.Reply{Status: 503}))
	return llm.Models{
		List: []llm.Engine{{Name: "down", URL: down.URL, Key: "sk-secret", Model: "m"}, {Name: "up", URL: up.URL, Model: "m", First: 20 * time.Second}}, Order: []string{"down", "up"},
	}, up
}

// buildWithModels builds a fixture with language models and a speech recognizer.
func buildWithModels(t *testing.T, answer func(int, *llmtest.Request) llmtest.Reply) (*fixture, *llmtest.Server) {
	t.Helper()
	h := newFixture(t, nil)
	h.shutdown()
	models, up := modelsAt(t, answer)
	h.models, h.recognizer = models, fixedRecognizer{"where is order seven"}
	h.start()
	return h, up
}

func (h *fixture) placeCall(agent, to string) string {
	h.Helper()
	c, err := h.services().Calls.PlaceCall(h.Context(), h.test, domain.NewCall{To: to, AgentID: agent, RingTimeout: 20 * time.Second, MaxDuration: time.Minute})
	require.NoError(h, err)
	return c.ID
}

func (h *fixture) waitForCallEnd(id string) *domain.Call {
	h.Helper()
	var c *domain.Call
	h.waitUntil(time.Minute, "the call has ended", func() bool {
		var err error
		c, err = h.services().Calls.Call(h.Context(), h.test, id)
		return err == nil && c.Final()
	})
	return c
}

// callPayloads returns the payloads of the events of one type for a call.
func (h *fixture) callPayloads(id string, of event.Type) []map[string]any {
	h.Helper()
	var out []map[string]any
	for _, e := range h.events(h.test.WorkspaceID) {
		if e.Type == of && e.Subject == id {
			var data map[string]any
			require.NoError(h, json.Unmarshal(e.Data, &data))
			out = append(out, data)
		}
	}
	return out
}

func TestAgentRepliesWithLanguageModelToolsAndKnowledge(t *testing.T) {
	t.Parallel()
	h, up := buildWithModels(t, func(_ int, r *llmtest.Request) llmtest.Reply {
		switch last := r.Messages[len(r.Messages)-1]; {
		case slices.ContainsFunc(r.Messages, func(m llmtest.Message) bool { return m.Role == "tool" && strings.Contains(m.Content, "Berlin") }):
			return llmtest.Reply{Say: []string{"It is in Berlin. ", "Goodbye."}, Calls: []llmtest.Call{{ID: "e", Name: "end_call", Arguments: `{"outcome":"confirmed","notes":"told"}`}}}
		case last.Role == "user" && strings.Contains(last.Content, "order seven"):
			return llmtest.Reply{Calls: []llmtest.Call{{ID: "a", Name: "look_up", Arguments: `{"order":7}`}, {ID: "b", Name: "send_sms", Arguments: `{"body":"x"}`}}}
		}
		return llmtest.ChunkedReply("Hello. What can I do?")
	})
	var requests atomic.Pointer[string]
	far := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		text := r.Header.Get("X-Key") + " " + string(body)
		requests.Store(&text)
		_, _ = io.WriteString(w, `{"at":"Berlin"}`)
	}))
	t.Cleanup(far.Close)
	h.receiver.roots.AddCert(far.Certificate())
	ctx := t.Context()
	tool, err := h.services().Tools.CreateTool(ctx, h.test, &domain.Tool{Name: "look_up", Description: "Tells where an order is.", Parameters: map[string]any{
		"type": "object", "properties": map[string]any{"order": map[string]any{"type": "integer"}},
	}, HTTP: &domain.ToolHTTP{Method: "POST", URL: far.URL, Headers: map[string]string{"X-Key": "s3cret"}, TimeoutMs: 5000}})
	require.NoError(t, err)
	base, err := h.services().Knowledge.CreateKnowledge(ctx, h.test, &domain.KnowledgeBase{Name: "orders"}, []domain.NewKnowledgeSource{{Type: domain.SourceText, Name: "orders.txt", Text: "Order seven is a blue bicycle.", ContentType: "text/plain"}})
	require.NoError(t, err)
	h.waitUntil(time.Minute, "the knowledge base is read", func() bool {
		k, err := h.services().Knowledge.KnowledgeBase(ctx, h.test, base.ID)
		return err == nil && k.Status == domain.KnowledgeReady
	})
	agent, err := h.services().Agents.CreateAgent(ctx, h.test, &domain.Agent{
		Name: "desk", Language: "en-US", Timezone: "UTC", SystemPrompt: "You are the desk of a shop.", Tools: []string{tool.ID, "end"}, KnowledgeBaseIDs: []string{base.ID},
	})
	require.NoError(t, err)
	id := h.placeCall(agent.ID, "+15005550007")
	c := h.waitForCallEnd(id)
	assert.Equal(t, []any{"confirmed", "told"}, []any{c.Disposition, c.Outcome.Notes})
	require.NotNil(t, requests.Load())
	assert.Equal(t, `s3cret {"order":7}`, *requests.Load())

	actions := h.callPayloads(id, event.AgentActionTriggered)
	require.NotEmpty(t, actions)
	assert.Equal(t, map[string]any{"at": "Berlin"}, actions[0]["result"])
	assert.Equal(t, []any{"look_up", map[string]any{"order": 7.0}, agent.ID}, []any{actions[0]["action"], actions[0]["arguments"], actions[0]["agent_id"]})
	codes := map[any]any{}
	for _, e := range h.callPayloads(id, event.AgentError) {
		codes[e["code"]] = e["recovered"]
		assert.NotContains(t, e["message"], "secret")
	}
	assert.Equal(t, map[any]any{"overloaded": true, "tool_refused": true}, codes, "the engine that is down, and the tool that is not offered")
	for _, a := range actions {
		assert.NotEqual(t, "send_sms", a["action"])
	}
	brief := up.Requests()[len(up.Requests())-1]
	assert.Contains(t, brief.Messages[0].Content, "You are the desk of a shop.")
	assert.ElementsMatch(t, []string{"end_call", "look_up"}, brief.Names())
	transcript, err := h.services().Calls.Transcript(ctx, h.test, id)
	require.NoError(t, err)
	isReported := false
	for _, s := range transcript.Segments {
		for _, from := range s.Sources {
			isReported = isReported || from.Name == "orders.txt" && s.Speaker == "agent" && s.FirstTokenMs > 0
		}
	}
	assert.True(t, isReported, "the source stands in the transcript: %+v", transcript.Segments)
	assert.NotContains(t, h.log.String(), "sk-secret")
	assert.NotContains(t, h.log.String(), "s3cret")
}

func TestEndedCallIsAnalysedOnceAcrossRestart(t *testing.T) {
	t.Parallel()
	var hang atomic.Bool
	hang.Store(true)
	h, up := buildWithModels(t, func(n int, r *llmtest.Request) llmtest.Reply {
		if hang.Load() {
			return llmtest.Reply{Hang: true}
		}
		if n%2 == 1 && r.Format != nil {
			return llmtest.ChunkedReply("I would say it went well.")
		}
		return llmtest.ChunkedReply("```json\n" + `{"summary":"They confirmed.","success":true,"success_reason":"A key was pressed.","fields":{"order":7,"mood":"awful","more":1}}` + "\n```")
	})
	ctx := t.Context()
	w := keyMenuPathway()
	w.Name = "menu"
	stored, err := h.services().Pathways.CreatePathway(ctx, h.test, &w)
	require.NoError(t, err)
	agent, err := h.services().Agents.CreateAgent(ctx, h.test, &domain.Agent{
		Name: "menu", PathwayID: stored.ID, Language: "en-US", Timezone: "UTC",
		Analysis: &domain.AgentAnalysis{Summary: true, SuccessCriteria: "the caller confirms", Fields: []domain.AnalysisField{{Name: "order", Type: "integer"}, {Name: "mood", Values: []string{"good", "bad"}}}},
	})
	require.NoError(t, err)
	id := h.placeCall(agent.ID, "+15005550000")
	assert.Nil(t, h.waitForCallEnd(id).Analysis, "the call ends before its analysis")
	h.waitUntil(time.Minute, "the model receives a request", func() bool { return len(up.Requests()) > 0 })
	h.shutdown()
	hang.Store(false)
	h.start()
	var c *domain.Call
	h.waitUntil(time.Minute, "the analysis is stored", func() bool {
		c, err = h.services().Calls.Call(ctx, h.test, id)
		return err == nil && c.Analysis != nil
	})
	a := c.Analysis
	require.NotNil(t, a.Success)
	assert.Equal(t, []any{"They confirmed.", true, "A key was pressed.", ""}, []any{a.Summary, *a.Success, a.Reason, a.Error})
	assert.Equal(t, map[string]any{"order": json.Number("7")}, a.Fields, "fields that do not match the schema are omitted")
	ready := h.callPayloads(id, event.CallAnalysisReady)
	require.Len(t, ready, 1)
	assert.Equal(t, agent.ID, ready[0]["agent_id"])
}

func TestLanguageModelPlaysTheCallerInATestConversation(t *testing.T) {
	t.Parallel()
	h, up := buildWithModels(t, llmtest.Replies(llmtest.ChunkedReply("Yes, please."), llmtest.ChunkedReply("Bye. [hang up]"), llmtest.Reply{Hang: true}))
	says := func(said ...pathway.Message) string {
		got, err := h.services().AgentRuntime.PlayCaller(t.Context(), h.test, "You want to come.", said)
		require.NoError(t, err)
		return got
	}
	assert.Equal(t, "Yes, please.", says(pathway.Message{By: pathway.ByAgent, Text: "Will you come?"}))
	assert.Equal(t, "Bye. [hang up]", says(pathway.Message{By: pathway.ByCaller, Text: "Hello?"}))
	lines := func(n int) (out []string) {
		for _, m := range up.Requests()[n].Messages {
			out = append(out, m.Role+" "+m.Content)
		}
		return out
	}
	assert.Equal(t, []string{"system You want to come.", "user Will you come?"}, lines(0), "the agent's questions are user messages for the simulated caller")
	assert.Equal(t, []string{"system You want to come.", "user (the agent says nothing yet)", "assistant Hello?", "user (the agent says nothing)"}, lines(1))
	assert.Equal(t, 200, up.Requests()[0].MaxTokens)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := h.services().AgentRuntime.PlayCaller(ctx, h.test, "You want to come.", nil)
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "sk-secret")
}
