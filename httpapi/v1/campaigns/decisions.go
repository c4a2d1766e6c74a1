package campaigns

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
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/service/decisions"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/record/decisionlist"
)

// Decisions reads the decision logs of campaigns.
type Decisions interface {
	// ListDecisions returns a campaign's decisions about one phone number, or all decisions if phone is "". The order is
	// that of the log.
	ListDecisions(ctx context.Context, p domain.Principal, campaignID, phone string, q record.PageQuery) (record.Page[decisionlist.Decision], error)
	// Decisions returns an iterator over the whole decision log. The iterator remains valid after the method has returned.
	Decisions(ctx context.Context, p domain.Principal, campaignID string) (iter.Seq2[decisionlist.Decision, error], error)
	// VerifyDecisions checks the hash chain of the log.
	VerifyDecisions(ctx context.Context, p domain.Principal, campaignID string) (decisions.DecisionsVerified, error)
}

// decisionHandlers serves the operations of decision logs.
type decisionHandlers struct {
	*router.Router

	decisions Decisions
}

// registerDecisions registers the operations of decision logs.
func registerDecisions(r *router.Router, decisions Decisions) {
	s := &decisionHandlers{Router: r, decisions: decisions}
	const tag, path = "Campaigns", "/v1/campaigns/{id}/decisions"
	router.Add(s.Router, router.Operation{
		Method: http.MethodGet, Path: path, ID: "listDecisions", Tag: tag, Summary: "List why each contact was called or not",
		Description: "Lists each rule that allowed, skipped or delayed a contact, with the data that the rule used, in the order of writing. " +
			"Repeated delays by the same rule form one entry with a count. The end of a campaign decides about all waiting contacts at once. " +
			"This is one entry (cancel or expire) without a number; contacts is the number of contacts. A filter by phone also shows this entry. " +
			"Refused rows of an upload are listed in the errors of the upload.",
		Errors: []int{http.StatusUnprocessableEntity},
	},
		func(ctx context.Context, p domain.Principal, in *struct {
			router.IDParam
			router.Paging
			Phone string `query:"phone" maxLength:"64" doc:"Filters by number."`
		},
		) (*router.Response[router.List[decisionlist.Decision]], error) {
			id, err := router.PathID(domain.PrefixCampaign, in.ID)
			if err != nil {
				return nil, err
			}
			l, err := s.decisions.ListDecisions(ctx, p, id, in.Phone, in.Query())
			return router.Page(l, err, router.Identity)
		})
	router.Add(s.Router, router.Operation{
		Method: http.MethodGet, Path: path + "/verify", ID: "verifyDecisions", Tag: tag, Summary: "Verify that the decision log was not changed",
		Description: "Each row contains the hash of the previous row, and the campaign the hash of the last row. The hashes are keyed by the master key of the service, " +
			"so that write access to the store is not enough to forge them. The response has the first wrong row. " +
			"Store head elsewhere to prove later that the log has only grown.",
	},
		router.HandleByID(domain.PrefixCampaign, s.decisions, Decisions.VerifyDecisions, router.Identity))
	for _, x := range []struct {
		ending, media, kind, id string
		write                   func(iter.Seq2[decisionlist.Decision, error], io.Writer) error
	}{
		{"csv", router.MIMECSV, router.CSVFile, "exportDecisions", writeDecisions},
		{"jsonl", router.MIMEJSONLines, router.MIMEJSONLines, "exportDecisionLines", writeDecisionLines},
	} {
		s.AddRaw(router.Operation{
			Method: http.MethodGet, Path: path + "." + x.ending, ID: x.id, Tag: tag,
			Summary: "Download the decision log as " + x.ending, Description: "All rows, streamed, also while the campaign runs.",
		}, func(h *huma.Operation) {
			h.Responses["200"] = router.DescribeResponse("The rows.", x.media, &huma.Schema{Type: huma.TypeString})
		}, func(c *fiber.Ctx) error { return s.exportDecisions(c, x.ending, x.kind, x.write) })
	}
}

func (s *decisionHandlers) exportDecisions(c *fiber.Ctx, ending, kind string, write func(iter.Seq2[decisionlist.Decision, error], io.Writer) error) error {
	id, err := router.PathID(domain.PrefixCampaign, c.Params("id"))
	if err != nil {
		return err
	}
	return router.Download(s.Router, c, router.File{Name: id + "-decisions." + ending, Kind: kind}, func(ctx context.Context, p domain.Principal) (iter.Seq2[decisionlist.Decision, error], error) {
		return s.decisions.Decisions(ctx, p, id)
	}, write)
}

func decisionColumns() []string {
	return []string{
		"row", "at", "phone", "contact_id", "decision", "attempt", "call_id", "rule", "passed", "window", "zone", "local", "lists", "source",
		"count", "limit", "held", "first", "last", "country", "contacts",
	}
}

// writeDecisions writes decisions as CSV. Each rule of a decision becomes a CSV row, so that users can filter by rule.
func writeDecisions(rows iter.Seq2[decisionlist.Decision, error], w io.Writer) error {
	stamp := func(t *time.Time) string {
		if t == nil {
			return ""
		}
		return t.UTC().Format(domain.TimeFormat)
	}
	return router.WriteCSV(w, decisionColumns(), rows, func(d *decisionlist.Decision, record []string, put func([]string) error) error {
		for i := range d.Rules {
			r := &d.Rules[i]
			if err := put(append(record[:0], strconv.Itoa(d.Row), stamp(&d.At), d.Phone, d.ContactID, d.Decision, strconv.Itoa(d.Attempt), d.CallID,
				r.Rule, strconv.FormatBool(r.Passed), r.Window, r.Zone, r.Local, strings.Join(r.Lists, " "), string(r.Source),
				strconv.Itoa(r.Count), strconv.Itoa(r.Limit), strconv.Itoa(r.Held), stamp(r.First), stamp(r.Last), r.Country, strconv.Itoa(d.Contacts))); err != nil {
				return err
			}
		}
		return nil
	})
}

func writeDecisionLines(rows iter.Seq2[decisionlist.Decision, error], w io.Writer) error {
	return router.WriteJSONLines(w, rows, func(d *decisionlist.Decision) any { return d })
}
