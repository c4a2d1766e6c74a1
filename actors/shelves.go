package actors

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/knowledge"
	"github.com/callboard/callboard/service/record"
)

// shelvesMost bounds what the indexes of knowledge bases take of memory, in
// bytes: some ten full bases by words, three with meanings. What does not fit is
// built for each search.
const (
	shelvesMost = 96 << 20
	shelfLimit  = 30 * time.Second // of building one
	buildsMost  = 2                // at once
)

// baseOf is a knowledge base as it was read. Its row is written whenever one of
// its sources is ready, fails or goes, and when all of it has its meanings: its
// version names its passages.
type baseOf struct {
	*domain.KnowledgeBase

	version uint64
}

func (d *Desk) base(ctx context.Context, p domain.Principal, id string) (baseOf, error) {
	k, version, err := record.Get[domain.KnowledgeBase](ctx, d.store, p, domain.PrefixKnowledge, id)
	return baseOf{k, version}, err
}

// shelf is the index of a knowledge base at a version of it; nobody changes it.
type shelf struct {
	index   *knowledge.Index
	sources []*domain.KnowledgeSource // those that were ready, without their texts
	version uint64
	used    int
}

// shelves are the indexes of knowledge bases that were searched. They are made
// of rows and are kept nowhere else: another version of a base is another index.
// The zero value is ready.
type shelves struct {
	mu      sync.Mutex
	all     map[string]*shelf // by workspace and base
	bytes   int
	clock   int
	flights map[string]*flight // by workspace, base and version
	room    chan struct{}      // for those that are built at once
}

func (s *shelves) get(key string, version uint64) *shelf {
	s.mu.Lock()
	defer s.mu.Unlock()
	have := s.all[key]
	if have == nil || have.version != version {
		return nil
	}
	s.clock++
	have.used = s.clock
	return have
}

// keep takes an index in the place of an older one, and lets go of those used
// longest ago for it.
func (s *shelves) keep(key string, made *shelf) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(key)
	if made.index.Bytes() > shelvesMost {
		return
	}
	for s.bytes+made.index.Bytes() > shelvesMost {
		oldest := ""
		for k, have := range s.all {
			if oldest == "" || have.used < s.all[oldest].used {
				oldest = k
			}
		}
		s.drop(oldest)
	}
	if s.all == nil {
		s.all = make(map[string]*shelf)
	}
	s.clock++
	made.used = s.clock
	s.all[key] = made
	s.bytes += made.index.Bytes()
}

// drop forgets an index; whoever calls it has the lock.
func (s *shelves) drop(key string) {
	if have := s.all[key]; have != nil {
		s.bytes -= have.index.Bytes()
		delete(s.all, key)
	}
}

// forget is for a base that is gone, or of which something is.
func (s *shelves) forget(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(key)
}

// leave is for a workspace that is gone.
func (s *shelves) leave(workspace string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key := range s.all {
		if strings.HasPrefix(key, workspace+"/") {
			s.drop(key)
		}
	}
}

func shelfKey(k *domain.KnowledgeBase) string { return k.WorkspaceID + "/" + k.ID }

// flight is the building of an index, for all who want it.
type flight struct {
	done chan struct{}
	made *shelf
	err  error
}

