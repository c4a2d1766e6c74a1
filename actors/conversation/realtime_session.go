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

// realtimeOpening is a session that is open or being opened. close closes it now or as soon as it opens; the actor
// may have stopped by then.
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

// realtimeSession is the session of the realtime engine that has the caller. The zero value means none.
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

// isPlaying reports whether an answer plays.
func (r *realtimeSession) isPlaying() bool { return r.playing.Kind != 0 }

// isIdle reports whether neither the engine nor the caller speaks.
func (r *realtimeSession) isIdle() bool {
	return r.round != 0 && !r.busy && !r.callerSpeaks && !r.isPlaying() && len(r.waiting) == 0
}

// isAudioOnly reports whether the engine hears the caller without reporting turns or text.
func (r *realtimeSession) isAudioOnly() bool { return r.open && r.connection.AudioOnly }

// addEarly keeps an event that arrived before the session is open.
func (r *realtimeSession) addEarly(e speech.RealtimeEvent) {
	if len(r.early) < realtimeQueue {
		r.early = append(r.early, e)
	}
}

// setOpen passes waiting tool results to the engine and returns the events that arrived before.
func (r *realtimeSession) setOpen() (early []speech.RealtimeEvent) {
	r.open = true
	for _, d := range r.results {
		r.connection.SendToolResult(d.ID, d.Text)
	}
	early, r.early, r.results = r.early, nil, nil
	return early
}

// addResult passes a tool result to the engine, or keeps it until the session is open. A later session has it in
// its history.
func (r *realtimeSession) addResult(d pathway.SendToolResult) {
	switch {
	case r.open:
		r.connection.SendToolResult(d.ID, d.Text)
	case r.round != 0 && len(r.results) < realtimeQueue:
		r.results = append(r.results, d)
	}
}

// requestAnswer requests an answer from the engine if it has the caller.
func (r *realtimeSession) requestAnswer(text string) {
	if r.open {
		r.busy = true
		r.connection.RequestResponse(text)
	}
}

// addAnswer queues an answer for playing.
func (r *realtimeSession) addAnswer(e speech.RealtimeEvent) {
	r.busy = true
	if len(r.waiting) < realtimeQueue {
		r.waiting = append(r.waiting, e)
	}
}

// dropWaiting drops the answers that were not played.
func (r *realtimeSession) dropWaiting() {
	for _, answer := range r.waiting {
		r.connection.ReportPlayed(answer.Item, 0)
	}
	r.busy, r.waiting = false, nil
}

// markStopped reports whether the answer that plays has to be stopped. It returns true once per answer.
func (r *realtimeSession) markStopped() bool {
	if !r.isPlaying() || r.stopped {
		return false
	}
	r.stopped = true
	return true
}

// playNext starts the next waiting answer and returns its text so far.
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

// played ends the answer that played and returns the part of its text that was heard.
func (r *realtimeSession) played(text string, heard time.Duration, interrupted bool) string {
	answer := r.playing
	r.playing = speech.RealtimeEvent{}
	if !interrupted {
		return text
	}
	r.connection.ReportPlayed(answer.Item, heard)
	return pathway.MarkInterrupted(heardText(text, heard, answer.Feed.Len()))
}

// callerBegan adds a segment for the caller's speech that has begun.
func (r *realtimeSession) callerBegan(t *transcript, item string) {
	r.callerSpeaks = true
	if len(r.items) < realtimeItems {
		r.items[item], r.lastCallerItem = r.addCaller(t, pathway.NotUnderstood), item
	}
}

// addCaller appends a segment of the caller, which began before the speech was detected.
func (*realtimeSession) addCaller(t *transcript, text string) int {
	i := t.add(caller, text)
	t.segments[i].StartMs = max(t.segments[i].StartMs-speechOnset.Milliseconds(), 0)
	return i
}

// callerEnded records the end of the caller's speech.
func (r *realtimeSession) callerEnded(t *transcript, item string) {
	r.callerSpeaks, r.busy = false, true
	if i, ok := r.items[item]; ok {
		t.segments[i].EndMs = t.position().Milliseconds()
	}
}

// callerText records what the caller said.
func (r *realtimeSession) callerText(t *transcript, e speech.RealtimeEvent) {
	if i, ok := r.items[e.Item]; ok {
		t.segments[i].Text, t.segments[i].Confidence = e.Text, realtimeConfidence
	} else if len(r.items) < realtimeItems {
		r.items[e.Item] = t.add(caller, e.Text)
	}
}

// answerText records what the engine says, or keeps the text until the answer plays.
func (r *realtimeSession) answerText(t *transcript, e speech.RealtimeEvent) {
	if i, ok := r.items[e.Item]; ok {
		t.segments[i].Text = e.Text
	} else if len(r.texts) < realtimeQueue {
		r.texts[e.Item] = e.Text
	}
}

// setCallerSpeaks records the caller's speech for an engine that reports no turns.
func (r *realtimeSession) setCallerSpeaks(t *transcript, speaks bool) {
	r.callerSpeaks = speaks
	switch {
	case speaks && r.voiceSegment == 0:
		r.voiceSegment = 1 + r.addCaller(t, onTheLine)
	case !speaks && r.voiceSegment > 0:
		t.segments[r.voiceSegment-1].EndMs = max(t.position()-hangover, 0).Milliseconds()
		r.voiceSegment = 0
	}
}

// toolCalls converts tool calls of the engine to calls with our tool IDs.
func (r *realtimeSession) toolCalls(calls []speech.RealtimeToolCall) pathway.RealtimeToolCalls {
	in := pathway.RealtimeToolCalls{Round: r.round}
	for _, w := range calls {
		in.Calls = append(in.Calls, pathway.ToolCall{ID: w.ID, Name: w.Name, Arguments: w.Arguments, Tool: r.connection.Tools[w.Name]})
	}
	return in
}

// stopEndTimer records that the engine has noticed the end of speech or does not need to.
func (r *realtimeSession) stopEndTimer() {
	if r.cancelEndTimer != nil {
		r.cancelEndTimer()
		r.cancelEndTimer = nil
	}
}

// awaitsWords reports whether the text of the caller's last words may still arrive, and for which item and segment.
func (r *realtimeSession) awaitsWords(t *transcript) (item string, segment int, ok bool) {
	segment, known := r.items[r.lastCallerItem]
	if !r.open || r.failed || r.connection.AudioOnly || !known {
		return "", 0, false
	}
	s := &t.segments[segment]
	ended := time.Duration(s.EndMs) * time.Millisecond
	return r.lastCallerItem, segment, s.Text == pathway.NotUnderstood && (r.callerSpeaks || t.position()-ended <= maxWordsDelay)
}

// heardText estimates the part of a text that was heard, from the played share of its samples.
func heardText(text string, heard time.Duration, samples int) string {
	if samples == 0 {
		return ""
	}
	n := int(int64(len(text)) * heard.Milliseconds() * 8 / int64(samples))
	if n >= len(text) {
		return text
	}
	return strings.TrimSpace(text[:strings.LastIndexByte(text[:n], ' ')+1])
}
