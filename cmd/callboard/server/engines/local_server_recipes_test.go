package engines_test

import (
	"encoding/json"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/cmd/callboard/server/engines"
	"github.com/callboard/callboard/configs"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/validation"
	"github.com/callboard/callboard/engines/llm"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/speech"
	"github.com/callboard/callboard/media/vad"
)

// recipe is a section of docs/engines.md about a local server.
type recipe struct {
	commands string // that start the server
	file     string // engines file
	agent    domain.Agent
}

// readRecipe returns the code blocks of docs/engines.md whose fence names a server, such as "```yaml ollama".
func readRecipe(t *testing.T, server string) recipe {
	t.Helper()
	page, err := os.ReadFile("../../../../docs/engines.md")
	require.NoError(t, err)
	block := func(language string) string {
		found := regexp.MustCompile("(?ms)^```"+language+" "+regexp.QuoteMeta(server)+"\n(.*?)^```$").FindAllStringSubmatch(string(page), -1)
		require.Len(t, found, 1, "%s of %s", language, server)
		return found[0][1]
	}
	r := recipe{commands: block("sh"), file: block("yaml")}
	d := json.NewDecoder(strings.NewReader(block("json")))
	d.DisallowUnknownFields()
	require.NoError(t, d.Decode(&r.agent), server)
	requireValidAgent(t, r.agent)
	return r
}

func requireValidAgent(t *testing.T, a domain.Agent) {
	t.Helper()
	validation.AgentDefaults(&a)
	require.Empty(t, validation.Agent(&a), a.Name)
}

func TestExamplesOfTheEnginesPageAreValid(t *testing.T) {
	for _, name := range []string{"OPENAI_API_KEY", "DEEPGRAM_API_KEY", "ELEVENLABS_API_KEY", "BOT_KEY"} {
		t.Setenv(name, "key")
	}
	page, err := os.ReadFile("../../../../docs/engines.md")
	require.NoError(t, err)
	files := regexp.MustCompile("(?ms)^```yaml engines\n(.*?)^```$").FindAllStringSubmatch(string(page), -1)
	require.Len(t, files, 3)
	for _, file := range files {
		path := filepath.Join(t.TempDir(), "engines.yaml")
		require.NoError(t, os.WriteFile(path, []byte(file[1]), 0o600))
		_, err := configs.ReadEngines(path, os.Environ())
		require.NoError(t, err, file[1])
	}
	agents := regexp.MustCompile("(?ms)^```json agent\n(.*?)^```$").FindAllStringSubmatch(string(page), -1)
	require.Len(t, agents, 3)
	for _, agent := range agents {
		var a domain.Agent
		d := json.NewDecoder(strings.NewReader(agent[1]))
		d.DisallowUnknownFields()
		require.NoError(t, d.Decode(&a), agent[1])
		requireValidAgent(t, a)
	}
}

