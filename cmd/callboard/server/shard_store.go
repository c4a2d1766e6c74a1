package server

import (
	"context"
	"errors"
	"log/slog"

	"github.com/callboard/callboard/actors/storecache"
	"github.com/callboard/callboard/cmd/callboard/store"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/persistence"
	"github.com/callboard/callboard/service/restorequarantine"
)

// ownsLease returns a function that reports whether the node still holds the lease of the shard. It returns nil if the
// shard needs no lease.
func (t *shard) ownsLease() func() bool {
	if t.token == "" {
		return nil
	}
	if _, looks := fencingToken(""); !looks {
		return nil
	}
	return func() bool { return t.node.ownsShard(t.number) }
}

// ownsWorkspace returns a function that reports whether a workspace belongs to the shard. It returns nil if there is
// only one shard, to which all workspaces belong.
func (t *shard) ownsWorkspace() func(string) bool {
	if t.token == "" || t.cfg.Node.Shards < 2 {
		return nil
	}
	return func(workspace string) bool { return domain.ShardOf(workspace, t.cfg.Node.Shards) == t.number }
}

// reportFenced wraps a store. If the store rejects a commit because another node owns the shard, the wrapper reports
// the lease of the shard as lost.
func (t *shard) reportFenced(of storecache.Backend) storecache.Backend {
	if t.token == "" {
		return of
	}
	return &fencedStore{of, func() { t.node.holder.ReportLost(t.number, t.token) }}
}

// fencedStore calls onFenced when the store rejects a commit because another node owns the shard.
type fencedStore struct {
	storecache.Backend
	onFenced func()
}

// Apply commits a change. If the store rejects the commit because another node owns the shard, Apply calls onFenced.
func (f *fencedStore) Apply(ctx context.Context, c commit.Change) ([]event.Event, error) {
	events, err := f.Backend.Apply(ctx, c)
	if errors.Is(err, domain.ErrFenced) && !errors.Is(err, persistence.ErrOtherShard) {
		f.onFenced()
	}
	return events, err
}

// openStore opens the store of the shard. In a cluster the shards of the node share the store's connection, and commits
// carry the lease token of the shard.
func (t *shard) openStore(ctx context.Context) (err error) {
	if t.token == "" {
		return t.options.wait.untilOpen(ctx, func() (err error) {
			t.store, err = store.Open(ctx, t.storeOptions())
			return err
		})
	}
	err = t.withSharedLock(func() (err error) {
		if t.driver == nil {
			t.driver, err = store.OpenDriver(ctx, t.storeOptions())
		}
		return err
	})
	if err != nil {
		return err
	}
	token, _ := fencingToken(string(t.token))
	t.store, err = store.OpenShard(ctx, t.storeOptions(), t.driver, store.Owner{Master: t.node.masterKey, Token: token, Shard: t.number})
	return err
}

// readQuarantine sets quarantined and logs a warning if the store was restored from a backup and no operator has
// released it.
func (t *shard) readQuarantine(ctx context.Context) error {
	q, err := restorequarantine.LoadRow(ctx, t.store.Records)
	if err != nil || q == nil {
		return err
	}
	t.quarantined = true
	t.log.Warn("the store was restored from a backup and is in quarantine: the service sends nothing until callboard release",
		slog.Time("backup_at", q.BackupAt), slog.Time("restored_at", q.RestoredAt))
	return nil
}

// storeOptions returns the options with which the shards of this process open the store.
func (s *Service) storeOptions() store.Options {
	return store.Options{Config: s.cfg, Version: s.options.Version, Log: s.log, Refused: s.fail}
}
