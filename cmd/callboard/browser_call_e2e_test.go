package main_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media/g711"
	"github.com/callboard/callboard/media/speech"
	"github.com/callboard/callboard/media/wav"
)

func TestBrowserCallWithMicrophoneReachesAgent(t *testing.T) {
	t.Parallel()
	say, err := speech.NewSynthesizerChain(speech.Config{})
	require.NoError(t, err)
	yes, err := say.Speak(t.Context(), speech.Request{Text: "Yes.", Voice: "en-us"})
	require.NoError(t, err)
	silence := bytes.Repeat([]byte{0xff}, 3*8000)
	file := filepath.Join(t.TempDir(), "yes.wav")
	require.NoError(t, os.WriteFile(file, wav.EncodePCM(1, g711.DecodeMu(slices.Concat(silence, yes, silence))), 0o600))
	s := newRaceFreeService(t)
	s.key = s.testKey()
	pathway := s.api("POST", "/v1/pathways", object{
		"name": "come", "start": "ask",
		"nodes": []object{
			{"id": "ask", "type": "collect", "input": "speech", "prompt": "Will you come?", "retries": 1, "timeout_seconds": 12},
			{"id": "yes", "type": "end", "prompt": "See you tomorrow.", "outcome": "confirmed"},
			{"id": "bye", "type": "end", "prompt": "Goodbye."},
		},
		"edges": []object{{"from": "ask", "to": "yes", "when": object{"type": "intent", "intent": "yes"}}, {"from": "ask", "to": "bye", "when": object{"type": "else"}}},
	})
	agent := s.api("POST", "/v1/agents", object{"name": "Reception", "pathway_id": pathway["id"]})["id"].(string)
	at := s.api("POST", "/v1/tickets", object{"path": "/v1/agents/" + agent + "/talk"})["url"].(string)
	base, path, _ := strings.Cut(at, "/v1/")

	b := startBrowser(t, file)
	b.mustCommand("Page.navigate", object{"url": base + "/talk#/v1/" + path})
	s.await("the loaded page", time.Minute, func() bool {
		return b.evaluate(`document.readyState === "complete" && !!document.getElementById("start")`) == true
	})
	b.evaluate(`document.getElementById("start").click()`)
	s.await("the end of the call", 90*time.Second, func() bool {
		return strings.HasPrefix(b.evaluate(`document.getElementById("state").textContent`).(string), "The call is over")
	})
	read := b.evaluate(`document.getElementById("transcript").innerText`).(string)
	assert.Regexp(t, `(?s)^agent: Will you come\?.*caller: ye(s|ah|p).*agent: See you tomorrow\.`, read)
	id := b.evaluate(`document.getElementById("call").textContent`).(string)
	var call object
	s.await("the completed call record", time.Minute, func() bool { call = s.api("GET", "/v1/calls/"+id, nil); return call["status"] == "completed" })
	assert.Equal(t, []any{"inbound", "confirmed", agent, "Browser"}, []any{call["direction"], call["disposition"], call["agent_id"], call["caller"].(object)["name"]})
}
