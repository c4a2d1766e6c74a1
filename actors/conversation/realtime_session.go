package conversation

import (
	"strings"
	"sync"
	"time"

	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/media/speech"
)

const (
	realtimeQueue      = 32  // waiting answers, and events before the session is open
	realtimeConfidence = 0.9 // of words that the engine has transcribed
	realtimeItems      = 4 * maxTurnLatencies
	maxWordsDelay      = 5 * time.Second // maximum delay of the text of spoken words
)

// realtimeOpening is a session that is open or being opened. Its close method also closes a session that opens later, even
// if the actor has stopped by then.
type realtimeOpening struct {
	mu     sync.Mutex
	closed bool
	live   speech.RealtimeSession // nil: not open yet
}

func (o *realtimeOpening) setLive(t RealtimeConnection) {
	o.mu.Lock()
	o.live = t.RealtimeSession
	left := o.closed
	o.mu.Unlock()
	if left {
		t.Close()
	}
}

func (o *realtimeOpening) close() {
	o.mu.Lock()
	first := !o.closed
	o.closed = true
	session := o.live
	o.mu.Unlock()
	if first && session != nil {
		session.Close()
	}
}

// realtimeSession is the session of the realtime engine that talks to the caller. The zero value means that there is none.
type realtimeSession struct {
	round          int // of the pathway; 0: no engine has the caller
	opening        *realtimeOpening
	connection     RealtimeConnection
	open           bool
	failed         bool
	interruptible  bool // the caller's speech interrupts an answer
	early          []speech.RealtimeEvent
	results        []pathway.SendToolResult // tool results, for the engine once the session is open
	waiting        []speech.RealtimeEvent   // answers that do not play yet
	playing        speech.RealtimeEvent     // the answer that plays; Kind 0: none
	stopped        bool                     // the player was asked to stop it
	busy           bool                     // an answer is being generated or was requested
	callerSpeaks   bool
	items          map[string]int    // transcript segments by the engine's item IDs
	lastCallerItem string            // item of the caller's last words
	texts          map[string]string // texts of answers that do not play yet
	voiceSegment   int               // for AudioOnly engines: index+1 of the segment in which the caller speaks; 0: none
	silence        int               // number of the caller's silence, see cancelEndTimer
	cancelEndTimer func()            // timer of the silence that the engine has not noticed; nil: none
}

func newRealtimeSession(d pathway.StartRealtime) realtimeSession {
	return realtimeSession{
		round: d.Round, busy: d.Speak, interruptible: d.Interruptible, opening: new(realtimeOpening),
		items: make(map[string]int), texts: make(map[string]string),
	}
}

// isPlaying reports whether an answer of the engine is playing.
func (r *realtimeSession) isPlaying() bool { return r.playing.Kind != 0 }

// isIdle reports whether a session exists and neither the engine nor the caller speaks.
func (r *realtimeSession) isIdle() bool {
	return r.round != 0 && !r.busy && !r.callerSpeaks && !r.isPlaying() && len(r.waiting) == 0
}

// isAudioOnly reports whether the open session exchanges only audio: the engine reports neither turns nor text.
func (r *realtimeSession) isAudioOnly() bool { return r.open && r.connection.AudioOnly }

// addEarly keeps an event that arrives while the session is still being opened.
func (r *realtimeSession) addEarly(e speech.RealtimeEvent) {
	if len(r.early) < realtimeQueue {
		r.early = append(r.early, e)
	}
}

// setOpen marks the session as open and passes the waiting tool results to the engine. It returns the events that addEarly
// has kept.
func (r *realtimeSession) setOpen() (early []speech.RealtimeEvent) {
	r.open = true
	for _, d := range r.results {
		r.connection.SendToolResult(d.ID, d.Text)
	}
	early, r.early, r.results = r.early, nil, nil
	return early
}

// addResult passes a tool result to the engine, or keeps it until the session is open. If the session ends first, the next
// session gets the result in its history.
func (r *realtimeSession) addResult(d pathway.SendToolResult) {
	switch {
	case r.open:
		r.connection.SendToolResult(d.ID, d.Text)
	case r.round != 0 && len(r.results) < realtimeQueue:
		r.results = append(r.results, d)
	}
}

// requestAnswer requests an answer from the engine if its session is open.
func (r *realtimeSession) requestAnswer(text string) {
	if r.open {
		r.busy = true
		r.connection.RequestResponse(text)
	}
}

// addAnswer queues an answer of the engine for playing.
func (r *realtimeSession) addAnswer(e speech.RealtimeEvent) {
	r.busy = true
	if len(r.waiting) < realtimeQueue {
		r.waiting = append(r.waiting, e)
	}
}

// dropWaiting drops the answers that have not been played.
func (r *realtimeSession) dropWaiting() {
	for _, answer := range r.waiting {
		r.connection.ReportPlayed(answer.Item, 0)
	}
	r.busy, r.waiting = false, nil
}

// markStopped marks the playing answer as stopped. It returns false if no answer plays or it is already marked.
func (r *realtimeSession) markStopped() bool {
	if !r.isPlaying() || r.stopped {
		return false
	}
	r.stopped = true
	return true
}

