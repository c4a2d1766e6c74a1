package campaigns

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/service/record/contactlist"
)

func (s *contactHandlers) registerExport(tag string) {
	status := &huma.Param{
		Name: "status", In: "query", Description: "Filters by status.",
		Schema: &huma.Schema{Type: huma.TypeString, Enum: router.ContactStates()},
	}
	const path = "/v1/campaigns/{id}/contacts"
	s.AddRaw(router.Operation{
		Method: http.MethodGet, Path: path + ".csv", ID: "exportContactsCSV", Tag: tag, Errors: []int{http.StatusUnprocessableEntity}, Summary: "Download the contacts as CSV",
		Description: "RFC 4180, streamed, in the order of upload, also while the campaign runs. The columns are phone, timezone and country, the state of the contact, " +
			"and a column for each context variable (at most 200; JSON lines contain all). A value that a spreadsheet could interpret as a formula " +
			"starts with an apostrophe, except in the column phone.",
	}, func(h *huma.Operation) {
		h.Parameters = append(h.Parameters, status)
		h.Responses["200"] = router.DescribeResponse("The rows.", router.MIMECSV, &huma.Schema{Type: huma.TypeString, Examples: []any{"phone,timezone,country,status\r\n"}})
	}, func(c *fiber.Ctx) error {
		return s.exportContacts(c, "csv", router.CSVFile, writeContactsCSV)
	})
	s.AddRaw(router.Operation{
		Method: http.MethodGet, Path: path + ".jsonl", ID: "exportContactsJSONLines", Tag: tag, Errors: []int{http.StatusUnprocessableEntity}, Summary: "Download the contacts as JSON, one per line",
		Description: "Streamed, in the order of upload, also while the campaign runs. Each line is a contact in the format of GET.",
	}, func(h *huma.Operation) {
		h.Parameters = append(h.Parameters, status)
		h.Responses["200"] = router.DescribeResponse("The lines.", router.MIMEJSONLines, &huma.Schema{Type: huma.TypeString})
	}, func(c *fiber.Ctx) error { return s.exportContacts(c, "jsonl", router.MIMEJSONLines, writeContactsJSON) })
}

func (s *contactHandlers) exportContacts(c *fiber.Ctx, ending, kind string, write func(contactlist.ContactsExport, io.Writer) error) error {
	id, err := router.PathID(domain.PrefixCampaign, c.Params("id"))
	if err != nil {
		return err
	}
	status := c.Query("status")
	if status != "" && !slices.Contains(router.ContactStates(), any(status)) {
		var p domain.Problems
		p.Add("status", domain.CodeValidation, "is not a contact status")
		return p.Err()
	}
	return router.Download(s.Router, c, router.File{Name: id + "-contacts." + ending, Kind: kind}, func(ctx context.Context, p domain.Principal) (contactlist.ContactsExport, error) {
		return s.contacts.ExportContacts(ctx, p, id, status)
	}, write)
}

func contactColumns() []string {
	return []string{"phone", "timezone", "country", "status", "outcome", "reason", "attempts", "last_call_id", "next_attempt_at", "completed_at", "contact_id"}
}

func writeContactsCSV(e contactlist.ContactsExport, w io.Writer) error {
	header := contactColumns()
	for _, name := range e.Fields {
		header = append(header, router.EscapeFormula(name))
	}
	return router.WriteCSV(w, header, e.Rows, func(c *contactlist.Contact, record []string, put func([]string) error) error {
		record = append(record, c.Phone, router.EscapeFormula(c.Timezone), router.EscapeFormula(c.Country), c.Status, router.EscapeFormula(string(c.Outcome)), router.EscapeFormula(string(c.Reason)),
			strconv.Itoa(c.Attempts), c.LastCallID, router.FormatTime(c.NextAttemptAt), router.FormatTime(c.CompletedAt), c.ID)
		for _, name := range e.Fields {
			v, _ := c.Context.Text(name)
			record = append(record, router.EscapeFormula(v))
		}
		return put(record)
	})
}

func writeContactsJSON(e contactlist.ContactsExport, w io.Writer) error {
	return router.WriteJSONLines(w, e.Rows, func(c *contactlist.Contact) any { return c })
}
