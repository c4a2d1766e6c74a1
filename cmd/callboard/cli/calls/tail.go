package calls

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/client"
	"github.com/callboard/callboard/cmd/callboard/cli"
	"github.com/callboard/callboard/cmd/callboard/cli/events"
)

func tailCommand() *cobra.Command {
	cmd := cli.NewCommand("tail [CALL]", "Follow a call to its end, or the events of all calls",
		`callboard calls tail                # until Ctrl-C
callboard calls tail call_01J…`,
		cobra.MaximumNArgs(1), func(s *cli.Session, args []string) error {
			if len(args) == 1 {
				return followCall(s, args[0])
			}
			return events.Follow(s, client.StreamEventsQuery{After: "now", Type: "call.*"})
		})
	return cmd
}

// streamTimeout is the time after which followCall replaces its event stream by a new one.
const streamTimeout = time.Minute

// firstEventWait is the time between two requests for the first event of a call.
const firstEventWait = 200 * time.Millisecond

// followCall prints the events of a call until the call ends, and then its result. It returns an error if the call was
// not answered.
func followCall(s *cli.Session, id string) error {
	for last := ""; ; {
		var err error
		if last, err = printEventsAfter(s, id, last); err != nil {
			return err
		}
		call, err := s.GetCall(s.Context(), id)
		if err != nil {
			return err
		}
		if slices.Contains(endedStatuses, call.Status) {
			return printCallEnd(s, call, last)
		}
		if last == "" { // the call has no event yet
			err = cli.Sleep(s.Context(), firstEventWait)
		} else {
			last, err = followEventsToEnd(s, id, last)
		}
		if err != nil {
			return err
		}
	}
}

// printEventsAfter prints the events of a call that follow the event with the id last. If last is empty, it prints all
// events. It returns the id of the last printed event.
func printEventsAfter(s *cli.Session, id, last string) (string, error) {
	isNew := last == ""
	for e, err := range s.AllCallEvents(s.Context(), id, client.ListCallEventsQuery{}) {
		if err != nil {
			return last, err
		}
		if isNew {
			if err = events.Print(s, &e); err != nil {
				return last, err
			}
			last = e.ID
		}
		isNew = isNew || e.ID == last
	}
	return last, nil
}

// followEventsToEnd prints the events of a call that follow the event last, until call.ended. It returns after
// streamTimeout, because a stream from a dead service would never end.
func followEventsToEnd(s *cli.Session, id, last string) (string, error) {
	ctx, cancel := context.WithTimeout(s.Context(), streamTimeout)
	defer cancel()
	for e, err := range s.Events(ctx, client.StreamEventsQuery{After: last, Type: "call.*"}) {
		if err != nil {
			return last, err
		}
		if e.Subject != id {
			continue
		}
		last = e.ID
		if err = events.Print(s, &e); err != nil || e.Type == "call.ended" {
			return last, err
		}
	}
	return last, s.Context().Err()
}

// printCallEnd prints the remaining events of an ended call, which follow the event last, and the result of the call.
func printCallEnd(s *cli.Session, call *client.Call, last string) error {
	_, err := printEventsAfter(s, call.ID, last)
	if err != nil {
		return err
	}
	if s.AsJSON {
		err = s.PrintJSONLine(call)
	} else {
		s.PrintLinef("%s %s", call.ID, describeCall(call))
	}
	if err == nil && call.Status != "completed" {
		err = fmt.Errorf("%s: %s", call.ID, call.Status)
	}
	return err
}

// describeCall returns one text with the status, reason, duration, outcome and quality of a call.
func describeCall(c *client.Call) string {
	text := fmt.Sprintf("%s: %s, %d s", c.Status, cli.OrDash(c.EndedReason), c.DurationSeconds)
	if o := c.Outcome; o != nil && o.Result != "" {
		text += ", outcome " + o.Result
	}
	if q := c.Quality; q != nil && q.MOS > 0 {
		text += fmt.Sprintf(", MOS %.1f", q.MOS)
	}
	return text
}
