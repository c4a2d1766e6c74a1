package account

import (
	"context"
	"io"
	"iter"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/billing"
	"github.com/callboard/callboard/httpapi/router"
)

// Usage returns the billed usage of a workspace and its cost.
type Usage interface {
	// Usage returns the usage of a workspace by day and by month.
	Usage(ctx context.Context, p domain.Principal, q billing.UsageQuery) (billing.Usage, error)
	// Ledger returns the billed call attempts in the order of their start.
	Ledger(ctx context.Context, p domain.Principal, q billing.UsageQuery) (iter.Seq2[billing.LedgerLine, error], error)
}

// usageHandlers serves the operations that return usage.
type usageHandlers struct {
	*router.Router

	usage Usage
}

// LedgerEntry is an outbound call attempt or an inbound call in the ledger export.
type LedgerEntry struct {
	AttemptID  string           `json:"attempt_id"`
	CallID     string           `json:"call_id"`
	CampaignID string           `json:"campaign_id"`
	Direction  domain.Direction `json:"direction"`
	OpenedAt   time.Time        `json:"opened_at"`
	ClosedAt   time.Time        `json:"closed_at"`
	Seconds    int              `json:"seconds"`
	Plan       domain.Plan      `json:"plan"`
	Included   bool             `json:"included"`
	Amount     domain.Money     `json:"amount"`
}

func ledgerColumns() []string {
	return []string{"attempt_id", "call_id", "campaign_id", "direction", "opened_at", "closed_at", "seconds", "plan", "included", "amount", "currency"}
}

// registerUsage registers the routes that return usage.
func registerUsage(r *router.Router, usage Usage) {
	s := &usageHandlers{Router: r, usage: usage}
	const days = "Days are in UTC. The start time of an attempt sets its day, its month and its price."
	router.Add(s.Router, router.Operation{
		Method: http.MethodGet, Path: "/v1/usage", ID: "getUsage", Tag: "Usage", Summary: "Get attempts, minutes, messages and costs by day and month",
		Description: "An attempt is billed once if it reached a carrier. Throttled, unsent and interrupted attempts are free, and so is the whole " +
			"test environment. Each month starts with the quota of the plan. A change of the plan keeps the used part of the quota. " + days,
	}, func(ctx context.Context, p domain.Principal, in *struct {
		From string `query:"from" maxLength:"32" doc:"The first day, YYYY-MM-DD. Default: the first day of this month."`
		To   string `query:"to" maxLength:"32" doc:"The last day. Default: today."`
	},
	) (*router.Response[billing.Usage], error) {
		q, err := usageQuery(in.From, in.To, time.Now(), nil)
		if err != nil {
			return nil, err
		}
		return router.Respond(s.usage.Usage(ctx, p, q))
	})
	s.AddRaw(router.Operation{
		Method: http.MethodGet, Path: "/v1/usage/ledger", ID: "exportLedger", Tag: "Usage", Summary: "Download every billed attempt with its price",
		Errors: []int{http.StatusUnprocessableEntity},
		Description: "One row per billed attempt and per answered inbound call, in the order of their start, streamed. The amounts add up " +
			"to the totals of /v1/usage. " + days,
	}, func(h *huma.Operation) {
		for _, one := range []struct{ name, doc string }{{"from", "The first day, YYYY-MM-DD. Default: the first day of this month."}, {"to", "The last day. Default: today."}} {
			h.Parameters = append(h.Parameters, &huma.Param{Name: one.name, In: "query", Description: one.doc, Schema: &huma.Schema{Type: huma.TypeString}})
		}
		h.Parameters = append(h.Parameters, &huma.Param{
			Name: "format", In: "query", Description: "csv, or jsonl with one JSON object per line.",
			Schema: &huma.Schema{Type: huma.TypeString, Enum: []any{"csv", "jsonl"}, Default: "csv"},
		})
		h.Responses["200"] = router.DescribeResponse("The rows.", router.MIMECSV, &huma.Schema{Type: huma.TypeString, Examples: []any{strings.Join(ledgerColumns(), ",") + "\r\n"}})
		h.Responses["200"].Content[router.MIMEJSONLines] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString}}
	}, s.ledger)
}

