package account

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/access"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/domain/validation"
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/httpapi/v1/events"
	"github.com/callboard/callboard/service/record"
)

// exportHandlers serves the operations of exports.
type exportHandlers struct {
	*router.Router

	exports Exports
}

// Exports are files made of many rows.
type Exports interface {
	// CreateExport orders a file. It is made whole or not at all, also across
	// the end of the process. An unknown campaign is 422.
	CreateExport(ctx context.Context, p domain.Principal, e *domain.Export) (*domain.Export, error)
	Export(ctx context.Context, p domain.Principal, id string) (*domain.Export, error)
	ListExports(ctx context.Context, p domain.Principal, q record.PageQuery) (record.Page[*domain.Export], error)
	// ExportFile opens the file; processing while it is made, export_expired
	// once it is deleted, invalid_state where it failed.
	ExportFile(ctx context.Context, p domain.Principal, id string) (record.Download, error)
}

// NewExport is an export as it is ordered.
type NewExport struct {
	Type    string           `json:"type" enum:"calls,legs,transcripts,campaign_results,contacts,events,usage,audit_logs" doc:"What the rows are. The credential must be allowed to read it."`
	Format  string           `json:"format,omitempty" enum:"csv,jsonl" default:"csv" doc:"csv, or one JSON object per line."`
	Filters NewExportFilters `json:"filters,omitzero"`
}

// NewExportFilters say which rows are wanted.
type NewExportFilters struct {
	CreatedAfter  *time.Time `json:"created_after,omitempty" doc:"Only what was created after this time; of usage: the first day."`
	CreatedBefore *time.Time `json:"created_before,omitempty" doc:"Only what was created before this time; of usage: the last day."`
	CampaignID    string     `json:"campaign_id,omitempty" doc:"Of calls, legs and transcripts; required for campaign_results and contacts."`
	Status        string     `json:"status,omitempty" doc:"Only calls or contacts in this state."`
	Types         []string   `json:"types,omitempty" nullable:"false" maxItems:"100" doc:"Only events of these names or wildcards. All that the credential may read where there are none."`
}

// ExportProcessing is the answer while a file is still to come.
type ExportProcessing struct {
	ID     string `json:"id"`
	Status string `json:"status" enum:"processing" doc:"Ask again."`
}

func (n *NewExport) export() (*domain.Export, error) {
	x := &n.Filters
	e := &domain.Export{Type: domain.ExportType(n.Type), Format: n.Format, Filters: domain.ExportFilters{
		CreatedAfter: x.CreatedAfter, CreatedBefore: x.CreatedBefore, Status: x.Status, Types: x.Types,
	}}
	if e.Format == "" {
		e.Format = "csv"
	}
	var problems domain.Problems
	e.Filters.CampaignID = validation.ID(&problems, "filters.campaign_id", domain.PrefixCampaign, x.CampaignID)
	is := func(some ...domain.ExportType) bool { return slices.Contains(some, e.Type) }
	ofCampaign := is(domain.ExportResults, domain.ExportContacts)
	ofCalls := is(domain.ExportCalls, domain.ExportLegs, domain.ExportTranscripts)
	refuse := func(param string, given, takes bool) {
		if given && !takes {
			problems.Add("filters."+param, domain.CodeValidation, "is no filter of %s", n.Type)
		}
	}
	if ofCampaign && x.CampaignID == "" {
		problems.Add("filters.campaign_id", domain.CodeValidation, "is required for %s", n.Type)
	}
	refuse("campaign_id", x.CampaignID != "", ofCampaign || ofCalls)
	refuse("status", x.Status != "", ofCalls || is(domain.ExportContacts))
	refuse("types", len(x.Types) > 0, is(domain.ExportEvents))
	refuse("created_after", x.CreatedAfter != nil, !ofCampaign)
	refuse("created_before", x.CreatedBefore != nil, !ofCampaign)
	if is(domain.ExportContacts) && x.Status != "" && !slices.Contains(router.ContactStates(), any(x.Status)) {
		problems.Add("filters.status", domain.CodeValidation, "is no state of a contact")
	}
	if ofCalls && x.Status != "" && !slices.Contains(domain.CallStatus("").Values(), x.Status) {
		problems.Add("filters.status", domain.CodeValidation, "is no state of a call")
	}
	for _, name := range x.Types {
		if !event.IsValidPattern(name) {
			problems.Add("filters.types", domain.CodeValidation, "%q is no event name and no wildcard", router.Truncate(name, 60))
		}
	}
	if x.CreatedAfter != nil && x.CreatedBefore != nil && !x.CreatedAfter.Before(*x.CreatedBefore) {
		problems.Add("filters.created_before", domain.CodeValidation, "must lie after created_after")
	}
	return e, problems.Err()
}

// checkExportPermission refuses an export of data that the principal may not read.
func checkExportPermission(p domain.Principal, e *domain.Export) error {
	need := e.Type.Reads()
	if !slices.ContainsFunc(need, func(n domain.Permission) bool { return access.Covers(p.Permissions, n) }) {
		return missingPermission(e.Type, need...)
	}
	for _, name := range e.Filters.Types {
		if t := event.Type(name); e.Type == domain.ExportEvents && !events.MayReadType(p, t) {
			return missingPermission(e.Type, events.ReadersOf(t)...)
		}
	}
	return nil
}

