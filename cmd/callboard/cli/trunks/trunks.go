// Package trunks implements the command callboard trunks.
package trunks

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/client"
	"github.com/callboard/callboard/cmd/callboard/cli"
)

// Command returns the command callboard trunks with its subcommands.
func Command() *cobra.Command {
	test := cli.NewCommand("test TRUNK...", "Send OPTIONS to each target of trunks; exit code 1 if no target of a trunk answers",
		"callboard trunks test trunk_01J…", cobra.MinimumNArgs(1), func(s *cli.Session, args []string) error {
			bad := 0
			for _, id := range args {
				t, err := s.TestTrunk(s.Context(), id)
				if err != nil {
					return err
				}
				if !t.Ok {
					bad++
				}
				if s.AsJSON {
					if err = s.PrintJSONLine(t); err != nil {
						return err
					}
					continue
				}
				for _, x := range t.Targets {
					s.PrintLinef("%s", id+"  "+x.Target+"  "+describeTarget(&x))
				}
			}
			if bad > 0 {
				return fmt.Errorf("%d of %d trunks do not answer: %w", bad, len(args), cli.ErrCheckFailed)
			}
			return nil
		})
	return cli.Group("trunks", "Manage SIP trunks",
		cli.ListCommand("list", "List trunks and their health", "callboard trunks list", nil,
			func(ctx context.Context, c *client.Client) iter.Seq2[client.Trunk, error] {
				return c.AllTrunks(ctx, client.ListTrunksQuery{})
			},
			"ID NAME HEALTH CHANNELS TARGETS ERROR", func(t *client.Trunk) []any {
				h := t.Health
				if h == nil {
					h = &client.TrunkHealth{}
				}
				return []any{t.ID, t.Name, cli.OrDash(h.Status), fmt.Sprintf("%d/%d", h.Channels, t.MaxChannels), cli.OrDash(listTargets(t)), cli.OrDash(h.LastError)}
			}),
		cli.ShowCommand("show TRUNK", "Show a trunk with its health and quality", "callboard trunks show trunk_01J…", func(ctx context.Context, c *client.Client, id string) (*client.Trunk, error) {
			return c.GetTrunk(ctx, id)
		}),
		cli.CreateCommand("Create a trunk from a file", `echo '{"name": "carrier", "proxies": [{"host": "sip.example.com"}]}' | callboard trunks create -f -`, func(ctx context.Context, c *client.Client, in *client.NewTrunk) (*client.Trunk, error) {
			return c.CreateTrunk(ctx, in)
		}),
		cli.UpdateCommand("Update a trunk from a file", `echo '{"max_channels": 30}' | callboard trunks update trunk_01J… -f -`, func(ctx context.Context, c *client.Client, id string, in *client.TrunkUpdate) (*client.Trunk, error) {
			return c.UpdateTrunk(ctx, id, in)
		}),
		test,
		cli.ActionCommand("delete TRUNK...", "Delete trunks", "callboard trunks delete trunk_01J…", cli.DescribeDeleted, func(ctx context.Context, c *client.Client, id string) (*client.Deleted, error) {
			return c.DeleteTrunk(ctx, id)
		}))
}

func describeTarget(t *client.TargetTest) string {
	if !t.Reachable {
		return "no answer: " + t.Error
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s in %d ms %s", t.Code, t.Reason, t.ResponseTimeMs, t.Server))
}

func listTargets(t *client.Trunk) string {
	all := make([]string, 0, len(t.Proxies))
	for _, p := range t.Proxies {
		at := p.Host
		if p.Port != 0 {
			at += fmt.Sprintf(":%d", p.Port)
		}
		if p.Transport != "" {
			at += ";" + p.Transport
		}
		all = append(all, at)
	}
	return strings.Join(all, ",")
}
