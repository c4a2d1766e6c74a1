package httpapi

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
	"go.opentelemetry.io/otel/propagation"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/forward"
	"github.com/callboard/callboard/httpapi/limit"
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/httpapi/v1/account"
	"github.com/callboard/callboard/httpapi/v1/agents"
	"github.com/callboard/callboard/httpapi/v1/calls"
	"github.com/callboard/callboard/httpapi/v1/campaigns"
	"github.com/callboard/callboard/httpapi/v1/events"
	"github.com/callboard/callboard/httpapi/v1/messaging"
	"github.com/callboard/callboard/httpapi/v1/operator"
	"github.com/callboard/callboard/httpapi/v1/telephony"
)

// Config sets the front door up. The zero value works.
type Config struct {
	Log            *slog.Logger
	PublicURL      string         // base of the URLs in answers; "": relative ones
	TrustedProxies []netip.Prefix // whose X-Forwarded-For counts
	// Certificate is asked at each handshake; nil: no TLS.
	Certificate    func() (*tls.Certificate, error)
	Version        string        // of the service, shown in the OpenAPI document
	Ears           bool          // words that a pathway expects can be heard here
	Text           bool          // whatever is said comes as text here
	ReadTimeout    time.Duration // for the header section of a request (15 s)
	IdleTimeout    time.Duration // of a kept connection (75 s)
	WriteTimeout   time.Duration // for an answer, or for a piece of a streamed one (30 s)
	RequestTimeout time.Duration // for the service to answer (40 s: a webhook's test may take 30)
	BodyGrace      time.Duration // how long a body may stall (20 s)
	BodyRate       int           // the fewest bytes per second of a body (1024)
	JSONLimit      int64         // bytes of a JSON body (10 MB)
	UploadLimit    int64         // bytes of an upload (1 GB)
	MaxConnections int           // 16384
	Heartbeat      time.Duration // between two signs of life on a stream of events (15 s)
	EventStreams   int           // of one workspace (100)
	// Elsewhere are the other parts of the install; nil: this is all of it.
	Elsewhere Elsewhere
	// Moves says whether this part has just begun to be given to another node;
	// nil: it never is.
	Moves func() bool
	// Nodes are those that live, and what each has. nil: this one is alone.
	Nodes func() []Place
	// Observe is told of each answer; method is valid until it returns. nil: nobody is.
	Observe func(method []byte, status int, took time.Duration)
}

func (c Config) filled() Config {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	for _, d := range []struct {
		at    *time.Duration
		value time.Duration
	}{
		{&c.ReadTimeout, 15 * time.Second},
		{&c.IdleTimeout, 75 * time.Second},
		{&c.WriteTimeout, 30 * time.Second},
		{&c.RequestTimeout, 40 * time.Second},
		{&c.BodyGrace, router.BodyGrace},
		{&c.Heartbeat, 15 * time.Second},
	} {
		if *d.at == 0 {
			*d.at = d.value
		}
	}
	if c.BodyRate == 0 {
		c.BodyRate = router.SlowestBody
	}
	if c.JSONLimit == 0 {
		c.JSONLimit = 10 << 20
	}
	if c.UploadLimit == 0 {
		c.UploadLimit = 1 << 30
	}
	if c.MaxConnections == 0 {
		c.MaxConnections = 16384
	}
	if c.EventStreams == 0 {
		c.EventStreams = 100
	}
	if c.Version == "" {
		c.Version = "dev"
	}
	c.PublicURL = strings.TrimRight(c.PublicURL, "/")
	return c
}

// Server is the front door.
type Server struct {
	*router.Router

	cfg           Config
	services      Services
	document      *document
	needsOperator map[string]router.Rule // that need an operator's credential
	limitedRoutes map[string]pathLimit   // that count against the limit of their path
	limits        limit.Limiter          // by workspace
	paths         limit.Limiter          // by workspace and path
	users         limit.Limiter          // by workspace and user
	strikes       limit.Limiter          // by address, without a good credential
	preflights    limit.Limiter          // by address, of pages that are let in
	polls         limit.Limiter          // by user, of the parts of pages that change
	operators     limit.Limiter          // by user, of the operator's page
	counts        *keeper                // of limits and paths
	tickets       tickets
	streams       limit.Concurrent // streams of events, by workspace
	pages         *pages
	otherNodes    *otherNodes
	listens       func() context.Context  // of those who listen to calls or events
	hush          context.CancelFunc      // ends it
	routed        fasthttp.RequestHandler // the routes, without what stands around them
	closed        atomic.Bool
	gone          atomic.Bool // shut down: what connections that were not idle still bring is refused
	end           context.CancelFunc
}

