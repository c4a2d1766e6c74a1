package speech_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/speech"
)

// scriptedEngine is a synthesizer that runs one function of does per request. The audio of a text repeats its first letter.
type scriptedEngine struct {
	mu    sync.Mutex
	does  []func(ctx context.Context, r speech.Request, out func([]byte)) error
	asked []speech.Request
	ended int // cancelled requests
}

func (s *scriptedEngine) StreamSpeech(ctx context.Context, r speech.Request, out func([]byte)) error {
	s.mu.Lock()
	s.asked = append(s.asked, r)
	do := speaks
	if len(s.does) > 0 {
		do, s.does = s.does[0], s.does[1:]
	}
	s.mu.Unlock()
	err := do(ctx, r, out)
	if ctx.Err() != nil {
		s.mu.Lock()
		s.ended++
		s.mu.Unlock()
	}
	return err
}

func (s *scriptedEngine) requests() []speech.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]speech.Request(nil), s.asked...)
}

func letters(r speech.Request, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = r.Text[0]
	}
	return b
}

func speaks(_ context.Context, r speech.Request, out func([]byte)) error {
	for range 10 {
		time.Sleep(20 * time.Millisecond)
		out(letters(r, 800))
	}
	return nil
}

func hangs(ctx context.Context, _ speech.Request, _ func([]byte)) error {
	<-ctx.Done()
	return ctx.Err()
}

func stalls(ctx context.Context, r speech.Request, out func([]byte)) error {
	out(letters(r, 1600))
	<-ctx.Done()
	return ctx.Err()
}

func silent(context.Context, speech.Request, func([]byte)) error { return nil }

func breaks(context.Context, speech.Request, func([]byte)) error { panic("broken") }

// endless is a synthesis that delivers audio until it is cancelled, more than the maximum for a sentence.
func endless(ctx context.Context, r speech.Request, out func([]byte)) error {
	for ctx.Err() == nil {
		out(letters(r, 80000))
	}
	return nil
}

type local struct{}

func (local) Speak(_ context.Context, r speech.Request) (media.Clip, error) {
	clip := media.Clip(letters(r, 8000))
	for i := range clip {
		clip[i] -= 'a' - 'A' // the audio of the local engine consists of capital letters
	}
	return clip, nil
}

// failureLog records the reported engine failures.
type failureLog struct {
	mu  sync.Mutex
	all []string
}

func (f *failureLog) add(x speech.EngineFailure) {
	f.mu.Lock()
	defer f.mu.Unlock()
	what := x.Engine + " " + speech.ErrorCode(x.Err)
	if x.Recovered {
		what += " recovered"
	}
	f.all = append(f.all, what)
}

func voiceOf(t *testing.T, engines ...*scriptedEngine) *speech.SynthesizerChain {
	t.Helper()
	cfg := speech.Config{Engine: local{}}
	for i, e := range engines {
		name := string(rune('x' + i))
		cfg.Sources = append(cfg.Sources, speech.NamedSynthesizer{Name: name, Engine: e, Voice: name + "-voice", Model: name + "-model", FirstAudioTimeout: time.Second, PauseTimeout: 500 * time.Millisecond})
		cfg.Order = append(cfg.Order, name)
	}
	v, err := speech.NewSynthesizerChain(cfg)
	require.NoError(t, err)
	return v
}

// fullAudio waits for the complete audio of an utterance and returns one letter for each tenth of a second.
func fullAudio(t *testing.T, u speech.Utterance) string {
	t.Helper()
	clip := u.Clip
	if u.Feed != nil {
		for over := false; !over; {
			var err error
			_, over, err = u.Feed.Wait(t.Context(), u.Feed.Len())
			require.NoError(t, err)
		}
		clip, _, _ = u.Feed.Wait(t.Context(), 0)
	}
	out := ""
	var outSb140 strings.Builder
	for i := 400; i < len(clip); i += 800 {
		if c := clip[i]; c == 0xFF {
			outSb140.WriteString("_")
		} else {
			outSb140.WriteString(string(rune(c)))
		}
	}
	out += outSb140.String()
	return out
}

func TestFailingEngineIsReplacedByNextAndFinallyByLocalEngine(t *testing.T) {
	for name, c := range map[string]struct {
		x, y  func(context.Context, speech.Request, func([]byte)) error
		says  string
		told  []string
		after time.Duration // until the first sound
	}{
		"well":               {speaks, speaks, "aaaaaaaaaa", nil, 20 * time.Millisecond},
		"hangs":              {hangs, speaks, "aaaaaaaaaa", []string{"x engine_slow recovered"}, 1020 * time.Millisecond},
		"says nothing":       {silent, speaks, "aaaaaaaaaa", []string{"x engine_silent recovered"}, 20 * time.Millisecond},
		"breaks":             {breaks, speaks, "aaaaaaaaaa", []string{"x engine_unreachable recovered"}, 20 * time.Millisecond},
		"stalls, unheard":    {stalls, speaks, "aaaaaaaaaa", []string{"x engine_stalled recovered"}, 0},
		"never ends":         {endless, speaks, "aaaaaaaaaa", []string{"x engine_garbage recovered"}, 0},
		"both hang":          {hangs, hangs, "AAAAAAAAAA", []string{"x engine_slow recovered", "y engine_slow recovered"}, 2 * time.Second},
		"refuses, then late": {func(context.Context, speech.Request, func([]byte)) error { return speech.ErrRequestRefused }, stalls, "AAAAAAAAAA", []string{"x engine_refused recovered", "y engine_stalled recovered"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x, y := &scriptedEngine{}, &scriptedEngine{}
				x.does, y.does = append(x.does, c.x), append(y.does, c.y)
				var f failureLog
				start := time.Now()
				u, err := voiceOf(t, x, y).StartSpeaking(t.Context(), speech.Request{Text: "anna", Language: "en-US"}, f.add)
				require.NoError(t, err)
				assert.Equal(t, c.after, time.Since(start))
				assert.Equal(t, c.says, fullAudio(t, u))
				assert.Equal(t, c.told, f.all)
				u.Stop()
			})
		})
	}
}

