package server

import (
	"context"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/callboard/callboard/cmd/callboard/metrics"
)

// readCounters returns the debug counters of the process, including those of its shards.
func (m *node) readCounters(ctx context.Context) (counters, error) {
	if s := m.shards.openService(); s != nil {
		return s.readCounters(ctx)
	}
	return counters{Process: countProcess()}, nil
}

// readMetrics returns the current values of metrics for a Prometheus scrape: those of this node's shards and those of
// the cluster.
func (m *node) readMetrics(ctx context.Context) (values []metrics.Reading, err error) {
	if s := m.shards.openService(); s != nil {
		values, err = s.readMetrics(ctx)
	} else if disk, unread := vfs.Default.GetDiskUsage(m.cfg.Data); unread == nil {
		values = append(values, metrics.Reading{Name: diskFreeMetric, Help: diskFreeHelp, Value: float64(disk.AvailBytes)})
	}
	owned, free := 0, 0
	for shard := range m.cfg.Node.Shards {
		if n, ok := m.leases.Owner(shard); !ok {
			free++
		} else if n.ID == m.self.ID {
			owned++
		}
	}
	nodes, draining := m.leases.Nodes(), 0
	for i := range nodes {
		if nodes[i].Draining {
			draining++
		}
	}
	return append(values, clusterMetrics(len(nodes), draining, owned, free)...), err
}

// clusterMetrics returns the metrics of a cluster: live nodes, draining nodes, shards that this node owns, and
// shards without an owner.
func clusterMetrics(nodes, draining, owned, free int) []metrics.Reading {
	return []metrics.Reading{
		{Name: "callboard_nodes", Help: "Live nodes of the cluster, as this node sees them.", Value: float64(nodes)},
		{Name: "callboard_nodes_draining", Help: "Live nodes that are releasing their shards.", Value: float64(draining)},
		{Name: "callboard_shards_owned", Help: "Shards that this node owns.", Value: float64(owned)},
		{Name: "callboard_shards_without_owner", Help: "Shards without an owner, as this node sees it.", Value: float64(free)},
	}
}
