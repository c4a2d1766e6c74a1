package speech_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/speech"
	"github.com/callboard/callboard/media/tone"
	"github.com/callboard/callboard/media/vad"
	"github.com/callboard/callboard/media/wav"
)

// engine is a synthesizer behind the cache that counts its calls.
type engine struct {
	calls atomic.Int32
	gate  chan struct{}
	err   error
}

func (e *engine) Speak(_ context.Context, r speech.Request) (media.Clip, error) {
	e.calls.Add(1)
	if e.gate != nil {
		<-e.gate
	}
	return media.Clip(strings.Repeat("x", len(r.Text))), e.err
}

func TestEspeakTextCannotInjectOptions(t *testing.T) {
	v, err := speech.NewSynthesizerChain(speech.Config{})
	require.NoError(t, err)
	require.NoError(t, v.LocalEngineError())
	long, err := v.Speak(t.Context(), speech.Request{Text: "Hello. This is a reminder of your appointment tomorrow."})
	require.NoError(t, err)
	assert.Greater(t, long.Duration(), 2*time.Second)
	assert.Less(t, long.Duration(), 8*time.Second)
	assert.Greater(t, vad.Level(long), -35.0, "it can be heard")

	option, err := v.Speak(t.Context(), speech.Request{Text: "-f /etc/passwd"})
	require.NoError(t, err)
	assert.Less(t, option.Duration(), 4*time.Second, "the words, not the file")

	fast, err := v.Speak(t.Context(), speech.Request{Text: "Hello. This is a reminder of your appointment tomorrow.", Rate: 300})
	require.NoError(t, err)
	assert.Less(t, fast.Duration(), long.Duration()*3/4)

	for _, r := range []speech.Request{{Text: "a", Voice: "--help"}, {Text: "a", Voice: "../x"}, {Text: "a", Rate: 9999}, {Text: strings.Repeat("a", 5000)}} {
		_, err = v.Speak(t.Context(), r)
		require.ErrorIs(t, err, speech.ErrBadRequest)
	}
	empty, err := v.Speak(t.Context(), speech.Request{Text: " \n"})
	require.NoError(t, err)
	assert.Empty(t, empty)
}

func TestHangingEspeakIsKilled(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "espeak-ng"), []byte("#!/bin/sh\nexec sleep 60\n"), 0o700))
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	e, err := speech.NewEspeak(1, 100*time.Millisecond)
	require.NoError(t, err)
	start := time.Now()
	_, err = e.Speak(t.Context(), speech.Request{Text: "hello"})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.Less(t, time.Since(start), 5*time.Second)
}

func TestPromptFilesPlayWithoutEngine(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	dir := t.TempDir()
	write := func(name string, d time.Duration) {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), wav.EncodeMu(1, tone.Beep(d)), 0o600))
	}
	write("good-morning-how-are-you.wav", time.Second)
	write("de/good-morning-how-are-you.wav", 2*time.Second)
	write(speech.PromptHash("Bye!")+".wav", 3*time.Second)
	write("x.wav", 4*time.Second)
	v, err := speech.NewSynthesizerChain(speech.Config{PromptDir: dir})
	require.NoError(t, err)
	require.ErrorIs(t, v.LocalEngineError(), speech.ErrNotInstalled)

	for r, want := range map[speech.Request]time.Duration{
		{Text: "Good morning,  how are you?"}:              time.Second,
		{Text: "Good morning, how are you?", Voice: "de"}:  2 * time.Second,
		{Text: "Bye!", Voice: "en-us"}:                     3 * time.Second,
		{Text: "wav:x.wav"}:                                4 * time.Second,
		{Text: "Good morning, how are you", Voice: "none"}: time.Second,
	} {
		clip, errSpeak := v.Speak(t.Context(), r)
		require.NoError(t, errSpeak, r)
		assert.Equal(t, want, clip.Duration(), r)
	}
	_, err = v.Speak(t.Context(), speech.Request{Text: "Nobody recorded this."})
	require.ErrorIs(t, err, speech.ErrNoPrompt)
	require.ErrorIs(t, err, speech.ErrNotInstalled)
	require.ErrorContains(t, err, "nobody-recorded-this.wav")
	for _, name := range []string{"wav:../../etc/passwd", "wav:/etc/passwd", "wav:none.wav"} {
		_, err = v.Speak(t.Context(), speech.Request{Text: name})
		require.Error(t, err, name)
	}
}

