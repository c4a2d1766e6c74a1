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
	knownMost   = 50_000          // ids that are kept at least, where there are so many; twice as many at most
	unknownMost = 5_000           // of those that the Directory does not know, at most
	unknownFor  = time.Second     // that one of these counts
	askMost     = 16              // questions at a time
	askLimit    = 2 * time.Second // for an answer
)

// Finder finds the shard of requests.
type Finder struct {
	directory Directory
	shards    int
	places    chan struct{}

	knownMost, unknownMost int

	mu      sync.RWMutex
	young   map[string]string    // id → workspace
	old     map[string]string    // the same, of longer ago
	unknown map[string]time.Time // ids that were asked for in vain
	asked   map[string]*question
}

// question is one that the Directory is asked at the moment.
type question struct {
	done      chan struct{}
	workspace string
	err       error
}

// New makes one for an install of so many shards.
func New(d Directory, shards int) *Finder {
	return &Finder{
		directory: d, shards: shards, places: make(chan struct{}, askMost), knownMost: knownMost, unknownMost: unknownMost,
		young: make(map[string]string), unknown: make(map[string]time.Time), asked: make(map[string]*question),
	}
}

// Shard is which one a request is for: that of its workspace, or 0. form is as
// for Of. An error says that the Directory does not answer.
func (f *Finder) Shard(r *http.Request, form []byte) (int, error) {
	if f.shards <= 1 {
		return 0, nil
	}
	found := Of(r, form)
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
	if w, ok := f.known(id); ok {
		return w, nil
	}
	f.mu.Lock()
	q := f.asked[id]
	if q == nil {
		q = &question{done: make(chan struct{})}
		f.asked[id] = q
		go f.ask(id, q) //nolint:gosec // others wait for the same answer
	}
	f.mu.Unlock()
	select {
	case <-q.done:
		return q.workspace, q.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// known is what was answered before; false: it must be asked.
func (f *Finder) known(id string) (string, bool) {
	f.mu.RLock()
	w, ok := f.young[id]
	if ok {
		f.mu.RUnlock()
		return w, true
	}
	w, ok = f.old[id]
	at, vain := f.unknown[id]
	f.mu.RUnlock()
	if ok {
		f.mu.Lock()
		f.keepLocked(id, w)
		f.mu.Unlock()
		return w, true
	}
	return "", vain && time.Since(at) < unknownFor
}

// ask asks the Directory.
func (f *Finder) ask(id string, q *question) {
	ctx, cancel := context.WithTimeout(context.Background(), askLimit)
	defer cancel()
	select {
	case f.places <- struct{}{}:
		q.workspace, q.err = f.directory.WorkspaceOf(ctx, id)
		<-f.places
	case <-ctx.Done():
		q.err = ctx.Err()
	}
	if errors.Is(q.err, domain.ErrNotFound) {
		q.workspace, q.err = "", nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.asked, id)
	switch {
	case q.err != nil:
	case q.workspace != "":
		f.keepLocked(id, q.workspace)
	default:
		if len(f.unknown) >= f.unknownMost {
			clear(f.unknown)
		}
		f.unknown[id] = time.Now()
	}
	close(q.done)
}

// keepLocked forgets what nobody has asked for since as many others were kept.
func (f *Finder) keepLocked(id, workspace string) {
	if len(f.young) >= f.knownMost {
		f.young, f.old = make(map[string]string), f.young
	}
	f.young[id] = workspace
}
