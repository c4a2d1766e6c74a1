package cli

import (
	"errors"
	"io"
	"net/http"
	"os"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/client"
)

func resultsCommand() *cobra.Command {
	to := ""
	cmd := command("results CAMPAIGN", "Download what came of each contact, as CSV or, with --json, as a JSON object on each line",
		"callboard campaigns results camp_01J… -o results.csv", cobra.ExactArgs(1), func(s *session, args []string) error {
			var resp *http.Response
			var err error
			if s.asJSON {
				resp, err = s.ExportContactsJSONLines(s.ctx(), args[0], client.ExportContactsJSONLinesQuery{}) //nolint:bodyclose // save does
			} else {
				resp, err = s.GetCampaignResults(s.ctx(), args[0]) //nolint:bodyclose // save does
			}
			if err != nil {
				return err
			}
			return saveDownload(s, resp, to)
		})
	cmd.Flags().StringVarP(&to, "output", "o", "-", "the file that it is written to")
	return cmd
}

// saveDownload writes a body to a file that was not there before, or to the output.
func saveDownload(s *session, resp *http.Response, to string) error {
	defer func() { _ = resp.Body.Close() }()
	if to == "-" {
		_, err := io.Copy(s.out(), resp.Body)
		return err
	}
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // the user names it
	if err != nil {
		return err
	}
	b := s.newBar(resp.ContentLength, "downloading", true)
	n, err := io.Copy(f, &counted{from: resp.Body, bar: b})
	b.end()
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(to)
		return err
	}
	s.note("%s: %d bytes", to, n)
	return nil
}