func TestNextSentenceIsSynthesizedDuringPlayback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := &scriptedEngine{does: []func(context.Context, speech.Request, func([]byte)) error{speaks, speaks, hangs}}
		var f failureLog
		v := voiceOf(t, x)
		u, err := v.StartSpeaking(t.Context(), speech.Request{Text: "anna! berta! carl."}, f.add)
		require.NoError(t, err)
		assert.Equal(t, "aaaaaaaaaa__bbbbbbbbbb__CCCCCCCCCC", fullAudio(t, u))
		assert.Equal(t, []string{"x engine_slow recovered"}, f.all)
		assert.Len(t, x.requests(), 3, "each is asked for once")
		u.Stop()

		again, err := v.StartSpeaking(t.Context(), speech.Request{Text: "berta!"}, f.add)
		require.NoError(t, err)
		assert.Equal(t, "bbbbbbbbbb", fullAudio(t, again))
		assert.Len(t, x.requests(), 3, "what was said once is remembered")
		prepared, err := v.Prepare(t.Context(), speech.Request{Text: "anna! berta!"})
		require.NoError(t, err)
		assert.Equal(t, "aaaaaaaaaa__bbbbbbbbbb", fullAudio(t, prepared))
	})
}

func TestStopCancelsSynthesis(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := func(ctx context.Context, r speech.Request, out func([]byte)) error { // both sentences are requested at the same time
			if strings.HasPrefix(r.Text, "anna") {
				return stalls(ctx, r, out)
			}
			return hangs(ctx, r, out)
		}
		x := &scriptedEngine{does: []func(context.Context, speech.Request, func([]byte)) error{first, first}}
		var f failureLog
		v := voiceOf(t, x)
		u, err := v.StartSpeaking(t.Context(), speech.Request{Text: "anna! berta!"}, f.add)
		require.NoError(t, err)
		u.Stop()
		synctest.Wait()
		assert.Equal(t, 2, x.ended, "the sentence that sounds, and the one that was prepared")
		assert.Empty(t, f.all, "and nobody is at fault")

		wanted, unwanted := context.WithCancel(t.Context())
		x.does = append(x.does, hangs)
		go unwanted()
		_, err = v.StartSpeaking(wanted, speech.Request{Text: "carl"}, f.add)
		require.ErrorIs(t, err, context.Canceled)
		synctest.Wait()
		assert.Equal(t, 3, x.ended, "also before its first sound")
	})
}

func TestFailingEngineIsSuspendedAndRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := &scriptedEngine{does: []func(context.Context, speech.Request, func([]byte)) error{hangs, hangs, hangs}}
		var f failureLog
		v := voiceOf(t, x)
		say := func(text, want string) time.Duration {
			start := time.Now()
			u, err := v.StartSpeaking(t.Context(), speech.Request{Text: text}, f.add)
			require.NoError(t, err)
			took := time.Since(start)
			assert.Equal(t, want, fullAudio(t, u), text)
			u.Stop()
			return took
		}
		for _, text := range []string{"a", "b", "c"} {
			assert.Equal(t, time.Second, say(text, "AAAAAAAAAA"[:0]+string(repeat(text[0]-32))))
		}
		assert.Zero(t, say("d", string(repeat('D'))), "nobody waits for it any more")
		assert.Len(t, x.requests(), 3)
		time.Sleep(11 * time.Second)
		assert.Equal(t, 20*time.Millisecond, say("e", string(repeat('e'))), "it is well again")
		assert.Len(t, f.all, 3)
	})
}

func repeat(c byte) []byte { return letters(speech.Request{Text: string(rune(c))}, 10) }

func TestNamedEngineIsFirstAndItsVoiceIsNotPassedOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, y := &scriptedEngine{}, &scriptedEngine{}
		v := voiceOf(t, x, y)
		y.does = append(y.does, func(context.Context, speech.Request, func([]byte)) error { return errors.New("no") })
		var f failureLog
		u, err := v.StartSpeaking(t.Context(), speech.Request{Text: "anna", Engine: "y", Voice: "carla", Language: "de-DE"}, f.add)
		require.NoError(t, err)
		assert.Equal(t, "aaaaaaaaaa", fullAudio(t, u))
		assert.Equal(t, []speech.Request{{Text: "anna", Engine: "y", Voice: "carla", Model: "y-model", Language: "de-DE"}}, y.requests())
		assert.Equal(t, []speech.Request{{Text: "anna", Engine: "x", Voice: "x-voice", Model: "x-model", Language: "de-DE"}}, x.requests())
		for _, engine := range []string{speech.LocalVoice, speech.PromptFilesEngine} {
			u, err = v.StartSpeaking(t.Context(), speech.Request{Text: "anna", Engine: engine}, f.add)
			require.NoError(t, err)
			assert.Equal(t, "AAAAAAAAAA", fullAudio(t, u), engine)
		}
		assert.True(t, v.HasEngine("x"))
		assert.False(t, v.HasEngine("z"))
		assert.True(t, v.HasEngine(""))
	})
}
