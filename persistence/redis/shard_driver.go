package redis

import (
	"context"

	"github.com/callboard/callboard/persistence"
)

// part is a driver that asks, where it reads, only for the history of one shard,
// and is healthy where that one is.
type part struct {
	reader
	of *history
}

var _ persistence.Parted = (*Driver)(nil)

// Part is the driver for whoever owns a shard: what others lack does not hold it
// up, and a read costs the same however many shards the process has.
func (d *Driver) Part(shard string) persistence.Driver {
	h := d.history(shard)
	only := []*history{h}
	return &part{reader{d: d, of: func() []*history { return only }}, h}
}

// Commit is the driver's.
func (p *part) Commit(ctx context.Context, c persistence.Commit) (persistence.Result, error) {
	return p.d.Commit(ctx, c)
}

// Claim is the driver's.
func (p *part) Claim(ctx context.Context, shard, token string) error {
	return p.d.Claim(ctx, shard, token)
}

// ClaimAll is the driver's.
func (p *part) ClaimAll(ctx context.Context, token string) error { return p.d.ClaimAll(ctx, token) }

// Healthy is nil while commits of the shard can be expected to succeed.
func (p *part) Healthy() error { return p.d.healthy(p.of) }

// Close closes the driver.
func (p *part) Close() error { return p.d.Close() }
