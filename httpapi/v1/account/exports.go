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

// exportHandlers serves the operations on exports.
type exportHandlers struct {
	*router.Router

	exports Exports
}

// Exports writes export files in the background.
type Exports interface {
	// CreateExport starts an export. The file is written completely or not at all, even if the process restarts. An
	// unknown campaign is a validation error (422).
	CreateExport(ctx context.Context, p domain.Principal, e *domain.Export) (*domain.Export, error)
	Export(ctx context.Context, p domain.Principal, id string) (*domain.Export, error)
	ListExports(ctx context.Context, p domain.Principal, q record.PageQuery) (record.Page[*domain.Export], error)
	// ExportFile opens the file of an export. Errors: processing while the file is being written, export_expired after
	// the file was deleted, invalid_state for a failed export.
	ExportFile(ctx context.Context, p domain.Principal, id string) (record.Download, error)
}

// NewExport is the request body that creates an export.
type NewExport struct {
	Type    string           `json:"type" enum:"calls,legs,transcripts,campaign_results,contacts,events,usage,audit_logs" doc:"The kind of records. The credential must have the permission to read them."`
	Format  string           `json:"format,omitempty" enum:"csv,jsonl" default:"csv" doc:"csv, or jsonl with one JSON object per line."`
	Filters NewExportFilters `json:"filters,omitzero"`
}

// NewExportFilters select the records that an export contains.
type NewExportFilters struct {
	CreatedAfter  *time.Time `json:"created_after,omitempty" doc:"Only records created after this time. For usage: the first day."`
	CreatedBefore *time.Time `json:"created_before,omitempty" doc:"Only records created before this time. For usage: the last day."`
	CampaignID    string     `json:"campaign_id,omitempty" doc:"Filters calls, legs and transcripts by campaign. Required for campaign_results and contacts."`
	Status        string     `json:"status,omitempty" doc:"Filters calls or contacts by status."`
	Types         []string   `json:"types,omitempty" nullable:"false" maxItems:"100" doc:"Filters events by type or wildcard. Default: all types that the credential may read."`
}

// ExportProcessing is the response while the file of an export is being written.
type ExportProcessing struct {
	ID     string `json:"id"`
	Status string `json:"status" enum:"processing" doc:"Try again later."`
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
	isAnyOf := func(types ...domain.ExportType) bool { return slices.Contains(types, e.Type) }
	ofCampaign := isAnyOf(domain.ExportResults, domain.ExportContacts)
	ofCalls := isAnyOf(domain.ExportCalls, domain.ExportLegs, domain.ExportTranscripts)
	refuse := func(param string, given, takes bool) {
		if given && !takes {
			problems.Add("filters."+param, domain.CodeValidation, "is not a filter of %s", n.Type)
		}
	}
	if ofCampaign && x.CampaignID == "" {
		problems.Add("filters.campaign_id", domain.CodeValidation, "is required for %s", n.Type)
	}
	refuse("campaign_id", x.CampaignID != "", ofCampaign || ofCalls)
	refuse("status", x.Status != "", ofCalls || isAnyOf(domain.ExportContacts))
	refuse("types", len(x.Types) > 0, isAnyOf(domain.ExportEvents))
	refuse("created_after", x.CreatedAfter != nil, !ofCampaign)
	refuse("created_before", x.CreatedBefore != nil, !ofCampaign)
	if isAnyOf(domain.ExportContacts) && x.Status != "" && !slices.Contains(router.ContactStates(), any(x.Status)) {
		problems.Add("filters.status", domain.CodeValidation, "is not a contact status")
	}
	if ofCalls && x.Status != "" && !slices.Contains(domain.CallStatus("").Values(), x.Status) {
		problems.Add("filters.status", domain.CodeValidation, "is not a call status")
	}
	for _, name := range x.Types {
		if !event.IsValidPattern(name) {
			problems.Add("filters.types", domain.CodeValidation, "%q is neither an event type nor a wildcard", router.Truncate(name, 60))
		}
	}
	if x.CreatedAfter != nil && x.CreatedBefore != nil && !x.CreatedAfter.Before(*x.CreatedBefore) {
		problems.Add("filters.created_before", domain.CodeValidation, "must be after created_after")
	}
	return e, problems.Err()
}

// checkExportPermission returns an error if the principal may not read the exported data.
func checkExportPermission(p domain.Principal, e *domain.Export) error {
	need := e.Type.RequiredPermissions()
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
	return domain.Errorf(domain.CodeInsufficientPermissions, "An export of %s needs the permission %s.", t, strings.Join(names, " or ")).With("required", names)
}

// newExport returns the export that a request describes, as far as the principal may create it. It limits an export
// of events to the event types that the principal may read.
func newExport(p domain.Principal, n *NewExport) (*domain.Export, error) {
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

// registerExports registers the routes for exports.
func registerExports(r *router.Router, exports Exports) {
	s := &exportHandlers{Router: r, exports: exports}
	const tag, path = "Exports", "/v1/exports"
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: path, ID: "createExport", Tag: tag, Status: http.StatusAccepted, Summary: "Create an export file",
		Description: "Ten per hour. The file is written in the background, oldest rows first, and stored for seven days. CSV cells are escaped so that spreadsheets do not run formulas.",
	}, func(ctx context.Context, p domain.Principal, in *struct{ Body NewExport }) (*router.Response[*domain.Export], error) {
		e, err := newExport(p, &in.Body)
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
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path + "/{id}", ID: "getExport", Tag: tag, Summary: "Get an export"},
		router.HandleByID(domain.PrefixExport, s.exports, Exports.Export, s.showExport))
	s.AddRaw(router.Operation{
		Method: http.MethodGet, Path: path + "/{id}/download", ID: "downloadExport", Tag: tag, Summary: "Download the file",
		Description: "Supports Range. 202 while the file is written, 410 export_expired after its deletion.",
		Errors:      []int{http.StatusConflict, http.StatusGone, http.StatusRequestedRangeNotSatisfiable},
	}, func(h *huma.Operation) {
		text := &huma.Schema{Type: huma.TypeString}
		h.Parameters = append(h.Parameters, &huma.Param{Name: "Range", In: "header", Schema: text, Example: "bytes=0-65535"})
		for status, about := range map[string]string{"200": "The whole file.", "206": "The requested byte range."} {
			h.Responses[status] = router.DescribeResponse(about, router.MIMECSV, text)
			h.Responses[status].Content[router.MIMEJSONLines] = &huma.MediaType{Schema: text}
		}
		h.Responses["202"] = router.DescribeResponse("The file is still being written.", fiber.MIMEApplicationJSON, router.SchemaOf[ExportProcessing](s.API))
	}, s.downloadExport)
}

// showExport returns the API form of an export. It adds the URL of the file once the file exists.
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

// CheckRules returns the violations of the rules for a new export that the JSON schema cannot express.
func (n *NewExport) CheckRules(context.Context, router.Workspaces, domain.Principal) error {
	_, err := n.export()
	return err
}
