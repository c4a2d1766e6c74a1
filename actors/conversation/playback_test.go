package conversation

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/speech"
)

// silentPlayer is a Player that plays nothing.
type silentPlayer struct{ clock *mediaClock }

func (s *silentPlayer) Play(uint64, media.Clip)      {}
func (s *silentPlayer) PlayFeed(uint64, *media.Feed) {}
func (s *silentPlayer) StopPlaying()                 {}
func (s *silentPlayer) PausePlaying()                {}
func (s *silentPlayer) ContinuePlaying()             {}
func (s *silentPlayer) RejectSpeech()                {}
func (s *silentPlayer) SendDigits(uint64, string)    {}
func (s *silentPlayer) Position() time.Duration      { return s.clock.now }

func TestPlaybackEndsPausedPromptAtItsPause(t *testing.T) {
	t.Parallel()
	clock := new(mediaClock)
	tr := newTranscript(clock.position, nil)
	p := newPlayback(&silentPlayer{clock}, &tr)
	assert.True(t, p.isIdle())
	p.prompt = pathway.Say{Text: "Hello", Shown: "Hello"}
	p.request()
	p.play(speech.Utterance{Clip: media.Clip{1}})
	assert.True(t, p.isPlaying())
	clock.now = time.Second
	p.pause()
	clock.now = 5 * time.Second
	p.stop()
	assert.False(t, p.isPlaying())
	assert.Equal(t, int64(1000), tr.segments[0].EndMs)
	assert.True(t, tr.segments[0].Interrupted)
}

func TestPlaybackCancelsSynthesisOfSupersededPrompt(t *testing.T) {
	t.Parallel()
	clock := new(mediaClock)
	tr := newTranscript(clock.position, nil)
	p := newPlayback(&silentPlayer{clock}, &tr)
	ended := 0
	p.request()
	p.stopSynthesis = func() { ended++ }
	p.request()
	p.play(speech.Utterance{Clip: media.Clip{1}, Stop: func() { ended += 10 }})
	assert.Equal(t, 1, ended)
	p.interruptOutOfBand()
	assert.Equal(t, 11, ended)
}

func TestOutOfBandPromptsPrecedePathway(t *testing.T) {
	t.Parallel()
	var q outOfBandQueue
	for range maxOutOfBand {
		assert.True(t, q.add("first"))
	}
	assert.False(t, q.add("too many"))
	q.texts = []string{"first", "second"}
	text, ok := q.next(pathway.PromptDone{})
	assert.True(t, ok)
	assert.Equal(t, "first", text)
	then := q.done(pathway.PromptDone{})
	assert.Equal(t, pathway.PromptDone{}, then, "what the pathway was to get")
	assert.Equal(t, pathway.Timeout{}, q.done(pathway.Timeout{}), "a prompt of the pathway")
	_, _ = q.next(nil)
	assert.Nil(t, q.done(pathway.PromptDone{}), "the pathway waits for nothing")
	_, ok = q.next(nil)
	assert.False(t, ok)
}
