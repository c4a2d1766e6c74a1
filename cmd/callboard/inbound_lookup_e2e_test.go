package main_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain/webhook"
)

func TestInboundLookupRunsBeforeAgentAnswers(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	asked, secrets := map[string]string{}, map[string]string{} // call ids and webhook secrets by path
	knows := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var about struct {
			CallID string `json:"call_id"`
			From   string
		}
		body, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(body, &about)
		mu.Lock()
		asked[r.URL.Path] = about.CallID + " " + about.From
		if secret := secrets[r.URL.Path]; secret != "" {
			assert.Equal(t, webhook.Sign(secret, body), r.Header.Get("X-Svc-Signature"))
			assert.Equal(t, about.CallID, r.Header.Get("Webhook-Id"))
			at, _ := strconv.ParseInt(r.Header.Get("Webhook-Timestamp"), 10, 64)
			key, _ := webhook.StandardKey(secret)
			assert.Equal(t, webhook.StandardSign(key, about.CallID, time.Unix(at, 0), body), r.Header.Get("Webhook-Signature"))
		} else {
			assert.Empty(t, r.Header.Get("X-Svc-Signature"))
		}
		mu.Unlock()
		switch r.URL.Path {
		case "/known":
			_, _ = w.Write([]byte(`{"variables": {"name": "Ada", "balance": 12, "more": {"a": true}}}`))
		case "/slow":
			<-r.Context().Done()
		case "/wrong":
			http.Error(w, "{}", http.StatusInternalServerError)
		case "/garbage":
			_, _ = w.Write([]byte(`["Ada"]`))
		case "/big":
			_, _ = w.Write([]byte(`{"variables": {"name": "` + strings.Repeat("A", 70_000) + `"}}`))
		case "/elsewhere":
			http.Redirect(w, r, "/known", http.StatusTemporaryRedirect)
		}
	}))
	t.Cleanup(knows.Close)
	s := newRaceFreeService(t)
	s.key = s.testKey()
	type want struct{ sentences, code string }
	const unknown = "Good day caller, you have no money."
	cases := map[string]want{
		"/known": {"Good day Ada, you have 12 money.", ""}, "/nothing": {unknown, ""}, "/slow": {unknown, "timeout"}, "/wrong": {unknown, "http_status"},
		"/garbage": {unknown, "bad_answer"}, "/big": {unknown, "bad_answer"}, "/elsewhere": {unknown, "http_status"},
	}
	calls, i := map[string]string{}, 0
	for path := range cases {
		agent := s.api("POST", "/v1/agents", object{
			"name": path, "first_message": "Good day {{name | caller}}, you have {{balance | no}} money.", "on_inbound": object{"url": knows.URL + path, "timeout_ms": 700},
		})["id"].(string)
		if path == "/known" { // of two calls the newest counts
			s.api("POST", "/v1/agents/"+agent+"/on-inbound-secret", nil)
			created := s.api("POST", "/v1/agents/"+agent+"/on-inbound-secret", nil)
			mu.Lock()
			secrets[path] = created["secret"].(string)
			mu.Unlock()
			assert.NotContains(t, fmt.Sprint(s.api("GET", "/v1/agents/"+agent, nil)), created["secret"])
		}
		i++
		number := fmt.Sprintf("+1500555030%d", i)
		s.api("POST", "/v1/phone-numbers", object{"number": number, "agent_id": agent})
		calls[path] = s.api("POST", "/v1/test/inbound-calls", object{"to": number, "from": "+12025550177"})["id"].(string)
	}
	got := map[string]want{}
	for path, id := range calls {
		_, _, sentences := s.callResult(id)
		require.NotEmpty(t, sentences, path)
		got[path] = want{sentences: sentences[0]}
		mu.Lock()
		assert.Equal(t, id+" +12025550177", asked[path])
		mu.Unlock()
	}
	for _, e := range s.committedEvents() {
		if e.Type != "agent.error" {
			continue
		}
		var d struct {
			CallID string `json:"call_id"`
			Stage  string
			Code   string
		}
		require.NoError(t, json.Unmarshal(e.Data, &d))
		for path, id := range calls {
			if id == d.CallID && d.Stage == "on_inbound" {
				got[path] = want{got[path].sentences, d.Code}
			}
		}
	}
	assert.Equal(t, cases, got)
	found := func(words string) (ids []string) {
		for _, c := range s.listData("/v1/calls?transcript=" + url.QueryEscape(words)) {
			ids = append(ids, c.(object)["id"].(string))
		}
		return ids
	}
	assert.Equal(t, []string{calls["/known"]}, found(`MONEY "good day ada"`), "the transcript search finds the call")
	assert.Len(t, found("caller"), len(calls)-1)
	assert.Empty(t, found("pigeon"))
	code, text, _ := s.tryRequest("GET", "/v1/calls?transcript=%22open", nil)
	assert.Equal(t, http.StatusUnprocessableEntity, code)
	assert.Contains(t, string(text), "transcript")
	c := s.awaitCallEnd(calls["/known"], time.Minute)
	assert.Equal(t, object{"name": "Ada", "balance": 12.0, "more": object{"a": true}}, c["context"])
}
