package openai_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/engines"
	"github.com/callboard/callboard/engines/elevenlabs"
	"github.com/callboard/callboard/engines/enginetest"
	"github.com/callboard/callboard/engines/openai"
	"github.com/callboard/callboard/media/speech"
	"github.com/callboard/callboard/media/vad"
	"github.com/callboard/callboard/media/wav"
)

func TestOpenAISpeechIsStreamedAsDocumented(t *testing.T) {
	more := make(chan struct{})
	far := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "/v1/audio/speech", r.URL.Path)
		assert.Equal(t, "Bearer sk-test", r.Header.Get("Authorization"))
		body, _ := io.ReadAll(r.Body)
		assert.JSONEq(t, `{"model":"gpt-4o-mini-tts","input":"Good morning.","voice":"alloy","response_format":"pcm","speed":2}`, string(body))
		w.Header().Set("Content-Type", "audio/pcm")
		_, _ = w.Write(make([]byte, 4801)) // 100 ms, and half a sample
		_ = http.NewResponseController(w).Flush()
		<-more
		_, _ = w.Write(make([]byte, 4799))
	}))
	defer far.Close()
	s := &openai.Speech{Config: openai.Config{URL: far.URL + "/v1", Key: "sk-test", Client: far.Client()}, Rate: 24000}
	got, opened := 0, false
	err := s.StreamSpeech(t.Context(), speech.Request{Text: "Good morning.", Model: "gpt-4o-mini-tts", Voice: "alloy", Rate: 350}, func(mu []byte) {
		if got += len(mu); got > 700 && !opened {
			opened = true
			close(more)
		}
	})
	require.NoError(t, err)
	assert.True(t, opened, "the first sound is there before the last is made")
	assert.Equal(t, 1600, got)
}

func TestWAVResponseKeepsItsSampleRate(t *testing.T) {
	file := wav.EncodePCM(1, make([]int16, 800))
	far := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = w.Write(file)
	}))
	defer far.Close()
	s := &openai.Speech{Config: openai.Config{URL: far.URL, Client: far.Client()}, Rate: 24000}
	var got bytes.Buffer
	require.NoError(t, s.StreamSpeech(t.Context(), speech.Request{Text: "a"}, func(mu []byte) { got.Write(mu) }))
	assert.Equal(t, 800, got.Len())
	file = []byte("RIFF\x00\x00\x00\x00WAVEjunk\x04\x00\x00\x00aaaadat")
	require.ErrorIs(t, s.StreamSpeech(t.Context(), speech.Request{Text: "a"}, func([]byte) {}), engines.ErrInvalidResponse)
	file = []byte("ID3\x04\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00")
	require.ErrorIs(t, s.StreamSpeech(t.Context(), speech.Request{Text: "a"}, func([]byte) {}), engines.ErrInvalidResponse)
}

func understand(t *testing.T, w *openai.Recognizer, wanted speech.RecognitionRequest, mu []byte) speech.RecognitionResult {
	t.Helper()
	told := make(chan speech.RecognitionResult, 1)
	s := w.Open(wanted, func(h speech.RecognitionResult) { told <- h })
	s.Write(mu)
	s.End()
	return <-told
}

func TestTranscriptionFollowsOpenAIDocumentation(t *testing.T) {
	for model, c := range map[string]struct {
		file, format, include, text string
		confidence                  float64
	}{
		"gpt-4o-mini-transcribe": {"testdata/transcription.json", "json", "logprobs", "I would like Tuesday, please.", 0.905},
		"whisper-1":              {"testdata/verbose.json", "verbose_json", "", "I would like Tuesday.", 0.8},
	} {
		answer, err := os.ReadFile(c.file)
		require.NoError(t, err)
		far := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			assert.Equal(t, "/v1/audio/transcriptions", r.URL.Path)
			if !assert.NoError(t, r.ParseMultipartForm(1<<20)) {
				return
			}
			assert.Equal(t, model, r.FormValue("model"))
			assert.Equal(t, "en", r.FormValue("language"))
			assert.Equal(t, c.format, r.FormValue("response_format"))
			assert.Equal(t, c.include, r.FormValue("include[]"))
			assert.Equal(t, "Callboard, yes, no", r.FormValue("prompt"))
			f, head, err := r.FormFile("file")
			if assert.NoError(t, err) {
				assert.Equal(t, "turn.wav", head.Filename)
				b, _ := io.ReadAll(f)
				sound, err := wav.Decode(b)
				assert.NoError(t, err)
				assert.Equal(t, time.Second, sound.Duration())
			}
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(answer)
		}))
		w := &openai.Recognizer{Config: openai.Config{URL: far.URL + "/v1", Key: "sk-test", Client: far.Client()}, Model: "gpt-4o-mini-transcribe"}
		h := understand(t, w, speech.RecognitionRequest{Model: model, Language: "en-US", Keywords: []string{"Callboard"}, Phrases: []string{"yes", "no"}}, make([]byte, 8000))
		far.Close()
		require.NoError(t, h.Err)
		assert.Equal(t, c.text, h.Text, "what is no speech is left out")
		assert.InDelta(t, c.confidence, h.Confidence, 0.01)
		assert.True(t, h.Final)
	}
}

func TestTranscriptWithoutConfidenceGetsDefault(t *testing.T) {
	server := enginetest.New(t)
	w := &openai.Recognizer{Config: openai.Config{URL: server.URL + "/v1", Key: enginetest.Key, Client: server.Client()}, Model: "local"}
	assert.Equal(t, speech.RecognitionResult{Text: "yes please", Confidence: 0.9, Final: true}, understand(t, w, speech.RecognitionRequest{}, nil))
	server.SetTranscript("")
	assert.Equal(t, speech.RecognitionResult{Final: true}, understand(t, w, speech.RecognitionRequest{}, nil))
}

