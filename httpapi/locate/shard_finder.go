package locate

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/callboard/callboard/domain"
)

// Directory finds the workspace of an API key id (key_…) or an OAuth client id (client_…). The workspace of an id
// never changes.
type Directory interface {
	// WorkspaceOf returns the workspace of an id, or domain.ErrNotFound.
	WorkspaceOf(ctx context.Context, id string) (string, error)
}

const (
	maxKnown      = 50_000          // cached ids per generation; at most two generations are kept
	maxUnknown    = 5_000           // cached ids without a workspace
	unknownMaxAge = time.Second     // how long an id without a workspace stays cached
	maxQueries    = 16              // concurrent queries of the Directory
	queryTimeout  = 2 * time.Second // timeout of one query
)

// Finder finds the shard of a request. It caches the answers of the Directory.
type Finder struct {
	directory  Directory
	shards     int
	querySlots chan struct{}

	maxKnown, maxUnknown int

	mu      sync.RWMutex
	recent  map[string]string    // workspace by id
	older   map[string]string    // workspace by id, less recently used
	unknown map[string]time.Time // ids without a workspace, with the time of the query
	queries map[string]*query
}

// query is a running query of the Directory, whose result all requests with the same id await.
type query struct {
	done      chan struct{}
	workspace string
	err       error
}

// NewFinder returns a Finder for an installation with the given number of shards.
func NewFinder(d Directory, shards int) *Finder {
	return &Finder{
		directory: d, shards: shards, querySlots: make(chan struct{}, maxQueries), maxKnown: maxKnown, maxUnknown: maxUnknown,
		recent: make(map[string]string), unknown: make(map[string]time.Time), queries: make(map[string]*query),
	}
}

// Shard returns the shard of a request's workspace, 0 for a request without a workspace. form is the body of a request
// for which NeedsForm is true. An error means that the Directory failed.
func (f *Finder) Shard(r *http.Request, form []byte) (int, error) {
	if f.shards <= 1 {
		return 0, nil
	}
	found := OwnerOf(r, form)
	if found.ID != "" {
		w, err := f.workspaceOf(r.Context(), found.ID)
		if err != nil {
			return 0, err
		}
		found.Workspace = w
	}
	return domain.ShardOf(found.Workspace, f.shards), nil
}

// workspaceOf returns the workspace of a credential id, "" if the Directory does not know the id.
func (f *Finder) workspaceOf(ctx context.Context, id string) (string, error) {
	if w, ok := f.cachedWorkspace(id); ok {
		return w, nil
	}
	f.mu.Lock()
	q := f.queries[id]
	if q == nil {
		q = &query{done: make(chan struct{})}
		f.queries[id] = q
		go f.queryDirectory(id, q) //nolint:gosec // other callers wait for the same answer
	}
	f.mu.Unlock()
	select {
	case <-q.done:
		return q.workspace, q.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// cachedWorkspace returns the cached workspace of an id, "" for an id without a workspace. It returns false if the
// answer is not cached.
func (f *Finder) cachedWorkspace(id string) (string, bool) {
	f.mu.RLock()
	w, ok := f.recent[id]
	if ok {
		f.mu.RUnlock()
		return w, true
	}
	w, ok = f.older[id]
	at, missing := f.unknown[id]
	f.mu.RUnlock()
	if ok {
		f.mu.Lock()
		f.cacheLocked(id, w)
		f.mu.Unlock()
		return w, true
	}
	return "", missing && time.Since(at) < unknownMaxAge
}

// queryDirectory queries the workspace of an id from the Directory and caches the answer.
func (f *Finder) queryDirectory(id string, q *query) {
	ctx, cancel := context.WithTimeout(context.Background(), queryTimeout)
	defer cancel()
	select {
	case f.querySlots <- struct{}{}:
		q.workspace, q.err = f.directory.WorkspaceOf(ctx, id)
		<-f.querySlots
	case <-ctx.Done():
		q.err = ctx.Err()
	}
	if errors.Is(q.err, domain.ErrNotFound) {
		q.workspace, q.err = "", nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.queries, id)
	switch {
	case q.err != nil:
	case q.workspace != "":
		f.cacheLocked(id, q.workspace)
	default:
		if len(f.unknown) >= f.maxUnknown {
			clear(f.unknown)
		}
		f.unknown[id] = time.Now()
	}
	close(q.done)
}

// cacheLocked caches the workspace of an id. It evicts ids that were not used recently. The caller holds f.mu.
func (f *Finder) cacheLocked(id, workspace string) {
	if len(f.recent) >= f.maxKnown {
		f.recent, f.older = make(map[string]string), f.recent
	}
	f.recent[id] = workspace
}
