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
	"github.com/callboard/callboard/media/vad"
)

// realtimeRuntime is a fakeRuntime with a realtime engine that the test controls.
type realtimeRuntime struct {
	fakeRuntime
	instead        bool
	alone          bool
	opened         []pathway.StartRealtime
	onEvent        func(speech.RealtimeEvent)
	recorded       []string
	openWhenClosed chan struct{} // sessions open when it is closed; nil: at once
	heard          []byte        // audio of the caller
}

func (l *realtimeRuntime) record(format string, all ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.recorded = append(l.recorded, fmt.Sprintf(format, all...))
}

// actions returns the recorded calls of the engine's methods. The method sessions returns the requests that opened sessions.
func (l *realtimeRuntime) actions() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.recorded)
}

func (l *realtimeRuntime) sessions() []pathway.StartRealtime {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.opened)
}

// emit sends an event in the session that was opened last.
func (l *realtimeRuntime) emit(e speech.RealtimeEvent) {
	l.mu.Lock()
	onEvent := l.onEvent
	l.mu.Unlock()
	onEvent(e)
}

func (l *realtimeRuntime) OpenRealtime(_ context.Context, _ *domain.Script, _ string, d pathway.StartRealtime, onEvent func(speech.RealtimeEvent)) (conversation.RealtimeConnection, error) {
	l.mu.Lock()
	l.opened, l.onEvent = append(l.opened, d), onEvent
	l.mu.Unlock()
	if l.openWhenClosed != nil {
		<-l.openWhenClosed
	}
	return conversation.RealtimeConnection{RealtimeSession: &fakeRealtimeSession{runtime: l}, Engine: "voice", AudioOnly: l.alone, Tools: map[string]string{"orders": "tool_1"}}, nil
}

func (l *realtimeRuntime) CanReplaceRealtime(*domain.Script) bool { return l.instead }

// engineSays makes the realtime engine speak a text for the given time.
func (l *realtimeRuntime) engineSays(item, text string, lasts time.Duration, calls ...speech.RealtimeToolCall) {
	feed := new(media.Feed)
	feed.Write(fmt.Appendf(nil, "%-*s", int(lasts*8000/time.Second), text))
	feed.End()
	l.emit(speech.RealtimeEvent{Kind: speech.RealtimeAgentTranscript, Item: item, Text: text})
	l.emit(speech.RealtimeEvent{Kind: speech.RealtimeAudioStarted, Item: item, Feed: feed})
	l.emit(speech.RealtimeEvent{Kind: speech.RealtimeResponseDone, Calls: calls})
	synctest.Wait()
}

// engineHears makes the realtime engine report that the caller spoke these words.
func (l *realtimeRuntime) engineHears(text string) {
	const item = "u1"
	l.emit(speech.RealtimeEvent{Kind: speech.RealtimeSpeechStarted, Item: item})
	time.Sleep(time.Second)
	l.emit(speech.RealtimeEvent{Kind: speech.RealtimeSpeechEnded, Item: item})
	l.emit(speech.RealtimeEvent{Kind: speech.RealtimeCallerTranscript, Item: item, Text: text})
	synctest.Wait()
}

type fakeRealtimeSession struct{ runtime *realtimeRuntime }

func (t *fakeRealtimeSession) Write(mu []byte) {
	t.runtime.mu.Lock()
	defer t.runtime.mu.Unlock()
	t.runtime.heard = append(t.runtime.heard, mu...)
}
func (t *fakeRealtimeSession) End()                        {}
func (t *fakeRealtimeSession) Close()                      { t.runtime.record("close") }
func (t *fakeRealtimeSession) RequestResponse(text string) { t.runtime.record("answer %s", text) }
func (t *fakeRealtimeSession) SendToolResult(id, text string) {
	t.runtime.record("result %s %s", id, text)
}
func (t *fakeRealtimeSession) SendKey(key byte) { t.runtime.record("key %c", key) }
func (t *fakeRealtimeSession) ReportPlayed(item string, heard time.Duration) {
	t.runtime.record("cut %s %s", item, heard)
}

// runRealtime runs a conversation whose converse node uses a realtime engine.
func runRealtime(t *testing.T, l *realtimeRuntime, then func(s *fixture)) []any {
	t.Helper()
	return runRealtimeScript(t, l, converseScript(), then)
}

