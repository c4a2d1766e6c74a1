package actors

import (
	"context"
	"errors"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/ask"
	"github.com/callboard/callboard/domain/knowledge"
	"github.com/callboard/callboard/service/record"
)

// bestSpare are the passages that may be gone.
const bestSpare = 100

// passageOf is a passage with the source that it is of.
type passageOf struct {
	*domain.KnowledgePassage

	source *domain.KnowledgeSource
	score  float64
}

// SearchKnowledge looks words up in the passages of a knowledge base. It finds
// between 1 and knowledge.MaxTop passages, whatever most is.
func (d *Desk) SearchKnowledge(ctx context.Context, p domain.Principal, id, query string, most int) (ask.KnowledgeFound, error) {
	out := ask.KnowledgeFound{Object: "knowledge_search", Query: query, Data: []ask.KnowledgeHit{}}
	k, err := d.base(ctx, p, id)
	if err != nil {
		return out, err
	}
	out.KnowledgeBaseID = k.ID
	most = min(max(most, 1), knowledge.MaxTop)
	search := knowledge.NewSearch[*shelf](query)
	s, err := d.shelfOf(ctx, k)
	if err != nil {
		return out, err
	}
	search.Look(s, s.index, d.meaning(ctx, []*domain.KnowledgeBase{k.KnowledgeBase}, query))
	found, err := d.best(ctx, search, most)
	if err != nil {
		return out, err
	}
	for _, x := range found {
		out.Data = append(out.Data, ask.KnowledgeHit{
			SourceID: x.SourceID, SourceName: x.source.Name, URL: x.source.URL, Heading: x.Heading, Text: x.Text, Score: x.score,
		})
	}
	return out, nil
}

// best reads the passages that a search found best; those that are being
// deleted give way to others. Of those before an error there are some.
func (d *Desk) best(ctx context.Context, search *knowledge.Search[*shelf], most int) ([]passageOf, error) {
	out := make([]passageOf, 0, most)
	for _, h := range search.Best(most + bestSpare) {
		if len(out) == most {
			break
		}
		source := h.Of.sources[h.Source]
		x := &domain.KnowledgePassage{WorkspaceID: source.WorkspaceID, KnowledgeBaseID: source.KnowledgeBaseID, SourceID: source.ID, Number: h.Number}
		_, err := d.store.Get(ctx, x)
		if errors.Is(err, domain.ErrNotFound) {
			continue
		}
		if err != nil {
			return out, record.StoreError(err)
		}
		out = append(out, passageOf{x, source, h.Score})
	}
	return out, nil
}
