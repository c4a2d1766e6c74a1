package cli

import (
	"errors"
	"fmt"
	"iter"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/client"
)

// stopped is what pause-all did.
type stopped struct {
	Paused    []string `json:"paused"`
	Cancelled []string `json:"cancelled_bulk_jobs"`
	HungUp    int      `json:"hung_up"`
}

func pauseAll() *cobra.Command {
	hangUp, bulk, everywhere := false, false, false
	cmd := command("pause-all", "Pause every running campaign of the workspace", "callboard pause-all\ncallboard pause-all --bulk --hangup\ncallboard pause-all --everywhere", cobra.NoArgs, func(s *session, _ []string) error {
		if everywhere {
			return stopDialling(s, "")
		}
		done := &stopped{Paused: []string{}, Cancelled: []string{}}
		err := pauseEverything(s, done, bulk, hangUp)
		if s.asJSON {
			return errors.Join(s.json(done), err)
		}
		s.say("%d campaigns are paused, %d bulk jobs cancelled, %d calls hung up", len(done.Paused), len(done.Cancelled), done.HungUp)
		return err
	})
	cmd.Long = "Pauses every campaign that runs or is scheduled: nobody is rung any more, live calls go on. Each is resumed by callboard campaigns resume. " +
		"--everywhere takes an operator key and stops all dialling in all workspaces instead; callboard operator resume-dialling lets all of it go on."
	cmd.Flags().BoolVar(&bulk, "bulk", false, "cancel bulk jobs that are under way, too: these cannot be resumed")
	cmd.Flags().BoolVar(&hangUp, "hangup", false, "end live calls, too")
	cmd.Flags().BoolVar(&everywhere, "everywhere", false, "stop all dialling, in all workspaces (callboard operator stop-dialling)")
	cmd.MarkFlagsMutuallyExclusive("everywhere", "bulk")
	cmd.MarkFlagsMutuallyExclusive("everywhere", "hangup")
	return cmd
}

// pauseEverything goes on after what cannot be stopped and tells of it in the end.
func pauseEverything(s *session, done *stopped, bulk, hangUp bool) error {
	ctx := s.ctx()
	var faults []error
	for _, status := range []string{"running", "scheduled"} {
		faults = append(faults, each(s.AllCampaigns(ctx, client.ListCampaignsQuery{Status: status}), func(c *client.Campaign) (string, error) {
			_, err := s.PauseCampaign(ctx, c.ID)
			if err == nil {
				done.Paused = append(done.Paused, c.ID)
			}
			return c.ID, err
		}))
	}
	if bulk {
		faults = append(faults, each(s.AllBulks(ctx, client.ListBulksQuery{}), func(b *client.Bulk) (string, error) {
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
		faults = append(faults, each(s.AllCalls(ctx, client.ListCallsQuery{Status: "active"}), func(c *client.Call) (string, error) {
			_, err := s.HangUpCall(ctx, c.ID)
			if err == nil {
				done.HungUp++
			}
			return c.ID, err
		}))
	}
	return errors.Join(faults...)
}

// each does something to each row and gathers what failed, but for what was
// printCallEnd by itself.
func each[T any](all iter.Seq2[T, error], do func(*T) (id string, err error)) error {
	var faults []error
	for one, err := range all {
		if err != nil {
			return errors.Join(append(faults, err)...)
		}
		if id, failed := do(&one); failed != nil && !over(failed) {
			faults = append(faults, fmt.Errorf("%s: %w", id, failed))
		}
	}
	return errors.Join(faults...)
}

// over: it ended by itself meanwhile.
func over(err error) bool {
	var refusal *client.Error
	return errors.As(err, &refusal) && (refusal.Status == http.StatusConflict || refusal.Status == http.StatusNotFound)
}
