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
	"github.com/callboard/callboard/media/vad"
)

// runSpeculative makes the caller speak to an agent that waits 1.5 s of silence for the end of a turn. If ahead is set, the
// agent uses speculative requests.
func runSpeculative(t *testing.T, m *fakeRuntime, ahead bool, then func(s *fixture)) []any {
	t.Helper()
	var messages []any
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		script := converseScript()
		script.LLM, script.Turns = &domain.AgentLLM{Speculative: ahead}, &domain.TurnTaking{EndOfTurnMs: 1500}
		s := openWithRuntime(t, sys, script, nil, m)
		s.send(conversation.StartConversation{})
		time.Sleep(1200 * time.Millisecond) // the greeting
		synctest.Wait()
		then(s)
		messages = s.close()
	})
	return messages
}

// callerPauses makes the caller speak a recognized text and then stay silent for half a second.
func (s *fixture) callerPauses(text string) {
	s.send(conversation.MediaEvent{Event: media.SpeechBegan{}})
	time.Sleep(time.Second)
	s.recognizer.sendInterim(text)
	s.send(conversation.MediaEvent{Event: media.SpeechEnded{Silence: vad.EndSilence}})
	synctest.Wait()
}

func turnLatencies(t *testing.T, messages []any) []domain.TurnLatency {
	t.Helper()
	f, ok := messages[len(messages)-1].(conversation.FinishReply)
	require.True(t, ok)
	require.NotEmpty(t, f.Turns)
	return f.Turns
}

func (m *fakeRuntime) sentRequests() []conversation.ModelRequest {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]conversation.ModelRequest(nil), m.requests...)
}

func (s *fixture) recognizeInterim(text string) {
	s.recognizer.mu.Lock()
	s.recognizer.next = speech.RecognitionResult{Text: text, Confidence: 0.9}
	s.recognizer.mu.Unlock()
}

func TestSpeculativeRequestIsSentBeforeEndOfTurn(t *testing.T) {
	t.Parallel()
	call := pathway.ToolCall{ID: "c", Name: "end_call", Arguments: "{}"}
	m := &fakeRuntime{answers: []plannedResponse{{say: []string{"It is on its way."}, calls: []pathway.ToolCall{call}}}}
	messages := runSpeculative(t, m, true, func(s *fixture) {
		s.recognizeInterim("Where is my order?")
		s.callerPauses("where is my order")
		assert.Len(t, m.sentRequests(), 1)
		time.Sleep(990 * time.Millisecond)
		synctest.Wait()
		assert.Equal(t, []string{"play H"}, s.player.actions(), "it has answered, but the caller may go on")
		time.Sleep(250 * time.Millisecond)
		synctest.Wait()
		assert.Equal(t, []string{"play H", "play I"}, s.player.actions())
		time.Sleep(3 * time.Second)
		synctest.Wait()
	})
	assert.Len(t, m.sentRequests(), 1, "the question was the same, but for how it is written")
	assert.Equal(t, []string{"Hello", "Where is my order?", "It is on its way."}, segmentTexts(finalSegments(t, messages)))
	turn := turnLatencies(t, messages)[0]
	assert.Equal(t, domain.SpeculativeHit, turn.Speculative)
	assert.Equal(t, int64(1), turn.LLMFirstTokenMs, "the response was ready before the turn ended")
	assert.Contains(t, messages, any(conversation.PathwayEnded{Outcome: domain.OutcomeCompleted}), "and what it wanted was done")
}

func TestWrongSpeculativeResponseIsNotSpoken(t *testing.T) {
	t.Parallel()
	end := pathway.ToolCall{ID: "c", Name: "end_call", Arguments: "{}"}
	m := &fakeRuntime{answers: []plannedResponse{{say: []string{"Wrong."}, calls: []pathway.ToolCall{end}}, {say: []string{"Right."}}}}
	messages := runSpeculative(t, m, true, func(s *fixture) {
		s.recognizeInterim("Where is my order for Friday?")
		s.callerPauses("where is my order")
		time.Sleep(2 * time.Second) // the speculative response is complete
		synctest.Wait()
		assert.Len(t, m.sentRequests(), 2)
		time.Sleep(2 * time.Second)
		synctest.Wait()
	})
	assert.Equal(t, []string{"Hello", "Where is my order for Friday?", "Right."}, segmentTexts(finalSegments(t, messages)))
	assert.Equal(t, domain.SpeculativeMiss, turnLatencies(t, messages)[0].Speculative)
	for _, x := range messages {
		assert.NotEqual(t, conversation.PathwayEnded{Outcome: domain.OutcomeCompleted}, x)
	}
}

func TestFurtherSpeechCancelsSpeculativeRequest(t *testing.T) {
	t.Parallel()
	m := &fakeRuntime{answers: []plannedResponse{{hangs: true}, {hangs: true}, {say: []string{"Right."}}}}
	runSpeculative(t, m, true, func(s *fixture) {
		s.recognizeInterim("Where is my order for Friday or rather Monday?")
		s.callerPauses("where is my order")
		s.callerPauses("where is my order for friday")
		assert.Len(t, m.sentRequests(), 2)
		s.callerPauses("where is my order for friday or rather monday")
		assert.Len(t, m.sentRequests(), 2, "twice a turn at most")
		m.mu.Lock()
		assert.Equal(t, 2, m.cancelled, "the earlier requests are cancelled")
		m.mu.Unlock()
		time.Sleep(3 * time.Second)
		synctest.Wait()
		assert.Len(t, m.sentRequests(), 3)
	})
}

func TestSpeculativeRequestsAreOffByDefault(t *testing.T) {
	t.Parallel()
	m := &fakeRuntime{answers: []plannedResponse{{say: []string{"It is on its way."}}}}
	messages := runSpeculative(t, m, false, func(s *fixture) {
		s.recognizeInterim("Where is my order?")
		s.callerPauses("where is my order")
		assert.Empty(t, m.sentRequests())
		time.Sleep(3 * time.Second)
		synctest.Wait()
	})
	assert.Empty(t, turnLatencies(t, messages)[0].Speculative)
}
