package conversation

import (
	"strings"
	"sync"
	"time"

	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/media/speech"
)

const (
	realtimeQueue      = 32  // answers that wait to be heard, and events before the session is open
	realtimeConfidence = 0.9 // of words that the engine has transcribed
	realtimeItems      = 4 * turnsMost
	wordsFresh         = 5 * time.Second // words that have not come so long after they were said never will
)

// realtimeOpening is a session of a realtime engine that is open or will be. leave closes it, now or as soon as it is there:
// the actor may have ended by then.
type realtimeOpening struct {
	mu   sync.Mutex
	left bool
	talk speech.RealtimeSession // nil: it is not open yet
}

func (o *realtimeOpening) opened(t RealtimeConnection) {
	o.mu.Lock()
	o.talk = t.RealtimeSession
	left := o.left
	o.mu.Unlock()
	if left {
		t.Close()
	}
}

func (o *realtimeOpening) leave() {
	o.mu.Lock()
	first := !o.left
	o.left = true
	talk := o.talk
	o.mu.Unlock()
	if first && talk != nil {
		talk.Close()
	}
}

// realtimeSession is the session of the realtime engine that has the caller, which hears and speaks by itself. The zero value
// is none.
type realtimeSession struct {
	round          int // of the pathway; 0: no engine has the caller
	opening        *realtimeOpening
	talk           RealtimeConnection
	open           bool
	failed         bool
	interruptible  bool // the caller's words interrupt an answer
	early          []speech.RealtimeEvent
	results        []pathway.Told         // of tools, for the engine once the session is open
	waiting        []speech.RealtimeEvent // answers that are not heard yet
	playing        speech.RealtimeEvent   // the answer that is heard; Kind 0: none
	stopped        bool                   // media were asked to stop it
	busy           bool                   // an answer is being made, or was requested
	callerSpeaks   bool
	items          map[string]int    // segments of the transcript by the engine's item ids
	lastCallerItem string            // that the caller spoke last
	texts          map[string]string // of answers that are not heard yet
	voiceSegment   int               // of an engine that is Alone: index+1 of the segment in which the caller speaks; 0: none
	silence        int               // number of the caller's silence, see cancelEndTimer
	cancelEndTimer func()            // of the silence that the engine has not noticed; nil: there is none
}

func newRealtimeSession(d pathway.Live) realtimeSession {
	return realtimeSession{
		round: d.Round, busy: d.Speak, interruptible: d.Interruptible, opening: new(realtimeOpening),
		items: make(map[string]int), texts: make(map[string]string),
	}
}

// isPlaying says whether an answer is heard.
func (r *realtimeSession) isPlaying() bool { return r.playing.Kind != 0 }

// isAtRest says whether neither the engine nor the caller says anything.
func (r *realtimeSession) isAtRest() bool {
	return r.round != 0 && !r.busy && !r.callerSpeaks && !r.isPlaying() && len(r.waiting) == 0
}

// hearsWithoutReporting says whether the engine hears the caller and reports nothing of it.
func (r *realtimeSession) hearsWithoutReporting() bool { return r.open && r.talk.AudioOnly }

// addEarly keeps an event of a session that is not open yet.
func (r *realtimeSession) addEarly(e speech.RealtimeEvent) {
	if len(r.early) < realtimeQueue {
		r.early = append(r.early, e)
	}
}

// setOpen hands the results of tools to the engine, and returns the events that have come before.
func (r *realtimeSession) setOpen() (early []speech.RealtimeEvent) {
	r.open = true
	for _, d := range r.results {
		r.talk.Result(d.ID, d.Text)
	}
	early, r.early, r.results = r.early, nil, nil
	return early
}

// addResult hands the result of a tool to the engine, once the session is open. A later session has it in its history.
func (r *realtimeSession) addResult(d pathway.Told) {
	switch {
	case r.open:
		r.talk.Result(d.ID, d.Text)
	case r.round != 0 && len(r.results) < realtimeQueue:
		r.results = append(r.results, d)
	}
}

// requestAnswer asks the engine for an answer if it has the caller.
func (r *realtimeSession) requestAnswer(text string) {
	if r.open {
		r.busy = true
		r.talk.Answer(text)
	}
}

// addAnswer queues an answer that can be heard.
func (r *realtimeSession) addAnswer(e speech.RealtimeEvent) {
	r.busy = true
	if len(r.waiting) < realtimeQueue {
		r.waiting = append(r.waiting, e)
	}
}

