package cli

import (
	"errors"
	"fmt"
	"strconv"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/client"
)

func operator() *cobra.Command {
	reason, node := "", ""
	drain := command("drain", "Take no calls on a node; live ones go on", "callboard operator drain\ncallboard operator drain --node node_01J9", cobra.NoArgs, func(s *session, _ []string) error {
		now, err := s.DrainNode(s.ctx(), nodeChoice(node))
		return s.drained(now, err)
	})
	undrain := command("undrain", "Take calls on a node again", "callboard operator undrain", cobra.NoArgs, func(s *session, _ []string) error {
		now, err := s.UndrainNode(s.ctx(), nodeChoice(node))
		return s.drained(now, err)
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
			if err != nil || s.asJSON {
				return errors.Join(err, s.jsonOf(l, err))
			}
			return printLoad(s, l)
		}),
		command("nodes", "Show the nodes that live and how each does", "callboard operator nodes", cobra.NoArgs, func(s *session, _ []string) error { return printNodes(s) }),
		command("workspaces", "Show how each workspace does: calls, lines, money, trunks, its share of the whole",
			"callboard operator workspaces", cobra.NoArgs, func(s *session, _ []string) error { return printLoads(s) }),
		stop,
		command("resume-dialling", "Let people be rung again", "callboard operator resume-dialling", cobra.NoArgs, func(s *session, _ []string) error {
			now, err := s.ResumeDialling(s.ctx())
			return s.dialling(now, err)
		}),
		drain, undrain,
	)
}

// printLoad prints how the node does.
func printLoad(s *session, l *client.NodeLoad) error {
	w := tabwriter.NewWriter(s.out(), 0, 4, 2, ' ', 0)
	ready := "ready"
	if !l.Ready {
		ready = "not ready: " + l.Reason
	}
	cells(w, "node", ready)
	cells(w, "calls", drainWords(&l.Drain))
	cells(w, "dialling", diallingWords(&l.Dialling))
	workspaces := strconv.FormatInt(l.Workspaces, 10)
	if l.WorkspacesSilent > 0 {
		workspaces += fmt.Sprintf(", %d do not answer", l.WorkspacesSilent)
	}
	cells(w, "workspaces", workspaces)
	cells(w, "live calls", l.LiveCalls)
	cells(w, "lines out", ofLimit(l.Lines.Outbound))
	cells(w, "lines in", ofLimit(l.Lines.Inbound))
	cells(w, "lines test", ofLimit(l.Lines.Test))
	cells(w, "last minute", fmt.Sprintf("%d calls, %d commits, %d requests", l.LastMinute.Calls, l.LastMinute.Commits, l.LastMinute.Requests))
	cells(w, "spent today", spentWords(l.SpentToday, l.SpentKnown)+" "+l.SpentToday.Currency)
	cells(w, "trunks", trunkWords(l.Trunks))
	for _, n := range l.Noisy {
		cells(w, "noisy", fmt.Sprintf("%s %s: %.0f %% of calls, %.0f %% of commits, %.0f %% of requests", n.WorkspaceID, n.Name, 100*n.Calls, 100*n.Commits, 100*n.Requests))
	}
	return w.Flush()
}

func ofLimit(l client.LineUse) string {
	text := fmt.Sprintf("%d of %d", l.Used, l.Limit)
	if l.Waiting > 0 {
		text += fmt.Sprintf(", %d are waited for", l.Waiting)
	}
	return text
}

// spentWords is what was spent, as far as it is known.
func spentWords(m client.Money, known bool) string {
	if !known {
		return m.Amount + " or more"
	}
	return m.Amount
}

func trunkWords(t client.TrunkCounts) string {
	return fmt.Sprintf("%d up, %d degraded, %d down", t.Up, t.Degraded, t.Down)
}

// printLoads prints how each workspace does.
func printLoads(s *session) error {
	all := []client.WorkspaceLoad{}
	for w, err := range s.AllLoads(s.ctx(), client.ListLoadsQuery{Limit: most}) {
		if err != nil {
			return err
		}
		all = append(all, w)
	}
	if s.asJSON {
		return s.json(all)
	}
	w := tabwriter.NewWriter(s.out(), 0, 4, 2, ' ', 0)
	cells(w, "WORKSPACE", "NAME", "CALLS", "OUT", "IN", "CALLS/MIN", "OF ALL", "SPENT", "CAP", "TRUNKS")
	for i := range all {
		one := &all[i]
		limit := "-"
		if one.DailySpendCap != nil {
			limit = one.DailySpendCap.Amount
		}
		name := one.Name
		if one.Silent {
			name += " (does not answer)"
		}
		cells(w, one.ID, name, one.LiveCalls, ofLimit(one.Lines.Outbound), ofLimit(one.Lines.Inbound), fmt.Sprintf("%d of %d", one.LastMinute.Calls, one.CallsPerMinute),
			fmt.Sprintf("%.0f %%", 100*max(one.Share.Calls, one.Share.Commits, one.Share.Requests)), spentWords(one.SpentToday, one.SpentKnown), limit, trunkWords(one.Trunks))
		for _, t := range one.Troubles {
			cells(w, "", t.ID+" "+t.Name+" "+t.Status+" "+t.LastError)
		}
	}
	return w.Flush()
}
