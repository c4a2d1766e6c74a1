package main_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media/g711"
	"github.com/callboard/callboard/media/speech"
	"github.com/callboard/callboard/media/wav"
)

// browser is a Chromium whose microphone is a file, spoken to by the DevTools
// protocol.
type browser struct {
	t    *testing.T
	ws   *websocket.Conn
	id   int
	page string // the session of its page
}

func browse(t *testing.T, microphone string) *browser {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, "chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--user-data-dir="+t.TempDir(),
		"--remote-debugging-port=0", "--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream", "--use-file-for-fake-audio-capture="+microphone, "about:blank")
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { cancel(); _ = cmd.Wait() })
	lines := bufio.NewScanner(out)
	at := ""
	for at == "" && lines.Scan() {
		if m := regexp.MustCompile(`DevTools listening on (ws://\S+)`).FindStringSubmatch(lines.Text()); m != nil {
			at = m[1]
		}
	}
	require.NotEmpty(t, at, "chromium listens")
	go func() {
		for lines.Scan() { // what it says must not fill the pipe
		}
	}()
	b := &browser{t: t}
	b.ws, _, err = websocket.Dial(ctx, at, nil) //nolint:bodyclose // it is the socket
	require.NoError(t, err)
	b.ws.SetReadLimit(16 << 20)
	target := b.call("Target.createTarget", object{"url": "about:blank"})["targetId"]
	b.page = b.call("Target.attachToTarget", object{"targetId": target, "flatten": true})["sessionId"].(string)
	return b
}

// call is one command; its answer.
func (b *browser) call(method string, params object) object {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), time.Minute)
	defer cancel()
	b.id++
	message := object{"id": b.id, "method": method, "params": params}
	if b.page != "" {
		message["sessionId"] = b.page
	}
	text, err := json.Marshal(message)
	require.NoError(b.t, err)
	require.NoError(b.t, b.ws.Write(ctx, websocket.MessageText, text))
	for {
		_, text, err = b.ws.Read(ctx)
		require.NoError(b.t, err)
		var got struct {
			ID     int
			Result object
			Error  any
		}
		require.NoError(b.t, json.Unmarshal(text, &got))
		if got.ID == b.id {
			require.Nil(b.t, got.Error, method)
			return got.Result
		}
	}
}

// run evaluates a script as if somebody had clicked.
func (b *browser) run(script string) any {
	b.t.Helper()
	got := b.call("Runtime.evaluate", object{"expression": script, "userGesture": true, "returnByValue": true})
	require.Nil(b.t, got["exceptionDetails"], script)
	return got["result"].(object)["value"]
}

func TestAnAgentIsTalkedToByMicrophoneInABrowser(t *testing.T) {
	t.Parallel()
	say, err := speech.New(speech.Config{CacheDir: t.TempDir()})
	require.NoError(t, err)
	yes, err := say.Speak(t.Context(), speech.Request{Text: "Yes.", Voice: "en-us"})
	require.NoError(t, err)
	silence := bytes.Repeat([]byte{0xff}, 3*8000)
	file := filepath.Join(t.TempDir(), "yes.wav")
	require.NoError(t, os.WriteFile(file, wav.EncodePCM(1, g711.DecodeMu(slices.Concat(silence, yes, silence))), 0o600))
	s := newPlainService(t)
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

	b := browse(t, file)
	b.call("Page.navigate", object{"url": base + "/talk#/v1/" + path})
	s.await("the page is there", time.Minute, func() bool {
		return b.run(`document.readyState === "complete" && !!document.getElementById("start")`) == true
	})
	b.run(`document.getElementById("start").click()`)
	s.await("the call is over", 90*time.Second, func() bool {
		return strings.HasPrefix(b.run(`document.getElementById("state").textContent`).(string), "The call is over")
	})
	read := b.run(`document.getElementById("transcript").innerText`).(string)
	assert.Regexp(t, `(?s)^agent: Will you come\?.*caller: ye(s|ah).*agent: See you tomorrow\.`, read)
	id := b.run(`document.getElementById("call").textContent`).(string)
	var call object
	s.await("the call is kept", time.Minute, func() bool { call = s.api("GET", "/v1/calls/"+id, nil); return call["status"] == "completed" })
	assert.Equal(t, []any{"inbound", "confirmed", agent, "Browser"}, []any{call["direction"], call["disposition"], call["agent_id"], call["caller"].(object)["name"]})
}
