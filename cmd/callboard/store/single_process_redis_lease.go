package store

import (
	"context"

	"github.com/callboard/callboard/cmd/callboard/datafolder"
	"github.com/callboard/callboard/cmd/callboard/membership"
	"github.com/callboard/callboard/persistence/lease"
)

// joinSingle takes the lease of Redis for a process without node_addr, so that no other process uses the same Redis. If
// the lease expires and another process takes it, o.Refused is called. The embedded store needs no lease, because the
// data folder has a lock.
func joinSingle(ctx context.Context, o Options) (leave func(), err error) {
	cfg := o.Config
	if cfg.RedisURL.Reveal() == "" {
		return func() {}, nil
	}
	id, err := datafolder.ReadOrCreateProcessID(cfg.Data)
	if err != nil {
		return nil, err
	}
	engine, err := membership.OpenLeases(cfg, lease.Options{Lease: cfg.Node.LeaseDuration, OnMismatch: o.Refused, Logger: o.Log})
	if err != nil {
		return nil, err
	}
	leave = func() {
		bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), membership.LeaveTimeout)
		defer cancel()
		_ = engine.Leave(bound) // otherwise the lease expires
	}
	self := membership.DescribeNode(lease.Node{ID: id, Single: true}, cfg, o.Version)
	if err = membership.Join(ctx, cfg, o.Log, func(ctx context.Context) error { return engine.Join(ctx, self, func() {}) }); err != nil {
		leave()
		return nil, err
	}
	return leave, nil
}