// usageQuery parses a range of days. It adds its problems to problems, which are those of the other query parameters.
func usageQuery(from, to string, now time.Time, problems domain.Problems) (billing.UsageQuery, error) {
	now = now.UTC()
	q := billing.UsageQuery{From: time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC), To: now.Truncate(24 * time.Hour)}
	for _, f := range []struct {
		param, text string
		into        *time.Time
	}{{"from", from, &q.From}, {"to", to, &q.To}} {
		if f.text == "" {
			continue
		}
		t, err := time.Parse(time.DateOnly, f.text)
		if err != nil {
			t, err = time.Parse(time.RFC3339, f.text)
			t = t.UTC().Truncate(24 * time.Hour)
		}
		if err != nil {
			problems.Add(f.param, domain.CodeValidation, "is not a date (YYYY-MM-DD)")
			continue
		}
		*f.into = t
	}
	switch {
	case len(problems) > 0:
	case from == "" && q.From.After(q.To): // from defaults to the first day of the month of to
		q.From = time.Date(q.To.Year(), q.To.Month(), 1, 0, 0, 0, 0, time.UTC)
	case q.From.After(q.To):
		problems.Add("to", domain.CodeValidation, "must not be before from")
	case q.To.Sub(q.From) >= billing.MaxUsageDays*24*time.Hour:
		problems.Add("from", domain.CodeValidation, "the range is longer than %d days", billing.MaxUsageDays)
	}
	return q, problems.Err()
}

func (s *usageHandlers) ledger(c *fiber.Ctx) error {
	var problems domain.Problems
	format := strings.Clone(c.Query("format", "csv"))
	if format != "csv" && format != "jsonl" {
		problems.Add("format", domain.CodeValidation, "must be csv or jsonl")
	}
	q, err := usageQuery(strings.Clone(c.Query("from")), strings.Clone(c.Query("to")), time.Now(), problems)
	if err != nil {
		return err
	}
	f, write := router.File{Name: "ledger-" + domain.Day(q.From) + "-" + domain.Day(q.To) + "." + format, Kind: router.CSVFile}, writeLedger
	if format == "jsonl" {
		f.Kind, write = router.MIMEJSONLines, writeLedgerLines
	}
	return router.Download(s.Router, c, f, func(ctx context.Context, p domain.Principal) (iter.Seq2[billing.LedgerLine, error], error) {
		return s.usage.Ledger(ctx, p, q)
	}, write)
}

func entryOf(l *billing.LedgerLine) LedgerEntry {
	e := LedgerEntry{
		AttemptID: l.AttemptID, CallID: l.CallID, CampaignID: l.CampaignID, Direction: l.Direction, OpenedAt: l.OpenedAt.UTC(), ClosedAt: l.ClosedAt.UTC(),
		Seconds: l.Seconds, Plan: l.Plan, Included: l.Included, Amount: l.Amount,
	}
	if e.Direction == "" {
		e.Direction = domain.Outbound
	}
	return e
}

func writeLedger(rows iter.Seq2[billing.LedgerLine, error], w io.Writer) error {
	return router.WriteCSV(w, ledgerColumns(), rows, func(row *billing.LedgerLine, record []string, put func([]string) error) error {
		e := entryOf(row)
		return put(append(record, e.AttemptID, e.CallID, e.CampaignID, string(e.Direction), e.OpenedAt.UTC().Format(domain.TimeFormat), e.ClosedAt.UTC().Format(domain.TimeFormat),
			strconv.Itoa(e.Seconds), string(e.Plan), strconv.FormatBool(e.Included), e.Amount.Amount, e.Amount.Currency))
	})
}

func writeLedgerLines(rows iter.Seq2[billing.LedgerLine, error], w io.Writer) error {
	return router.WriteJSONLines(w, rows, func(row *billing.LedgerLine) any { return entryOf(row) })
}
