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
	commitDone struct {
		version uint64 // of the attempt's row; 0: to be read again
		err     error
	}
	// retryCommit tries the commit in progress again.
	retryCommit struct{}
)

// Control admits it always.
func (commitDone) Control() {}

// Control admits it always.
func (retryCommit) Control() {}

// commitEntry is one commit of a call: its new state and its events.
type commitEntry struct {
	call     domain.Call
	attempt  domain.Attempt
	events   []event.Draft
	whenDone func(ctx actor.Context, durable bool)
	repeated bool // its outcome may be unknown
}

// commitQueue commits the states of a call in order, one at a time, beside the actor,
// until the store takes them. The version of the attempt's row makes it safe to
// repeat a commit of unknown outcome.
type commitQueue struct {
	cfg     *Config
	log     *slog.Logger
	queue   []commitEntry
	running bool
	version uint64
	wait    time.Duration
}

func (s *commitQueue) add(ctx actor.Context, e commitEntry) {
	s.queue = append(s.queue, e)
	s.startCommit(ctx)
}

// hasCheckpoint reports whether a queued commit contains a checkpoint.
func (s *commitQueue) hasCheckpoint() bool {
	return slices.ContainsFunc(s.queue, func(e commitEntry) bool { return e.attempt.ResumeState != nil })
}

// isIdle reports whether everything is durable.
func (s *commitQueue) isIdle() bool { return len(s.queue) == 0 }

func (s *commitQueue) startCommit(ctx actor.Context) {
	if s.running || len(s.queue) == 0 {
		return
	}
	s.running = true
	e, store, version, workspace := s.queue[0], s.cfg.Store, s.version, s.cfg.Workspace
	mailbox.RunTask(ctx, commitLimit, func(bound context.Context) any {
		return storeEntry(bound, store, workspace, e, version)
	})
}

func storeEntry(ctx context.Context, store Store, workspace string, e commitEntry, version uint64) (m commitDone) {
	defer func() {
		if v := recover(); v != nil {
			m = commitDone{version: version, err: fmt.Errorf("call: storing panicked: %v", v)}
		}
	}()
	call, attempt := e.call, e.attempt
	if version == 0 {
		row := domain.Attempt{ID: attempt.ID, WorkspaceID: attempt.WorkspaceID}
		v, err := store.Get(ctx, &row)
		if err != nil {
			return commitDone{err: err}
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
		return commitDone{version: version, err: err}
	}
	return commitDone{version: version + 1}
}

// finishCommit handles the result of the running commit.
func (s *commitQueue) finishCommit(ctx actor.Context, m commitDone) {
	s.running = false
	if m.err != nil && !isPermanent(m.err) {
		s.version, s.queue[0].repeated = m.version, true
		s.wait = min(max(2*s.wait, firstRetry), lastRetry)
		s.log.Warn("the state of a call could not be stored; trying again", slog.Any("error", m.err), slog.Duration("after", s.wait))
		s.running = true
		mailbox.SendAfter(ctx, s.wait, retryCommit{})
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
		durable = e.repeated && errors.Is(m.err, domain.ErrConflict)
		s.log.Warn("the row of a call has moved on", slog.Any("error", m.err), slog.Bool("stored", durable))
		m.version = 0
	}
	s.wait, s.version = 0, m.version
	if s.cfg.Committed != nil {
		s.cfg.Committed()
	}
	if e.whenDone != nil {
		e.whenDone(ctx, durable)
	}
	s.startCommit(ctx)
}

// isPermanent reports whether an error stays however often the commit is repeated.
func isPermanent(err error) bool {
	return errors.Is(err, domain.ErrConflict) || errors.Is(err, domain.ErrFenced) || errors.Is(err, domain.ErrNotFound)
}

func (s *commitQueue) retryCommit(ctx actor.Context) {
	s.running = false
	s.startCommit(ctx)
}
