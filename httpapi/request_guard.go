package httpapi

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
	"go.opentelemetry.io/otel/propagation"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/dashboard"
	"github.com/callboard/callboard/httpapi/forward"
	"github.com/callboard/callboard/httpapi/middleware"
	"github.com/callboard/callboard/httpapi/router"
)

// guard wraps the handler of all requests. It sets the request id, the body and the security headers, and recovers from
// panics. After the handler has run, it discards the unread remainder of the body.
func (s *Server) guard(next fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(rc *fasthttp.RequestCtx) {
		t := s.beginExchange(rc, rc.RequestBodyStream())
		t.Body.Framed, t.Body.Length = true, rc.Request.Header.ContentLength()
		id := t.Request.RequestID
		setSecurityHeaders(rc, id)
		if s.stopped.Load() {
			t.Routed = true
			respondPlainError(rc, http.StatusServiceUnavailable, id, domain.Errorf(domain.CodeUnavailable, "The service has been stopped.").With("retry_after", 1))
			rc.Response.Header.Set(forward.NotActive, "1")
			rc.SetConnectionClose()
			return
		}
		func() {
			defer func() {
				if r := recover(); r != nil {
					s.Log.Error("panic in a request", slog.String("request_id", id), slog.Any("panic", r), slog.String("stack", string(debug.Stack())))
					respondPlainError(rc, http.StatusInternalServerError, id, domain.Errorf(domain.CodeInternal, "Internal error. Quote the request id in a support request."))
				}
			}()
			if !s.rejectInvalidHeaders(rc) {
				next(rc)
			}
		}()
		if len(rc.Response.Header.PeekBytes(securityHeaders[0].name)) == 0 { // the handler has reset the response
			setSecurityHeaders(rc, id)
		}
		if s.cfg.Observe != nil {
			s.cfg.Observe(rc.Method(), rc.Response.StatusCode(), time.Since(t.Started))
		}
		if s.Log.Enabled(rc, slog.LevelDebug) {
			s.Log.LogAttrs(withTraceContext(rc, rc), slog.LevelDebug, "request", slog.String("request_id", id), slog.String("method", string(rc.Method())),
				slog.String("path", router.Truncate(string(rc.Path()), 200)), slog.Int("status", rc.Response.StatusCode()), slog.Duration("took", time.Since(t.Started)))
		}
		maxRest, timeout := int64(dashboard.MaxLongForm)+router.BodyBufferSize, 500*time.Millisecond // enough for the form of a page whose session has expired
		if t.Authenticated {
			maxRest, timeout = 32<<20, 3*time.Second
		}
		if !t.Body.Discard(maxRest, timeout) {
			rc.SetConnectionClose()
		}
	}
}

// beginExchange creates the Exchange of a request. stream is the request body, nil for none.
func (s *Server) beginExchange(rc *fasthttp.RequestCtx, stream io.Reader) *router.Exchange {
	t := &router.Exchange{
		Started: time.Now(),
		Body:    router.Body{Stream: stream, Conn: rc.Conn(), Limit: s.cfg.UploadLimit, Grace: s.cfg.BodyGrace, Rate: int64(s.cfg.BodyRate)},
	}
	t.Request.Router, t.Request.RequestID = s.Router, router.NewRequestID()
	rc.SetUserValue(router.ExchangeKey{}, t)
	return t
}

// securityHeaders are the headers that every response gets. Pages replace some of them. The names have the form in which
// fasthttp stores them.
var securityHeaders = [...]struct{ name, value []byte }{ //nolint:gochecknoglobals // a constant table
	{[]byte(fiber.HeaderXFrameOptions), []byte("DENY")},
	{[]byte(fiber.HeaderXContentTypeOptions), []byte("nosniff")},
	{[]byte(fiber.HeaderReferrerPolicy), []byte("no-referrer")},
	{[]byte(fiber.HeaderContentSecurityPolicy), []byte("default-src 'none'; frame-ancestors 'none'")},
	{[]byte(fiber.HeaderCacheControl), []byte("no-store")},
}

// setSecurityHeaders sets the security headers and the request id of a response.
func setSecurityHeaders(rc *fasthttp.RequestCtx, id string) {
	h := &rc.Response.Header
	for i := range securityHeaders {
		h.SetCanonical(securityHeaders[i].name, securityHeaders[i].value)
	}
	h.SetCanonical(requestIDHeader, []byte(id))
	if _, forwarded := rc.RemoteAddr().(forward.NodeAddr); rc.IsTLS() && !forwarded {
		h.Set(fiber.HeaderStrictTransportSecurity, "max-age=31536000")
	}
}

var requestIDHeader = []byte("X-Request-Id") //nolint:gochecknoglobals // a constant

// rejectInvalidHeaders answers a request with invalid headers before the request reaches a route. It returns false if
// the headers are valid.
func (s *Server) rejectInvalidHeaders(rc *fasthttp.RequestCtx) bool {
	status, e := middleware.CheckHeaders(rc)
	if e == nil {
		return false
	}
	router.ExchangeOf(rc).Routed = true
	c := s.App.AcquireCtx(rc)
	defer s.App.ReleaseCtx(c)
	_ = s.withRequestContext(c, func() error { return s.respondUnmatchedRoute(c, status, e) }) // writes to memory: cannot fail
	return true
}

// withTraceContext returns ctx with the trace context of a request (W3C Trace Context). It ignores an invalid
// traceparent header.
func withTraceContext(ctx context.Context, rc *fasthttp.RequestCtx) context.Context {
	const name = "traceparent"
	return propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{name: string(rc.Request.Header.Peek(name))})
}

// runInContext sets the context of a request and runs its remaining handlers.
func (s *Server) runInContext(c *fiber.Ctx) error { return s.withRequestContext(c, c.Next) }

// withRequestContext sets the context of a request and runs do. If do fails, it answers with the error before the
// context ends, because counting the error against a rate limit may have to wait.
func (s *Server) withRequestContext(c *fiber.Ctx, do func() error) error {
	t := router.ExchangeOf(c.Context())
	t.Routed = true
	v := &t.Request
	if from := t.PageRequest; from != nil {
		v.IP, v.UserAgent, v.Principal, v.Cookie = from.IP, from.UserAgent, from.Principal, from.Cookie
	} else {
		v.IP = middleware.ClientAddress(c, s.cfg.TrustedProxies)
		v.UserAgent = router.Truncate(string(c.Request().Header.UserAgent()), 200)
	}
	ctx, cancel := context.WithDeadline(withTraceContext(s.Context(v), c.Context()), t.Started.Add(s.cfg.RequestTimeout))
	defer cancel()
	c.SetUserContext(ctx)
	if err := do(); err != nil {
		return s.respondError(c, err)
	}
	return nil
}