// open opens the engines of the recipe, with the address of a test server in place of the local server's.
func (r *recipe) open(t *testing.T, far *httptest.Server) *engines.Set {
	t.Helper()
	address := regexp.MustCompile(`http://127\.0\.0\.1:\d+/v1`)
	require.Len(t, address.FindAllString(r.file, -1), 1, "one URL in the engines file")
	path := filepath.Join(t.TempDir(), "engines.yaml")
	require.NoError(t, os.WriteFile(path, []byte(address.ReplaceAllString(r.file, far.URL+"/v1")), 0o600))
	set, err := engines.Open(engines.Config{File: path, TurnDir: t.TempDir(), Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	return set
}

func TestLocalServerRecipesWork(t *testing.T) {
	for name, c := range map[string]struct {
		handler           func(recipe) localServer
		model, voice, ear bool // roles that the recipe must have
		embeddings        bool
	}{
		"ollama":      {handler: newOllama, model: true, embeddings: true},
		"vllm":        {handler: newVLLM, model: true},
		"whisper.cpp": {handler: newWhisperCpp, ear: true},
		"piper":       {handler: newSpeaches, voice: true},
		"kokoro":      {handler: newKokoroFastAPI, voice: true},
		"localai":     {handler: newLocalAI, model: true, voice: true, ear: true, embeddings: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("VLLM_API_KEY", "local-key")
			r := readRecipe(t, name)
			far := httptest.NewServer(c.handler(r))
			defer far.Close()
			set := r.open(t, far)
			assert.Equal(t, c.model, len(set.Models.EnginesFor(r.agent.LLM)) > 0, "language model")
			assert.Equal(t, c.embeddings, set.Models.Embedding != nil, "embeddings")
			if c.model {
				checkModel(t, set, &r.agent)
			}
			if c.embeddings {
				vectors, err := (&llm.Client{Free: far.Client()}).Embed(t.Context(), set.Models.Embedding, []string{"open", "closed"})
				require.NoError(t, err)
				assert.Equal(t, [][]float32{{0.5, 4}, {0.5, 6}}, vectors)
			}
			if c.ear {
				checkRecognizer(t, set, &r.agent)
			}
			if c.voice {
				checkSynthesizer(t, set, &r.agent)
			}
		})
	}
}

// checkModel asks the model for an answer and for tool calls, with the history of an earlier tool call.
func checkModel(t *testing.T, set *engines.Set, a *domain.Agent) {
	t.Helper()
	client := llm.Client{Free: llm.NewHTTPClient(nil)}
	request := llm.Request{Messages: []llm.Message{{Role: llm.System, Text: a.SystemPrompt}, {Role: llm.User, Text: "Hello?"}}, Temperature: a.LLM.Temperature, MaxTokens: a.LLM.MaxTokens}
	var sentences []string
	failed := func(f *llm.Fault) { assert.NoError(t, f) }
	answer, err := client.Ask(t.Context(), set.Models.EnginesFor(a.LLM), request, func(s string, _ time.Duration) { sentences = append(sentences, s) }, failed)
	require.NoError(t, err)
	assert.Equal(t, []string{"Good morning.", "What can I do for you?"}, sentences)
	assert.Equal(t, a.LLM.Engine, answer.Engine)

	request.Messages = append(request.Messages,
		llm.Message{Role: llm.Assistant, Calls: []llm.Call{{ID: "call_1", Name: "slots"}}}, llm.Message{Role: llm.ToolRole, ID: "call_1", Text: `{"slots":["10:00"]}`},
		llm.Message{Role: llm.User, Text: "Ten o'clock, please. That is all."})
	request.Tools = []llm.Tool{
		{Name: "book", Description: "Books an appointment.", Parameters: map[string]any{"type": "object", "properties": map[string]any{"time": map[string]any{"type": "string"}}}},
		{Name: "end", Description: "Ends the call.", Parameters: map[string]any{"type": "object", "properties": map[string]any{}}},
	}
	answer, err = client.Ask(t.Context(), set.Models.EnginesFor(a.LLM), request, nil, failed)
	require.NoError(t, err)
	require.Len(t, answer.Calls, 2)
	assert.Equal(t, "book", answer.Calls[0].Name)
	assert.JSONEq(t, `{"time":"10:00"}`, answer.Calls[0].Arguments)
	assert.Equal(t, "end", answer.Calls[1].Name)
	assert.JSONEq(t, `{}`, answer.Calls[1].Arguments)
	assert.NotEqual(t, answer.Calls[0].ID, answer.Calls[1].ID)
}

// checkRecognizer transcribes a turn of one second.
func checkRecognizer(t *testing.T, set *engines.Set, a *domain.Agent) {
	t.Helper()
	final := make(chan speech.RecognitionResult, 1)
	turn := set.Recognizer.Open(speech.RecognitionRequest{Engine: a.STT.Engine, Model: a.STT.Model, Language: "en-US", Keywords: a.STT.Keywords}, func(r speech.RecognitionResult) {
		if r.Final {
			final <- r
		}
	})
	turn.Write(make([]byte, 8000))
	turn.End()
	result := <-final
	require.NoError(t, result.Err)
	assert.Empty(t, result.Failures)
	assert.Equal(t, "I would like to book an appointment for tomorrow.", result.Text)
	assert.InDelta(t, 0.88, result.Confidence, 0.05)
}

// checkSynthesizer speaks a sentence. Its length shows that the sample rate is right.
func checkSynthesizer(t *testing.T, set *engines.Set, a *domain.Agent) {
	t.Helper()
	chain, ok := set.Synthesizer.(*speech.SynthesizerChain)
	require.True(t, ok)
	const text = "Good morning."
	for _, rate := range []int{0, 200} {
		u, err := chain.StartSpeaking(t.Context(), speech.Request{Text: text, Engine: a.Voice.Engine, Voice: a.Voice.Name, Language: "en-US", Rate: rate}, func(f speech.EngineFailure) { assert.NoError(t, f.Err) })
		require.NoError(t, err)
		require.NotNil(t, u.Feed)
		var clip media.Clip
		for over := false; !over; {
			var more media.Clip
			more, over, err = u.Feed.Wait(t.Context(), len(clip))
			require.NoError(t, err)
			clip = append(clip, more...)
		}
		u.Stop()
		assert.InDelta(t, spokenLength(text).Seconds(), clip.Duration().Seconds(), 0.02)
		assert.Greater(t, vad.Level(clip), -25.0)
	}
}
