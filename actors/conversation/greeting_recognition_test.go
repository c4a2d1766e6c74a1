package conversation_test

import (
	"strings"
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
	"github.com/callboard/callboard/media/speech"
	"github.com/callboard/callboard/media/vad"
)

// answeredCall is a conversation whose answer is recognized by words.
type answeredCall struct {
	*fixture
	words *fakeRecognizer
}

// openAnswered starts a conversation with answering machine detection by sound and words.
func openAnswered(t *testing.T, sys *actor.ActorSystem, mode, action string) *answeredCall {
	t.Helper()
	words := &fakeRecognizer{phrases: true}
	s := &fixture{
		t: t, sys: sys, player: &fakePlayer{begun: time.Now()}, recognizer: new(fakeRecognizer), greeting: words, ear: new(speech.AudioTap),
		voice: &fakeSynthesizer{synthesized: map[string]int{}, takes: 100 * time.Millisecond, fails: map[string]int{}},
	}
	s.synthesizer = s.voice
	script := voicemailScript(mode, action)
	script.Pathway.Nodes[0].TimeoutSeconds = 120
	s.start(script)
	s.send(conversation.StartConversation{})
	return &answeredCall{s, words}
}

// hear passes a time of audio to the conversation.
func (a *answeredCall) hear(d time.Duration) {
	for ; d > 0; d -= 100 * time.Millisecond {
		a.ear.Frame(make([]byte, 800))
		time.Sleep(100 * time.Millisecond)
	}
	synctest.Wait()
}

// understand sets what the recognizer hears in the next part of the greeting.
func (a *answeredCall) understand(text string, confidence float64) {
	a.words.mu.Lock()
	defer a.words.mu.Unlock()
	a.words.next = speech.RecognitionResult{Text: text, Confidence: confidence}
}

// begins makes the answerer speak for a time.
func (a *answeredCall) begins(d time.Duration) {
	a.hear(200 * time.Millisecond)
	a.send(conversation.MediaEvent{Event: media.SpeechBegan{}})
	a.hear(d - 200*time.Millisecond)
}

// stops makes the answerer silent. The recognizer has answered then.
func (a *answeredCall) stops() {
	a.hear(500 * time.Millisecond)
	a.send(conversation.MediaEvent{Event: media.SpeechEnded{Silence: vad.EndSilence}})
	a.hear(500 * time.Millisecond)
}

func by(names ...string) (out []any) {
	for _, name := range names {
		out = append(out, conversation.AnswererDetected{By: name})
	}
	return out
}

// actions of the agent in the three actions after a voicemail.
func forEachMode(t *testing.T, f func(t *testing.T, a *answeredCall, mode, action string)) {
	t.Helper()
	for _, mode := range []string{"async", "wait"} {
		for _, action := range []string{"hangup", "leave_message", "continue"} {
			actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
				a := openAnswered(t, sys, mode, action)
				f(t, a, mode, action)
				a.close()
			})
		}
	}
}

// pathwayActions returns what the agent has played if it talks to the answerer. paused says that it was silent in between and
// repeats its question.
func pathwayActions(mode string, paused bool) []string {
	if mode == "async" && paused {
		return []string{"play A", "play A"}
	}
	return []string{"play A"}
}

func TestWordsSeparateCallScreeningFromVoicemail(t *testing.T) {
	t.Parallel()
	forEachMode(t, func(t *testing.T, a *answeredCall, mode, action string) {
		a.begins(700 * time.Millisecond)
		a.hear(4 * time.Second)
		a.send(answererEvent(amd.Voicemail)) // in the midst of the greeting
		a.hear(300 * time.Millisecond)
		assert.Empty(t, a.reports(), "%s %s: the words are not known", mode, action)
		a.understand("see if this person is available", 0.8)
		a.stops()
		a.hear(time.Second)
		a.send(conversation.MediaEvent{Event: media.GreetingEnded{}}, beep)
		a.hear(500 * time.Millisecond)
		assert.Equal(t, by("call_screening"), a.reports(), "%s %s", mode, action)
		assert.Equal(t, pathwayActions(mode, action == "leave_message"), a.player.actions(), "%s %s", mode, action)
	})
}

func TestToneOfCallScreeningIsNoBeepOfVoicemail(t *testing.T) {
	t.Parallel()
	forEachMode(t, func(t *testing.T, a *answeredCall, mode, action string) {
		a.begins(2500 * time.Millisecond)
		a.understand("state your name", 0.8)
		a.send(answererEvent(amd.Voicemail), beep) // before the words are recognized
		assert.Empty(t, a.reports(), "%s %s", mode, action)
		a.hear(time.Second)
		assert.Equal(t, by("call_screening"), a.reports(), "%s %s", mode, action)
		assert.Equal(t, pathwayActions(mode, action == "leave_message"), a.player.actions(), "%s %s", mode, action)
	})
}