// shelfOf is the index of a knowledge base. One that has to be built is built
// beside whoever asks: it is there for the next one, also where this one cannot
// wait for it.
func (d *Desk) shelfOf(ctx context.Context, k baseOf) (*shelf, error) {
	key := shelfKey(k.KnowledgeBase)
	if have := d.shelves.get(key, k.version); have != nil {
		return have, nil
	}
	f, first := d.shelves.board(key, k.version)
	if first {
		go d.fly(f, k)
	}
	select {
	case <-f.done:
		return f.made, f.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func nameOf(key string, version uint64) string { return key + "@" + strconv.FormatUint(version, 10) }

// board joins the building of an index, or begins it.
func (s *shelves) board(key string, version uint64) (f *flight, first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f = s.flights[nameOf(key, version)]; f != nil {
		return f, false
	}
	if s.flights == nil {
		s.flights, s.room = make(map[string]*flight), make(chan struct{}, buildsMost)
	}
	f = &flight{done: make(chan struct{})}
	s.flights[nameOf(key, version)] = f
	return f, true
}

func (d *Desk) fly(f *flight, k baseOf) {
	defer close(f.done)
	defer func() {
		if v := recover(); v != nil {
			f.err = fmt.Errorf("actors: an index could not be built: %v", v)
		}
		d.shelves.mu.Lock()
		defer d.shelves.mu.Unlock()
		delete(d.shelves.flights, nameOf(shelfKey(k.KnowledgeBase), k.version))
	}()
	ctx, cancel := context.WithTimeout(d.node.Context(), shelfLimit)
	defer cancel()
	select {
	case d.shelves.room <- struct{}{}:
		defer func() { <-d.shelves.room }()
	case <-ctx.Done():
		f.err = ctx.Err()
		return
	}
	f.made, f.err = d.buildShelf(ctx, k.KnowledgeBase)
}

// buildShelf builds the index of a base as it is now, which may have moved on
// while others were built.
func (d *Desk) buildShelf(ctx context.Context, of *domain.KnowledgeBase) (*shelf, error) {
	key := shelfKey(of)
	read := func() (baseOf, error) {
		k := &domain.KnowledgeBase{Meta: domain.Meta{ID: of.ID, WorkspaceID: of.WorkspaceID}}
		version, err := d.store.Get(ctx, k)
		return baseOf{k, version}, err
	}
	k, err := read()
	if errors.Is(err, domain.ErrNotFound) {
		return nil, record.NotFound("knowledge base")
	}
	if err != nil {
		return nil, record.StoreError(err)
	}
	if have := d.shelves.get(key, k.version); have != nil {
		return have, nil
	}
	made, err := d.fillShelf(ctx, k)
	if err != nil {
		return nil, record.StoreError(err)
	}
	// Where the base has changed, some of its passages may be those of another
	// version; where it is gone, nobody will ask for it again. It is looked at once
	// the index is kept: whoever deletes the base forgets the index after that.
	d.shelves.keep(key, made)
	if now, failed := read(); failed != nil || now.version != made.version {
		d.shelves.forget(key)
	}
	return made, nil
}

// fillShelf walks all passages of a knowledge base that are ready.
func (d *Desk) fillShelf(ctx context.Context, k baseOf) (*shelf, error) {
	made := &shelf{index: new(knowledge.Index), version: k.version}
	ready := make(map[string]int)
	err := commit.Each(ctx, d.store, "knowledge_source", k.WorkspaceID, "of="+k.ID, func(s *domain.KnowledgeSource) {
		if s.Status == domain.KnowledgeReady {
			ready[s.ID] = len(made.sources)
			made.sources = append(made.sources, s.Public())
		}
	})
	if err != nil {
		return nil, err
	}
	_, model := d.node.embedder()
	prefix := domain.Key{Kind: "knowledge_passage", Workspace: k.WorkspaceID, ID: k.ID + "/"}
	for after, n := "", eraseRows; n == eraseRows; {
		n = 0
		err = d.store.Under(ctx, prefix, after, eraseRows, func() domain.Record { return &domain.KnowledgePassage{} }, func(r domain.Record) error {
			n++
			after = r.Key().ID
			x, ok := r.(*domain.KnowledgePassage)
			if !ok {
				return nil
			}
			if source, is := ready[x.SourceID]; is {
				var meaning []byte
				if k.EmbeddingModel == model && x.Embedder == model {
					meaning = x.Vector
				}
				made.index.Add(source, x.Number, knowledge.Passage{Heading: x.Heading, Text: x.Text}, meaning)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return made, nil
}