func TestConcurrentRequestsShareOneSynthesis(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &engine{gate: make(chan struct{})}
		c := speech.NewCache(e, 1000)
		var wait sync.WaitGroup
		impatient, cancel := context.WithCancel(t.Context())
		for i := range 50 {
			wait.Go(func() {
				ctx := t.Context()
				if i == 0 {
					ctx = impatient
				}
				clip, errSpeak := c.Speak(ctx, speech.Request{Text: "hello"})
				if i == 0 {
					assert.ErrorIs(t, errSpeak, context.Canceled)
				} else {
					assert.Equal(t, media.Clip("xxxxx"), clip)
				}
			})
		}
		synctest.Wait()
		cancel()
		synctest.Wait()
		close(e.gate)
		wait.Wait()
		assert.Equal(t, int32(1), e.calls.Load())
	})
}

func TestCacheEvictsLeastRecentlyUsedAudio(t *testing.T) {
	e := &engine{}
	c := speech.NewCache(e, 30)
	say := func(text string) {
		_, errSpeak := c.Speak(t.Context(), speech.Request{Text: text})
		require.NoError(t, errSpeak)
		assert.LessOrEqual(t, c.Size(), 30)
	}
	ten := strings.Repeat("a", 10)
	say(ten)
	say(ten + "1")
	say(ten) // the text is used again, so the other cached text is now the least recently used
	say(ten + "22")
	assert.Equal(t, int32(3), e.calls.Load())
	say(ten)
	assert.Equal(t, int32(3), e.calls.Load(), "kept")
	say(ten + "1")
	assert.Equal(t, int32(4), e.calls.Load(), "forgotten")
	say(strings.Repeat("b", 40))
	assert.Positive(t, c.Size(), "what is too large drives nothing out")
}

func TestErrorsAreNotCached(t *testing.T) {
	e := &engine{err: errors.New("no")}
	c := speech.NewCache(e, 1000)
	for range 2 {
		_, err := c.Speak(t.Context(), speech.Request{Text: "hello"})
		require.Error(t, err)
	}
	assert.Equal(t, int32(2), e.calls.Load())
}

func TestTextIsSplitIntoSpeakableSentences(t *testing.T) {
	for text, want := range map[string][]string{
		"":                                    nil,
		"One":                                 {"One"},
		"One. Two!  Three?":                   {"One.", "Two!", "Three?"},
		"Dr. Smith costs 3.50 at 10:30. Yes.": {"Doctor Smith costs three point five zero at ten thirty.", "Yes."},
		"Größe zählt. Ωmega \x00 ends":        {"Größe zählt.", "Ωmega ends"},
		"# Offers\n- **Milk**\n- Eggs":        {"Offers.", "Milk.", "Eggs."},
		"😀":                                   nil,
		strings.TrimSpace(strings.Repeat("ab ", 300)): {strings.TrimSpace(strings.Repeat("ab ", 200)), strings.TrimSpace(strings.Repeat("ab ", 100))},
	} {
		assert.Equal(t, want, speech.SpeakableSentences(text, "en-US"))
	}
}

func FuzzSlug(f *testing.F) {
	f.Add("One. Two; \xff\x00 three")
	f.Fuzz(func(t *testing.T, text string) {
		for _, sentence := range speech.SpeakableSentences(text, "en") {
			assert.NotEmpty(t, strings.TrimSpace(sentence))
		}
		assert.LessOrEqual(t, len(speech.Slug(text)), 80)
	})
}
