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
	"github.com/callboard/callboard/media/vad"
)

func advanceTime(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// ordersCall is a tool call that the realtime engine requests. The tool takes three seconds.
var ordersCall = speech.RealtimeToolCall{ID: "c1", Name: "orders", Arguments: "{}"} //nolint:gochecknoglobals // never changed

func TestToolCallSurvivesRealtimeFailure(t *testing.T) {
	t.Parallel()
	l := &realtimeRuntime{instead: true, fakeRuntime: fakeRuntime{answers: []plannedResponse{{say: []string{"In Berlin."}}}}}
	messages := runRealtime(t, l, func(*fixture) {
		l.engineHears("Where is my order?")
		l.emit(speech.RealtimeEvent{Kind: speech.RealtimeResponseDone, Calls: []speech.RealtimeToolCall{ordersCall}})
		advanceTime(time.Second)
		l.emit(speech.RealtimeEvent{Kind: speech.RealtimeFailed, Err: speech.ErrAudioStalled})
		advanceTime(time.Second)
		l.mu.Lock()
		assert.Empty(t, l.requests, "it is not known yet")
		l.mu.Unlock()
		advanceTime(5 * time.Second)
	})
	assert.Len(t, l.toolCalls, 1)
	require.Len(t, l.requests, 1)
	history := l.requests[0].Step.History
	assert.Equal(t, pathway.Message{By: pathway.ByTool, ID: "c1", Text: `{"at":"Berlin"}`}, history[len(history)-1])
	assert.Equal(t, []string{"Hello", "Where is my order?", "One moment, please.", "In Berlin."}, segmentTexts(finalSegments(t, messages)))
}

func TestToolResultDuringPauseIsInNextRealtimeHistory(t *testing.T) {
	t.Parallel()
	for name, away := range map[string]time.Duration{"done meanwhile": 5 * time.Second, "done afterwards": time.Second} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := &realtimeRuntime{}
			runRealtime(t, l, func(s *fixture) {
				l.engineHears("Where is my order?")
				l.emit(speech.RealtimeEvent{Kind: speech.RealtimeResponseDone, Calls: []speech.RealtimeToolCall{ordersCall}})
				advanceTime(time.Second)
				s.send(conversation.PauseAgent{})
				advanceTime(away)
				assert.Equal(t, []string{"close"}, l.actions(), "the closed session gets neither the result nor a request")
				s.send(conversation.ResumeAgent{})
				advanceTime(5 * time.Second)
				require.Len(t, l.sessions(), 2)
				again := l.sessions()[1]
				assert.JSONEq(t, `{"at":"Berlin"}`, again.History[len(again.History)-1].Text)
				assert.True(t, again.Speak)
			})
			assert.Len(t, l.toolCalls, 1)
		})
	}
}

func TestKeyEdgeIsTakenAfterToolCall(t *testing.T) {
	t.Parallel()
	l := &realtimeRuntime{}
	script := converseScript()
	script.Pathway.Edges = append(script.Pathway.Edges, edge("talk", "bye", domain.EdgeDTMF, "0"))
	messages := runRealtimeScript(t, l, script, func(s *fixture) {
		l.emit(speech.RealtimeEvent{Kind: speech.RealtimeResponseDone, Calls: []speech.RealtimeToolCall{ordersCall}})
		advanceTime(time.Second)
		s.pressKeys("0")
		assert.Equal(t, []string{"key 0"}, l.actions(), "it is being done")
		advanceTime(5 * time.Second)
	})
	assert.Equal(t, []string{"Hello", "[pressed 0]", "Bye"}, segmentTexts(finalSegments(t, messages)))
	assert.Len(t, l.toolCalls, 1)
}

