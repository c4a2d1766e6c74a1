package cli

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/client"
)

func tailCommand() *cobra.Command {
	cmd := command("tail [CALL]", "Follow a call to its end, or all calls as they happen",
		`callboard calls tail                # until Ctrl-C
callboard calls tail call_01J…`,
		cobra.MaximumNArgs(1), func(s *session, args []string) error {
			if len(args) == 1 {
				return followCall(s, args[0])
			}
			return followEvents(s, client.StreamEventsQuery{After: "now", Type: "call.*"})
		})
	return cmd
}

// firstEventWait is the time between two looks for the first event of a call.
const firstEventWait = 200 * time.Millisecond

// followCall tells the events of a call to its end, and what it came to. It fails
// where nobody was reached.
func followCall(s *session, id string) error {
	for last := ""; ; {
		var err error
		if last, err = printTranscriptSoFar(s, id, last); err != nil {
			return err
		}
		call, err := s.GetCall(s.ctx(), id)
		if err != nil {
			return err
		}
		if slices.Contains(ended, call.Status) {
			return printCallEnd(s, call, last)
		}
		if last == "" { // its first event is on its way
			err = pause(s.ctx(), firstEventWait)
		} else {
			last, err = followToEnd(s, id, last)
		}
		if err != nil {
			return err
		}
	}
}

// printTranscriptSoFar tells the events of a call that came behind one, and which was the last.
func printTranscriptSoFar(s *session, id, last string) (string, error) {
	told := last == ""
	for e, err := range s.AllCallEvents(s.ctx(), id, client.ListCallEventsQuery{}) {
		if err != nil {
			return last, err
		}
		if told {
			if err = printEvent(s, &e); err != nil {
				return last, err
			}
			last = e.ID
		}
		told = told || e.ID == last
	}
	return last, nil
}

// followToEnd tells what comes of a call behind an event, until the call is over.
// It comes back now and then, as a stream goes on for ever where nobody answers.
func followToEnd(s *session, id, last string) (string, error) {
	ctx, cancel := context.WithTimeout(s.ctx(), lookAgain)
	defer cancel()
	for e, err := range s.Events(ctx, client.StreamEventsQuery{After: last, Type: "call.*"}) {
		if err != nil {
			return last, err
		}
		if e.Subject != id {
			continue
		}
		last = e.ID
		if err = printEvent(s, &e); err != nil || e.Type == "call.ended" {
			return last, err
		}
	}
	return last, s.ctx().Err()
}

// printCallEnd tells what came of a call, and its events that were not told.
func printCallEnd(s *session, call *client.Call, last string) error {
	_, err := printTranscriptSoFar(s, call.ID, last)
	if err != nil {
		return err
	}
	if s.asJSON {
		err = s.line(call)
	} else {
		s.say("%s %s", call.ID, summary(call))
	}
	if err == nil && call.Status != "completed" {
		err = fmt.Errorf("%s: %s", call.ID, call.Status)
	}
	return err
}

func summary(c *client.Call) string {
	text := fmt.Sprintf("%s: %s, %d s", c.Status, dash(c.EndedReason), c.DurationSeconds)
	if o := c.Outcome; o != nil && o.Result != "" {
		text += ", outcome " + o.Result
	}
	if q := c.Quality; q != nil && q.MOS > 0 {
		text += fmt.Sprintf(", MOS %.1f", q.MOS)
	}
	return text
}
