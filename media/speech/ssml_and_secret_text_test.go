package speech_test

import (
	"context"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/speech"
)

// ssmlChain returns a chain of an engine that reads SSML, an engine that does not, and the local engine.
func ssmlChain(t *testing.T, reads, plain *scriptedEngine) *speech.SynthesizerChain {
	t.Helper()
	v, err := speech.NewSynthesizerChain(speech.Config{Engine: local{}, Order: []string{"reads", "plain"}, Sources: []speech.NamedSynthesizer{
		{Name: "reads", Engine: reads, SSML: true, FirstAudioTimeout: time.Second, PauseTimeout: time.Second}, {Name: "plain", Engine: plain},
	}})
	require.NoError(t, err)
	return v
}

func refusesInvalid(context.Context, speech.Request, func([]byte)) error {
	return speech.ErrRequestInvalid
}

func refuses(context.Context, speech.Request, func([]byte)) error { return speech.ErrRequestRefused }

const promptWithSSML = `Anna <break time="300ms"/> Bea <prosody rate="slow">& co</prosody>. Cleo`

func TestEngineThatReadsSSMLGetsOneDocumentAndOthersGetPauses(t *testing.T) {
	document := `<speak>Anna <break time="300ms"/> Bea <prosody rate="slow">and co</prosody>. Cleo</speak>`
	type fault = func(context.Context, speech.Request, func([]byte)) error
	for name, c := range map[string]struct {
		request        speech.Request
		does           []fault
		reads, plain   []string
		audio, failure string
	}{
		"reads SSML":                         {request: speech.Request{Text: promptWithSSML}, reads: []string{document}, audio: "<<<<<<<<<<"},
		"reads none":                         {request: speech.Request{Text: promptWithSSML, Engine: "plain"}, plain: []string{"Anna", "Bea and co.", "Cleo"}, audio: "AAAAAAAAAA___BBBBBBBBBB__CCCCCCCCCC"},
		"the local engine":                   {request: speech.Request{Text: promptWithSSML, Engine: speech.LocalVoice}, audio: `!!!!!!!!!!___""""""""""__##########`},
		"no elements":                        {request: speech.Request{Text: "Anna & co. Bea"}, reads: []string{"Anna and co.", "Bea"}, audio: "AAAAAAAAAA__BBBBBBBBBB"},
		"the engine fails":                   {request: speech.Request{Text: promptWithSSML}, does: []fault{refuses}, reads: []string{document}, plain: []string{"Anna", "Bea and co.", "Cleo"}, audio: "AAAAAAAAAA___BBBBBBBBBB__CCCCCCCCCC", failure: "reads engine_refused recovered"},
		"the engine refuses the document":    {request: speech.Request{Text: promptWithSSML}, does: []fault{refusesInvalid}, reads: []string{document, "Anna", "Bea and co.", "Cleo"}, audio: "AAAAAAAAAA___BBBBBBBBBB__CCCCCCCCCC", failure: "reads engine_refused recovered"},
		"a break before and after the words": {request: speech.Request{Text: `<break time="200ms"/>Bea<break time="100ms"/>`, Engine: "plain"}, plain: []string{"Bea"}, audio: "__BBBBBBBBBB_"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, how := range []string{"stream", "prepare", "speak"} {
				if how == "prepare" && len(c.does) > 0 {
					continue // Prepare tries one engine
				}
				synctest.Test(t, func(t *testing.T) {
					reads, plain := &scriptedEngine{does: c.does}, &scriptedEngine{}
					v, f := ssmlChain(t, reads, plain), failureLog{}
					c.request.Language = "en-US"
					u, err := speech.Utterance{}, error(nil)
					switch how {
					case "stream":
						u, err = v.StartSpeaking(t.Context(), c.request, f.add)
					case "prepare":
						u, err = v.Prepare(t.Context(), c.request)
					case "speak":
						u.Clip, err = v.Speak(t.Context(), c.request)
					}
					require.NoError(t, err)
					assert.Equal(t, c.audio, fullAudio(t, u), how)
					if how != "speak" || len(c.does) == 0 {
						assert.ElementsMatch(t, c.reads, textsOf(reads), how)
						assert.ElementsMatch(t, c.plain, textsOf(plain), how)
					}
					if how == "stream" {
						assert.Equal(t, c.failure, strings.Join(f.all, ", "))
					}
				})
			}
		})
	}
}

func textsOf(e *scriptedEngine) []string {
	var texts []string
	for _, r := range e.requests() {
		if r.SSML != strings.HasPrefix(r.Text, "<speak>") {
			texts = append(texts, "not marked as SSML: "+r.Text)
		}
		texts = append(texts, r.Text)
	}
	return texts
}

func TestAudioOfSecretTextIsNotCached(t *testing.T) {
	for _, secret := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			e := &scriptedEngine{}
			v := voiceOf(t, e)
			r := speech.Request{Text: "Anna. Bea", Language: "en-US", Secret: secret}
			for range 2 {
				u, err := v.StartSpeaking(t.Context(), r, func(speech.EngineFailure) {})
				require.NoError(t, err)
				assert.Equal(t, "AAAAAAAAAA__BBBBBBBBBB", fullAudio(t, u))
			}
			r.Engine = speech.LocalVoice
			for range 2 {
				_, err := v.Speak(t.Context(), r)
				require.NoError(t, err)
			}
			assert.Len(t, e.requests(), map[bool]int{false: 2, true: 4}[secret])
		})
	}
	under := &countingSynthesizer{}
	cache := speech.NewCache(under, 1<<20)
	for range 2 {
		_, err := cache.Speak(t.Context(), speech.Request{Text: "4711", Secret: true})
		require.NoError(t, err)
	}
	assert.Equal(t, int32(2), under.calls.Load())
	assert.Zero(t, cache.Size())
}

type countingSynthesizer struct{ calls atomic.Int32 }

func (c *countingSynthesizer) Speak(context.Context, speech.Request) (media.Clip, error) {
	c.calls.Add(1)
	return make(media.Clip, 800), nil
}

func TestErrorsOfSecretTextsDoNotNameThem(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(dir+"/other.wav", nil, 0o600))
	v, err := speech.NewSynthesizerChain(speech.Config{PromptDir: dir})
	require.NoError(t, err)
	for _, text := range []string{"It is 4711", "wav:4711.wav"} {
		_, err = v.Speak(t.Context(), speech.Request{Text: text, Secret: true})
		require.ErrorIs(t, err, speech.ErrNoPrompt)
		assert.NotContains(t, err.Error(), "4711")
		assert.NotContains(t, err.Error(), speech.PromptHash(text))
	}
}
