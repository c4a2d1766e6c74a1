package main

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"

	"github.com/callboard/callboard/actors"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/configs"
	"github.com/callboard/callboard/persistence"
	"github.com/callboard/callboard/persistence/pebble"
	"github.com/callboard/callboard/persistence/redis"
)

// vault is the opened store with what else needs the master key.
type vault struct {
	driver persistence.Driver
	store  *persistence.Store
	keys   *actors.Keyring
	data   string // the folder
	bucket string // where recordings lie instead, for people; empty: in the folder
	unlock func()
}

// openVault locks the data folder and opens the store of a process that is the
// only one. refused is called where other processes have the store meanwhile; nil:
// nothing is.
func openVault(ctx context.Context, cfg *configs.Config, log *slog.Logger, refused func(error)) (*vault, error) {
	unlock, err := lockData(cfg.Data)
	if err != nil {
		return nil, err
	}
	master, err := masterKey(cfg, log)
	if err != nil {
		unlock()
		return nil, err
	}
	leave, err := joinSingle(ctx, cfg, log, refused)
	if err != nil {
		unlock()
		return nil, err
	}
	driver, err := openDriver(ctx, cfg, log)
	if err != nil {
		leave()
		unlock()
		return nil, err
	}
	v, err := openStore(ctx, cfg, driver, master, "1|"+mailbox.NewID("node"), whole)
	if err != nil {
		_ = driver.Close()
		leave()
		unlock()
		return nil, err
	}
	v.unlock = func() {
		_ = driver.Close()
		leave()
		unlock()
	}
	return v, nil
}

// openDriver opens the store that the settings name, unless a newer program has
// written it.
func openDriver(ctx context.Context, cfg *configs.Config, log *slog.Logger) (driver persistence.Driver, err error) {
	if url := cfg.RedisURL.Reveal(); url != "" {
		driver, err = redis.Open(ctx, url, redis.Options{Logger: log, Ledger: filepath.Join(cfg.Data, "redis-ledger"), AnyHistory: anyHistory()})
	} else {
		driver, err = pebble.Open(storeFolder(cfg.Data), pebble.Options{Logger: log, FS: storeDisk()})
	}
	if err != nil {
		return nil, err
	}
	needs, err := persistence.StoreRequirement(ctx, driver.Get)
	if err == nil {
		err = needs.Check(version)
	}
	if err != nil {
		return nil, errors.Join(err, driver.Close())
	}
	return driver, nil
}

// storeFolder is the embedded store of a data folder.
func storeFolder(data string) string { return filepath.Join(data, "store") }

// storedRequirement reads what a program must be to open the store that the
// settings name, and changes nothing: of the service that runs, else of the
// store itself. fs.ErrNotExist: there is no store yet.
func storedRequirement(ctx context.Context, cfg *configs.Config) (persistence.Requirement, error) {
	if url := cfg.RedisURL.Reveal(); url != "" {
		return persistence.StoreRequirement(ctx, func(ctx context.Context, k persistence.Key) ([]byte, uint64, error) {
			return redis.ReadRow(ctx, url, k)
		})
	}
	if service, ok := dialAdmin(cfg.Data); ok {
		return service.requirement(ctx)
	}
	return persistence.StoreRequirement(ctx, func(ctx context.Context, k persistence.Key) ([]byte, uint64, error) {
		return pebble.ReadRow(storeFolder(cfg.Data), k)
	})
}

// whole is the shard of a process that has everything.
const whole = -1

// openStore opens the store of a shard as the one whom a token names.
func openStore(ctx context.Context, cfg *configs.Config, driver persistence.Driver, master []byte, token string, shard int) (*vault, error) {
	part := persistence.Part{}
	if shard != whole {
		part = persistence.Part{Shard: shard, Of: cfg.Shards}
	}
	store, err := persistence.NewPart(ctx, driver, persistence.Owner{Master: master, Token: token, Part: part, Version: version})
	if err != nil {
		return nil, err
	}
	return &vault{driver: driver, store: store, keys: actors.NewKeyring(store, store.Root()), data: cfg.Data, bucket: placeOf(cfg)}, nil
}

// close lets go of what was opened for the store alone.
func (v *vault) close() {
	if v.unlock != nil {
		v.unlock()
	}
}
