//go:build failpoints

package store

import (
	"context"
	"os"
	"sync"
	"time"

	"github.com/callboard/callboard/actors/storecache"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
)

// openDelay is how long lateOpenStore delays a commit that creates a call attempt.
const openDelay = 400 * time.Millisecond

// lateOpenStore delays the commits that create call attempts, so that they follow the INVITE.
type lateOpenStore struct {
	storecache.Backend
	mu   sync.Mutex
	last map[string]chan struct{} // by campaign; closed when the previous change is stored
}

// unguardedStore drops the preconditions (guards) of commits. FAILPOINT_NO_GUARDS enables it.
type unguardedStore struct{ storecache.Backend }

// WithFailpoints wraps a store in the failpoints that the environment enables. With FAILPOINT_LATE_OPEN a call attempt is
// stored after its INVITE. The kill test must then see a number called twice.
func WithFailpoints(s storecache.Backend) storecache.Backend {
	s = splitOutboxCommits(splitJobCommits(withHoldFailpoint(s)))
	if os.Getenv("FAILPOINT_NO_GUARDS") != "" {
		s = unguardedStore{s}
	}
	if os.Getenv("FAILPOINT_LATE_OPEN") == "" {
		return s
	}
	return &lateOpenStore{Backend: s, last: make(map[string]chan struct{})}
}

// acceptsAnyHistory reports whether the service accepts a Redis replica that lacks commits. FAILPOINT_ANY_HISTORY enables
// this. The failover test must then see a number called twice.
func acceptsAnyHistory() bool { return os.Getenv("FAILPOINT_ANY_HISTORY") != "" }

// Apply commits a change without checking its preconditions.
func (u unguardedStore) Apply(ctx context.Context, c commit.Change) ([]event.Event, error) {
	c.Guards = nil
	return u.Backend.Apply(ctx, c)
}

// Apply reports success at once for a commit that creates a call attempt, and commits it later. The commits of a
// campaign keep their order.
func (l *lateOpenStore) Apply(ctx context.Context, c commit.Change) ([]event.Event, error) {
	id, opening := "", false
	for _, p := range c.Puts {
		if r, ok := p.(*domain.Progress); ok {
			id = r.CampaignID
		}
	}
	for _, g := range c.Guards {
		opening = opening || g == commit.Absent(g.Key) && g.Key.Kind == "attempt"
	}
	if id == "" {
		return l.Backend.Apply(ctx, c)
	}
	l.mu.Lock()
	before, done := l.last[id], make(chan struct{})
	l.last[id] = done
	l.mu.Unlock()
	if !opening {
		defer close(done)
		if before != nil {
			<-before
		}
		return l.Backend.Apply(ctx, c)
	}
	go func() {
		defer close(done)
		time.Sleep(openDelay)
		if before != nil {
			<-before
		}
		_, _ = l.Backend.Apply(context.WithoutCancel(ctx), c)
	}()
	return make([]event.Event, len(c.Events)), nil
}
