package agentruntime_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/engines/llm"
	"github.com/callboard/callboard/engines/llm/llmtest"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/speech"
	"github.com/callboard/callboard/service/agentruntime"
)

// probedVoice is a fake synthesizer that returns audio for every text, or err if it is set.
type probedVoice struct{ err error }

func (v probedVoice) Speak(context.Context, speech.Request) (media.Clip, error) {
	return make(media.Clip, 800), v.err
}

// probedRecognizer is a fake recognizer that returns an empty transcript, or err if it is set.
type probedRecognizer struct{ err error }

func (probedRecognizer) SupportsLanguage(string) bool      { return true }
func (probedRecognizer) TranscribesFreeSpeech(string) bool { return true }

func (e probedRecognizer) Open(_ speech.RecognitionRequest, told func(speech.RecognitionResult)) speech.Stream {
	return probedStream{func() { told(speech.RecognitionResult{Final: true, Err: e.err}) }}
}

type probedStream struct{ end func() }

func (probedStream) Write([]byte) {}
func (s probedStream) End()       { go s.end() }
func (probedStream) Close()       {}

func TestProbeEnginesReportsFailingEngine(t *testing.T) {
	t.Parallel()
	away := errors.New("away")
	for name, c := range map[string]struct {
		voice  probedVoice
		ears   probedRecognizer
		status int
		says   string // text of the expected error; "": no error
	}{
		"all answer":             {},
		"nothing speaks":         {voice: probedVoice{away}, says: "speech: away"},
		"nothing hears":          {ears: probedRecognizer{away}, says: "recognition: away"},
		"the model is not there": {status: 503, says: "model: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := llmtest.New(t, func(int, *llmtest.Request) llmtest.Reply {
				if c.status != 0 {
					return llmtest.Reply{Status: c.status}
				}
				return llmtest.ChunkedReply("OK.")
			})
			down := llmtest.New(t, llmtest.Replies(llmtest.Reply{Status: 503}))
			models := llm.Models{
				List: []llm.Engine{{Name: "down", URL: down.URL, Model: "m"}, {Name: "up", URL: server.URL, Model: "m", First: 20 * time.Second}}, Order: []string{"down", "up"},
			}
			runtime := agentruntime.New(agentruntime.Config{
				Speaker: c.voice, Recognizer: c.ears, Models: models, Client: &llm.Client{Free: http.DefaultClient, Guarded: http.DefaultClient},
				Engines: func(*domain.Script) pathway.Capabilities { return pathway.Capabilities{Speech: true} },
			})
			err := runtime.ProbeEngines(t.Context(), &domain.Script{Language: "en-US"})
			if c.says == "" {
				require.NoError(t, err)
				return
			}
			require.Error(t, err)
			assert.Contains(t, err.Error(), c.says)
		})
	}
}