func TestUnneededRealtimeSessionIsClosedWhenItOpens(t *testing.T) {
	t.Parallel()
	for name, leaves := range map[string]func(s *fixture){
		"a key leads on":      func(s *fixture) { s.pressKeys("0") },
		"the agent is paused": func(s *fixture) { s.send(conversation.PauseAgent{}) },
		"the caller hangs up": func(s *fixture) { s.send(conversation.FinishConversation{}) },
		"the call is gone":    func(s *fixture) { s.sys.Root.Poison(s.root) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := &realtimeRuntime{}
			actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
				script := converseScript()
				script.Realtime = &domain.AgentRealtime{Engine: "voice"}
				script.Pathway.Edges = append(script.Pathway.Edges, edge("talk", "bye", domain.EdgeDTMF, "0"))
				l.openWhenClosed = make(chan struct{})
				s := openWithRuntime(t, sys, script, nil, l)
				s.send(conversation.StartConversation{})
				advanceTime(1200 * time.Millisecond)
				require.Len(t, l.sessions(), 1)
				leaves(s)
				advanceTime(time.Second)
				assert.Empty(t, l.actions())
				close(l.openWhenClosed)
				advanceTime(time.Second)
				assert.Equal(t, []string{"close"}, l.actions())
				s.close()
			})
		})
	}
}

func TestFailedTransferReturnsCallerToRealtime(t *testing.T) {
	t.Parallel()
	l := &realtimeRuntime{}
	script := converseScript()
	script.Transfer.Destinations = []domain.Destination{{Name: "desk", To: "+15005550006"}}
	messages := runRealtimeScript(t, l, script, func(s *fixture) {
		l.engineSays("a1", "I put you through.", time.Second, speech.RealtimeToolCall{ID: "t", Name: "transfer_call", Arguments: `{"destination":"desk","reason":"he asks"}`})
		advanceTime(2 * time.Second)
		assert.Equal(t, "close", l.actions()[len(l.actions())-1])
		s.send(conversation.ResumeAgent{OK: false})
		advanceTime(time.Second)
		require.Len(t, l.sessions(), 2)
		again := l.sessions()[1]
		assert.Equal(t, pathway.Message{By: pathway.ByCaller, Text: "(The transfer failed; the caller is back.)"}, again.History[len(again.History)-1])
		assert.True(t, again.Speak)
		l.emit(speech.RealtimeEvent{Kind: speech.RealtimeReady})
		l.engineSays("a2", "Nobody is there.", time.Second)
		advanceTime(2 * time.Second)
	})
	assert.Contains(t, messages, any(conversation.RequestTransfer{Destination: "desk", Mode: domain.TransferBridge, Reason: "he asks"}))
	assert.Equal(t, []string{"Hello", "I put you through.", "Nobody is there."}, segmentTexts(finalSegments(t, messages)))
}

func TestRealtimeSilencePromptsAreLimited(t *testing.T) {
	t.Parallel()
	l := &realtimeRuntime{alone: true}
	messages := runRealtime(t, l, func(*fixture) {
		l.emit(speech.RealtimeEvent{Kind: speech.RealtimeIdle})
		for range 2 {
			advanceTime(8100 * time.Millisecond)
			l.emit(speech.RealtimeEvent{Kind: speech.RealtimeIdle}) // as a media stream does when an answer is requested
			synctest.Wait()
		}
		assert.Equal(t, []string{"answer (The caller says nothing.)", "answer (The caller says nothing.)"}, l.actions())
		advanceTime(11 * time.Second)
	})
	assert.Equal(t, []string{"Hello", "Bye"}, segmentTexts(finalSegments(t, messages)), "he takes the edge of timeout")
}

func TestUnplayedRealtimeAnswersAreCut(t *testing.T) {
	t.Parallel()
	l := &realtimeRuntime{}
	runRealtime(t, l, func(*fixture) {
		l.engineSays("a1", "one two three four", 10*time.Second)
		l.engineSays("a2", "five", time.Second)
		l.engineSays("a3", "six", time.Second)
		advanceTime(2 * time.Second)
		l.engineHears("Stop.")
		assert.ElementsMatch(t, []string{"cut a2 0s", "cut a3 0s", "cut a1 2s"}, l.actions())
		assert.Len(t, l.sessions(), 1)
	})
}

