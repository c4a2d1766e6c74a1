package conversation_test

import (
	"context"
	"fmt"
	"slices"
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
)

// living is a mind whose engine hears and speaks by itself, as the test says.
type living struct {
	mind
	instead bool
	alone   bool
	opened  []pathway.StartRealtime
	told    func(speech.RealtimeEvent)
	did     []string
	opens   chan struct{} // what is opened is there once it is closed; nil: at once
	heard   []byte        // of the caller
}

func (l *living) note(format string, all ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.did = append(l.did, fmt.Sprintf(format, all...))
}

// all are the things that were done, and begins how conversations were opened.
func (l *living) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.did)
}

func (l *living) begins() []pathway.StartRealtime {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.opened)
}

// tell tells as the engine that was opened last does.
func (l *living) tell(e speech.RealtimeEvent) {
	l.mu.Lock()
	told := l.told
	l.mu.Unlock()
	told(e)
}

func (l *living) OpenRealtime(_ context.Context, _ *domain.Script, _ string, d pathway.StartRealtime, told func(speech.RealtimeEvent)) (conversation.RealtimeConnection, error) {
	l.mu.Lock()
	l.opened, l.told = append(l.opened, d), told
	l.mu.Unlock()
	if l.opens != nil {
		<-l.opens
	}
	return conversation.RealtimeConnection{RealtimeSession: &livingTalk{of: l}, Engine: "voice", AudioOnly: l.alone, Tools: map[string]string{"orders": "tool_1"}}, nil
}

func (l *living) CanReplaceRealtime(*domain.Script) bool { return l.instead }

// says lets the engine speak for so long.
func (l *living) says(item, text string, lasts time.Duration, calls ...speech.RealtimeToolCall) {
	feed := new(media.Feed)
	feed.Write(fmt.Appendf(nil, "%-*s", int(lasts*8000/time.Second), text))
	feed.End()
	l.tell(speech.RealtimeEvent{Kind: speech.RealtimeAgentTranscript, Item: item, Text: text})
	l.tell(speech.RealtimeEvent{Kind: speech.RealtimeAudioStarted, Item: item, Feed: feed})
	l.tell(speech.RealtimeEvent{Kind: speech.RealtimeResponseDone, Calls: calls})
	synctest.Wait()
}

// hears lets it hear the caller's words.
func (l *living) hears(text string) {
	const item = "u1"
	l.tell(speech.RealtimeEvent{Kind: speech.RealtimeSpeechStarted, Item: item})
	time.Sleep(time.Second)
	l.tell(speech.RealtimeEvent{Kind: speech.RealtimeSpeechEnded, Item: item})
	l.tell(speech.RealtimeEvent{Kind: speech.RealtimeCallerTranscript, Item: item, Text: text})
	synctest.Wait()
}

type livingTalk struct{ of *living }

func (t *livingTalk) Write(mu []byte) {
	t.of.mu.Lock()
	defer t.of.mu.Unlock()
	t.of.heard = append(t.of.heard, mu...)
}
func (t *livingTalk) End()                   {}
func (t *livingTalk) Close()                 { t.of.note("close") }
func (t *livingTalk) Answer(text string)     { t.of.note("answer %s", text) }
func (t *livingTalk) Result(id, text string) { t.of.note("result %s %s", id, text) }
func (t *livingTalk) Key(key byte)           { t.of.note("key %c", key) }
func (t *livingTalk) Cut(item string, heard time.Duration) {
	t.of.note("cut %s %s", item, heard)
}

// lives opens a conversation whose converse node is an engine's.
func lives(t *testing.T, l *living, then func(s *stage)) []any {
	t.Helper()
	return livesBy(t, l, chatter(), then)
}

func livesBy(t *testing.T, l *living, script domain.Script, then func(s *stage)) []any {
	t.Helper()
	var heard []any
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		script.Realtime = &domain.AgentRealtime{Engine: "voice"}
		s := openWith(t, sys, script, nil, l)
		s.send(conversation.StartConversation{})
		time.Sleep(1200 * time.Millisecond) // the greeting
		synctest.Wait()
		l.tell(speech.RealtimeEvent{Kind: speech.RealtimeReady})
		synctest.Wait()
		then(s)
		heard = s.close()
	})
	return heard
}

