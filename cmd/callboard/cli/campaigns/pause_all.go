package campaigns

import (
	"errors"
	"fmt"
	"iter"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/client"
	"github.com/callboard/callboard/cmd/callboard/cli"
	"github.com/callboard/callboard/cmd/callboard/cli/operator"
)

// pauseResult is the JSON output of the command callboard pause-all.
type pauseResult struct {
	Paused    []string `json:"paused"`
	Cancelled []string `json:"cancelled_bulk_jobs"`
	HungUp    int      `json:"hung_up"`
}

// PauseAllCommand returns the command callboard pause-all.
func PauseAllCommand() *cobra.Command {
	hangUp, bulk, everywhere := false, false, false
	cmd := cli.NewCommand("pause-all", "Pause every running campaign of the workspace", "callboard pause-all\ncallboard pause-all --bulk --hangup\ncallboard pause-all --everywhere", cobra.NoArgs, func(s *cli.Session, _ []string) error {
		if everywhere {
			return operator.StopDialling(s, "")
		}
		done := &pauseResult{Paused: []string{}, Cancelled: []string{}}
		err := pauseWorkspace(s, done, bulk, hangUp)
		if s.AsJSON {
			return errors.Join(s.PrintJSON(done), err)
		}
		s.PrintLinef("%d campaigns are paused, %d bulk jobs cancelled, %d calls hung up", len(done.Paused), len(done.Cancelled), done.HungUp)
		return err
	})
	cmd.Long = "Pauses every running or scheduled campaign. Callboard places no new calls for them; live calls continue. Resume each campaign with callboard campaigns resume. " +
		"--everywhere requires an operator key and stops all dialling in all workspaces instead. Resume it with callboard operator resume-dialling."
	cmd.Flags().BoolVar(&bulk, "bulk", false, "also cancel running bulk jobs, which cannot be resumed")
	cmd.Flags().BoolVar(&hangUp, "hangup", false, "also end live calls")
	cmd.Flags().BoolVar(&everywhere, "everywhere", false, "stop all dialling, in all workspaces (callboard operator stop-dialling)")
	cmd.MarkFlagsMutuallyExclusive("everywhere", "bulk")
	cmd.MarkFlagsMutuallyExclusive("everywhere", "hangup")
	return cmd
}

// pauseWorkspace pauses the campaigns of a workspace. With bulk it also cancels bulk jobs, and with hangUp it hangs up
// calls. It continues after an error and returns all errors together.
func pauseWorkspace(s *cli.Session, done *pauseResult, bulk, hangUp bool) error {
	ctx := s.Context()
	var faults []error
	for _, status := range []string{"running", "scheduled"} {
		faults = append(faults, forEach(s.AllCampaigns(ctx, client.ListCampaignsQuery{Status: status}), func(c *client.Campaign) (string, error) {
			_, err := s.PauseCampaign(ctx, c.ID)
			if err == nil {
				done.Paused = append(done.Paused, c.ID)
			}
			return c.ID, err
		}))
	}
	if bulk {
		faults = append(faults, forEach(s.AllBulks(ctx, client.ListBulksQuery{}), func(b *client.Bulk) (string, error) {
			if b.CompletedAt != nil {
				return b.ID, nil
			}
			_, err := s.CancelBulk(ctx, b.ID)
			if err == nil {
				done.Cancelled = append(done.Cancelled, b.ID)
			}
			return b.ID, err
		}))
	}
	if hangUp {
		faults = append(faults, forEach(s.AllCalls(ctx, client.ListCallsQuery{Status: "active"}), func(c *client.Call) (string, error) {
			_, err := s.HangUpCall(ctx, c.ID)
			if err == nil {
				done.HungUp++
			}
			return c.ID, err
		}))
	}
	return errors.Join(faults...)
}

// forEach calls do for each record and returns all errors together. It ignores the error of a record that has ended or
// was deleted meanwhile.
func forEach[T any](all iter.Seq2[T, error], do func(*T) (id string, err error)) error {
	var faults []error
	for one, err := range all {
		if err != nil {
			return errors.Join(append(faults, err)...)
		}
		if id, failed := do(&one); failed != nil && !hasEnded(failed) {
			faults = append(faults, fmt.Errorf("%s: %w", id, failed))
		}
	}
	return errors.Join(faults...)
}

// hasEnded reports whether the error means that the record has ended or was deleted.
func hasEnded(err error) bool {
	var refusal *client.Error
	return errors.As(err, &refusal) && (refusal.Status == http.StatusConflict || refusal.Status == http.StatusNotFound)
}
