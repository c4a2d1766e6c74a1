package conversation_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/conversation"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/speech"
	"github.com/callboard/callboard/media/vad"
)

// finishedAndOptedOut counts the FinishReply messages and reports whether an OptOutRequested message was sent.
func finishedAndOptedOut(s *fixture) (finished int, optedOut bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.messages {
		switch m.(type) {
		case conversation.FinishReply:
			finished++
		case conversation.OptOutRequested:
			optedOut = true
		}
	}
	return finished, optedOut
}

func TestLateRealtimeTranscriptWithOptOutCounts(t *testing.T) {
	t.Parallel()
	leaves := map[string]func(s *fixture){
		"the caller hangs up": func(s *fixture) { s.send(conversation.FinishConversation{}) },
		"a key leads on":      func(s *fixture) { s.pressKeys("0") },
		"the agent is paused": func(s *fixture) { s.send(conversation.PauseAgent{}) },
	}
	for name, leave := range leaves {
		for _, stopped := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				l := &realtimeRuntime{}
				script := converseScript()
				script.Pathway.Edges = append(script.Pathway.Edges, edge("talk", "bye", domain.EdgeDTMF, "0"))
				messages := runRealtimeScript(t, l, script, func(s *fixture) {
					l.emit(speech.RealtimeEvent{Kind: speech.RealtimeSpeechStarted, Item: "u1"})
					advanceTime(time.Second)
					if stopped {
						l.emit(speech.RealtimeEvent{Kind: speech.RealtimeSpeechEnded, Item: "u1"})
						advanceTime(100 * time.Millisecond)
					}
					leave(s)
					advanceTime(300 * time.Millisecond)
					assert.NotContains(t, l.actions(), "close", "it still owes the words")
					finished, _ := finishedAndOptedOut(s)
					assert.Zero(t, finished)
					l.mu.Lock()
					assert.Equal(t, !stopped, len(l.heard) == 8000, "it finds the end of what was cut off by a silence")
					l.mu.Unlock()
					l.emit(speech.RealtimeEvent{Kind: speech.RealtimeCallerTranscript, Item: "another", Text: "stop"})
					advanceTime(0)
					_, optedOut := finishedAndOptedOut(s)
					assert.False(t, optedOut)
					l.emit(speech.RealtimeEvent{Kind: speech.RealtimeCallerTranscript, Item: "u1", Text: "please stop that"})
					advanceTime(0)
					_, optedOut = finishedAndOptedOut(s)
					assert.True(t, optedOut)
					assert.Contains(t, l.actions(), "close")
				})
				assert.Contains(t, messages, any(conversation.OptOutRequested{Channel: "speech", Keyword: "stop"}))
				assert.Contains(t, segmentTexts(finalSegments(t, messages)), "please stop that")
				ends := 0
				for _, m := range messages {
					if _, ok := m.(conversation.FinishReply); ok {
						ends++
					}
				}
				assert.Equal(t, 1+map[bool]int{true: 1}[name == "the caller hangs up"], ends, "one for each Finish")
			})
		}
	}
}