// workspaceRules are the ports that request bodies are validated against.
type workspaceRules struct {
	account.Workspaces
	telephony.Numbers
}

// countedWorkspaces bounds the counts of workspaces and their paths. They are
// never dropped below it: limits are not exceeded.
const countedWorkspaces = 1 << 20

// New builds the front door. It panics where a route is missing from the table
// of permissions: that is a fault of the program.
func New(cfg Config, services Services) *Server {
	cfg = cfg.filled()
	s := &Server{
		limits: limit.Limiter{Names: countedWorkspaces}, paths: limit.Limiter{Names: countedWorkspaces},
		cfg: cfg, services: services, pages: newPages(), needsOperator: router.OperatorRules(), limitedRoutes: limitsByRoute(),
	}
	documents := theDocuments()
	s.document = documents.document(cfg.Version, cfg.PublicURL)
	base, end := context.WithCancel(context.Background())
	s.counts = newKeeper(base, services.RateWindows, cfg.Log, &s.limits, &s.paths)
	live, hush := context.WithCancel(base)
	s.listens, s.hush = func() context.Context { return live }, hush
	s.end = end
	app := fiber.New(fiber.Config{
		AppName:                      "callboard",
		Immutable:                    true, // strings outlive their request
		StrictRouting:                true,
		CaseSensitive:                true,
		StreamRequestBody:            true,
		BodyLimit:                    int(min(cfg.UploadLimit, 1<<31-1)),
		DisablePreParseMultipartForm: true,
		ReadTimeout:                  cfg.ReadTimeout,
		WriteTimeout:                 cfg.WriteTimeout,
		IdleTimeout:                  cfg.IdleTimeout,
		ReadBufferSize:               2 * maxHeaderSection, // a header section that is a little too large is read, so that the sender is known
		Concurrency:                  cfg.MaxConnections,
		DisableStartupMessage:        true,
		DisableDefaultContentType:    true,
		ErrorHandler:                 func(c *fiber.Ctx, err error) error { return s.onError(c, err) },
		JSONEncoder:                  domain.EncodeJSON,
		JSONDecoder:                  domain.DecodeJSON,
	})
	s.otherNodes = &otherNodes{
		shards: cfg.Elsewhere, nodes: cfg.Nodes, version: cfg.Version, once: services.Idempotency,
		operators: services.Node, tenants: services.Operator.Workspaces, alerts: services.AlertSearch, requests: s.requestsLastMinute,
	}
	s.Router = router.New(documents.Registry, router.Config{
		App: app, Log: cfg.Log, PublicURL: cfg.PublicURL, JSONLimit: cfg.JSONLimit, WriteTimeout: cfg.WriteTimeout,
		Access: s, RateLimits: s, Idempotency: &idempotency{store: services.Idempotency, log: cfg.Log}, Forwarder: s.otherNodes, AuditLog: s, Workspaces: workspaceRules{services.Account.Workspaces, services.Telephony.Numbers},
		Context: func(v *router.Request) context.Context { return router.WithRequest(base, v) },
	})
	s.otherNodes.Router = s.Router
	server := app.Server()
	s.routed = server.Handler
	server.Handler = s.guard(s.routed)
	server.CloseOnShutdown = true
	server.ConnState = func(c net.Conn, state fasthttp.ConnState) {
		if own, ok := c.(interface{ NetConn() net.Conn }); ok {
			c = own.NetConn()
		}
		if between, ok := c.(forward.Idler); ok {
			between.Idles(state == fasthttp.StateNew || state == fasthttp.StateIdle)
		}
	}
	s.App.Use(s.enter, s.preflight)
	s.routes()
	s.App.Handler() // builds the routes: more than one listener is served
	return s
}

func (s *Server) routes() {
	s.streamRoute() // before the event by its id
	campaigns.Register(s.Router, s.services.Campaigns)
	account.Register(s.Router, s.services.Account)
	calls.Register(s.Router, s.services.Calls)
	s.listenRoutes()
	s.talkRoutes()
	s.talkPages()
	s.ticketRoutes()
	agents.Register(s.Router, s.services.Agents, agents.PathwaySpeech{Recognized: s.cfg.Ears, Transcribed: s.cfg.Text})
	messaging.Register(s.Router, s.services.Messaging)
	telephony.Register(s.Router, s.services.Telephony)
	s.tokenRoutes()
	s.oauthRoutes()
	s.userRoutes()
	s.rateLimitRoutes()
	operator.Register(s.Router, s.services.Operator)
	s.otherNodes.registerControls()
	events.Register(s.Router, s.services.Events)
	s.healthRoutes()
	s.documentRoutes()
	s.docsRoutes()
	s.boardRoutes()
}

