package httpapi

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"io"
	"iter"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/ask"
)

func (s *Server) decisionRoutes() {
	const tag, path = "Campaigns", "/v1/campaigns/{id}/decisions"
	add(s, operation{
		method: http.MethodGet, path: path, id: "listDecisions", tag: tag, summary: "Why each contact was or was not called",
		about: "Each rule that let a contact pass, left it out or held it, with what it went by, in the order in which that was written. " +
			"What held a contact again and again is one rule with a count.",
		errors: []int{http.StatusUnprocessableEntity},
	},
		func(ctx context.Context, p domain.Principal, in *struct {
			One
			Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"20"`
			Cursor string `query:"cursor" maxLength:"64"`
			Phone  string `query:"phone" maxLength:"64" doc:"Of this number only."`
		},
		) (*answer[List[ask.Decision]], error) {
			id, err := named(domain.PrefixCampaign, in.ID)
			if err != nil {
				return nil, err
			}
			l, err := s.ports.DNC.ListDecisions(ctx, p, id, in.Phone, ask.Page{Limit: in.Limit, Cursor: in.Cursor})
			return page(l, err, func(d ask.Decision) ask.Decision { return d })
		})
	add(s, operation{
		method: http.MethodGet, path: path + "/verify", id: "verifyDecisions", tag: tag, summary: "Check that the log of decisions is as it was written",
		about: "Each row holds the hash of the one before it, and the campaign the hash of the last. Tells the first row that does not fit. " +
			"Keep head elsewhere to prove later that the log has only grown.",
	},
		func(ctx context.Context, p domain.Principal, in *One) (*answer[ask.DecisionsVerified], error) {
			id, err := named(domain.PrefixCampaign, in.ID)
			if err != nil {
				return nil, err
			}
			return ok(s.ports.DNC.VerifyDecisions(ctx, p, id))
		})
	for _, x := range []struct {
		ending, kind, id string
		write            func(iter.Seq2[ask.Decision, error], io.Writer) error
	}{
		{"csv", mimeCSV, "exportDecisions", writeDecisions},
		{"jsonl", mimeNDJSON, "exportDecisionLines", writeDecisionLines},
	} {
		s.raw(operation{
			method: http.MethodGet, path: path + "." + x.ending, id: x.id, tag: tag,
			summary: "Download the log of decisions as " + x.ending, about: "Every row, streamed; works while the campaign runs.",
		}, func(h *huma.Operation) {
			h.Responses["200"] = response("The rows.", x.kind, &huma.Schema{Type: huma.TypeString})
		}, func(c *fiber.Ctx) error { return s.exportDecisions(c, x.ending, x.kind, x.write) })
	}
}

func (s *Server) exportDecisions(c *fiber.Ctx, ending, kind string, write func(iter.Seq2[ask.Decision, error], io.Writer) error) error {
	id, err := named(domain.PrefixCampaign, c.Params("id"))
	if err != nil {
		return err
	}
	v := visitOf(c.UserContext())
	ctx, cancel := context.WithCancel(s.begin(v))
	rows, err := s.ports.DNC.Decisions(ctx, v.principal, id)
	if err != nil {
		cancel()
		return err
	}
	c.Set(fiber.HeaderContentType, kind)
	c.Set(fiber.HeaderContentDisposition, `attachment; filename="`+id+`-decisions.`+ending+`"`)
	s.stream(ctx, c, cancel, func(w io.Writer) error { return write(rows, w) })
	return nil
}

// writeDecisions writes one row per rule: that is what people filter by.
func writeDecisions(rows iter.Seq2[ask.Decision, error], w io.Writer) error {
	out := csv.NewWriter(w)
	out.UseCRLF = true
	record := []string{
		"row", "at", "phone", "contact_id", "decision", "attempt", "call_id", "rule", "passed", "window", "zone", "local", "lists", "source",
		"count", "limit", "held", "first", "last",
	}
	if err := out.Write(record); err != nil {
		return err
	}
	stamp := func(t *time.Time) string {
		if t == nil {
			return ""
		}
		return t.UTC().Format(time.RFC3339Nano)
	}
	for d, err := range rows {
		if err != nil {
			return err
		}
		for i := range d.Rules {
			r := &d.Rules[i]
			record = append(record[:0], strconv.Itoa(d.Row), stamp(&d.At), d.Phone, d.ContactID, d.Decision, strconv.Itoa(d.Attempt), d.CallID,
				r.Rule, strconv.FormatBool(r.Passed), r.Window, r.Zone, r.Local, strings.Join(r.Lists, " "), string(r.Source),
				strconv.Itoa(r.Count), strconv.Itoa(r.Limit), strconv.Itoa(r.Held), stamp(r.First), stamp(r.Last))
			if err := out.Write(record); err != nil {
				return err
			}
		}
	}
	out.Flush()
	return out.Error()
}

func writeDecisionLines(rows iter.Seq2[ask.Decision, error], w io.Writer) error {
	out := json.NewEncoder(w)
	for d, err := range rows {
		if err != nil {
			return err
		}
		if err := out.Encode(d); err != nil {
			return err
		}
	}
	return nil
}
