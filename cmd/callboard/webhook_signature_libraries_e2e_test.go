package main_test

import (
	"bufio"
	"context"
	"crypto/x509"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/webhook"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/access"
	"github.com/callboard/callboard/domain/event"
	domainwebhook "github.com/callboard/callboard/domain/webhook"
)

// receivedRequest is one webhook request as received.
type receivedRequest struct {
	head http.Header
	body []byte
}

// receiveSignedDelivery makes a service send one event while the signing secret changes from secret to next. It returns
// the request that the receiver got.
func receiveSignedDelivery(t *testing.T, secret, next string) (got receivedRequest) {
	t.Helper()
	far := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got.head = r.Header
		got.body, _ = io.ReadAll(r.Body)
	}))
	defer far.Close()
	roots := x509.NewCertPool()
	roots.AddCert(far.Certificate())
	c := webhook.NewClient(webhook.ClientConfig{
		RootCAs: roots, Timeout: time.Minute, Egress: access.Egress{Allow: []access.EgressRule{{Network: netip.MustParsePrefix("127.0.0.0/8")}}},
	})
	defer c.Close()
	now := time.Now()
	e := domainwebhook.SampleEvent(event.CallEnded, &domain.Webhook{Meta: domain.Meta{ID: "wh_1", WorkspaceID: "ws_1"}}, "evt_01J9Z0Q0Q0Q0Q0Q0Q0Q0Q0Q0Q0", now)
	e.Data = json.RawMessage(`{"name":"Zoë <&> ` + "\u2028" + `","n":1.50}`)
	body, err := domainwebhook.Body(e, "")
	require.NoError(t, err)
	a := domainwebhook.SignedRequest{EventID: e.ID, Number: 1, First: now, At: now, Secret: secret, Next: next}
	answer := c.Send(t.Context(), webhook.Request{URL: far.URL, Header: a.SignedHeaders(body), Body: body})
	require.Equal(t, 200, answer.Status, answer.Error)
	return got
}

func TestStandardWebhooksLibrariesVerifyDeliveries(t *testing.T) {
	t.Parallel()
	old, young := domainwebhook.NewSecret([32]byte{1}), domainwebhook.NewSecret([32]byte{2})
	got := receiveSignedDelivery(t, old, young)
	head := make(map[string]string)
	for name := range got.head {
		head[strings.ToLower(name)] = got.head.Get(name)
	}
	text, err := json.Marshal(head)
	require.NoError(t, err)
	for _, secret := range []string{old, young} {
		theirs, err := standardwebhooks.NewWebhook(secret)
		require.NoError(t, err)
		require.NoError(t, theirs.Verify(got.body, got.head))
		require.Error(t, theirs.Verify(append([]byte(" "), got.body...), got.head), "the library rejects a changed body")
		output, err := runNodeScript(t, []string{"webhook.mjs"}, "BODY="+string(got.body), "HEADERS="+string(text), "SECRET="+secret)
		require.NoError(t, err, output)
		assert.Equal(t, "id evt_01J9Z0Q0Q0Q0Q0Q0Q0Q0Q0Q0Q0\nrefused\nrefused\nrefused\n", output)
	}
	other, err := standardwebhooks.NewWebhook(domainwebhook.NewSecret([32]byte{3}))
	require.NoError(t, err)
	require.Error(t, other.Verify(got.body, got.head))
}

func TestWebhookGuideProgramsVerifyDeliveries(t *testing.T) {
	t.Parallel()
	secret := domainwebhook.NewSecret([32]byte{4})
	got := receiveSignedDelivery(t, secret, "")
	signature := got.head.Get("X-Svc-Signature")
	for _, l := range []struct {
		fence, file string
		command     []string
	}{
		{"go", "verify.go", []string{"go", "run"}},
		{"js", "verify.cjs", []string{"node"}},
		{"python", "verify.py", []string{"python3"}},
		{"php", "verify.php", []string{"php"}},
		{"ruby", "verify.rb", []string{"ruby"}},
		{"bash", "verify.sh", []string{"bash"}},
	} {
		blocks := codeBlocks(t, "docs/webhooks.md", l.fence)
		require.Len(t, blocks, 1, l.fence)
		_, err := exec.LookPath(l.command[0])
		require.NoError(t, err, "make tools installs %s", l.command[0])
		path := filepath.Join(t.TempDir(), l.file)
		require.NoError(t, os.WriteFile(path, []byte(blocks[0]), 0o600))
		if l.fence == "go" { // built once for the following languages too
			program := filepath.Join(filepath.Dir(path), "verify")
			build := exec.CommandContext(t.Context(), "go", "build", "-o", program, path)
			build.Env = append(os.Environ(), "CGO_ENABLED=0") // like the service, so that its packages are already compiled
			output, err := build.CombinedOutput()
			require.NoError(t, err, "%s", output)
			l.command, path = nil, program
		}
		verify := func(secret, signature, body string) bool {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			args := append(append([]string{}, l.command...), path, secret, signature)
			cmd := exec.CommandContext(ctx, args[0], args[1:]...)
			cmd.Stdin = strings.NewReader(body)
			return cmd.Run() == nil
		}
		assert.True(t, verify(secret, signature, string(got.body)), l.fence)
		assert.False(t, verify(secret, signature, string(got.body)+"\n"), l.fence)
		assert.False(t, verify(secret+"x", signature, string(got.body)), l.fence)
		assert.False(t, verify(secret, signature[:len(signature)-1], string(got.body)), l.fence)
	}
}

