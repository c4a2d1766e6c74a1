package cli

import (
	"cmp"
	"fmt"
	"strconv"
	"text/tabwriter"

	"github.com/callboard/callboard/client"
)

// printNodes prints the nodes that live.
func printNodes(s *session) error {
	l, err := s.ListNodes(s.ctx())
	if err != nil {
		return err
	}
	if s.asJSON {
		return s.json(l)
	}
	w := tabwriter.NewWriter(s.out(), 0, 4, 2, ' ', 0)
	cells(w, "NODE", "ADDRESS", "VERSION", "STARTED", "SHARDS", "WORKSPACES", "CALLS", "CALLS/MIN", "STATE")
	for i := range l.Data {
		n := &l.Data[i]
		since, shards := "-", strconv.FormatInt(n.Shards, 10)
		if n.StartedAt != nil {
			since = when(*n.StartedAt)
		}
		if n.ShardsSilent > 0 {
			shards += fmt.Sprintf(" (%d do not answer)", n.ShardsSilent)
		}
		cells(w, n.ID, cmp.Or(n.Address, "-"), cmp.Or(n.Version, "-"), since, shards, n.Workspaces, n.LiveCalls, n.LastMinute.Calls, nodeWords(n))
	}
	return w.Flush()
}

func nodeWords(n *client.NodeNow) string {
	switch {
	case n.Leaving:
		return "leaves"
	case !n.Ready:
		return "not ready: " + n.Reason
	case n.Drain.On:
		return drainWords(&n.Drain)
	case n.Shards == 0:
		return "stands by"
	}
	return "ready"
}
