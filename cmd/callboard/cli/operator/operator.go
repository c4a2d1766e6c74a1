// Package operator holds the subcommands of callboard operator.
package operator

import (
	"github.com/spf13/cobra"

	"github.com/callboard/callboard/cmd/callboard/cli"
)

// Command returns callboard operator with its subcommands.
func Command() *cobra.Command {
	reason, node := "", ""
	drain := cli.NewCommand("drain", "Take no calls on a node; live ones go on", "callboard operator drain\ncallboard operator drain --node node_01J9", cobra.NoArgs, func(s *cli.Session, _ []string) error {
		now, err := s.DrainNode(s.Context(), nodeChoice(node))
		return printDrain(s, now, err)
	})
	undrain := cli.NewCommand("undrain", "Take calls on a node again", "callboard operator undrain", cobra.NoArgs, func(s *cli.Session, _ []string) error {
		now, err := s.UndrainNode(s.Context(), nodeChoice(node))
		return printDrain(s, now, err)
	})
	for _, c := range []*cobra.Command{drain, undrain} {
		c.Flags().StringVar(&node, "node", "", "which one, as operator nodes tells; else the one that has the operator's own workspace")
	}
	stop := cli.NewCommand("stop-dialling", "Let nobody be rung any more, in no workspace",
		"callboard operator stop-dialling --reason 'a carrier complains'", cobra.NoArgs, func(s *cli.Session, _ []string) error {
			return StopDialling(s, reason)
		})
	stop.Flags().StringVar(&reason, "reason", "", "why, for whoever asks why nobody is rung")
	stop.Long = "Nobody is rung any more, in no workspace, also after a restart; live calls go on, calls still come in. Campaigns wait and say why."
	return cli.Group("operator", "What an operator sees and does, over all workspaces; takes an operator key",
		cli.NewCommand("load", "Show how the service does", "callboard operator load\ncallboard operator load --json", cobra.NoArgs, func(s *cli.Session, _ []string) error {
			l, err := s.GetLoad(s.Context())
			if err != nil {
				return err
			}
			if s.AsJSON {
				return s.PrintJSON(l)
			}
			return printLoad(s, l)
		}),
		cli.NewCommand("nodes", "Show the nodes that live and how each does", "callboard operator nodes", cobra.NoArgs, func(s *cli.Session, _ []string) error { return printNodes(s) }),
		cli.NewCommand("workspaces", "Show how each workspace does: calls, lines, money, trunks, its share of the whole",
			"callboard operator workspaces", cobra.NoArgs, func(s *cli.Session, _ []string) error { return printWorkspaceLoads(s) }),
		stop,
		cli.NewCommand("resume-dialling", "Let people be rung again", "callboard operator resume-dialling", cobra.NoArgs, func(s *cli.Session, _ []string) error {
			now, err := s.ResumeDialling(s.Context())
			return printDialling(s, now, err)
		}),
		drain, undrain,
	)
}
