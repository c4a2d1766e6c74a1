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
)

// over counts the ends that a conversation has told, and says whether a keyword
// was heard.
func over(s *stage) (finished int, optedOut bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.heard {
		switch m.(type) {
		case conversation.ConversationFinished:
			finished++
		case conversation.OptOutRequested:
			optedOut = true
		}
	}
	return finished, optedOut
}

func TestWordsThatAnEngineWritesDownLateCountWhereTheyAreThatNoMoreCallsAreWanted(t *testing.T) {
	t.Parallel()
	leaves := map[string]func(s *stage){
		"the caller hangs up":          func(s *stage) { s.send(conversation.FinishConversation{}) },
		"a key leads on":               func(s *stage) { s.press("0") },
		"somebody else has the caller": func(s *stage) { s.send(conversation.PauseAgent{}) },
	}
	for name, leave := range leaves {
		for _, stopped := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				l := &living{}
				script := chatter()
				script.Pathway.Edges = append(script.Pathway.Edges, to("talk", "bye", domain.EdgeDTMF, "0"))
				heard := livesBy(t, l, script, func(s *stage) {
					l.tell(speech.RealtimeEvent{Kind: speech.RealtimeSpeechStarted, Item: "u1"})
					pass(time.Second)
					if stopped {
						l.tell(speech.RealtimeEvent{Kind: speech.RealtimeSpeechEnded, Item: "u1"})
						pass(100 * time.Millisecond)
					}
					leave(s)
					pass(300 * time.Millisecond)
					assert.NotContains(t, l.all(), "close", "it still owes the words")
					finished, _ := over(s)
					assert.Zero(t, finished)
					l.mu.Lock()
					assert.Equal(t, !stopped, len(l.heard) == 8000, "it finds the end of what was cut off by a silence")
					l.mu.Unlock()
					l.tell(speech.RealtimeEvent{Kind: speech.RealtimeCallerTranscript, Item: "another", Text: "stop"})
					pass(0)
					_, optedOut := over(s)
					assert.False(t, optedOut)
					l.tell(speech.RealtimeEvent{Kind: speech.RealtimeCallerTranscript, Item: "u1", Text: "please stop that"})
					pass(0)
					_, optedOut = over(s)
					assert.True(t, optedOut)
					assert.Contains(t, l.all(), "close")
				})
				assert.Contains(t, heard, any(conversation.OptOutRequested{Channel: "speech", Keyword: "stop"}))
				assert.Contains(t, wordsOf(segments(t, heard)), "please stop that")
				ends := 0
				for _, m := range heard {
					if _, ok := m.(conversation.ConversationFinished); ok {
						ends++
					}
				}
				assert.Equal(t, 1+map[bool]int{true: 1}[name == "the caller hangs up"], ends, "one for each Finish")
			})
		}
	}
}

func TestWordsThatNeverComeAreNotWaitedForLong(t *testing.T) {
	t.Parallel()
	for name, tell := range map[string]func(l *living){
		"nothing comes": func(*living) {},
		"the engine is gone": func(l *living) {
			l.tell(speech.RealtimeEvent{Kind: speech.RealtimeFailed, Err: speech.ErrAudioStalled})
		},
		"they are none": func(l *living) { l.tell(speech.RealtimeEvent{Kind: speech.RealtimeCallerTranscript, Item: "u1"}) },
		"somebody else's say": func(l *living) {
			l.tell(speech.RealtimeEvent{Kind: speech.RealtimeResponseDone, Calls: []speech.RealtimeToolCall{orders}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := &living{}
			lives(t, l, func(s *stage) {
				l.tell(speech.RealtimeEvent{Kind: speech.RealtimeSpeechStarted, Item: "u1"})
				pass(time.Second)
				s.send(conversation.FinishConversation{})
				tell(l)
				pass(0)
				if finished, _ := over(s); name == "the engine is gone" || name == "they are none" {
					assert.Equal(t, 1, finished, "at once")
				}
				pass(900 * time.Millisecond)
				assert.Equal(t, []string{"close"}, l.all())
				finished, _ := over(s)
				assert.Equal(t, 1, finished)
			})
			assert.Empty(t, l.acted, "nothing is done any more")
		})
	}
}

func TestNothingIsWaitedForWhereNothingIsOwed(t *testing.T) {
	t.Parallel()
	for name, then := range map[string]func(l *living){
		"the words are there": func(l *living) { l.hears("Where is my order?") },
		"it writes none down": func(l *living) {
			l.tell(speech.RealtimeEvent{Kind: speech.RealtimeSpeechStarted, Item: "u1"})
			pass(time.Second)
			l.tell(speech.RealtimeEvent{Kind: speech.RealtimeSpeechEnded, Item: "u1"})
			pass(6 * time.Second)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := &living{}
			lives(t, l, func(s *stage) {
				then(l)
				s.send(conversation.FinishConversation{})
				finished, _ := over(s)
				assert.Equal(t, 1, finished)
				assert.Equal(t, []string{"close"}, l.all())
			})
		})
	}
}

func TestAnEngineThatNoticesTooLateThatTheCallerSpokeIsGivenUpWhereItNoticesNoEnd(t *testing.T) {
	t.Parallel()
	l := &living{instead: true, mind: mind{answers: []mindAnswer{{say: []string{"Here I am."}}}}}
	heard := lives(t, l, func(s *stage) {
		s.send(conversation.MediaEvent{Event: media.SpeechBegan{}})
		pass(time.Second)
		s.send(conversation.MediaEvent{Event: media.SpeechEnded{}})
		pass(time.Second)
		l.tell(speech.RealtimeEvent{Kind: speech.RealtimeSpeechStarted, Item: "u1"})
		pass(9 * time.Second)
		assert.NotContains(t, l.all(), "close")
		pass(3 * time.Second)
		assert.Contains(t, l.all(), "close")
	})
	assert.Contains(t, wordsOf(segments(t, heard)), "Here I am.")
}

func TestWhatCameOfAToolIsToldToAnEngineThatWasNotThereYet(t *testing.T) {
	t.Parallel()
	l := &living{}
	script := chatter()
	script.Pathway.Nodes[1].MaxTurns = 1
	script.Pathway.Edges = append(script.Pathway.Edges, to("talk", "talk", domain.EdgeFailure, ""))
	livesBy(t, l, script, func(*stage) {
		l.hears("Where is my order?")
		l.tell(speech.RealtimeEvent{Kind: speech.RealtimeResponseDone, Calls: []speech.RealtimeToolCall{orders}})
		pass(time.Second)
		l.mu.Lock()
		l.opens = make(chan struct{})
		l.mu.Unlock()
		l.tell(speech.RealtimeEvent{Kind: speech.RealtimeResponseDone}) // one answer more than the node has
		pass(time.Second)
		require.Len(t, l.begins(), 2)
		pass(3 * time.Second)
		assert.NotContains(t, l.all(), `result c1 {"at":"Berlin"}`)
		close(l.opens)
		pass(time.Second)
		assert.Contains(t, l.all(), `result c1 {"at":"Berlin"}`)
	})
}
