package node_test

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

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/engines/llm"
	"github.com/callboard/callboard/media/speech"
)

// embeddingServer serves /v1/embeddings. Its vectors distinguish two topics.
type embeddingServer struct {
	mu        sync.Mutex
	fails     bool
	requests  []string // model and number of texts of each request
	maxBatch  int
	hold      chan struct{} // replies wait until it is closed; nil: immediate replies
	cancelled int           // requests cancelled before their reply
}

func (s *embeddingServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Model string   `json:"model"`
		Input []string `json:"input"`
	}
	_ = json.NewDecoder(r.Body).Decode(&q)
	s.mu.Lock()
	s.requests, s.maxBatch = append(s.requests, q.Model), max(s.maxBatch, len(q.Input))
	fails, hold := s.fails, s.hold
	s.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-r.Context().Done():
			s.mu.Lock()
			s.cancelled++
			s.mu.Unlock()
			return
		}
	}
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
		data = append([]map[string]any{{"object": "embedding", "index": i, "embedding": v}}, data...) // in reverse order
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": data, "model": q.Model})
}

func (s *embeddingServer) setFailing(fails bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fails = fails
}

func (s *embeddingServer) requestedModels() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.requests...)
}

func TestKnowledgeSearchFallsBackToWordsIfNoEmbeddingModelAnswers(t *testing.T) {
	t.Parallel()
	s := new(embeddingServer)
	far := httptest.NewServer(s)
	t.Cleanup(far.Close)
	h := newFixture(t, nil)
	h.shutdown()
	meanings := &llm.Engine{Name: "near", URL: far.URL + "/v1", Key: "sk-secret", Model: "one"}
	h.models.Embedding = meanings
	h.start()
	ctx := t.Context()
	var many strings.Builder
	for range 70 { // more passages than one request holds
		many.WriteString("# Nothing\n" + strings.Repeat("Nothing of that. ", 20) + "\n\n")
	}
	base, err := h.services().Knowledge.CreateKnowledge(ctx, h.test, &domain.KnowledgeBase{Name: "house"}, []domain.NewKnowledgeSource{
		{Type: domain.SourceText, Name: "house.txt", Text: "The garage is behind the house.", ContentType: "text/plain"},
		{Type: domain.SourceText, Name: "noon.txt", Text: "We eat at noon; where is told at the door.", ContentType: "text/plain"},
		{Type: domain.SourceText, Name: "many.md", Text: many.String(), ContentType: "text/markdown"},
	})
	require.NoError(t, err)
	meant := func(model string) {
		t.Helper()
		h.waitUntil(time.Minute, "all passages have embeddings", func() bool {
			k, err := h.services().Knowledge.KnowledgeBase(ctx, h.test, base.ID)
			return err == nil && k.Status == domain.KnowledgeReady && k.EmbeddingModel == model
		})
	}
	first := func(query string) string {
		t.Helper()
		found, err := h.services().Knowledge.SearchKnowledge(ctx, h.test, base.ID, query, 3)
		require.NoError(t, err)
		if len(found.Data) == 0 {
			return ""
		}
		return found.Data[0].SourceName
	}
	meant("near/one")
	assert.Equal(t, "house.txt", first("where may I leave my car"), "the passage contains no word of the query")
	n := len(s.requestedModels())
	assert.Equal(t, "house.txt", first("where may I leave my car"))
	assert.Len(t, s.requestedModels(), n, "the embedding of a query is cached")
	s.mu.Lock()
	assert.LessOrEqual(t, s.maxBatch, llm.EmbedMost)
	s.mu.Unlock()

	s.setFailing(true)
	assert.Equal(t, "noon.txt", first("where do cars go"), "by words alone, where the model does not answer")
	_, err = h.services().Knowledge.AddSource(ctx, h.test, base.ID, domain.NewKnowledgeSource{Type: domain.SourceText, Name: "bus.txt", Text: "Lunch is free on the bus.", ContentType: "text/plain"})
	require.NoError(t, err)
	h.waitUntil(time.Minute, "the new source can be found", func() bool { return first("bus") == "bus.txt" })
	assert.Equal(t, "noon.txt", first("where may I leave my car"), "some passages have no embedding")
	s.setFailing(false)
	meant("near/one")
	assert.Equal(t, "house.txt", first("where may I leave my car"))

	h.shutdown()
	other := *meanings
	other.Model = "two"
	h.models.Embedding = &other
	h.start()
	meant("near/two")
	assert.Equal(t, "house.txt", first("where may my car stay"))
	asked := s.requestedModels()
	assert.Equal(t, "two", asked[len(asked)-1])
	h.shutdown()
	h.models.Embedding = nil
	h.start()
	assert.Equal(t, "noon.txt", first("where may I leave my car"), "no model is requested if none is configured")
	assert.Len(t, s.requestedModels(), len(asked))
}

