package actors_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/engines/llm/llmtest"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/speech"
)

// probedVoice says everything, or fails.
type probedVoice struct{ err error }

func (v probedVoice) Speak(context.Context, speech.Request) (media.Clip, error) {
	return make(media.Clip, 800), v.err
}

// probedEars understand nothing of what they hear, or fail.
type probedEars struct{ err error }

func (probedEars) Hears(string) bool       { return true }
func (probedEars) Transcribes(string) bool { return true }

func (e probedEars) Open(_ speech.Wanted, told func(speech.Heard)) speech.Stream {
	return probedStream{func() { told(speech.Heard{Final: true, Err: e.err}) }}
}

type probedStream struct{ end func() }

func (probedStream) Write([]byte) {}
func (s probedStream) End()       { go s.end() }
func (probedStream) Close()       {}

func TestEnginesAreAskedWithoutACall(t *testing.T) {
	t.Parallel()
	away := errors.New("away")
	for name, c := range map[string]struct {
		voice  probedVoice
		ears   probedEars
		status int
		says   string // error; "": none
	}{
		"all answer":             {},
		"nothing speaks":         {voice: probedVoice{away}, says: "speech: away"},
		"nothing hears":          {ears: probedEars{away}, says: "recognition: away"},
		"the model is not there": {status: 503, says: "model: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			models, _ := modelsAt(t, func(int, *llmtest.Request) llmtest.Reply {
				if c.status != 0 {
					return llmtest.Reply{Status: c.status}
				}
				return llmtest.Words("OK.")
			})
			err := actors.ProbeEngines(t.Context(), actors.Config{Speaker: c.voice, Ears: c.ears, Models: models}, &domain.Script{Language: "en-US"})
			if c.says == "" {
				require.NoError(t, err)
				return
			}
			require.Error(t, err)
			assert.Contains(t, err.Error(), c.says)
		})
	}
}
