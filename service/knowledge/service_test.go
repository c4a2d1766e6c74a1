package knowledge

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/webhook"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/engines/llm"
	"github.com/callboard/callboard/persistence/pebbletest"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/record/recordtest"
)

// web is a fake web client that has one page. It is also a fake embedding model whose embeddings tell whether a text is
// about dogs.
type web struct{ down bool }

func (*web) CheckURL(_ context.Context, param, url string) error {
	if !strings.HasPrefix(url, "https://") {
		return domain.FieldError(param, domain.CodeInvalidURL, "must be https")
	}
	return nil
}

func (*web) FetchPage(_ context.Context, url string, _ int64) (webhook.Page, error) {
	if url != "https://shop.example/hours" {
		return webhook.Page{}, errors.New("the page answered 404")
	}
	return webhook.Page{ContentType: "text/html", Body: []byte("<title>Hours</title><h1>Opening hours</h1><p>The shop opens at nine.</p>")}, nil
}

func (w *web) Embed(_ context.Context, _ *llm.Engine, texts []string) (all [][]float32, err error) {
	if w.down {
		return nil, errors.New("the engine is overloaded")
	}
	for _, text := range texts {
		if strings.Contains(strings.ToLower(text), "dog") || strings.Contains(text, "canine") {
			all = append(all, []float32{1, 0})
		} else {
			all = append(all, []float32{0, 1})
		}
	}
	return all, nil
}

type fixture struct {
	*Service

	web   *web
	store *pebbletest.Store
	by    domain.Principal
}

func setUp(t *testing.T, embedding *llm.Engine) *fixture {
	t.Helper()
	f := &fixture{web: &web{}, store: pebbletest.OpenStore(t), by: recordtest.Live(recordtest.Workspace)}
	f.Service = New(Config{
		Store: f.store, References: record.NewReferences(f.store), URLs: f.web, Web: f.web, Models: f.web, Embedding: embedding, Context: t.Context, Log: slog.New(slog.DiscardHandler),
	})
	return f
}

// create creates a knowledge base and reads its sources.
func (f *fixture) create(t *testing.T, sources ...domain.NewKnowledgeSource) *domain.KnowledgeBase {
	t.Helper()
	k, err := f.CreateKnowledge(t.Context(), f.by, &domain.KnowledgeBase{Name: "shop"}, sources)
	require.NoError(t, err)
	assert.Equal(t, domain.KnowledgeProcessing, k.Status)
	require.NoError(t, f.readDueSources(t.Context(), recordtest.Workspace))
	k, err = f.KnowledgeBase(t.Context(), f.by, k.ID)
	require.NoError(t, err)
	return k
}

func text(s string) domain.NewKnowledgeSource {
	return domain.NewKnowledgeSource{Type: domain.SourceText, Text: s, ContentType: plainText}
}

func page(url string) domain.NewKnowledgeSource {
	return domain.NewKnowledgeSource{Type: domain.SourceURL, URL: url}
}

func (f *fixture) best(t *testing.T, k *domain.KnowledgeBase, query string) string {
	t.Helper()
	found, err := f.SearchKnowledge(t.Context(), f.by, k.ID, query, 1)
	require.NoError(t, err)
	if len(found.Data) == 0 {
		return ""
	}
	return found.Data[0].Text
}

func TestKnowledgeSourcesAreReadAndSearchable(t *testing.T) {
	t.Parallel()
	f := setUp(t, nil)
	_, err := f.CreateKnowledge(t.Context(), f.by, &domain.KnowledgeBase{}, []domain.NewKnowledgeSource{text("x"), page("http://shop.example")})
	assert.Equal(t, "sources[1].url", recordtest.ErrorField(err))
	k := f.create(t, page("https://shop.example/hours"), text("Dogs are welcome."), page("https://shop.example/missing"))
	assert.Equal(t, []any{domain.KnowledgeReady, 3, 2}, []any{k.Status, k.Sources, k.Passages}, "a knowledge base is ready if not all of its sources failed")
	assert.Equal(t, "The shop opens at nine.", f.best(t, k, "When does the shop open?"))
	l, err := f.ListSources(t.Context(), f.by, k.ID, record.PageQuery{Limit: 10})
	require.NoError(t, err)
	states := make(map[string]string)
	for _, s := range l.Data {
		states[s.Name] = string(s.Status) + " " + s.Title + s.Error
	}
	assert.Equal(t, map[string]string{"shop.example/hours": "ready Hours", "text": "ready ", "shop.example/missing": "failed the page answered 404"}, states)
	passages, from := f.Retrieve(t.Context(), f.by, []string{k.ID}, "When does the shop open?")
	assert.Contains(t, passages, "opens at nine")
	assert.Equal(t, "shop.example/hours", from[0].Name)
}