// cutWaiting drops the answers that nobody has heard.
func (r *realtimeSession) cutWaiting() {
	for _, answer := range r.waiting {
		r.talk.Cut(answer.Item, 0)
	}
	r.busy, r.waiting = false, nil
}

// markStopped says whether an answer is to be stopped; true once for each.
func (r *realtimeSession) markStopped() bool {
	if !r.isPlaying() || r.stopped {
		return false
	}
	r.stopped = true
	return true
}

// playNext takes the next answer that waits, with its text so far.
func (r *realtimeSession) playNext() (text string, ok bool) {
	if len(r.waiting) == 0 || r.isPlaying() {
		return "", false
	}
	r.playing, r.waiting, r.stopped = r.waiting[0], r.waiting[1:], false
	text = r.texts[r.playing.Item]
	if r.talk.AudioOnly {
		text = onTheLine
	}
	delete(r.texts, r.playing.Item)
	return text, true
}

// played ends the answer that was heard and returns its text as far as it was.
func (r *realtimeSession) played(text string, heard time.Duration, interrupted bool) string {
	answer := r.playing
	r.playing = speech.RealtimeEvent{}
	if !interrupted {
		return text
	}
	r.talk.Cut(answer.Item, heard)
	return pathway.CutShort(heardText(text, heard, answer.Feed.Len()))
}

// callerBegan writes down that the caller has begun to speak.
func (r *realtimeSession) callerBegan(t *transcript, item string) {
	r.callerSpeaks = true
	if len(r.items) < realtimeItems {
		r.items[item], r.lastCallerItem = r.addCaller(t, pathway.NotUnderstood), item
	}
}

// addCaller appends a segment of the caller, who began before that was noticed.
func (*realtimeSession) addCaller(t *transcript, text string) int {
	i := t.add(caller, text)
	t.segments[i].StartMs = max(t.segments[i].StartMs-noticed.Milliseconds(), 0)
	return i
}

// callerEnded writes down when the caller has ended.
func (r *realtimeSession) callerEnded(t *transcript, item string) {
	r.callerSpeaks, r.busy = false, true
	if i, ok := r.items[item]; ok {
		t.segments[i].EndMs = t.position().Milliseconds()
	}
}

// callerText writes down what the caller has said.
func (r *realtimeSession) callerText(t *transcript, e speech.RealtimeEvent) {
	if i, ok := r.items[e.Item]; ok {
		t.segments[i].Text, t.segments[i].Confidence = e.Text, realtimeConfidence
	} else if len(r.items) < realtimeItems {
		r.items[e.Item] = t.add(caller, e.Text)
	}
}

// answerText writes down what the engine says, or keeps it until the answer is heard.
func (r *realtimeSession) answerText(t *transcript, e speech.RealtimeEvent) {
	if i, ok := r.items[e.Item]; ok {
		t.segments[i].Text = e.Text
	} else if len(r.texts) < realtimeQueue {
		r.texts[e.Item] = e.Text
	}
}

// setCallerSpeaks writes down from when to when the caller speaks, for an engine that reports nothing of it.
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

// toolCalls are the calls of an engine with the ids of our tools.
func (r *realtimeSession) toolCalls(calls []speech.RealtimeToolCall) pathway.Wanted {
	in := pathway.Wanted{Round: r.round}
	for _, w := range calls {
		in.Calls = append(in.Calls, pathway.Called{ID: w.ID, Name: w.Name, Arguments: w.Arguments, Tool: r.talk.Tools[w.Name]})
	}
	return in
}

// stopEndTimer notes that the engine has noticed the end of the caller's words, or need not.
func (r *realtimeSession) stopEndTimer() {
	if r.cancelEndTimer != nil {
		r.cancelEndTimer()
		r.cancelEndTimer = nil
	}
}

// owesWords says whether the caller's last words may still come, in item and segment: they were said within wordsFresh.
func (r *realtimeSession) owesWords(t *transcript) (item string, segment int, ok bool) {
	segment, known := r.items[r.lastCallerItem]
	if !r.open || r.failed || r.talk.AudioOnly || !known {
		return "", 0, false
	}
	s := &t.segments[segment]
	ended := time.Duration(s.EndMs) * time.Millisecond
	return r.lastCallerItem, segment, s.Text == pathway.NotUnderstood && (r.callerSpeaks || t.position()-ended <= wordsFresh)
}

// heardText is about the part of a text that was heard of so many samples.
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
