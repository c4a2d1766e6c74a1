package locate

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/callboard/callboard/domain"
)

// Directory knows the workspaces of API keys (key_…) and of OAuth clients
// (client_…). What it has once said of an id it says for ever.
type Directory interface {
	// WorkspaceOf: domain.ErrNotFound of an id that it does not know.
	WorkspaceOf(ctx context.Context, id string) (string, error)
}

const (
	maxKnown      = 50_000          // ids that are kept at least, where there are so many; twice as many at most
	maxUnknown    = 5_000           // of those that the Directory does not know, at most
	unknownMaxAge = time.Second     // that one of these counts
	maxQueries    = 16              // questions at a time
	queryTimeout  = 2 * time.Second // for an answer
)

// Finder finds the shard of requests.
type Finder struct {
	directory  Directory
	shards     int
	querySlots chan struct{}

	maxKnown, maxUnknown int

	mu      sync.RWMutex
	recent  map[string]string    // id → workspace
	older   map[string]string    // the same, of longer ago
	unknown map[string]time.Time // ids that were asked for in vain
	queries map[string]*query
}

// query is one that the Directory is asked at the moment.
type query struct {
	done      chan struct{}
	workspace string
	err       error
}

// NewFinder makes one for an install of so many shards.
func NewFinder(d Directory, shards int) *Finder {
	return &Finder{
		directory: d, shards: shards, querySlots: make(chan struct{}, maxQueries), maxKnown: maxKnown, maxUnknown: maxUnknown,
		recent: make(map[string]string), unknown: make(map[string]time.Time), queries: make(map[string]*query),
	}
}

// Shard is which one a request is for: that of its workspace, or 0. form is as
// for Of. An error says that the Directory does not answer.
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

// workspaceOf is that of a credential; "": nobody knows it.
func (f *Finder) workspaceOf(ctx context.Context, id string) (string, error) {
	if w, ok := f.cachedWorkspace(id); ok {
		return w, nil
	}
	f.mu.Lock()
	q := f.queries[id]
	if q == nil {
		q = &query{done: make(chan struct{})}
		f.queries[id] = q
		go f.queryDirectory(id, q) //nolint:gosec // others wait for the same answer
	}
	f.mu.Unlock()
	select {
	case <-q.done:
		return q.workspace, q.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// cachedWorkspace is what was answered before; false: it must be asked.
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

// queryDirectory asks the Directory.
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

// cacheLocked forgets what nobody has asked for since as many others were kept.
func (f *Finder) cacheLocked(id, workspace string) {
	if len(f.recent) >= f.maxKnown {
		f.recent, f.older = make(map[string]string), f.recent
	}
	f.recent[id] = workspace
}
