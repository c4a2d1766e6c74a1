package middleware

import (
	"bytes"
	"net/http"
	"slices"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/router"
)

// MaxHeaderSection is the maximum size in bytes of the header section of a request (RFC 9112 §2.1), including the
// request target.
const MaxHeaderSection = 16 << 10

// ErrLargeHeaders is the error of a request whose header section is too large.
var ErrLargeHeaders = &domain.Error{Code: router.CodeHeadersTooLarge, Message: "The headers of the request are larger than 16 kB."}

// CheckHeaders returns the status and the error for a request with too large or ambiguous headers, or with an
// unknown method. The error is nil for valid headers.
func CheckHeaders(rc *fasthttp.RequestCtx) (status int, e *domain.Error) {
	header := &rc.Request.Header
	if len(header.RawHeaders())+len(header.RequestURI()) > MaxHeaderSection {
		return http.StatusRequestHeaderFieldsTooLarge, ErrLargeHeaders
	}
	if e = findAmbiguousHeader(header.RawHeaders()); e != nil {
		rc.SetConnectionClose()
		return http.StatusBadRequest, e
	}
	if !slices.Contains(fiber.DefaultMethods, string(header.Method())) {
		rc.Response.Header.Set(fiber.HeaderAllow, "GET, HEAD, POST, PUT, PATCH, DELETE")
		return http.StatusMethodNotAllowed, domain.Errorf(domain.CodeMethodNotAllowed, "There is no such method.")
	}
	return 0, nil
}

// findAmbiguousHeader returns an error if two servers could interpret the raw header section differently (RFC 9112
// §5.2, §6.3), otherwise nil.
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
			return domain.Errorf(domain.CodeInvalidRequest, "A header must be on one line.")
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
		return domain.Errorf(domain.CodeInvalidRequest, "Declare the length of the body once, by Content-Length or by Transfer-Encoding.")
	case credentials > 1:
		return domain.Errorf(domain.CodeInvalidRequest, "A request must have at most one Authorization header.")
	}
	return nil
}
