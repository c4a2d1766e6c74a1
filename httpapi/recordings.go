package httpapi

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/ask"
	"github.com/callboard/callboard/httpapi/router"
)

// Processing is the answer while a recording is still to come.
type Processing struct {
	CallID string `json:"call_id"`
	Status string `json:"status" enum:"processing"`
}

const mimeWAV = "audio/wav"

func (s *Server) recordingRoutes() {
	s.AddRawAdmitted(router.Operation{
		Method: http.MethodGet, Path: "/v1/calls/{id}/recording", ID: "getRecording", Tag: "Calls",
		Summary: "Download the recording", Description: "Stereo: the caller on the left, the agent or a human on the right. Takes Range.",
		Errors: []int{http.StatusRequestedRangeNotSatisfiable},
	}, s.admitLinked, func(h *huma.Operation) {
		wav := &huma.Schema{Type: huma.TypeString, Format: "binary"}
		h.Security = append(h.Security, map[string][]string{})
		h.Parameters = append(h.Parameters, &huma.Param{
			Name: linkParam, In: "query", Description: "Of a link, in place of a credential.", Schema: &huma.Schema{Type: huma.TypeString},
		})
		h.Parameters = append(h.Parameters, &huma.Param{Name: "Range", In: "header", Schema: &huma.Schema{Type: huma.TypeString}, Example: "bytes=0-65535"})
		h.Responses["200"] = router.DescribeResponse("The whole recording.", mimeWAV, wav)
		h.Responses["206"] = router.DescribeResponse("The part that was asked for.", mimeWAV, wav)
		h.Responses["202"] = router.DescribeResponse("The recording is still being written.", fiber.MIMEApplicationJSON, router.SchemaOf[Processing](s.API))
	}, s.recording)
}

func (s *Server) recording(c *fiber.Ctx) error {
	id, err := router.PathID(domain.PrefixCall, c.Params("id"))
	if err != nil {
		return err
	}
	rec, err := s.ports.Calls.Recording(c.UserContext(), router.RequestOf(c.UserContext()).Principal, id)
	if domain.CodeOf(err) == domain.CodeProcessing {
		c.Set(fiber.HeaderRetryAfter, router.RetryAfterProcessing)
		return c.Status(http.StatusAccepted).JSON(Processing{CallID: id, Status: string(domain.CodeProcessing)})
	}
	if err != nil {
		return err
	}
	return s.sendFile(c, rec, mimeWAV, `inline; filename="`+id+`.wav"`)
}

// sendFile answers with a file, or with the part of it that is asked for.
func (s *Server) sendFile(c *fiber.Ctx, rec ask.Recording, kind, disposition string) error {
	wanted := c.Get(fiber.HeaderRange)
	if c.Method() == fiber.MethodHead { // of which there is no part (RFC 9110 §14.2)
		wanted = ""
	}
	part, err := rangeOf(wanted, rec.Size)
	if err == nil && part.from > 0 {
		_, err = rec.Body.Seek(part.from, io.SeekStart)
	}
	if err != nil {
		_ = rec.Body.Close()
		if domain.CodeOf(err) != "" {
			c.Set(fiber.HeaderContentRange, fmt.Sprintf("bytes */%d", rec.Size))
		}
		return err
	}
	c.Set(fiber.HeaderContentType, kind)
	c.Set(fiber.HeaderAcceptRanges, "bytes")
	c.Set(fiber.HeaderContentDisposition, disposition)
	if !rec.Created.IsZero() {
		c.Set(fiber.HeaderLastModified, rec.Created.UTC().Format(http.TimeFormat))
	}
	if part.partial {
		c.Status(http.StatusPartialContent)
		c.Set(fiber.HeaderContentRange, fmt.Sprintf("bytes %d-%d/%d", part.from, part.from+part.size-1, rec.Size))
	}
	v := *router.RequestOf(c.UserContext())
	holds, stop := s.WatchCredential(s.Context(&v), &v)
	c.Context().SetBodyStream(&sound{
		Reader: io.LimitReader(rec.Body, part.size), body: rec.Body, conn: c.Context().Conn(), patience: s.cfg.WriteTimeout, holds: holds.Err, stop: stop,
	}, int(part.size))
	return nil
}

// sound is a recording on its way to a client that goes on reading.
type sound struct {
	io.Reader
	body     io.Closer
	conn     net.Conn
	patience time.Duration
	holds    func() error // an error once the credential has ended
	stop     func()
}

func (s *sound) Read(p []byte) (int, error) {
	if err := s.holds(); err != nil {
		return 0, err
	}
	if err := s.conn.SetWriteDeadline(time.Now().Add(s.patience)); err != nil {
		return 0, err
	}
	return s.Reader.Read(p)
}

// Close ends the reading.
func (s *sound) Close() error {
	s.stop()
	return s.body.Close()
}

// part of a file.
type part struct {
	from, size int64
	partial    bool
}

// rangeOf reads a Range header (RFC 9110, 14.2). What is no range of bytes, or
// more than one, is answered with the whole.
func rangeOf(header string, size int64) (part, error) {
	whole := part{size: size}
	spec, isBytes := strings.CutPrefix(header, "bytes=")
	first, last, isRange := strings.Cut(strings.TrimSpace(spec), "-")
	if !isBytes || !isRange || strings.Contains(spec, ",") {
		return whole, nil
	}
	none := &domain.Error{Code: router.CodeRangeNotSatisfiable, Message: fmt.Sprintf("The file has %d bytes.", size)}
	if first == "" {
		n, err := strconv.ParseInt(last, 10, 64)
		switch {
		case errors.Is(err, strconv.ErrRange):
			n = size
		case err != nil || n < 0:
			return whole, nil //nolint:nilerr // a range that cannot be read is no range (RFC 9110 14.2)
		}
		if n == 0 || size == 0 {
			return part{}, none
		}
		n = min(n, size)
		return part{from: size - n, size: n, partial: true}, nil
	}
	from, err := strconv.ParseInt(first, 10, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) || from < 0 {
		return whole, nil
	}
	to := size - 1
	if last != "" {
		n, err := strconv.ParseInt(last, 10, 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) || n < from {
			return whole, nil
		}
		to = min(to, n)
	}
	if from >= size {
		return part{}, none
	}
	return part{from: from, size: to - from + 1, partial: true}, nil
}