// Serve answers requests until Shutdown. With a certificate in the Config it
// speaks TLS on the listener.
func (s *Server) Serve(ln net.Listener) error {
	if certificate := s.cfg.Certificate; certificate != nil {
		if _, err := certificate(); err != nil {
			return fmt.Errorf("httpapi: certificate: %w", err)
		}
		ln = tls.NewListener(ln, &tls.Config{
			MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"},
			GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return certificate() },
		})
	}
	if s.closed.Load() {
		return ln.Close()
	}
	return s.App.Listener(listener{ln})
}

// ServeNodes answers what other nodes of the install pass on, until Shutdown;
// see forward.Door.
func (s *Server) ServeNodes(ln net.Listener) error {
	if s.closed.Load() {
		return ln.Close()
	}
	return s.App.Server().Serve(listener{ln})
}

// Shutdown takes no new connection, lets the requests in flight finish until
// ctx ends, then cuts them off.
func (s *Server) Shutdown(ctx context.Context) error {
	s.closed.Store(true)
	s.hush()
	err := s.App.ShutdownWithContext(ctx)
	s.gone.Store(true)
	s.end()
	s.counts.flush(context.WithoutCancel(ctx))
	return err
}

// guard wraps all handlers. It sets the request id and the body of a request,
// recovers from panics, sets the security headers, and keeps the rest of a body from
// being read as the next request.
func (s *Server) guard(next fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(rc *fasthttp.RequestCtx) {
		t := s.begun(rc, rc.RequestBodyStream())
		t.Body.Framed, t.Body.Length = true, rc.Request.Header.ContentLength()
		id := t.Request.RequestID
		s.safely(rc, id)
		if s.gone.Load() {
			t.Routed = true
			plain(rc, http.StatusServiceUnavailable, id, domain.Errorf(domain.CodeUnavailable, "The service has been stopped.").With("retry_after", 1))
			rc.Response.Header.Set(forward.NotActive, "1")
			rc.SetConnectionClose()
			return
		}
		func() {
			defer func() {
				if r := recover(); r != nil {
					s.Log.Error("panic in a request", slog.String("request_id", id), slog.Any("panic", r), slog.String("stack", string(debug.Stack())))
					plain(rc, http.StatusInternalServerError, id, domain.Errorf(domain.CodeInternal, "Something went wrong here. Please quote the request id."))
				}
			}()
			if !s.rejectInvalidHeaders(rc) {
				next(rc)
			}
		}()
		if len(rc.Response.Header.PeekBytes(safety[0].name)) == 0 { // the answer was begun anew
			s.safely(rc, id)
		}
		if s.cfg.Observe != nil {
			s.cfg.Observe(rc.Method(), rc.Response.StatusCode(), time.Since(t.Started))
		}
		if s.Log.Enabled(rc, slog.LevelDebug) {
			s.Log.LogAttrs(withTraceContext(rc, rc), slog.LevelDebug, "request", slog.String("request_id", id), slog.String("method", string(rc.Method())),
				slog.String("path", router.Truncate(string(rc.Path()), 200)), slog.Int("status", rc.Response.StatusCode()), slog.Duration("took", time.Since(t.Started)))
		}
		most, within := int64(longForm)+router.BodyBufferSize, 500*time.Millisecond // a page that was left open is handed back what it sends
		if t.Authenticated {
			most, within = 32<<20, 3*time.Second
		}
		if !t.Body.Discard(most, within) {
			rc.SetConnectionClose()
		}
	}
}

// begun is the trip of a request whose body comes from a stream; nil: it has
// none.
func (s *Server) begun(rc *fasthttp.RequestCtx, stream io.Reader) *router.Exchange {
	t := &router.Exchange{
		Started: time.Now(),
		Body:    router.Body{Stream: stream, Conn: rc.Conn(), Limit: s.cfg.UploadLimit, Grace: s.cfg.BodyGrace, Rate: int64(s.cfg.BodyRate)},
	}
	t.Request.Router, t.Request.RequestID = s.Router, router.NewRequestID()
	rc.SetUserValue(router.ExchangeKey{}, t)
	return t
}

// safety are the headers of every answer, but for pages that say otherwise, as
// they stand on the wire.
var safety = [...]struct{ name, value []byte }{ //nolint:gochecknoglobals // a table
	{[]byte(fiber.HeaderXFrameOptions), []byte("DENY")},
	{[]byte(fiber.HeaderXContentTypeOptions), []byte("nosniff")},
	{[]byte(fiber.HeaderReferrerPolicy), []byte("no-referrer")},
	{[]byte(fiber.HeaderContentSecurityPolicy), []byte("default-src 'none'; frame-ancestors 'none'")},
	{[]byte(fiber.HeaderCacheControl), []byte("no-store")},
}

