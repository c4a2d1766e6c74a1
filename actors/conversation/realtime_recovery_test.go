package conversation_test

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/conversation"
	"github.com/callboard/callboard/actors/mailbox/actortest"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/speech"
)

func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// orders is what the engine wants done; it takes three seconds.
var orders = speech.RealtimeToolCall{ID: "c1", Name: "orders", Arguments: "{}"} //nolint:gochecknoglobals // never changed

func TestWhatIsUnderWayWhenTheEngineBreaksIsDoneOnceAndKnown(t *testing.T) {
	t.Parallel()
	l := &living{instead: true, mind: mind{answers: []mindAnswer{{say: []string{"In Berlin."}}}}}
	heard := lives(t, l, func(*stage) {
		l.hears("Where is my order?")
		l.tell(speech.RealtimeEvent{Kind: speech.RealtimeResponseDone, Calls: []speech.RealtimeToolCall{orders}})
		pass(time.Second)
		l.tell(speech.RealtimeEvent{Kind: speech.RealtimeFailed, Err: speech.ErrAudioStalled})
		pass(time.Second)
		l.mu.Lock()
		assert.Empty(t, l.asked, "it is not known yet")
		l.mu.Unlock()
		pass(5 * time.Second)
	})
	assert.Len(t, l.acted, 1)
	require.Len(t, l.asked, 1)
	history := l.asked[0].Step.History
	assert.Equal(t, pathway.Message{By: pathway.ByTool, ID: "c1", Text: `{"at":"Berlin"}`}, history[len(history)-1])
	assert.Equal(t, []string{"Hello", "Where is my order?", "One moment, please.", "In Berlin."}, wordsOf(segments(t, heard)))
}

func TestWhatIsDoneWhileSomebodyElseHasTheCallerIsKnownToTheEngineThatTakesHimBack(t *testing.T) {
	t.Parallel()
	for name, away := range map[string]time.Duration{"done meanwhile": 5 * time.Second, "done afterwards": time.Second} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := &living{}
			lives(t, l, func(s *stage) {
				l.hears("Where is my order?")
				l.tell(speech.RealtimeEvent{Kind: speech.RealtimeResponseDone, Calls: []speech.RealtimeToolCall{orders}})
				pass(time.Second)
				s.send(conversation.PauseAgent{})
				pass(away)
				assert.Equal(t, []string{"close"}, l.all(), "nobody is told, and nobody asked for an answer")
				s.send(conversation.ResumeAgent{})
				pass(5 * time.Second)
				require.Len(t, l.begins(), 2)
				again := l.begins()[1]
				assert.JSONEq(t, `{"at":"Berlin"}`, again.History[len(again.History)-1].Text)
				assert.True(t, again.Speak)
			})
			assert.Len(t, l.acted, 1)
		})
	}
}

func TestAKeyThatAnEdgeIsForTakesItOnceTheToolIsDone(t *testing.T) {
	t.Parallel()
	l := &living{}
	script := chatter()
	script.Pathway.Edges = append(script.Pathway.Edges, to("talk", "bye", domain.EdgeDTMF, "0"))
	heard := livesBy(t, l, script, func(s *stage) {
		l.tell(speech.RealtimeEvent{Kind: speech.RealtimeResponseDone, Calls: []speech.RealtimeToolCall{orders}})
		pass(time.Second)
		s.press("0")
		assert.Equal(t, []string{"key 0"}, l.all(), "it is being done")
		pass(5 * time.Second)
	})
	assert.Equal(t, []string{"Hello", "[pressed 0]", "Bye"}, wordsOf(segments(t, heard)))
	assert.Len(t, l.acted, 1)
}

func TestAnEngineIsClosedThatIsOpenOnceNobodyWantsItAnyMore(t *testing.T) {
	t.Parallel()
	for name, leaves := range map[string]func(s *stage){
		"a key leads on":               func(s *stage) { s.press("0") },
		"somebody else has the caller": func(s *stage) { s.send(conversation.PauseAgent{}) },
		"the caller hangs up":          func(s *stage) { s.send(conversation.FinishConversation{}) },
		"the call is gone":             func(s *stage) { s.sys.Root.Poison(s.root) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := &living{}
			actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
				script := chatter()
				script.Realtime = &domain.AgentRealtime{Engine: "voice"}
				script.Pathway.Edges = append(script.Pathway.Edges, to("talk", "bye", domain.EdgeDTMF, "0"))
				l.opens = make(chan struct{})
				s := openWith(t, sys, script, nil, l)
				s.send(conversation.StartConversation{})
				pass(1200 * time.Millisecond)
				require.Len(t, l.begins(), 1)
				leaves(s)
				pass(time.Second)
				assert.Empty(t, l.all())
				close(l.opens)
				pass(time.Second)
				assert.Equal(t, []string{"close"}, l.all())
				s.close()
			})
		})
	}
}

