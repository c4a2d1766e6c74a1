package node_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/storecache"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/service/record"
)

// indexReadCountingStore counts the store reads of knowledge passages.
type indexReadCountingStore struct {
	storecache.Backend
	walks atomic.Int64
	block atomic.Pointer[chan struct{}] // reads wait until it is closed; nil: no wait
}

func (w *indexReadCountingStore) Under(ctx context.Context, prefix domain.Key, after string, limit int, fresh func() domain.Record, each func(domain.Record) error) error {
	if prefix.Kind == "knowledge_passage" && after == "" {
		w.walks.Add(1)
		if block := w.block.Load(); block != nil {
			<-*block
		}
	}
	return w.Backend.Under(ctx, prefix, after, limit, fresh, each)
}

func TestKnowledgeIndexIsRebuiltOnlyAfterItsBaseChanges(t *testing.T) {
	t.Parallel()
	h, w := newFixture(t, nil), &indexReadCountingStore{}
	h.shutdown()
	h.wrapStore = func(s storecache.Backend) storecache.Backend { w.Backend = s; return w }
	h.start()
	d, ctx, p := h.services(), t.Context(), h.live
	text := func(name, text string) domain.NewKnowledgeSource {
		return domain.NewKnowledgeSource{Type: domain.SourceText, Name: name, ContentType: "text/plain", Text: text}
	}
	k, err := d.Knowledge.CreateKnowledge(ctx, p, &domain.KnowledgeBase{Name: "k"}, []domain.NewKnowledgeSource{text("one", "Parking is behind the house."), text("two", "The garden is before it.")})
	require.NoError(t, err)
	sources := func() map[string]string {
		all := make(map[string]string)
		h.waitUntil(longWait, "all sources are read", func() bool {
			l, err := d.Knowledge.ListSources(ctx, p, k.ID, record.PageQuery{Limit: 10})
			require.NoError(t, err)
			for _, s := range l.Data {
				all[s.Name] = s.ID
				if s.Status != domain.KnowledgeReady {
					return false
				}
			}
			return true
		})
		return all
	}
	find := func(query string) (found []string, walked int64) {
		before := w.walks.Load()
		got, err := d.Knowledge.SearchKnowledge(ctx, p, k.ID, query, 5)
		require.NoError(t, err)
		for _, x := range got.Data {
			found = append(found, x.SourceName)
		}
		return found, w.walks.Load() - before
	}
	sources()
	found, walked := find("house garden")
	assert.ElementsMatch(t, []string{"one", "two"}, found)
	assert.Equal(t, int64(1), walked)
	found, walked = find("parking")
	assert.Equal(t, []string{"one"}, found)
	assert.Zero(t, walked, "the index is cached")

	_, err = d.Knowledge.AddSource(ctx, p, k.ID, text("three", "Bicycles stand in the garden."))
	require.NoError(t, err)
	all := sources()
	found, walked = find("bicycles")
	assert.Equal(t, []string{"three"}, found)
	assert.Equal(t, int64(1), walked)
	require.NoError(t, d.Knowledge.DeleteSource(ctx, p, k.ID, all["one"]))
	found, _ = find("parking")
	assert.Empty(t, found)

	// A search whose context has expired returns no result, but the next search does.
	_, err = d.Knowledge.AddSource(ctx, p, k.ID, text("four", "Dogs stay outside."))
	require.NoError(t, err)
	sources()
	block := make(chan struct{})
	w.block.Store(&block)
	short, cancel := context.WithCancel(ctx)
	before, gave := w.walks.Load(), make(chan error, 1)
	go func() {
		_, err := d.Knowledge.SearchKnowledge(short, p, k.ID, "dogs", 5)
		gave <- err
	}()
	h.waitUntil(longWait, "the index is built", func() bool { return w.walks.Load() == before+1 })
	cancel()
	require.Error(t, <-gave)
	w.block.Store(nil)
	close(block)
	found, _ = find("dogs")
	assert.Equal(t, []string{"four"}, found)
	assert.Equal(t, before+1, w.walks.Load(), "the index was built in the background")
}
