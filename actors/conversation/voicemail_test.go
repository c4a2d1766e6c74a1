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

// voicemailScript returns a menu script with answering machine detection and a voicemail message.
func voicemailScript(mode, action string) domain.Script {
	s := menuScript()
	s.AMD = &domain.AgentAMD{Mode: mode, VoicemailAction: action, Message: "Message for {{name}}"}
	return s
}

func answererEvent(by amd.Class) conversation.MediaEvent {
	return conversation.MediaEvent{Event: media.AnswerClassified{By: by}}
}

var (
	beep     = conversation.MediaEvent{Event: media.Beep{}}
	greeted  = conversation.MediaEvent{Event: media.GreetingEnded{}}
	leftOver = conversation.PathwayEnded{Outcome: domain.OutcomeVoicemail}
)

// reports returns the messages that the conversation has sent to its call so far.
func (s *fixture) reports() []any {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]any(nil), s.messages...)
}

func TestVoicemailMessageIsLeftAfterBeep(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := openConversation(t, sys, voicemailScript("async", "leave_message"), nil)
		s.send(conversation.StartConversation{})
		time.Sleep(600 * time.Millisecond)
		assert.Equal(t, []string{"play A"}, s.player.actions(), "the greeting is not held back")
		s.send(answererEvent(amd.Voicemail))
		assert.Equal(t, []string{"play A", "stop"}, s.player.actions(), "no person listens")
		time.Sleep(8 * time.Second)
		s.send(beep)
		time.Sleep(600 * time.Millisecond)
		assert.Equal(t, []string{"play A", "stop"}, s.player.actions(), "another beep may follow")
		time.Sleep(110 * time.Millisecond)
		assert.Equal(t, []string{"play A", "stop", "play M"}, s.player.actions(), "at once: it was made meanwhile")
		time.Sleep(1200 * time.Millisecond)
		assert.Equal(t, []any{conversation.AnswererDetected{By: "voicemail"}}, s.reports())
		time.Sleep(100 * time.Millisecond)
		assert.Equal(t, []any{conversation.AnswererDetected{By: "voicemail"}, leftOver}, s.reports(), "the end waits for the last audio")
		messages := s.close()
		f := messages[2].(conversation.FinishReply)
		assert.Equal(t, "Message for Ada", f.Segments[1].Text)
		assert.Equal(t, domain.OutcomeVoicemail, f.Result.Outcome, "whatever the pathway had begun with")
		assert.Equal(t, 1, s.voice.synthesized["Message for Ada"])
	})
}

func TestFaxGetsNoVoicemailMessage(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := openConversation(t, sys, voicemailScript("async", "leave_message"), nil)
		s.send(conversation.StartConversation{})
		time.Sleep(600 * time.Millisecond)
		s.send(answererEvent(amd.Voicemail))
		time.Sleep(time.Second)
		s.send(answererEvent(amd.Fax))
		assert.Equal(t, []any{conversation.AnswererDetected{By: "voicemail"}, conversation.AnswererDetected{By: "fax"}, leftOver}, s.reports())
		time.Sleep(2 * time.Minute)
		assert.Equal(t, []string{"play A", "stop"}, s.player.actions())
		s.close()
	})
}

func TestVoicemailMessageIsRepeatedAfterLateBeep(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := openConversation(t, sys, voicemailScript("wait", "leave_message"), nil)
		s.send(conversation.StartConversation{})
		time.Sleep(2 * time.Second)
		s.send(answererEvent(amd.Voicemail))
		time.Sleep(5 * time.Second)
		s.send(greeted)
		time.Sleep(500 * time.Millisecond)
		s.send(beep)
		time.Sleep(800 * time.Millisecond)
		s.send(greeted) // the mailbox is already recording
		time.Sleep(1200 * time.Millisecond)
		assert.Equal(t, []string{"play M", "stop", "play M"}, s.player.actions())
		assert.Equal(t, []any{conversation.AnswererDetected{By: "voicemail"}, leftOver}, s.reports())
		s.close()
	})
}

func TestVoicemailMessageStartsAfterLastOfTwoBeeps(t *testing.T) {
	t.Parallel()
	for apart, want := range map[time.Duration][]string{
		500 * time.Millisecond:  {"play M"},
		1500 * time.Millisecond: {"play M", "stop", "play M"},
	} {
		actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
			s := openConversation(t, sys, voicemailScript("wait", "leave_message"), nil)
			s.send(conversation.StartConversation{})
			time.Sleep(2 * time.Second)
			s.send(answererEvent(amd.Voicemail), beep)
			time.Sleep(apart)
			s.send(beep)
			time.Sleep(600 * time.Millisecond)
			assert.Len(t, s.player.actions(), len(want)-1, "not yet")
			time.Sleep(1400 * time.Millisecond)
			assert.Equal(t, want, s.player.actions())
			assert.Equal(t, []any{conversation.AnswererDetected{By: "voicemail"}, leftOver}, s.reports())
			s.close()
		})
	}
}