func missingPermission(t domain.ExportType, need ...domain.Permission) error {
	names := make([]string, len(need))
	for i, n := range need {
		names[i] = string(n)
	}
	return domain.Errorf(domain.CodeInsufficientPermissions, "An export of %s takes the permission %s.", t, strings.Join(names, " or ")).With("required", names)
}

// orderExport is what is ordered, as far as the credential may have it: of
// events, those whose resource it may read.
func orderExport(p domain.Principal, n *NewExport) (*domain.Export, error) {
	e, err := n.export()
	if err != nil {
		return nil, err
	}
	if e.Type == domain.ExportEvents {
		wanted := e.Filters.Types
		if len(wanted) == 0 {
			wanted = []string{"*"}
		}
		if e.Filters.Types = events.ReadableTypes(p, wanted); len(e.Filters.Types) == 0 {
			return nil, missingPermission(e.Type, events.ReadersOf(event.Type(wanted[0]))...)
		}
	}
	return e, checkExportPermission(p, e)
}

// registerExports registers the operations of exports.
func registerExports(r *router.Router, exports Exports) {
	s := &exportHandlers{Router: r, exports: exports}
	const tag, path = "Exports", "/v1/exports"
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: path, ID: "createExport", Tag: tag, Status: http.StatusAccepted, Summary: "Order a file of many rows",
		Description: "Ten per hour. The file is written in the background, oldest rows first, and kept for seven days. In CSV no cell is taken for a formula.",
	}, func(ctx context.Context, p domain.Principal, in *struct{ Body NewExport }) (*router.Response[*domain.Export], error) {
		e, err := orderExport(p, &in.Body)
		if err != nil {
			return nil, err
		}
		if e, err = s.exports.CreateExport(ctx, p, e); err != nil {
			return nil, err
		}
		router.SetResourceID(ctx, e.ID)
		return router.Respond(s.showExport(e), nil)
	})
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path, ID: "listExports", Tag: tag, Summary: "List exports"},
		router.HandleList(s.exports, Exports.ListExports, s.showExport))
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path + "/{id}", ID: "getExport", Tag: tag, Summary: "See whether a file is ready"},
		router.HandleByID(domain.PrefixExport, s.exports, Exports.Export, s.showExport))
	s.AddRaw(router.Operation{
		Method: http.MethodGet, Path: path + "/{id}/download", ID: "downloadExport", Tag: tag, Summary: "Download the file",
		Description: "Takes Range. 202 while the file is made, 410 export_expired once it is deleted.",
		Errors:      []int{http.StatusConflict, http.StatusGone, http.StatusRequestedRangeNotSatisfiable},
	}, func(h *huma.Operation) {
		text := &huma.Schema{Type: huma.TypeString}
		h.Parameters = append(h.Parameters, &huma.Param{Name: "Range", In: "header", Schema: text, Example: "bytes=0-65535"})
		for status, about := range map[string]string{"200": "The whole file.", "206": "The part that was asked for."} {
			h.Responses[status] = router.DescribeResponse(about, router.MIMECSV, text)
			h.Responses[status].Content[router.MIMEJSONLines] = &huma.MediaType{Schema: text}
		}
		h.Responses["202"] = router.DescribeResponse("The file is still being written.", fiber.MIMEApplicationJSON, router.SchemaOf[ExportProcessing](s.API))
	}, s.downloadExport)
}

// showExport is an export with the address of its file, once there is one.
func (s *exportHandlers) showExport(e *domain.Export) *domain.Export {
	shown := *e
	shown.DownloadURL = ""
	if e.Status == domain.ExportCompleted {
		shown.DownloadURL = s.PublicURL + "/v1/exports/" + e.ID + "/download"
	}
	return &shown
}

func (s *exportHandlers) downloadExport(c *fiber.Ctx) error {
	id, err := router.PathID(domain.PrefixExport, c.Params("id"))
	if err != nil {
		return err
	}
	ctx := c.UserContext()
	p := router.RequestOf(ctx).Principal
	e, err := s.exports.Export(ctx, p, id)
	if err == nil {
		err = checkExportPermission(p, e)
	}
	if err != nil {
		return err
	}
	file, err := s.exports.ExportFile(ctx, p, id)
	if domain.CodeOf(err) == domain.CodeProcessing {
		c.Set(fiber.HeaderRetryAfter, router.RetryAfterProcessing)
		return c.Status(http.StatusAccepted).JSON(ExportProcessing{ID: id, Status: string(domain.CodeProcessing)})
	}
	if err != nil {
		return err
	}
	kind := router.CSVFile
	if e.Format == "jsonl" {
		kind = router.MIMEJSONLines
	}
	return s.SendFile(c, file, kind, `attachment; filename="`+string(e.Type)+"-"+e.File()+`"`)
}

// CheckRules checks what the schema cannot express.
func (n *NewExport) CheckRules(context.Context, router.Workspaces, domain.Principal) error {
	_, err := n.export()
	return err
}
