package main

import (
	"context"
	"log/slog"
	"path/filepath"

	"github.com/callboard/callboard/actors"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/configs"
	"github.com/callboard/callboard/persistence"
	"github.com/callboard/callboard/persistence/blob"
	"github.com/callboard/callboard/persistence/pebble"
	"github.com/callboard/callboard/persistence/redis"
)

// vault is the opened store with what else needs the master key.
type vault struct {
	driver persistence.Driver
	store  *persistence.Store
	keys   *actors.Keyring
	data   string       // the folder
	bucket string       // where recordings lie instead, for people; empty: in the folder
	moving *blob.Moving // of a service with a bucket
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

// openDriver opens what the settings keep things in.
func openDriver(ctx context.Context, cfg *configs.Config, log *slog.Logger) (persistence.Driver, error) {
	if url := cfg.RedisURL.Reveal(); url != "" {
		return redis.Open(ctx, url, redis.Options{Logger: log, Ledger: filepath.Join(cfg.Data, "redis-ledger"), AnyHistory: anyHistory()})
	}
	return pebble.Open(filepath.Join(cfg.Data, "store"), pebble.Options{Logger: log, FS: storeDisk()})
}

// whole is the shard of a process that has everything.
const whole = -1

// openStore opens the store of a shard as the one whom a token names.
func openStore(ctx context.Context, cfg *configs.Config, driver persistence.Driver, master []byte, token string, shard int) (*vault, error) {
	part := persistence.Part{}
	if shard != whole {
		part = persistence.Part{Shard: shard, Of: cfg.Shards}
	}
	store, err := persistence.NewPart(ctx, driver, master, token, part)
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