func TestVoicemailMessageStartsAfterBeepTimeout(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := openConversation(t, sys, voicemailScript("wait", "leave_message"), nil)
		s.send(conversation.StartConversation{}, answererEvent(amd.Voicemail))
		time.Sleep(59 * time.Second)
		assert.Empty(t, s.player.actions())
		time.Sleep(1100 * time.Millisecond)
		assert.Equal(t, []string{"play M"}, s.player.actions())
		s.close()
	})
}

func TestActionByDetectedAnswererAndMode(t *testing.T) {
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
		"off":                       {"off", "hangup", amd.Voicemail, want{[]string{"play A"}, false}},
		"a person":                  {"async", "hangup", amd.Human, want{[]string{"play A"}, false}},
		"unknown answerer":          {"async", "leave_message", amd.Unknown, want{[]string{"play A"}, false}},
		"hang up":                   {"async", "hangup", amd.Voicemail, want{[]string{"play A", "stop"}, true}},
		"nothing is said of it":     {"async", "", amd.Voicemail, want{[]string{"play A"}, false}},
		"continue":                  {"async", "continue", amd.Voicemail, want{[]string{"play A"}, false}},
		"no message to a fax":       {"async", "leave_message", amd.Fax, want{[]string{"play A", "stop"}, true}},
		"nor to an announcement":    {"async", "leave_message", amd.Unavailable, want{[]string{"play A", "stop"}, true}},
		"a menu is spoken with":     {"async", "hangup", amd.IVR, want{[]string{"play A"}, false}},
		"a person is waited for":    {"wait", "hangup", amd.Human, want{[]string{"play A"}, false}},
		"unknown answerer, waiting": {"wait", "hangup", amd.Unknown, want{[]string{"play A"}, false}},
		"a machine hears not":       {"wait", "hangup", amd.Voicemail, want{nil, true}},
		"unless it shall":           {"wait", "continue", amd.Voicemail, want{[]string{"play A"}, false}},
	}
	for name, k := range cases {
		actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
			s := openConversation(t, sys, voicemailScript(k.mode, k.action), nil)
			s.send(conversation.StartConversation{})
			time.Sleep(600 * time.Millisecond)
			if k.mode == "wait" {
				assert.Empty(t, s.player.actions(), name)
			}
			s.send(answererEvent(k.by))
			time.Sleep(200 * time.Millisecond)
			messages := s.reports()
			end := len(messages) > 0 && messages[len(messages)-1] == leftOver
			assert.Equal(t, k.want, want{s.player.actions(), end}, name)
			s.close()
		})
	}
}

func TestPathwayStartsWithoutAnswerVerdict(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := openConversation(t, sys, voicemailScript("wait", "hangup"), nil)
		s.send(conversation.StartConversation{})
		time.Sleep(12900 * time.Millisecond)
		assert.Empty(t, s.player.actions())
		time.Sleep(300 * time.Millisecond)
		assert.Equal(t, []string{"play A"}, s.player.actions())
		s.close()
	})
}

func TestKeyPressReportsHumanAnswerer(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := openConversation(t, sys, voicemailScript("async", "leave_message"), nil)
		s.send(conversation.StartConversation{})
		time.Sleep(600 * time.Millisecond)
		s.send(answererEvent(amd.Voicemail))
		time.Sleep(time.Second)
		s.pressKeys("1")
		time.Sleep(2 * time.Second)
		s.send(beep, answererEvent(amd.Voicemail))
		assert.Equal(t, []any{
			conversation.AnswererDetected{By: "voicemail"}, conversation.AnswererDetected{By: "human"}, conversation.PathwayEnded{Outcome: domain.OutcomeConfirmed},
		}, s.reports())
		s.close()
	})
}

func TestAnnouncementWordsReportVoicemail(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := openConversation(t, sys, voicemailScript("async", "leave_message"), nil)
		s.send(conversation.StartConversation{})
		time.Sleep(600 * time.Millisecond)
		s.send(answererEvent(amd.Human))
		s.callerSays("please leave a message after the tone", 0.9, 2*time.Second)
		time.Sleep(time.Second)
		assert.Equal(t, []any{conversation.AnswererDetected{By: "human"}, conversation.AnswererDetected{By: "voicemail"}}, s.reports())
		s.close()
	})
}
