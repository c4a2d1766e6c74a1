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

// openVault locks the data folder and opens the store.
func openVault(ctx context.Context, cfg *configs.Config, log *slog.Logger) (*vault, error) {
	unlock, err := lockData(cfg.Data)
	if err != nil {
		return nil, err
	}
	master, err := masterKey(cfg, log)
	if err != nil {
		unlock()
		return nil, err
	}
	if err = nobodyElse(ctx, cfg); err != nil {
		unlock()
		return nil, err
	}
	return openStore(ctx, cfg, log, master, "1|"+mailbox.NewID("node"), unlock)
}

// openStore opens the store as the one whom a token names. unlock is called in
// the end.
func openStore(ctx context.Context, cfg *configs.Config, log *slog.Logger, master []byte, token string, unlock func()) (v *vault, err error) {
	v = &vault{unlock: unlock, data: cfg.Data, bucket: placeOf(cfg)}
	if url := cfg.RedisURL.Reveal(); url != "" {
		v.driver, err = redis.Open(ctx, url, redis.Options{Logger: log, Ledger: filepath.Join(cfg.Data, "redis-ledger"), AnyHistory: anyHistory()})
	} else {
		v.driver, err = pebble.Open(filepath.Join(cfg.Data, "store"), pebble.Options{Logger: log, FS: storeDisk()})
	}
	if err != nil {
		unlock()
		return nil, err
	}
	v.store, err = persistence.NewStore(ctx, v.driver, master, token)
	if err != nil {
		v.close()
		return nil, err
	}
	v.keys = actors.NewKeyring(v.store, v.store.Root())
	return v, nil
}

func (v *vault) close() {
	_ = v.driver.Close()
	v.unlock()
}
