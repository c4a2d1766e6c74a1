package conversation_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/conversation"
	"github.com/callboard/callboard/actors/mailbox/actortest"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
)

// fakeRuntime answers model requests in fake time: 300 ms until the first sentence and 700 ms between sentences.
type fakeRuntime struct {
	mu        sync.Mutex
	answers   []plannedResponse
	requests  []conversation.ModelRequest
	toolCalls []pathway.ActionRequest
	cancelled int // number of cancelled requests
}

type plannedResponse struct {
	say    []string
	calls  []pathway.ToolCall
	failed string
	hangs  bool // after its sentences
	panics bool
}

func (m *fakeRuntime) Respond(ctx context.Context, t conversation.ModelRequest, sentence func(string, time.Duration)) conversation.ModelResponse {
	m.mu.Lock()
	a := m.answers[min(len(m.requests), len(m.answers)-1)]
	m.requests = append(m.requests, t)
	m.mu.Unlock()
	if a.panics {
		panic("no")
	}
	if t.OnPassages != nil {
		t.OnPassages([]domain.Passage{{KnowledgeBaseID: "kb_1", SourceID: "src_1", Name: "hours"}})
	}
	wait := 300 * time.Millisecond
	for _, text := range a.say {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			break
		}
		sentence(text, 250*time.Millisecond)
		wait = 700 * time.Millisecond
	}
	if a.hangs {
		<-ctx.Done()
	}
	if ctx.Err() != nil {
		m.mu.Lock()
		m.cancelled++
		m.mu.Unlock()
		return conversation.ModelResponse{Failed: "gone"}
	}
	return conversation.ModelResponse{Calls: a.calls, Failed: a.failed, Message: a.failed}
}

func (m *fakeRuntime) CallTool(ctx context.Context, _ *domain.Script, a pathway.ActionRequest) conversation.ToolResult {
	m.mu.Lock()
	m.toolCalls = append(m.toolCalls, a)
	m.mu.Unlock()
	select {
	case <-time.After(3 * time.Second):
	case <-ctx.Done():
	}
	if a.Name == "broken" {
		return conversation.ToolResult{Text: "it answered 500"}
	}
	return conversation.ToolResult{OK: true, Text: `{"at":"Berlin"}`}
}

func (m *fakeRuntime) AgentScript(_ context.Context, id string) (domain.Script, error) {
	if id != "agent_2" {
		return domain.Script{}, errors.New("no such agent")
	}
	s := converseScript()
	s.AgentID, s.Version, s.Pathway.ID = id, 3, "pathway_2"
	s.Pathway.Nodes[0].Prompt = "Zoe here."
	return s, nil
}

// converseScript returns a script whose pathway greets the caller and then lets a language model converse.
func converseScript() domain.Script {
	return domain.Script{Language: "en-US", Timezone: "UTC", AgentID: "agent_1", Pathway: domain.Pathway{
		Start: "hello",
		Nodes: []domain.Node{
			{ID: "hello", Type: domain.NodeSay, Prompt: "Hello"},
			{ID: "talk", Type: domain.NodeConverse, Prompt: "Talk", Tools: []string{"tool_1", "end", "transfer"}},
			{ID: "bye", Type: domain.NodeEnd, Prompt: "Bye"},
		},
		Edges: []domain.Edge{edge("hello", "talk", domain.EdgeAlways, ""), edge("talk", "bye", domain.EdgeTimeout, "")},
	}}
}

// runOrderQuestion runs a conversation in which the caller asks "where is my order", and then calls then. It returns the
// messages to the call.
func runOrderQuestion(t *testing.T, m *fakeRuntime, script domain.Script, then func(s *fixture)) []any {
	t.Helper()
	var messages []any
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := openWithRuntime(t, sys, script, nil, m)
		s.send(conversation.StartConversation{})
		time.Sleep(1200 * time.Millisecond) // the greeting
		s.callerSays("where is my order", 0.9, 800*time.Millisecond)
		then(s)
		messages = s.close()
	})
	return messages
}

func finalSegments(t *testing.T, messages []any) []domain.Segment {
	t.Helper()
	f, ok := messages[len(messages)-1].(conversation.FinishReply)
	require.True(t, ok)
	return f.Segments
}

func segmentTexts(all []domain.Segment) (out []string) {
	for _, s := range all {
		out = append(out, s.Text)
	}
	return out
}

