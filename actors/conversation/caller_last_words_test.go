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
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/speech"
	"github.com/callboard/callboard/media/vad"
)

// callerBegins makes the caller start to speak. The recognizer returns the text after the delay takes.
func (s *fixture) callerBegins(text string, takes time.Duration) {
	s.recognizer.mu.Lock()
	s.recognizer.next, s.recognizer.delay = speech.RecognitionResult{Text: text, Confidence: 0.9}, takes
	s.recognizer.mu.Unlock()
	s.send(conversation.MediaEvent{Event: media.SpeechBegan{}})
}

func (s *fixture) callerStops() {
	s.send(conversation.MediaEvent{Event: media.SpeechEnded{Silence: vad.EndSilence}})
}

func finishCount(t *testing.T, messages []any) (n int) {
	t.Helper()
	for _, m := range messages {
		if _, ok := m.(conversation.FinishReply); ok {
			n++
		}
	}
	return n
}

func TestOptOutKeywordBeforeHangupCounts(t *testing.T) {
	t.Parallel()
	said := []conversation.OptOutRequested{{Channel: "speech", Keyword: "stop"}}
	secret := menuScript()
	secret.Pathway.Nodes[0].Sensitive, secret.Pathway.Nodes[0].Input = true, "speech"
	for name, c := range map[string]struct {
		script domain.Script
		does   func(s *fixture)
		want   []conversation.OptOutRequested
		words  []string
		within time.Duration
	}{
		"while he says it": {menuScript(), func(s *fixture) { s.callerBegins("stop calling me", 500*time.Millisecond) }, said, []string{"stop calling me", "—"}, 510 * time.Millisecond},
		"before it is understood": {menuScript(), func(s *fixture) {
			s.callerBegins("stop calling me", 500*time.Millisecond)
			advanceTime(time.Second)
			s.callerStops()
		}, said, []string{"stop calling me", "Ask Ada"}, 510 * time.Millisecond},
		"where words are asked for": {questionScript(), func(s *fixture) { s.callerBegins("stop", 500*time.Millisecond) }, said, nil, 510 * time.Millisecond},
		"after other words":         {menuScript(), func(s *fixture) { s.callerBegins("who is this", 500*time.Millisecond) }, nil, []string{"who is this", "—"}, 510 * time.Millisecond},
		"slow recognizer":           {menuScript(), func(s *fixture) { s.callerBegins("stop", 2*time.Second) }, nil, []string{"—"}, 910 * time.Millisecond},
		"where it is secret":        {secret, func(s *fixture) { s.callerBegins("stop", 500*time.Millisecond) }, nil, []string{"—"}, 10 * time.Millisecond},
		"said before already": {menuScript(), func(s *fixture) {
			s.callerSays("stop", 0.9, 500*time.Millisecond)
			s.callerBegins("stop", 500*time.Millisecond)
		}, said, []string{"Ask Ada", "stop"}, 10 * time.Millisecond},
		"in silence": {menuScript(), func(*fixture) {}, nil, []string{"—"}, 10 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
				s := openConversation(t, sys, c.script, nil)
				s.send(conversation.StartConversation{})
				advanceTime(200 * time.Millisecond)
				c.does(s)
				begun := time.Since(s.player.begun)
				messages := s.close()
				assert.Equal(t, c.want, optOuts(messages))
				assert.Equal(t, 1, finishCount(t, messages))
				assert.LessOrEqual(t, s.took[len(s.took)-1]-begun, c.within, "the call waits for no more than that")
				if c.words != nil {
					assert.Equal(t, c.words, segmentTexts(finalSegments(t, messages)))
				}
			})
		})
	}
}

