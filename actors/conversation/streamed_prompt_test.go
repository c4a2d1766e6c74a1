package conversation_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/conversation"
	"github.com/callboard/callboard/actors/mailbox/actortest"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/speech"
)

// slowEngine is a speech engine that generates audio only as fast as it is played.
type slowEngine struct{ ended chan string }

func (s *slowEngine) StreamSpeech(ctx context.Context, r speech.Request, out func([]byte)) error {
	if r.Text == "Hangs" {
		<-ctx.Done()
	}
	for range 10 {
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			s.ended <- r.Text
			return ctx.Err()
		}
		clip := make([]byte, 800)
		for i := range clip {
			clip[i] = r.Text[0]
		}
		out(clip)
	}
	return nil
}

// openWithEngine starts a conversation with the speech engine e. If e fails, the fixture's synthesizer replaces it.
func openWithEngine(t *testing.T, sys *actor.ActorSystem, script domain.Script, e speech.StreamingSynthesizer) *fixture {
	t.Helper()
	s := &fixture{t: t, sys: sys, player: &fakePlayer{begun: time.Now()}, recognizer: new(fakeRecognizer), voice: &fakeSynthesizer{synthesized: map[string]int{}, takes: 100 * time.Millisecond, fails: map[string]int{}}}
	var err error
	s.synthesizer, err = speech.NewSynthesizerChain(speech.Config{
		Engine: s.voice, Order: []string{"slowly"}, Sources: []speech.NamedSynthesizer{{Name: "slowly", Engine: e, FirstAudioTimeout: time.Second, PauseTimeout: time.Second}},
	})
	require.NoError(t, err)
	return s.start(script)
}

func plainScript(text string) domain.Script {
	return domain.Script{Language: "en-US", Pathway: domain.Pathway{
		Start: "ask",
		Nodes: []domain.Node{{ID: "ask", Type: domain.NodeCollect, Input: "dtmf", Prompt: text, Length: 1}, {ID: "end", Type: domain.NodeEnd}},
		Edges: []domain.Edge{{From: "ask", To: "end", When: domain.When{Type: domain.EdgeElse}}},
	}}
}

func TestStreamedPromptPlaysEarlyAndKeyCancelsSynthesis(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		e := &slowEngine{ended: make(chan string, 4)}
		s := openWithEngine(t, sys, plainScript("Ask"), e)
		s.send(conversation.StartConversation{})
		time.Sleep(150 * time.Millisecond)
		synctest.Wait()
		assert.Equal(t, []string{"feed A"}, s.player.actions(), "a tenth of it is made")
		s.send(conversation.MediaEvent{Event: media.Digit{Key: '1'}})
		synctest.Wait()
		assert.Equal(t, []string{"feed A", "stop"}, s.player.actions())
		assert.Equal(t, "Ask", <-e.ended, "the synthesis is cancelled")
		s.close()
	})
}

func TestSynthesisBeforePlaybackIsCancelled(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		e := &slowEngine{ended: make(chan string, 4)}
		s := openWithEngine(t, sys, plainScript("Hangs"), e)
		s.send(conversation.StartConversation{})
		time.Sleep(500 * time.Millisecond)
		s.send(conversation.MediaEvent{Event: media.Digit{Key: '1'}})
		synctest.Wait()
		assert.Equal(t, "Hangs", <-e.ended)
		assert.Empty(t, s.player.actions(), "the late audio is not played")
		for _, message := range s.close() {
			assert.IsNotType(t, conversation.Fault{}, message, "a cancelled synthesis is no fault")
		}
	})
}

func TestHangingSpeechEngineIsReportedAndReplaced(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		e := &slowEngine{ended: make(chan string, 4)}
		s := openWithEngine(t, sys, plainScript("Hangs"), e)
		s.send(conversation.StartConversation{})
		time.Sleep(1200 * time.Millisecond)
		synctest.Wait()
		assert.Equal(t, []string{"feed H"}, s.player.actions(), "by the machine's own voice")
		assert.Contains(t, s.close(), any(conversation.Fault{Stage: "tts", Code: "engine_slow", Message: "the engine slowly failed", Recovered: true}))
	})
}

func TestInterruptedPromptIsHeardUpToTheWordThatWasPlayed(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		e := &slowEngine{ended: make(chan string, 4)}
		s := openWithEngine(t, sys, plainScript("Anna comes to see you. Berta wants to know more about it."), e)
		s.send(conversation.StartConversation{})
		time.Sleep(2 * time.Second) // 0.1 s until the first audio, 1 s of the first sentence, 0.2 s of silence, 0.7 s of the second
		s.send(conversation.MediaEvent{Event: media.Digit{Key: '1'}})
		synctest.Wait()
		all := s.close()
		end, ok := all[len(all)-1].(conversation.FinishReply)
		require.True(t, ok)
		require.NotEmpty(t, end.Segments)
		assert.Equal(t, "Anna comes to see you. Berta wants to know —", end.Segments[0].Text, "seven tenths of the second sentence")
	})
}
