package redis

import (
	"context"

	"github.com/callboard/callboard/persistence"
)

// shardDriver is the driver of one shard. Its reads and its health depend on the history of that shard only.
type shardDriver struct {
	reader
	of *history
}

var _ persistence.ShardedDriver = (*Driver)(nil)

// ShardDriver returns the driver for the owner of one shard. Commits that other shards lack do not delay it, and
// the cost of a read does not depend on the number of shards.
func (d *Driver) ShardDriver(shard string) persistence.Driver {
	h := d.history(shard)
	only := []*history{h}
	return &shardDriver{reader{d: d, of: func() []*history { return only }}, h}
}

// Commit implements persistence.Driver.
func (p *shardDriver) Commit(ctx context.Context, c persistence.Commit) (persistence.Result, error) {
	return p.d.Commit(ctx, c)
}

// Claim implements persistence.Driver.
func (p *shardDriver) Claim(ctx context.Context, shard, token string) error {
	return p.d.Claim(ctx, shard, token)
}

// ClaimAll implements persistence.Driver.
func (p *shardDriver) ClaimAll(ctx context.Context, token string) error {
	return p.d.ClaimAll(ctx, token)
}

// Healthy returns nil while commits of the shard can be expected to succeed.
func (p *shardDriver) Healthy() error { return p.d.healthy(p.of) }

// Close closes the driver of all shards.
func (p *shardDriver) Close() error { return p.d.Close() }
