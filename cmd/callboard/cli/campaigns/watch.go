package campaigns

import (
	"cmp"
	"fmt"
	"reflect"
	"time"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/client"
	"github.com/callboard/callboard/cmd/callboard/cli"
)

// minWatchInterval is the smallest allowed value of the flag --every.
const minWatchInterval = 200 * time.Millisecond

func watchCommand() *cobra.Command {
	every := time.Second
	cmd := cli.NewCommand("watch CAMPAIGN", "Follow a campaign to its end",
		`callboard campaigns watch camp_01J…
callboard campaigns watch camp_01J… --json | jq .progress.remaining`,
		cobra.ExactArgs(1), func(s *cli.Session, args []string) error {
			if every < minWatchInterval {
				return cli.UsageErrorf("--every must be %s or more", minWatchInterval)
			}
			return watchCampaign(s, args[0], every)
		})
	cmd.Flags().DurationVar(&every, "every", every, "time between two status requests")
	cmd.Long = "Shows a progress bar on a terminal, else a line for each change, until the campaign is completed (exit code 0) or cancelled (exit code 1)."
	return cmd
}

func watchCampaign(s *cli.Session, id string, every time.Duration) error {
	b := s.NewProgressBar(1, id, false)
	defer b.Finish()
	var last *client.CampaignStatusObject
	for {
		st, err := s.GetCampaignStatus(s.Context(), id)
		if err != nil {
			return err
		}
		if last == nil || !reflect.DeepEqual(withoutEstimate(st), withoutEstimate(last)) {
			if err = printProgress(s, b, st); err != nil {
				return err
			}
		}
		switch last = st; st.Status {
		case "completed":
			b.Finish()
			if b.IsVisible() {
				s.PrintLinef("%s", StatusLine(st))
			}
			return nil
		case "cancelled":
			return fmt.Errorf("%s is cancelled", id)
		case "draft":
			return fmt.Errorf("%s is a draft: start it with callboard campaigns start %[1]s", id)
		}
		if err = cli.Sleep(s.Context(), every); err != nil {
			return err
		}
	}
}

// withoutEstimate returns the status without the estimated completion time, which changes with every request.
func withoutEstimate(s *client.CampaignStatusObject) client.CampaignStatusObject {
	c := *s
	c.Timing.EstimatedCompletion = nil
	return c
}

func printProgress(s *cli.Session, b cli.ProgressBar, st *client.CampaignStatusObject) error {
	switch {
	case s.AsJSON:
		return s.PrintJSONLine(st)
	case b.IsVisible():
		b.SetTotal(max(st.Progress.Total, 1))
		b.SetLabel(cli.Clean(StatusLine(st)))
		b.Set(st.Progress.Total - st.Progress.Remaining - st.Progress.InProgress)
	default:
		s.PrintLinef("%s  %s", cli.FormatTime(time.Now()), StatusLine(st))
	}
	return nil
}

// StatusLine returns one line of text with the status, progress, outcomes and waiting reason of a campaign.
func StatusLine(st *client.CampaignStatusObject) string {
	p := st.Progress
	text := fmt.Sprintf("%s: %d of %d remaining, %d live", st.Status, p.Remaining, p.Total, p.InProgress)
	if f := outcomeCounts(st.Outcomes); f != "" {
		text += "; " + f
	}
	if w := st.Waiting; w != nil {
		text += "; waiting: " + w.Reason
		if w.Until != nil {
			text += " until " + cli.FormatTime(*w.Until)
		}
	}
	if reason := cmp.Or(st.PauseReason, st.CompletionReason); reason != "" {
		text += " (" + reason + ")"
	}
	return text
}