func TestSpeechDuringStartOfRealtimeIsRecognized(t *testing.T) {
	t.Parallel()
	said := []conversation.OptOutRequested{{Channel: "speech", Keyword: "stop"}}
	for name, c := range map[string]struct {
		begins time.Duration // the greeting ends at 1100 ms
		lasts  time.Duration
		takes  time.Duration
		alone  bool
		opens  time.Duration // after the greeting
		words  string
		want   []conversation.OptOutRequested
		apart  []string
	}{
		"as the greeting ends":          {900 * time.Millisecond, time.Second, 100 * time.Millisecond, true, 0, "please stop calling me", said, []string{"stop"}},
		"to an engine that tells words": {900 * time.Millisecond, time.Second, 100 * time.Millisecond, false, 0, "please stop calling me", said, []string{"stop"}},
		"before the greeting ends":      {300 * time.Millisecond, 700 * time.Millisecond, time.Second, true, 0, "please stop calling me", said, []string{"stop"}},
		"while the engine opens":        {1500 * time.Millisecond, time.Second, 100 * time.Millisecond, true, 3 * time.Second, "please stop calling me", said, []string{"stop"}},
		"until the engine is open":      {1500 * time.Millisecond, 3 * time.Second, 100 * time.Millisecond, true, time.Second, "please stop calling me", said, []string{"stop"}},
		"other words":                   {900 * time.Millisecond, time.Second, 100 * time.Millisecond, true, 0, "who is this", nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := &realtimeRuntime{alone: c.alone}
			no, script := false, converseScript()
			script.Realtime, script.Pathway.Nodes[0].Interruptible = &domain.AgentRealtime{Engine: "voice"}, &no
			var messages []any
			actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
				l.openWhenClosed = make(chan struct{})
				s := openWithRuntime(t, sys, script, nil, l)
				s.send(conversation.StartConversation{})
				time.AfterFunc(1100*time.Millisecond+c.opens, func() { close(l.openWhenClosed) })
				time.Sleep(c.begins)
				s.callerBegins(c.words, c.takes)
				time.Sleep(c.lasts)
				synctest.Wait()
				s.ear.Frame([]byte{7, 7})
				s.callerStops()
				advanceTime(5 * time.Second)
				assert.NotEmpty(t, l.sessions())
				messages = s.close()
			})
			assert.Equal(t, c.want, optOuts(messages))
			var words []string
			for _, g := range finalSegments(t, messages) {
				if g.Speaker == "caller" && g.Text != "[on the line]" {
					words = append(words, g.Text)
				}
			}
			assert.Equal(t, c.apart, words, "of what was said beside an engine only the keyword is written down")
		})
	}
}

func TestSpeechBeforeRealtimeIsHeardByEngine(t *testing.T) {
	t.Parallel()
	l := &realtimeRuntime{alone: true}
	script := converseScript()
	script.Realtime = &domain.AgentRealtime{Engine: "voice"}
	script.Pathway.Nodes[0] = domain.Node{ID: "hello", Type: domain.NodeCollect, Prompt: "Card", Length: 1, Sensitive: true}
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := openWithRuntime(t, sys, script, nil, l)
		s.send(conversation.StartConversation{})
		advanceTime(1200 * time.Millisecond)
		s.callerBegins("stop calling me", 0)
		s.pressKeys("1")
		advanceTime(time.Second)
		s.callerStops()
		advanceTime(time.Second)
		assert.Equal(t, []conversation.OptOutRequested{{Channel: "speech", Keyword: "stop"}}, optOuts(s.close()))
	})
}

func TestOptOutBeforeEndOfRealtimeCounts(t *testing.T) {
	t.Parallel()
	for name, over := range map[string]bool{"being said": false, "being understood": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := &realtimeRuntime{alone: true}
			messages := runRealtime(t, l, func(s *fixture) {
				l.emit(speech.RealtimeEvent{Kind: speech.RealtimeIdle})
				s.callerBegins("stop calling me", time.Second)
				advanceTime(time.Second)
				if over {
					s.callerStops()
				}
				s.send(conversation.PauseAgent{})
				advanceTime(3 * time.Second)
			})
			assert.Equal(t, []conversation.OptOutRequested{{Channel: "speech", Keyword: "stop"}}, optOuts(messages))
		})
	}
}
