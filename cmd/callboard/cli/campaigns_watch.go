package cli

import (
	"cmp"
	"fmt"
	"reflect"
	"time"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/client"
)

// watchLeast is how soon a campaign is looked at again.
const watchLeast = 200 * time.Millisecond

func watchCommand() *cobra.Command {
	every := time.Second
	cmd := command("watch CAMPAIGN", "Follow a campaign to its end",
		`callboard campaigns watch camp_01J…
callboard campaigns watch camp_01J… --json | jq .progress.remaining`,
		cobra.ExactArgs(1), func(s *session, args []string) error {
			if every < watchLeast {
				return Misuse("--every must be %s or more", watchLeast)
			}
			return watchCampaign(s, args[0], every)
		})
	cmd.Flags().DurationVar(&every, "every", every, "how often it is looked at")
	cmd.Long = "Shows a bar on a terminal and a line for each change elsewhere, until the campaign is completed (exit code 0) or cancelled (1)."
	return cmd
}

func watchCampaign(s *session, id string, every time.Duration) error {
	b := s.newBar(1, id, false)
	defer b.end()
	var last *client.CampaignStatusObject
	for {
		st, err := s.GetCampaignStatus(s.ctx(), id)
		if err != nil {
			return err
		}
		if last == nil || !reflect.DeepEqual(unestimated(st), unestimated(last)) {
			if err = printProgress(s, b, st); err != nil {
				return err
			}
		}
		switch last = st; st.Status {
		case "completed":
			b.end()
			if b.shown() {
				s.say("%s", standing(st))
			}
			return nil
		case "cancelled":
			return fmt.Errorf("%s is cancelled", id)
		case "draft":
			return fmt.Errorf("%s is a draft: callboard campaigns start %[1]s lets it ring", id)
		}
		if err = pause(s.ctx(), every); err != nil {
			return err
		}
	}
}

// unestimated leaves out what changes while nothing happens.
func unestimated(s *client.CampaignStatusObject) client.CampaignStatusObject {
	c := *s
	c.Timing.EstimatedCompletion = nil
	return c
}

func printProgress(s *session, b bar, st *client.CampaignStatusObject) error {
	switch {
	case s.asJSON:
		return s.line(st)
	case b.shown():
		b.grow(max(st.Progress.Total, 1))
		b.say(Clean(standing(st)))
		b.set(st.Progress.Total - st.Progress.Remaining - st.Progress.InProgress)
	default:
		s.say("%s  %s", when(time.Now()), standing(st))
	}
	return nil
}

// printStatus is where a campaign stands, in a line.
func standing(st *client.CampaignStatusObject) string {
	p := st.Progress
	text := fmt.Sprintf("%s: %d of %d left, %d live", st.Status, p.Remaining, p.Total, p.InProgress)
	if f := figures(st.Outcomes); f != "" {
		text += "; " + f
	}
	if w := st.Waiting; w != nil {
		text += "; waits: " + w.Reason
		if w.Until != nil {
			text += " until " + when(*w.Until)
		}
	}
	if reason := cmp.Or(st.PauseReason, st.CompletionReason); reason != "" {
		text += " (" + reason + ")"
	}
	return text
}