func runRealtimeScript(t *testing.T, l *realtimeRuntime, script domain.Script, then func(s *fixture)) []any {
	t.Helper()
	var messages []any
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		script.Realtime = &domain.AgentRealtime{Engine: "voice"}
		s := openWithRuntime(t, sys, script, nil, l)
		s.send(conversation.StartConversation{})
		time.Sleep(1200 * time.Millisecond) // the greeting
		synctest.Wait()
		l.emit(speech.RealtimeEvent{Kind: speech.RealtimeReady})
		synctest.Wait()
		then(s)
		messages = s.close()
	})
	return messages
}

func TestRealtimeTranscriptHasCallerAndAgent(t *testing.T) {
	t.Parallel()
	l := &realtimeRuntime{}
	messages := runRealtime(t, l, func(s *fixture) {
		assert.False(t, l.sessions()[0].Speak, "the caller was greeted")
		l.engineHears("Where is my order?")
		l.engineSays("a1", "It is on its way.", time.Second, speech.RealtimeToolCall{ID: "c1", Name: "orders", Arguments: "{}"})
		time.Sleep(4 * time.Second)
		synctest.Wait()
		assert.Equal(t, []string{`result c1 {"at":"Berlin"}`, "answer "}, l.actions())
		l.engineSays("a2", "In Berlin.", time.Second, speech.RealtimeToolCall{ID: "c2", Name: "end_call", Arguments: "{}"})
		assert.NotContains(t, l.actions(), "close", "the answer is still to be played")
		time.Sleep(1500 * time.Millisecond)
		synctest.Wait()
		assert.Equal(t, "close", l.actions()[len(l.actions())-1])
	})
	assert.Equal(t, []string{"Hello", "Where is my order?", "It is on its way.", "In Berlin."}, segmentTexts(finalSegments(t, messages)))
	assert.Equal(t, "tool_1", l.toolCalls[0].Target)
	assert.Contains(t, messages, any(conversation.PathwayEnded{Outcome: domain.OutcomeCompleted}))
}

func TestBargeInCutsRealtimeAnswer(t *testing.T) {
	t.Parallel()
	l := &realtimeRuntime{}
	messages := runRealtime(t, l, func(s *fixture) {
		l.engineSays("a1", "one two three four five six seven eight nine ten", 10*time.Second)
		time.Sleep(3 * time.Second)
		s.send(conversation.MediaEvent{Event: media.SpeechBegan{}}, conversation.MediaEvent{Event: media.SpeechEnded{Silence: vad.EndSilence}})
		assert.Equal(t, []string{"play H", "feed o", "pause", "continue"}, s.player.actions(), "our ears hush it, a cough goes by")
		time.Sleep(time.Second)
		l.engineHears("Stop, please.")
		assert.Contains(t, l.actions(), "cut a1 1s")
		l.engineSays("a2", "Fine.", time.Second)
		time.Sleep(2 * time.Second)
		s.send(conversation.SpeakText{Text: "Wait"})
		time.Sleep(2 * time.Second)
		l.emit(speech.RealtimeEvent{Kind: speech.RealtimeFailed, Err: speech.ErrAudioStalled})
		time.Sleep(4 * time.Second)
		synctest.Wait()
	})
	all := finalSegments(t, messages)
	assert.Equal(t, []string{"Hello", "one two three four five six seven eight nine ten", "Stop, please.", "Fine.", "Wait"}, segmentTexts(all)[:5])
	assert.True(t, all[1].Interrupted)
	assert.Contains(t, messages, any(conversation.Fault{Stage: "realtime", Code: "engine_stalled", Message: "the engine voice failed"}))
	assert.Equal(t, "Bye", all[len(all)-1].Text, "the edge for it is taken")
}

func TestUninterruptibleRealtimeAnswerContinues(t *testing.T) {
	t.Parallel()
	l, no := &realtimeRuntime{}, false
	script := converseScript()
	script.Turns = &domain.TurnTaking{Interruptible: &no}
	runRealtimeScript(t, l, script, func(s *fixture) {
		assert.False(t, l.sessions()[0].Interruptible)
		l.engineSays("a1", "one two three four five six", 6*time.Second)
		s.send(conversation.MediaEvent{Event: media.SpeechBegan{}})
		l.engineHears("Stop, please.")
		assert.Equal(t, []string{"play H", "feed o"}, s.player.actions())
		assert.Empty(t, l.actions())
	})
}

