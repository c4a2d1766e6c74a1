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
	"github.com/callboard/callboard/media/vad"
)

// suspensionReplies returns the replies to Suspend and the changes of BusyChanged, in order.
func (s *fixture) suspensionReplies() (saved []*conversation.SavedState, busy []bool) {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.suspensions {
		switch m := m.(type) {
		case conversation.SuspendReply:
			saved = append(saved, m.Saved)
		case conversation.BusyChanged:
			busy = append(busy, m.Busy)
		}
	}
	return saved, busy
}

func TestSuspendedConversationWaitsForEndSuspension(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := openConversation(t, sys, menuScript(), nil)
		s.send(conversation.StartConversation{})
		time.Sleep(1200 * time.Millisecond)
		s.send(conversation.Suspend{})
		saved, _ := s.suspensionReplies()
		require.Len(t, saved, 1)
		require.NotNil(t, saved[0])
		assert.Equal(t, "ask", saved[0].State.Node)
		s.pressKeys("1")
		time.Sleep(time.Minute) // timers do not run either
		assert.Equal(t, []string{"play A"}, s.player.actions())
		s.send(conversation.EndSuspension{})
		time.Sleep(3 * time.Second)
		assert.Equal(t, []string{"play A", "play Y"}, s.player.actions(), "the key of before counts")
		assert.Equal(t, []string{"agent: Ask Ada", "caller: [pressed 1]", "agent: Yes"}, transcriptLines(s.close()))
	})
}

func TestSuspendedConversationHandlesFinish(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := openConversation(t, sys, menuScript(), nil)
		s.send(conversation.StartConversation{})
		time.Sleep(1200 * time.Millisecond)
		s.send(conversation.Suspend{})
		s.pressKeys("1")
		assert.Equal(t, []string{"agent: Ask Ada", "caller: [pressed 1]"}, transcriptLines(s.close())[:2], "earlier messages are handled first")
	})
}

func TestTransferredConversationHasNoSavedState(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := openConversation(t, sys, menuScript(), nil)
		s.send(conversation.StartConversation{})
		time.Sleep(1200 * time.Millisecond)
		s.send(conversation.PauseAgent{}, conversation.Suspend{})
		saved, _ := s.suspensionReplies()
		assert.Equal(t, []*conversation.SavedState{nil}, saved, "the agent is paused")
		s.close()
	})
}

func TestConversationIsBusyWhileCallerSpeaks(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := openConversation(t, sys, menuScript(), nil)
		s.send(conversation.StartConversation{})
		time.Sleep(1200 * time.Millisecond)
		s.send(conversation.MediaEvent{Event: media.SpeechBegan{}})
		_, busy := s.suspensionReplies()
		assert.Equal(t, []bool{true}, busy)
		s.send(conversation.MediaEvent{Event: media.SpeechEnded{Silence: vad.EndSilence}})
		time.Sleep(3 * time.Second)
		_, busy = s.suspensionReplies()
		assert.Equal(t, []bool{true, false}, busy)
		s.close()
	})
}