func TestWordsSeparateMenuFromVoicemail(t *testing.T) {
	t.Parallel()
	forEachMode(t, func(t *testing.T, a *answeredCall, mode, action string) {
		a.begins(3 * time.Second)
		a.stops()
		a.send(conversation.MediaEvent{Event: media.SpeechBegan{}})
		a.hear(1500 * time.Millisecond)
		a.send(answererEvent(amd.Voicemail))
		a.hear(500 * time.Millisecond)
		a.understand("press one", 0.8)
		a.stops()
		a.hear(500 * time.Millisecond)
		assert.Equal(t, by("ivr"), a.reports(), "%s %s", mode, action)
		assert.Equal(t, pathwayActions(mode, action == "leave_message"), a.player.actions(), "%s %s", mode, action)
	})
}

func TestVoicemailIsActedOnWhenWordsConfirmIt(t *testing.T) {
	t.Parallel()
	forEachMode(t, func(t *testing.T, a *answeredCall, mode, action string) {
		a.begins(4 * time.Second)
		a.understand("leave a message", 0.8)
		a.send(answererEvent(amd.Voicemail))
		a.hear(200 * time.Millisecond)
		want := by("voicemail")
		if action == "hangup" {
			want = append(want, leftOver)
		}
		assert.Equal(t, want, a.reports(), "%s %s", mode, action)
		if action == "leave_message" {
			a.stops()
			a.send(beep)
			a.hear(2100 * time.Millisecond)
			assert.Equal(t, append(want, leftOver), a.reports(), mode)
			assert.Contains(t, a.player.actions(), "play M")
		}
	})
}

// The sound decides if the words are not known in time.
func TestVoicemailWithoutTypicalWordsIsActedOnAtTheEndOfTheGreeting(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(a *answeredCall){
		"silence": func(a *answeredCall) { a.send(conversation.MediaEvent{Event: media.GreetingEnded{}}) },
		"beep":    func(a *answeredCall) { a.send(beep) },
		"time":    func(a *answeredCall) { a.hear(8 * time.Second) },
	} {
		actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
			a := openAnswered(t, sys, "wait", "hangup")
			a.begins(5 * time.Second)
			a.send(answererEvent(amd.Voicemail))
			a.stops()
			assert.Empty(t, a.reports(), name)
			end(a)
			assert.Equal(t, append(by("voicemail"), leftOver), a.reports(), name)
			a.close()
		})
	}
}

func TestSupposedVoicemailThatSpeaksAgainIsPerson(t *testing.T) {
	t.Parallel()
	forEachMode(t, func(t *testing.T, a *answeredCall, mode, action string) {
		a.begins(5 * time.Second)
		a.send(answererEvent(amd.Voicemail))
		a.stops()
		a.begins(600 * time.Millisecond)
		a.stops()
		a.send(answererEvent(amd.Human))
		a.hear(200 * time.Millisecond)
		assert.Equal(t, by("human"), a.reports(), "%s %s", mode, action)
		assert.Equal(t, pathwayActions(mode, action == "leave_message"), a.player.actions(), "%s %s", mode, action)
	})
}

func TestBusinessIsPersonByItsWords(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		a := openAnswered(t, sys, "wait", "hangup")
		a.begins(6 * time.Second)
		a.send(answererEvent(amd.Voicemail))
		a.understand("how can i help", 0.8)
		a.stops()
		a.send(conversation.MediaEvent{Event: media.GreetingEnded{}})
		assert.Equal(t, by("human"), a.reports())
		assert.Equal(t, []string{"play A"}, a.player.actions())
		a.close()
	})
}

func TestBeepAfterWordsOfPersonIsVoicemail(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		a := openAnswered(t, sys, "wait", "leave_message")
		a.begins(6 * time.Second)
		a.send(answererEvent(amd.Voicemail))
		a.understand("how can i help", 0.8)
		a.stops()
		a.understand("", 0)
		a.send(beep)
		a.hear(2300 * time.Millisecond)
		assert.Equal(t, append(by("human", "voicemail"), leftOver), a.reports())
		assert.Contains(t, a.player.actions(), "play M")
		a.close()
	})
}

func TestUncertainWordsDecideNothing(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		a := openAnswered(t, sys, "wait", "hangup")
		a.begins(2 * time.Second)
		a.understand("leave a message", 0.5)
		a.stops()
		a.send(answererEvent(amd.Human))
		a.hear(200 * time.Millisecond)
		assert.Equal(t, by("human"), a.reports())
		a.close()
	})
}