// localReceiver represents the program of a developer, to which callboard listen forwards events.
type localReceiver struct {
	mu             sync.Mutex
	url            string
	all            []receivedRequest
	responseStatus int // status of its responses
}

func newLocalReceiver(t *testing.T) *localReceiver {
	t.Helper()
	h := &localReceiver{responseStatus: http.StatusOK}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		h.mu.Lock()
		defer h.mu.Unlock()
		h.all = append(h.all, receivedRequest{head: r.Header, body: body})
		w.WriteHeader(h.responseStatus)
	}))
	t.Cleanup(s.Close)
	h.url = s.URL
	return h
}

func (h *localReceiver) last() (d receivedRequest, n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if n = len(h.all); n > 0 {
		d = h.all[n-1]
	}
	return d, n
}

func TestListenCommandForwardsEvents(t *testing.T) {
	t.Parallel()
	s := newService(t)
	const secret = "a secret for the bench"
	h := newLocalReceiver(t)
	cmd := exec.CommandContext(t.Context(), binary, "listen", "--url", "http://"+s.http, "--forward-to", h.url+"/hooks", "--events", "workspace.*", "--secret", secret)
	cmd.Env = append(os.Environ(), "CALLBOARD_KEY="+s.key)
	output, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	notes := bufio.NewReader(output)
	line, err := notes.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "listening; signed with "+secret+"\n", line)
	remainder := make(chan string, 1)
	go func() {
		rest, _ := io.ReadAll(notes)
		remainder <- string(rest)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		if rest := <-remainder; t.Failed() {
			t.Logf("callboard listen: %s", rest)
		}
	})

	s.api("PATCH", "/v1/workspace", object{"name": "bench"})
	var got receivedRequest
	s.await("the event", time.Minute, func() bool {
		var n int
		got, n = h.last()
		return n > 0
	})
	assert.Equal(t, domainwebhook.Sign(secret, got.body), got.head.Get("X-Svc-Signature"))
	var e struct{ Type string }
	require.NoError(t, json.Unmarshal(got.body, &e))
	assert.Equal(t, "workspace.updated", e.Type)

	s.kill9() // the listen command reconnects by itself
	s.start()
	s.api("PATCH", "/v1/workspace", object{"name": "bench again"})
	s.await("an event after the reconnect", time.Minute, func() bool {
		_, n := h.last()
		return n > 1
	})
	endpoint := s.api("POST", "/v1/webhooks", object{"url": s.receiver.url, "events": []string{"call.ended"}})["id"].(string)
	out, errs, err := s.runCommand("trigger", "call.ended", "--webhook", endpoint, "--url", "http://"+s.http, "--key", s.key)
	require.NoError(t, err, errs)
	assert.Regexp(t, `^call\.ended  evt_\S+  204  \d+ ms$`, out)

	_, errs, err = s.runCommand("listen", "--url", "http://"+s.http, "--key", "svc_sk_live_wrong", "--forward-to", h.url)
	require.Error(t, err)
	assert.Contains(t, errs, "refused")
}

func TestTriggerSendsSampleWithoutService(t *testing.T) {
	t.Parallel()
	h := newLocalReceiver(t)
	trigger := func(args ...string) (string, error) {
		out, err := exec.CommandContext(t.Context(), binary, append([]string{"trigger"}, args...)...).CombinedOutput()
		return string(out), err
	}
	output, err := trigger("call.initiated", "--forward-to", h.url, "--secret", "a secret for the bench")
	require.NoError(t, err, output)
	got, n := h.last()
	require.Equal(t, 1, n)
	assert.Equal(t, domainwebhook.Sign("a secret for the bench", got.body), got.head.Get("X-Svc-Signature"))
	var e struct {
		Type string
		Data struct{ Test bool }
	}
	require.NoError(t, json.Unmarshal(got.body, &e))
	assert.Equal(t, "call.initiated", e.Type)
	assert.True(t, e.Data.Test)
	h.mu.Lock()
	h.responseStatus = http.StatusServiceUnavailable
	h.mu.Unlock()
	output, err = trigger("call.ended", "--forward-to", h.url)
	require.Error(t, err)
	assert.Contains(t, output, "answered 503")
	output, err = trigger("call.ended", "--forward-to", "http://192.0.2.1:9/")
	require.Error(t, err)
	assert.Contains(t, output, "is not on this machine")
	output, err = trigger("call.eaten", "--forward-to", h.url)
	require.Error(t, err)
	assert.Contains(t, output, "is not an event type")
}
