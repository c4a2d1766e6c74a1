package store

import (
	"context"

	"github.com/callboard/callboard/configs"
	"github.com/callboard/callboard/persistence"
	"github.com/callboard/callboard/persistence/pebble"
	"github.com/callboard/callboard/persistence/redis"
)

// ReadRequirement reads which version of Callboard the store requires, without changing the store. It returns
// fs.ErrNotExist if there is no store yet.
func ReadRequirement(ctx context.Context, cfg *configs.Config) (persistence.Requirement, error) {
	if url := cfg.RedisURL.Reveal(); url != "" {
		return persistence.StoreRequirement(ctx, func(ctx context.Context, k persistence.Key) ([]byte, uint64, error) {
			return redis.ReadRow(ctx, url, k)
		})
	}
	return persistence.StoreRequirement(ctx, func(ctx context.Context, k persistence.Key) ([]byte, uint64, error) {
		return pebble.ReadRow(storeFolder(cfg.Data), k)
	})
}
