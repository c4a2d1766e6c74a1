package httpapi

import (
	"bytes"
	"net/http"
	"slices"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/router"
)

// maxHeaderSection is the maximum size of the header section of a request (RFC 9112
// §2.1) with its target, in bytes.
const maxHeaderSection = 16 << 10

var errLargeHeaders = &domain.Error{Code: router.CodeHeadersTooLarge, Message: "The headers of the request are larger than 16 kB."}

// rejectInvalidHeaders answers a request with headers that are too large or
// ambiguous, or with an unknown method, before any route. false: the headers are
// valid, and nothing was answered.
func (s *Server) rejectInvalidHeaders(rc *fasthttp.RequestCtx) bool {
	header := &rc.Request.Header
	status, e := 0, (*domain.Error)(nil)
	if len(header.RawHeaders())+len(header.RequestURI()) > maxHeaderSection {
		status, e = http.StatusRequestHeaderFieldsTooLarge, errLargeHeaders
	} else if e = findAmbiguousHeader(header.RawHeaders()); e != nil {
		status = http.StatusBadRequest
		rc.SetConnectionClose()
	} else if !slices.Contains(fiber.DefaultMethods, string(header.Method())) {
		status, e = http.StatusMethodNotAllowed, domain.Errorf(domain.CodeMethodNotAllowed, "There is no such method.")
		rc.Response.Header.Set(fiber.HeaderAllow, "GET, HEAD, POST, PUT, PATCH, DELETE")
	} else {
		return false
	}
	router.ExchangeOf(rc).Routed = true
	c := s.App.AcquireCtx(rc)
	defer s.App.ReleaseCtx(c)
	_ = s.withRequestContext(c, func() error { return s.answerUnmatchedRoute(c, status, e) }) // into memory: cannot fail
	return true
}

// findAmbiguousHeader returns an error where two servers may understand the raw
// header section differently (RFC 9112 §5.2, §6.3); nil: it is unambiguous.
func findAmbiguousHeader(raw []byte) *domain.Error {
	lengths, codings, credentials := 0, 0, 0
	for len(raw) > 0 {
		line := raw
		if end := bytes.IndexByte(raw, '\n'); end >= 0 {
			line, raw = raw[:end], raw[end+1:]
		} else {
			raw = nil
		}
		if len(line) > 0 && (line[0] == ' ' || line[0] == '\t') {
			return domain.Errorf(domain.CodeInvalidRequest, "A header must stand on one line.")
		}
		name, _, _ := bytes.Cut(line, []byte(":"))
		switch {
		case bytes.EqualFold(name, []byte(fiber.HeaderContentLength)):
			lengths++
		case bytes.EqualFold(name, []byte(fiber.HeaderTransferEncoding)):
			codings++
		case bytes.EqualFold(name, []byte(fiber.HeaderAuthorization)):
			credentials++
		}
	}
	switch {
	case lengths > 1 || codings > 1 || lengths > 0 && codings > 0:
		return domain.Errorf(domain.CodeInvalidRequest, "The length of the body must be said once, by Content-Length or by Transfer-Encoding.")
	case credentials > 1:
		return domain.Errorf(domain.CodeInvalidRequest, "A request has one Authorization header at most.")
	}
	return nil
}