func TestAnEngineHasTheCallerAndBothStandInTheTranscript(t *testing.T) {
	t.Parallel()
	l := &living{}
	heard := lives(t, l, func(s *stage) {
		assert.False(t, l.begins()[0].Speak, "the caller was greeted")
		l.hears("Where is my order?")
		l.says("a1", "It is on its way.", time.Second, speech.RealtimeToolCall{ID: "c1", Name: "orders", Arguments: "{}"})
		time.Sleep(4 * time.Second)
		synctest.Wait()
		assert.Equal(t, []string{`result c1 {"at":"Berlin"}`, "answer "}, l.all())
		l.says("a2", "In Berlin.", time.Second, speech.RealtimeToolCall{ID: "c2", Name: "end_call", Arguments: "{}"})
		assert.NotContains(t, l.all(), "close", "it is still to be heard")
		time.Sleep(1500 * time.Millisecond)
		synctest.Wait()
		assert.Equal(t, "close", l.all()[len(l.all())-1])
	})
	assert.Equal(t, []string{"Hello", "Where is my order?", "It is on its way.", "In Berlin."}, wordsOf(segments(t, heard)))
	assert.Equal(t, "tool_1", l.acted[0].Target)
	assert.Contains(t, heard, any(conversation.PathwayEnded{Outcome: domain.OutcomeCompleted}))
}

func TestWhoSpeaksOverTheEngineSilencesItAndItIsToldWhatWasHeard(t *testing.T) {
	t.Parallel()
	l := &living{}
	heard := lives(t, l, func(s *stage) {
		l.says("a1", "one two three four five six seven eight nine ten", 10*time.Second)
		time.Sleep(3 * time.Second)
		s.send(conversation.MediaEvent{Event: media.SpeechBegan{}}, conversation.MediaEvent{Event: media.SpeechEnded{}})
		assert.Equal(t, []string{"play H", "feed o", "pause", "continue"}, s.sound.done(), "our ears hush it, a cough goes by")
		time.Sleep(time.Second)
		l.hears("Stop, please.")
		assert.Contains(t, l.all(), "cut a1 1s")
		l.says("a2", "Fine.", time.Second)
		time.Sleep(2 * time.Second)
		s.send(conversation.SpeakText{Text: "Wait"})
		time.Sleep(2 * time.Second)
		l.tell(speech.RealtimeEvent{Kind: speech.RealtimeFailed, Err: speech.ErrAudioStalled})
		time.Sleep(4 * time.Second)
		synctest.Wait()
	})
	all := segments(t, heard)
	assert.Equal(t, []string{"Hello", "one two three four five six seven eight nine ten", "Stop, please.", "Fine.", "Wait"}, wordsOf(all)[:5])
	assert.True(t, all[1].Interrupted)
	assert.Contains(t, heard, any(conversation.Fault{Stage: "realtime", Code: "engine_stalled", Message: "the engine voice failed"}))
	assert.Equal(t, "Bye", all[len(all)-1].Text, "the edge for it is taken")
}

func TestNobodySpeaksOverAnAgentThatMayNotBeInterrupted(t *testing.T) {
	t.Parallel()
	l, no := &living{}, false
	script := chatter()
	script.Turns = &domain.TurnTaking{Interruptible: &no}
	livesBy(t, l, script, func(s *stage) {
		assert.False(t, l.begins()[0].Interruptible)
		l.says("a1", "one two three four five six", 6*time.Second)
		s.send(conversation.MediaEvent{Event: media.SpeechBegan{}})
		l.hears("Stop, please.")
		assert.Equal(t, []string{"play H", "feed o"}, s.sound.done())
		assert.Empty(t, l.all())
	})
}