func TestKnowledgeSearchUsesEmbeddingsOnceAllPassagesAreEmbedded(t *testing.T) {
	t.Parallel()
	f := setUp(t, &llm.Engine{Name: "e", Model: "m"})
	k := f.create(t, text("Dogs are welcome."), text("The shop opens at nine."))
	assert.Empty(t, f.best(t, k, "canine"), "not embedded yet")
	f.web.down = true
	require.Error(t, f.embedDue(t.Context(), recordtest.Workspace))
	f.web.down = false
	require.NoError(t, f.embedDue(t.Context(), recordtest.Workspace))
	assert.Equal(t, "Dogs are welcome.", f.best(t, k, "canine"))
	_, err := f.AddSource(t.Context(), f.by, k.ID, text("Parking is free."))
	require.NoError(t, err)
	require.NoError(t, f.readDueSources(t.Context(), recordtest.Workspace))
	assert.Empty(t, f.best(t, k, "canine animals"), "the search uses words only while a base is not embedded")
	assert.Equal(t, "Parking is free.", f.best(t, k, "parking"))
}

func TestDeletedKnowledgeSourceIsNotFound(t *testing.T) {
	t.Parallel()
	f := setUp(t, nil)
	k := f.create(t, text("Dogs are welcome."), text("The shop opens at nine."))
	l, err := f.ListSources(t.Context(), f.by, k.ID, record.PageQuery{Limit: 10})
	require.NoError(t, err)
	for _, s := range l.Data {
		require.NoError(t, f.DeleteSource(t.Context(), f.by, k.ID, s.ID))
	}
	assert.Empty(t, f.best(t, k, "dogs"))
	left := 0
	require.NoError(t, f.store.Under(t.Context(), domain.Key{Kind: "knowledge_passage", Workspace: recordtest.Workspace, ID: k.ID + "/"}, "", 10,
		func() domain.Record { return &domain.KnowledgePassage{} }, func(domain.Record) error { left++; return nil }))
	assert.Zero(t, left)
	k, err = f.KnowledgeBase(t.Context(), f.by, k.ID)
	require.NoError(t, err)
	assert.Equal(t, []int{0, 0, 0}, []int{k.Sources, k.Passages, k.Bytes})
}

func TestKnowledgeBaseInUseOrOfOtherWorkspaceIsNotDeleted(t *testing.T) {
	t.Parallel()
	f := setUp(t, nil)
	k := f.create(t, text("Dogs are welcome."))
	other := recordtest.Live(recordtest.OtherWorkspace)
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(f.DeleteKnowledge(t.Context(), other, k.ID)))
	_, err := f.SearchKnowledge(t.Context(), other, k.ID, "dogs", 1)
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err))
	passages, _ := f.Retrieve(t.Context(), other, []string{k.ID}, "dogs")
	assert.Empty(t, passages)

	agent := &domain.Agent{Name: "a", KnowledgeBaseIDs: []string{k.ID}, References: []string{k.ID}}
	agent.Init("agent", f.by, record.RequestResourceID(t.Context(), domain.PrefixAgent), record.Now())
	require.NoError(t, record.Create(t.Context(), f.store, agent))
	assert.Equal(t, domain.CodeInvalidState, domain.CodeOf(f.DeleteKnowledge(t.Context(), f.by, k.ID)))
	require.NoError(t, record.Delete[domain.Agent](t.Context(), f.store, f.by, domain.PrefixAgent, agent.ID))
	require.NoError(t, f.DeleteKnowledge(t.Context(), f.by, k.ID))
	_, err = f.ListSources(t.Context(), f.by, k.ID, record.PageQuery{Limit: 10})
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err))
}
