package modeltest_test

import (
	"context"
	"errors"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/persistence"
)

var errAway = errors.New("the store does not answer")

// commitFault is the fault that the test injects into one commit.
type commitFault uint8

const (
	fine       commitFault = iota
	commitLost             // an error, and nothing is written
	replyLost              // an error, but the change is durable
	conflict               // reported as a conflict
	killBefore             // the process ends before the commit
	killAfter              // the process ends after the commit, before the reply
)

// faultyStore is the access of one process to the real store. It injects delays and faults, and it fails once the process is
// killed. It reports durable commits to the model.
type faultyStore struct {
	w       *world
	process *process
	store   *persistence.Store
	turn    chan struct{} // one commit at a time, so that at most one is in doubt after a crash
}

// Apply implements commit.Store.
func (d *faultyStore) Apply(ctx context.Context, c commit.Change) ([]event.Event, error) {
	if pause := d.w.commitDelay(); pause > 0 {
		t := time.NewTimer(pause)
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	select {
	case d.turn <- struct{}{}:
		defer func() { <-d.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	t, ok := d.w.nextFault(d.process, &c)
	if !ok {
		return nil, errAway
	}
	switch t {
	case commitLost, killBefore:
		if t == killBefore {
			d.w.killDuringCommit(d.process, nil)
		}
		return nil, errAway
	case conflict:
		return nil, domain.ErrConflict
	case fine, replyLost, killAfter:
	}
	events, err := d.store.Apply(ctx, c)
	if t == killAfter {
		if err != nil { // for example a conflict: the outcome is known
			d.w.killDuringCommit(d.process, nil)
		} else {
			d.w.killDuringCommit(d.process, &c)
		}
		return nil, errAway
	}
	if !d.w.reportDurable(d.process, c, events, err) || t == replyLost {
		return nil, errAway
	}
	return events, err
}

// Get implements commit.Store.
func (d *faultyStore) Get(ctx context.Context, into domain.Record) (uint64, error) {
	if d.w.isStoreDown(d.process) {
		return 0, errAway
	}
	return d.store.Get(ctx, into)
}

// List implements commit.Store.
func (d *faultyStore) List(
	ctx context.Context, q commit.Query, fresh func() domain.Record, each func(domain.Record) error,
) (string, error) {
	if d.w.isStoreDown(d.process) {
		return "", errAway
	}
	return d.store.List(ctx, q, fresh, each)
}

// Under implements commit.Store.
func (d *faultyStore) Under(
	ctx context.Context, prefix domain.Key, after string, limit int, fresh func() domain.Record, each func(domain.Record) error,
) error {
	if d.w.isStoreDown(d.process) {
		return errAway
	}
	return d.store.Under(ctx, prefix, after, limit, fresh, each)
}

// forEachRow calls each for all records of a kind in the store.
func forEachRow[T any, P interface {
	*T
	domain.Record
}](ctx context.Context, s *persistence.Store, kind, ws, index string, each func(P)) error {
	q := commit.Query{Kind: kind, Workspace: ws, Index: index, Limit: 1000, Oldest: true}
	for {
		next, err := s.List(ctx, q, func() domain.Record { return P(new(T)) }, func(r domain.Record) error {
			each(r.(P))
			return nil
		})
		if err != nil || next == "" {
			return err
		}
		q.Cursor = next
	}
}
