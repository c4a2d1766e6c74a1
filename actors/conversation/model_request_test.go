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

// mind answers in the bubble's time: 300 ms until the first sentence, 700 ms
// between two.
type mind struct {
	mu      sync.Mutex
	answers []mindAnswer
	asked   []conversation.ModelRequest
	acted   []pathway.ActionRequest
	left    int // thoughts that ended early
}

type mindAnswer struct {
	say    []string
	calls  []pathway.ToolCall
	failed string
	hangs  bool // behind what it says
	panics bool
}

func (m *mind) Respond(ctx context.Context, t conversation.ModelRequest, sentence func(string, time.Duration)) conversation.ModelResponse {
	m.mu.Lock()
	a := m.answers[min(len(m.asked), len(m.answers)-1)]
	m.asked = append(m.asked, t)
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
		m.left++
		m.mu.Unlock()
		return conversation.ModelResponse{Failed: "gone"}
	}
	return conversation.ModelResponse{Calls: a.calls, Failed: a.failed, Message: a.failed}
}

func (m *mind) CallTool(ctx context.Context, _ *domain.Script, a pathway.ActionRequest) conversation.ToolResult {
	m.mu.Lock()
	m.acted = append(m.acted, a)
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

func (m *mind) AgentScript(_ context.Context, id string) (domain.Script, error) {
	if id != "agent_2" {
		return domain.Script{}, errors.New("no such agent")
	}
	s := chatter()
	s.AgentID, s.Version, s.Pathway.ID = id, 3, "pathway_2"
	s.Pathway.Nodes[0].Prompt = "Zoe here."
	return s, nil
}

// chatter greets and converses.
func chatter() domain.Script {
	return domain.Script{Language: "en-US", Timezone: "UTC", AgentID: "agent_1", Pathway: domain.Pathway{
		Start: "hello",
		Nodes: []domain.Node{
			{ID: "hello", Type: domain.NodeSay, Prompt: "Hello"},
			{ID: "talk", Type: domain.NodeConverse, Prompt: "Talk", Tools: []string{"tool_1", "end", "transfer"}},
			{ID: "bye", Type: domain.NodeEnd, Prompt: "Bye"},
		},
		Edges: []domain.Edge{to("hello", "talk", domain.EdgeAlways, ""), to("talk", "bye", domain.EdgeTimeout, "")},
	}}
}

// talks lets a caller say where his order is, and looks on.
func talks(t *testing.T, m *mind, script domain.Script, then func(s *stage)) []any {
	t.Helper()
	var heard []any
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := openWith(t, sys, script, nil, m)
		s.send(conversation.StartConversation{})
		time.Sleep(1200 * time.Millisecond) // the greeting
		s.says("where is my order", 0.9, 800*time.Millisecond)
		then(s)
		heard = s.close()
	})
	return heard
}

func segments(t *testing.T, heard []any) []domain.Segment {
	t.Helper()
	f, ok := heard[len(heard)-1].(conversation.ConversationFinished)
	require.True(t, ok)
	return f.Segments
}

func wordsOf(all []domain.Segment) (out []string) {
	for _, s := range all {
		out = append(out, s.Text)
	}
	return out
}

func TestTheFirstSentenceSoundsWhileTheModelStillThinks(t *testing.T) {
	t.Parallel()
	m := &mind{answers: []mindAnswer{{say: []string{"First.", "Second.", "Third."}}}}
	heard := talks(t, m, chatter(), func(s *stage) {
		time.Sleep(500 * time.Millisecond) // 300 ms to think, 100 to speak
		assert.Equal(t, []string{"play H", "play F"}, s.sound.done())
		time.Sleep(4 * time.Second)
		assert.Equal(t, []string{"play H", "play F", "play S", "play T"}, s.sound.done())
	})
	all := segments(t, heard)
	assert.Equal(t, []string{"Hello", "where is my order", "First.", "Second.", "Third."}, wordsOf(all))
	assert.Equal(t, int64(250), all[2].FirstTokenMs)
	assert.Equal(t, []domain.Passage{{KnowledgeBaseID: "kb_1", SourceID: "src_1", Name: "hours"}}, all[2].Sources)
	assert.Zero(t, all[3].FirstTokenMs)
	over, ok := heard[len(heard)-1].(conversation.ConversationFinished)
	require.True(t, ok)
	require.Len(t, over.Turns, 1)
	assert.Equal(t, int64(250), over.Turns[0].LLMFirstTokenMs, "of the answer's time, the model's part")
	assert.Contains(t, m.asked[0].Brief, "Talk")
}

func TestABargeInEndsWhatIsThoughtAndALateAnswerIsNotHeard(t *testing.T) {
	t.Parallel()
	m := &mind{answers: []mindAnswer{{say: []string{"First.", "Second."}, hangs: true}, {say: []string{"Other."}}}}
	heard := talks(t, m, chatter(), func(s *stage) {
		time.Sleep(500 * time.Millisecond)
		s.says("no the other one", 0.9, 600*time.Millisecond)
		time.Sleep(3 * time.Second)
		assert.Equal(t, "play O", s.sound.done()[len(s.sound.done())-1])
		assert.NotContains(t, s.sound.done(), "play S")
		m.mu.Lock()
		assert.Equal(t, 1, m.left, "the model is let go")
		m.mu.Unlock()
	})
	all := segments(t, heard)
	assert.Equal(t, []string{"Hello", "where is my order", "First.", "no the other one", "Other."}, wordsOf(all))
	assert.True(t, all[2].Interrupted)
	h := m.asked[1].Step.History
	assert.Equal(t, "First. —", h[len(h)-2].Text)
}

