package cli

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/client"
)

// Usage shows what was used and what it costs, from the API.
func Usage(cmd *cobra.Command, c *client.Client, from, to string, asJSON bool) error {
	s := &session{Client: c, cmd: cmd, asJSON: asJSON}
	u, err := s.GetUsage(s.ctx(), client.GetUsageQuery{From: from, To: to})
	if err != nil {
		return err
	}
	if asJSON {
		return s.json(u)
	}
	w := tabwriter.NewWriter(s.out(), 0, 4, 2, ' ', 0)
	cells(w, "DAY", "ATTEMPTS", "INBOUND", "MINUTES", "SMS", "AMOUNT")
	for _, d := range u.Days {
		cells(w, d.Day, d.Attempts, d.InboundCalls, fmt.Sprintf("%.1f", d.Minutes), d.SMS, d.Amount.Amount+" "+d.Amount.Currency)
	}
	t := u.Total
	cells(w, "total", t.Attempts, t.InboundCalls, fmt.Sprintf("%.1f", t.Minutes), t.SMS, t.Amount.Amount+" "+t.Amount.Currency)
	return w.Flush()
}
