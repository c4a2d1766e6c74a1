package operator

import (
	"fmt"
	"strconv"
	"text/tabwriter"

	"github.com/callboard/callboard/client"
	"github.com/callboard/callboard/cmd/callboard/cli"
)

// printLoad prints the state of a node and its load: calls, commits, requests, spending and trunks.
func printLoad(s *cli.Session, l *client.NodeLoad) error {
	w := tabwriter.NewWriter(s.Out(), 0, 4, 2, ' ', 0)
	ready := "ready"
	if !l.Ready {
		ready = "not ready: " + l.Reason
	}
	cli.WriteRow(w, "node", ready)
	cli.WriteRow(w, "calls", describeDrain(&l.Drain))
	cli.WriteRow(w, "dialling", describeDialling(&l.Dialling))
	workspaces := strconv.FormatInt(l.Workspaces, 10)
	if l.WorkspacesSilent > 0 {
		workspaces += fmt.Sprintf(", %d unreachable", l.WorkspacesSilent)
	}
	cli.WriteRow(w, "workspaces", workspaces)
	cli.WriteRow(w, "live calls", l.LiveCalls)
	cli.WriteRow(w, "concurrent outbound", describeLines(l.Lines.Outbound))
	cli.WriteRow(w, "concurrent inbound", describeLines(l.Lines.Inbound))
	cli.WriteRow(w, "concurrent test", describeLines(l.Lines.Test))
	cli.WriteRow(w, "last minute", fmt.Sprintf("%d calls, %d commits, %d requests", l.LastMinute.Calls, l.LastMinute.Commits, l.LastMinute.Requests))
	cli.WriteRow(w, "spent today", describeSpent(l.SpentToday, l.SpentKnown)+" "+l.SpentToday.Currency)
	cli.WriteRow(w, "trunks", describeTrunks(l.Trunks))
	for _, n := range l.Noisy {
		cli.WriteRow(w, "noisy", fmt.Sprintf("%s %s: %.0f %% of calls, %.0f %% of commits, %.0f %% of requests", n.WorkspaceID, n.Name, 100*n.Calls, 100*n.Commits, 100*n.Requests))
	}
	return w.Flush()
}

func describeLines(l client.CallCapacity) string {
	text := fmt.Sprintf("%d of %d", l.Used, l.Limit)
	if l.Waiting > 0 {
		text += fmt.Sprintf(", %d waiting", l.Waiting)
	}
	return text
}

// describeSpent returns the amount spent as text. It adds "or more" if known is false, because parts are missing then.
func describeSpent(m client.Money, known bool) string {
	if !known {
		return m.Amount + " or more"
	}
	return m.Amount
}

func describeTrunks(t client.TrunkCounts) string {
	return fmt.Sprintf("%d up, %d degraded, %d down", t.Up, t.Degraded, t.Down)
}