func TestRealtimeEngineWithoutEndOfTurnIsReplaced(t *testing.T) {
	t.Parallel()
	l := &realtimeRuntime{instead: true, fakeRuntime: fakeRuntime{answers: []plannedResponse{{say: []string{"Again then."}}}}}
	messages := runRealtime(t, l, func(s *fixture) {
		speaks := func(notices bool) {
			s.send(conversation.MediaEvent{Event: media.SpeechBegan{}})
			l.emit(speech.RealtimeEvent{Kind: speech.RealtimeSpeechStarted, Item: "u"})
			advanceTime(time.Second)
			s.send(conversation.MediaEvent{Event: media.SpeechEnded{Silence: vad.EndSilence}})
			if notices {
				l.emit(speech.RealtimeEvent{Kind: speech.RealtimeSpeechEnded, Item: "u"})
			}
			advanceTime(9 * time.Second)
		}
		speaks(true)
		advanceTime(2 * time.Second)
		speaks(false) // the caller continues to speak
		speaks(false)
		assert.NotContains(t, l.actions(), "close")
		advanceTime(2 * time.Second)
		assert.Contains(t, l.actions(), "close")
		advanceTime(5 * time.Second)
	})
	assert.Contains(t, messages, any(conversation.Fault{Stage: "realtime", Code: "engine_stalled", Message: "the engine voice failed", Recovered: true}))
	assert.Contains(t, segmentTexts(finalSegments(t, messages)), "Again then.")
}

func TestRealtimeEngineStaysWhenOnlyItHearsCaller(t *testing.T) {
	t.Parallel()
	for name, ours := range map[string]bool{"no voice activity was detected": false, "voice activity was detected long ago": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := &realtimeRuntime{instead: true}
			messages := runRealtime(t, l, func(s *fixture) {
				if ours {
					s.send(conversation.MediaEvent{Event: media.SpeechBegan{}})
					advanceTime(time.Second)
					s.send(conversation.MediaEvent{Event: media.SpeechEnded{Silence: vad.EndSilence}})
					advanceTime(5 * time.Second)
				}
				l.emit(speech.RealtimeEvent{Kind: speech.RealtimeSpeechStarted, Item: "u"})
				advanceTime(15 * time.Second)
				assert.NotContains(t, l.actions(), "close")
				l.emit(speech.RealtimeEvent{Kind: speech.RealtimeSpeechEnded, Item: "u"})
				advanceTime(time.Second)
			})
			for _, message := range messages {
				_, fault := message.(conversation.Fault)
				assert.False(t, fault, "%v", message)
			}
		})
	}
}

func TestLateRealtimeSpeechStartRequiresEnd(t *testing.T) {
	t.Parallel()
	l := &realtimeRuntime{instead: true, fakeRuntime: fakeRuntime{answers: []plannedResponse{{say: []string{"Again then."}}}}}
	runRealtime(t, l, func(s *fixture) {
		s.send(conversation.MediaEvent{Event: media.SpeechBegan{}})
		advanceTime(time.Second)
		s.send(conversation.MediaEvent{Event: media.SpeechEnded{Silence: vad.EndSilence}})
		advanceTime(time.Second)
		l.emit(speech.RealtimeEvent{Kind: speech.RealtimeSpeechStarted, Item: "u"})
		advanceTime(12 * time.Second)
		assert.Contains(t, l.actions(), "close")
	})
}

