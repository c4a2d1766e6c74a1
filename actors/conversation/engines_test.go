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

// slowly is an engine that makes a second of sound in a second.
type slowly struct{ ended chan string }

func (s *slowly) StreamSpeech(ctx context.Context, r speech.Request, out func([]byte)) error {
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

// openBy is a stage whose voice is an engine; the machine's own is that of the
// other stages.
func openBy(t *testing.T, sys *actor.ActorSystem, script domain.Script, e speech.StreamingSynthesizer) *stage {
	t.Helper()
	s := &stage{t: t, sys: sys, sound: &sound{begun: time.Now()}, ears: new(ears), voice: &speaker{asked: map[string]int{}, takes: 100 * time.Millisecond, fails: map[string]int{}}}
	var err error
	s.speaks, err = speech.NewSynthesizerChain(speech.Config{
		Engine: s.voice, Order: []string{"slowly"}, Sources: []speech.NamedSynthesizer{{Name: "slowly", Engine: e, FirstAudioTimeout: time.Second, PauseTimeout: time.Second}},
	})
	require.NoError(t, err)
	return s.enter(script)
}

func plain(text string) domain.Script {
	return domain.Script{Language: "en-US", Pathway: domain.Pathway{
		Start: "ask",
		Nodes: []domain.Node{{ID: "ask", Type: domain.NodeCollect, Input: "dtmf", Prompt: text, Length: 1}, {ID: "end", Type: domain.NodeEnd}},
		Edges: []domain.Edge{{From: "ask", To: "end", When: domain.When{Type: domain.EdgeElse}}},
	}}
}

func TestTheFirstSoundIsPlayedAsItComesAndAKeyEndsTheWorkOnTheRest(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		e := &slowly{ended: make(chan string, 4)}
		s := openBy(t, sys, plain("Ask"), e)
		s.send(conversation.StartConversation{})
		time.Sleep(150 * time.Millisecond)
		synctest.Wait()
		assert.Equal(t, []string{"feed A"}, s.sound.done(), "a tenth of it is made")
		s.send(conversation.MediaEvent{Event: media.Digit{Key: '1'}})
		synctest.Wait()
		assert.Equal(t, []string{"feed A", "stop"}, s.sound.done())
		assert.Equal(t, "Ask", <-e.ended, "nobody pays for what nobody hears")
		s.close()
	})
}

func TestWhatIsNotYetHeardIsGivenUpToo(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		e := &slowly{ended: make(chan string, 4)}
		s := openBy(t, sys, plain("Hangs"), e)
		s.send(conversation.StartConversation{})
		time.Sleep(500 * time.Millisecond)
		s.send(conversation.MediaEvent{Event: media.Digit{Key: '1'}})
		synctest.Wait()
		assert.Equal(t, "Hangs", <-e.ended)
		assert.Empty(t, s.sound.done(), "and is not heard late")
		for _, told := range s.close() {
			assert.IsNotType(t, conversation.Fault{}, told, "it is nobody's fault")
		}
	})
}

func TestAnEngineThatHangsIsToldOfAndReplaced(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		e := &slowly{ended: make(chan string, 4)}
		s := openBy(t, sys, plain("Hangs"), e)
		s.send(conversation.StartConversation{})
		time.Sleep(1200 * time.Millisecond)
		synctest.Wait()
		assert.Equal(t, []string{"feed H"}, s.sound.done(), "by the machine's own voice")
		assert.Contains(t, s.close(), any(conversation.Fault{Stage: "tts", Code: "engine_slow", Message: "the engine slowly failed", Recovered: true}))
	})
}
