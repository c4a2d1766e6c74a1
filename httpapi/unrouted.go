package httpapi

import (
	"bytes"
	"net/http"
	"slices"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/callboard/callboard/domain"
)

// maxHead bounds the head of a request: its first line and its headers.
const maxHead = 16 << 10

var errLargeHead = &domain.Error{Code: codeHeaders, Message: "The head of the request is larger than 16 kB."}

// refuseHead answers a request whose head no route may see: one that is too
// large, that servers might read differently, or that has an unknown method.
// false: the head is good.
func (s *Server) refuseHead(rc *fasthttp.RequestCtx) bool {
	head := &rc.Request.Header
	status, e := 0, (*domain.Error)(nil)
	if len(head.RawHeaders())+len(head.RequestURI()) > maxHead {
		status, e = http.StatusRequestHeaderFieldsTooLarge, errLargeHead
	} else if e = doubtful(head.RawHeaders()); e != nil {
		status = http.StatusBadRequest
		rc.SetConnectionClose()
	} else if !slices.Contains(fiber.DefaultMethods, string(head.Method())) {
		status, e = http.StatusMethodNotAllowed, domain.Errorf(domain.CodeMethodNotAllowed, "There is no such method.")
		rc.Response.Header.Set(fiber.HeaderAllow, "GET, HEAD, POST, PUT, PATCH, DELETE")
	} else {
		return false
	}
	tripOf(rc).routed = true
	c := s.app.AcquireCtx(rc)
	defer s.app.ReleaseCtx(c)
	_ = s.withinContext(c, func() error { return s.answerUnrouted(c, status, e) }) // into memory: cannot fail
	return true
}

// answerUnrouted answers a request that reaches no route. It counts like any
// other request, and gets its own answer also where its sender is over the limit.
func (s *Server) answerUnrouted(c *fiber.Ctx, status int, e *domain.Error) error {
	_ = s.countUnrouted(c) // sets the headers of the rate limit
	return s.refuse(c, &Failure{status: status, requestID: requestID(c), err: e})
}

// countUnrouted counts a request that reaches no route against the workspace of
// its credential, else against its address.
func (s *Server) countUnrouted(c *fiber.Ctx) error {
	v := visitOf(c.UserContext())
	if len(c.Request().Header.PeekAll(fiber.HeaderAuthorization)) != 1 {
		return s.strike(c, v)
	}
	if err := s.identify(c, v); err != nil {
		return err
	}
	return s.pace(c, v.principal)
}

// doubtful says what in the head of a request two servers might read
// differently, as it came (RFC 9112 §5.2, §6.3); nil: nothing.
func doubtful(head []byte) *domain.Error {
	lengths, codings, credentials := 0, 0, 0
	for len(head) > 0 {
		line := head
		if end := bytes.IndexByte(head, '\n'); end >= 0 {
			line, head = head[:end], head[end+1:]
		} else {
			head = nil
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
