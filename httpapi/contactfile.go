package httpapi

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/ask"
)

// contactStates are the words that lists of contacts are filtered by.
func contactStates() []any {
	var words []any
	for state := domain.ContactPending; state <= domain.ContactCancelled; state++ {
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
		return s.exportContacts(c, "csv", mimeCSV+"; charset=utf-8; header=present", writeContactsCSV)
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
	v := visitOf(c.UserContext())
	ctx, cancel := context.WithCancel(s.begin(v))
	export, err := s.ports.Contacts.ExportContacts(ctx, v.principal, id, status)
	if err != nil {
		cancel()
		return err
	}
	c.Set(fiber.HeaderContentType, kind)
	c.Set(fiber.HeaderContentDisposition, `attachment; filename="`+id+`-contacts.`+ending+`"`)
	s.stream(ctx, c, cancel, func(w io.Writer) error { return write(export, w) })
	return nil
}

// stream writes the body of an answer while the client reads it. What fails
// cuts the connection: half a file must not look like a whole one.
func (s *Server) stream(ctx context.Context, c *fiber.Ctx, end func(), write func(io.Writer) error) {
	v := visitOf(c.UserContext())
	conn := c.Context().Conn()
	c.Context().SetBodyStreamWriter(func(w *bufio.Writer) {
		defer end()
		defer func() {
			if r := recover(); r != nil {
				s.log.ErrorContext(ctx, "panic in a stream", slog.Any("panic", r), slog.String("stack", string(debug.Stack())))
				_ = conn.Close()
			}
		}()
		err := write(&patient{w: w, conn: conn, patience: s.cfg.WriteTimeout})
		if err == nil {
			err = w.Flush()
		}
		if err != nil {
			s.log.WarnContext(ctx, "stream cut off", slog.String("request_id", v.requestID), slog.Any("error", err))
			_ = conn.Close()
		}
	})
}

func contactColumns() []string {
	return []string{"phone", "timezone", "country", "status", "outcome", "reason", "attempts", "last_call_id", "next_attempt_at", "completed_at", "contact_id"}
}

func writeContactsCSV(e ask.ContactsExport, w io.Writer) error {
	out := csv.NewWriter(w)
	out.UseCRLF = true
	record := contactColumns()
	for _, name := range e.Fields {
		record = append(record, defused(name))
	}
	if err := out.Write(record); err != nil {
		return err
	}
	for c, err := range e.Rows {
		if err != nil {
			return err
		}
		record = append(record[:0], c.Phone, defused(c.Timezone), defused(c.Country), c.Status, defused(string(c.Outcome)), defused(string(c.Reason)),
			strconv.Itoa(c.Attempts), c.LastCallID, stampOf(c.NextAttemptAt), stampOf(c.CompletedAt), c.ID)
		for _, name := range e.Fields {
			v, _ := c.Context.Text(name)
			record = append(record, defused(v))
		}
		if err := out.Write(record); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

func stampOf(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

func writeContactsJSON(e ask.ContactsExport, w io.Writer) error {
	b := bufio.NewWriterSize(w, 32<<10)
	out := json.NewEncoder(b)
	out.SetEscapeHTML(false)
	for c, err := range e.Rows {
		if err != nil {
			return err
		}
		if err := out.Encode(c); err != nil {
			return err
		}
	}
	return b.Flush()
}
