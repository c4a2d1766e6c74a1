package calls

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/router"
)

// recordingHandlers serves the operations on recordings.
type recordingHandlers struct {
	*router.Router

	calls      Calls
	recordings Recordings
}

// Processing is the response while a recording is being written.
type Processing struct {
	CallID string `json:"call_id"`
	Status string `json:"status" enum:"processing"`
}

const mimeWAV = "audio/wav"

// registerRecordings registers the routes for recordings.
func registerRecordings(r *router.Router, calls Calls, recordings Recordings) {
	s := &recordingHandlers{Router: r, calls: calls, recordings: recordings}
	s.AddRawAdmitted(router.Operation{
		Method: http.MethodGet, Path: "/v1/calls/{id}/recording", ID: "getRecording", Tag: "Calls",
		Summary: "Download the recording", Description: "Stereo: the caller on the left channel, the agent or a human on the right. Supports Range.",
		Errors: []int{http.StatusRequestedRangeNotSatisfiable},
	}, s.admitLinked, func(h *huma.Operation) {
		wav := &huma.Schema{Type: huma.TypeString, Format: "binary"}
		h.Security = append(h.Security, map[string][]string{})
		h.Parameters = append(h.Parameters, &huma.Param{
			Name: linkParam, In: "query", Description: "Token of a link, in place of a credential.", Schema: &huma.Schema{Type: huma.TypeString},
		})
		h.Parameters = append(h.Parameters, &huma.Param{Name: "Range", In: "header", Schema: &huma.Schema{Type: huma.TypeString}, Example: "bytes=0-65535"})
		h.Responses["200"] = router.DescribeResponse("The whole recording.", mimeWAV, wav)
		h.Responses["206"] = router.DescribeResponse("The requested byte range.", mimeWAV, wav)
		h.Responses["202"] = router.DescribeResponse("The recording is still being written.", fiber.MIMEApplicationJSON, router.SchemaOf[Processing](s.API))
	}, s.recording)
	s.registerLinks()
}

func (s *recordingHandlers) recording(c *fiber.Ctx) error {
	id, err := router.PathID(domain.PrefixCall, c.Params("id"))
	if err != nil {
		return err
	}
	rec, err := s.recordings.Recording(c.UserContext(), router.RequestOf(c.UserContext()).Principal, id)
	if domain.CodeOf(err) == domain.CodeProcessing {
		c.Set(fiber.HeaderRetryAfter, router.RetryAfterProcessing)
		return c.Status(http.StatusAccepted).JSON(Processing{CallID: id, Status: string(domain.CodeProcessing)})
	}
	if err != nil {
		return err
	}
	return s.SendFile(c, rec, mimeWAV, `inline; filename="`+id+`.wav"`)
}
