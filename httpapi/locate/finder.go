package locate

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/callboard/callboard/domain"
)

// Directory finds the workspaces of API keys (key_…) and OAuth clients (client_…). The
// workspace of an id never changes.
type Directory interface {
	// WorkspaceOf returns the workspace of an id, or domain.ErrNotFound.
	WorkspaceOf(ctx context.Context, id string) (string, error)
}

const (
	maxKnown      = 50_000          // cached ids; up to twice as many
	maxUnknown    = 5_000           // cached ids that the Directory does not know
	unknownMaxAge = time.Second     // of such an id in the cache
	maxQueries    = 16              // of the Directory at a time
	queryTimeout  = 2 * time.Second // of a query
)

// Finder finds the shard of requests and caches the answers of the Directory.
type Finder struct {
	directory  Directory
	shards     int
	querySlots chan struct{}

	maxKnown, maxUnknown int

	mu      sync.RWMutex
	recent  map[string]string    // id → workspace
	older   map[string]string    // the same, used less recently
	unknown map[string]time.Time // ids that the Directory does not know
	queries map[string]*query
}

// query is a running query of the Directory.
type query struct {
	done      chan struct{}
	workspace string
	err       error
}

// NewFinder returns a Finder for an installation of so many shards.
func NewFinder(d Directory, shards int) *Finder {
	return &Finder{
		directory: d, shards: shards, querySlots: make(chan struct{}, maxQueries), maxKnown: maxKnown, maxUnknown: maxUnknown,
		recent: make(map[string]string), unknown: make(map[string]time.Time), queries: make(map[string]*query),
	}
}

// Shard returns the shard of a request: that of its workspace, or 0. form is as for OwnerOf.
// An error is a failure of the Directory.
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

// workspaceOf returns the workspace of a credential; "": the Directory does not know it.
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

// cachedWorkspace returns a cached answer; false: there is none.
func (f *Finder) cachedWorkspace(id string) (string, bool) {
	f.mu.RLock()
	w, ok := f.recent[id]
	if ok {
		f.mu.RUnlock()
		return w, true
	}
	w, ok = f.older[id]
	at, vain := f.unknown[id]
	f.mu.RUnlock()
	if ok {
		f.mu.Lock()
		f.cacheLocked(id, w)
		f.mu.Unlock()
		return w, true
	}
	return "", vain && time.Since(at) < unknownMaxAge
}

// queryDirectory queries the Directory and caches the answer.
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

// cacheLocked caches an answer and evicts those that were not used for a while.
func (f *Finder) cacheLocked(id, workspace string) {
	if len(f.recent) >= f.maxKnown {
		f.recent, f.older = make(map[string]string), f.recent
	}
	f.recent[id] = workspace
}
