package conversation_test

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/actors/conversation"
	"github.com/callboard/callboard/actors/mailbox/actortest"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/speech"
	"github.com/callboard/callboard/media/speech/text"
	"github.com/callboard/callboard/media/vad"
)

// fakeRecognizer returns the text that the test sets, 100 ms after the end of speech.
type fakeRecognizer struct {
	mu           sync.Mutex
	next         speech.RecognitionResult
	neverAnswers bool          // no result is ever sent
	delay        time.Duration // 0: 100 ms
	phrases      bool          // recognizes phrases only
	wanted       []string
	opened       int
	closed       int
	languages    []string // languages of the recognized turns
	onResult     func(speech.RecognitionResult)
}

func (*fakeRecognizer) SupportsLanguage(language string) bool { return language != "fr-FR" }

func (e *fakeRecognizer) TranscribesFreeSpeech(string) bool { return !e.phrases }

func (e *fakeRecognizer) Open(w speech.RecognitionRequest, onResult func(speech.RecognitionResult)) speech.Stream {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.wanted = w.Phrases
	e.languages = append(e.languages, w.Language)
	e.opened++
	e.onResult = onResult
	return &stream{e, onResult}
}

// sendInterim sends an interim result of the current turn.
func (e *fakeRecognizer) sendInterim(text string) {
	e.mu.Lock()
	onResult := e.onResult
	e.mu.Unlock()
	onResult(speech.RecognitionResult{Text: text, Confidence: 0.9})
	synctest.Wait()
}

type stream struct {
	of       *fakeRecognizer
	onResult func(speech.RecognitionResult)
}

func (*stream) Write([]byte) {}

func (s *stream) End() {
	s.of.mu.Lock()
	h := s.of.next
	deaf, takes := s.of.neverAnswers, max(s.of.delay, 100*time.Millisecond)
	s.of.mu.Unlock()
	h.Final = true
	if !deaf {
		time.AfterFunc(takes, func() { s.onResult(h) })
	}
}

func (s *stream) Close() {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	s.of.closed++
}

// callerSays makes the caller speak for the given time.
func TestSayAsFormsAreThoseOfTheSynthesizers(t *testing.T) {
	t.Parallel()
	assert.Equal(t, text.Forms(), pathway.SayAsForms())
}

// The words of a short sound take two seconds. The prompt does not wait for them.
func TestPromptGoesOnBeforeTheWordsOfAShortSoundAreKnown(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := openConversation(t, sys, questionScript(), nil)
		s.send(conversation.StartConversation{})
		advanceTime(200 * time.Millisecond)
		s.callerBegins("", 2*time.Second)
		advanceTime(600 * time.Millisecond)
		s.callerStops()
		advanceTime(850 * time.Millisecond)
		assert.Equal(t, []string{"play A", "pause"}, s.player.actions())
		advanceTime(100 * time.Millisecond)
		assert.Equal(t, []string{"play A", "pause", "continue"}, s.player.actions())
		assert.Zero(t, s.player.rejections())
		advanceTime(1500 * time.Millisecond)
		assert.Equal(t, 1, s.player.rejections(), "it had no words")
		s.close()
	})
}

func (s *fixture) callerSays(text string, confidence float64, lasts time.Duration) {
	s.recognizer.mu.Lock()
	s.recognizer.next = speech.RecognitionResult{Text: text, Confidence: confidence}
	s.recognizer.mu.Unlock()
	time.Sleep(200 * time.Millisecond)
	s.send(conversation.MediaEvent{Event: media.SpeechBegan{}})
	time.Sleep(lasts - 200*time.Millisecond + 500*time.Millisecond)
	s.send(conversation.MediaEvent{Event: media.SpeechEnded{Silence: vad.EndSilence}})
	time.Sleep(150 * time.Millisecond)
	synctest.Wait()
}

// questionScript returns a script whose pathway asks the caller for a word or a key.
func questionScript() domain.Script {
	s := menuScript()
	s.Language = "en-US"
	s.Pathway.Nodes[0].Input, s.Pathway.Nodes[0].Values = "both", nil
	s.Pathway.Nodes = append(s.Pathway.Nodes, domain.Node{ID: "person", Type: domain.NodeEnd, Prompt: "Person"})
	s.Pathway.Edges = append(
		s.Pathway.Edges,
		domain.Edge{From: "ask", To: "yes", When: domain.When{Type: domain.EdgeIntent, Intent: "yes"}},
		domain.Edge{From: "ask", To: "bye", When: domain.When{Type: domain.EdgeElse}},
		domain.Edge{From: "*", To: "person", When: domain.When{Type: domain.EdgeIntent, Intent: "human", Words: []string{"a real person"}}},
	)
	return s
}

