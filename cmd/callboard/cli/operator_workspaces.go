package cli

import (
	"fmt"
	"text/tabwriter"

	"github.com/callboard/callboard/client"
)

// loadsPageSize is the number of workspaces in one response.
const loadsPageSize = 100

// printLoads prints how each workspace does.
func printLoads(s *session) error {
	all := []client.WorkspaceLoad{}
	for w, err := range s.AllLoads(s.ctx(), client.ListLoadsQuery{Limit: loadsPageSize}) {
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
