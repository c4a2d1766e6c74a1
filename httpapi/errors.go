package httpapi

import (
	"errors"
	"net/http"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/middleware"
	"github.com/callboard/callboard/httpapi/router"
)

// respondError answers a request with an error of its handler or of Fiber. Fiber reports unknown routes, unknown methods
// and unreadable requests as fiber.Error.
func (s *Server) respondError(c *fiber.Ctx, err error) error {
	var fe *fiber.Error
	if !errors.As(err, &fe) {
		return s.RespondError(c, err)
	}
	e := &domain.Error{Code: router.CodeOfStatus(fe.Code)}
	switch fe.Code {
	case http.StatusNotFound:
		e.Message = "There is no such route."
	case http.StatusMethodNotAllowed:
		e.Message = "The route does not support this method."
	case http.StatusRequestHeaderFieldsTooLarge:
		e.Message = middleware.ErrLargeHeaders.Message
	case http.StatusRequestTimeout:
		e.Message = "The request arrived too slowly."
	case http.StatusRequestEntityTooLarge:
		e.Message = router.ErrBodyTooLarge.Message
	default:
		e.Message = "The request could not be read."
	}
	if !router.ExchangeOf(c.Context()).Routed { // the end of the request on the connection is unknown
		c.Context().SetConnectionClose()
		setSecurityHeaders(c.Context(), router.RequestID(c))
		if c.Get(fiber.HeaderAuthorization) == "" { // the request has no credential, or the server has not read that header
			return s.RespondError(c, &router.Failure{Status: fe.Code, RequestID: router.RequestID(c), Err: e})
		}
		return s.withRequestContext(c, func() error { return s.respondUnmatchedRoute(c, fe.Code, e) })
	}
	return s.respondUnmatchedRoute(c, fe.Code, e)
}

// respondUnmatchedRoute answers a request that matches no route with the error e. The request counts against the rate
// limit, but a client over the limit also gets e.
func (s *Server) respondUnmatchedRoute(c *fiber.Ctx, status int, e *domain.Error) error {
	_ = s.access.CountUnmatchedRoute(c) // sets the headers of the rate limit
	if status == http.StatusNotFound && c.Method() == http.MethodGet && !strings.HasPrefix(c.Path(), "/v1/") && strings.Contains(c.Get(fiber.HeaderAccept), fiber.MIMETextHTML) {
		return s.respondNotFoundPage(c)
	}
	return s.RespondError(c, &router.Failure{Status: status, RequestID: router.RequestID(c), Err: e})
}

// respondPlainError writes an error response directly to fasthttp, for requests that Fiber does not answer.
func respondPlainError(rc *fasthttp.RequestCtx, status int, id string, e *domain.Error) {
	named := make(map[string]string)
	for _, name := range router.LimitHeaders() {
		if v := rc.Response.Header.Peek(name); len(v) > 0 {
			named[name] = string(v)
		}
	}
	rc.Response.Reset()
	for name, v := range named {
		rc.Response.Header.Set(name, v)
	}
	rc.Response.SetStatusCode(status)
	f := &router.Failure{Status: status, RequestID: id, Err: e}
	text, err := f.MarshalJSON()
	if err != nil {
		return
	}
	rc.Response.Header.SetContentType(fiber.MIMEApplicationJSON)
	rc.Response.SetBody(append(text, '\n'))
}