func TestCallerTurnsByWordsAndTiming(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script func(*domain.Script)
		does   func(s *fixture)
		want   []string // actions of the player
	}{
		"an answer": {
			does: func(s *fixture) {
				time.Sleep(1200 * time.Millisecond)
				s.callerSays("yes please", 0.9, 500*time.Millisecond)
			},
			want: []string{"play A", "play Y"},
		},
		"the number of a key": {
			does: func(s *fixture) {
				time.Sleep(1200 * time.Millisecond)
				s.callerSays("one", 0.9, 500*time.Millisecond)
			},
			want: []string{"play A", "play Y"},
		},
		"an answer cuts the prompt": {
			does: func(s *fixture) { s.callerSays("yes", 0.9, 300*time.Millisecond) },
			want: []string{"play A", "pause", "play Y"},
		},
		"an acknowledgement does not": {
			does: func(s *fixture) { s.callerSays("okay", 0.9, 600*time.Millisecond) },
			want: []string{"play A", "pause", "continue"},
		},
		"nor does a cough": {
			does: func(s *fixture) { s.callerSays("", 0, 300*time.Millisecond) },
			want: []string{"play A", "pause", "continue"},
		},
		"nor one short word that is no answer": {
			does: func(s *fixture) { s.callerSays("banana", 0.9, 300*time.Millisecond) },
			want: []string{"play A", "pause", "continue"},
		},
		"two of them do": {
			does: func(s *fixture) { s.callerSays("banana bread", 0.9, 300*time.Millisecond) },
			want: []string{"play A", "pause", "play B"},
		},
		"a long one does": {
			does: func(s *fixture) { s.callerSays("banana", 0.9, 600*time.Millisecond) },
			want: []string{"play A", "pause", "play B"},
		},
		"words before the end of a question that must not be interrupted are no answer": {
			script: func(d *domain.Script) { d.Pathway.Nodes[0].Interruptible = new(bool) },
			does: func(s *fixture) {
				s.callerSays("yes", 0.9, 300*time.Millisecond)
				time.Sleep(time.Second)
			},
			want: []string{"play A"},
		},
		"words at the end of such a question are its answer": {
			script: func(d *domain.Script) { d.Pathway.Nodes[0].Interruptible = new(bool) },
			does: func(s *fixture) {
				time.Sleep(700 * time.Millisecond)
				s.callerSays("yes", 0.9, 300*time.Millisecond)
				time.Sleep(time.Second)
			},
			want: []string{"play A", "play Y"},
		},
		"a greeting is no answer": {
			does: func(s *fixture) { s.callerSays("hello who is this", 0.9, 900*time.Millisecond) },
			want: []string{"play A", "pause", "continue"},
		},
		"a doubtful word during the question is no answer": {
			does: func(s *fixture) { s.callerSays("yes", 0.5, 300*time.Millisecond) },
			want: []string{"play A", "pause", "continue"},
		},
		"stop interrupts at once": {
			does: func(s *fixture) { s.callerSays("stop", 0.9, 200*time.Millisecond) },
			want: []string{"play A", "pause", "play B"},
		},
		"an agent may not be interrupted": {
			script: func(d *domain.Script) { d.Turns = &domain.TurnTaking{Interruptible: new(bool)} },
			does:   func(s *fixture) { s.callerSays("", 0, 300*time.Millisecond) },
			want:   []string{"play A"},
		},
		"an edge from anywhere": {
			does: func(s *fixture) {
				time.Sleep(1200 * time.Millisecond)
				s.callerSays("I want a real person.", 0.9, 900*time.Millisecond)
			},
			want: []string{"play A", "play P"},
		},
		"an uncertain answer is confirmed": {
			does: func(s *fixture) {
				time.Sleep(1200 * time.Millisecond)
				s.callerSays("a real person", 0.5, 900*time.Millisecond)
				time.Sleep(1200 * time.Millisecond)
				s.callerSays("yes", 0.9, 300*time.Millisecond)
			},
			want: []string{"play A", "play D", "play P"},
		},
		"a key answers in place of it": {
			does: func(s *fixture) {
				time.Sleep(1200 * time.Millisecond)
				s.callerSays("a real person", 0.5, 900*time.Millisecond)
				time.Sleep(400 * time.Millisecond)
				s.pressKeys("1")
			},
			want: []string{"play A", "play D", "stop", "play Y"},
		},
		"an answer that was not understood is asked again": {
			script: func(d *domain.Script) { d.Pathway.Nodes[0].Retries = 1 },
			does: func(s *fixture) {
				time.Sleep(1200 * time.Millisecond)
				s.callerSays("", 0, time.Second)
				time.Sleep(1200 * time.Millisecond)
				s.callerSays("mumble", 0.2, time.Second)
			},
			want: []string{"play A", "play A", "play B"},
		},
		"a cough is no answer": {
			script: func(d *domain.Script) { d.Pathway.Nodes[0].Retries = 1 },
			does: func(s *fixture) {
				time.Sleep(1200 * time.Millisecond)
				s.callerSays("", 0, 300*time.Millisecond)
				time.Sleep(3500 * time.Millisecond)
				s.callerSays("yes", 0.9, 300*time.Millisecond)
			},
			want: []string{"play A", "play Y"},
		},
		"the input timeout waits while the caller speaks": {
			does: func(s *fixture) {
				time.Sleep(4500 * time.Millisecond)
				s.callerSays("yes", 0.9, 3*time.Second)
			},
			want: []string{"play A", "play Y"},
		},
		"nor where the time of silence begins meanwhile": {
			script: func(d *domain.Script) { d.Pathway.Nodes[0].Interruptible = new(bool) },
			does:   func(s *fixture) { s.callerSays("yes", 0.9, 6*time.Second) },
			want:   []string{"play A", "play Y"},
		},
		"a turn that never ends": {
			script: func(d *domain.Script) { d.Turns = &domain.TurnTaking{EndOfTurnMs: 5000} },
			does: func(s *fixture) {
				time.Sleep(1200 * time.Millisecond)
				for range 10 {
					s.callerSays("yes", 0.9, time.Second)
				}
			},
			want: []string{"play A", "play Y"},
		},
		"a pause within a turn": {
			script: func(d *domain.Script) { d.Turns = &domain.TurnTaking{EndOfTurnMs: 1500} },
			does: func(s *fixture) {
				time.Sleep(1200 * time.Millisecond)
				s.callerSays("yes", 0.9, 500*time.Millisecond)
				s.callerSays("yes", 0.9, 500*time.Millisecond)
				time.Sleep(time.Second)
			},
			want: []string{"play A", "play Y"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
				script := questionScript()
				if c.script != nil {
					c.script(&script)
				}
				s := openConversation(t, sys, script, nil)
				s.send(conversation.StartConversation{})
				time.Sleep(200 * time.Millisecond)
				c.does(s)
				time.Sleep(200 * time.Millisecond)
				assert.Equal(t, c.want, s.player.actions())
				s.close()
			})
		})
	}
}