// A person's verdict waits 0.7 s for words that are being recognized.
func TestPersonIsNotKeptWaitingForWords(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		a := openAnswered(t, sys, "wait", "hangup")
		a.words.neverAnswers = true
		a.begins(2 * time.Second)
		a.stops()
		a.send(answererEvent(amd.Human))
		a.hear(600 * time.Millisecond)
		assert.Empty(t, a.reports())
		a.hear(300 * time.Millisecond)
		assert.Equal(t, by("human"), a.reports())
		assert.Equal(t, []string{"play A"}, a.player.actions())
		a.close()
	})
}

func TestAgentWaitsForPersonToWhomTheCallIsConnected(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"async", "wait"} {
		for name, person := range map[string]func(a *answeredCall){
			"hello":     func(a *answeredCall) { a.begins(500 * time.Millisecond); a.stops() },
			"long":      func(a *answeredCall) { a.begins(2 * time.Second); a.understand("", 0); a.stops() },
			"key":       func(a *answeredCall) { a.pressKeys("1") },
			"a machine": func(a *answeredCall) { a.begins(2 * time.Second); a.understand("leave a message", 0.9); a.stops() },
			"nobody":    func(a *answeredCall) { a.hear(40 * time.Second) },
		} {
			actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
				a := openAnswered(t, sys, mode, "hangup")
				a.begins(2 * time.Second)
				a.understand("while we connect your call", 0.9)
				a.stops()
				a.send(answererEvent(amd.Human)) // the announcement has ended
				a.hear(9 * time.Second)
				waiting := []string(nil)
				if mode == "async" {
					waiting = []string{"play A"}
				}
				assert.Equal(t, waiting, a.player.actions(), "%s %s", mode, name)
				assert.Equal(t, by("call_screening"), a.reports(), "%s %s", mode, name)
				person(a)
				a.hear(200 * time.Millisecond)
				switch name {
				case "a machine":
					assert.Equal(t, append(by("call_screening", "voicemail"), leftOver), a.reports(), mode)
					assert.Equal(t, waiting, a.player.actions(), mode)
				case "nobody":
					assert.Equal(t, by("call_screening"), a.reports(), mode)
					assert.Equal(t, append(waiting, "play A"), a.player.actions(), mode)
				default:
					assert.Equal(t, by("call_screening", "human"), a.reports()[:2], "%s %s", mode, name)
					if name == "key" {
						break // it is also the answer to the first question
					}
					assert.Equal(t, append(waiting, "play A"), a.player.actions()[:len(waiting)+1], "%s %s", mode, name)
				}
				a.close()
			})
		}
	}
}

// After a person's greeting the words belong to the conversation.
func TestWordsOfLaterTurnsAreNoGreeting(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		a := openAnswered(t, sys, "async", "hangup")
		a.begins(500 * time.Millisecond)
		a.stops()
		a.send(answererEvent(amd.Human))
		a.hear(3500 * time.Millisecond)
		a.understand("leave a message", 0.9)
		a.begins(2 * time.Second)
		a.stops()
		assert.Equal(t, by("human"), a.reports())
		assert.Zero(t, a.words.opened)
		a.close()
	})
}

// Words that the answerer says before it is known whether a person has answered are an answer only if it is a person.
func TestWordsBeforeVerdictCountIfPersonHasAnswered(t *testing.T) {
	t.Parallel()
	const none = amd.Class(99) // no verdict arrives, so that the words count after the longest wait
	for verdict, want := range map[amd.Class]string{amd.Human: "caller: yes", amd.Voicemail: "", none: "caller: yes"} {
		t.Run(verdict.String(), func(t *testing.T) {
			t.Parallel()
			actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
				script := questionScript()
				script.AMD = &domain.AgentAMD{Mode: domain.AMDAsync, VoicemailAction: domain.AMDHangup}
				s := &fixture{
					t: t, sys: sys, player: &fakePlayer{begun: time.Now()}, recognizer: new(fakeRecognizer), ear: new(speech.AudioTap),
					voice: &fakeSynthesizer{synthesized: map[string]int{}, takes: 100 * time.Millisecond, fails: map[string]int{}},
				}
				s.synthesizer = s.voice
				s.start(script)
				s.send(conversation.StartConversation{})
				advanceTime(4 * time.Second)
				s.callerSays("yes", 0.9, 400*time.Millisecond)
				advanceTime(time.Second)
				assert.Equal(t, []string{"play A"}, s.player.actions())
				if verdict == none {
					advanceTime(8 * time.Second)
				} else {
					s.send(conversation.MediaEvent{Event: media.AnswerClassified{By: verdict}})
				}
				advanceTime(3 * time.Second)
				if want != "" {
					assert.Equal(t, []string{"play A", "play Y"}, s.player.actions())
				}
				messages := s.close()
				said := ""
				for _, line := range transcriptLines(messages) {
					if strings.HasPrefix(line, "caller: ") {
						said = line
					}
				}
				assert.Equal(t, want, said)
			})
		})
	}
}
