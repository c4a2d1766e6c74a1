package conversation_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/actors/conversation"
	"github.com/callboard/callboard/actors/mailbox/actortest"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/speech"
	"github.com/callboard/callboard/media/vad"
)

// speakUntilPause makes the caller speak for a second. An engine that recognizes words while the caller speaks has
// recognized those of interim, and any engine those of final when the turn ends. It returns when the end of speech is
// detected.
func (s *fixture) speakUntilPause(interim, final string) {
	s.recognizer.mu.Lock()
	s.recognizer.next = speech.RecognitionResult{Text: final, Confidence: 0.9}
	s.recognizer.mu.Unlock()
	s.send(conversation.MediaEvent{Event: media.SpeechBegan{}})
	time.Sleep(time.Second)
	if interim != "" {
		s.recognizer.sendInterim(interim)
	}
	time.Sleep(vad.NeuralEndSilence)
	s.send(conversation.MediaEvent{Event: media.SpeechEnded{Silence: vad.NeuralEndSilence}})
	synctest.Wait()
}

// silenceUntilRequest returns the silence after the caller's words until the model is requested, in steps of 10 ms, at most
// three seconds. The result of the recognizer takes 100 ms of it.
func (s *fixture) silenceUntilRequest(m *fakeRuntime) time.Duration {
	waited := vad.NeuralEndSilence
	for ; waited < 3*time.Second && len(m.sentRequests()) == 0; waited += 10 * time.Millisecond {
		advanceTime(10 * time.Millisecond)
	}
	return waited
}

// runConversation runs a conversation with a model that has greeted the caller.
func runConversation(t *testing.T, script domain.Script, then func(s *fixture, m *fakeRuntime)) []any {
	t.Helper()
	var messages []any
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		m := &fakeRuntime{answers: []plannedResponse{{say: []string{"Fine."}}}}
		s := openWithRuntime(t, sys, script, nil, m)
		s.send(conversation.StartConversation{})
		advanceTime(1300 * time.Millisecond)
		then(s, m)
		messages = s.close()
	})
	return messages
}

// withPerson returns the script with an edge for the words "a real person".
func withPerson(script domain.Script) domain.Script {
	script.Pathway.Edges = append(script.Pathway.Edges, domain.Edge{From: "talk", To: "talk", When: domain.When{Type: domain.EdgeIntent, Intent: "human", Words: []string{"a real person"}}})
	return script
}

func TestTurnEndsByWords(t *testing.T) {
	t.Parallel()
	node := converseScript()
	node.Pathway.Nodes[1].TurnTaking = &domain.TurnTaking{EndOfTurnMs: 800}
	agent := converseScript()
	agent.Turns = &domain.TurnTaking{EndOfCompleteTurnMs: 400, EndOfIncompleteTurnMs: 2000}
	for name, c := range map[string]struct {
		script         domain.Script
		interim, final string
		want           time.Duration
	}{
		"complete answer":                      {converseScript(), "a real person", "a real person", 356 * time.Millisecond},
		"other words":                          {converseScript(), "where is my order", "where is my order", 550 * time.Millisecond},
		"no words known":                       {converseScript(), "", "where is my order", 550 * time.Millisecond},
		"beginning of a sentence":              {converseScript(), "I would like to", "I would like to", 1600 * time.Millisecond},
		"beginning of a sentence, known late":  {converseScript(), "", "I would like to", 1500 * time.Millisecond},
		"beginning of a number":                {converseScript(), "my number is 202 555", "my number is 202 555", 1600 * time.Millisecond},
		"settings of the node":                 {node, "where is my order", "where is my order", 900 * time.Millisecond},
		"settings of the agent":                {agent, "a real person", "a real person", 500 * time.Millisecond},
		"settings of the agent for a sentence": {agent, "I would like to", "I would like to", 2100 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runConversation(t, withPerson(c.script), func(s *fixture, m *fakeRuntime) {
				s.speakUntilPause(c.interim, c.final)
				assert.InDelta(t, c.want.Seconds(), s.silenceUntilRequest(m).Seconds(), 0.011)
			})
		})
	}
}

func TestEngineThatRecognizesEndOfTurnEndsIt(t *testing.T) {
	t.Parallel()
	runConversation(t, converseScript(), func(s *fixture, m *fakeRuntime) {
		s.speakUntilPause("I would like to", "I would like to")
		advanceTime(100 * time.Millisecond)
		s.recognizer.mu.Lock()
		onResult := s.recognizer.onResult
		s.recognizer.mu.Unlock()
		onResult(speech.RecognitionResult{Text: "I would like to", Confidence: 0.9, EndOfTurn: true})
		advanceTime(110 * time.Millisecond)
		assert.Len(t, m.sentRequests(), 1)
	})
}

func TestSentenceWithPauseIsOneTurn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		interim string        // of an engine that recognizes words while the caller speaks
		pause   time.Duration // from the end of speech
		rest    string        // what the engine recognizes behind the pause
	}{
		"words known early":              {"I would like to", 700 * time.Millisecond, "I would like to book an appointment"},
		"words known late":               {"", 700 * time.Millisecond, "book an appointment"},
		"caller goes on before a result": {"", 550 * time.Millisecond, "book an appointment"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			messages := runConversation(t, converseScript(), func(s *fixture, m *fakeRuntime) {
				s.speakUntilPause(c.interim, "I would like to")
				advanceTime(c.pause - vad.NeuralEndSilence)
				s.send(conversation.MediaEvent{Event: media.SpeechBegan{}})
				advanceTime(200 * time.Millisecond)
				assert.Empty(t, m.sentRequests())
				s.speakUntilPause("", c.rest)
				s.silenceUntilRequest(m)
				h := m.sentRequests()[0].Step.History
				assert.Equal(t, pathway.Message{By: pathway.ByCaller, Text: "I would like to book an appointment"}, h[len(h)-1])
				advanceTime(3 * time.Second)
				assert.Len(t, m.sentRequests(), 1)
			})
			assert.Equal(t, []string{"Hello", "I would like to book an appointment", "Fine."}, segmentTexts(finalSegments(t, messages)))
		})
	}
}

func TestIncompleteTurnAtEndOfCallIsInTranscript(t *testing.T) {
	t.Parallel()
	messages := runConversation(t, converseScript(), func(s *fixture, _ *fakeRuntime) {
		s.speakUntilPause("", "I would like to")
		advanceTime(600 * time.Millisecond)
	})
	assert.Equal(t, []string{"Hello", "I would like to"}, segmentTexts(finalSegments(t, messages)))
}

func TestKeyEndsIncompleteTurn(t *testing.T) {
	t.Parallel()
	runConversation(t, converseScript(), func(s *fixture, m *fakeRuntime) {
		s.speakUntilPause("", "I would like to")
		advanceTime(600 * time.Millisecond)
		s.send(conversation.MediaEvent{Event: media.Digit{Key: '#'}})
		advanceTime(4 * time.Second)
		for _, r := range m.sentRequests() {
			for _, h := range r.Step.History {
				assert.NotContains(t, h.Text, "I would like to")
			}
		}
	})
}
