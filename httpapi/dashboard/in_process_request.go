package dashboard

import (
	"io"
	"log/slog"
	"net/http"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/callboard/callboard/httpapi/forward"
	"github.com/callboard/callboard/httpapi/router"
)

// requestAPI sends a request of a dashboard page to the API within the process. The API route checks permissions and
// writes the audit entry. Changes count against the rate limits, repeated requests do not.
func (s *handler) requestAPI(c *fiber.Ctx, v *router.Request, repeated bool, method, path, contentType, idempotencyKey string, content io.Reader) (status int, answer []byte) {
	var rc fasthttp.RequestCtx
	rc.Init2(c.Context().Conn(), nil, false)
	req := &rc.Request
	req.Header.SetMethod(method)
	req.SetRequestURI(path)
	req.Header.SetHostBytes(c.Request().Host())
	if contentType != "" {
		req.Header.SetContentType(contentType)
	}
	if idempotencyKey != "" {
		req.Header.Set(router.IdempotencyHeader, idempotencyKey)
	}
	if content != nil {
		req.Header.SetContentLength(-1)
		if sized, ok := content.(interface{ Len() int }); ok {
			req.Header.SetContentLength(sized.Len())
		}
	}
	t := s.BeginExchange(&rc, content)
	t.PageRequest, t.Repeated = v, repeated
	s.ServeAPI(&rc)
	status = rc.Response.StatusCode()
	switch outer := router.ExchangeOf(c.Context()); {
	case method != http.MethodGet && status < http.StatusBadRequest:
		outer.Changed = true
		c.Response().Header.Del(forward.NotActive)
	case !outer.Changed && len(rc.Response.Header.Peek(forward.NotActive)) > 0: // nothing has changed yet, so another node can handle the whole request
		c.Set(forward.NotActive, "1")
	case len(rc.Response.Header.Peek(forward.NotActive)) > 0:
		s.Log.Warn("request refused: another node is taking over the workspace after a part of the page's changes", slog.String("request_id", t.Request.RequestID))
	}
	return status, append([]byte(nil), rc.Response.Body()...)
}

// download answers with the file at an API path. The file is streamed.
func (s *handler) download(c *fiber.Ctx, r Route, v *router.Request, path string) error {
	rc := new(fasthttp.RequestCtx)
	rc.Init2(c.Context().Conn(), nil, false)
	rc.Request.Header.SetMethod(http.MethodGet)
	rc.Request.SetRequestURI(path)
	rc.Request.Header.SetHostBytes(c.Request().Host())
	s.BeginExchange(rc, nil).PageRequest = v
	s.ServeAPI(rc)
	if rc.Response.StatusCode() != http.StatusOK {
		err := decodeResult(rc.Response.StatusCode(), rc.Response.Body())(new(object))
		if p, ok := err.(*problem); ok { //nolint:errorlint // decodeResult wraps no errors
			return s.respondUnsent(c, r, p.Status, "This file is unavailable", p.Message)
		}
		return s.respondUnsent(c, r, http.StatusConflict, "This file is unavailable", "It is still being written. Try again in a zonedTime.")
	}
	c.Set(fiber.HeaderContentType, string(rc.Response.Header.ContentType()))
	disposition := string(rc.Response.Header.Peek(fiber.HeaderContentDisposition))
	if disposition == "" {
		disposition = "attachment"
	}
	c.Set(fiber.HeaderContentDisposition, disposition)
	if rc.Response.IsBodyStream() {
		c.Context().SetBodyStream(rc.Response.BodyStream(), rc.Response.Header.ContentLength())
		return nil
	}
	return c.Send(append([]byte(nil), rc.Response.Body()...))
}
