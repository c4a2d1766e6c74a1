package store

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/callboard/callboard/cmd/callboard/membership"
	"github.com/callboard/callboard/configs"
	"github.com/callboard/callboard/persistence"
	"github.com/callboard/callboard/persistence/lease"
)

// EnsureShardCount sets the number of shards in the store to that of the settings. It returns an error if the number
// would change while a node is live.
func EnsureShardCount(ctx context.Context, cfg *configs.Config, log *slog.Logger, driver persistence.Driver) error {
	have, err := persistence.ShardCount(ctx, driver)
	if err != nil || have == 0 || have == cfg.Node.Shards {
		return err
	}
	nodes, err := membership.LiveNodes(ctx, cfg)
	if err != nil {
		return fmt.Errorf("redis_url: the live nodes cannot be read: %w", err)
	}
	if len(nodes) > 0 {
		return lease.ShardCountMismatch(cfg.Node.Shards, have, nodes)
	}
	if err = persistence.SetShardCount(ctx, driver, cfg.Node.Shards); err == nil {
		log.Warn("the number of shards was changed", slog.Int("shards", cfg.Node.Shards), slog.Int("before", have))
	}
	return err
}