func TestWhereTheEngineIsLostTheModelKnowsWhatWasSaid(t *testing.T) {
	t.Parallel()
	l := &living{instead: true, mind: mind{answers: []mindAnswer{{say: []string{"Again then."}}}}}
	heard := lives(t, l, func(*stage) {
		l.hears("Where is my order?")
		l.says("a1", "It is on its way to you.", 5*time.Second)
		time.Sleep(2 * time.Second)
		l.tell(speech.RealtimeEvent{Kind: speech.RealtimeFailed, Err: speech.ErrAudioStalled})
		time.Sleep(3 * time.Second)
		synctest.Wait()
	})
	history := l.asked[0].Step.History
	assert.Equal(t, []pathway.Message{{By: pathway.ByCaller, Text: "Where is my order?"}, {By: pathway.ByAgent, Text: "It is on —"}}, history[len(history)-2:])
	assert.Equal(t, []string{"Hello", "Where is my order?", "It is on its way to you.", "Again then."}, wordsOf(segments(t, heard)))
	assert.Contains(t, heard, any(conversation.Fault{Stage: "realtime", Code: "engine_stalled", Message: "the engine voice failed", Recovered: true}))
}

func TestWhoWasAwayComesBackToTheEngine(t *testing.T) {
	t.Parallel()
	l := &living{}
	lives(t, l, func(s *stage) {
		l.says("a1", "a long answer", 5*time.Second)
		s.send(conversation.PauseAgent{})
		assert.Equal(t, []string{"close"}, l.all())
		l.says("a1", "nobody hears this", time.Second)
		l.mu.Lock()
		before := l.told
		l.mu.Unlock()
		s.send(conversation.ResumeAgent{})
		synctest.Wait()
		assert.Len(t, l.begins(), 2)
		assert.Greater(t, l.begins()[1].Round, l.begins()[0].Round)
		before(speech.RealtimeEvent{Kind: speech.RealtimeAudioStarted, Item: "a2", Feed: new(media.Feed)})
		synctest.Wait()
		assert.Equal(t, []string{"play H", "feed a", "stop"}, s.sound.done())
	})
}

func TestAnEngineOfSomebodysOwnTakesTurnsByItself(t *testing.T) {
	t.Parallel()
	l := &living{alone: true}
	heard := lives(t, l, func(s *stage) {
		sounds := func(item string) *media.Feed {
			feed := new(media.Feed)
			feed.Write(fmt.Appendf(nil, "%-80000s", item)) // 10 s
			l.tell(speech.RealtimeEvent{Kind: speech.RealtimeAudioStarted, Item: item, Feed: feed})
			synctest.Wait()
			return feed
		}
		one, two := sounds("1"), sounds("2")
		time.Sleep(2 * time.Second)
		s.send(conversation.MediaEvent{Event: media.SpeechBegan{}})
		assert.Equal(t, []string{"play H", "feed 1"}, s.sound.done(), "it is not hushed")
		s.send(conversation.MediaEvent{Event: media.Digit{Key: '7'}})
		one.End()
		two.End()
		l.tell(speech.RealtimeEvent{Kind: speech.RealtimeAudioCleared})
		synctest.Wait()
		assert.Equal(t, []string{"stop"}, s.sound.done()[2:], "it takes all of its words back")
		time.Sleep(20 * time.Second)
		s.send(conversation.MediaEvent{Event: media.SpeechEnded{}})
		assert.Equal(t, []string{"key 7", "cut 1 2s"}, l.all(), "who speaks is not asked whether he is there")
		time.Sleep(8 * time.Second)
		synctest.Wait()
		assert.Equal(t, "answer (The caller says nothing.)", l.all()[2])
		l.tell(speech.RealtimeEvent{Kind: speech.RealtimeIdle})
		feed := sounds("3")
		feed.End()
		l.tell(speech.RealtimeEvent{Kind: speech.RealtimeEnded})
		synctest.Wait()
		assert.NotContains(t, l.all(), "close", "it is still heard")
		time.Sleep(11 * time.Second)
		synctest.Wait()
		assert.Equal(t, "close", l.all()[len(l.all())-1])
	})
	all := segments(t, heard)
	assert.Equal(t, []string{"Hello", "[on the line]", "[on the line]", "[pressed 7]", "[on the line]"}, wordsOf(all))
	assert.True(t, all[1].Interrupted)
	assert.Equal(t, int64(20), (all[2].EndMs-all[2].StartMs+500)/1000, "as long as he spoke")
	assert.Contains(t, heard, any(conversation.PathwayEnded{Outcome: domain.OutcomeCompleted}))
}