func TestWhateverAModelDoesTheCallerHearsSomethingAndTheRecordSaysWhy(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer mindAnswer
		hears  string
		fault  conversation.Fault
	}{
		"it fails":          {mindAnswer{failed: "timeout"}, "play I", conversation.Fault{Stage: "llm", Code: "timeout", Message: "timeout"}},
		"it panics":         {mindAnswer{panics: true}, "play I", conversation.Fault{Stage: "llm", Code: "internal", Message: "the model request panicked: no"}},
		"it hangs":          {mindAnswer{hangs: true}, "play O", conversation.Fault{}}, // "One moment, please."
		"it fails half-way": {mindAnswer{say: []string{"Half."}, failed: "stalled"}, "play H", conversation.Fault{Stage: "llm", Code: "stalled", Message: "stalled"}},
		"it calls what is not offered": {
			mindAnswer{say: []string{"Well."}, calls: []pathway.ToolCall{{ID: "1", Name: "rm"}}},
			"play W",
			conversation.Fault{Stage: "llm", Code: "tool_refused", Message: "the model called rm at node talk: there is no such tool here", Recovered: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := &mind{answers: []mindAnswer{c.answer, {say: []string{"Ok."}}}}
			heard := talks(t, m, chatter(), func(s *stage) {
				time.Sleep(4 * time.Second)
				assert.Contains(t, s.sound.done()[1:], c.hears)
			})
			if c.fault.Code != "" {
				assert.Contains(t, heard, c.fault)
			}
		})
	}
}

func TestWithoutAModelAConversationIsLeft(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := open(t, sys, chatter(), nil)
		s.send(conversation.StartConversation{})
		time.Sleep(1200 * time.Millisecond)
		s.says("hello", 0.9, 500*time.Millisecond)
		time.Sleep(3 * time.Second)
		assert.Contains(t, s.close(), conversation.Fault{Stage: "llm", Code: "no_model", Message: "no language model is configured"})
	})
}

func TestWhatTheModelWantsIsDoneWithAWordMeanwhile(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"look_up", "broken"} {
		m := &mind{answers: []mindAnswer{
			{calls: []pathway.ToolCall{{ID: "c1", Name: tool, Tool: "tool_1", Arguments: `{"order":7}`}}}, {say: []string{"Berlin."}},
		}}
		heard := talks(t, m, chatter(), func(s *stage) {
			time.Sleep(2500 * time.Millisecond)
			assert.Equal(t, []string{"play H", "play O"}, s.sound.done(), "one moment, please")
			time.Sleep(4 * time.Second)
			assert.Equal(t, []string{"play H", "play O", "play B"}, s.sound.done())
		})
		result := `{"at":"Berlin"}`
		if tool == "broken" {
			result = `{"error":"it answered 500"}`
			assert.Contains(t, heard, conversation.Fault{Stage: "tool", Code: "action_failed", Message: "broken at node talk: it answered 500", Recovered: true})
		}
		assert.Contains(t, heard, conversation.ActionPerformed{Action: tool, Arguments: json.RawMessage(`{"order":7}`), Result: json.RawMessage(result), Duration: 3 * time.Second})
	}
}

func TestWhatIsDoneWhileSomebodyElseHasTheCallerIsHeardAfterwards(t *testing.T) {
	t.Parallel()
	m := &mind{answers: []mindAnswer{{calls: []pathway.ToolCall{{ID: "c1", Name: "look_up", Tool: "tool_1"}}}, {say: []string{"Berlin."}}}}
	talks(t, m, chatter(), func(s *stage) {
		s.send(conversation.PauseAgent{})
		time.Sleep(5 * time.Second)
		assert.Equal(t, []string{"play H"}, s.sound.done())
		s.send(conversation.ResumeAgent{})
		time.Sleep(2 * time.Second)
		assert.Equal(t, "play B", s.sound.done()[len(s.sound.done())-1])
	})
}

func TestAnotherAgentGoesOn(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"agent_2", "agent_9"} {
		script := domain.Script{Language: "en-US", AgentID: "agent_1", Pathway: domain.Pathway{
			Start: "hello",
			Nodes: []domain.Node{
				{ID: "hello", Type: domain.NodeSay, Prompt: "Ann here."},
				{ID: "on", Type: domain.NodeAgent, AgentID: id},
				{ID: "sorry", Type: domain.NodeEnd, Prompt: "Nobody."},
			},
			Edges: []domain.Edge{to("hello", "on", domain.EdgeAlways, ""), to("on", "sorry", domain.EdgeElse, "")},
		}}
		actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
			s := openWith(t, sys, script, nil, &mind{answers: []mindAnswer{{say: []string{"Go on."}}}})
			s.send(conversation.StartConversation{})
			time.Sleep(3 * time.Second)
			if id != "agent_2" {
				assert.Equal(t, []string{"play A", "play N"}, s.sound.done())
				s.close()
				return
			}
			assert.Equal(t, []string{"play A", "play Z"}, s.sound.done())
			s.says("go on please", 0.9, 500*time.Millisecond)
			time.Sleep(time.Second)
			assert.Equal(t, "play G", s.sound.done()[2])
			assert.Contains(t, s.close(), conversation.AgentHandedOver{AgentID: "agent_2", Version: 3, PathwayID: "pathway_2", From: "agent_1"})
		})
	}
}

func TestAnIntentIsToldWithWhatWasNamed(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := open(t, sys, question(), nil)
		s.send(conversation.StartConversation{})
		time.Sleep(1200 * time.Millisecond)
		s.says("yes at three pm", 0.87, 500*time.Millisecond)
		time.Sleep(3 * time.Second)
		assert.Contains(t, s.close(), conversation.IntentRecognized{Name: "yes", Confidence: 0.87, Entities: map[string]string{"yes_no": "yes", "time": "15:00"}})
	})
}
