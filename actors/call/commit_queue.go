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

// Time limit of one commit, and the delays between retries.
const (
	commitTimeout = 10 * time.Second
	firstRetry    = 200 * time.Millisecond
	lastRetry     = 2 * time.Second
)

type (
	// commitDone reports the result of the running commit.
	commitDone struct {
		version uint64 // of the attempt's row; 0: the row has to be read again
		err     error
	}
	// retryCommit repeats the commit that has just failed.
	retryCommit struct{}
)

// Control implements mailbox.Control: a full mailbox accepts this message.
func (commitDone) Control() {}

// Control implements mailbox.Control: a full mailbox accepts this message.
func (retryCommit) Control() {}

// commitEntry is one queued commit: the state of the call and its events.
type commitEntry struct {
	call     domain.Call
	attempt  domain.Attempt
	events   []event.Draft
	whenDone func(ctx actor.Context, durable bool)
	repeated bool // an earlier try has an unknown outcome
}

// commitQueue commits the states of a call one at a time and in order, outside the actor. It repeats a failed commit
// until the commit succeeds. The version of the attempt's database row prevents that a repeated commit is stored twice.
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

// isIdle reports whether all commits are done.
func (s *commitQueue) isIdle() bool { return len(s.queue) == 0 }

func (s *commitQueue) startCommit(ctx actor.Context) {
	if s.running || len(s.queue) == 0 {
		return
	}
	s.running = true
	e, store, version, workspace := s.queue[0], s.cfg.Store, s.version, s.cfg.Workspace
	mailbox.RunTask(ctx, commitTimeout, func(bound context.Context) any {
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
		s.log.Warn("state of a call could not be stored; trying again", slog.Any("error", m.err), slog.Duration("after", s.wait))
		s.running = true
		mailbox.SendAfter(ctx, s.wait, retryCommit{})
		return
	}
	e := s.queue[0]
	s.queue = slices.Delete(s.queue, 0, 1)
	if len(s.queue) == 0 {
		s.queue = nil // frees the array: the next commit may be minutes away
	}
	durable := m.err == nil
	if m.err != nil {
		// The version of the attempt's row differs from the expected one. Either an earlier try of this commit was stored
		// and the reply of the store got lost, or another process owns the call.
		durable = e.repeated && errors.Is(m.err, domain.ErrConflict)
		s.log.Warn("row of a call has an unexpected version", slog.Any("error", m.err), slog.Bool("stored", durable))
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

// isPermanent reports whether an error of a commit stays the same if the commit is repeated.
func isPermanent(err error) bool {
	return errors.Is(err, domain.ErrConflict) || errors.Is(err, domain.ErrFenced) || errors.Is(err, domain.ErrNotFound)
}

func (s *commitQueue) retryCommit(ctx actor.Context) {
	s.running = false
	s.startCommit(ctx)
}
