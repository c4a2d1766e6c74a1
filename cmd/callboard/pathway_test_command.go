package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/client"
	"github.com/callboard/callboard/cmd/callboard/cli"
)

// scenarioFile is a file of scenarios: what POST /v1/pathways/{id}/test takes,
// and of which pathway.
type scenarioFile struct {
	PathwayID string `json:"pathway_id"`
	client.PathwayTest
}

// errScenarios makes the exit code tell that a scenario failed.
var errScenarios = errors.New("not every scenario passed")

func readScenarios(path string) (*scenarioFile, error) {
	text, err := os.ReadFile(path) //nolint:gosec // the file that was named
	if err != nil {
		return nil, err
	}
	var f scenarioFile
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err = d.Decode(&f); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &f, nil
}

// runScenarios holds the pathway of a file to its scenarios and tells how each
// of them went.
func runScenarios(ctx context.Context, c *client.Client, f *scenarioFile, asJSON bool, out io.Writer) (passed bool, err error) {
	if f.PathwayID == "" {
		return false, errors.New("pathway_id is missing in the file; --pathway names one, too")
	}
	got, err := c.TestPathway(ctx, f.PathwayID, &f.PathwayTest)
	if err != nil {
		return false, err
	}
	if asJSON {
		return got.Passed, printJSON(out, got)
	}
	for _, s := range got.Scenarios {
		word := "ok  "
		if !s.Passed {
			word = "FAIL"
		}
		_, _ = fmt.Fprintf(out, "%s %s (%d of %d)\n", word, s.Name, s.PassedRuns, s.Runs)
		for _, x := range s.Failures {
			_, _ = fmt.Fprintf(out, "     run %d, %s: %s: expected %q, got %q\n", x.Run, turnName(x.Turn), x.Check, x.Expected, x.Got)
		}
		if s.Passed {
			continue
		}
		for _, l := range s.Transcript {
			_, _ = fmt.Fprintf(out, "     | %s: %s\n", l.Speaker, strings.ReplaceAll(l.Text, "\n", " "))
		}
	}
	return got.Passed, nil
}

func turnName(turn int64) string {
	switch turn {
	case 0:
		return "greeting"
	case -1:
		return "end"
	}
	return fmt.Sprintf("turn %d", turn)
}

func testCommand() *cobra.Command {
	var s *client.Client
	var pathwayID, agentID string
	var runs int64
	asJSON := false
	cmd := &cobra.Command{
		Use: "test FILE...", Short: "Hold pathways to scenarios, each a JSON file of callers and what is expected", Args: cobra.MinimumNArgs(1),
		Example: "  callboard test scenarios/*.json --runs 10",
		RunE: func(cmd *cobra.Command, args []string) error {
			all := true
			for _, path := range args {
				f, err := readScenarios(path)
				if err != nil {
					return err
				}
				if pathwayID != "" {
					f.PathwayID = pathwayID
				}
				if agentID != "" {
					f.AgentID = &agentID
				}
				if runs > 0 {
					f.Runs = &runs
				}
				passed, err := runScenarios(cmd.Context(), s, f, asJSON, cmd.OutOrStdout())
				if err != nil {
					return fmt.Errorf("%s: %w", path, err)
				}
				all = all && passed
			}
			if !all {
				return errScenarios
			}
			return nil
		},
	}
	s = cli.AddClientFlags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON object for each file")
	cmd.Flags().StringVar(&pathwayID, "pathway", "", "the pathway, in place of the file's")
	cmd.Flags().StringVar(&agentID, "agent", "", "the agent whose model and part it is played with")
	cmd.Flags().Int64Var(&runs, "runs", 0, "how often each is played, in place of the file's")
	return cmd
}
