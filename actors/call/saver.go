package call

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
)

// How long one commit may take, and when it is tried again.
const (
	commitLimit = 10 * time.Second
	firstRetry  = 200 * time.Millisecond
	lastRetry   = 2 * time.Second
)

type (
	// saved answers the commit in progress.
	saved struct {
		version uint64 // of the attempt's row; 0: to be read again
		err     error
	}
	// retrySave tries the commit in progress again.
	retrySave struct{}
)

// Control admits it always.
func (saved) Control() {}

// Control admits it always.
func (retrySave) Control() {}

// entry is one commit of a call: what it became, and what happened.
type entry struct {
	call    domain.Call
	attempt domain.Attempt
	events  []event.Draft
	then    func(ctx actor.Context, durable bool)
	tried   bool // its outcome may be unknown
}

// saver commits what a call became: in order, one at a time, beside the actor,
// until the store takes it. The attempt's row carries the version that makes a
// commit of unknown outcome safe to repeat.
type saver struct {
	cfg     *Config
	log     *slog.Logger
	queue   []entry
	busy    bool
	version uint64
	wait    time.Duration
}

func (s *saver) add(ctx actor.Context, e entry) {
	s.queue = append(s.queue, e)
	s.next(ctx)
}

// keeps says whether any of the commits to come keeps what another process needs.
func (s *saver) keeps() bool {
	return slices.ContainsFunc(s.queue, func(e entry) bool { return e.attempt.Kept != nil })
}

// idle: everything is durable.
func (s *saver) idle() bool { return len(s.queue) == 0 }

func (s *saver) next(ctx actor.Context) {
	if s.busy || len(s.queue) == 0 {
		return
	}
	s.busy = true
	e, store, version, workspace := s.queue[0], s.cfg.Store, s.version, s.cfg.Workspace
	mailbox.Work(ctx, commitLimit, func(bound context.Context) any {
		return save(bound, store, workspace, e, version)
	})
}

func save(ctx context.Context, store Store, workspace string, e entry, version uint64) (m saved) {
	defer func() {
		if v := recover(); v != nil {
			m = saved{version: version, err: fmt.Errorf("call: storing panicked: %v", v)}
		}
	}()
	call, attempt := e.call, e.attempt
	if version == 0 {
		row := domain.Attempt{ID: attempt.ID, WorkspaceID: attempt.WorkspaceID}
		v, err := store.Get(ctx, &row)
		if err != nil {
			return saved{err: err}
		}
		version = v
	}
	_, err := store.Apply(ctx, commit.Change{
		Workspace: workspace,
		Guards:    []commit.Guard{{Key: attempt.Key(), Version: version}},
		Puts:      []domain.Record{&call, &attempt},
		Events:    e.events,
	})
	if err != nil {
		return saved{version: version, err: err}
	}
	return saved{version: version + 1}
}

// result takes the answer of the commit in progress.
func (s *saver) result(ctx actor.Context, m saved) {
	s.busy = false
	if m.err != nil && !settled(m.err) {
		s.version, s.queue[0].tried = m.version, true
		s.wait = min(max(2*s.wait, firstRetry), lastRetry)
		s.log.Warn("the state of a call could not be stored; trying again", slog.Any("error", m.err), slog.Duration("after", s.wait))
		s.busy = true
		mailbox.After(ctx, s.wait, retrySave{})
		return
	}
	e := s.queue[0]
	s.queue = slices.Delete(s.queue, 0, 1)
	if len(s.queue) == 0 {
		s.queue = nil // it may be a while until the next one
	}
	durable := m.err == nil
	if m.err != nil {
		// The row has moved on without us: either this very commit was stored
		// although its answer was lost, or the call is no longer ours.
		durable = e.tried && errors.Is(m.err, domain.ErrConflict)
		s.log.Warn("the row of a call has moved on", slog.Any("error", m.err), slog.Bool("stored", durable))
		m.version = 0
	}
	s.wait, s.version = 0, m.version
	if s.cfg.Committed != nil {
		s.cfg.Committed()
	}
	if e.then != nil {
		e.then(ctx, durable)
	}
	s.next(ctx)
}

// settled: trying again cannot change anything.
func settled(err error) bool {
	return errors.Is(err, domain.ErrConflict) || errors.Is(err, domain.ErrFenced) || errors.Is(err, domain.ErrNotFound)
}

func (s *saver) retry(ctx actor.Context) {
	s.busy = false
	s.next(ctx)
}