func TestTranscriptOmitsNotesAboutSounds(t *testing.T) {
	for answer, expected := range map[string]speech.RecognitionResult{
		`{"text":" I would like to book\n an appointment.\n"}`: {Text: "I would like to book an appointment.", Confidence: 0.9, Final: true}, // whisper.cpp
		`{"text":" [BLANK_AUDIO]\n"}`:                          {Final: true},
		`{"text":"x","segments":[{"text":" (upbeat music)"},{"text":" Yes. ♪"},{"text":" *coughs* please"}]}`:                 {Text: "Yes. please", Confidence: 0.9, Final: true}, // LocalAI: no probabilities
		`{"text":"x","segments":[{"text":" Yes.","avg_logprob":-0.5},{"text":" No.","avg_logprob":-2,"no_speech_prob":0.9}]}`: {Text: "Yes.", Confidence: math.Exp(-0.5), Final: true},
	} {
		far := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, answer) }))
		w := &openai.Recognizer{Config: openai.Config{URL: far.URL, Client: far.Client()}, Model: "whisper-1"}
		assert.Equal(t, expected, understand(t, w, speech.RecognitionRequest{}, nil), answer)
		far.Close()
	}
}

func TestElevenLabsGetsElementsOfSSMLWithoutRootElement(t *testing.T) {
	server := enginetest.New(t)
	e := &elevenlabs.Speech{URL: server.URL, Key: enginetest.Key, Client: server.Client()}
	require.NoError(t, e.StreamSpeech(t.Context(), speech.Request{Text: `<speak version="1.1">Hold <break time="1s"/> on.</speak>`, SSML: true, Voice: "v", Model: "eleven_flash_v2"}, func([]byte) {}))
	var body struct{ Text string }
	require.NoError(t, json.Unmarshal(server.Requests()[0].Body, &body))
	assert.Equal(t, `Hold <break time="1s"/> on.`, body.Text)
}

func TestEngineFaultsBecomeErrorsWithoutTheKey(t *testing.T) {
	server := enginetest.New(t)
	say := &openai.Speech{Config: openai.Config{URL: server.URL + "/v1", Key: enginetest.Key, Client: server.Client()}, Rate: 24000}
	eleven := &elevenlabs.Speech{URL: server.URL, Key: enginetest.Key, Client: server.Client()}
	hear := &openai.Recognizer{Config: say.Config, Model: "local"}
	for fault, want := range map[enginetest.Fault]error{enginetest.Garbage: engines.ErrInvalidResponse, enginetest.Refuses: engines.ErrRequestRefused, enginetest.Drops: nil, enginetest.Hangs: context.DeadlineExceeded, enginetest.Stalls: context.DeadlineExceeded} {
		for _, what := range []string{"speech", "elevenlabs", "transcriptions"} {
			server.SetFault(what, fault)
		}
		for name, e := range map[string]speech.StreamingSynthesizer{"speech": say, "elevenlabs": eleven} {
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			got := 0
			err := e.StreamSpeech(ctx, speech.Request{Text: "Good morning to you.", Voice: "v"}, func(mu []byte) { got += len(mu) })
			cancel()
			require.Error(t, err, "%s %s", name, fault)
			if want != nil {
				require.ErrorIs(t, err, want, "%s %s", name, fault)
			}
			assert.NotContains(t, err.Error(), enginetest.Key, name)
			assert.Equal(t, fault == enginetest.Drops || fault == enginetest.Stalls, got > 1000, "%s %s: %d", name, fault, got)
		}
		if want != context.DeadlineExceeded { //nolint:errorlint // the table's
			h := understand(t, hear, speech.RecognitionRequest{}, make([]byte, 800))
			require.Error(t, h.Err, fault)
			assert.NotContains(t, h.Err.Error(), enginetest.Key)
		}
	}
}

func TestElevenLabsRequestFollowsDocumentation(t *testing.T) {
	server := enginetest.New(t)
	e := &elevenlabs.Speech{URL: server.URL, Key: enginetest.Key, Client: server.Client()}
	var got bytes.Buffer
	require.NoError(t, e.StreamSpeech(t.Context(), speech.Request{Text: "Hello.", Voice: "21m00Tcm4TlvDq8ikWAM", Model: "eleven_flash_v2_5", Language: "de-DE", Rate: 350}, func(mu []byte) { got.Write(mu) }))
	assert.Equal(t, enginetest.MuLawAudio("Hello."), got.Bytes(), "as the telephone has it")
	assert.Greater(t, vad.Level(got.Bytes()), -20.0)
	r := server.Requests()[0]
	assert.Equal(t, "/v1/text-to-speech/21m00Tcm4TlvDq8ikWAM/stream/with-timestamps?output_format=ulaw_8000", r.Path)
	assert.JSONEq(t, `{"text":"Hello.","model_id":"eleven_flash_v2_5","language_code":"de","voice_settings":{"speed":1.2}}`, string(r.Body))
	var body map[string]any
	require.NoError(t, e.StreamSpeech(t.Context(), speech.Request{Text: "Hello.", Voice: "../x", Model: "eleven_multilingual_v2"}, func([]byte) {}))
	r = server.Requests()[1]
	assert.Equal(t, "/v1/text-to-speech/..%2Fx/stream/with-timestamps?output_format=ulaw_8000", r.Path, "no voice leads elsewhere")
	require.NoError(t, json.Unmarshal(r.Body, &body))
	assert.NotContains(t, body, "language_code", "that model takes none")
}
