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

// Config holds what a Service needs.
type Config struct {
	Store commit.Store
	// Restart starts the service anew after the release; nil: nobody does.
	Restart func()
	Log     *slog.Logger
}

// Service answers operators about the quarantine of the store and releases it.
type Service struct {
	store   commit.Store
	restart func()
	log     *slog.Logger
}

// New returns a service.
func New(c Config) *Service { return &Service{store: c.Store, restart: c.Restart, log: c.Log} }

// Quarantine returns whether the store is in quarantine, with the actions that may
// have gone out since its backup.
func (s *Service) Quarantine(ctx context.Context, _ domain.Principal) (*Quarantine, error) {
	q, err := Inspect(ctx, s.store)
	return q, commit.StoreError(err)
}

// EndQuarantine releases the store and starts the service anew. The result lists
// what was held back. Without a quarantine it changes nothing.
func (s *Service) EndQuarantine(ctx context.Context, p domain.Principal) (*Quarantine, error) {
	released, err := Release(ctx, s.store)
	if err != nil {
		return nil, commit.StoreError(err)
	}
	if released.Active && s.restart != nil {
		s.log.Warn("an operator has released the restored store: the service starts anew", slog.String("actor", record.ActorOf(p).ID))
		s.restart()
	}
	released.Active = false
	return released, nil
}

// Load returns the quarantine row of a store; nil: the store is not in quarantine.
func Load(ctx context.Context, store commit.Store) (*domain.Quarantine, error) {
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

// Start puts a restored store that no node has open into quarantine. backupAt is the
// time of the backup.
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

// Inspect returns whether a store is in quarantine, with the actions that may have
// gone out since its backup.
func Inspect(ctx context.Context, store commit.Store) (*Quarantine, error) {
	out := &Quarantine{Object: "quarantine", Actions: []domain.UncertainAction{}}
	q, err := Load(ctx, store)
	if q == nil || err != nil {
		return out, err
	}
	out.Active, out.BackupAt, out.RestoredAt = true, &q.BackupAt, &q.RestoredAt
	out.Counts.Calls = q.LiveCalls
	for _, a := range q.Calls { // the quarantine row has no phone numbers: an erasure need not search it
		c := &domain.Call{Meta: domain.Meta{ID: a.ID, WorkspaceID: a.WorkspaceID}}
		if _, err = store.Get(ctx, c); err != nil && !errors.Is(err, domain.ErrNotFound) {
			return nil, err
		}
		a.To = c.To
		out.Actions = append(out.Actions, a)
	}
	err = uncertainActions(ctx, store, q, time.Now(), func(a domain.UncertainAction, _ domain.Record) {
		if out.Counts.Add(a.Kind) <= domain.MaxQuarantinedCalls {
			out.Actions = append(out.Actions, a)
		}
	})
	return out, err
}
