package membership

import (
	"context"
	"errors"
	"time"

	"github.com/callboard/callboard/configs"
	"github.com/callboard/callboard/persistence/lease"
)

// DescribeNode returns n with the version, the start time, the lease duration and the number of shards. The entry of
// the node in the lease store shows them to other nodes and operators.
func DescribeNode(n lease.Node, cfg *configs.Config, version string) lease.Node {
	n.Version, n.Since, n.Lease, n.Shards = version, time.Now().UnixMilli(), cfg.Node.LeaseDuration.Milliseconds(), cfg.Node.Shards
	return n
}

// LiveNodes returns the nodes that hold a lease, without taking a lease itself.
func LiveNodes(ctx context.Context, cfg *configs.Config) ([]lease.Node, error) {
	leases, err := OpenLeases(cfg, lease.Options{Lease: cfg.Node.LeaseDuration})
	if err != nil {
		return nil, err
	}
	bound, cancel := context.WithTimeout(ctx, LeaveTimeout)
	defer cancel()
	nodes, err := leases.LiveNodes(bound)
	return nodes, errors.Join(err, leases.Leave(bound))
}
