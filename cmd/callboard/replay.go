package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/client"
	"github.com/callboard/callboard/cmd/callboard/cli"
)

// errReplayDiffers sets the exit code to 1 when a replay differs from the call.
var errReplayDiffers = errors.New("the replay differs from the call")

// replayCall replays a call with a version of its pathway and prints the differences. Lines that only the call has
// begin with a minus, lines that only the replay has with a plus.
func replayCall(ctx context.Context, c *client.Client, callID, pathwayID string, version int64, asJSON bool, out io.Writer) (same bool, err error) {
	if pathwayID == "" {
		call, failure := c.GetCall(ctx, callID)
		if failure != nil {
			return false, failure
		}
		if pathwayID = call.PathwayID; pathwayID == "" {
			return false, fmt.Errorf("call %s had no pathway: use --pathway", callID)
		}
	}
	request := client.CallReplay{CallID: callID}
	if version != 0 {
		request.Version = &version
	}
	got, err := c.ReplayCall(ctx, pathwayID, &request)
	if err != nil {
		return false, err
	}
	if asJSON {
		return got.Same, printJSON(out, got)
	}
	for _, l := range got.Lines {
		if l.Same {
			_, _ = fmt.Fprintf(out, "  %s: %s\n", l.Speaker, l.Recorded)
			continue
		}
		if l.Recorded != "" {
			_, _ = fmt.Fprintf(out, "- %s: %s\n", l.Speaker, l.Recorded)
		}
		if l.Now != "" {
			_, _ = fmt.Fprintf(out, "+ %s: %s\n", l.Speaker, l.Now)
		}
	}
	if before, now := describeReplayResult(got.Recorded), describeReplayResult(got.Now); got.Ended && before != now {
		_, _ = fmt.Fprintf(out, "- %s\n+ %s\n", before, now)
	}
	_, _ = fmt.Fprintf(out, "%s, version %d: %s\n", got.PathwayID, got.PathwayVersion, map[bool]string{true: "same as the call", false: "differs from the call"}[got.Same])
	return got.Same, nil
}

func describeReplayResult(r client.CallReplayResult) string {
	return fmt.Sprintf("outcome %q, intent %q, notes %q", r.Outcome, r.Intent, r.Notes)
}

func replayCommand() *cobra.Command {
	var s *client.Client
	var pathwayID string
	var version int64
	asJSON := false
	cmd := &cobra.Command{
		Use: "replay CALL", Short: "Replay an ended call with the current or an earlier version of its pathway", Args: cobra.ExactArgs(1),
		Example: "  callboard replay call_01J…\n  callboard replay call_01J… --pathway pathway_01J…\n  callboard replay call_01J… --version 3",
		RunE: func(cmd *cobra.Command, args []string) error {
			same, err := replayCall(cmd.Context(), s, args[0], pathwayID, version, asJSON, cmd.OutOrStdout())
			if err == nil && !same {
				err = errReplayDiffers
			}
			return err
		},
	}
	s = cli.AddClientFlags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&pathwayID, "pathway", "", "pathway to replay with instead of the call's")
	cmd.Flags().Int64Var(&version, "version", 0, "version of the pathway; 0: the newest")
	return cmd
}