func TestWhoCouldNotBeHandedOnIsTheEnginesAgain(t *testing.T) {
	t.Parallel()
	l := &living{}
	script := chatter()
	script.Transfer.Destinations = []domain.Destination{{Name: "desk", To: "+15005550006"}}
	heard := livesBy(t, l, script, func(s *stage) {
		l.says("a1", "I put you through.", time.Second, speech.RealtimeToolCall{ID: "t", Name: "transfer_call", Arguments: `{"destination":"desk","reason":"he asks"}`})
		pass(2 * time.Second)
		assert.Equal(t, "close", l.all()[len(l.all())-1])
		s.send(conversation.ResumeAgent{OK: false})
		pass(time.Second)
		require.Len(t, l.begins(), 2)
		again := l.begins()[1]
		assert.Equal(t, pathway.Message{By: pathway.ByCaller, Text: "(Nobody could be reached; the caller is back.)"}, again.History[len(again.History)-1])
		assert.True(t, again.Speak)
		l.tell(speech.RealtimeEvent{Kind: speech.RealtimeReady})
		l.says("a2", "Nobody is there.", time.Second)
		pass(2 * time.Second)
	})
	assert.Contains(t, heard, any(conversation.RequestTransfer{Destination: "desk", Mode: domain.TransferBridge, Reason: "he asks"}))
	assert.Equal(t, []string{"Hello", "I put you through.", "Nobody is there."}, wordsOf(segments(t, heard)))
}

func TestASilentBotsCallerIsLeftAsOftenAsTheNodeSays(t *testing.T) {
	t.Parallel()
	l := &living{alone: true}
	heard := lives(t, l, func(*stage) {
		l.tell(speech.RealtimeEvent{Kind: speech.RealtimeIdle})
		for range 2 {
			pass(8100 * time.Millisecond)
			l.tell(speech.RealtimeEvent{Kind: speech.RealtimeIdle}) // as a stream tells that is asked for an answer
			synctest.Wait()
		}
		assert.Equal(t, []string{"answer (The caller says nothing.)", "answer (The caller says nothing.)"}, l.all())
		pass(11 * time.Second)
	})
	assert.Equal(t, []string{"Hello", "Bye"}, wordsOf(segments(t, heard)), "he takes the edge of timeout")
}

func TestAnswersThatWereNeverHeardAreCut(t *testing.T) {
	t.Parallel()
	l := &living{}
	lives(t, l, func(*stage) {
		l.says("a1", "one two three four", 10*time.Second)
		l.says("a2", "five", time.Second)
		l.says("a3", "six", time.Second)
		pass(2 * time.Second)
		l.hears("Stop.")
		assert.ElementsMatch(t, []string{"cut a2 0s", "cut a3 0s", "cut a1 2s"}, l.all())
		assert.Len(t, l.begins(), 1)
	})
}

func TestAnEngineThatDoesNotNoticeTheCallersSilenceIsGivenUp(t *testing.T) {
	t.Parallel()
	l := &living{instead: true, mind: mind{answers: []mindAnswer{{say: []string{"Again then."}}}}}
	heard := lives(t, l, func(s *stage) {
		speaks := func(notices bool) {
			s.send(conversation.MediaEvent{Event: media.SpeechBegan{}})
			l.tell(speech.RealtimeEvent{Kind: speech.RealtimeSpeechStarted, Item: "u"})
			pass(time.Second)
			s.send(conversation.MediaEvent{Event: media.SpeechEnded{}})
			if notices {
				l.tell(speech.RealtimeEvent{Kind: speech.RealtimeSpeechEnded, Item: "u"})
			}
			pass(9 * time.Second)
		}
		speaks(true)
		pass(2 * time.Second)
		speaks(false) // he goes on
		speaks(false)
		assert.NotContains(t, l.all(), "close")
		pass(2 * time.Second)
		assert.Contains(t, l.all(), "close")
		pass(5 * time.Second)
	})
	assert.Contains(t, heard, any(conversation.Fault{Stage: "realtime", Code: "engine_stalled", Message: "the engine voice failed", Recovered: true}))
	assert.Contains(t, wordsOf(segments(t, heard)), "Again then.")
}

func TestAnEngineIsNotGivenUpForACallerWhomItAloneHears(t *testing.T) {
	t.Parallel()
	for name, ours := range map[string]bool{"our ears never heard him": false, "our ears heard him long ago": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := &living{instead: true}
			heard := lives(t, l, func(s *stage) {
				if ours {
					s.send(conversation.MediaEvent{Event: media.SpeechBegan{}})
					pass(time.Second)
					s.send(conversation.MediaEvent{Event: media.SpeechEnded{}})
					pass(5 * time.Second)
				}
				l.tell(speech.RealtimeEvent{Kind: speech.RealtimeSpeechStarted, Item: "u"})
				pass(15 * time.Second)
				assert.NotContains(t, l.all(), "close")
				l.tell(speech.RealtimeEvent{Kind: speech.RealtimeSpeechEnded, Item: "u"})
				pass(time.Second)
			})
			for _, told := range heard {
				_, fault := told.(conversation.Fault)
				assert.False(t, fault, "%v", told)
			}
		})
	}
}

