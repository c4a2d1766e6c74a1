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
	"github.com/callboard/callboard/media/amd"
	"github.com/callboard/callboard/media/speech"
	"github.com/callboard/callboard/media/vad"
)

// speakMostOfGoodbye starts the conversation, makes the caller end it, and returns 100 ms before the end of the goodbye, which
// lasts a second.
func (s *fixture) speakMostOfGoodbye() {
	s.send(conversation.StartConversation{})
	advanceTime(1300 * time.Millisecond)
	s.callerSays("that is all", 0.9, time.Second)
	for i := 0; i < 100 && len(s.player.actions()) < 2; i++ {
		advanceTime(10 * time.Millisecond)
	}
	advanceTime(900 * time.Millisecond)
}

// Words that the caller begins during the goodbye of the model are recognized and answered, although the goodbye has ended
// meanwhile.
func TestWordsBegunDuringGoodbyeAreAnswered(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"what about Sunday": {"Hello", "that is all", "Goodbye.", "what about Sunday", "We are closed."},
		"bye":               {"Hello", "that is all", "Goodbye.", "bye"},
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
				m := &fakeRuntime{answers: []plannedResponse{
					{say: []string{"Goodbye."}, calls: []pathway.ToolCall{{ID: "1", Name: "end_call", Arguments: "{}"}}}, {say: []string{"We are closed."}},
				}}
				script, mustHear := converseScript(), false
				script.Pathway.Nodes[1].Interruptible = &mustHear
				s := openWithRuntime(t, sys, script, nil, m)
				s.speakMostOfGoodbye()
				s.recognizer.mu.Lock()
				s.recognizer.next = speech.RecognitionResult{Text: text, Confidence: 0.9}
				s.recognizer.mu.Unlock()
				s.send(conversation.MediaEvent{Event: media.SpeechBegan{}})
				advanceTime(800 * time.Millisecond)
				s.send(conversation.MediaEvent{Event: media.SpeechEnded{Silence: vad.NeuralEndSilence}})
				advanceTime(4 * time.Second)
				s.mu.Lock()
				ended := len(s.messages) > 0
				s.mu.Unlock()
				synctest.Wait()
				assert.Equal(t, text == "bye", ended)
				assert.Equal(t, want, segmentTexts(finalSegments(t, s.close())))
			})
		})
	}
}

// A machine speaks during the only prompt of an agent. The wait for its words does not end the wait for the beep.
func TestMessageIsLeftIfMachineSpeaksDuringLastPrompt(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		script := voicemailScript("async", "leave_message")
		script.Pathway = domain.Pathway{
			Start: "end", Nodes: []domain.Node{{ID: "end", Type: domain.NodeEnd, Prompt: "Ask"}, {ID: "person", Type: domain.NodeEnd, Prompt: "Yes"}},
			Edges: []domain.Edge{{From: "*", To: "person", When: domain.When{Type: domain.EdgeIntent, Intent: "person", Words: []string{"a person"}}}},
		}
		s := openConversation(t, sys, script, nil)
		s.send(conversation.StartConversation{})
		advanceTime(900 * time.Millisecond)
		s.send(conversation.MediaEvent{Event: media.SpeechBegan{}})
		advanceTime(500 * time.Millisecond)
		assert.Empty(t, s.reports(), "the words are awaited")
		s.send(answererEvent(amd.Voicemail))
		advanceTime(8 * time.Second)
		s.send(beep)
		advanceTime(2 * time.Second)
		assert.Contains(t, s.player.actions(), "play M")
		s.close()
	})
}
