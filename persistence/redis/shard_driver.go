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

// ShardDriver returns the driver for the owner of one shard. It works even while Redis lacks commits of other shards,
// and the cost of a read does not depend on the number of shards.
func (d *Driver) ShardDriver(shard string) persistence.Driver {
	h := d.history(shard)
	only := []*history{h}
	return &shardDriver{reader{d: d, of: func() []*history { return only }}, h}
}

// Commit commits c like Driver.Commit.
func (p *shardDriver) Commit(ctx context.Context, c persistence.Commit) (persistence.Result, error) {
	return p.d.Commit(ctx, c)
}

// Claim makes the process with this token the owner of a shard.
func (p *shardDriver) Claim(ctx context.Context, shard, token string) error {
	return p.d.Claim(ctx, shard, token)
}

// ClaimAll makes the process with this token the owner of all shards.
func (p *shardDriver) ClaimAll(ctx context.Context, token string) error {
	return p.d.ClaimAll(ctx, token)
}

// Healthy returns nil while commits of the shard can be expected to succeed.
func (p *shardDriver) Healthy() error { return p.d.healthy(p.of) }

// Close closes the shared Driver, and so the drivers of all shards.
func (p *shardDriver) Close() error { return p.d.Close() }
