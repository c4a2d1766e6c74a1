package conversation_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/conversation"
	"github.com/callboard/callboard/actors/mailbox/actortest"
	"github.com/callboard/callboard/media"
)

// rested are the answers to Suspend, and whether the conversation was busy, as it
// told in turn.
func (s *stage) rested() (saved []*conversation.SavedState, busy []bool) {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.hush {
		switch m := m.(type) {
		case conversation.ConversationSuspended:
			saved = append(saved, m.Saved)
		case conversation.BusyChanged:
			busy = append(busy, m.Busy)
		}
	}
	return saved, busy
}

func TestAConversationAtRestDoesNothingUntilItIsWoken(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := open(t, sys, menu(), nil)
		s.send(conversation.StartConversation{})
		time.Sleep(1200 * time.Millisecond)
		s.send(conversation.Suspend{})
		saved, _ := s.rested()
		require.Len(t, saved, 1)
		require.NotNil(t, saved[0])
		assert.Equal(t, "ask", saved[0].State.Node)
		s.press("1")
		time.Sleep(time.Minute) // nor does its time pass
		assert.Equal(t, []string{"play A"}, s.sound.done())
		s.send(conversation.EndSuspension{})
		time.Sleep(3 * time.Second)
		assert.Equal(t, []string{"play A", "play Y"}, s.sound.done(), "the key of before counts")
		assert.Equal(t, []string{"agent: Ask Ada", "caller: [pressed 1]", "agent: Yes"}, texts(s.close()))
	})
}

func TestAConversationAtRestHearsThatItsCallIsOver(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := open(t, sys, menu(), nil)
		s.send(conversation.StartConversation{})
		time.Sleep(1200 * time.Millisecond)
		s.send(conversation.Suspend{})
		s.press("1")
		assert.Equal(t, []string{"agent: Ask Ada", "caller: [pressed 1]"}, texts(s.close())[:2], "what came before is heard before")
	})
}

func TestWhatIsElsewhereHasNoPlaceToRest(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := open(t, sys, menu(), nil)
		s.send(conversation.StartConversation{})
		time.Sleep(1200 * time.Millisecond)
		s.send(conversation.PauseAgent{}, conversation.Suspend{})
		saved, _ := s.rested()
		assert.Equal(t, []*conversation.SavedState{nil}, saved, "somebody else has the caller")
		s.close()
	})
}

func TestWhoeverSpeaksIsNotCutOffForAnotherProcess(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := open(t, sys, menu(), nil)
		s.send(conversation.StartConversation{})
		time.Sleep(1200 * time.Millisecond)
		s.send(conversation.MediaEvent{Event: media.SpeechBegan{}})
		_, busy := s.rested()
		assert.Equal(t, []bool{true}, busy)
		s.send(conversation.MediaEvent{Event: media.SpeechEnded{}})
		time.Sleep(3 * time.Second)
		_, busy = s.rested()
		assert.Equal(t, []bool{true, false}, busy)
		s.close()
	})
}
