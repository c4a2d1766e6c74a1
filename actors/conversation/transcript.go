package conversation

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/media/speech"
)

// Names of the speakers in a transcript.
const (
	agent  = "agent"
	caller = "caller"
	human  = "human"
)

// Texts of transcript segments that contain no spoken words.
const (
	hidden      = "[hidden]"
	onTheLine   = "[on the line]" // speech that is not transcribed
	pressedOpen = "[pressed "     // prefix of a segment with keys; the keys and "]" follow
	moreKeys    = pressedOpen + "…]"
)

// transcript is the record of everything that was said or pressed so far. Times are positions on the media clock.
type transcript struct {
	position  func() time.Duration // returns the position of the media clock
	redact    *domain.Redactor     // nil: no redaction
	segments  []domain.Segment
	published []domain.Segment // as the watcher has seen them
	human     int              // index of the segment in which a human speaks with the caller, or -1
	closed    bool             // the call has ended: no more keys
	keys      keySequence
}

// keySequence is a sequence of keys to which redaction patterns apply as one input.
type keySequence struct {
	round    int
	cancel   func() // stops the wait for the next key; nil: none
	complete int    // number of segments that get no more keys
}

// keysComplete is the timer message that no further key of a sequence has arrived in time.
type keysComplete struct{ round, segments int }

func (keysComplete) Control() {}

func newTranscript(position func() time.Duration, redact *domain.Redactor) transcript {
	return transcript{position: position, redact: redact, human: -1}
}

// add appends a segment that begins at the current media position and returns its index.
func (t *transcript) add(speaker, text string) int {
	at := t.position().Milliseconds()
	t.segments = append(t.segments, domain.Segment{
		Index: len(t.segments), Speaker: speaker, Text: text, StartMs: at, EndMs: at, Confidence: 1,
	})
	return len(t.segments) - 1
}

// addWords appends the caller's words, spoken from began to ended. If secret is set, the words are replaced by a
// placeholder.
func (t *transcript) addWords(h speech.RecognitionResult, began, ended time.Duration, secret bool) {
	s := domain.Segment{
		Index: len(t.segments), Speaker: caller, Text: h.Text, Confidence: h.Confidence,
		StartMs: max(began, 0).Milliseconds(), EndMs: max(ended, 0).Milliseconds(),
	}
	switch {
	case secret:
		s.Text = hidden
	case h.Text == "":
		s.Text = pathway.NotUnderstood
	}
	t.segments = append(t.segments, s)
}

// addKey records a key pressed by the caller or by the human in the call. Consecutive keys form one segment. A secret key is
// recorded only as a placeholder.
func (t *transcript) addKey(speaker string, key byte, secret bool) {
	now := t.position().Milliseconds()
	if n := len(t.segments); n > 0 {
		last := &t.segments[n-1]
		near := last.Speaker == speaker && n > t.keys.complete && now-last.EndMs < keyMergeWindow.Milliseconds()
		switch {
		case near && secret && last.Text == hidden:
			last.EndMs = now
			return
		case near && !secret && strings.HasPrefix(last.Text, pressedOpen):
			last.Text = strings.TrimSuffix(last.Text, "]") + string(key) + "]"
			last.EndMs = now
			return
		}
	}
	if secret {
		t.add(speaker, hidden)
		return
	}
	t.add(speaker, pressedOpen+string(key)+"]")
}

// lastKeys returns the keys in the last segment. It returns false if the last segment has no keys of the caller.
func (t *transcript) lastKeys() (keys string, ok bool) {
	n := len(t.segments)
	if n == 0 || t.segments[n-1].Speaker != caller {
		return "", false
	}
	keys, ok = strings.CutPrefix(t.segments[n-1].Text, pressedOpen)
	return strings.TrimSuffix(keys, "]"), ok
}

// setHuman records the time span in which a human speaks with the caller during a transfer.
func (t *transcript) setHuman(present bool) {
	switch {
	case present && t.human < 0:
		t.human = t.add(human, onTheLine)
	case !present && t.human >= 0:
		t.segments[t.human].EndMs = t.position().Milliseconds()
		t.human = -1
	}
}

// hasAgentSpoken reports whether the agent has spoken.
func (t *transcript) hasAgentSpoken() bool {
	return slices.ContainsFunc(t.segments, func(s domain.Segment) bool { return s.Speaker == agent })
}

// lastAgentText returns the agent's last words. It returns "" if there are none or they contain hidden text.
func (t *transcript) lastAgentText() string {
	for i := len(t.segments) - 1; i >= 0; i-- {
		if s := &t.segments[i]; s.Speaker == agent {
			if strings.Contains(s.Text, hidden) {
				return ""
			}
			return s.Text
		}
	}
	return ""
}

// restore continues the transcript of another process. lastInterrupted says that the last segment was still being spoken.
func (t *transcript) restore(segments []domain.Segment, lastInterrupted bool) {
	t.segments = segments
	if n := len(segments); lastInterrupted && n > 0 {
		segments[n-1].Interrupted = true
	}
	t.keys.complete = len(segments)
}

// byStart returns the segments in the order of their start. Words of the caller are added when they are recognized, which
// may be after the agent has begun to answer.
func (t *transcript) byStart() []domain.Segment {
	segments := slices.Clone(t.segments)
	slices.SortStableFunc(segments, func(a, b domain.Segment) int { return cmp.Compare(a.StartMs, b.StartMs) })
	for i := range segments {
		segments[i].Index = i
	}
	return segments
}

// publish passes new and changed segments, redacted, to the watcher. Earlier segments can change, because a prompt may end
// after the key that interrupted it. Keys that redaction may hide are published once their sequence is complete.
func (t *transcript) publish(w TranscriptWatcher) {
	for i, s := range t.segments {
		incomplete := t.awaitsKeys(i)
		if incomplete {
			s.Text = moreKeys
		}
		if i == len(t.published) {
			t.published = append(t.published, s)
		} else if was := t.published[i]; was.Text == s.Text && was.EndMs == s.EndMs && was.Interrupted == s.Interrupted || incomplete {
			continue
		}
		t.published[i] = s
		s.Text = t.redact.RedactText(s.Text)
		w.SegmentChanged(s)
	}
}

// awaitsKeys reports whether further keys may be added to segment i and redaction has to see all keys together.
func (t *transcript) awaitsKeys(i int) bool {
	return t.redact != nil && !t.closed && i == len(t.segments)-1 && i >= t.keys.complete && strings.HasPrefix(t.segments[i].Text, pressedOpen)
}

// waitForKeys starts the timer for the next key of a sequence, if redaction has to see all keys together.
func (t *transcript) waitForKeys(ctx actor.Context) {
	t.stopWaitingForKeys()
	if n := len(t.segments); t.awaitsKeys(n - 1) {
		t.keys.round++
		t.keys.cancel = mailbox.SendAfter(ctx, keyMergeWindow, keysComplete{t.keys.round, n})
	}
}

func (t *transcript) stopWaitingForKeys() {
	if t.keys.cancel != nil {
		t.keys.cancel()
		t.keys.cancel = nil
	}
}

// completeKeys ends the current key sequence. The next key begins another segment.
func (t *transcript) completeKeys(m keysComplete) {
	if m.round == t.keys.round {
		t.keys.complete = m.segments
	}
}
