package media_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/g711"
)

// listener is a Tap of one of the test's sessions with the audio that it has received.
type listener struct {
	tap   *media.Tap
	heard []byte
	ends  int
}

func listen(t *testing.T, s *media.Session, mode media.TapMode) *listener {
	t.Helper()
	l := &listener{}
	tap, err := s.Tap(mode, func(frame []byte) {
		if frame == nil {
			l.ends++
			return
		}
		assert.Len(t, frame, media.TapFrame)
		l.heard = append(l.heard, frame...)
	})
	require.NoError(t, err)
	l.tap = tap
	return l
}

func (l *listener) alike(sound media.Clip) float64 { return alike(g711.DecodeMu(l.heard), sound) }

// say passes audio to the listener's Speak frame by frame, and advances the time of the test's sessions.
func (l *listener) say(s *bridgeFixture, sound media.Clip) {
	for len(sound) > 0 {
		n := min(len(sound), 160)
		l.tap.Speak(sound[:n])
		sound = sound[n:]
		s.run(20 * time.Millisecond)
	}
	s.run(300 * time.Millisecond)
}

func TestListenerHearsBothSides(t *testing.T) {
	s := newBridgeFixture(t, media.PCMU, media.PCMA)
	media.Bridge(s.a, s.b)
	s.run(200 * time.Millisecond)
	l := listen(t, s.a, media.Listen)
	said, answered := chirp(500*time.Millisecond), reversedChirp(500*time.Millisecond)
	s.caller.Play(1, said)
	s.run(1200 * time.Millisecond)
	s.human.Play(1, answered)
	s.run(1400 * time.Millisecond)
	assert.GreaterOrEqual(t, l.alike(said), 0.95)
	assert.GreaterOrEqual(t, l.alike(answered), 0.95)
	l.say(s, chirp(200*time.Millisecond)) // must have no effect in mode Listen
	assert.Len(t, l.heard, (1200+1400+500)*8)
	before := len(l.heard)
	l.tap.Close()
	l.tap.Close()
	s.run(100 * time.Millisecond)
	assert.Len(t, l.heard, before)
	heard, _, _ := s.recording(s.caller)
	assert.Less(t, loudness(heard[2600*8:]), int16(20))
	assert.Zero(t, l.ends)
}

func TestWhisperReachesHumanButNotCaller(t *testing.T) {
	s := newBridgeFixture(t, media.PCMU, media.PCMU)
	media.Bridge(s.a, s.b)
	s.run(200 * time.Millisecond)
	whisperer, other := listen(t, s.a, media.Whisper), listen(t, s.a, media.Listen)
	advice, said := reversedChirp(500*time.Millisecond), chirp(500*time.Millisecond)
	whisperer.say(s, advice)
	s.caller.Play(1, said)
	s.run(1400 * time.Millisecond)
	assert.Less(t, whisperer.alike(advice), 0.3, "a listener does not hear itself")
	assert.GreaterOrEqual(t, other.alike(advice), 0.95, "other listeners hear it")
	assert.GreaterOrEqual(t, whisperer.alike(said), 0.95)
	_, right, _ := s.recording(s.a)
	assert.Zero(t, loudness(right), "the audio is not recorded")
	callerHeard, _, _ := s.recording(s.caller)
	assert.Zero(t, loudness(callerHeard))
	humanHeard, _, _ := s.recording(s.human)
	assert.GreaterOrEqual(t, alike(humanHeard, advice), 0.95)
	assert.GreaterOrEqual(t, alike(humanHeard, said), 0.95, "the caller is heard too")
}

func TestBargeReachesBothSidesAndIsRecorded(t *testing.T) {
	s := newBridgeFixture(t, media.PCMU, media.PCMU)
	media.Bridge(s.a, s.b)
	s.run(200 * time.Millisecond)
	l := listen(t, s.a, media.Barge)
	word, said, answered := reversedChirp(500*time.Millisecond), chirp(500*time.Millisecond), chirp(400*time.Millisecond)
	l.say(s, word)
	s.caller.Play(1, said)
	s.run(1400 * time.Millisecond)
	s.human.Play(1, answered)
	s.run(1400 * time.Millisecond)
	assert.Less(t, l.alike(word), 0.3, "a listener does not hear itself")
	assert.GreaterOrEqual(t, l.alike(said), 0.95)
	assert.GreaterOrEqual(t, l.alike(answered), 0.95)
	_, right, _ := s.recording(s.a)
	assert.GreaterOrEqual(t, alike(right, word), 0.95)
	for name, far := range map[string]*media.Session{"caller": s.caller, "human": s.human} {
		heard, _, _ := s.recording(far)
		assert.GreaterOrEqual(t, alike(heard, word), 0.95, name)
	}
}

