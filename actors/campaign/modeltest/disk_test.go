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

// trick is what goes wrong with one commit of a campaign.
type trick uint8

const (
	fine    trick = iota
	lost          // an error, and nothing is written
	unheard       // an error, but it is durable
	denied        // reported as a conflict
	deadly        // the process ends before it
	last          // the process ends after it, before anybody hears
)

// disk is the real store as one process sees it: slow, failing, and dead once
// its process is. It tells the model what is durable.
type disk struct {
	w     *world
	p     *process
	store *persistence.Store
	turn  chan struct{} // one commit at a time: after a crash at most one is in doubt
}

// Apply is commit.Store's.
func (d *disk) Apply(ctx context.Context, c commit.Change) ([]event.Event, error) {
	if pause := d.w.pause(); pause > 0 {
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
	t, ok := d.w.try(d.p, &c)
	if !ok {
		return nil, errAway
	}
	switch t {
	case lost, deadly:
		if t == deadly {
			d.w.die(d.p, nil)
		}
		return nil, errAway
	case denied:
		return nil, domain.ErrConflict
	case fine, unheard, last:
	}
	events, err := d.store.Apply(ctx, c)
	if t == last {
		if err != nil { // a conflict, say: nothing is in doubt
			d.w.die(d.p, nil)
		} else {
			d.w.die(d.p, &c)
		}
		return nil, errAway
	}
	if !d.w.durable(d.p, c, events, err) || t == unheard {
		return nil, errAway
	}
	return events, err
}

// Get is commit.Store's.
func (d *disk) Get(ctx context.Context, into domain.Record) (uint64, error) {
	if d.w.away(d.p) {
		return 0, errAway
	}
	return d.store.Get(ctx, into)
}

// List is commit.Store's.
func (d *disk) List(
	ctx context.Context, q commit.Query, fresh func() domain.Record, each func(domain.Record) error,
) (string, error) {
	if d.w.away(d.p) {
		return "", errAway
	}
	return d.store.List(ctx, q, fresh, each)
}

// Under is commit.Store's.
func (d *disk) Under(
	ctx context.Context, prefix domain.Key, after string, limit int, fresh func() domain.Record, each func(domain.Record) error,
) error {
	if d.w.away(d.p) {
		return errAway
	}
	return d.store.Under(ctx, prefix, after, limit, fresh, each)
}

// every calls each with all rows of a list.
func every[T any, P interface {
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
