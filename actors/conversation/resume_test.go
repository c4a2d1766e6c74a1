package conversation_test

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/conversation"
	"github.com/callboard/callboard/actors/mailbox/actortest"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
)

// resumeElsewhere continues the conversation from its saved state in a second fixture, as another process would.
func (s *fixture) resumeElsewhere(script domain.Script) *fixture {
	s.t.Helper()
	synctest.Wait()
	s.mu.Lock()
	b, err := json.Marshal(s.saved)
	s.mu.Unlock()
	require.NoError(s.t, err)
	s.close()
	n := &fixture{t: s.t, sys: s.sys, player: &fakePlayer{begun: time.Now().Add(-time.Minute)}, recognizer: s.recognizer, ear: s.ear, voice: s.voice, synthesizer: s.synthesizer}
	require.NoError(s.t, json.Unmarshal(b, &n.after))
	return n.start(script)
}

func TestInterruptedPromptIsRepeatedAfterResume(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := openConversation(t, sys, menuScript(), nil)
		s.send(conversation.StartConversation{})
		time.Sleep(600 * time.Millisecond)
		s = s.resumeElsewhere(menuScript())
		s.send(conversation.StartConversation{})
		time.Sleep(600 * time.Millisecond)
		s.pressKeys("1")
		time.Sleep(2 * time.Second)
		assert.Equal(t, []string{"play A", "stop", "play Y"}, s.player.actions())
		messages := s.close()
		end, is := messages[len(messages)-1].(conversation.FinishReply)
		require.True(t, is)
		assert.Equal(t, pathway.Result{Outcome: domain.OutcomeConfirmed}, end.Result)
		assert.Equal(t, []domain.Segment{
			{Index: 0, Speaker: "agent", Text: "Ask Ada", StartMs: 100, EndMs: 100, Confidence: 1, Interrupted: true},
			{Index: 1, Speaker: "agent", Text: "Ask —", StartMs: 60100, EndMs: 60600, Confidence: 1, Interrupted: true},
			{Index: 2, Speaker: "caller", Text: "[pressed 1]", StartMs: 60600, EndMs: 60600, Confidence: 1},
			{Index: 3, Speaker: "agent", Text: "Yes", StartMs: 60600, EndMs: 61600, Confidence: 1},
		}, end.Segments, "what was said before, and afterwards")
	})
}

func TestTransferredConversationCannotBeResumed(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := openConversation(t, sys, menuScript(), nil)
		s.send(conversation.StartConversation{})
		time.Sleep(600 * time.Millisecond)
		stands := func() *conversation.SavedState {
			synctest.Wait()
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.saved
		}
		require.NotNil(t, stands())
		s.send(conversation.PauseAgent{})
		assert.Nil(t, stands(), "the agent is paused")
		s.send(conversation.ResumeAgent{})
		assert.NotNil(t, stands())
		s.close()
	})
}

// runPendingToolCall runs a conversation until a tool call waits for its checkpoint, and then calls then. begun returns the
// number of started tool calls.
func runPendingToolCall(t *testing.T, after string, then func(s *fixture, begun func() int)) {
	t.Helper()
	m := &fakeRuntime{answers: []plannedResponse{{calls: []pathway.ToolCall{{ID: "c1", Name: "look_up", Tool: "tool_1"}}}, {say: []string{after}}}}
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := openWithRuntime(t, sys, converseScript(), nil, m)
		s.deferTools = true
		s.send(conversation.StartConversation{})
		time.Sleep(1200 * time.Millisecond) // the greeting
		s.callerSays("where is my order", 0.9, 800*time.Millisecond)
		then(s, func() int {
			synctest.Wait()
			m.mu.Lock()
			defer m.mu.Unlock()
			return len(m.toolCalls)
		})
		s.close()
	})
}

func TestToolCallStartsAfterCheckpointIsStored(t *testing.T) {
	t.Parallel()
	runPendingToolCall(t, "Berlin.", func(s *fixture, begun func() int) {
		time.Sleep(5 * time.Second)
		assert.Zero(t, begun())
		s.mu.Lock()
		acts, saved := s.toolCalls, s.saved
		s.mu.Unlock()
		require.Equal(t, 1, acts)
		assert.True(t, saved.State.WasActing, "the next process knows that the call started")
		for range 2 { // a commit may be reported twice
			s.send(conversation.CheckpointStored{ToolCalls: acts})
			assert.Equal(t, 1, begun())
		}
		time.Sleep(5 * time.Second)
		assert.Equal(t, "play B", s.player.actions()[len(s.player.actions())-1])
	})
}

func TestToolCallFailsWithoutStoredCheckpoint(t *testing.T) {
	t.Parallel()
	runPendingToolCall(t, "Sorry.", func(s *fixture, begun func() int) {
		time.Sleep(15 * time.Second) // the store is unavailable
		assert.Equal(t, "play S", s.player.actions()[len(s.player.actions())-1], "the failure is announced")
		s.send(conversation.CheckpointStored{ToolCalls: 1}) // the store is available again
		assert.Zero(t, begun())
	})
}
