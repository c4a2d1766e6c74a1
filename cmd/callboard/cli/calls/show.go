package calls

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/client"
	"github.com/callboard/callboard/cmd/callboard/cli"
	"github.com/callboard/callboard/cmd/callboard/cli/events"
)

func showCommand() *cobra.Command {
	transcript, ladder, showEvents := false, false, false
	cmd := cli.NewCommand("show CALL", "Show a call, or its transcript, SIP messages or events",
		`callboard calls show call_01J…
callboard calls show call_01J… --transcript
callboard calls show call_01J… --sip`,
		cobra.ExactArgs(1), func(s *cli.Session, args []string) error {
			switch {
			case transcript:
				return printTranscript(s, args[0])
			case ladder:
				format := "ladder"
				if s.AsJSON {
					format = "json"
				}
				resp, err := s.GetCallMessagesRaw(s.Context(), args[0], client.GetCallMessagesQuery{Format: format})
				if err != nil {
					return err
				}
				return cli.SaveDownload(s, resp, "-")
			case showEvents:
				return cli.PrintRows(s, s.AllCallEvents(s.Context(), args[0], client.ListCallEventsQuery{}), 0, "AT TYPE WHAT", func(e *client.Event) []any {
					return []any{cli.FormatTime(e.CreatedAt), e.Type, events.Summarize(e.Data)}
				})
			}
			c, err := s.GetCall(s.Context(), args[0])
			if err != nil {
				return err
			}
			return s.PrintRecord(c)
		})
	cmd.Flags().BoolVar(&transcript, "transcript", false, "show the transcript")
	cmd.Flags().BoolVar(&ladder, "sip", false, "show the SIP messages")
	cmd.Flags().BoolVar(&showEvents, "events", false, "show the events")
	cmd.MarkFlagsMutuallyExclusive("transcript", "sip", "events")
	return cmd
}

func printTranscript(s *cli.Session, id string) error {
	t, err := s.GetTranscript(s.Context(), id)
	if err != nil {
		return err
	}
	if s.AsJSON {
		return s.PrintJSON(t)
	}
	for _, x := range t.Segments {
		at := time.Duration(x.StartMs) * time.Millisecond
		s.PrintLinef("%6.1f  %s", at.Seconds(), x.Speaker+": "+x.Text)
	}
	return nil
}
