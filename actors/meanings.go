package actors

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

// Where a model of meanings is configured, passages are found by what they mean
// too. Words alone serve until all of a knowledge base has its meanings by the
// model of now, and whenever the model does not answer.

const (
	meaningLimit = 20 * time.Second // of a request for those of passages
	askedLimit   = 1200 * time.Millisecond
	askedKept    = 256 // questions whose meaning is remembered
)

// asked remembers the meanings of questions: one turn asks several bases.
type asked struct {
	mu  sync.Mutex
	all map[string][]byte
}

func (a *asked) get(key string) []byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.all[key]
}

func (a *asked) put(key string, meaning []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.all == nil || len(a.all) >= askedKept {
		a.all = make(map[string][]byte)
	}
	a.all[key] = meaning
}

// embedder is the model of meanings, and its name in rows; nil: there is none.
func (n *Node) embedder() (*llm.Engine, string) {
	e := n.cfg.Models.Meanings
	if e == nil {
		return nil, ""
	}
	return e, e.Name + "/" + e.Model
}

// meaning is that of a question to knowledge bases; nil: words alone decide.
func (d *Desk) meaning(ctx context.Context, all []*domain.KnowledgeBase, query string) []byte {
	e, name := d.node.embedder()
	has := func(k *domain.KnowledgeBase) bool { return k.EmbeddingModel == name }
	lacks := func(k *domain.KnowledgeBase) bool { return !has(k) && k.Passages > 0 }
	if e == nil || !slices.ContainsFunc(all, has) || slices.ContainsFunc(all, lacks) { // without theirs, one's passages would lose to another's
		return nil
	}
	if known := d.asked.get(query); known != nil {
		return known
	}
	bound, cancel := context.WithTimeout(ctx, askedLimit)
	defer cancel()
	got, err := d.node.models.Embed(bound, e, []string{query})
	if err != nil {
		d.log.Warn("a question is looked up by its words alone", slog.String("knowledge_base_id", all[0].ID), slog.Any("error", err))
		return nil
	}
	packed := knowledge.Pack(got[0])
	d.asked.put(query, packed)
	return packed
}

// giveMeanings gives the passages of a workspace their meanings by the model of
// now, base by base.
func (d *Desk) giveMeanings(ctx context.Context, workspaceID string) error {
	e, name := d.node.embedder()
	if e == nil {
		return nil
	}
	for _, environment := range []domain.Environment{domain.Live, domain.Test} {
		var due []*domain.KnowledgeBase
		err := commit.Each(ctx, d.store, "knowledge_base", workspaceID, record.EnvironmentIndex(domain.Principal{WorkspaceID: workspaceID, Environment: environment}), func(k *domain.KnowledgeBase) {
			if k.EmbeddingModel != name && k.Passages > 0 {
				due = append(due, k)
			}
		})
		if err != nil {
			return err
		}
		for _, k := range due {
			if err = d.giveMeaning(ctx, k, e, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// giveMeaning gives those of one base, and notes that all of it has them unless
// it was changed meanwhile.
func (d *Desk) giveMeaning(ctx context.Context, k *domain.KnowledgeBase, e *llm.Engine, name string) error {
	prefix := domain.Key{Kind: "knowledge_passage", Workspace: k.WorkspaceID, ID: k.ID + "/"}
	for after, n := "", llm.EmbedMost; n == llm.EmbedMost; {
		n = 0
		var due []*domain.KnowledgePassage
		err := d.store.Under(ctx, prefix, after, llm.EmbedMost, func() domain.Record { return &domain.KnowledgePassage{} }, func(r domain.Record) error {
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
		if err = d.giveSome(ctx, e, name, due); err != nil {
			return err
		}
	}
	end, err := d.revising.Lock(ctx, k.ID)
	if err != nil {
		return err
	}
	defer end()
	is := &domain.KnowledgeBase{Meta: domain.Meta{ID: k.ID, WorkspaceID: k.WorkspaceID}}
	version, err := d.store.Get(ctx, is)
	if errors.Is(err, domain.ErrNotFound) || err == nil && !is.UpdatedAt.Equal(k.UpdatedAt) {
		d.meanings.Wake(k.WorkspaceID) // sources of it came or went: once more
		return nil
	}
	if err != nil {
		return err
	}
	is.EmbeddingModel = name
	_, err = d.store.Apply(ctx, commit.Change{Workspace: k.WorkspaceID, Guards: []commit.Guard{{Key: is.Key(), Version: version}}, Puts: []domain.Record{is}})
	return err
}

// giveSome keeps the meanings of some passages, but for those that are gone.
func (d *Desk) giveSome(ctx context.Context, e *llm.Engine, name string, due []*domain.KnowledgePassage) error {
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
	bound, cancel := context.WithTimeout(ctx, meaningLimit)
	defer cancel()
	got, err := d.node.models.Embed(bound, e, texts)
	if err != nil {
		return err
	}
	end, err := d.revising.Lock(ctx, due[0].KnowledgeBaseID)
	if err != nil {
		return err
	}
	defer end()
	c := commit.Change{Workspace: due[0].WorkspaceID}
	for i, x := range due {
		is := &domain.KnowledgePassage{WorkspaceID: x.WorkspaceID, KnowledgeBaseID: x.KnowledgeBaseID, SourceID: x.SourceID, Number: x.Number}
		version, failed := d.store.Get(ctx, is)
		if errors.Is(failed, domain.ErrNotFound) || failed == nil && (is.Text != x.Text || is.Heading != x.Heading) {
			continue
		}
		if failed != nil {
			return failed
		}
		is.Embedder, is.Vector = name, knowledge.Pack(got[i])
		c.Guards = append(c.Guards, commit.Guard{Key: is.Key(), Version: version})
		c.Puts = append(c.Puts, is)
	}
	if len(c.Puts) == 0 {
		return nil
	}
	_, err = d.store.Apply(ctx, c)
	return err
}
