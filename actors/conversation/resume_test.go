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

// next is the same call in another process.
func (s *stage) next(script domain.Script) *stage {
	s.t.Helper()
	synctest.Wait()
	s.mu.Lock()
	b, err := json.Marshal(s.saved)
	s.mu.Unlock()
	require.NoError(s.t, err)
	s.close()
	n := &stage{t: s.t, sys: s.sys, sound: &sound{begun: time.Now().Add(-time.Minute)}, ears: s.ears, ear: s.ear, voice: s.voice, speaks: s.speaks}
	require.NoError(s.t, json.Unmarshal(b, &n.after))
	return n.enter(script)
}

func TestAConversationSaysItsSentenceAgainInAnotherProcess(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := open(t, sys, menu(), nil)
		s.send(conversation.StartConversation{})
		time.Sleep(600 * time.Millisecond)
		s = s.next(menu())
		s.send(conversation.StartConversation{})
		time.Sleep(600 * time.Millisecond)
		s.press("1")
		time.Sleep(2 * time.Second)
		assert.Equal(t, []string{"play A", "stop", "play Y"}, s.sound.done())
		heard := s.close()
		end, is := heard[len(heard)-1].(conversation.ConversationFinished)
		require.True(t, is)
		assert.Equal(t, pathway.Result{Outcome: domain.OutcomeConfirmed}, end.Result)
		assert.Equal(t, []domain.Segment{
			{Index: 0, Speaker: "agent", Text: "Ask Ada", StartMs: 100, EndMs: 100, Confidence: 1, Interrupted: true},
			{Index: 1, Speaker: "agent", Text: "Ask Ada", StartMs: 60100, EndMs: 60600, Confidence: 1, Interrupted: true},
			{Index: 2, Speaker: "caller", Text: "[pressed 1]", StartMs: 60600, EndMs: 60600, Confidence: 1},
			{Index: 3, Speaker: "agent", Text: "Yes", StartMs: 60600, EndMs: 61600, Confidence: 1},
		}, end.Segments, "what was said before, and afterwards")
	})
}

func TestAConversationThatSomebodyElseHasIsNotGoneOnWith(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := open(t, sys, menu(), nil)
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
		assert.Nil(t, stands(), "the caller is with somebody else")
		s.send(conversation.ResumeAgent{})
		assert.NotNil(t, stands())
		s.close()
	})
}

// acting is a conversation that has a tool to call, and waits until that is stored.
func acting(t *testing.T, after string, then func(s *stage, begun func() int)) {
	t.Helper()
	m := &mind{answers: []mindAnswer{{calls: []pathway.ToolCall{{ID: "c1", Name: "look_up", Tool: "tool_1"}}}, {say: []string{after}}}}
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := openWith(t, sys, chatter(), nil, m)
		s.holds = true
		s.send(conversation.StartConversation{})
		time.Sleep(1200 * time.Millisecond) // the greeting
		s.says("where is my order", 0.9, 800*time.Millisecond)
		then(s, func() int {
			synctest.Wait()
			m.mu.Lock()
			defer m.mu.Unlock()
			return len(m.acted)
		})
		s.close()
	})
}

func TestWhatIsDoneBeginsOnceThatIsStored(t *testing.T) {
	t.Parallel()
	acting(t, "Berlin.", func(s *stage, begun func() int) {
		time.Sleep(5 * time.Second)
		assert.Zero(t, begun())
		s.mu.Lock()
		acts, saved := s.acts, s.saved
		s.mu.Unlock()
		require.Equal(t, 1, acts)
		assert.True(t, saved.State.WasActing, "whoever goes on knows that it was begun")
		for range 2 { // a commit may be heard of twice
			s.send(conversation.CheckpointStored{ToolCalls: acts})
			assert.Equal(t, 1, begun())
		}
		time.Sleep(5 * time.Second)
		assert.Equal(t, "play B", s.sound.done()[len(s.sound.done())-1])
	})
}

func TestWhatIsNotStoredInTimeIsNotBegun(t *testing.T) {
	t.Parallel()
	acting(t, "Sorry.", func(s *stage, begun func() int) {
		time.Sleep(15 * time.Second) // the store is away
		assert.Equal(t, "play S", s.sound.done()[len(s.sound.done())-1], "the caller is told")
		s.send(conversation.CheckpointStored{ToolCalls: 1}) // and back
		assert.Zero(t, begun())
	})
}