func TestRealtimeEngineGetsNoSecretAudio(t *testing.T) {
	t.Parallel()
	l := &realtimeRuntime{}
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		script := converseScript()
		script.Realtime = &domain.AgentRealtime{Engine: "voice"}
		script.Pathway.Nodes[0] = domain.Node{ID: "hello", Type: domain.NodeCollect, Prompt: "Card", Length: 4, Sensitive: true}
		s := openWithRuntime(t, sys, script, nil, l)
		s.send(conversation.StartConversation{})
		sounds := func(b byte, d time.Duration) {
			for ; d > 0; d -= 20 * time.Millisecond {
				s.ear.Frame(bytes.Repeat([]byte{b}, 160))
				time.Sleep(20 * time.Millisecond)
			}
		}
		sounds(1, 1500*time.Millisecond)
		s.pressKeys("4711")
		require.Len(t, l.sessions(), 1)
		sounds(1, 300*time.Millisecond) // the last key is still pressed
		sounds(2, time.Second)
		l.mu.Lock()
		assert.NotContains(t, string(l.heard), "\x01")
		assert.Contains(t, string(l.heard), "\x02")
		l.mu.Unlock()
		s.close()
	})
}

func TestOptOutIsRecognizedDuringAudioOnlyRealtime(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		does func(s *fixture)
		want []conversation.OptOutRequested
	}{
		"says it":                               {func(s *fixture) { s.callerSays("please stop calling me", 0.9, time.Second) }, []conversation.OptOutRequested{{Channel: "speech", Keyword: "stop"}}},
		"says otherwise":                        {func(s *fixture) { s.callerSays("who is this", 0.9, time.Second) }, nil},
		"seems to say it":                       {func(s *fixture) { s.callerSays("stop", 0.5, time.Second) }, nil},
		"says it, phrase recognizer":            {func(s *fixture) { s.recognizer.phrases = true; s.callerSays("stop", 0.9, time.Second) }, nil},
		"presses it":                            {func(s *fixture) { s.pressKeys("9") }, []conversation.OptOutRequested{{Channel: "dtmf", Keyword: "9"}}},
		"says it while the bot hangs up":        {func(s *fixture) { optOutWhileSessionEnds(s, speech.RealtimeEnded) }, []conversation.OptOutRequested{{Channel: "speech", Keyword: "stop"}}},
		"says it while the bot's socket breaks": {func(s *fixture) { optOutWhileSessionEnds(s, speech.RealtimeFailed) }, []conversation.OptOutRequested{{Channel: "speech", Keyword: "stop"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := &realtimeRuntime{alone: true}
			messages := runRealtime(t, l, func(s *fixture) {
				l.emit(speech.RealtimeEvent{Kind: speech.RealtimeIdle})
				c.does(s)
				s.ear.Frame([]byte{7, 7})
				l.mu.Lock()
				if !bytes.Contains(l.heard, []byte{7, 7}) {
					assert.Contains(t, l.recorded, "close", "the engine stays connected")
				}
				l.mu.Unlock()
				advanceTime(time.Second)
			})
			assert.Equal(t, c.want, optOuts(messages))
			assert.NotContains(t, segmentTexts(finalSegments(t, messages)), "who is this", "speech to the engine is not transcribed")
		})
	}
}

// optOutWhileSessionEnds makes the caller say "stop" while the realtime session ends.
func optOutWhileSessionEnds(s *fixture, how speech.RealtimeEventKind) {
	l, ok := s.runtime.(*realtimeRuntime)
	if !ok {
		return
	}
	s.recognizer.mu.Lock()
	s.recognizer.next = speech.RecognitionResult{Text: "stop", Confidence: 0.9}
	s.recognizer.mu.Unlock()
	s.send(conversation.MediaEvent{Event: media.SpeechBegan{}})
	time.Sleep(time.Second)
	l.emit(speech.RealtimeEvent{Kind: how, Err: speech.ErrAudioStalled})
	synctest.Wait()
	s.send(conversation.MediaEvent{Event: media.SpeechEnded{Silence: vad.EndSilence}})
	advanceTime(200 * time.Millisecond)
}
