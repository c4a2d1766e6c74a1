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
	"github.com/callboard/callboard/media/amd"
)

// minding is the menu of an agent that minds machines.
func minding(mode, action string) domain.Script {
	s := menu()
	s.AMD = &domain.AgentAMD{Mode: mode, VoicemailAction: action, Message: "Message for {{name}}"}
	return s
}

func answeredBy(by amd.Class) conversation.MediaEvent {
	return conversation.MediaEvent{Event: media.Answerer{By: by}}
}

var (
	beep     = conversation.MediaEvent{Event: media.Beep{}}
	greeted  = conversation.MediaEvent{Event: media.GreetingOver{}}
	leftOver = conversation.PathwayEnded{Outcome: domain.OutcomeVoicemail}
)

// told is what the call was told so far, without the end.
func (s *stage) told() []any {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]any(nil), s.heard...)
}

func TestAMessageIsLeftBehindTheBeepAndThenTheAgentHangsUp(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := open(t, sys, minding("async", "leave_message"), nil)
		s.send(conversation.StartConversation{})
		time.Sleep(600 * time.Millisecond)
		assert.Equal(t, []string{"play A"}, s.sound.done(), "the greeting is not held back")
		s.send(answeredBy(amd.Voicemail))
		assert.Equal(t, []string{"play A", "stop"}, s.sound.done(), "nobody listens")
		time.Sleep(8 * time.Second)
		s.send(beep)
		assert.Equal(t, []string{"play A", "stop", "play M"}, s.sound.done(), "at once: it was made meanwhile")
		time.Sleep(1200 * time.Millisecond)
		assert.Equal(t, []any{conversation.AnswererDetected{By: "voicemail"}}, s.told())
		time.Sleep(100 * time.Millisecond)
		assert.Equal(t, []any{conversation.AnswererDetected{By: "voicemail"}, leftOver}, s.told(), "its last word is heard first")
		heard := s.close()
		f := heard[2].(conversation.ConversationFinished)
		assert.Equal(t, "Message for Ada", f.Segments[1].Text)
		assert.Equal(t, domain.OutcomeVoicemail, f.Result.Outcome, "whatever the pathway had begun with")
		assert.Equal(t, 1, s.voice.asked["Message for Ada"])
	})
}

func TestNoMessageIsSaidToWhatTurnsOutToBeAFax(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := open(t, sys, minding("async", "leave_message"), nil)
		s.send(conversation.StartConversation{})
		time.Sleep(600 * time.Millisecond)
		s.send(answeredBy(amd.Voicemail))
		time.Sleep(time.Second)
		s.send(answeredBy(amd.Fax))
		assert.Equal(t, []any{conversation.AnswererDetected{By: "voicemail"}, conversation.AnswererDetected{By: "fax"}, leftOver}, s.told())
		time.Sleep(2 * time.Minute)
		assert.Equal(t, []string{"play A", "stop"}, s.sound.done())
		s.close()
	})
}

func TestAMessageThatWasBegunTooEarlyIsSaidAgainBehindTheBeep(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := open(t, sys, minding("wait", "leave_message"), nil)
		s.send(conversation.StartConversation{})
		time.Sleep(2 * time.Second)
		s.send(answeredBy(amd.Voicemail))
		time.Sleep(5 * time.Second)
		s.send(greeted)
		time.Sleep(500 * time.Millisecond)
		s.send(beep)
		time.Sleep(500 * time.Millisecond)
		s.send(greeted, beep) // the mailbox has begun to listen: nothing disturbs it
		time.Sleep(time.Second)
		assert.Equal(t, []string{"play M", "stop", "play M"}, s.sound.done())
		assert.Equal(t, []any{conversation.AnswererDetected{By: "voicemail"}, leftOver}, s.told())
		s.close()
	})
}

func TestAMachineThatNeitherBeepsNorStopsGetsItsMessageAMinuteLater(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := open(t, sys, minding("wait", "leave_message"), nil)
		s.send(conversation.StartConversation{}, answeredBy(amd.Voicemail))
		time.Sleep(59 * time.Second)
		assert.Empty(t, s.sound.done())
		time.Sleep(1100 * time.Millisecond)
		assert.Equal(t, []string{"play M"}, s.sound.done())
		s.close()
	})
}