func TestThreeListenersAreMixed(t *testing.T) {
	s := newBridgeFixture(t, media.PCMU, media.PCMU)
	media.Bridge(s.a, s.b)
	s.run(200 * time.Millisecond)
	boss, listening := listen(t, s.a, media.Barge), listen(t, s.a, media.Listen)
	one, two := chirp(500*time.Millisecond), reversedChirp(500*time.Millisecond)
	three := media.Clip(bytes.Repeat(reversedChirp(100*time.Millisecond), 5))
	s.caller.Play(1, one)
	s.human.Play(1, two)
	boss.say(s, three)
	s.run(400 * time.Millisecond)
	for name, sound := range map[string]media.Clip{"caller": one, "human": two, "supervisor": three} {
		assert.Greater(t, listening.alike(sound), 0.45, name)
	}
	callerHeard, _, _ := s.recording(s.caller)
	assert.Greater(t, alike(callerHeard, two), 0.6)
	assert.Greater(t, alike(callerHeard, three), 0.6)
	assert.Less(t, alike(callerHeard, one), 0.3)
}

func TestSensitiveAudioIsSilentForListeners(t *testing.T) {
	s := newBridgeFixture(t, media.PCMU, media.PCMU)
	l := listen(t, s.a, media.Barge)
	secret := chirp(500 * time.Millisecond)
	s.run(200 * time.Millisecond)
	s.a.SetSensitive(true)
	s.caller.Play(1, secret)
	s.a.Play(1, secret)
	s.run(600 * time.Millisecond)
	s.a.SetSensitive(false)
	s.run(400 * time.Millisecond) // audio in transit is still private
	assert.Zero(t, loudness(g711.DecodeMu(l.heard)))
	s.caller.Play(2, secret)
	s.run(200 * time.Millisecond)
	assert.Positive(t, loudness(g711.DecodeMu(l.heard)), "the listener receives audio again")
}

func TestListenersAreLimitedAndNotifiedOfSessionEnd(t *testing.T) {
	s := newBridgeFixture(t, media.PCMU, media.PCMU)
	all := make([]*listener, 8)
	for i := range all {
		all[i] = listen(t, s.a, media.Listen)
	}
	_, err := s.a.Tap(media.Listen, func([]byte) {})
	require.ErrorIs(t, err, media.ErrTaps)
	all[0].tap.Close()
	_, err = s.a.Tap(media.Listen, func([]byte) {})
	require.NoError(t, err)
	s.a.Close()
	for i, l := range all {
		assert.Equal(t, min(i, 1), l.ends, "the end is reported once to each remaining listener")
		l.tap.Close()
	}
	_, err = s.a.Tap(media.Listen, func([]byte) {})
	require.ErrorIs(t, err, media.ErrClosed)
}

func TestBridgeAndListenersAllocateNothing(t *testing.T) {
	s := newBridgeFixture(t, media.PCMU, media.PCMU)
	media.Bridge(s.a, s.b)
	tap, err := s.a.Tap(media.Barge, func([]byte) {})
	require.NoError(t, err)
	plain := newBridgeFixture(t, media.PCMU, media.PCMU)
	word := chirp(20 * time.Millisecond)
	for _, one := range []*bridgeFixture{s, plain} {
		one.caller.Play(1, chirp(10*time.Second))
		one.run(time.Second)
	}
	without := testing.AllocsPerRun(100, func() { plain.run(20 * time.Millisecond) })
	with := testing.AllocsPerRun(100, func() { tap.Speak(word); s.run(20 * time.Millisecond) })
	assert.LessOrEqual(t, with, without, "a frame")
}
