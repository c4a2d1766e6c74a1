// Package campaigns implements the command callboard campaigns.
package campaigns

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/callboard/callboard/client"
	"github.com/callboard/callboard/cmd/callboard/cli"
)

// Command returns the command callboard campaigns with its subcommands.
func Command() *cobra.Command {
	status := ""
	list := cli.ListCommand("list", "List campaigns, newest first", "callboard campaigns list --status running",
		func(f *pflag.FlagSet) {
			f.StringVar(&status, "status", "", "draft, scheduled, running, paused, completed or cancelled")
		},
		func(ctx context.Context, c *client.Client) iter.Seq2[client.Campaign, error] {
			return c.AllCampaigns(ctx, client.ListCampaignsQuery{Status: status})
		},
		"ID NAME STATUS AGENT CREATED", func(c *client.Campaign) []any {
			return []any{c.ID, c.Name, c.Status, cli.OrDash(c.AgentID), cli.FormatTime(c.CreatedAt)}
		})
	subcommands := []*cobra.Command{
		list,
		cli.ShowCommand("show CAMPAIGN", "Show a campaign and its settings", "callboard campaigns show camp_01J…", func(ctx context.Context, c *client.Client, id string) (*client.Campaign, error) {
			return c.GetCampaign(ctx, id)
		}),
		cli.CreateCommand("Create a draft campaign from a file", `echo '{"name": "visits", "agent_id": "agent_01J…"}' | callboard campaigns create -f -`, func(ctx context.Context, c *client.Client, in *client.NewCampaign) (*client.CampaignCreated, error) {
			return c.CreateCampaign(ctx, in)
		}),
		importCommand(),
		statusCommand("start CAMPAIGN", "Start draft campaigns", "callboard campaigns start camp_01J…", (*client.Client).StartCampaign),
		statusCommand("pause CAMPAIGN", "Pause campaigns", "callboard campaigns pause camp_01J…", (*client.Client).PauseCampaign),
		statusCommand("resume CAMPAIGN", "Resume paused campaigns", "callboard campaigns resume camp_01J…", (*client.Client).ResumeCampaign),
		cancelCommand(), watchCommand(), resultsCommand(), whyCommand(),
		cli.ActionCommand("delete CAMPAIGN...", "Delete draft or ended campaigns with all their data", "callboard campaigns delete camp_01J…", cli.DescribeDeleted, func(ctx context.Context, c *client.Client, id string) (*client.Deleted, error) {
			return c.DeleteCampaign(ctx, id)
		}),
	}
	for _, c := range subcommands {
		if strings.Contains(c.Use, " CAMPAIGN") {
			c.ValidArgsFunction = completeCampaigns
		}
	}
	return cli.Group("campaigns", "Import, start, watch and diagnose campaigns", subcommands...)
}

// completeCampaigns returns the ids of the newest campaigns for shell completion.
func completeCampaigns(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	c, err := cli.ClientOf(cmd)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	ctx, cancel := context.WithTimeout(context.Background(), cli.RequestTimeout)
	defer cancel()
	page, err := c.ListCampaigns(ctx, client.ListCampaignsQuery{Limit: 50})
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	out := make([]string, 0, len(page.Data))
	for _, one := range page.Data {
		out = append(out, one.ID+"\t"+cli.Clean(one.Name)+" ("+one.Status+")")
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// statusCommand returns a command that changes the status of campaigns.
func statusCommand(use, short, example string, do func(*client.Client, context.Context, string, ...client.Option) (*client.CampaignStatusObject, error)) *cobra.Command {
	return cli.ActionCommand(use+"...", short, example, func(s *client.CampaignStatusObject) string { return "is " + s.Status },
		func(ctx context.Context, c *client.Client, id string) (*client.CampaignStatusObject, error) {
			return do(c, ctx, id)
		})
}

func cancelCommand() *cobra.Command {
	hangUp := false
	cmd := cli.ActionCommand("cancel CAMPAIGN...", "Cancel campaigns permanently", "callboard campaigns cancel camp_01J… --hangup", func(s *client.CampaignStatusObject) string { return "is " + s.Status },
		func(ctx context.Context, c *client.Client, id string) (*client.CampaignStatusObject, error) {
			return c.CancelCampaign(ctx, id, &client.CancelRequest{HangupActive: &hangUp})
		})
	cmd.Flags().BoolVar(&hangUp, "hangup", false, "also end the live calls of the campaign")
	return cmd
}

const csvType = "text/csv"

// outcomeCounts returns the outcomes whose count is not zero, with their counts, as text sorted by name.
func outcomeCounts(counts map[string]int64) string {
	parts := make([]string, 0, len(counts))
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		if counts[name] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[name], name))
		}
	}
	return strings.Join(parts, ", ")
}