func TestFirstSentencePlaysWhileModelContinues(t *testing.T) {
	t.Parallel()
	m := &fakeRuntime{answers: []plannedResponse{{say: []string{"First.", "Second.", "Third."}}}}
	messages := runOrderQuestion(t, m, converseScript(), func(s *fixture) {
		time.Sleep(500 * time.Millisecond) // 300 ms of the model and 100 ms of synthesis
		assert.Equal(t, []string{"play H", "play F"}, s.player.actions())
		time.Sleep(4 * time.Second)
		assert.Equal(t, []string{"play H", "play F", "play S", "play T"}, s.player.actions())
	})
	all := finalSegments(t, messages)
	assert.Equal(t, []string{"Hello", "where is my order", "First.", "Second.", "Third."}, segmentTexts(all))
	assert.Equal(t, int64(250), all[2].FirstTokenMs)
	assert.Equal(t, []domain.Passage{{KnowledgeBaseID: "kb_1", SourceID: "src_1", Name: "hours"}}, all[2].Sources)
	assert.Zero(t, all[3].FirstTokenMs)
	over, ok := messages[len(messages)-1].(conversation.FinishReply)
	require.True(t, ok)
	require.Len(t, over.Turns, 1)
	assert.Equal(t, int64(250), over.Turns[0].LLMFirstTokenMs, "of the answer's time, the model's part")
	assert.Contains(t, m.requests[0].Brief, "Talk")
}

func TestBargeInCancelsModelRequest(t *testing.T) {
	t.Parallel()
	m := &fakeRuntime{answers: []plannedResponse{{say: []string{"First one, then two and three.", "Second."}, hangs: true}, {say: []string{"Other."}}}}
	messages := runOrderQuestion(t, m, converseScript(), func(s *fixture) {
		time.Sleep(500 * time.Millisecond)
		s.callerSays("no the other one", 0.9, 600*time.Millisecond)
		time.Sleep(3 * time.Second)
		assert.Equal(t, "play O", s.player.actions()[len(s.player.actions())-1])
		assert.NotContains(t, s.player.actions(), "play S")
		m.mu.Lock()
		assert.Equal(t, 1, m.cancelled, "the model is let go")
		m.mu.Unlock()
	})
	all := finalSegments(t, messages)
	assert.Equal(t, []string{"Hello", "where is my order", "First one, —", "no the other one", "Other."}, segmentTexts(all))
	assert.True(t, all[2].Interrupted)
	h := m.requests[1].Step.History
	assert.Equal(t, "First one, —", h[len(h)-2].Text)
}

// The caller has heard nothing of a sentence that is still being synthesized.
func TestBargeInBeforeAnswerSoundsLeavesNoAnswerInHistory(t *testing.T) {
	t.Parallel()
	m := &fakeRuntime{answers: []plannedResponse{{say: []string{"First one, then two and three."}}, {say: []string{"Other."}}}}
	messages := runOrderQuestion(t, m, converseScript(), func(s *fixture) {
		s.voice.mu.Lock()
		s.voice.takes = 5 * time.Second
		s.voice.mu.Unlock()
		time.Sleep(500 * time.Millisecond)
		s.callerSays("no the other one", 0.9, 600*time.Millisecond)
		time.Sleep(8 * time.Second)
	})
	assert.Equal(t, []string{"Hello", "where is my order", "no the other one", "Other."}, segmentTexts(finalSegments(t, messages)))
	for _, said := range m.requests[1].Step.History {
		assert.NotContains(t, said.Text, "First")
	}
}

func TestModelFailuresAreSpokenAndReported(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer plannedResponse
		hears  string
		fault  conversation.Fault
	}{
		"it fails":          {plannedResponse{failed: "timeout"}, "play I", conversation.Fault{Stage: "llm", Code: "timeout", Message: "timeout"}},
		"it panics":         {plannedResponse{panics: true}, "play I", conversation.Fault{Stage: "llm", Code: "internal", Message: "the model request panicked: no"}},
		"it hangs":          {plannedResponse{hangs: true}, "play O", conversation.Fault{}}, // "One moment, please."
		"it fails half-way": {plannedResponse{say: []string{"Half."}, failed: "stalled"}, "play H", conversation.Fault{Stage: "llm", Code: "stalled", Message: "stalled"}},
		"it calls what is not offered": {
			plannedResponse{say: []string{"Well."}, calls: []pathway.ToolCall{{ID: "1", Name: "rm"}}},
			"play W",
			conversation.Fault{Stage: "llm", Code: "tool_refused", Message: "the model called rm at node talk: there is no such tool here", Recovered: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := &fakeRuntime{answers: []plannedResponse{c.answer, {say: []string{"Ok."}}}}
			messages := runOrderQuestion(t, m, converseScript(), func(s *fixture) {
				time.Sleep(4 * time.Second)
				assert.Contains(t, s.player.actions()[1:], c.hears)
			})
			if c.fault.Code != "" {
				assert.Contains(t, messages, c.fault)
			}
		})
	}
}

