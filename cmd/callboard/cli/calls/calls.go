// Package calls implements the command callboard calls.
package calls

import (
	"context"
	"iter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/callboard/callboard/client"
	"github.com/callboard/callboard/cmd/callboard/cli"
)

// endedStatuses are the statuses of a call that has ended.
var endedStatuses = []string{"completed", "busy", "no_answer", "failed", "cancelled"} //nolint:gochecknoglobals // a list

// Command returns the command callboard calls with its subcommands.
func Command() *cobra.Command {
	q := client.ListCallsQuery{}
	list := cli.ListCommand("list", "List calls, newest first", `callboard calls list --status active
callboard calls list --campaign camp_01J… --limit 0 --json`,
		func(f *pflag.FlagSet) {
			f.StringVar(&q.Status, "status", "", "only calls with this status; active: all calls that have not ended")
			f.StringVar(&q.CampaignID, "campaign", "", "only calls of this campaign")
			f.StringVar(&q.AgentID, "agent", "", "only calls of this agent")
			f.StringVar(&q.Direction, "direction", "", "inbound or outbound")
			f.StringVar(&q.Transcript, "said", "", "only calls whose transcript contains these words; quote a phrase")
		},
		func(ctx context.Context, c *client.Client) iter.Seq2[client.Call, error] { return c.AllCalls(ctx, q) },
		"ID DIRECTION FROM TO STATUS OUTCOME SECONDS BEGAN", func(c *client.Call) []any {
			return []any{c.ID, c.Direction, c.From, c.To, c.Status, cli.OrDash(c.Disposition), c.DurationSeconds, cli.FormatTime(c.CreatedAt)}
		})
	return cli.Group("calls", "Place, follow, show and end calls",
		dialCommand(), tailCommand(), showCommand(), list,
		cli.ActionCommand("hangup CALL...", "End live calls", "callboard calls hangup call_01J…", func(*client.Call) string { return "is hung up" },
			func(ctx context.Context, c *client.Client, id string) (*client.Call, error) {
				return c.HangUpCall(ctx, id)
			}),
		recordingCommand())
}
