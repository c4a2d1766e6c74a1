package knowledge

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/knowledge"
)

// Limits for retrieving passages for a language model.
const (
	maxRetrieved  = 4
	minScore      = 0.5
	retrieveLimit = 2 * time.Second
	indexLimit    = time.Second            // part of retrieveLimit for the indexes
	readLimit     = 500 * time.Millisecond // additional time for reading the texts of passages
)

// Retrieve returns the passages of knowledge bases that match a query best, as text for a language model and as a list
// with their sources. It returns nothing if the search takes too long.
func (svc *Service) Retrieve(ctx context.Context, p domain.Principal, ids []string, query string) (text string, from []domain.Passage) {
	if len(ids) == 0 || query == "" || strings.HasPrefix(query, "(") {
		return "", nil
	}
	turnCtx := ctx
	ctx, cancel := context.WithTimeout(ctx, retrieveLimit)
	defer cancel()
	search := knowledge.NewSearch[*baseIndex](query) // one search over all bases: scores of separate searches are not comparable
	bases, all := svc.indexesOf(ctx, p, ids)
	vector := svc.queryVector(ctx, bases, query)
	for _, s := range all {
		search.AddIndex(s, s.index, vector)
	}
	readCtx, endRead := context.WithTimeout(turnCtx, readLimit)
	defer endRead()
	found, err := svc.readBest(readCtx, search, maxRetrieved)
	if err != nil {
		svc.cfg.Log.Warn("reading knowledge passages failed", slog.Any("error", err))
	}
	var b strings.Builder
	for i, x := range found {
		if x.score < minScore {
			break
		}
		fmt.Fprintf(&b, "[%d] %s", i+1, x.source.Name)
		if x.Heading != "" {
			b.WriteString(" › " + x.Heading)
		}
		b.WriteString(":\n" + x.Text + "\n")
		passage := domain.Passage{KnowledgeBaseID: x.KnowledgeBaseID, SourceID: x.SourceID, Name: x.source.Name, URL: x.source.URL, Heading: x.Heading}
		if !slices.Contains(from, passage) {
			from = append(from, passage)
		}
	}
	return b.String(), from
}

// indexesOf returns those indexes of the knowledge bases that are available within indexLimit. It logs the missing ones.
func (svc *Service) indexesOf(ctx context.Context, p domain.Principal, ids []string) (bases []*domain.KnowledgeBase, all []*baseIndex) {
	ctx, cancel := context.WithTimeout(ctx, indexLimit)
	defer cancel()
	found, indexes, errs := make([]versionedBase, len(ids)), make([]*baseIndex, len(ids)), make([]error, len(ids))
	var wait sync.WaitGroup
	for i, id := range ids {
		wait.Go(func() {
			if found[i], errs[i] = svc.versioned(ctx, p, id); errs[i] == nil {
				indexes[i], errs[i] = svc.index(ctx, found[i])
			}
		})
	}
	wait.Wait()
	for i, id := range ids {
		if errs[i] != nil {
			svc.cfg.Log.Warn("searching a knowledge base failed", slog.String("knowledge_base_id", id), slog.Any("error", errs[i]))
			continue
		}
		bases, all = append(bases, found[i].KnowledgeBase), append(all, indexes[i])
	}
	return bases, all
}
