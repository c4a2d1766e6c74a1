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

func TestWhoSaysOrPressesAKeywordOptsOutOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		does func(s *stage)
		want []conversation.OptedOut
	}{
		"says it":        {func(s *stage) { s.send(conversation.Said{Text: "Please STOP it"}, conversation.Said{Text: "stop"}) }, []conversation.OptedOut{{Channel: "speech", Keyword: "stop"}}},
		"presses it":     {func(s *stage) { s.press("9") }, []conversation.OptedOut{{Channel: "dtmf", Keyword: "9"}}},
		"says otherwise": {func(s *stage) { s.send(conversation.Said{Text: "unstoppable"}) }, nil},
		"presses others": {func(s *stage) { s.press("38") }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
				s := open(t, sys, menu(), nil)
				s.send(conversation.Begin{})
				time.Sleep(600 * time.Millisecond)
				c.does(s)
				var got []conversation.OptedOut
				for _, m := range s.close() {
					if o, ok := m.(conversation.OptedOut); ok {
						got = append(got, o)
					}
				}
				assert.Equal(t, c.want, got)
			})
		})
	}
}

func TestASecretInputIsNoKeyword(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		script := menu()
		script.Pathway.Nodes[0].Sensitive = true
		script.Pathway.Nodes[0].Length = 4
		s := open(t, sys, script, nil)
		s.send(conversation.Begin{})
		time.Sleep(3 * time.Second)
		s.press("9")
		for _, m := range s.close() {
			_, told := m.(conversation.OptedOut)
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
		s.send(conversation.Begin{})
		time.Sleep(600 * time.Millisecond)
		s.press("1")
		assert.Contains(t, s.close(), conversation.OptedOut{Channel: "pathway"})
	})
}
