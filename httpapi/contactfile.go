package httpapi

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/ask"
)

// contactStates are the words that lists of contacts are filtered by.
func contactStates() []any {
	var words []any
	for state := domain.ContactPending; state <= domain.ContactInCall; state++ {
		words = append(words, state.String())
	}
	return words
}

func (s *Server) contactFileRoutes(tag string) {
	status := &huma.Param{
		Name: "status", In: "query", Description: "Only contacts in this state.",
		Schema: &huma.Schema{Type: huma.TypeString, Enum: contactStates()},
	}
	const path = "/v1/campaigns/{id}/contacts"
	s.raw(operation{
		method: http.MethodGet, path: path + ".csv", id: "exportContactsCSV", tag: tag, errors: []int{http.StatusUnprocessableEntity}, summary: "Download the contacts as CSV",
		about: "RFC 4180, streamed, in the order of upload; works while the campaign runs. phone, timezone and country, then what became of the contact, " +
			"then a column for each name in the contexts (200 at most; JSON lines have them all). A value that a spreadsheet would take for a formula " +
			"begins with an apostrophe, in every column but phone.",
	}, func(h *huma.Operation) {
		h.Parameters = append(h.Parameters, status)
		h.Responses["200"] = response("The rows.", mimeCSV, &huma.Schema{Type: huma.TypeString, Examples: []any{"phone,timezone,country,status\r\n"}})
	}, func(c *fiber.Ctx) error {
		return s.exportContacts(c, "csv", csvFile, writeContactsCSV)
	})
	s.raw(operation{
		method: http.MethodGet, path: path + ".jsonl", id: "exportContactsJSONLines", tag: tag, errors: []int{http.StatusUnprocessableEntity}, summary: "Download the contacts as JSON, one per line",
		about: "Streamed, in the order of upload; works while the campaign runs. Each line is a contact as GET shows it.",
	}, func(h *huma.Operation) {
		h.Parameters = append(h.Parameters, status)
		h.Responses["200"] = response("The lines.", mimeNDJSON, &huma.Schema{Type: huma.TypeString})
	}, func(c *fiber.Ctx) error { return s.exportContacts(c, "jsonl", mimeNDJSON, writeContactsJSON) })
}

func (s *Server) exportContacts(c *fiber.Ctx, ending, kind string, write func(ask.ContactsExport, io.Writer) error) error {
	id, err := named(domain.PrefixCampaign, c.Params("id"))
	if err != nil {
		return err
	}
	status := c.Query("status")
	if status != "" && !slices.Contains(contactStates(), any(status)) {
		var p domain.Problems
		p.Add("status", domain.CodeValidation, "is no state of a contact")
		return p.Err()
	}
	return download(s.Router, c, file{id + "-contacts." + ending, kind}, func(ctx context.Context, p domain.Principal) (ask.ContactsExport, error) {
		return s.ports.Contacts.ExportContacts(ctx, p, id, status)
	}, write)
}

func contactColumns() []string {
	return []string{"phone", "timezone", "country", "status", "outcome", "reason", "attempts", "last_call_id", "next_attempt_at", "completed_at", "contact_id"}
}

func writeContactsCSV(e ask.ContactsExport, w io.Writer) error {
	header := contactColumns()
	for _, name := range e.Fields {
		header = append(header, defused(name))
	}
	return writeCSV(w, header, e.Rows, func(c *ask.Contact, record []string, put func([]string) error) error {
		record = append(record, c.Phone, defused(c.Timezone), defused(c.Country), c.Status, defused(string(c.Outcome)), defused(string(c.Reason)),
			strconv.Itoa(c.Attempts), c.LastCallID, stampOf(c.NextAttemptAt), stampOf(c.CompletedAt), c.ID)
		for _, name := range e.Fields {
			v, _ := c.Context.Text(name)
			record = append(record, defused(v))
		}
		return put(record)
	})
}

func writeContactsJSON(e ask.ContactsExport, w io.Writer) error {
	return writeLines(w, e.Rows, func(c *ask.Contact) any { return c })
}
