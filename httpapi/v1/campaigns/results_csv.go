package campaigns

import (
	"context"
	"io"
	"iter"
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/service/record/contactlist"
)

func (s *contactHandlers) registerResults() {
	s.AddRaw(router.Operation{
		Method: http.MethodGet, Path: "/v1/campaigns/{id}/results", ID: "getCampaignResults", Tag: "Campaigns",
		Summary: "Download the results as CSV",
		Description: "RFC 4180, one row per contact, streamed, also while the campaign runs. reason explains the end of the last attempt, or why a contact was skipped. Upload rows that did not become contacts follow with the outcome skipped and the reason dnc, destination_not_allowed or missing_variable. A value that a spreadsheet could interpret as a formula " +
			"starts with an apostrophe, except in the column phone.",
	}, func(h *huma.Operation) {
		h.Responses["200"] = router.DescribeResponse("The rows.", router.MIMECSV, &huma.Schema{Type: huma.TypeString, Examples: []any{strings.Join(resultColumns(), ",") + "\r\n"}})
	}, s.results)
}

func resultColumns() []string {
	return []string{"phone", "name", "outcome", "duration", "confirmed", "notes", "completed_at", "reason"}
}

func (s *contactHandlers) results(c *fiber.Ctx) error {
	id, err := router.PathID(domain.PrefixCampaign, c.Params("id"))
	if err != nil {
		return err
	}
	return router.Download(s.Router, c, router.File{Name: id + ".csv", Kind: router.CSVFile}, func(ctx context.Context, p domain.Principal) (iter.Seq2[contactlist.ResultRow, error], error) {
		return s.contacts.CampaignResults(ctx, p, id)
	}, writeResults)
}

func writeResults(rows iter.Seq2[contactlist.ResultRow, error], w io.Writer) error {
	return router.WriteCSV(w, resultColumns(), rows, func(row *contactlist.ResultRow, record []string, put func([]string) error) error {
		return put(append(record, row.Phone, router.EscapeFormula(row.Name), router.EscapeFormula(row.Outcome), strconv.Itoa(row.Duration),
			strconv.FormatBool(row.Confirmed), router.EscapeFormula(row.Notes), router.FormatTime(row.CompletedAt), router.EscapeFormula(string(row.Reason))))
	})
}
