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

// openDelay is how long an opening is withheld from the store.
const openDelay = 400 * time.Millisecond

type lateOpenStore struct {
	storecache.Backend
	mu   sync.Mutex
	last map[string]chan struct{} // by campaign: the change before is stored
}

// unguardedStore is the other half of that control: with FAILPOINT_NO_GUARDS a commit
// is taken whatever has become of the rows that it was made from.
type unguardedStore struct{ storecache.Backend }

// WithFailpoints is the control of the kill test: with FAILPOINT_LATE_OPEN the opening
// of an attempt is stored after its INVITE, which must ring somebody twice.
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

// acceptsAnyHistory is the control of the fail-over test: with FAILPOINT_ANY_HISTORY a
// replica that lacks commits is taken as it is, which must ring somebody twice.
func acceptsAnyHistory() bool { return os.Getenv("FAILPOINT_ANY_HISTORY") != "" }

// Apply is the store's.
func (u unguardedStore) Apply(ctx context.Context, c commit.Change) ([]event.Event, error) {
	c.Guards = nil
	return u.Backend.Apply(ctx, c)
}

// Apply answers for an opening at once and stores it later, in order.
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
