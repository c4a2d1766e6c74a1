package campaigns

import (
	"net/http"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/client"
	"github.com/callboard/callboard/cmd/callboard/cli"
)

func resultsCommand() *cobra.Command {
	to := ""
	cmd := cli.NewCommand("results CAMPAIGN", "Download the result of each contact, as CSV or with --json as JSON Lines",
		"callboard campaigns results camp_01J… -o results.csv", cobra.ExactArgs(1), func(s *cli.Session, args []string) error {
			var resp *http.Response
			var err error
			if s.AsJSON {
				resp, err = s.ExportContactsJSONLines(s.Context(), args[0], client.ExportContactsJSONLinesQuery{}) //nolint:bodyclose // SaveDownload closes it
			} else {
				resp, err = s.GetCampaignResults(s.Context(), args[0]) //nolint:bodyclose // SaveDownload closes it
			}
			if err != nil {
				return err
			}
			return cli.SaveDownload(s, resp, to)
		})
	cmd.Flags().StringVarP(&to, "output", "o", "-", "output file; - is the standard output")
	return cmd
}
