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
)

// begins lets the far end begin to say something that is understood so late.
func (s *stage) begins(text string, takes time.Duration) {
	s.ears.mu.Lock()
	s.ears.next, s.ears.takes = speech.RecognitionResult{Text: text, Confidence: 0.9}, takes
	s.ears.mu.Unlock()
	s.send(conversation.MediaEvent{Event: media.SpeechBegan{}})
}

func (s *stage) stops() { s.send(conversation.MediaEvent{Event: media.SpeechEnded{}}) }

func finished(t *testing.T, heard []any) (n int) {
	t.Helper()
	for _, m := range heard {
		if _, ok := m.(conversation.ConversationFinished); ok {
			n++
		}
	}
	return n
}

func TestWhoHangsUpBehindAKeywordHasSaidIt(t *testing.T) {
	t.Parallel()
	said := []conversation.OptOutRequested{{Channel: "speech", Keyword: "stop"}}
	secret := menu()
	secret.Pathway.Nodes[0].Sensitive, secret.Pathway.Nodes[0].Input = true, "speech"
	for name, c := range map[string]struct {
		script domain.Script
		does   func(s *stage)
		want   []conversation.OptOutRequested
		words  []string
		within time.Duration
	}{
		"while he says it": {menu(), func(s *stage) { s.begins("stop calling me", 500*time.Millisecond) }, said, []string{"Ask Ada", "stop calling me"}, 510 * time.Millisecond},
		"before it is understood": {menu(), func(s *stage) {
			s.begins("stop calling me", 500*time.Millisecond)
			pass(time.Second)
			s.stops()
		}, said, []string{"Ask Ada", "stop calling me"}, 510 * time.Millisecond},
		"where words are asked for": {question(), func(s *stage) { s.begins("stop", 500*time.Millisecond) }, said, nil, 510 * time.Millisecond},
		"after other words":         {menu(), func(s *stage) { s.begins("who is this", 500*time.Millisecond) }, nil, []string{"Ask Ada", "who is this"}, 510 * time.Millisecond},
		"to who understands late":   {menu(), func(s *stage) { s.begins("stop", 2*time.Second) }, nil, []string{"Ask Ada"}, 910 * time.Millisecond},
		"where it is secret":        {secret, func(s *stage) { s.begins("stop", 500*time.Millisecond) }, nil, []string{"Ask Ada"}, 10 * time.Millisecond},
		"who has said it before": {menu(), func(s *stage) {
			s.says("stop", 0.9, 500*time.Millisecond)
			s.begins("stop", 500*time.Millisecond)
		}, said, []string{"Ask Ada", "stop"}, 10 * time.Millisecond},
		"in silence": {menu(), func(*stage) {}, nil, []string{"Ask Ada"}, 10 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
				s := open(t, sys, c.script, nil)
				s.send(conversation.StartConversation{})
				pass(200 * time.Millisecond)
				c.does(s)
				begun := time.Since(s.sound.begun)
				heard := s.close()
				assert.Equal(t, c.want, optedOut(heard))
				assert.Equal(t, 1, finished(t, heard))
				assert.LessOrEqual(t, s.took[len(s.took)-1]-begun, c.within, "the call waits for no more than that")
				if c.words != nil {
					assert.Equal(t, c.words, wordsOf(segments(t, heard)))
				}
			})
		})
	}
}

func TestWhatIsBeingSaidWhenAnEngineTakesTheCallerIsStillUnderstood(t *testing.T) {
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
			l := &living{alone: c.alone}
			no, script := false, chatter()
			script.Realtime, script.Pathway.Nodes[0].Interruptible = &domain.AgentRealtime{Engine: "voice"}, &no
			var heard []any
			actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
				l.opens = make(chan struct{})
				s := openWith(t, sys, script, nil, l)
				s.send(conversation.StartConversation{})
				time.AfterFunc(1100*time.Millisecond+c.opens, func() { close(l.opens) })
				time.Sleep(c.begins)
				s.begins(c.words, c.takes)
				time.Sleep(c.lasts)
				synctest.Wait()
				s.ear.Frame([]byte{7, 7})
				s.stops()
				pass(5 * time.Second)
				assert.NotEmpty(t, l.begins())
				heard = s.close()
			})
			assert.Equal(t, c.want, optedOut(heard))
			var words []string
			for _, g := range segments(t, heard) {
				if g.Speaker == "caller" && g.Text != "[on the line]" {
					words = append(words, g.Text)
				}
			}
			assert.Equal(t, c.apart, words, "of what was said beside an engine only the keyword is written down")
		})
	}
}

func TestWhoSpokeBeforeAnythingWasListenedForIsHeardOnceABotHasHim(t *testing.T) {
	t.Parallel()
	l := &living{alone: true}
	script := chatter()
	script.Realtime = &domain.AgentRealtime{Engine: "voice"}
	script.Pathway.Nodes[0] = domain.Node{ID: "hello", Type: domain.NodeCollect, Prompt: "Card", Length: 1, Sensitive: true}
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := openWith(t, sys, script, nil, l)
		s.send(conversation.StartConversation{})
		pass(1200 * time.Millisecond)
		s.begins("stop calling me", 0)
		s.press("1")
		pass(time.Second)
		s.stops()
		pass(time.Second)
		assert.Equal(t, []conversation.OptOutRequested{{Channel: "speech", Keyword: "stop"}}, optedOut(s.close()))
	})
}

func TestWhatWasSaidToABotIsUnderstoodThoughSomebodyElseTakesTheCaller(t *testing.T) {
	t.Parallel()
	for name, over := range map[string]bool{"being said": false, "being understood": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := &living{alone: true}
			heard := lives(t, l, func(s *stage) {
				l.tell(speech.RealtimeEvent{Kind: speech.RealtimeIdle})
				s.begins("stop calling me", time.Second)
				pass(time.Second)
				if over {
					s.stops()
				}
				s.send(conversation.PauseAgent{})
				pass(3 * time.Second)
			})
			assert.Equal(t, []conversation.OptOutRequested{{Channel: "speech", Keyword: "stop"}}, optedOut(heard))
		})
	}
}
