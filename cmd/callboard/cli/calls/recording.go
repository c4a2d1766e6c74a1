package calls

import (
	"net/url"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/cmd/callboard/cli"
)

func recordingCommand() *cobra.Command {
	to := ""
	cmd := cli.NewCommand("recording CALL", "Download the recording of a call", "callboard calls recording call_01J… -o call.wav", cobra.ExactArgs(1),
		func(s *cli.Session, args []string) error {
			resp, err := s.GetRecording(s.Context(), args[0])
			if err != nil {
				return err
			}
			if to == "" {
				to = url.PathEscape(args[0]) + ".wav"
			}
			return cli.SaveDownload(s, resp, to)
		})
	cmd.Flags().StringVarP(&to, "output", "o", "", "output file; - is the standard output. Default: CALL.wav")
	return cmd
}