func TestWhatIsDoneAboutEachAnswererAndWhen(t *testing.T) {
	t.Parallel()
	type want struct {
		did []string
		end bool
	}
	cases := map[string]struct {
		mode, action string
		by           amd.Class
		want         want
	}{
		"off":                    {"off", "hangup", amd.Voicemail, want{[]string{"play A"}, false}},
		"a person":               {"async", "hangup", amd.Human, want{[]string{"play A"}, false}},
		"nobody knows":           {"async", "leave_message", amd.Unknown, want{[]string{"play A"}, false}},
		"hang up":                {"async", "hangup", amd.Voicemail, want{[]string{"play A", "stop"}, true}},
		"nothing is said of it":  {"async", "", amd.Voicemail, want{[]string{"play A"}, false}},
		"continue":               {"async", "continue", amd.Voicemail, want{[]string{"play A"}, false}},
		"no message to a fax":    {"async", "leave_message", amd.Fax, want{[]string{"play A", "stop"}, true}},
		"nor to an announcement": {"async", "leave_message", amd.Unavailable, want{[]string{"play A", "stop"}, true}},
		"a menu is spoken with":  {"async", "hangup", amd.IVR, want{[]string{"play A"}, false}},
		"a person is waited for": {"wait", "hangup", amd.Human, want{[]string{"play A"}, false}},
		"and nobody known":       {"wait", "hangup", amd.Unknown, want{[]string{"play A"}, false}},
		"a machine hears not":    {"wait", "hangup", amd.Voicemail, want{nil, true}},
		"unless it shall":        {"wait", "continue", amd.Voicemail, want{[]string{"play A"}, false}},
	}
	for name, k := range cases {
		actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
			s := open(t, sys, minding(k.mode, k.action), nil)
			s.send(conversation.StartConversation{})
			time.Sleep(600 * time.Millisecond)
			if k.mode == "wait" {
				assert.Empty(t, s.sound.done(), name)
			}
			s.send(answeredBy(k.by))
			time.Sleep(200 * time.Millisecond)
			told := s.told()
			end := len(told) > 0 && told[len(told)-1] == leftOver
			assert.Equal(t, k.want, want{s.sound.done(), end}, name)
			s.close()
		})
	}
}

func TestTheGateOpensWhateverIsHeard(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := open(t, sys, minding("wait", "hangup"), nil)
		s.send(conversation.StartConversation{})
		time.Sleep(5900 * time.Millisecond)
		assert.Empty(t, s.sound.done())
		time.Sleep(300 * time.Millisecond)
		assert.Equal(t, []string{"play A"}, s.sound.done())
		s.close()
	})
}

func TestAKeySaysThatAPersonIsThere(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := open(t, sys, minding("async", "leave_message"), nil)
		s.send(conversation.StartConversation{})
		time.Sleep(600 * time.Millisecond)
		s.send(answeredBy(amd.Voicemail))
		time.Sleep(time.Second)
		s.press("1")
		time.Sleep(2 * time.Second)
		s.send(beep, answeredBy(amd.Voicemail))
		assert.Equal(t, []any{
			conversation.AnswererDetected{By: "voicemail"}, conversation.AnswererDetected{By: "human"}, conversation.PathwayEnded{Outcome: domain.OutcomeConfirmed},
		}, s.told())
		s.close()
	})
}

func TestWordsBetrayAMachine(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := open(t, sys, minding("async", "leave_message"), nil)
		s.send(conversation.StartConversation{})
		time.Sleep(600 * time.Millisecond)
		s.send(answeredBy(amd.Human))
		s.says("please leave a message after the tone", 0.9, 2*time.Second)
		time.Sleep(time.Second)
		assert.Equal(t, []any{conversation.AnswererDetected{By: "human"}, conversation.AnswererDetected{By: "voicemail"}}, s.told())
		s.close()
	})
}
