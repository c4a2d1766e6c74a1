package conversation_test

import (
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
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/speech"
)

// hasty lets a caller speak to an agent who waits a second and a half of silence
// for the end of a turn, and whose model is asked ahead.
func hasty(t *testing.T, m *mind, ahead bool, then func(s *stage)) []any {
	t.Helper()
	var heard []any
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		script := chatter()
		script.LLM, script.Turns = &domain.AgentLLM{Speculative: ahead}, &domain.TurnTaking{EndOfTurnMs: 1500}
		s := openWith(t, sys, script, nil, m)
		s.send(conversation.StartConversation{})
		time.Sleep(1200 * time.Millisecond) // the greeting
		synctest.Wait()
		then(s)
		heard = s.close()
	})
	return heard
}

// falls is speech that sounds like this, and the first half second of silence.
func (s *stage) falls(text string) {
	s.send(conversation.MediaEvent{Event: media.SpeechBegan{}})
	time.Sleep(time.Second)
	s.ears.sofar(text)
	s.send(conversation.MediaEvent{Event: media.SpeechEnded{}})
	synctest.Wait()
}

func turnsOf(t *testing.T, heard []any) []domain.TurnLatency {
	t.Helper()
	f, ok := heard[len(heard)-1].(conversation.ConversationFinished)
	require.True(t, ok)
	require.NotEmpty(t, f.Turns)
	return f.Turns
}

func (m *mind) questions() []conversation.ModelRequest {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]conversation.ModelRequest(nil), m.asked...)
}

func (s *stage) understands(text string) {
	s.ears.mu.Lock()
	s.ears.next = speech.RecognitionResult{Text: text, Confidence: 0.9}
	s.ears.mu.Unlock()
}

func TestAModelIsAskedWhileItIsWaitedForTheEndOfATurn(t *testing.T) {
	t.Parallel()
	call := pathway.ToolCall{ID: "c", Name: "end_call", Arguments: "{}"}
	m := &mind{answers: []mindAnswer{{say: []string{"It is on its way."}, calls: []pathway.ToolCall{call}}}}
	heard := hasty(t, m, true, func(s *stage) {
		s.understands("Where is my order?")
		s.falls("where is my order")
		assert.Len(t, m.questions(), 1)
		time.Sleep(990 * time.Millisecond)
		synctest.Wait()
		assert.Equal(t, []string{"play H"}, s.sound.done(), "it has answered, but the caller may go on")
		time.Sleep(250 * time.Millisecond)
		synctest.Wait()
		assert.Equal(t, []string{"play H", "play I"}, s.sound.done())
		time.Sleep(3 * time.Second)
		synctest.Wait()
	})
	assert.Len(t, m.questions(), 1, "the question was the same, but for how it is written")
	assert.Equal(t, []string{"Hello", "Where is my order?", "It is on its way."}, wordsOf(segments(t, heard)))
	turn := turnsOf(t, heard)[0]
	assert.Equal(t, domain.SpeculativeHit, turn.Speculative)
	assert.Equal(t, int64(1), turn.LLMFirstTokenMs, "nobody waited for it")
	assert.Contains(t, heard, any(conversation.PathwayEnded{Outcome: domain.OutcomeCompleted}), "and what it wanted was done")
}

func TestAGuessThatWasWrongIsNeverHeard(t *testing.T) {
	t.Parallel()
	end := pathway.ToolCall{ID: "c", Name: "end_call", Arguments: "{}"}
	m := &mind{answers: []mindAnswer{{say: []string{"Wrong."}, calls: []pathway.ToolCall{end}}, {say: []string{"Right."}}}}
	heard := hasty(t, m, true, func(s *stage) {
		s.understands("Where is my order for Friday?")
		s.falls("where is my order")
		time.Sleep(2 * time.Second) // the guess was answered in full
		synctest.Wait()
		assert.Len(t, m.questions(), 2)
		time.Sleep(2 * time.Second)
		synctest.Wait()
	})
	assert.Equal(t, []string{"Hello", "Where is my order for Friday?", "Right."}, wordsOf(segments(t, heard)))
	assert.Equal(t, domain.SpeculativeMiss, turnsOf(t, heard)[0].Speculative)
	for _, x := range heard {
		assert.NotEqual(t, conversation.PathwayEnded{Outcome: domain.OutcomeCompleted}, x)
	}
}

func TestWhoGoesOnSpeakingEndsTheGuess(t *testing.T) {
	t.Parallel()
	m := &mind{answers: []mindAnswer{{hangs: true}, {hangs: true}, {say: []string{"Right."}}}}
	hasty(t, m, true, func(s *stage) {
		s.understands("Where is my order for Friday or rather Monday?")
		s.falls("where is my order")
		s.falls("where is my order for friday")
		assert.Len(t, m.questions(), 2)
		s.falls("where is my order for friday or rather monday")
		assert.Len(t, m.questions(), 2, "twice a turn at most")
		m.mu.Lock()
		assert.Equal(t, 2, m.left, "nobody waits for what was asked before")
		m.mu.Unlock()
		time.Sleep(3 * time.Second)
		synctest.Wait()
		assert.Len(t, m.questions(), 3)
	})
}

func TestNoModelIsAskedAheadUnlessTheAgentSaysSo(t *testing.T) {
	t.Parallel()
	m := &mind{answers: []mindAnswer{{say: []string{"It is on its way."}}}}
	heard := hasty(t, m, false, func(s *stage) {
		s.understands("Where is my order?")
		s.falls("where is my order")
		assert.Empty(t, m.questions())
		time.Sleep(3 * time.Second)
		synctest.Wait()
	})
	assert.Empty(t, turnsOf(t, heard)[0].Speculative)
}