func knowledgeText(name, words string) domain.NewKnowledgeSource {
	return domain.NewKnowledgeSource{Type: domain.SourceText, Name: name, Text: words, ContentType: "text/markdown"}
}

func TestKnowledgeBasesAreSearchedTogetherAndSlowEmbeddingDelaysNoUpload(t *testing.T) {
	t.Parallel()
	s := &embeddingServer{hold: make(chan struct{})}
	far := httptest.NewServer(s)
	t.Cleanup(far.Close)
	h := newFixture(t, nil)
	h.shutdown()
	h.models.Embedding = &llm.Engine{Name: "near", URL: far.URL + "/v1", Key: "sk-secret", Model: "one"}
	h.start()
	ctx := t.Context()
	var many strings.Builder
	for range 30 {
		many.WriteString("# Nothing\n" + strings.Repeat("Nothing of that. ", 20) + "\n\n")
	}
	doors, err := h.services().Knowledge.CreateKnowledge(ctx, h.test, &domain.KnowledgeBase{Name: "doors"}, []domain.NewKnowledgeSource{knowledgeText("doors", many.String()+"# Doors\nWhere is told at each of them.")})
	require.NoError(t, err)
	h.waitUntil(time.Minute, "the model receives a request", func() bool { return len(s.requestedModels()) == 1 })
	_, err = h.services().Knowledge.AddSource(ctx, h.test, doors.ID, knowledgeText("bus", "The bus is free."))
	require.NoError(t, err)
	h.waitUntil(time.Minute, "the new source can be found", func() bool {
		found, err := h.services().Knowledge.SearchKnowledge(ctx, h.test, doors.ID, "bus", 3)
		return err == nil && len(found.Data) == 1
	})
	s.mu.Lock()
	assert.Zero(t, s.cancelled, "the model has not answered yet")
	s.mu.Unlock()
	close(s.hold)

	parking, err := h.services().Knowledge.CreateKnowledge(ctx, h.test, &domain.KnowledgeBase{Name: "house"}, []domain.NewKnowledgeSource{knowledgeText("house", "The garage is behind the house.")})
	require.NoError(t, err)
	for _, id := range []string{doors.ID, parking.ID} {
		h.waitUntil(time.Minute, "all passages have embeddings", func() bool {
			k, err := h.services().Knowledge.KnowledgeBase(ctx, h.test, id)
			return err == nil && k.EmbeddingModel == "near/one"
		})
	}
	_, from := h.services().Knowledge.Retrieve(ctx, h.test, []string{doors.ID, parking.ID, "kb_nobody"}, "where may I leave my car")
	require.NotEmpty(t, from)
	assert.Equal(t, "house", from[0].Name, "a rare word in the other base ranks below the embedding match")

	s.setFailing(true)
	yard, err := h.services().Knowledge.CreateKnowledge(ctx, h.test, &domain.KnowledgeBase{Name: "yard"}, []domain.NewKnowledgeSource{knowledgeText("yard", "You may leave a bag in the yard.")})
	require.NoError(t, err)
	h.waitUntil(time.Minute, "the new source can be found", func() bool {
		k, err := h.services().Knowledge.KnowledgeBase(ctx, h.test, yard.ID)
		return err == nil && k.Status == domain.KnowledgeReady
	})
	_, from = h.services().Knowledge.Retrieve(ctx, h.test, []string{parking.ID, yard.ID}, "where may I leave my car")
	require.NotEmpty(t, from)
	assert.Equal(t, "yard", from[0].Name, "only words rank until all passages have embeddings")
}

func TestFirstMessageIsSynthesizedForMediaStreamEngines(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	h.shutdown()
	h.realtime = speech.NewRealtimeEngines([]speech.NamedRealtimeEngine{{Name: "bot", IsMediaStream: true}, {Name: "voice"}}, []string{"voice"})
	h.start()
	ctx := t.Context()
	for engine, start := range map[string]string{"bot": "say", "voice": "converse", "": "converse"} {
		a, err := h.services().Agents.CreateAgent(ctx, h.test, &domain.Agent{Name: "a" + engine, Language: "en-US", FirstMessage: "Good day {{name | there}}.", Realtime: &domain.AgentRealtime{Engine: engine}})
		require.NoError(t, err)
		script, err := h.services().Scripts.Script(ctx, h.test, a.ID, "")
		require.NoError(t, err)
		assert.Equal(t, start, script.Pathway.Start, engine)
	}
}
