package knowledge

import (
	"context"
	"errors"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/knowledge"
)

// spareHits is how many more hits than needed a search requests, because some passages may be deleted before they are
// read.
const spareHits = 100

// scoredPassage is a passage with its source and its score.
type scoredPassage struct {
	*domain.KnowledgePassage

	source *domain.KnowledgeSource
	score  float64
}

// SearchKnowledge searches the passages of a knowledge base and returns at most limit passages. limit is at least 1
// and at most knowledge.MaxHits. Errors: not_found.
func (svc *Service) SearchKnowledge(ctx context.Context, p domain.Principal, id, query string, limit int) (KnowledgeFound, error) {
	out := KnowledgeFound{Object: "knowledge_search", Query: query, Data: []KnowledgeHit{}}
	k, err := svc.versioned(ctx, p, id)
	if err != nil {
		return out, err
	}
	out.KnowledgeBaseID = k.ID
	limit = min(max(limit, 1), knowledge.MaxHits)
	search := knowledge.NewSearch[*baseIndex](query)
	s, err := svc.index(ctx, k)
	if err != nil {
		return out, err
	}
	search.AddIndex(s, s.index, svc.queryVector(ctx, []*domain.KnowledgeBase{k.KnowledgeBase}, query))
	found, err := svc.readBest(ctx, search, limit)
	if err != nil {
		return out, err
	}
	for _, x := range found {
		out.Data = append(out.Data, KnowledgeHit{
			SourceID: x.SourceID, SourceName: x.source.Name, URL: x.source.URL, Heading: x.Heading, Text: x.Text, Score: x.score,
		})
	}
	return out, nil
}

// readBest reads the passages of the best hits. It skips passages that were deleted during the search. After an error it
// returns the passages that it has read so far.
func (svc *Service) readBest(ctx context.Context, search *knowledge.Search[*baseIndex], limit int) ([]scoredPassage, error) {
	out := make([]scoredPassage, 0, limit)
	for _, h := range search.BestHits(limit + spareHits) {
		if len(out) == limit {
			break
		}
		source := h.Index.sources[h.Source]
		x := &domain.KnowledgePassage{WorkspaceID: source.WorkspaceID, KnowledgeBaseID: source.KnowledgeBaseID, SourceID: source.ID, Number: h.Number}
		_, err := svc.store.Get(ctx, x)
		if errors.Is(err, domain.ErrNotFound) {
			continue
		}
		if err != nil {
			return out, commit.StoreError(err)
		}
		out = append(out, scoredPassage{x, source, h.Score})
	}
	return out, nil
}
