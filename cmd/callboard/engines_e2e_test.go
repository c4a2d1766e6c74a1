package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/engines/enginetest"
	"github.com/callboard/callboard/sip/siptest"
)

// enginesFile names the servers as engines: well, sick (both over OpenAI's
// HTTP), eleven and deepgram.
func enginesFile(t testing.TB, well, sick *enginetest.Server) string {
	t.Helper()
	dir := t.TempDir()
	key := filepath.Join(dir, "key")
	require.NoError(t, os.WriteFile(key, []byte(enginetest.Key+"\n"), 0o600))
	path := filepath.Join(dir, "engines.yaml")
	require.NoError(t, os.WriteFile(path, fmt.Appendf(nil, `
engines:
  well: {kind: openai, url: "%[1]s/v1", key_file: %[4]s, tts: {}, stt: {model: any}}
  sick: {kind: openai, url: "%[2]s/v1", key_file: %[4]s, tts: {first_ms: 300, stall_ms: 300}, stt: {model: any, final_ms: 300}}
  deepgram: {kind: deepgram, url: "%[3]s", key_file: %[4]s, stt: {}}
  eleven: {kind: elevenlabs, url: "%[1]s", key_file: %[4]s, tts: {voice: rachel}}
stt: [deepgram]
`, well.URL, sick.URL, well.WS(), key), 0o600))
	return path
}

// asker asks whoever answers, and listens.
func (s *service) asker(more object) string {
	s.t.Helper()
	p := s.api("POST", "/v1/pathways", object{
		"name": "asker", "start": "ask",
		"nodes": []object{
			{"id": "ask", "type": "collect", "input": "speech", "timeout_seconds": 8, "retries": 1, "prompt": "Will you come on Monday, or shall we find another day for you? Please say yes or no, whenever you like."},
			{"id": "yes", "type": "end", "outcome": "confirmed", "prompt": "Thank you very much."},
			{"id": "none", "type": "end"},
		},
		"edges": []object{
			{"from": "ask", "to": "yes", "when": object{"type": "intent", "intent": "yes"}},
			{"from": "ask", "to": "none", "when": object{"type": "else"}},
		},
	})
	body := object{"name": "asker", "pathway_id": p["id"]}
	for k, v := range more {
		body[k] = v
	}
	return s.api("POST", "/v1/agents", body)["id"].(string)
}

func TestOperatorsEnginesSpeakAndHearAndOthersTakeTheirPlaceWhenTheyFail(t *testing.T) {
	t.Parallel()
	well, sick := enginetest.New(t), enginetest.New(t)
	sick.Is("speech", enginetest.Hangs)
	sick.Is("transcriptions", enginetest.Garbage)
	s := newPlainService(t, "CALLBOARD_ENGINES_FILE="+enginesFile(t, well, sick))
	s.key = s.testKey()
	const talker = "+15005550007" // "Hello?", and more once we pause
	calls := map[string]string{
		"well":   s.asker(object{"voice": object{"engine": "well"}, "stt": object{"engine": "well"}}),
		"stream": s.asker(object{"voice": object{"engine": "eleven"}}), // heard by deepgram
		"sick":   s.asker(object{"voice": object{"engine": "sick"}, "stt": object{"engine": "sick"}}),
	}
	for name, agent := range calls {
		calls[name] = s.outbound(talker, agent, object{"from": "+15005550100"})
	}
	for name, id := range calls {
		c := s.ended(id, time.Minute)
		assert.Equal(t, "confirmed", c["disposition"], "%s: %v", name, c)
		latency, _ := c["latency"].(object)
		require.NotNil(t, latency, "%s: %v", name, c)
		turn := latency["turns"].([]any)[0].(object)
		assert.Equal(t, "speech", turn["input"], name)
		assert.GreaterOrEqual(t, turn["total_ms"], turn["stt_ms"], name)
		assert.GreaterOrEqual(t, turn["eou_ms"].(float64), 450.0, "%s: the silence that ends a turn", name)
		segments := s.api("GET", "/v1/calls/"+id+"/transcript", nil)["segments"].([]any)
		said := func(speaker string) (texts []any) {
			for _, g := range segments {
				if g.(object)["speaker"] == speaker {
					texts = append(texts, g.(object)["text"])
				}
			}
			return texts
		}
		assert.Contains(t, said("caller"), "yes please", name)
		assert.Contains(t, said("agent"), "Thank you very much.", name)
		var faults []string
		for _, e := range s.api("GET", "/v1/calls/"+id+"/events", nil)["data"].([]any) {
			if e.(object)["type"] == "agent.error" {
				d := e.(object)["data"].(object)
				assert.Equal(t, true, d["recovered"], name)
				faults = append(faults, fmt.Sprint(d["stage"], " ", d["code"], ": ", d["message"]))
			}
		}
		sound := samples(t, s.recording(id), 2)
		pitched := slices.ContainsFunc(slices.Collect(slices.Chunk(sound, rate/5)), func(p []float64) bool { return pure(p, 400) > 0.8 })
		if name != "sick" {
			assert.True(t, pitched, "%s: the engine is heard in the recording", name)
			assert.Empty(t, faults, name)
			continue
		}
		assert.False(t, pitched)
		assert.Greater(t, loud(sound), 100.0, "somebody speaks in its place")
		assert.Contains(t, faults, "tts engine_slow: the engine sick failed")
		assert.Contains(t, faults, "stt engine_garbage: the engine sick failed")
	}
	code, text, _ := s.try("POST", "/v1/calls/outbound", object{"to": talker, "from": "+15005550100", "agent_id": s.asker(object{"voice": object{"engine": "nobody"}})})
	assert.Equal(t, 409, code)
	assert.Contains(t, string(text), "engine_not_configured")
	assert.NotContains(t, s.logged(), enginetest.Key, "no log tells the key")
}

func TestEveryCommandOfTheEnginesGuideWorks(t *testing.T) {
	t.Parallel()
	blocks := fences(t, "docs/engines.md", "sh run")
	require.Len(t, blocks, 2)
	port := strconv.Itoa(siptest.Port(t))
	path := filepath.Join(t.TempDir(), "engines.yaml")
	require.NoError(t, os.WriteFile(path, []byte(`engines: {hum: {kind: openai, url: "http://127.0.0.1:`+port+`/v1", tts: {sample_rate: 8000}}}`), 0o600))
	s := newPlainService(t, "CALLBOARD_ENGINES_FILE="+path)
	said := s.follow(t.TempDir(), blocks, "", "TEST_KEY="+s.testKey(), "ENGINE_PORT="+port)
	assert.Equal(t, "[]\n", said.with(t, blocks, "voice"), "the engine spoke, and nobody in its place")
}
