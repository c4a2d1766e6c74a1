//go:build failpoints

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/callboard/callboard/actors"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
)

// lateFor is how long an opening is withheld from the store.
const lateFor = 400 * time.Millisecond

// tamper is the control of the kill test: with FAILPOINT_LATE_OPEN the opening
// of an attempt is stored after its INVITE, which must ring somebody twice.
func tamper(s actors.Store) actors.Store {
	s = skipping(parting(holding(s)))
	if os.Getenv("FAILPOINT_NO_GUARDS") != "" {
		s = unguarded{s}
	}
	if os.Getenv("FAILPOINT_LATE_OPEN") == "" {
		return s
	}
	return &lateStore{Store: s, last: make(map[string]chan struct{})}
}

// fence is the control of the test of several nodes: with FAILPOINT_NO_FENCE
// every node has the same token and none looks at its lease, which must ring
// somebody twice.
func fence(token string) (string, bool) {
	if os.Getenv("FAILPOINT_NO_FENCE") != "" {
		return "1|everybody", false
	}
	return token, true
}

// unguarded is the other half of that control: with FAILPOINT_NO_GUARDS a commit
// is taken whatever has become of the rows that it was made from.
type unguarded struct{ actors.Store }

// Apply is the store's.
func (u unguarded) Apply(ctx context.Context, c commit.Change) ([]event.Event, error) {
	c.Guards = nil
	return u.Store.Apply(ctx, c)
}

// careless is the control of shards that are handed over: with
// FAILPOINT_CARELESS a node gives them away without ending what it has begun.
func careless() bool { return os.Getenv("FAILPOINT_CARELESS") != "" }

// looksAround is the control of networks that part nodes: with FAILPOINT_NO_REACH
// a node never asks whether it sees the others.
func looksAround() bool { return os.Getenv("FAILPOINT_NO_REACH") == "" }

// parted is why the node reaches none of the others: with FAILPOINT_PARTED the
// file of that name, while it is there.
func parted() error {
	if path := os.Getenv("FAILPOINT_PARTED"); path != "" {
		if _, err := os.Stat(path); err == nil {
			return errors.New("parted from the others")
		}
	}
	return nil
}

// anyHistory is the control of the fail-over test: with FAILPOINT_ANY_HISTORY a
// replica that lacks commits is taken as it is, which must ring somebody twice.
func anyHistory() bool { return os.Getenv("FAILPOINT_ANY_HISTORY") != "" }

// linger is how long dialogs that are over are kept: with FAILPOINT_LINGER as
// short as that, so that a test need not wait for them.
func linger() time.Duration {
	d, _ := time.ParseDuration(os.Getenv("FAILPOINT_LINGER"))
	return d
}

// patience is how long an INVITE may wait to be read before it is refused: with
// FAILPOINT_PATIENCE as long as that, because the race detector and other tests
// make a machine slow that carries few calls.
func patience() time.Duration {
	d, _ := time.ParseDuration(os.Getenv("FAILPOINT_PATIENCE"))
	return d
}

// hurried is how long a webhook may take to answer and what divides the waits
// before its retries: with FAILPOINT_HURRY, such as "2s 1000", so that a test
// need not wait for an hour.
func hurried() (timeout time.Duration, hurry int) {
	var answers string
	if _, err := fmt.Sscanf(os.Getenv("FAILPOINT_HURRY"), "%s %d", &answers, &hurry); err != nil {
		return 0, 0
	}
	timeout, _ = time.ParseDuration(answers)
	return timeout, hurry
}

// moveAfter is how long a shard with live calls stays though another node waits
// for it, where these can be handed over: with FAILPOINT_MOVE_AFTER so long.
func moveAfter() time.Duration {
	if d, err := time.ParseDuration(os.Getenv("FAILPOINT_MOVE_AFTER")); err == nil {
		return d
	}
	return movesAfter
}

type lateStore struct {
	actors.Store
	mu   sync.Mutex
	last map[string]chan struct{} // by campaign: the change before is stored
}

// Apply answers for an opening at once and stores it later, in order.
func (l *lateStore) Apply(ctx context.Context, c commit.Change) ([]event.Event, error) {
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
		return l.Store.Apply(ctx, c)
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
		return l.Store.Apply(ctx, c)
	}
	go func() {
		defer close(done)
		time.Sleep(lateFor)
		if before != nil {
			<-before
		}
		_, _ = l.Store.Apply(context.WithoutCancel(ctx), c)
	}()
	return make([]event.Event, len(c.Events)), nil
}
