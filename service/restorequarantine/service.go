package restorequarantine

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/callboard/callboard/actors/call/recovery"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// Config holds the dependencies of a Service.
type Config struct {
	Store commit.Store
	// Restart restarts the service after the release. If Restart is nil, the service is not restarted.
	Restart func()
	Log     *slog.Logger
}

// Service shows operators the quarantine of the store and releases it.
type Service struct {
	store   commit.Store
	restart func()
	log     *slog.Logger
}

// New returns a Service.
func New(c Config) *Service { return &Service{store: c.Store, restart: c.Restart, log: c.Log} }

// Quarantine returns the state of the quarantine, with the actions that may have been carried out after the backup.
func (s *Service) Quarantine(ctx context.Context, _ domain.Principal) (*Quarantine, error) {
	q, err := LoadState(ctx, s.store)
	return q, commit.StoreError(err)
}

// EndQuarantine releases the store and restarts the service. The result lists the actions that are not repeated.
// Without a quarantine nothing changes.
func (s *Service) EndQuarantine(ctx context.Context, p domain.Principal) (*Quarantine, error) {
	released, err := Release(ctx, s.store)
	if err != nil {
		return nil, commit.StoreError(err)
	}
	if released.Active && s.restart != nil {
		s.log.Warn("an operator released the restored store; the service restarts", slog.String("actor", record.ActorOf(p).ID))
		s.restart()
	}
	released.Active = false
	return released, nil
}

// LoadRow returns the quarantine row of a store. It returns nil if the store is not in quarantine.
func LoadRow(ctx context.Context, store commit.Store) (*domain.Quarantine, error) {
	q := &domain.Quarantine{}
	_, err := store.Get(ctx, q)
	if errors.Is(err, domain.ErrNotFound) {
		return nil, nil //nolint:nilnil // nil: no quarantine
	}
	if err != nil {
		return nil, err
	}
	return q, nil
}

// Start puts a restored store into quarantine. The store must not be in use by a node. backupAt is the time of the
// backup.
func Start(ctx context.Context, store commit.Store, backupAt time.Time) (*domain.Quarantine, error) {
	q := &domain.Quarantine{BackupAt: backupAt, RestoredAt: record.Now()}
	all, err := record.AllWorkspaces(ctx, store)
	if err != nil {
		return nil, err
	}
	for _, w := range all {
		var attempts []*domain.Attempt
		if attempts, err = recovery.OpenAttempts(ctx, store, w.ID); err != nil {
			return nil, err
		}
		for _, a := range attempts {
			q.LiveCalls++
			q.Calls = append(q.Calls, domain.UncertainAction{Kind: domain.UncertainCall, WorkspaceID: w.ID, Environment: a.Environment, ID: a.CallID, At: a.OpenedAt})
		}
	}
	slices.SortFunc(q.Calls, func(a, b domain.UncertainAction) int { return b.At.Compare(a.At) })
	q.Calls = q.Calls[:min(len(q.Calls), domain.MaxQuarantinedCalls)]
	_, err = store.Apply(ctx, commit.Change{Puts: []domain.Record{q}})
	return q, err
}

// LoadState returns the state of a store's quarantine, with the actions that may have been carried out after the
// backup.
func LoadState(ctx context.Context, store commit.Store) (*Quarantine, error) {
	out := &Quarantine{Object: "quarantine", Actions: []domain.UncertainAction{}}
	q, err := LoadRow(ctx, store)
	if q == nil || err != nil {
		return out, err
	}
	out.Active, out.BackupAt, out.RestoredAt = true, &q.BackupAt, &q.RestoredAt
	out.Counts.Calls = q.LiveCalls
	for _, a := range q.Calls { // the quarantine row has no phone numbers, so that erasures need not search it
		c := &domain.Call{Meta: domain.Meta{ID: a.ID, WorkspaceID: a.WorkspaceID}}
		if _, err = store.Get(ctx, c); err != nil && !errors.Is(err, domain.ErrNotFound) {
			return nil, err
		}
		a.To = c.To
		out.Actions = append(out.Actions, a)
	}
	err = eachUncertainAction(ctx, store, q, time.Now(), func(a domain.UncertainAction, _ domain.Record) {
		if out.Counts.Add(a.Kind) <= domain.MaxQuarantinedCalls {
			out.Actions = append(out.Actions, a)
		}
	})
	return out, err
}
