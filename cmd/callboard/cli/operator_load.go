package cli

import (
	"fmt"
	"strconv"
	"text/tabwriter"

	"github.com/callboard/callboard/client"
)

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