func TestWaitForLateTranscriptIsLimited(t *testing.T) {
	t.Parallel()
	for name, tell := range map[string]func(l *realtimeRuntime){
		"nothing comes": func(*realtimeRuntime) {},
		"the engine is gone": func(l *realtimeRuntime) {
			l.emit(speech.RealtimeEvent{Kind: speech.RealtimeFailed, Err: speech.ErrAudioStalled})
		},
		"empty transcript": func(l *realtimeRuntime) {
			l.emit(speech.RealtimeEvent{Kind: speech.RealtimeCallerTranscript, Item: "u1"})
		},
		"an unrelated event": func(l *realtimeRuntime) {
			l.emit(speech.RealtimeEvent{Kind: speech.RealtimeResponseDone, Calls: []speech.RealtimeToolCall{ordersCall}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := &realtimeRuntime{}
			runRealtime(t, l, func(s *fixture) {
				l.emit(speech.RealtimeEvent{Kind: speech.RealtimeSpeechStarted, Item: "u1"})
				advanceTime(time.Second)
				s.send(conversation.FinishConversation{})
				tell(l)
				advanceTime(0)
				if finished, _ := finishedAndOptedOut(s); name == "the engine is gone" || name == "empty transcript" {
					assert.Equal(t, 1, finished, "at once")
				}
				advanceTime(900 * time.Millisecond)
				assert.Equal(t, []string{"close"}, l.actions())
				finished, _ := finishedAndOptedOut(s)
				assert.Equal(t, 1, finished)
			})
			assert.Empty(t, l.toolCalls, "nothing is done any more")
		})
	}
}

func TestNoWaitWithoutPendingTranscript(t *testing.T) {
	t.Parallel()
	for name, then := range map[string]func(l *realtimeRuntime){
		"the words are there": func(l *realtimeRuntime) { l.engineHears("Where is my order?") },
		"it writes none down": func(l *realtimeRuntime) {
			l.emit(speech.RealtimeEvent{Kind: speech.RealtimeSpeechStarted, Item: "u1"})
			advanceTime(time.Second)
			l.emit(speech.RealtimeEvent{Kind: speech.RealtimeSpeechEnded, Item: "u1"})
			advanceTime(6 * time.Second)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := &realtimeRuntime{}
			runRealtime(t, l, func(s *fixture) {
				then(l)
				s.send(conversation.FinishConversation{})
				finished, _ := finishedAndOptedOut(s)
				assert.Equal(t, 1, finished)
				assert.Equal(t, []string{"close"}, l.actions())
			})
		})
	}
}

func TestRealtimeEngineMissingEndOfSpeechIsReplaced(t *testing.T) {
	t.Parallel()
	l := &realtimeRuntime{instead: true, fakeRuntime: fakeRuntime{answers: []plannedResponse{{say: []string{"Here I am."}}}}}
	messages := runRealtime(t, l, func(s *fixture) {
		s.send(conversation.MediaEvent{Event: media.SpeechBegan{}})
		advanceTime(time.Second)
		s.send(conversation.MediaEvent{Event: media.SpeechEnded{Silence: vad.EndSilence}})
		advanceTime(time.Second)
		l.emit(speech.RealtimeEvent{Kind: speech.RealtimeSpeechStarted, Item: "u1"})
		advanceTime(9 * time.Second)
		assert.NotContains(t, l.actions(), "close")
		advanceTime(3 * time.Second)
		assert.Contains(t, l.actions(), "close")
	})
	assert.Contains(t, segmentTexts(finalSegments(t, messages)), "Here I am.")
}

func TestToolResultReachesRealtimeSessionOpenedLater(t *testing.T) {
	t.Parallel()
	l := &realtimeRuntime{}
	script := converseScript()
	script.Pathway.Nodes[1].MaxTurns = 1
	script.Pathway.Edges = append(script.Pathway.Edges, edge("talk", "talk", domain.EdgeFailure, ""))
	runRealtimeScript(t, l, script, func(*fixture) {
		l.engineHears("Where is my order?")
		l.emit(speech.RealtimeEvent{Kind: speech.RealtimeResponseDone, Calls: []speech.RealtimeToolCall{ordersCall}})
		advanceTime(time.Second)
		l.mu.Lock()
		l.openWhenClosed = make(chan struct{})
		l.mu.Unlock()
		l.emit(speech.RealtimeEvent{Kind: speech.RealtimeResponseDone}) // one answer more than the node allows
		advanceTime(time.Second)
		require.Len(t, l.sessions(), 2)
		advanceTime(3 * time.Second)
		assert.NotContains(t, l.actions(), `result c1 {"at":"Berlin"}`)
		close(l.openWhenClosed)
		advanceTime(time.Second)
		assert.Contains(t, l.actions(), `result c1 {"at":"Berlin"}`)
	})
}