// safely sets the headers of safety and the request's id, before anything else
// is said.
func (s *Server) safely(rc *fasthttp.RequestCtx, id string) {
	h := &rc.Response.Header
	for i := range safety {
		h.SetCanonical(safety[i].name, safety[i].value)
	}
	h.SetCanonical(requestIDHeader, []byte(id))
	if _, passed := rc.RemoteAddr().(forward.NodeAddr); rc.IsTLS() && !passed {
		h.Set(fiber.HeaderStrictTransportSecurity, "max-age=31536000")
	}
}

var requestIDHeader = []byte("X-Request-Id") //nolint:gochecknoglobals // a constant

// plain answers below the router.
func plain(rc *fasthttp.RequestCtx, status int, id string, e *domain.Error) {
	kept := make(map[string]string)
	for _, name := range router.LimitHeaders() {
		if v := rc.Response.Header.Peek(name); len(v) > 0 {
			kept[name] = string(v)
		}
	}
	rc.Response.Reset()
	for name, v := range kept {
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

// withTraceContext returns ctx with the trace context that a request carries (W3C
// Trace Context). An invalid one is ignored.
func withTraceContext(ctx context.Context, rc *fasthttp.RequestCtx) context.Context {
	const name = "traceparent"
	return propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{name: string(rc.Request.Header.Peek(name))})
}

// enter runs the handlers of a request within its context.
func (s *Server) enter(c *fiber.Ctx) error { return s.withRequestContext(c, c.Next) }

// withRequestContext sets the context of a request and runs do. The response to an
// error of do is written before the context ends: counting the error against a limit
// may have to wait.
func (s *Server) withRequestContext(c *fiber.Ctx, do func() error) error {
	t := router.ExchangeOf(c.Context())
	t.Routed = true
	v := &t.Request
	if from := t.PageRequest; from != nil {
		v.IP, v.UserAgent, v.Principal, v.Cookie = from.IP, from.UserAgent, from.Principal, from.Cookie
	} else {
		v.IP = s.from(c)
		v.UserAgent = router.Truncate(string(c.Request().Header.UserAgent()), 200)
	}
	ctx, cancel := context.WithDeadline(withTraceContext(s.Context(v), c.Context()), t.Started.Add(s.cfg.RequestTimeout))
	defer cancel()
	c.SetUserContext(ctx)
	if err := do(); err != nil {
		return s.onError(c, err)
	}
	return nil
}

// from is the address that a request comes from. What another node passes on
// comes from whom that node names last.
func (s *Server) from(c *fiber.Ctx) netip.Addr {
	peer := c.Context().RemoteAddr()
	_, passed := peer.(forward.NodeAddr)
	var hops []string
	if passed || len(s.cfg.TrustedProxies) > 0 {
		hops = forwarded(c)
	}
	if passed {
		peer, hops = passedOn(hops)
	}
	return clientAddr(peer, hops, s.cfg.TrustedProxies)
}

func forwarded(c *fiber.Ctx) []string {
	var all []string
	for _, h := range c.Request().Header.PeekAll(fiber.HeaderXForwardedFor) {
		all = append(all, string(h))
	}
	return all
}

// onError answers what no handler of ours did: unknown routes and methods, and
// requests that could not even be read.
func (s *Server) onError(c *fiber.Ctx, err error) error {
	var fe *fiber.Error
	if !errors.As(err, &fe) {
		return s.RespondError(c, err)
	}
	e := &domain.Error{Code: router.CodeOfStatus(fe.Code)}
	switch fe.Code {
	case http.StatusNotFound:
		e.Message = "There is no such route."
	case http.StatusMethodNotAllowed:
		e.Message = "The route does not take this method."
	case http.StatusRequestHeaderFieldsTooLarge:
		e.Message = errLargeHeaders.Message
	case http.StatusRequestTimeout:
		e.Message = "The request came too slowly."
	case http.StatusRequestEntityTooLarge:
		e.Message = router.ErrBodyTooLarge.Message
	default:
		e.Message = "The request could not be read."
	}
	if !router.ExchangeOf(c.Context()).Routed { // the connection itself is in doubt
		c.Context().SetConnectionClose()
		s.safely(c.Context(), router.RequestID(c))
		if c.Get(fiber.HeaderAuthorization) == "" { // or the header section was not read that far
			return s.RespondError(c, &router.Failure{Status: fe.Code, RequestID: router.RequestID(c), Err: e})
		}
		return s.withRequestContext(c, func() error { return s.answerUnmatchedRoute(c, fe.Code, e) })
	}
	return s.answerUnmatchedRoute(c, fe.Code, e)
}
