package actors_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/llm"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/ask"
)

// topics is a server of /v1/embeddings that knows two things to speak of.
type topics struct {
	mu    sync.Mutex
	fails bool
	asked []string // model and number of texts
	most  int
}

func (s *topics) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Model string   `json:"model"`
		Input []string `json:"input"`
	}
	_ = json.NewDecoder(r.Body).Decode(&q)
	s.mu.Lock()
	s.asked, s.most = append(s.asked, q.Model), max(s.most, len(q.Input))
	fails := s.fails
	s.mu.Unlock()
	if fails || r.Header.Get("Authorization") != "Bearer sk-secret" || r.URL.Path != "/v1/embeddings" {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	data := make([]map[string]any, 0, len(q.Input))
	for i, text := range q.Input {
		v := []float32{0.1, 0.1, 1}
		for axis, words := range [][]string{{"car", "garage"}, {"lunch", "eat"}} {
			for _, word := range words {
				if strings.Contains(strings.ToLower(text), word) {
					v[axis], v[2] = 1, 0
				}
			}
		}
		data = append([]map[string]any{{"object": "embedding", "index": i, "embedding": v}}, data...) // in no order
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": data, "model": q.Model})
}

func (s *topics) set(fails bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fails = fails
}

func (s *topics) models() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.asked...)
}

func TestKnowledgeIsFoundByWhatItMeansAndByItsWordsWhereNoModelAnswers(t *testing.T) {
	t.Parallel()
	s := new(topics)
	far := httptest.NewServer(s)
	t.Cleanup(far.Close)
	h := build(t, nil)
	h.shut()
	meanings := &llm.Engine{Name: "near", URL: far.URL + "/v1", Key: "sk-secret", Model: "one"}
	h.models.Meanings = meanings
	h.open()
	ctx := t.Context()
	var many strings.Builder
	for range 70 { // more passages than a request has
		many.WriteString("# Nothing\n" + strings.Repeat("Nothing of that. ", 20) + "\n\n")
	}
	base, err := h.desk().CreateKnowledge(ctx, h.test, &domain.KnowledgeBase{Name: "house"}, []ask.NewSource{
		{Type: domain.SourceText, Name: "house.txt", Text: "The garage is behind the house.", ContentType: "text/plain"},
		{Type: domain.SourceText, Name: "noon.txt", Text: "We eat at noon; where is told at the door.", ContentType: "text/plain"},
		{Type: domain.SourceText, Name: "many.md", Text: many.String(), ContentType: "text/markdown"},
	})
	require.NoError(t, err)
	meant := func(model string) {
		t.Helper()
		h.until(time.Minute, "all has its meaning", func() bool {
			k, err := h.desk().KnowledgeBase(ctx, h.test, base.ID)
			return err == nil && k.Status == domain.KnowledgeReady && k.EmbeddingModel == model
		})
	}
	first := func(query string) string {
		t.Helper()
		found, err := h.desk().SearchKnowledge(ctx, h.test, base.ID, query, 3)
		require.NoError(t, err)
		if len(found.Data) == 0 {
			return ""
		}
		return found.Data[0].SourceName
	}
	meant("near/one")
	assert.Equal(t, "house.txt", first("where may I leave my car"), "no word of it stands there")
	n := len(s.models())
	assert.Equal(t, "house.txt", first("where may I leave my car"))
	assert.Len(t, s.models(), n, "a question is asked once")
	s.mu.Lock()
	assert.LessOrEqual(t, s.most, llm.EmbedMost)
	s.mu.Unlock()

	s.set(true)
	assert.Equal(t, "noon.txt", first("where do cars go"), "by words alone, where the model does not answer")
	_, err = h.desk().AddSource(ctx, h.test, base.ID, ask.NewSource{Type: domain.SourceText, Name: "bus.txt", Text: "Lunch is free on the bus.", ContentType: "text/plain"})
	require.NoError(t, err)
	h.until(time.Minute, "it can be found", func() bool { return first("bus") == "bus.txt" })
	assert.Equal(t, "noon.txt", first("where may I leave my car"), "not all has a meaning now")
	s.set(false)
	meant("near/one")
	assert.Equal(t, "house.txt", first("where may I leave my car"))

	h.shut()
	other := *meanings
	other.Model = "two"
	h.models.Meanings = &other
	h.open()
	meant("near/two")
	assert.Equal(t, "house.txt", first("where may my car stay"))
	asked := s.models()
	assert.Equal(t, "two", asked[len(asked)-1])
	h.shut()
	h.models.Meanings = nil
	h.open()
	assert.Equal(t, "noon.txt", first("where may I leave my car"), "nobody is asked where nobody is configured")
	assert.Len(t, s.models(), len(asked))
}
