package server

import (
	"github.com/callboard/callboard/cmd/callboard/metrics"
)

// shardMetrics are the meters of who has how much of the work.
func shardMetrics(nodes, draining, here, nobodys int) []metrics.Value {
	return []metrics.Value{
		{Name: "callboard_nodes", Help: "Nodes that live, as this one sees them.", Value: float64(nodes)},
		{Name: "callboard_nodes_draining", Help: "Of these: they give their work away.", Value: float64(draining)},
		{Name: "callboard_shards", Help: "Parts of the work that this node has.", Value: float64(here)},
		{Name: "callboard_shards_free", Help: "Parts of the work that nobody has, as this node sees it.", Value: float64(nobodys)},
	}
}
