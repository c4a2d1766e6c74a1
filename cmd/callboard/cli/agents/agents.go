// Package agents implements the command callboard agents.
package agents

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/client"
	"github.com/callboard/callboard/cmd/callboard/cli"
)

// Command returns the command callboard agents with its subcommands.
func Command() *cobra.Command {
	return cli.Group("agents", "Create, update and publish agents",
		cli.ListCommand("list", "List agents", "callboard agents list", nil,
			func(ctx context.Context, c *client.Client) iter.Seq2[client.Agent, error] {
				return c.AllAgents(ctx, client.ListAgentsQuery{})
			},
			"ID NAME VERSION LANGUAGE PATHWAY UNPUBLISHED", func(a *client.Agent) []any {
				return []any{a.ID, a.Name, a.Version, a.Language, cli.OrDash(a.PathwayID), cli.OrDash(strings.Join(a.UnpublishedChanges, ","))}
			}),
		cli.ShowCommand("show AGENT", "Show an agent", "callboard agents show agent_01J…", func(ctx context.Context, c *client.Client, id string) (*client.Agent, error) {
			return c.GetAgent(ctx, id)
		}),
		cli.CreateCommand("Create an agent from a file", `echo '{"name": "reception", "first_message": "Hello."}' | callboard agents create -f -`, func(ctx context.Context, c *client.Client, in *client.NewAgent) (*client.Agent, error) {
			return c.CreateAgent(ctx, in)
		}),
		cli.UpdateCommand("Update an agent from a file; calls use the update after publish", "callboard agents update agent_01J… -f agent.json", func(ctx context.Context, c *client.Client, id string, in *client.AgentUpdate) (*client.Agent, error) {
			return c.UpdateAgent(ctx, id, in)
		}),
		cli.ActionCommand("publish AGENT...", "Publish the changes of agents to new calls", "callboard agents publish agent_01J…", func(v *client.AgentVersion) string { return fmt.Sprintf("is published as version %d", v.Version) },
			func(ctx context.Context, c *client.Client, id string) (*client.AgentVersion, error) {
				return c.PublishAgent(ctx, id)
			}),
		cli.ActionCommand("delete AGENT...", "Delete agents", "callboard agents delete agent_01J…", cli.DescribeDeleted, func(ctx context.Context, c *client.Client, id string) (*client.Deleted, error) {
			return c.DeleteAgent(ctx, id)
		}))
}
