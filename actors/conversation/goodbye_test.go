package conversation_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/actors/conversation"
	"github.com/callboard/callboard/actors/mailbox/actortest"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/speech"
	"github.com/callboard/callboard/media/vad"
)

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
				s.send(conversation.StartConversation{})
				advanceTime(1300 * time.Millisecond)
				s.callerSays("that is all", 0.9, time.Second)
				for i := 0; i < 100 && len(s.player.actions()) < 2; i++ {
					advanceTime(10 * time.Millisecond)
				}
				advanceTime(900 * time.Millisecond) // the goodbye lasts a second
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

// A person who takes over while the caller still speaks after the goodbye keeps the call.
func TestTakeoverAfterGoodbyeKeepsConversation(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		m := &fakeRuntime{answers: []plannedResponse{{say: []string{"Goodbye."}, calls: []pathway.ToolCall{{ID: "1", Name: "end_call", Arguments: "{}"}}}}}
		s := openWithRuntime(t, sys, converseScript(), nil, m)
		s.send(conversation.StartConversation{})
		advanceTime(1300 * time.Millisecond)
		s.callerSays("that is all", 0.9, time.Second)
		for i := 0; i < 100 && len(s.player.actions()) < 2; i++ {
			advanceTime(10 * time.Millisecond)
		}
		advanceTime(900 * time.Millisecond) // the goodbye lasts a second
		s.send(conversation.MediaEvent{Event: media.SpeechBegan{}})
		advanceTime(500 * time.Millisecond)
		s.send(conversation.PauseAgent{})
		advanceTime(10 * time.Second)
		s.mu.Lock()
		assert.Empty(t, s.messages, "the conversation goes on")
		s.mu.Unlock()
		s.close()
	})
}
