package cli

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/client"
)

func showCall() *cobra.Command {
	transcript, ladder, told := false, false, false
	cmd := command("show CALL", "Show a call; with flags what was said, its SIP messages, its events",
		`callboard calls show call_01J…
callboard calls show call_01J… --transcript
callboard calls show call_01J… --sip`,
		cobra.ExactArgs(1), func(s *session, args []string) error {
			switch {
			case transcript:
				return printTranscript(s, args[0])
			case ladder:
				format := "ladder"
				if s.asJSON {
					format = "json"
				}
				resp, err := s.GetCallMessagesRaw(s.ctx(), args[0], client.GetCallMessagesQuery{Format: format}) //nolint:bodyclose // save does
				if err != nil {
					return err
				}
				return saveDownload(s, resp, "-")
			case told:
				return rows(s, s.AllCallEvents(s.ctx(), args[0], client.ListCallEventsQuery{}), 0, "AT TYPE WHAT", func(e *client.Event) []any {
					return []any{when(e.CreatedAt), e.Type, brief(e.Data)}
				})
			}
			c, err := s.GetCall(s.ctx(), args[0])
			if err != nil {
				return err
			}
			return s.show(c)
		})
	cmd.Flags().BoolVar(&transcript, "transcript", false, "what was said")
	cmd.Flags().BoolVar(&ladder, "sip", false, "its SIP messages")
	cmd.Flags().BoolVar(&told, "events", false, "its events")
	cmd.MarkFlagsMutuallyExclusive("transcript", "sip", "events")
	return cmd
}

func printTranscript(s *session, id string) error {
	t, err := s.GetTranscript(s.ctx(), id)
	if err != nil {
		return err
	}
	if s.asJSON {
		return s.json(t)
	}
	for _, x := range t.Segments {
		at := time.Duration(x.StartMs) * time.Millisecond
		s.say("%6.1f  %s", at.Seconds(), x.Speaker+": "+x.Text)
	}
	return nil
}
