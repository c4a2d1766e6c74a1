package knowledge

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

// maxIndexBytes is the memory limit for all cached indexes. It suffices for about ten full knowledge bases without
// embeddings, or three with embeddings. An index that is larger than the limit is built again for each search.
const (
	maxIndexBytes = 96 << 20
	buildLimit    = 30 * time.Second // limit of building an index
	maxBuilds     = 2                // indexes that are built at the same time
)

// versionedBase is a knowledge base with the version of its database row. The row is written whenever the passages
// change and when all passages are embedded. So the version identifies the state of the passages.
type versionedBase struct {
	*domain.KnowledgeBase

	version uint64
}

func (svc *Service) versioned(ctx context.Context, p domain.Principal, id string) (versionedBase, error) {
	k, version, err := record.Get[domain.KnowledgeBase](ctx, svc.store, p, domain.PrefixKnowledge, id)
	return versionedBase{k, version}, err
}

// baseIndex is the search index of a knowledge base at one version. It is immutable.
type baseIndex struct {
	index   *knowledge.Index
	sources []*domain.KnowledgeSource // sources with status ready, without their texts
	version uint64
	used    int
}

// indexCache caches the search indexes of knowledge bases, one version of each, and evicts the least recently used
// ones. The zero value is ready.
type indexCache struct {
	mu     sync.Mutex
	all    map[string]*baseIndex // by workspace and knowledge base
	bytes  int
	clock  int
	builds map[string]*build // running builds by workspace, knowledge base and version
	room   chan struct{}     // limits the builds that run at the same time
}

func (s *indexCache) get(key string, version uint64) *baseIndex {
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

// add stores the new index of a knowledge base in place of its old one, and evicts the least recently used indexes.
func (s *indexCache) add(key string, made *baseIndex) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(key)
	if made.index.Bytes() > maxIndexBytes {
		return
	}
	for s.bytes+made.index.Bytes() > maxIndexBytes {
		oldest := ""
		for k, have := range s.all {
			if oldest == "" || have.used < s.all[oldest].used {
				oldest = k
			}
		}
		s.drop(oldest)
	}
	if s.all == nil {
		s.all = make(map[string]*baseIndex)
	}
	s.clock++
	made.used = s.clock
	s.all[key] = made
	s.bytes += made.index.Bytes()
}

// drop removes an index from the cache. The caller holds mu.
func (s *indexCache) drop(key string) {
	if have := s.all[key]; have != nil {
		s.bytes -= have.index.Bytes()
		delete(s.all, key)
	}
}

// remove removes the index of a knowledge base from the cache, after passages of that base were deleted.
func (s *indexCache) remove(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(key)
}

// forgetWorkspace removes the indexes of a workspace.
func (s *indexCache) forgetWorkspace(workspace string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key := range s.all {
		if strings.HasPrefix(key, workspace+"/") {
			s.drop(key)
		}
	}
}

func indexKey(k *domain.KnowledgeBase) string { return k.WorkspaceID + "/" + k.ID }

// build is a running build of an index. All searches that need the index wait for the same build.
type build struct {
	done chan struct{}
	made *baseIndex
	err  error
}

// index returns the index of a knowledge base. If the index is not cached, it is built in the background. So a later
// search can use the index even if ctx ends first.
func (svc *Service) index(ctx context.Context, k versionedBase) (*baseIndex, error) {
	key := indexKey(k.KnowledgeBase)
	if have := svc.indexes.get(key, k.version); have != nil {
		return have, nil
	}
	b, isNew := svc.indexes.join(key, k.version)
	if isNew {
		go svc.runBuild(b, k)
	}
	select {
	case <-b.done:
		return b.made, b.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// versionKey returns the key that identifies one version of a cached index.
func versionKey(key string, version uint64) string {
	return key + "@" + strconv.FormatUint(version, 10)
}

// join returns the running build of an index, or a new build. If isNew is set, the caller must run the build.
func (s *indexCache) join(key string, version uint64) (b *build, isNew bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b = s.builds[versionKey(key, version)]; b != nil {
		return b, false
	}
	if s.builds == nil {
		s.builds, s.room = make(map[string]*build), make(chan struct{}, maxBuilds)
	}
	b = &build{done: make(chan struct{})}
	s.builds[versionKey(key, version)] = b
	return b, true
}

// finish removes a build that has ended from the running builds.
func (s *indexCache) finish(key string, version uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.builds, versionKey(key, version))
}

// runBuild builds an index and wakes all searches that wait for it.
func (svc *Service) runBuild(b *build, k versionedBase) {
	defer close(b.done)
	defer func() {
		if v := recover(); v != nil {
			b.err = fmt.Errorf("building a knowledge index panicked: %v", v)
		}
		svc.indexes.finish(indexKey(k.KnowledgeBase), k.version)
	}()
	ctx, cancel := context.WithTimeout(svc.cfg.Context(), buildLimit)
	defer cancel()
	select {
	case svc.indexes.room <- struct{}{}:
		defer func() { <-svc.indexes.room }()
	case <-ctx.Done():
		b.err = ctx.Err()
		return
	}
	b.made, b.err = svc.buildIndex(ctx, k.KnowledgeBase)
}

// buildIndex reads the knowledge base again and builds the index of its current version, which may be newer than the
// version for which the build was started.
func (svc *Service) buildIndex(ctx context.Context, of *domain.KnowledgeBase) (*baseIndex, error) {
	key := indexKey(of)
	read := func() (versionedBase, error) {
		k := &domain.KnowledgeBase{Meta: domain.Meta{ID: of.ID, WorkspaceID: of.WorkspaceID}}
		version, err := svc.store.Get(ctx, k)
		return versionedBase{k, version}, err
	}
	k, err := read()
	if errors.Is(err, domain.ErrNotFound) {
		return nil, domain.NotFound("knowledge base")
	}
	if err != nil {
		return nil, commit.StoreError(err)
	}
	if have := svc.indexes.get(key, k.version); have != nil {
		return have, nil
	}
	made, err := svc.readIndex(ctx, k)
	if err != nil {
		return nil, commit.StoreError(err)
	}
	// If the knowledge base was changed or deleted during the build, the index may contain passages of two versions and is
	// removed. The check must come after add, because a deletion removes the index from the cache after its commit.
	svc.indexes.add(key, made)
	if now, failed := read(); failed != nil || now.version != made.version {
		svc.indexes.remove(key)
	}
	return made, nil
}

// readIndex builds an index from the passages of those sources of a knowledge base that have been read successfully.
func (svc *Service) readIndex(ctx context.Context, k versionedBase) (*baseIndex, error) {
	made := &baseIndex{index: new(knowledge.Index), version: k.version}
	ready := make(map[string]int)
	err := commit.ForEachRow(ctx, svc.store, "knowledge_source", k.WorkspaceID, "of="+k.ID, func(s *domain.KnowledgeSource) {
		if s.Status == domain.KnowledgeReady {
			ready[s.ID] = len(made.sources)
			made.sources = append(made.sources, s.Public())
		}
	})
	if err != nil {
		return nil, err
	}
	_, model := svc.embedder()
	prefix := domain.Key{Kind: "knowledge_passage", Workspace: k.WorkspaceID, ID: k.ID + "/"}
	for after, n := "", record.BatchRows; n == record.BatchRows; {
		n = 0
		err = svc.store.Under(ctx, prefix, after, record.BatchRows, func() domain.Record { return &domain.KnowledgePassage{} }, func(r domain.Record) error {
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
