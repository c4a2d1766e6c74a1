package store

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/callboard/callboard/cmd/callboard/datafolder"
	"github.com/callboard/callboard/persistence"
	"github.com/callboard/callboard/persistence/pebble"
	"github.com/callboard/callboard/persistence/redis"
)

// OpenDriver opens the store that the settings select: Redis if redis_url is set, or else the embedded store. It returns
// an error if the store requires a newer version of Callboard.
func OpenDriver(ctx context.Context, o Options) (driver persistence.Driver, err error) {
	if url := o.Config.RedisURL.Reveal(); url != "" {
		driver, err = redis.Open(ctx, url, redis.Options{Logger: o.Log, Ledger: filepath.Join(o.Config.Data, "redis-ledger"), AnyHistory: acceptsAnyHistory()})
	} else {
		driver, err = pebble.Open(storeFolder(o.Config.Data), pebble.Options{Logger: o.Log, FS: storeDisk()})
	}
	if err != nil {
		return nil, err
	}
	needs, err := persistence.StoreRequirement(ctx, driver.Get)
	if err == nil {
		err = needs.Check(o.Version)
	}
	if err != nil {
		return nil, errors.Join(err, driver.Close())
	}
	return driver, nil
}

// storeFolder returns the folder of the embedded store in a data folder.
func storeFolder(data string) string { return filepath.Join(data, datafolder.StoreDir) }
