package cli

import (
	"net/http"

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