func TestTranscriptHasSpeakersAndTimes(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := openConversation(t, sys, questionScript(), nil)
		s.send(conversation.StartConversation{})
		time.Sleep(300 * time.Millisecond)
		s.callerSays("yes please", 0.87, 400*time.Millisecond)
		time.Sleep(3 * time.Second)
		messages := s.close()
		f, ok := messages[len(messages)-1].(conversation.FinishReply)
		assert.True(t, ok)
		assert.Equal(t, []domain.Segment{
			{Index: 0, Speaker: "agent", Text: "—", StartMs: 100, EndMs: 500, Confidence: 1, Interrupted: true},
			{Index: 1, Speaker: "caller", Text: "yes please", StartMs: 300, EndMs: 700, Confidence: 0.87},
			{Index: 2, Speaker: "agent", Text: "Yes", StartMs: 1300, EndMs: 2300, Confidence: 1},
		}, f.Segments)
		assert.Equal(t, domain.OutcomeConfirmed, f.Result.Outcome)
		assert.Equal(t, "yes", f.Result.Intent)
		s.recognizer.mu.Lock()
		defer s.recognizer.mu.Unlock()
		assert.Contains(t, s.recognizer.wanted, "one", "the key can be said")
		assert.Contains(t, s.recognizer.wanted, "stop", "so can a keyword")
		assert.NotContains(t, s.recognizer.wanted, "9")
	})
}