func TestAnEngineThatHearsTheCallerBeginBehindHisEndMustNoticeThat(t *testing.T) {
	t.Parallel()
	l := &living{instead: true, mind: mind{answers: []mindAnswer{{say: []string{"Again then."}}}}}
	lives(t, l, func(s *stage) {
		s.send(conversation.MediaEvent{Event: media.SpeechBegan{}})
		pass(time.Second)
		s.send(conversation.MediaEvent{Event: media.SpeechEnded{}})
		pass(time.Second)
		l.tell(speech.RealtimeEvent{Kind: speech.RealtimeSpeechStarted, Item: "u"})
		pass(12 * time.Second)
		assert.Contains(t, l.all(), "close")
	})
}

func TestAnEngineHearsNothingOfASecret(t *testing.T) {
	t.Parallel()
	l := &living{}
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		script := chatter()
		script.Realtime = &domain.AgentRealtime{Engine: "voice"}
		script.Pathway.Nodes[0] = domain.Node{ID: "hello", Type: domain.NodeCollect, Prompt: "Card", Length: 4, Sensitive: true}
		s := openWith(t, sys, script, nil, l)
		s.send(conversation.StartConversation{})
		sounds := func(b byte, d time.Duration) {
			for ; d > 0; d -= 20 * time.Millisecond {
				s.ear.Frame(bytes.Repeat([]byte{b}, 160))
				time.Sleep(20 * time.Millisecond)
			}
		}
		sounds(1, 1500*time.Millisecond)
		s.press("4711")
		require.Len(t, l.begins(), 1)
		sounds(1, 300*time.Millisecond) // the last key is held
		sounds(2, time.Second)
		l.mu.Lock()
		assert.NotContains(t, string(l.heard), "\x01")
		assert.Contains(t, string(l.heard), "\x02")
		l.mu.Unlock()
		s.close()
	})
}

func TestWhoWantsNoMoreCallsIsHeardBesideABotThatTellsNothingOfWords(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		does func(s *stage)
		want []conversation.OptOutRequested
	}{
		"says it":                               {func(s *stage) { s.says("please stop calling me", 0.9, time.Second) }, []conversation.OptOutRequested{{Channel: "speech", Keyword: "stop"}}},
		"says otherwise":                        {func(s *stage) { s.says("who is this", 0.9, time.Second) }, nil},
		"seems to say it":                       {func(s *stage) { s.says("stop", 0.5, time.Second) }, nil},
		"says it to who knows phrases alone":    {func(s *stage) { s.ears.phrases = true; s.says("stop", 0.9, time.Second) }, nil},
		"presses it":                            {func(s *stage) { s.press("9") }, []conversation.OptOutRequested{{Channel: "dtmf", Keyword: "9"}}},
		"says it while the bot hangs up":        {func(s *stage) { sayAndLeave(s, speech.RealtimeEnded) }, []conversation.OptOutRequested{{Channel: "speech", Keyword: "stop"}}},
		"says it while the bot's socket breaks": {func(s *stage) { sayAndLeave(s, speech.RealtimeFailed) }, []conversation.OptOutRequested{{Channel: "speech", Keyword: "stop"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := &living{alone: true}
			heard := lives(t, l, func(s *stage) {
				l.tell(speech.RealtimeEvent{Kind: speech.RealtimeIdle})
				c.does(s)
				s.ear.Frame([]byte{7, 7})
				l.mu.Lock()
				if !bytes.Contains(l.heard, []byte{7, 7}) {
					assert.Contains(t, l.did, "close", "the bot hears him all the time")
				}
				l.mu.Unlock()
				pass(time.Second)
			})
			assert.Equal(t, c.want, optedOut(heard))
			assert.NotContains(t, wordsOf(segments(t, heard)), "who is this", "what he says to the bot is not written down")
		})
	}
}

// sayAndLeave lets the caller want no more calls while the bot goes.
func sayAndLeave(s *stage, how speech.RealtimeEventKind) {
	l, ok := s.mind.(*living)
	if !ok {
		return
	}
	s.ears.mu.Lock()
	s.ears.next = speech.RecognitionResult{Text: "stop", Confidence: 0.9}
	s.ears.mu.Unlock()
	s.send(conversation.MediaEvent{Event: media.SpeechBegan{}})
	time.Sleep(time.Second)
	l.tell(speech.RealtimeEvent{Kind: how, Err: speech.ErrAudioStalled})
	synctest.Wait()
	s.send(conversation.MediaEvent{Event: media.SpeechEnded{}})
	pass(200 * time.Millisecond)
}
