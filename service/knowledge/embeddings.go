package knowledge

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/knowledge"
	"github.com/callboard/callboard/engines/llm"
	"github.com/callboard/callboard/service/record"
)

const (
	embedLimit = 20 * time.Second // limit of an embedding request for passages
	queryLimit = 1200 * time.Millisecond
	maxQueries = 256 // cached query vectors
)

// queryVectors caches the embeddings of queries, because one turn of a conversation searches several knowledge
// bases.
type queryVectors struct {
	mu  sync.Mutex
	all map[string][]byte
}

func (q *queryVectors) get(key string) []byte {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.all[key]
}

func (q *queryVectors) put(key string, vector []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.all == nil || len(q.all) >= maxQueries {
		q.all = make(map[string][]byte)
	}
	q.all[key] = vector
}

// queryVector returns the embedding of a query. It returns nil if no embedding model is configured, if the model does not
// answer in time, or if a knowledge base is not embedded yet. The search then uses words only.
func (svc *Service) queryVector(ctx context.Context, all []*domain.KnowledgeBase, query string) []byte {
	e, name := svc.embedder()
	has := func(k *domain.KnowledgeBase) bool { return k.EmbeddingModel == name }
	lacks := func(k *domain.KnowledgeBase) bool { return !has(k) && k.Passages > 0 }
	if e == nil || !slices.ContainsFunc(all, has) || slices.ContainsFunc(all, lacks) { // scores with and without embeddings are not comparable
		return nil
	}
	if cached := svc.queries.get(query); cached != nil {
		return cached
	}
	embedCtx, cancel := context.WithTimeout(ctx, queryLimit)
	defer cancel()
	vectors, err := svc.cfg.Models.Embed(embedCtx, e, []string{query})
	if err != nil {
		svc.cfg.Log.Warn("computing the embedding of a query failed; the search uses words only", slog.String("knowledge_base_id", all[0].ID), slog.Any("error", err))
		return nil
	}
	packed := knowledge.PackVector(vectors[0])
	svc.queries.put(query, packed)
	return packed
}

// embedDue embeds the passages of a workspace's knowledge bases with the configured model.
func (svc *Service) embedDue(ctx context.Context, workspaceID string) error {
	e, name := svc.embedder()
	if e == nil {
		return nil
	}
	for _, environment := range []domain.Environment{domain.Live, domain.Test} {
		var due []*domain.KnowledgeBase
		err := commit.ForEachRow(ctx, svc.store, "knowledge_base", workspaceID, record.EnvironmentIndex(domain.Principal{WorkspaceID: workspaceID, Environment: environment}), func(k *domain.KnowledgeBase) {
			if k.EmbeddingModel != name && k.Passages > 0 {
				due = append(due, k)
			}
		})
		if err != nil {
			return err
		}
		for _, k := range due {
			if err = svc.embedBase(ctx, k, e, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// embedBase embeds the passages of a knowledge base. Then it records that the base is embedded, unless the base has
// changed meanwhile.
func (svc *Service) embedBase(ctx context.Context, k *domain.KnowledgeBase, e *llm.Engine, name string) error {
	prefix := domain.Key{Kind: "knowledge_passage", Workspace: k.WorkspaceID, ID: k.ID + "/"}
	for after, n := "", llm.EmbedMost; n == llm.EmbedMost; {
		n = 0
		var due []*domain.KnowledgePassage
		err := svc.store.Under(ctx, prefix, after, llm.EmbedMost, func() domain.Record { return &domain.KnowledgePassage{} }, func(r domain.Record) error {
			n++
			after = r.Key().ID
			if x, ok := r.(*domain.KnowledgePassage); ok && x.Embedder != name {
				due = append(due, x)
			}
			return nil
		})
		if err != nil {
			return err
		}
		if err = svc.embedPassages(ctx, e, name, due); err != nil {
			return err
		}
	}
	unlock, err := svc.locks.Lock(ctx, k.ID)
	if err != nil {
		return err
	}
	defer unlock()
	is := &domain.KnowledgeBase{Meta: domain.Meta{ID: k.ID, WorkspaceID: k.WorkspaceID}}
	version, err := svc.store.Get(ctx, is)
	if errors.Is(err, domain.ErrNotFound) || err == nil && !is.UpdatedAt.Equal(k.UpdatedAt) {
		svc.embedding.Wake(k.WorkspaceID) // the sources have changed: embed again
		return nil
	}
	if err != nil {
		return err
	}
	is.EmbeddingModel = name
	_, err = svc.store.Apply(ctx, commit.Change{Workspace: k.WorkspaceID, Guards: []commit.Guard{{Key: is.Key(), Version: version}}, Puts: []domain.Record{is}})
	return err
}

// embedPassages computes and stores the embeddings of passages. It skips passages that have changed meanwhile.
func (svc *Service) embedPassages(ctx context.Context, e *llm.Engine, name string, due []*domain.KnowledgePassage) error {
	if len(due) == 0 {
		return nil
	}
	texts := make([]string, len(due))
	for i, x := range due {
		texts[i] = x.Text
		if x.Heading != "" {
			texts[i] = x.Heading + "\n" + x.Text
		}
	}
	embedCtx, cancel := context.WithTimeout(ctx, embedLimit)
	defer cancel()
	vectors, err := svc.cfg.Models.Embed(embedCtx, e, texts)
	if err != nil {
		return err
	}
	unlock, err := svc.locks.Lock(ctx, due[0].KnowledgeBaseID)
	if err != nil {
		return err
	}
	defer unlock()
	c := commit.Change{Workspace: due[0].WorkspaceID}
	for i, x := range due {
		is := &domain.KnowledgePassage{WorkspaceID: x.WorkspaceID, KnowledgeBaseID: x.KnowledgeBaseID, SourceID: x.SourceID, Number: x.Number}
		version, failed := svc.store.Get(ctx, is)
		if errors.Is(failed, domain.ErrNotFound) || failed == nil && (is.Text != x.Text || is.Heading != x.Heading) {
			continue
		}
		if failed != nil {
			return failed
		}
		is.Embedder, is.Vector = name, knowledge.PackVector(vectors[i])
		c.Guards = append(c.Guards, commit.Guard{Key: is.Key(), Version: version})
		c.Puts = append(c.Puts, is)
	}
	if len(c.Puts) == 0 {
		return nil
	}
	_, err = svc.store.Apply(ctx, c)
	return err
}

// embedder returns the embedding model and the name under which its embeddings are stored. It returns nil if no
// embedding model is configured.
func (svc *Service) embedder() (*llm.Engine, string) {
	e := svc.cfg.Embedding
	if e == nil {
		return nil, ""
	}
	return e, e.Name + "/" + e.Model
}