func TestFailedRecognitionCostsOneTurn(t *testing.T) {
	t.Parallel()
	for _, hangs := range []bool{false, true} {
		actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
			s := openConversation(t, sys, questionScript(), nil)
			s.send(conversation.StartConversation{})
			time.Sleep(300 * time.Millisecond)
			s.recognizer.next, s.recognizer.neverAnswers = speech.RecognitionResult{Err: errors.New("no")}, hangs
			s.send(conversation.MediaEvent{Event: media.SpeechBegan{}})
			time.Sleep(600 * time.Millisecond)
			s.send(conversation.MediaEvent{Event: media.SpeechEnded{Silence: vad.EndSilence}})
			time.Sleep(150 * time.Millisecond)
			if hangs {
				time.Sleep(8 * time.Second)
			}
			assert.Equal(t, []string{"play A", "pause", "continue"}, s.player.actions()[:3])
			s.pressKeys("1")
			time.Sleep(2 * time.Second)
			assert.Contains(t, s.close(), conversation.Fault{
				Stage: "stt", Code: "recognition_failed", Message: "the caller's speech could not be recognized", Recovered: true,
			})
			assert.Contains(t, s.player.actions(), "play Y")
		})
	}
}

func TestRepeatedFailedRecognitionEndsConversation(t *testing.T) {
	t.Parallel()
	for input, ends := range map[string]bool{"speech": true, "both": false} {
		t.Run(input, func(t *testing.T) {
			t.Parallel()
			actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
				script := questionScript()
				script.Pathway.Nodes[0].Input, script.Pathway.Nodes[0].Retries = input, 5
				if ends {
					script.Pathway.Edges = slices.DeleteFunc(script.Pathway.Edges, func(e domain.Edge) bool { return e.When.Type == domain.EdgeDTMF })
				}
				s := openConversation(t, sys, script, nil)
				s.send(conversation.StartConversation{})
				s.recognizer.next = speech.RecognitionResult{Err: errors.New("no")}
				for range 2 {
					time.Sleep(1500 * time.Millisecond)
					s.send(conversation.MediaEvent{Event: media.SpeechBegan{}})
					time.Sleep(600 * time.Millisecond)
					s.send(conversation.MediaEvent{Event: media.SpeechEnded{Silence: vad.EndSilence}})
				}
				time.Sleep(3 * time.Second)
				over := conversation.PathwayEnded{Outcome: domain.OutcomeCompleted, Reason: pathway.ReasonAgentUnavailable, AgentUnable: true}
				if messages := s.close(); ends {
					assert.Contains(t, messages, over)
				} else {
					assert.NotContains(t, messages, over)
				}
			})
		})
	}
}

func TestKeyEndsTurnAndSecretWordsAreNotRecorded(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		script := questionScript()
		script.Pathway.Nodes[0].Sensitive = true
		s := openConversation(t, sys, script, nil)
		s.send(conversation.StartConversation{})
		time.Sleep(1500 * time.Millisecond)
		s.callerSays("stop", 0.9, time.Second) // keywords do not count in secret input
		time.Sleep(time.Second)
		messages := s.close()
		f, ok := messages[len(messages)-1].(conversation.FinishReply)
		assert.True(t, ok)
		assert.Equal(t, "[hidden]", f.Segments[1].Text)
		for _, m := range messages {
			_, isOptOut := m.(conversation.OptOutRequested)
			assert.False(t, isOptOut)
		}
	})
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := openConversation(t, sys, questionScript(), nil)
		s.send(conversation.StartConversation{})
		time.Sleep(500 * time.Millisecond)
		s.send(conversation.MediaEvent{Event: media.SpeechBegan{}})
		time.Sleep(100 * time.Millisecond)
		s.pressKeys("1")
		assert.Equal(t, []string{"play A", "pause", "play Y"}, s.player.actions())
		assert.Equal(t, 1, s.recognizer.closed)
		time.Sleep(500 * time.Millisecond)
		s.send(conversation.MediaEvent{Event: media.SpeechEnded{Silence: vad.EndSilence}})
		time.Sleep(3 * time.Second)
		s.close()
	})
}
