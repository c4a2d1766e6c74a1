package main_test

import (
	"bufio"
	"context"
	"encoding/json"
	"os/exec"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"
)

// browser is a Chromium process that the test controls by the DevTools protocol. Its microphone plays a WAV file.
type browser struct {
	t    *testing.T
	ws   *websocket.Conn
	id   int
	page string // session of the open page
}

func startBrowser(t *testing.T, microphone string) *browser {
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
		for lines.Scan() { // an unread pipe would block the browser
		}
	}()
	b := &browser{t: t}
	b.ws, _, err = websocket.Dial(ctx, at, nil) //nolint:bodyclose // the connection is used after the call
	require.NoError(t, err)
	b.ws.SetReadLimit(16 << 20)
	target := b.mustCommand("Target.createTarget", object{"url": "about:blank"})["targetId"]
	b.page = b.mustCommand("Target.attachToTarget", object{"targetId": target, "flatten": true})["sessionId"].(string)
	return b
}

// mustCommand sends a DevTools command that must succeed and returns its result.
func (b *browser) mustCommand(method string, params object) object {
	b.t.Helper()
	result, failed := b.command(method, params)
	require.Nil(b.t, failed, method)
	return result
}

// command sends a DevTools command that may fail, for example while the browser leaves the page.
func (b *browser) command(method string, params object) (result object, failed any) {
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
			return got.Result, got.Error
		}
	}
}

// evaluate runs a script in the page, as if a user had clicked, and returns its value.
func (b *browser) evaluate(script string) any {
	b.t.Helper()
	got := b.mustCommand("Runtime.evaluate", object{"expression": script, "userGesture": true, "returnByValue": true, "awaitPromise": true})
	require.Nil(b.t, got["exceptionDetails"], script)
	return got["result"].(object)["value"]
}

// openPage loads a URL and waits until the page is complete.
func (b *browser) openPage(url string) {
	b.t.Helper()
	b.evaluate(`window.left = true`)
	b.mustCommand("Page.navigate", object{"url": url})
	b.awaitPage()
}

// clickAndWait clicks the element that a CSS selector matches and waits for the next page.
func (b *browser) clickAndWait(selector string) {
	b.t.Helper()
	b.evaluate(`window.left = true; document.querySelector(` + strconv.Quote(selector) + `).click()`)
	b.awaitPage()
}

func (b *browser) awaitPage() {
	b.t.Helper()
	for limit := time.Now().Add(time.Minute); ; {
		got, failed := b.command("Runtime.evaluate", object{"expression": `!window.left && document.readyState === "complete"`, "returnByValue": true})
		if failed == nil && got["result"].(object)["value"] == true {
			return
		}
		require.True(b.t, time.Now().Before(limit), "the page comes")
	}
}

// pageText returns the visible text of the page.
func (b *browser) pageText() string {
	b.t.Helper()
	return b.evaluate(`document.body.innerText`).(string)
}
