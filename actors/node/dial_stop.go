package node

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/domain/load"
)

// Timing of the reads of the stored dial stop.
const (
	dialStopPoll        = 500 * time.Millisecond // interval between two reads of the stored row
	dialStopReadTimeout = 2 * time.Second
)

// DialStop is the switch with which an operator stops all dialling in the installation. The stored row keeps the
// stop across restarts. Nodes that share a store apply each other's changes.
type DialStop struct {
	store    dialStopStore
	shared   bool               // other nodes use the same store
	onChange func(stopped bool) // called with mu held, except by load
	log      *slog.Logger

	row     atomic.Pointer[domain.DialStop] // nil: dialling is allowed. Since is zero until the row is stored
	mu      sync.Mutex                      // held while a change is stored
	changes int                             // number of changes by this node; guarded by mu
}

// dialStopStore reads and writes the database row of a dial stop.
type dialStopStore interface {
	Get(ctx context.Context, into domain.Record) (uint64, error)
	Apply(ctx context.Context, c commit.Change) ([]event.Event, error)
}

// load reads the stored row when the node starts. If an operator has stopped dialling, the stop applies again.
func (s *DialStop) load(ctx context.Context) error {
	row := &domain.DialStop{}
	_, err := s.store.Get(ctx, row)
	if errors.Is(err, domain.ErrNotFound) || err == nil && !row.Stopped {
		return nil
	}
	if err != nil {
		return err
	}
	s.row.Store(row)
	s.onChange(true)
	s.log.Warn("dialling is stopped: an operator has stopped all dialling", slog.Time("since", row.Since), slog.String("reason", row.Reason))
	return nil
}

// follow polls the stored row until ctx ends, so that this node applies changes by other nodes.
func (s *DialStop) follow(ctx context.Context) {
	t := time.NewTicker(dialStopPoll)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			s.poll(ctx)
		}
	}
}

// poll reads the stored row once. If another node has stopped or resumed dialling, this node does the same.
func (s *DialStop) poll(ctx context.Context) {
	s.mu.Lock()
	before := s.changes
	s.mu.Unlock()
	stored, err := s.readRow(ctx)
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.row.Load()
	switch {
	case s.changes != before: // this node changed the row after it was read
		return
	case stored.Stopped && known == nil:
		s.row.Store(stored)
		s.log.Warn("an operator has stopped all dialling", slog.String("actor", stored.By.ID))
	case !stored.Stopped && known != nil && !known.Since.IsZero():
		s.row.Store(nil)
		s.log.Warn("an operator has resumed dialling", slog.String("actor", stored.By.ID))
	default:
		return
	}
	s.onChange(stored.Stopped)
}

// Stop stops all dialling until Resume is called, also across restarts. Live calls continue. row contains the reason
// and the author of the stop. If dialling is already stopped, Stop keeps the reason and author of the first stop.
func (s *DialStop) Stop(ctx context.Context, row *domain.DialStop) (load.DiallingNow, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.row.Load(); known != nil && !known.Since.IsZero() && s.isStored(ctx) {
		return dialStopOf(known), nil
	}
	s.changes++
	s.row.Store(&domain.DialStop{Stopped: true, Reason: row.Reason}) // before the commit, so that no call begins while the store is slow
	s.onChange(true)
	row.Stopped, row.Since = true, domain.Timestamp(time.Now())
	if _, err := s.store.Apply(commit.WithAuditInNextCommit(ctx), commit.Change{Puts: []domain.Record{row}}); err != nil {
		s.log.Error("dialling is stopped until a restart only, because the stop may not be stored: stop all dialling again", slog.Any("error", err))
		return load.DiallingNow{}, commit.StoreError(err)
	}
	s.row.Store(row)
	s.log.Warn("an operator has stopped all dialling", slog.String("actor", row.By.ID))
	return dialStopOf(row), nil
}

// Resume allows dialling again. Paused campaigns stay paused. row contains the author of the change.
func (s *DialStop) Resume(ctx context.Context, row *domain.DialStop) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.row.Load() == nil && !s.shared {
		return nil
	}
	s.changes++
	row.Stopped, row.Since = false, domain.Timestamp(time.Now())
	if _, err := s.store.Apply(commit.WithAuditInNextCommit(ctx), commit.Change{Puts: []domain.Record{row}}); err != nil {
		return commit.StoreError(err)
	}
	s.row.Store(nil)
	s.onChange(false)
	s.log.Warn("an operator has resumed dialling", slog.String("actor", row.By.ID))
	return nil
}

// Current returns the active dial stop as the API shows it. It is the zero value if dialling is allowed.
func (s *DialStop) Current() load.DiallingNow { return dialStopOf(s.row.Load()) }

// isStopped reports whether dialling is stopped.
func (s *DialStop) isStopped() bool { return s.row.Load() != nil }

// readRow reads the stored row of the dial stop. It returns an empty row if none is stored.
func (s *DialStop) readRow(ctx context.Context) (*domain.DialStop, error) {
	bound, cancel := context.WithTimeout(ctx, dialStopReadTimeout)
	defer cancel()
	row := &domain.DialStop{}
	if _, err := s.store.Get(bound, row); err != nil && !errors.Is(err, domain.ErrNotFound) {
		return nil, err
	}
	return row, nil
}

// isStored reports whether the dial stop that this node knows is still stored. Another node may have resumed
// dialling.
func (s *DialStop) isStored(ctx context.Context) bool {
	if !s.shared {
		return true
	}
	row, err := s.readRow(ctx)
	return err == nil && row.Stopped
}

// dialStopOf converts the stored row of a dial stop to the form of the API.
func dialStopOf(row *domain.DialStop) load.DiallingNow {
	if row == nil {
		return load.DiallingNow{}
	}
	now := load.DiallingNow{Stopped: true, Reason: row.Reason}
	if !row.Since.IsZero() {
		since, by := row.Since, row.By
		now.Since, now.By = &since, &by
	}
	return now
}
