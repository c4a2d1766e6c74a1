package httpapi

import (
	"bufio"
	"context"
	"encoding/csv"
	"io"
	"iter"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/ask"
)

func (s *Server) resultRoutes() {
	s.raw(operation{
		method: http.MethodGet, path: "/v1/campaigns/{id}/results", id: "getCampaignResults", tag: "Campaigns",
		summary: "Download the results as CSV",
		about: "RFC 4180, one row per contact, streamed; works while the campaign runs. A value that a spreadsheet would take for a formula " +
			"begins with an apostrophe, in every column but phone.",
	}, func(h *huma.Operation) {
		h.Responses["200"] = response("The rows.", mimeCSV, &huma.Schema{Type: huma.TypeString, Examples: []any{strings.Join(resultColumns(), ",") + "\r\n"}})
	}, s.results)
}

func resultColumns() []string {
	return []string{"phone", "name", "outcome", "duration", "confirmed", "notes", "completed_at"}
}

func (s *Server) results(c *fiber.Ctx) error {
	id, err := named(domain.PrefixCampaign, c.Params("id"))
	if err != nil {
		return err
	}
	v := visitOf(c.UserContext())
	ctx, cancel := context.WithCancel(s.begin(v))
	rows, err := s.ports.Contacts.CampaignResults(ctx, v.principal, id)
	if err != nil {
		cancel()
		return err
	}
	c.Set(fiber.HeaderContentType, mimeCSV+"; charset=utf-8; header=present")
	c.Set(fiber.HeaderContentDisposition, `attachment; filename="`+id+`.csv"`)
	s.stream(ctx, c, cancel, func(w io.Writer) error { return writeResults(rows, w) })
	return nil
}

func writeResults(rows iter.Seq2[ask.ResultRow, error], w io.Writer) error {
	out := csv.NewWriter(w)
	out.UseCRLF = true
	record := resultColumns()
	if err := out.Write(record); err != nil {
		return err
	}
	for row, err := range rows {
		if err != nil {
			return err
		}
		record = append(record[:0], row.Phone, defused(row.Name), defused(row.Outcome), strconv.Itoa(row.Duration),
			strconv.FormatBool(row.Confirmed), defused(row.Notes), stampOf(row.CompletedAt))
		if err := out.Write(record); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// defused is a text that no spreadsheet takes for a formula.
func defused(s string) string {
	t := strings.TrimLeft(s, " \u00a0\u3000\ufeff\u200b")
	if t == "" {
		return s
	}
	if strings.ContainsRune("=+-@\t\r\n|%\uff1d\uff0b\uff0d\uff20", []rune(t[:min(len(t), 4)])[0]) {
		return "'" + s
	}
	return s
}

// patient writes to a client as long as it goes on reading.
type patient struct {
	w        *bufio.Writer
	conn     net.Conn
	patience time.Duration
}

func (p *patient) Write(b []byte) (int, error) {
	if err := p.conn.SetWriteDeadline(time.Now().Add(p.patience)); err != nil {
		return 0, err
	}
	return p.w.Write(b)
}
