package conversation

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/media/speech"
)

// mediaClock is a media clock that the test sets.
type mediaClock struct{ now time.Duration }

func (m *mediaClock) position() time.Duration { return m.now }

func transcriptLines(segments []domain.Segment) (out []string) {
	for _, s := range segments {
		out = append(out, s.Text)
	}
	return out
}

func TestTranscriptMergesConsecutiveKeysOfOneSpeaker(t *testing.T) {
	t.Parallel()
	type press struct {
		at      time.Duration
		speaker string
		key     byte
		secret  bool
	}
	for name, c := range map[string]struct {
		keys []press
		want []string
	}{
		"close":            {[]press{{0, caller, '1', false}, {2999 * time.Millisecond, caller, '2', false}}, []string{"[pressed 12]"}},
		"apart":            {[]press{{0, caller, '1', false}, {keyMergeWindow, caller, '2', false}}, []string{"[pressed 1]", "[pressed 2]"}},
		"of two speakers":  {[]press{{0, caller, '1', false}, {0, human, '2', false}}, []string{"[pressed 1]", "[pressed 2]"}},
		"secret":           {[]press{{0, caller, '1', true}, {time.Second, caller, '2', true}}, []string{hidden}},
		"secret after not": {[]press{{0, caller, '1', false}, {0, caller, '2', true}}, []string{"[pressed 1]", hidden}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clock := new(mediaClock)
			tr := newTranscript(clock.position, nil)
			for _, k := range c.keys {
				clock.now = k.at
				tr.addKey(k.speaker, k.key, k.secret)
			}
			assert.Equal(t, c.want, transcriptLines(tr.segments))
		})
	}
}

func TestTranscriptBeginsNewSegmentAfterCompleteKeys(t *testing.T) {
	t.Parallel()
	tr := newTranscript(new(mediaClock).position, nil)
	tr.addKey(caller, '1', false)
	tr.keys.round = 1
	tr.completeKeys(keysComplete{round: 0, segments: 1})
	tr.addKey(caller, '2', false)
	tr.completeKeys(keysComplete{round: 1, segments: 1})
	tr.addKey(caller, '3', false)
	assert.Equal(t, []string{"[pressed 12]", "[pressed 3]"}, transcriptLines(tr.segments))
	keys, ok := tr.lastKeys()
	assert.True(t, ok)
	assert.Equal(t, "3", keys)
}

func TestTranscriptHidesSecretWords(t *testing.T) {
	t.Parallel()
	tr := newTranscript(new(mediaClock).position, nil)
	tr.addWords(speech.RecognitionResult{Text: "my pin is 1234", Confidence: 0.9}, -time.Second, time.Second, true)
	tr.addWords(speech.RecognitionResult{}, time.Second, 2*time.Second, false)
	assert.Equal(t, []domain.Segment{
		{Index: 0, Speaker: caller, Text: hidden, Confidence: 0.9, EndMs: 1000},
		{Index: 1, Speaker: caller, Text: pathway.NotUnderstood, StartMs: 1000, EndMs: 2000},
	}, tr.segments)
}

func TestTranscriptReturnsLastAgentText(t *testing.T) {
	t.Parallel()
	tr := newTranscript(new(mediaClock).position, nil)
	assert.False(t, tr.hasAgentSpoken())
	assert.Empty(t, tr.lastAgentText())
	tr.add(agent, "Hello")
	tr.add(caller, "Hi")
	assert.True(t, tr.hasAgentSpoken())
	assert.Equal(t, "Hello", tr.lastAgentText())
	tr.add(agent, "Your pin is "+hidden)
	assert.Empty(t, tr.lastAgentText(), "a hidden text cannot be said again")
}

func TestTranscriptRecordsHumanSpeech(t *testing.T) {
	t.Parallel()
	clock := &mediaClock{now: time.Second}
	tr := newTranscript(clock.position, nil)
	tr.setHuman(false)
	tr.setHuman(true)
	tr.setHuman(true)
	clock.now = 3 * time.Second
	tr.setHuman(false)
	assert.Equal(t, []domain.Segment{{Speaker: human, Text: onTheLine, StartMs: 1000, EndMs: 3000, Confidence: 1}}, tr.segments)
}

// recordingWatcher records the segments that it gets.
type recordingWatcher struct{ segments []domain.Segment }

func (w *recordingWatcher) SegmentChanged(s domain.Segment) { w.segments = append(w.segments, s) }

func TestTranscriptPublishesChangesOnce(t *testing.T) {
	t.Parallel()
	clock, w := new(mediaClock), new(recordingWatcher)
	tr := newTranscript(clock.position, nil)
	tr.add(agent, "Hello")
	tr.publish(w)
	tr.publish(w)
	assert.Len(t, w.segments, 1)
	clock.now = time.Second
	p := newPlayback(&silentPlayer{clock}, &tr)
	p.segment = 0
	p.end(true)
	tr.publish(w)
	assert.Equal(t, []domain.Segment{
		{Speaker: agent, Text: "Hello", Confidence: 1},
		{Speaker: agent, Text: "—", EndMs: 1000, Confidence: 1, Interrupted: true},
	}, w.segments)
}

func TestTranscriptPublishesRedactableKeysWhenComplete(t *testing.T) {
	t.Parallel()
	w := new(recordingWatcher)
	tr := newTranscript(new(mediaClock).position, domain.Redaction{Patterns: []string{`\d{9}`}}.Redactor())
	tr.addKey(caller, '1', false)
	tr.addKey(caller, '2', false)
	tr.publish(w)
	tr.closed = true
	tr.publish(w)
	assert.Equal(t, []string{moreKeys, "[pressed 12]"}, transcriptLines(w.segments))
}

func TestFinalTranscriptIsOrderedByStart(t *testing.T) {
	t.Parallel()
	at := 6600 * time.Millisecond
	tr := newTranscript(func() time.Duration { return at }, nil)
	tr.add(agent, "Are you there?")
	tr.addWords(speech.RecognitionResult{Text: "yes", Confidence: 0.9}, 6120*time.Millisecond, 6400*time.Millisecond, false)
	assert.Equal(t, []domain.Segment{
		{Index: 0, Speaker: caller, Text: "yes", Confidence: 0.9, StartMs: 6120, EndMs: 6400},
		{Index: 1, Speaker: agent, Text: "Are you there?", Confidence: 1, StartMs: 6600, EndMs: 6600},
	}, tr.byStart())
}