func TestModelTakesOverFromRealtimeWithHistory(t *testing.T) {
	t.Parallel()
	l := &realtimeRuntime{instead: true, fakeRuntime: fakeRuntime{answers: []plannedResponse{{say: []string{"Again then."}}}}}
	messages := runRealtime(t, l, func(*fixture) {
		l.engineHears("Where is my order?")
		l.engineSays("a1", "It is on its way to you.", 5*time.Second)
		time.Sleep(2 * time.Second)
		l.emit(speech.RealtimeEvent{Kind: speech.RealtimeFailed, Err: speech.ErrAudioStalled})
		time.Sleep(3 * time.Second)
		synctest.Wait()
	})
	history := l.requests[0].Step.History
	assert.Equal(t, []pathway.Message{{By: pathway.ByCaller, Text: "Where is my order?"}, {By: pathway.ByAgent, Text: "It is on —"}}, history[len(history)-2:])
	assert.Equal(t, []string{"Hello", "Where is my order?", "It is on its way to you.", "Again then."}, segmentTexts(finalSegments(t, messages)))
	assert.Contains(t, messages, any(conversation.Fault{Stage: "realtime", Code: "engine_stalled", Message: "the engine voice failed", Recovered: true}))
}

func TestResumeReconnectsRealtime(t *testing.T) {
	t.Parallel()
	l := &realtimeRuntime{}
	runRealtime(t, l, func(s *fixture) {
		l.engineSays("a1", "a long answer", 5*time.Second)
		s.send(conversation.PauseAgent{})
		assert.Equal(t, []string{"close"}, l.actions())
		l.engineSays("a1", "nobody hears this", time.Second)
		l.mu.Lock()
		before := l.onEvent
		l.mu.Unlock()
		s.send(conversation.ResumeAgent{})
		synctest.Wait()
		assert.Len(t, l.sessions(), 2)
		assert.Greater(t, l.sessions()[1].Round, l.sessions()[0].Round)
		before(speech.RealtimeEvent{Kind: speech.RealtimeAudioStarted, Item: "a2", Feed: new(media.Feed)})
		synctest.Wait()
		assert.Equal(t, []string{"play H", "feed a", "stop"}, s.player.actions())
	})
}

func TestAudioOnlyEngineTakesTurnsItself(t *testing.T) {
	t.Parallel()
	l := &realtimeRuntime{alone: true}
	messages := runRealtime(t, l, func(s *fixture) {
		sounds := func(item string) *media.Feed {
			feed := new(media.Feed)
			feed.Write(fmt.Appendf(nil, "%-80000s", item)) // 10 s
			l.emit(speech.RealtimeEvent{Kind: speech.RealtimeAudioStarted, Item: item, Feed: feed})
			synctest.Wait()
			return feed
		}
		one, two := sounds("1"), sounds("2")
		time.Sleep(2 * time.Second)
		s.send(conversation.MediaEvent{Event: media.SpeechBegan{}})
		assert.Equal(t, []string{"play H", "feed 1"}, s.player.actions(), "it is not hushed")
		s.send(conversation.MediaEvent{Event: media.Digit{Key: '7'}})
		one.End()
		two.End()
		l.emit(speech.RealtimeEvent{Kind: speech.RealtimeAudioCleared})
		synctest.Wait()
		assert.Equal(t, []string{"stop"}, s.player.actions()[2:], "it takes all of its words back")
		time.Sleep(20 * time.Second)
		s.send(conversation.MediaEvent{Event: media.SpeechEnded{Silence: vad.EndSilence}})
		assert.Equal(t, []string{"key 7", "cut 1 2s"}, l.actions(), "a speaking caller gets no silence prompt")
		time.Sleep(8 * time.Second)
		synctest.Wait()
		assert.Equal(t, "answer (The caller says nothing.)", l.actions()[2])
		l.emit(speech.RealtimeEvent{Kind: speech.RealtimeIdle})
		feed := sounds("3")
		feed.End()
		l.emit(speech.RealtimeEvent{Kind: speech.RealtimeEnded})
		synctest.Wait()
		assert.NotContains(t, l.actions(), "close", "the answer is still playing")
		time.Sleep(11 * time.Second)
		synctest.Wait()
		assert.Equal(t, "close", l.actions()[len(l.actions())-1])
	})
	all := finalSegments(t, messages)
	assert.Equal(t, []string{"Hello", "[on the line]", "[on the line]", "[pressed 7]", "[on the line]"}, segmentTexts(all))
	assert.True(t, all[1].Interrupted)
	assert.Equal(t, int64(20), (all[2].EndMs-all[2].StartMs+500)/1000, "as long as he spoke")
	assert.Contains(t, messages, any(conversation.PathwayEnded{Outcome: domain.OutcomeCompleted}))
}
