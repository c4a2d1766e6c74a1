package cli

import (
	"github.com/spf13/cobra"
)

func operator() *cobra.Command {
	reason, node := "", ""
	drain := command("drain", "Take no calls on a node; live ones go on", "callboard operator drain\ncallboard operator drain --node node_01J9", cobra.NoArgs, func(s *session, _ []string) error {
		now, err := s.DrainNode(s.ctx(), nodeChoice(node))
		return printDrain(s, now, err)
	})
	undrain := command("undrain", "Take calls on a node again", "callboard operator undrain", cobra.NoArgs, func(s *session, _ []string) error {
		now, err := s.UndrainNode(s.ctx(), nodeChoice(node))
		return printDrain(s, now, err)
	})
	for _, c := range []*cobra.Command{drain, undrain} {
		c.Flags().StringVar(&node, "node", "", "which one, as operator nodes tells; else the one that has the operator's own workspace")
	}
	stop := command("stop-dialling", "Let nobody be rung any more, in no workspace",
		"callboard operator stop-dialling --reason 'a carrier complains'", cobra.NoArgs, func(s *session, _ []string) error {
			return stopDialling(s, reason)
		})
	stop.Flags().StringVar(&reason, "reason", "", "why, for whoever asks why nobody is rung")
	stop.Long = "Nobody is rung any more, in no workspace, also after a restart; live calls go on, calls still come in. Campaigns wait and say why."
	return group("operator", "What an operator sees and does, over all workspaces; takes an operator key",
		command("load", "Show how the service does", "callboard operator load\ncallboard operator load --json", cobra.NoArgs, func(s *session, _ []string) error {
			l, err := s.GetLoad(s.ctx())
			if err != nil {
				return err
			}
			if s.asJSON {
				return s.json(l)
			}
			return printLoad(s, l)
		}),
		command("nodes", "Show the nodes that live and how each does", "callboard operator nodes", cobra.NoArgs, func(s *session, _ []string) error { return printNodes(s) }),
		command("workspaces", "Show how each workspace does: calls, lines, money, trunks, its share of the whole",
			"callboard operator workspaces", cobra.NoArgs, func(s *session, _ []string) error { return printLoads(s) }),
		stop,
		command("resume-dialling", "Let people be rung again", "callboard operator resume-dialling", cobra.NoArgs, func(s *session, _ []string) error {
			now, err := s.ResumeDialling(s.ctx())
			return printDialling(s, now, err)
		}),
		drain, undrain,
	)
}
