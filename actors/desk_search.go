package actors

import (
	"context"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/ask"
	"github.com/callboard/callboard/domain/knowledge"
)

// passageOf is a passage with the source that it is of.
type passageOf struct {
	*domain.KnowledgePassage

	source *domain.KnowledgeSource
}

// SearchKnowledge looks words up in the passages of a knowledge base, of which
// there is a bounded number.
func (d *Desk) SearchKnowledge(ctx context.Context, p domain.Principal, id, query string, most int) (ask.KnowledgeFound, error) {
	out := ask.KnowledgeFound{Object: "knowledge_search", Query: query, Data: []ask.KnowledgeHit{}}
	k, err := d.KnowledgeBase(ctx, p, id)
	if err != nil {
		return out, err
	}
	out.KnowledgeBaseID = k.ID
	search := knowledge.NewSearch[passageOf](query)
	if err = d.look(ctx, search, k, d.meaning(ctx, []*domain.KnowledgeBase{k}, query)); err != nil {
		return out, err
	}
	for _, h := range search.Best(most) {
		s := h.What.source
		out.Data = append(out.Data, ask.KnowledgeHit{
			SourceID: s.ID, SourceName: s.Name, URL: s.URL, Heading: h.What.Heading, Text: h.What.Text, Score: h.Score,
		})
	}
	return out, nil
}

// look has a search look at all passages of a knowledge base that are ready.
func (d *Desk) look(ctx context.Context, search *knowledge.Search[passageOf], k *domain.KnowledgeBase, meaning []byte) error {
	ready := make(map[string]*domain.KnowledgeSource)
	err := every(ctx, d.store, "knowledge_source", k.WorkspaceID, "of="+k.ID, func(s *domain.KnowledgeSource) {
		if s.Status == domain.KnowledgeReady {
			ready[s.ID] = s.Public()
		}
	})
	if err != nil {
		return storeErr(err)
	}
	_, model := d.node.embedder()
	prefix := domain.Key{Kind: "knowledge_passage", Workspace: k.WorkspaceID, ID: k.ID + "/"}
	for after, n := "", eraseRows; n == eraseRows; {
		n = 0
		err = d.store.Under(ctx, prefix, after, eraseRows, func() domain.Record { return &domain.KnowledgePassage{} }, func(r domain.Record) error {
			n++
			after = r.Key().ID
			if x, ok := r.(*domain.KnowledgePassage); ok && ready[x.SourceID] != nil {
				alike := 0.0
				if meaning != nil && k.EmbeddingModel == model && x.Embedder == model {
					alike = knowledge.Alike(meaning, x.Vector)
				}
				search.LookAlike(passageOf{x, ready[x.SourceID]}, knowledge.Passage{Heading: x.Heading, Text: x.Text}, alike)
			}
			return nil
		})
		if err != nil {
			return storeErr(err)
		}
	}
	return nil
}
