package httpapi

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

// How long counts may wait to be kept where they are few, and how long keeping
// them may take.
const (
	keepWithin = time.Second
	keepLimit  = 5 * time.Second
)

// keeper carries the counts of the rate limits over the end of the process,
// however it ends: they are read at a workspace's first request and written a
// second after the first that counts. Where half a burst is not written yet, a
// request waits until it is, so that no crash gives more than a burst away.
type keeper struct {
	windows RateWindows
	log     *slog.Logger
	limits  *limit.Limiter
	paths   *limit.Limiter

	read   sync.Map // *reading by workspace
	some   chan struct{}
	urgent chan struct{}
	start  sync.Once
	life   func() context.Context // of the server

	mu    sync.Mutex
	dirty map[string]bool // by workspace
	round chan struct{}   // closed when the writing that begins next has ended
}

// reading is whether the counts of a workspace were read.
type reading struct {
	mu   sync.Mutex
	done atomic.Bool
}

func newKeeper(life context.Context, w RateWindows, log *slog.Logger, limits, paths *limit.Limiter) *keeper {
	return &keeper{
		life: func() context.Context { return life }, windows: w, log: log, limits: limits, paths: paths, dirty: make(map[string]bool), round: make(chan struct{}),
		some: make(chan struct{}, 1), urgent: make(chan struct{}, 1),
	}
}

// restore reads what a workspace had used when the last process ended.
func (k *keeper) restore(ctx context.Context, w *domain.Workspace) error {
	if k.windows == nil {
		return nil
	}
	known, ok := k.read.Load(w.ID)
	if !ok {
		known, _ = k.read.LoadOrStore(w.ID, &reading{})
	}
	r, ok := known.(*reading)
	if !ok || r.done.Load() {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.done.Load() {
		return nil
	}
	kept, err := k.windows.RateWindows(ctx, w.ID)
	if err != nil {
		return err
	}
	now := time.Now()
	for _, env := range environments() {
		if count, ok := kept.Counts[storedName(env, "")]; ok {
			k.limits.Restore(windowName(w.ID, env, ""), count, requestRule(w), now)
		}
		for _, l := range pathLimits() {
			if count, ok := kept.Counts[storedName(env, l.path)]; ok {
				k.paths.Restore(windowName(w.ID, env, l.path), count, l.rule(w), now)
			}
		}
	}
	r.done.Store(true)
	return nil
}

// note takes down that a request was counted, and waits where too much is not
// written yet: for a store that does not write, not for long.
func (k *keeper) note(ctx context.Context, workspaceID string, a limit.Answer) {
	hasty := a.Hasty()
	if k.windows == nil || a.Unkept == 0 || a.Unkept > 1 && !hasty {
		return
	}
	k.start.Do(func() { go k.keep(k.life()) })
	written := k.mark(workspaceID)
	if !hasty {
		return
	}
	signal(k.urgent)
	wait := time.NewTimer(keepWithin)
	defer wait.Stop()
	select {
	case <-written:
	case <-wait.C:
	case <-ctx.Done():
	}
}

func (k *keeper) mark(workspaceID string) (written <-chan struct{}) {
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

// keep writes what is counted, until the server ends.
func (k *keeper) keep(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-k.some:
		}
		wait := time.NewTimer(keepWithin)
		select {
		case <-ctx.Done():
			wait.Stop()
			return
		case <-k.urgent:
			wait.Stop()
		case <-wait.C:
		}
		k.flush(ctx)
	}
}

// flush writes what has changed. What cannot be written now is tried again, but
// for a workspace that is not ours any more.
func (k *keeper) flush(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, keepLimit)
	defer cancel()
	k.mu.Lock()
	dirty, written := k.dirty, k.round
	k.dirty, k.round = make(map[string]bool), make(chan struct{})
	k.mu.Unlock()
	defer close(written)
	for id := range dirty {
		err := k.windows.KeepRateWindows(ctx, k.countsOf(id))
		if errors.Is(err, domain.ErrFenced) { // the workspace was deleted, or is another process's
			k.read.Delete(id)
			continue
		}
		if err != nil {
			k.log.Debug("what is used of the rate limits could not be kept; trying again", slog.String("workspace_id", id), slog.Any("error", err))
			k.mark(id)
		}
	}
}

func (k *keeper) countsOf(workspaceID string) *domain.RateWindows {
	w := &domain.RateWindows{WorkspaceID: workspaceID, Counts: make(map[string]domain.RateCount)}
	for _, env := range environments() {
		if count, ok := k.limits.Keep(windowName(workspaceID, env, "")); ok {
			w.Counts[storedName(env, "")] = count
		}
		for _, l := range pathLimits() {
			if count, ok := k.paths.Keep(windowName(workspaceID, env, l.path)); ok {
				w.Counts[storedName(env, l.path)] = count
			}
		}
	}
	return w
}

// environments are those whose requests are counted.
func environments() [2]domain.Environment { return [...]domain.Environment{domain.Live, domain.Test} }
