package configs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/configs"
)

func createEnginesFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "engines.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestReadEnginesReadsKeysFromFilesAndEnvironment(t *testing.T) {
	key := createEnginesFile(t, "  dg-secret\n")
	got, err := configs.ReadEngines(createEnginesFile(t, `
engines:
  openai:
    kind: openai
    key_env: SOME_KEY
    tts: {voice: verse, first_ms: 900}
    stt: {model: whisper-1}
    llm: {model: gpt-5-mini, reasoning_effort: minimal, max_tokens_parameter: max_completion_tokens}
    realtime: {voice: cedar, stall_ms: 700}
    embeddings: {}
  deepgram: {kind: deepgram, key_file: `+key+`, stt: {}}
  nearby: {kind: openai, url: "http://127.0.0.1:9000/v1/", tts: {model: kokoro, sample_rate: 16000, ssml: true}, llm: {model: qwen3}}
tts: [openai, nearby]
stt: [deepgram, openai]
llm: [openai]
realtime: [openai]
embeddings: [openai]
`), []string{"OTHER=1", "SOME_KEY= sk-secret "})
	require.NoError(t, err)
	require.Len(t, got.List, 3)
	deepgram, nearby, openai := got.List[0], got.List[1], got.List[2]
	assert.Equal(t, "dg-secret", deepgram.Key.Reveal())
	assert.Equal(t, "wss://api.deepgram.com", deepgram.URL)
	assert.Equal(t, "nova-3", deepgram.STT.Model)
	assert.Equal(t, 3*time.Second, deepgram.STT.FinalTimeout())
	assert.Equal(t, "http://127.0.0.1:9000/v1", nearby.URL)
	assert.Equal(t, configs.EngineTTS{Model: "kokoro", Voice: "alloy", SampleRate: 16000, FirstMs: 2500, StallMs: 2000, SSML: true}, *nearby.TTS)
	assert.Equal(t, configs.EngineLLM{Model: "qwen3", MaxTokensParameter: "max_tokens", FirstMs: 5000, StallMs: 4000}, *nearby.LLM)
	assert.Equal(t, configs.EngineLLM{Model: "gpt-5-mini", ReasoningEffort: "minimal", MaxTokensParameter: "max_completion_tokens", FirstMs: 5000, StallMs: 4000}, *openai.LLM)
	assert.Equal(t, "sk-secret", openai.Key.Reveal())
	assert.Equal(t, configs.EngineTTS{Model: "gpt-4o-mini-tts", Voice: "verse", SampleRate: 24000, FirstMs: 900, StallMs: 2000}, *openai.TTS)
	assert.Equal(t, configs.EngineRealtime{Model: "gpt-realtime", Voice: "cedar", TranscriptionModel: "gpt-4o-mini-transcribe", FirstMs: 3000, StallMs: 700}, *openai.Realtime)
	assert.Equal(t, []string{"openai"}, got.Realtime)
	assert.Equal(t, "text-embedding-3-small", openai.Embeddings.Model)
	assert.Equal(t, []string{"openai"}, got.Embeddings)
	assert.Equal(t, []string{"deepgram", "openai"}, got.STT)
	assert.NotContains(t, fmt.Sprintf("%v %+v %#v", got, got, got), "secret")
}

func TestReadEnginesWithoutFileReturnsNone(t *testing.T) {
	got, err := configs.ReadEngines("", nil)
	require.NoError(t, err)
	assert.Empty(t, got)
}

func TestReadEnginesReportsAllProblemsTogether(t *testing.T) {
	for text, wanted := range map[string][]string{
		`engines: {A: {kind: openai, tts: {}}}`:                                                                     {`engines.A = "A": must be lower-case letters`},
		`engines: {espeak-ng: {kind: openai, tts: {}}}`:                                                             {"not the name of an embedded engine"},
		`engines: {a: {kind: carrier-pigeon}, b: {kind: openai}}`:                                                   {`engines.a.kind = "carrier-pigeon": must be openai, deepgram, elevenlabs or media-stream`, `engines.b = "": must be configured with at least one role: tts, stt, llm, realtime, embeddings`},
		`engines: {a: {kind: deepgram, url: "https://x", stt: {}, tts: {}}}`:                                        {`engines.a.url = "https://x": must be a URL of ws or wss`, "engines.a.tts", "omitted: deepgram supports only stt"},
		`engines: {a: {kind: openai, url: "http://u:pass@x", tts: {}}}`:                                             {"without user and fragment"},
		`engines: {a: {kind: elevenlabs, tts: {}}}`:                                                                 {"engines.a.tts.voice"},
		`engines: {a: {kind: openai, llm: {}}}`:                                                                     {"engines.a.llm.model"},
		`engines: {a: {kind: openai, llm: {model: m, reasoning_effort: "Very low", max_tokens_parameter: tokens}}}`: {`engines.a.llm.max_tokens_parameter = "tokens": must be max_tokens or max_completion_tokens`, `engines.a.llm.reasoning_effort = "Very low"`},
		`engines: {a: {kind: openai, key_env: NOT_THERE, tts: {sample_rate: 7, stall_ms: 1}}}`:                      {"engines.a.key_env", "a variable of the environment", "engines.a.tts.sample_rate", "engines.a.tts.stall_ms"},
		`engines: {a: {kind: openai, key_file: /nowhere/at/all, key_env: X, tts: {}}}`:                              {"empty if key_file is set"},
		`engines: {a: {kind: openai, key_file: /nowhere/at/all, tts: {}}}`:                                          {"engines.a.key_file"},
		"engines: {a: {kind: deepgram, stt: {}}}\ntts: [a]\nstt: [a, a, b]\n":                                       {"tts[0]", "stt[1]", `stt[2] = "b": must be the name of a configured engine with stt`},
		`engines: {a: {kind: openai, key: sk-inline, tts: {}}}`:                                                     {`unknown field "key"`},
		"engines: {a: {kind: deepgram, stt: {}, realtime: {}}}\nrealtime: [b]\n":                                    {"engines.a.realtime", "omitted: deepgram supports only stt", `realtime[0] = "b"`},
		`engines: {a: {kind: media-stream, url: "ws://x", realtime: {model: m}}}`:                                   {`engines.a.url = "ws://x": must be a URL of wss`, "engines.a.realtime", "engines.a.key_file"},
		"engines: {a: {kind: openai, embeddings: {}}, b: {kind: openai, embeddings: {}}}\nembeddings: [a, b]\n":     {`embeddings = "a, b": must be one engine`},
		`- a`: {"is not a YAML map"},
	} {
		_, err := configs.ReadEngines(createEnginesFile(t, text), nil)
		require.Error(t, err, text)
		for _, w := range wanted {
			require.ErrorContains(t, err, w, text)
		}
		assert.NotContains(t, err.Error(), "pass")
	}
}
