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

// countedKinds are the kinds of records that every call needs and that rarely change. The Store counts their changes,
// so that a Cache can keep values computed from them.
var countedKinds = []string{"agent", "agent_version", "pathway", "number", "trunk"} //nolint:gochecknoglobals // a table

// Backend is the store of a shard, which a Store wraps.
type Backend interface {
	commit.Store
	// Healthy returns an error if commits currently fail.
	Healthy() error
	// Erase removes all rows of a workspace, its events and its data key. No commit to the workspace may run at the same
	// time. The caller may repeat an interrupted Erase.
	Erase(ctx context.Context, workspace string) error
}

// Store wraps a Backend. It counts the changes of countedKinds, notifies readers of new events and refuses commits
// to workspaces that CloseWorkspace has closed.
type Store struct {
	Backend
	mu           sync.RWMutex
	changeCounts map[string]uint64 // number of changes of countedKinds by workspace
	writeMu      sync.Mutex        // guards openCommits and closed; never held during a commit
	openCommits  map[string]int    // running commits by workspace
	closed       map[string]bool   // workspaces that accept no more commits
	commitsEnded *sync.Cond        // signals the end of the last commit to a closed workspace; uses writeMu
	notifiers    eventNotifiers
	activities   sync.Map // *activity by workspace
}

// New returns a Store that wraps a backend.
func New(s Backend) *Store {
	c := &Store{Backend: s, changeCounts: make(map[string]uint64), openCommits: make(map[string]int), closed: make(map[string]bool)}
	c.commitsEnded = sync.NewCond(&c.writeMu)
	return c
}

// CloseWorkspace makes the Store refuse further commits to a workspace, and waits until the running commits end.
func (s *Store) CloseWorkspace(workspace string) {
	s.writeMu.Lock()
	defer s.writeMu.Unlock()
	s.closed[workspace] = true
	for s.openCommits[workspace] > 0 {
		s.commitsEnded.Wait()
	}
	delete(s.openCommits, workspace)
	s.activities.Delete(workspace)
}

// IsDeleted reports whether CloseWorkspace was called for a workspace.
func (s *Store) IsDeleted(workspace string) bool {
	s.writeMu.Lock()
	defer s.writeMu.Unlock()
	return s.closed[workspace]
}

// beginCommit counts a commit as running. It returns false if CloseWorkspace has closed the workspace.
func (s *Store) beginCommit(workspace string) bool {
	s.writeMu.Lock()
	defer s.writeMu.Unlock()
	if s.closed[workspace] {
		return false
	}
	s.openCommits[workspace]++
	return true
}

func (s *Store) endCommit(workspace string) {
	s.writeMu.Lock()
	defer s.writeMu.Unlock()
	if s.openCommits[workspace]--; s.openCommits[workspace] == 0 && s.closed[workspace] {
		s.commitsEnded.Broadcast()
	}
}

// Apply commits a change to the backend and then counts it. A reader that read the count before the commit therefore
// sees a different count afterwards and reads the records again.
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
		s.activityOf(c.Workspace).addCommit(&c, time.Now())
	}
	if len(events) > 0 {
		s.notifiers.notify(c.Workspace)
	}
	if changesCounted(&c) {
		s.mu.Lock()
		s.changeCounts[c.Workspace]++
		s.mu.Unlock()
	}
	return events, err
}

// eventNotifiers notifies the readers of event logs when new events are committed. The zero value is ready to use.
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

// Changes returns the number of changes of a workspace's agents, pathways, numbers and trunks.
func (s *Store) Changes(workspace string) uint64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.changeCounts[workspace]
}

// NextEvents returns a channel that is closed at the next commit of events of the workspace.
func (s *Store) NextEvents(workspace string) <-chan struct{} { return s.notifiers.next(workspace) }
