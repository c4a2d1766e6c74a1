package account

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/service/record"
)

// dataRequestHandlers serves the operations on data requests.
type dataRequestHandlers struct {
	*router.Router

	data DataRequests
}

// DataRequests exports or erases the data of a person, which a telephone number identifies.
type DataRequests interface {
	// CreateDataRequest starts an export or an erasure in the background. The work completes even if the process
	// restarts. Errors: validation_error and invalid_state for phone.
	CreateDataRequest(ctx context.Context, p domain.Principal, kind domain.DataRequestType, phone string) (*domain.DataRequest, error)
	DataRequest(ctx context.Context, p domain.Principal, id string) (*domain.DataRequest, error)
	ListDataRequests(ctx context.Context, p domain.Principal, q record.PageQuery) (record.Page[*domain.DataRequest], error)
	// DataRequestFile opens the file of an export. Errors: processing while the file is being written, export_expired
	// after the file was deleted, invalid_state for an erasure.
	DataRequestFile(ctx context.Context, p domain.Principal, id string) (record.Download, error)
}

// NewDataRequest is the request body that creates a data request.
type NewDataRequest struct {
	Type  string `json:"type" enum:"export,erase"`
	Phone string `json:"phone" minLength:"1" maxLength:"64" example:"+12025550123"`
}

const mimeZip = "application/zip"

// registerDataRequests registers the routes for data requests.
func registerDataRequests(r *router.Router, data DataRequests) {
	s := &dataRequestHandlers{Router: r, data: data}
	const tag, path = "Data requests", "/v1/data-requests"
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: path, ID: "createDataSubjectRequest", Tag: tag, Status: http.StatusAccepted, Summary: "Export or erase the data of a person",
		Credential: router.KeyOrSession, Errors: []int{http.StatusServiceUnavailable},
		Description: "A telephone number identifies the person. The request runs in the background, in the environment of the credential, and continues after a restart. " +
			"export writes a zip file with JSON lines and recordings, which is stored for seven days. erase removes the person from running campaigns, waits for live calls, and deletes calls, " +
			"recordings, transcripts, messages, appointments, contacts, events and exports. In records about other people the number is blanked. Do-not-call entries remain as a keyed hash, " +
			"so that the number is still not called. Decision logs can still be verified. An erasure cannot be undone.",
	}, func(ctx context.Context, p domain.Principal, in *struct{ Body NewDataRequest }) (*router.Response[*domain.DataRequest], error) {
		r, err := s.data.CreateDataRequest(ctx, p, domain.DataRequestType(in.Body.Type), in.Body.Phone)
		if err != nil {
			return nil, err
		}
		router.SetResourceID(ctx, r.ID)
		return router.Respond(s.showDataRequest(r), nil)
	})
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path, ID: "listDataSubjectRequests", Tag: tag, Summary: "List data requests"},
		router.HandleList(s.data, DataRequests.ListDataRequests, s.showDataRequest))
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path + "/{id}", ID: "getDataSubjectRequest", Tag: tag, Summary: "Get a data request"},
		router.HandleByID(domain.PrefixDataRequest, s.data, DataRequests.DataRequest, s.showDataRequest))
	s.AddRaw(router.Operation{
		Method: http.MethodGet, Path: path + "/{id}/download", ID: "downloadDataSubjectRequest", Tag: tag, Summary: "Download the file of an export",
		Description: "A zip file with a JSON lines file for each kind of record, and the recordings. Supports Range. 202 while the file is written, 409 invalid_state for an erasure, 410 export_expired after its deletion.",
		Errors:      []int{http.StatusConflict, http.StatusGone, http.StatusRequestedRangeNotSatisfiable},
	}, func(h *huma.Operation) {
		text := &huma.Schema{Type: huma.TypeString, Format: "binary"}
		h.Parameters = append(h.Parameters, &huma.Param{Name: "Range", In: "header", Schema: &huma.Schema{Type: huma.TypeString}, Example: "bytes=0-65535"})
		h.Responses["200"] = router.DescribeResponse("The whole file.", mimeZip, text)
		h.Responses["206"] = router.DescribeResponse("The requested byte range.", mimeZip, text)
		h.Responses["202"] = router.DescribeResponse("The file is still being written.", fiber.MIMEApplicationJSON, router.SchemaOf[ExportProcessing](s.API))
	}, s.downloadDataRequest)
}

// showDataRequest returns the API form of a data request. It adds the URL of the exported file once the file exists.
func (s *dataRequestHandlers) showDataRequest(r *domain.DataRequest) *domain.DataRequest {
	shown := r.Public()
	shown.DownloadURL = ""
	if r.Type == domain.DataExport && r.Status == domain.DataCompleted {
		shown.DownloadURL = s.PublicURL + "/v1/data-requests/" + r.ID + "/download"
	}
	return shown
}

func (s *dataRequestHandlers) downloadDataRequest(c *fiber.Ctx) error {
	id, err := router.PathID(domain.PrefixDataRequest, c.Params("id"))
	if err != nil {
		return err
	}
	ctx := c.UserContext()
	file, err := s.data.DataRequestFile(ctx, router.RequestOf(ctx).Principal, id)
	if domain.CodeOf(err) == domain.CodeProcessing {
		c.Set(fiber.HeaderRetryAfter, router.RetryAfterProcessing)
		return c.Status(http.StatusAccepted).JSON(ExportProcessing{ID: id, Status: string(domain.CodeProcessing)})
	}
	if err != nil {
		return err
	}
	return s.SendFile(c, file, mimeZip, `attachment; filename="`+id+`.zip"`)
}
