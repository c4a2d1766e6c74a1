package calls

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/client"
	"github.com/callboard/callboard/cmd/callboard/cli"
)

func dialCommand() *cobra.Command {
	var agent, pathway, from string
	var variables []string
	wait := false
	cmd := cli.NewCommand("dial NUMBER", "Call a number, and with --wait follow the call",
		`callboard calls dial +12025550123 --agent agent_01J… --from +12025550100 --var name=Ada --wait`,
		cobra.ExactArgs(1), func(s *cli.Session, args []string) error {
			if agent == "" && pathway == "" {
				return cli.UsageErrorf("--agent or --pathway is required")
			}
			r := &client.NewCallRequest{To: args[0], AgentID: cli.OptionalString(agent), PathwayID: cli.OptionalString(pathway), From: cli.OptionalString(from), Context: make(map[string]any)}
			for _, v := range variables {
				name, value, ok := strings.Cut(v, "=")
				if !ok || name == "" {
					return cli.UsageErrorf("--var must be NAME=VALUE")
				}
				r.Context[name] = value
			}
			call, err := s.PlaceCall(s.Context(), r)
			if err != nil {
				return err
			}
			if !wait {
				if s.AsJSON {
					return s.PrintJSON(call)
				}
				s.PrintLinef("%s", call.ID)
				return nil
			}
			return followCall(s, call.ID)
		})
	f := cmd.Flags()
	f.StringVar(&agent, "agent", "", "agent of the call")
	f.StringVar(&pathway, "pathway", "", "pathway of a call without an agent")
	f.StringVar(&from, "from", "", "caller ID. Default: the first number of the workspace")
	f.StringArrayVar(&variables, "var", nil, "variable as NAME=VALUE; repeatable")
	f.BoolVar(&wait, "wait", false, "follow the call to its end; exit code 1 if nobody answers")
	return cmd
}
