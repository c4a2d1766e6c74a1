// Package operator implements the command callboard operator.
package operator

import (
	"github.com/spf13/cobra"

	"github.com/callboard/callboard/cmd/callboard/cli"
)

// Command returns the command callboard operator with its subcommands.
func Command() *cobra.Command {
	reason, node := "", ""
	drain := cli.NewCommand("drain", "Drain a node: it accepts no new calls, and live calls continue", "callboard operator drain\ncallboard operator drain --node node_01J9", cobra.NoArgs, func(s *cli.Session, _ []string) error {
		now, err := s.DrainNode(s.Context(), nodeChoice(node))
		return printDrain(s, now, err)
	})
	undrain := cli.NewCommand("undrain", "Let a drained node accept new calls", "callboard operator undrain", cobra.NoArgs, func(s *cli.Session, _ []string) error {
		now, err := s.UndrainNode(s.Context(), nodeChoice(node))
		return printDrain(s, now, err)
	})
	for _, c := range []*cobra.Command{drain, undrain} {
		c.Flags().StringVar(&node, "node", "", "id of the node, see operator nodes. Default: the node that owns the operator's workspace")
	}
	stop := cli.NewCommand("stop-dialling", "Stop all outbound calls of all workspaces",
		"callboard operator stop-dialling --reason 'a carrier complains'", cobra.NoArgs, func(s *cli.Session, _ []string) error {
			return StopDialling(s, reason)
		})
	stop.Flags().StringVar(&reason, "reason", "", "reason, shown with each waiting campaign")
	stop.Long = "Stops all outbound calls of all workspaces, also after a restart. Live calls and inbound calls continue. Campaigns wait and show the reason."
	return cli.Group("operator", "Show and control all workspaces and nodes; requires an operator key",
		cli.NewCommand("load", "Show the load of the service", "callboard operator load\ncallboard operator load --json", cobra.NoArgs, func(s *cli.Session, _ []string) error {
			l, err := s.GetLoad(s.Context())
			if err != nil {
				return err
			}
			if s.AsJSON {
				return s.PrintJSON(l)
			}
			return printLoad(s, l)
		}),
		cli.NewCommand("nodes", "Show the live nodes and their load", "callboard operator nodes", cobra.NoArgs, func(s *cli.Session, _ []string) error { return printNodes(s) }),
		cli.NewCommand("workspaces", "Show the load of each workspace: calls, concurrent calls, spend, trunks, share of the total",
			"callboard operator workspaces", cobra.NoArgs, func(s *cli.Session, _ []string) error { return printWorkspaceLoads(s) }),
		stop,
		cli.NewCommand("resume-dialling", "Resume outbound calls of all workspaces", "callboard operator resume-dialling", cobra.NoArgs, func(s *cli.Session, _ []string) error {
			now, err := s.ResumeDialling(s.Context())
			return printDialling(s, now, err)
		}),
		drain, undrain,
	)
}
