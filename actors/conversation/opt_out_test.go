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

// optOuts returns the OptOutRequested messages among the messages to the call.
func optOuts(messages []any) (got []conversation.OptOutRequested) {
	for _, m := range messages {
		if o, ok := m.(conversation.OptOutRequested); ok {
			got = append(got, o)
		}
	}
	return got
}

func TestOptOutKeywordIsReportedOnce(t *testing.T) {
	t.Parallel()
	said := []conversation.OptOutRequested{{Channel: "speech", Keyword: "stop"}}
	for name, c := range map[string]struct {
		script domain.Script
		does   func(s *fixture)
		want   []conversation.OptOutRequested
	}{
		"says it where keys are asked for": {menuScript(), func(s *fixture) {
			s.callerSays("Please STOP it", 0.9, time.Second)
			s.callerSays("stop", 0.9, time.Second)
		}, said},
		"says it where nothing is asked": {noticeScript(), func(s *fixture) { s.callerSays("stop", 0.9, 300*time.Millisecond) }, said},
		"says it where words are asked for": {questionScript(), func(s *fixture) {
			s.callerSays("Please STOP it", 0.9, time.Second)
			s.callerSays("stop", 0.9, time.Second)
		}, said},
		"says it without a question, phrase recognizer": {noticeScript(), func(s *fixture) { s.recognizer.phrases = true; s.callerSays("stop", 0.9, 300*time.Millisecond) }, nil},
		"says it as an answer, phrase recognizer":       {questionScript(), func(s *fixture) { s.recognizer.phrases = true; s.callerSays("stop", 0.9, time.Second) }, said},
		"seems to say it":                   {menuScript(), func(s *fixture) { s.callerSays("stop", 0.5, time.Second) }, nil},
		"says otherwise":                    {menuScript(), func(s *fixture) { s.callerSays("unstoppable", 0.9, time.Second) }, nil},
		"says it while the agent is paused": {menuScript(), func(s *fixture) { s.send(conversation.PauseAgent{}); s.callerSays("stop", 0.9, time.Second) }, nil},
		"presses it":                        {menuScript(), func(s *fixture) { s.pressKeys("9") }, []conversation.OptOutRequested{{Channel: "dtmf", Keyword: "9"}}},
		"presses others":                    {menuScript(), func(s *fixture) { s.pressKeys("38") }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
				s := openConversation(t, sys, c.script, nil)
				s.send(conversation.StartConversation{})
				time.Sleep(200 * time.Millisecond)
				c.does(s)
				assert.Equal(t, c.want, optOuts(s.close()))
			})
		})
	}
}

// noticeScript returns a script whose pathway speaks one prompt and hangs up.
func noticeScript() domain.Script {
	return domain.Script{Pathway: domain.Pathway{
		Start: "tell",
		Nodes: []domain.Node{{ID: "tell", Type: domain.NodeSay, Prompt: "Tell"}, {ID: "more", Type: domain.NodeSay, Prompt: "More"}, {ID: "bye", Type: domain.NodeEnd, Prompt: "Bye"}},
		Edges: []domain.Edge{edge("tell", "more", domain.EdgeAlways, ""), edge("more", "bye", domain.EdgeAlways, "")},
	}}
}

func TestUnexpectedWordsOnlyMatterForOptOut(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := openConversation(t, sys, menuScript(), nil)
		s.send(conversation.StartConversation{})
		time.Sleep(200 * time.Millisecond)
		s.callerSays("stop right there", 0.9, 500*time.Millisecond)
		assert.Equal(t, []string{"play A"}, s.player.actions(), "the prompt goes on")
		time.Sleep(1200 * time.Millisecond)
		s.callerSays("", 0, 2500*time.Millisecond)
		time.Sleep(700 * time.Millisecond)
		assert.Equal(t, []string{"play A", "play B"}, s.player.actions(), "4 s after the prompt no key has come, whatever was said")
		messages := s.close()
		f, ok := messages[len(messages)-1].(conversation.FinishReply)
		assert.True(t, ok)
		var words []string
		for _, g := range f.Segments {
			words = append(words, g.Speaker+": "+g.Text)
		}
		assert.Equal(t, []string{"agent: Ask Ada", "caller: stop right there", "agent: Bye"}, words)
		assert.Equal(t, []string{"stop"}, s.recognizer.wanted, "nothing else is listened for")
	})
}

func TestSecretInputIsNoOptOut(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		script := menuScript()
		script.Pathway.Nodes[0].Sensitive = true
		script.Pathway.Nodes[0].Length = 4
		s := openConversation(t, sys, script, nil)
		s.send(conversation.StartConversation{})
		time.Sleep(time.Second)
		s.callerSays("stop", 0.9, time.Second)
		assert.Zero(t, s.recognizer.opened, "secret input is not recognized")
		s.pressKeys("9")
		for _, m := range s.close() {
			_, isOptOut := m.(conversation.OptOutRequested)
			assert.False(t, isOptOut)
		}
	})
}

func TestOptOutNodeReportsOptOut(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		script := menuScript()
		script.Pathway.Nodes[1].Set = &domain.Assign{AddToDNC: true}
		s := openConversation(t, sys, script, nil)
		s.send(conversation.StartConversation{})
		time.Sleep(600 * time.Millisecond)
		s.pressKeys("1")
		assert.Contains(t, s.close(), conversation.OptOutRequested{Channel: "pathway"})
	})
}