func TestConverseNodeWithoutModelIsLeft(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := openConversation(t, sys, converseScript(), nil)
		s.send(conversation.StartConversation{})
		time.Sleep(1200 * time.Millisecond)
		s.callerSays("hello", 0.9, 500*time.Millisecond)
		time.Sleep(3 * time.Second)
		assert.Contains(t, s.close(), conversation.Fault{Stage: "llm", Code: "no_model", Message: "no language model is configured"})
	})
}

func TestSlowToolCallIsAnnounced(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"look_up", "broken"} {
		m := &fakeRuntime{answers: []plannedResponse{
			{calls: []pathway.ToolCall{{ID: "c1", Name: tool, Tool: "tool_1", Arguments: `{"order":7}`}}}, {say: []string{"Berlin."}},
		}}
		messages := runOrderQuestion(t, m, converseScript(), func(s *fixture) {
			time.Sleep(2500 * time.Millisecond)
			assert.Equal(t, []string{"play H", "play O"}, s.player.actions(), "one moment, please")
			time.Sleep(4 * time.Second)
			assert.Equal(t, []string{"play H", "play O", "play B"}, s.player.actions())
		})
		result := `{"at":"Berlin"}`
		if tool == "broken" {
			result = `{"error":"it answered 500"}`
			assert.Contains(t, messages, conversation.Fault{Stage: "tool", Code: "action_failed", Message: "broken at node talk: it answered 500", Recovered: true})
		}
		assert.Contains(t, messages, conversation.ActionPerformed{Action: tool, Arguments: json.RawMessage(`{"order":7}`), Result: json.RawMessage(result), Duration: 3 * time.Second})
	}
}

func TestToolDoneDuringPauseIsSpokenAfterwards(t *testing.T) {
	t.Parallel()
	m := &fakeRuntime{answers: []plannedResponse{{calls: []pathway.ToolCall{{ID: "c1", Name: "look_up", Tool: "tool_1"}}}, {say: []string{"Berlin."}}}}
	runOrderQuestion(t, m, converseScript(), func(s *fixture) {
		s.send(conversation.PauseAgent{})
		time.Sleep(5 * time.Second)
		assert.Equal(t, []string{"play H"}, s.player.actions())
		s.send(conversation.ResumeAgent{})
		time.Sleep(2 * time.Second)
		assert.Equal(t, "play B", s.player.actions()[len(s.player.actions())-1])
	})
}

func TestAgentHandoverContinuesConversation(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"agent_2", "agent_9"} {
		script := domain.Script{Language: "en-US", AgentID: "agent_1", Pathway: domain.Pathway{
			Start: "hello",
			Nodes: []domain.Node{
				{ID: "hello", Type: domain.NodeSay, Prompt: "Ann here."},
				{ID: "on", Type: domain.NodeAgent, AgentID: id},
				{ID: "sorry", Type: domain.NodeEnd, Prompt: "Nobody."},
			},
			Edges: []domain.Edge{edge("hello", "on", domain.EdgeAlways, ""), edge("on", "sorry", domain.EdgeElse, "")},
		}}
		actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
			s := openWithRuntime(t, sys, script, nil, &fakeRuntime{answers: []plannedResponse{{say: []string{"Go on."}}}})
			s.send(conversation.StartConversation{})
			time.Sleep(3 * time.Second)
			if id != "agent_2" {
				assert.Equal(t, []string{"play A", "play N"}, s.player.actions())
				s.close()
				return
			}
			assert.Equal(t, []string{"play A", "play Z"}, s.player.actions())
			s.callerSays("go on please", 0.9, 500*time.Millisecond)
			time.Sleep(time.Second)
			assert.Equal(t, "play G", s.player.actions()[2])
			assert.Contains(t, s.close(), conversation.AgentHandedOver{AgentID: "agent_2", Version: 3, PathwayID: "pathway_2", From: "agent_1"})
		})
	}
}

func TestIntentIsReportedWithEntities(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := openConversation(t, sys, questionScript(), nil)
		s.send(conversation.StartConversation{})
		time.Sleep(1200 * time.Millisecond)
		s.callerSays("yes at three pm", 0.87, 500*time.Millisecond)
		time.Sleep(3 * time.Second)
		assert.Contains(t, s.close(), conversation.IntentRecognized{Name: "yes", Confidence: 0.87, Entities: map[string]string{"yes_no": "yes", "time": "15:00"}})
	})
}
