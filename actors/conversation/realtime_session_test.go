package conversation

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/speech"
)

// recordingEngine is a realtime engine that records which of its methods are called.
type recordingEngine struct{ calls []string }

func (e *recordingEngine) Write([]byte)                {}
func (e *recordingEngine) End()                        {}
func (e *recordingEngine) Close()                      { e.calls = append(e.calls, "close") }
func (e *recordingEngine) RequestResponse(text string) { e.calls = append(e.calls, "answer "+text) }
func (e *recordingEngine) SendToolResult(id, _ string) { e.calls = append(e.calls, "result "+id) }
func (e *recordingEngine) ReportPlayed(i string, _ time.Duration) {
	e.calls = append(e.calls, "cut "+i)
}
func (e *recordingEngine) SendKey(byte) {}

func newOpenSession(e *recordingEngine) realtimeSession {
	r := newRealtimeSession(pathway.StartRealtime{ModelRequest: pathway.ModelRequest{Round: 1}})
	r.connection = RealtimeConnection{RealtimeSession: e}
	return r
}

func TestClosedRealtimeOpeningClosesLateSession(t *testing.T) {
	t.Parallel()
	e, o := new(recordingEngine), new(realtimeOpening)
	o.close()
	o.setLive(RealtimeConnection{RealtimeSession: e})
	o.close()
	assert.Equal(t, []string{"close"}, e.calls)

	e, o = new(recordingEngine), new(realtimeOpening)
	o.setLive(RealtimeConnection{RealtimeSession: e})
	assert.Empty(t, e.calls)
	o.close()
	o.close()
	assert.Equal(t, []string{"close"}, e.calls)
}

func TestRealtimeSessionSendsToolResultsWhenOpen(t *testing.T) {
	t.Parallel()
	e := new(recordingEngine)
	r := newOpenSession(e)
	r.addResult(pathway.SendToolResult{ID: "a"})
	r.requestAnswer("too early")
	r.addEarly(speech.RealtimeEvent{Kind: speech.RealtimeReady})
	assert.Empty(t, e.calls)
	assert.Equal(t, []speech.RealtimeEvent{{Kind: speech.RealtimeReady}}, r.setOpen())
	r.addResult(pathway.SendToolResult{ID: "b"})
	r.requestAnswer("now")
	assert.Equal(t, []string{"result a", "result b", "answer now"}, e.calls)
}

func TestRealtimeAnswersPlayInOrder(t *testing.T) {
	t.Parallel()
	e := new(recordingEngine)
	r, tr := newOpenSession(e), newTranscript(new(mediaClock).position, nil)
	r.open = true
	assert.True(t, r.isIdle())
	feed := new(media.Feed)
	feed.Write(make([]byte, 8000))
	r.answerText(&tr, speech.RealtimeEvent{Item: "1", Text: "One two three four"})
	r.addAnswer(speech.RealtimeEvent{Kind: speech.RealtimeAudioStarted, Item: "1", Feed: feed})
	r.addAnswer(speech.RealtimeEvent{Kind: speech.RealtimeAudioStarted, Item: "2", Feed: feed})
	text, ok := r.playNext()
	assert.True(t, ok)
	assert.Equal(t, "One two three four", text)
	_, ok = r.playNext()
	assert.False(t, ok, "an answer is playing")
	r.dropWaiting()
	assert.True(t, r.markStopped())
	assert.False(t, r.markStopped(), "it was stopped")
	assert.Equal(t, pathway.MarkInterrupted("One two", text), r.played(text, 500*time.Millisecond, true))
	assert.Equal(t, []string{"cut 2", "cut 1"}, e.calls)
	assert.True(t, r.isIdle())
}

func TestRealtimeSessionAwaitsRecentWords(t *testing.T) {
	t.Parallel()
	clock := &mediaClock{now: time.Second}
	r, tr := newOpenSession(new(recordingEngine)), newTranscript(clock.position, nil)
	r.open = true
	_, _, owes := r.awaitsWords(&tr)
	assert.False(t, owes, "the caller has said nothing")
	r.callerBegan(&tr, "w")
	item, segment, owes := r.awaitsWords(&tr)
	assert.True(t, owes)
	assert.Equal(t, "w", item)
	assert.Equal(t, 0, segment)
	assert.Equal(t, int64(800), tr.segments[0].StartMs, "the caller began before that was noticed")
	clock.now = 2 * time.Second
	r.callerEnded(&tr, "w")
	clock.now += maxWordsDelay
	_, _, owes = r.awaitsWords(&tr)
	assert.True(t, owes)
	clock.now += time.Millisecond
	_, _, owes = r.awaitsWords(&tr)
	assert.False(t, owes, "they are lost")
	clock.now = 2 * time.Second
	r.callerText(&tr, speech.RealtimeEvent{Item: "w", Text: "Stop"})
	_, _, owes = r.awaitsWords(&tr)
	assert.False(t, owes, "they are there")
}

func TestHeardTextEndsWithAWholeWord(t *testing.T) {
	t.Parallel()
	for heard, want := range map[time.Duration]string{
		0: "", 300 * time.Millisecond: "One", 600 * time.Millisecond: "One two", 999 * time.Millisecond: "One two three", time.Second: "One two three four",
	} {
		assert.Equal(t, want, heardText("One two three four", heard, 8000), heard)
	}
	assert.Empty(t, heardText("One", time.Second, 0))
}
