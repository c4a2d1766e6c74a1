package middleware

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/limit"
)

const (
	writeDelay   = time.Second     // from the first unwritten request to the write
	writeTimeout = 5 * time.Second // for the counts of all workspaces
)

// countStore stores the counts of the rate limits, so that they survive a restart. It reads the counts of a
// workspace at the workspace's first request. It writes them writeDelay after the first unwritten request. When
// half a burst is unwritten, requests wait for the write. A crash therefore allows at most one burst too many.
type countStore struct {
	windows RateWindows // nil: counts are not stored
	log     *slog.Logger
	general *limit.Limiter
	paths   *limit.Limiter

	restored sync.Map // *restoration by workspace
	some     chan struct{}
	urgent   chan struct{}
	start    sync.Once
	life     func() context.Context // returns the context of the server

	mu    sync.Mutex
	dirty map[string]bool // workspaces with unwritten counts
	round chan struct{}   // closed when the next write has ended
}

// restoration records whether the stored counts of a workspace were read.
type restoration struct {
	mu   sync.Mutex
	done atomic.Bool
}

func newCountStore(life context.Context, w RateWindows, log *slog.Logger, general, paths *limit.Limiter) *countStore {
	return &countStore{
		life: func() context.Context { return life }, windows: w, log: log, general: general, paths: paths, dirty: make(map[string]bool), round: make(chan struct{}),
		some: make(chan struct{}, 1), urgent: make(chan struct{}, 1),
	}
}

// restoreCounts reads the stored counts of a workspace if this process has not read them yet.
func (k *countStore) restoreCounts(ctx context.Context, w *domain.Workspace) error {
	if k.windows == nil {
		return nil
	}
	known, ok := k.restored.Load(w.ID)
	if !ok {
		known, _ = k.restored.LoadOrStore(w.ID, &restoration{})
	}
	r, ok := known.(*restoration)
	if !ok || r.done.Load() {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.done.Load() {
		return nil
	}
	stored, err := k.windows.RateWindows(ctx, w.ID)
	if err != nil {
		return err
	}
	now := time.Now()
	for _, env := range environments() {
		if count, ok := stored.Counts[storedName(env, "")]; ok {
			k.general.Restore(limitName(w.ID, env, ""), count, generalRule(w), now)
		}
		for _, l := range pathLimits() {
			if count, ok := stored.Counts[storedName(env, l.path)]; ok {
				k.paths.Restore(limitName(w.ID, env, l.path), count, l.rule(w), now)
			}
		}
	}
	r.done.Store(true)
	return nil
}

// countUnwritten schedules the write of a workspace's counts after a counted request. If too many requests are
// unwritten, it waits for the write, at most writeDelay.
func (k *countStore) countUnwritten(ctx context.Context, workspaceID string, a limit.Decision) {
	hasty := a.NeedsStore()
	if k.windows == nil || a.Unstored == 0 || a.Unstored > 1 && !hasty {
		return
	}
	k.start.Do(func() { go k.writeChanges(k.life()) })
	written := k.markChanged(workspaceID)
	if !hasty {
		return
	}
	signal(k.urgent)
	wait := time.NewTimer(writeDelay)
	defer wait.Stop()
	select {
	case <-written:
	case <-wait.C:
	case <-ctx.Done():
	}
}

func (k *countStore) markChanged(workspaceID string) (written <-chan struct{}) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.dirty[workspaceID] = true
	signal(k.some)
	return k.round
}

func signal(to chan<- struct{}) {
	select {
	case to <- struct{}{}:
	default:
	}
}

// writeChanges writes the changed counts periodically until ctx ends with the server.
func (k *countStore) writeChanges(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-k.some:
		}
		wait := time.NewTimer(writeDelay)
		select {
		case <-ctx.Done():
			wait.Stop()
			return
		case <-k.urgent:
			wait.Stop()
		case <-wait.C:
		}
		k.writeAll(ctx)
	}
}

// writeAll writes all changed counts. A failed write is repeated later, except for a workspace that another process owns.
func (k *countStore) writeAll(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	k.mu.Lock()
	dirty, written := k.dirty, k.round
	k.dirty, k.round = make(map[string]bool), make(chan struct{})
	k.mu.Unlock()
	defer close(written)
	for id := range dirty {
		err := k.windows.StoreRateWindows(ctx, k.countsOf(id))
		if errors.Is(err, domain.ErrFenced) { // the workspace was deleted or another process owns it
			k.restored.Delete(id)
			continue
		}
		if err != nil {
			k.log.Debug("rate limit counts not stored, retrying", slog.String("workspace_id", id), slog.Any("error", err))
			k.markChanged(id)
		}
	}
}

func (k *countStore) countsOf(workspaceID string) *domain.RateWindows {
	w := &domain.RateWindows{WorkspaceID: workspaceID, Counts: make(map[string]domain.RateCount)}
	for _, env := range environments() {
		if count, ok := k.general.Snapshot(limitName(workspaceID, env, "")); ok {
			w.Counts[storedName(env, "")] = count
		}
		for _, l := range pathLimits() {
			if count, ok := k.paths.Snapshot(limitName(workspaceID, env, l.path)); ok {
				w.Counts[storedName(env, l.path)] = count
			}
		}
	}
	return w
}
