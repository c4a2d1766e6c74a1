package llm_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/engines/llm"
)

func TestEmbeddingsRequestFollowsDocumentation(t *testing.T) {
	t.Parallel()
	far := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		assert.Equal(t, "/v1/embeddings", r.URL.Path)
		assert.Equal(t, "Bearer sk-key", r.Header.Get("Authorization"))
		assert.JSONEq(t, `{"input":["The food was delicious","and the waiter..."],"model":"text-embedding-3-small","encoding_format":"float"}`, string(body))
		_, _ = io.WriteString(w, `{"object":"list","data":[{"object":"embedding","embedding":[-0.0028842222,0.0023064255],"index":1},
			{"object":"embedding","embedding":[0.0023064255,-0.009327292],"index":0}],"model":"text-embedding-3-small","usage":{"prompt_tokens":8,"total_tokens":8}}`)
	}))
	defer far.Close()
	c := &llm.Client{Free: far.Client()}
	got, err := c.Embed(t.Context(), &llm.Engine{Name: "near", URL: far.URL + "/v1", Key: "sk-key", Model: "text-embedding-3-small"}, []string{"The food was delicious", "and the waiter..."})
	require.NoError(t, err)
	assert.Equal(t, [][]float32{{0.0023064255, -0.009327292}, {-0.0028842222, 0.0023064255}}, got)
}

func TestInvalidEmbeddingsAreAFault(t *testing.T) {
	t.Parallel()
	for body, code := range map[string]string{
		`<html>`:                                 "garbage",
		`{"data":[{"index":0,"embedding":[1]}]}`: "garbage",
		`{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}`:   "garbage",
		`{"data":[{"index":0,"embedding":[1]},{"index":2,"embedding":[1]}]}`:   "garbage",
		`{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[]}]}`:    "garbage",
		`{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":[1]}]}`: "garbage",
		"401": "refused",
		"503": "overloaded",
	} {
		asked := 0
		far := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			asked++
			switch body {
			case "401":
				w.WriteHeader(http.StatusUnauthorized)
			case "503":
				w.WriteHeader(http.StatusServiceUnavailable)
			}
			_, _ = io.WriteString(w, body)
		}))
		c := &llm.Client{Free: far.Client()}
		e := &llm.Engine{Name: "near", URL: far.URL, Key: "sk-secret", Model: "m"}
		for range 3 {
			_, err := c.Embed(t.Context(), e, []string{"a", "b"})
			f := new(llm.Fault)
			require.ErrorAs(t, err, &f, body)
			assert.Equal(t, code, f.Code, body)
			assert.NotContains(t, err.Error(), "secret")
		}
		_, err := c.Embed(t.Context(), e, []string{"a", "b"})
		require.Error(t, err)
		assert.Equal(t, 3, asked, "it rests")
		far.Close()
	}
	release := make(chan struct{})
	far := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer far.Close()
	defer close(release)
	bound, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := (&llm.Client{Free: far.Client()}).Embed(bound, &llm.Engine{Name: "near", URL: far.URL}, []string{"a"})
	f := new(llm.Fault)
	require.ErrorAs(t, err, &f)
	assert.Equal(t, "timeout", f.Code)
}
