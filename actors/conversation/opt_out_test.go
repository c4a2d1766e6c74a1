package conversation_test

import (
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/actors/conversation"
	"github.com/callboard/callboard/actors/mailbox/actortest"
	"github.com/callboard/callboard/domain"
)

// optedOut returns the opt-outs among messages to the call.
func optedOut(told []any) (got []conversation.OptOutRequested) {
	for _, m := range told {
		if o, ok := m.(conversation.OptOutRequested); ok {
			got = append(got, o)
		}
	}
	return got
}

func TestWhoSaysOrPressesAKeywordOptsOutOnce(t *testing.T) {
	t.Parallel()
	said := []conversation.OptOutRequested{{Channel: "speech", Keyword: "stop"}}
	for name, c := range map[string]struct {
		script domain.Script
		does   func(s *stage)
		want   []conversation.OptOutRequested
	}{
		"says it where keys are asked for": {menu(), func(s *stage) {
			s.says("Please STOP it", 0.9, time.Second)
			s.says("stop", 0.9, time.Second)
		}, said},
		"says it where nothing is asked": {notice(), func(s *stage) { s.says("stop", 0.9, 300*time.Millisecond) }, said},
		"says it where words are asked for": {question(), func(s *stage) {
			s.says("Please STOP it", 0.9, time.Second)
			s.says("stop", 0.9, time.Second)
		}, said},
		"says it where nothing is asked, to who knows phrases alone":    {notice(), func(s *stage) { s.ears.phrases = true; s.says("stop", 0.9, 300*time.Millisecond) }, nil},
		"says it where words are asked for, to who knows phrases alone": {question(), func(s *stage) { s.ears.phrases = true; s.says("stop", 0.9, time.Second) }, said},
		"seems to say it":     {menu(), func(s *stage) { s.says("stop", 0.5, time.Second) }, nil},
		"says otherwise":      {menu(), func(s *stage) { s.says("unstoppable", 0.9, time.Second) }, nil},
		"says it to somebody": {menu(), func(s *stage) { s.send(conversation.PauseAgent{}); s.says("stop", 0.9, time.Second) }, nil},
		"presses it":          {menu(), func(s *stage) { s.press("9") }, []conversation.OptOutRequested{{Channel: "dtmf", Keyword: "9"}}},
		"presses others":      {menu(), func(s *stage) { s.press("38") }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
				s := open(t, sys, c.script, nil)
				s.send(conversation.StartConversation{})
				time.Sleep(200 * time.Millisecond)
				c.does(s)
				assert.Equal(t, c.want, optedOut(s.close()))
			})
		})
	}
}

// notice says something and hangs up.
func notice() domain.Script {
	return domain.Script{Pathway: domain.Pathway{
		Start: "tell",
		Nodes: []domain.Node{{ID: "tell", Type: domain.NodeSay, Prompt: "Tell"}, {ID: "more", Type: domain.NodeSay, Prompt: "More"}, {ID: "bye", Type: domain.NodeEnd, Prompt: "Bye"}},
		Edges: []domain.Edge{to("tell", "more", domain.EdgeAlways, ""), to("more", "bye", domain.EdgeAlways, "")},
	}}
}

func TestWordsThatNobodyAskedForChangeNothingButTheOptOut(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := open(t, sys, menu(), nil)
		s.send(conversation.StartConversation{})
		time.Sleep(200 * time.Millisecond)
		s.says("stop right there", 0.9, 500*time.Millisecond)
		assert.Equal(t, []string{"play A"}, s.sound.done(), "the prompt goes on")
		time.Sleep(1200 * time.Millisecond)
		s.says("", 0, 2500*time.Millisecond)
		time.Sleep(700 * time.Millisecond)
		assert.Equal(t, []string{"play A", "play B"}, s.sound.done(), "4 s after the prompt no key has come, whatever was said")
		heard := s.close()
		f, ok := heard[len(heard)-1].(conversation.ConversationFinished)
		assert.True(t, ok)
		var words []string
		for _, g := range f.Segments {
			words = append(words, g.Speaker+": "+g.Text)
		}
		assert.Equal(t, []string{"agent: Ask Ada", "caller: stop right there", "agent: Bye"}, words)
		assert.Equal(t, []string{"stop"}, s.ears.wanted, "nothing else is listened for")
	})
}

func TestASecretInputIsNoKeyword(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		script := menu()
		script.Pathway.Nodes[0].Sensitive = true
		script.Pathway.Nodes[0].Length = 4
		s := open(t, sys, script, nil)
		s.send(conversation.StartConversation{})
		time.Sleep(time.Second)
		s.says("stop", 0.9, time.Second)
		assert.Zero(t, s.ears.opened, "nobody listens to what is secret")
		s.press("9")
		for _, m := range s.close() {
			_, told := m.(conversation.OptOutRequested)
			assert.False(t, told)
		}
	})
}

func TestAPathwayPutsWhoeverComesToItOntoTheList(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		script := menu()
		script.Pathway.Nodes[1].Set = &domain.Assign{AddToDNC: true}
		s := open(t, sys, script, nil)
		s.send(conversation.StartConversation{})
		time.Sleep(600 * time.Millisecond)
		s.press("1")
		assert.Contains(t, s.close(), conversation.OptOutRequested{Channel: "pathway"})
	})
}
