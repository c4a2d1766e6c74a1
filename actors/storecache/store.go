package storecache

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
)

// countedKinds are the kinds of which each call needs some rows and which change
// seldom: changes of them are counted, so that they need not be read each time.
var countedKinds = []string{"agent", "agent_version", "pathway", "number", "trunk"} //nolint:gochecknoglobals // a table

// Backend is the store behind a Store.
type Backend interface {
	commit.Store
	// Healthy is nil while commits can be made.
	Healthy() error
	// Erase removes all rows of a workspace, its events and its data key, while nobody writes to it. It may be repeated after it was
	// interrupted.
	Erase(ctx context.Context, workspace string) error
}

// Store is a store that counts the changes of countedKinds, tells readers of new events and refuses commits to closed workspaces.
type Store struct {
	Backend
	mu        sync.RWMutex
	changed   map[string]uint64 // by workspace
	door      sync.Mutex        // never held while something is written
	writing   map[string]int    // commits under way, by workspace
	gone      map[string]bool   // workspaces to which nothing is written any more
	quiet     *sync.Cond        // on door: nothing is written to a workspace that is gone
	notifiers eventNotifiers
	work      sync.Map // *activity by workspace: what was committed lately
}

// New returns the store over a backend.
func New(s Backend) *Store {
	c := &Store{Backend: s, changed: make(map[string]uint64), writing: make(map[string]int), gone: make(map[string]bool)}
	c.quiet = sync.NewCond(&c.door)
	return c
}

// CloseWorkspace refuses further commits to a workspace and waits for those that
// have begun.
func (s *Store) CloseWorkspace(workspace string) {
	s.door.Lock()
	defer s.door.Unlock()
	s.gone[workspace] = true
	for s.writing[workspace] > 0 {
		s.quiet.Wait()
	}
	delete(s.writing, workspace)
	s.work.Delete(workspace)
}

// IsDeleted reports whether a workspace was closed by CloseWorkspace.
func (s *Store) IsDeleted(workspace string) bool {
	s.door.Lock()
	defer s.door.Unlock()
	return s.gone[workspace]
}

// beginCommit begins a commit, unless its workspace is gone.
func (s *Store) beginCommit(workspace string) bool {
	s.door.Lock()
	defer s.door.Unlock()
	if s.gone[workspace] {
		return false
	}
	s.writing[workspace]++
	return true
}

func (s *Store) endCommit(workspace string) {
	s.door.Lock()
	defer s.door.Unlock()
	if s.writing[workspace]--; s.writing[workspace] == 0 && s.gone[workspace] {
		s.quiet.Broadcast()
	}
}

// Apply is the store's. The count moves once the change can be read, so that
// whoever counted before it and read it reads again.
func (s *Store) Apply(ctx context.Context, c commit.Change) ([]event.Event, error) {
	if !s.beginCommit(c.Workspace) {
		return nil, domain.ErrFenced
	}
	defer s.endCommit(c.Workspace)
	c, rider := commit.AddAudit(ctx, c)
	events, err := s.Backend.Apply(ctx, c)
	if err == nil {
		rider.MarkCommitted()
	}
	if err == nil && c.Workspace != "" {
		s.activityOf(c.Workspace).committed(&c, time.Now())
	}
	if len(events) > 0 {
		s.notifiers.notify(c.Workspace)
	}
	if changesCounted(&c) {
		s.mu.Lock()
		s.changed[c.Workspace]++
		s.mu.Unlock()
	}
	return events, err
}

// eventNotifiers tell readers of event logs that events were committed. The zero value
// is ready.
type eventNotifiers struct {
	mu      sync.Mutex
	waiting map[string]chan struct{} // by workspace
}

// next returns a channel that is closed at the next commit of events of the workspace.
func (b *eventNotifiers) next(workspace string) <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	ch := b.waiting[workspace]
	if ch == nil {
		if b.waiting == nil {
			b.waiting = make(map[string]chan struct{})
		}
		ch = make(chan struct{})
		b.waiting[workspace] = ch
	}
	return ch
}

func (b *eventNotifiers) notify(workspace string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if ch := b.waiting[workspace]; ch != nil {
		close(ch)
		delete(b.waiting, workspace)
	}
}

func changesCounted(c *commit.Change) bool {
	for _, r := range c.Puts {
		if slices.Contains(countedKinds, r.Key().Kind) {
			return true
		}
	}
	for _, k := range c.Deletes {
		if slices.Contains(countedKinds, k.Kind) {
			return true
		}
	}
	return false
}

// Changes counts the changes of a workspace's agents, pathways, numbers and trunks.
func (s *Store) Changes(workspace string) uint64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.changed[workspace]
}

// NextEvents returns a channel that is closed at the next commit of events of the
// workspace.
func (s *Store) NextEvents(workspace string) <-chan struct{} { return s.notifiers.next(workspace) }
