package load

import (
	"cmp"
	"slices"
)

// maxBusiest is the maximum number of workspaces that a report lists as those with the largest shares of activity.
const maxBusiest = 10

// Report is the load of one shard or of the whole installation. It consists of the load of a node and of workspaces.
type Report struct {
	Node       *NodeLoad        `json:"node"`
	Workspaces []*WorkspaceLoad `json:"workspaces"`
}

// Merge combines the reports of all shards. The result has the node of own with the sums over all workspaces. The
// workspaces are sorted by ID, newest first. The arguments are not modified.
func Merge(own *Report, others ...*Report) *Report {
	node := *own.Node
	rows := slices.Clone(own.Workspaces)
	for _, p := range others {
		rows = append(rows, p.Workspaces...)
		if p.Node.AsOf.Before(node.AsOf) {
			node.AsOf = p.Node.AsOf
		}
	}
	slices.SortFunc(rows, func(a, b *WorkspaceLoad) int { return cmp.Compare(b.ID, a.ID) })
	rows = withShares(rows)
	node.sumWorkspaces(rows)
	node.Noisy = busiest(rows)
	return &Report{Node: &node, Workspaces: rows}
}

// withShares returns copies of the workspace loads, in which Share is the workspace's share of the total activity.
func withShares(rows []*WorkspaceLoad) []*WorkspaceLoad {
	var all Activity
	for _, w := range rows {
		all.Add(w.LastMinute)
	}
	part := func(of, all int) float64 {
		if all == 0 {
			return 0
		}
		return float64(of) / float64(all)
	}
	out := make([]*WorkspaceLoad, len(rows))
	for i, w := range rows {
		row := *w
		row.Share = Shares{
			Calls: part(w.LastMinute.Calls, all.Calls), Commits: part(w.LastMinute.Commits, all.Commits), Requests: part(w.LastMinute.Requests, all.Requests),
		}
		out[i] = &row
	}
	return out
}

// busiest returns the workspaces with the largest shares of activity, largest first.
func busiest(rows []*WorkspaceLoad) []WorkspaceShare {
	sorted := slices.Clone(rows)
	slices.SortStableFunc(sorted, func(a, b *WorkspaceLoad) int { return cmp.Compare(b.Share.Largest(), a.Share.Largest()) })
	out := []WorkspaceShare{}
	for _, w := range sorted[:min(maxBusiest, len(sorted))] {
		if w.Share.Largest() == 0 {
			break
		}
		out = append(out, WorkspaceShare{WorkspaceID: w.ID, Name: w.Name, Shares: w.Share})
	}
	return out
}
