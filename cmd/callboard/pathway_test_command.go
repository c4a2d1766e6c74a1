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

// scenarioFile is a JSON file with test scenarios: the body of POST /v1/pathways/{id}/test and the id of the
// pathway.
type scenarioFile struct {
	PathwayID string `json:"pathway_id"`
	client.PathwayTest
}

// errScenarios sets the exit code to 1 when a scenario fails.
var errScenarios = errors.New("at least one scenario failed")

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

// runScenarios tests a pathway with the scenarios of a file and prints the result of each.
func runScenarios(ctx context.Context, c *client.Client, f *scenarioFile, asJSON bool, out io.Writer) (passed bool, err error) {
	if f.PathwayID == "" {
		return false, errors.New("pathway_id is missing in the file: add it, or use --pathway")
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
			_, _ = fmt.Fprintf(out, "     run %d, %s: %s: expected %q, got %q\n", x.Run, formatTurn(x.Turn), x.Check, x.Expected, x.Got)
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

func formatTurn(turn int64) string {
	switch turn {
	case 0:
		return "greeting"
	case -1:
		return "end"
	}
	return fmt.Sprintf("turn %d", turn)
}

func pathwayTestCommand() *cobra.Command {
	var s *client.Client
	var pathwayID, agentID string
	var runs int64
	asJSON := false
	cmd := &cobra.Command{
		Use: "test FILE...", Short: "Test pathways with scenario files: what callers say and the expected results", Args: cobra.MinimumNArgs(1),
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
	cmd.Flags().StringVar(&pathwayID, "pathway", "", "pathway to test instead of the one in the file")
	cmd.Flags().StringVar(&agentID, "agent", "", "agent whose language model and role the test uses")
	cmd.Flags().Int64Var(&runs, "runs", 0, "number of runs of each scenario instead of the file's")
	return cmd
}
