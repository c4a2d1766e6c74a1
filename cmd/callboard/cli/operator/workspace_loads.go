package operator

import (
	"fmt"
	"text/tabwriter"

	"github.com/callboard/callboard/client"
	"github.com/callboard/callboard/cmd/callboard/cli"
)

// loadsPageSize is the number of workspaces that are requested in one page.
const loadsPageSize = 100

// printWorkspaceLoads prints calls, concurrent calls, spend and trunks of each workspace.
func printWorkspaceLoads(s *cli.Session) error {
	all := []client.WorkspaceLoad{}
	for w, err := range s.AllLoads(s.Context(), client.ListLoadsQuery{Limit: loadsPageSize}) {
		if err != nil {
			return err
		}
		all = append(all, w)
	}
	if s.AsJSON {
		return s.PrintJSON(all)
	}
	w := tabwriter.NewWriter(s.Out(), 0, 4, 2, ' ', 0)
	cli.WriteRow(w, "WORKSPACE", "NAME", "CALLS", "OUT", "IN", "CALLS/MIN", "OF ALL", "SPENT", "CAP", "TRUNKS")
	for i := range all {
		one := &all[i]
		limit := "-"
		if one.DailySpendCap != nil {
			limit = one.DailySpendCap.Amount
		}
		name := one.Name
		if one.Silent {
			name += " (unreachable)"
		}
		cli.WriteRow(w, one.ID, name, one.LiveCalls, describeLines(one.Lines.Outbound), describeLines(one.Lines.Inbound), fmt.Sprintf("%d of %d", one.LastMinute.Calls, one.CallsPerMinute),
			fmt.Sprintf("%.0f %%", 100*max(one.Share.Calls, one.Share.Commits, one.Share.Requests)), describeSpent(one.SpentToday, one.SpentKnown), limit, describeTrunks(one.Trunks))
		for _, t := range one.Troubles {
			cli.WriteRow(w, "", t.ID+" "+t.Name+" "+t.Status+" "+t.LastError)
		}
	}
	return w.Flush()
}