// playNext makes the next waiting answer the playing one and returns the part of its text that has arrived.
func (r *realtimeSession) playNext() (text string, ok bool) {
	if len(r.waiting) == 0 || r.isPlaying() {
		return "", false
	}
	r.playing, r.waiting, r.stopped = r.waiting[0], r.waiting[1:], false
	text = r.texts[r.playing.Item]
	if r.connection.AudioOnly {
		text = onTheLine
	}
	delete(r.texts, r.playing.Item)
	return text, true
}

// played ends the playing answer and returns the part of its text that the caller heard.
func (r *realtimeSession) played(text string, heard time.Duration, interrupted bool) string {
	answer := r.playing
	r.playing = speech.RealtimeEvent{}
	if !interrupted {
		return text
	}
	r.connection.ReportPlayed(answer.Item, heard)
	return pathway.MarkInterrupted(heardText(text, heard, answer.Feed.Len()), text)
}

// callerBegan adds a transcript segment for the caller's speech that has just begun. The engine calls the speech item.
func (r *realtimeSession) callerBegan(t *transcript, item string) {
	r.callerSpeaks = true
	if len(r.items) < realtimeItems {
		r.items[item], r.lastCallerItem = r.addCaller(t, pathway.NotUnderstood), item
	}
}

// addCaller appends a transcript segment of the caller. Its start is corrected, because speech is detected with a delay.
func (*realtimeSession) addCaller(t *transcript, text string) int {
	i := t.add(caller, text)
	t.segments[i].StartMs = max(t.segments[i].StartMs-speechOnset.Milliseconds(), 0)
	return i
}

// callerEnded records in the transcript that the caller stopped speaking.
func (r *realtimeSession) callerEnded(t *transcript, item string) {
	r.callerSpeaks, r.busy = false, true
	if i, ok := r.items[item]; ok {
		t.segments[i].EndMs = t.position().Milliseconds()
	}
}

// callerText writes the caller's words, which the engine has transcribed, into the transcript.
func (r *realtimeSession) callerText(t *transcript, e speech.RealtimeEvent) {
	if i, ok := r.items[e.Item]; ok {
		t.segments[i].Text, t.segments[i].Confidence = e.Text, realtimeConfidence
	} else if len(r.items) < realtimeItems {
		r.items[e.Item] = t.add(caller, e.Text)
	}
}

// answerText writes the text of an answer into the transcript, or keeps it until the answer plays.
func (r *realtimeSession) answerText(t *transcript, e speech.RealtimeEvent) {
	if i, ok := r.items[e.Item]; ok {
		t.segments[i].Text = e.Text
	} else if len(r.texts) < realtimeQueue {
		r.texts[e.Item] = e.Text
	}
}

// setCallerSpeaks records when the caller speaks, for an engine that does not report turns. The caller has stopped to speak
// endSilence ago.
func (r *realtimeSession) setCallerSpeaks(t *transcript, speaks bool, endSilence time.Duration) {
	r.callerSpeaks = speaks
	switch {
	case speaks && r.voiceSegment == 0:
		r.voiceSegment = 1 + r.addCaller(t, onTheLine)
	case !speaks && r.voiceSegment > 0:
		t.segments[r.voiceSegment-1].EndMs = max(t.position()-endSilence, 0).Milliseconds()
		r.voiceSegment = 0
	}
}

// toolCalls converts the tool calls of the engine, which names a tool, into calls with tool IDs.
func (r *realtimeSession) toolCalls(calls []speech.RealtimeToolCall) pathway.RealtimeToolCalls {
	in := pathway.RealtimeToolCalls{Round: r.round}
	for _, w := range calls {
		in.Calls = append(in.Calls, pathway.ToolCall{ID: w.ID, Name: w.Name, Arguments: w.Arguments, Tool: r.connection.Tools[w.Name]})
	}
	return in
}

// stopEndTimer stops the timer in which the engine has to report the end of the caller's speech.
func (r *realtimeSession) stopEndTimer() {
	if r.cancelEndTimer != nil {
		r.cancelEndTimer()
		r.cancelEndTimer = nil
	}
}

// awaitsWords reports whether the engine may still send the text of the caller's last words. item and segment identify these
// words at the engine and in the transcript.
func (r *realtimeSession) awaitsWords(t *transcript) (item string, segment int, ok bool) {
	segment, known := r.items[r.lastCallerItem]
	if !r.open || r.failed || r.connection.AudioOnly || !known {
		return "", 0, false
	}
	s := &t.segments[segment]
	ended := time.Duration(s.EndMs) * time.Millisecond
	return r.lastCallerItem, segment, s.Text == pathway.NotUnderstood && (r.callerSpeaks || t.position()-ended <= maxWordsDelay)
}

// heardText estimates the part of a text that was heard, from the share of its audio samples that was played.
func heardText(text string, heard time.Duration, samples int) string {
	if samples == 0 {
		return ""
	}
	n := int(int64(len(text)) * heard.Milliseconds() * 8 / int64(samples))
	if n >= len(text) {
		return text
	}
	return strings.TrimSpace(text[:strings.LastIndexByte(text[:n+1], ' ')+1])
}
