package operator

import (
	"cmp"
	"fmt"
	"strconv"
	"text/tabwriter"

	"github.com/callboard/callboard/client"
	"github.com/callboard/callboard/cmd/callboard/cli"
)

// printNodes prints the live nodes of the cluster as a table.
func printNodes(s *cli.Session) error {
	l, err := s.ListNodes(s.Context())
	if err != nil {
		return err
	}
	if s.AsJSON {
		return s.PrintJSON(l)
	}
	w := tabwriter.NewWriter(s.Out(), 0, 4, 2, ' ', 0)
	cli.WriteRow(w, "NODE", "ADDRESS", "VERSION", "STARTED", "SHARDS", "WORKSPACES", "CALLS", "CALLS/MIN", "STATE")
	for i := range l.Data {
		n := &l.Data[i]
		since, shards := "-", strconv.FormatInt(n.Shards, 10)
		if n.StartedAt != nil {
			since = cli.FormatTime(*n.StartedAt)
		}
		if n.ShardsSilent > 0 {
			shards += fmt.Sprintf(" (%d unreachable)", n.ShardsSilent)
		}
		cli.WriteRow(w, n.ID, cmp.Or(n.Address, "-"), cmp.Or(n.Version, "-"), since, shards, n.Workspaces, n.LiveCalls, n.LastMinute.Calls, DescribeNode(n))
	}
	return w.Flush()
}

// DescribeNode returns the state of a node: leaving, not ready, draining, standby or ready.
func DescribeNode(n *client.NodeNow) string {
	switch {
	case n.Leaving:
		return "leaving"
	case !n.Ready:
		return "not ready: " + n.Reason
	case n.Drain.On:
		return describeDrain(&n.Drain)
	case n.Shards == 0:
		return "standby"
	}
	return "ready"
}
