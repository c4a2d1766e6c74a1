package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/cmd/callboard/cli"
	"github.com/callboard/callboard/cmd/callboard/membership"
	"github.com/callboard/callboard/cmd/callboard/settings"
	"github.com/callboard/callboard/persistence/lease"
)

// nodeView is a live node in the output of callboard nodes.
type nodeView struct {
	ID           string           `json:"id"`
	Addr         string           `json:"addr"`
	SIP          string           `json:"sip"`
	Version      string           `json:"version"`
	Started      *time.Time       `json:"started_at,omitempty"` // time of the node's own clock
	Draining     bool             `json:"draining"`
	LeaseSeconds float64          `json:"lease_seconds,omitempty"`
	Shards       []ownedShardView `json:"shards"`
}

// ownedShardView is a shard that a live node owns.
type ownedShardView struct {
	Shard int       `json:"shard"`
	Since time.Time `json:"since"` // approximate time at which the node took the shard, by its own clock
}

// nodesView is the JSON output of callboard nodes.
type nodesView struct {
	Nodes []nodeView `json:"nodes"`
	Free  []int      `json:"free"` // shards whose last owner no longer lives
}

func nodesCommand() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use: "nodes", Short: "List the live nodes and the shards that each owns", Args: cobra.NoArgs,
		Long: "Reads the leases in Redis with the settings of a node. Run it on any node, also while no node owns a shard. " +
			"The command changes nothing. --json lists each shard.",
		Example: "  callboard nodes\n  callboard nodes --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := settings.Load(cmd)
			if err != nil {
				return err
			}
			if cfg.RedisURL.Reveal() == "" {
				return errors.New("redis_url is not set: only nodes that share a Redis form a cluster")
			}
			look, err := membership.OpenLeases(cfg, lease.Options{Lease: cfg.Node.LeaseDuration})
			if err != nil {
				return err
			}
			bound, cancel := context.WithTimeout(cmd.Context(), membership.LeaveTimeout)
			defer cancel()
			nodes, rows, err := look.LiveNodesAndShards(bound)
			if err = errors.Join(err, look.Leave(bound)); err != nil {
				return err
			}
			view := viewNodes(nodes, rows)
			if asJSON {
				return printJSON(cmd.OutOrStdout(), view)
			}
			return view.printTable(cmd.OutOrStdout())
		},
	}
	settings.AddFlags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// viewNodes lists the live nodes with their shards, both sorted.
func viewNodes(nodes []lease.Node, rows []lease.Row) nodesView {
	out := nodesView{Nodes: make([]nodeView, 0, len(nodes)), Free: []int{}}
	nodes = slices.DeleteFunc(slices.Clone(nodes), func(n lease.Node) bool { return n.Single })
	slices.SortFunc(nodes, func(a, b lease.Node) int { return cmp.Compare(a.ID, b.ID) })
	at := make(map[string]int, len(nodes))
	for i, n := range nodes {
		view := nodeView{ID: n.ID, Addr: n.Addr, SIP: n.SIP, Version: n.Version, Draining: n.Draining, LeaseSeconds: float64(n.Lease) / 1000, Shards: []ownedShardView{}}
		if n.Since > 0 {
			view.Started = new(time.UnixMilli(n.Since).UTC())
		}
		at[n.ID] = i
		out.Nodes = append(out.Nodes, view)
	}
	rows = slices.Clone(rows)
	slices.SortFunc(rows, func(a, b lease.Row) int { return cmp.Compare(a.Shard, b.Shard) })
	for _, r := range rows {
		if i, lives := at[r.Token.Instance()]; lives {
			out.Nodes[i].Shards = append(out.Nodes[i].Shards, ownedShardView{r.Shard, time.UnixMilli(int64(r.Token.Epoch())).UTC()}) //nolint:gosec // milliseconds
		} else {
			out.Free = append(out.Free, r.Shard)
		}
	}
	return out
}

func (v nodesView) printTable(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "NODE\tADDR\tSIP\tVERSION\tSTARTED\tSHARDS\tSTATE")
	for _, n := range v.Nodes {
		state, started := "live", "–"
		if n.Draining {
			state = "draining"
		}
		if n.Started != nil {
			started = n.Started.Format(time.DateTime)
		}
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%d\t%s\n", cli.Clean(n.ID), cli.Clean(n.Addr), cli.Clean(n.SIP), cli.Clean(n.Version), started, len(n.Shards), state)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if len(v.Free) > 0 {
		_, _ = fmt.Fprintf(out, "%d shards have no owner\n", len(v.Free))
	}
	_, err := fmt.Fprintf(out, "%d live nodes\n", len(v.Nodes))
	return err
}
