// Package httpapi is the HTTP server of the API. It connects routing, authentication, rate limits, forwarding
// between nodes and the operations of the subpackages.
package httpapi

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"sync/atomic"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/alert"
	"github.com/callboard/callboard/httpapi/cluster"
	"github.com/callboard/callboard/httpapi/dashboard"
	"github.com/callboard/callboard/httpapi/forward"
	"github.com/callboard/callboard/httpapi/live"
	"github.com/callboard/callboard/httpapi/middleware"
	"github.com/callboard/callboard/httpapi/oauth"
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/httpapi/token"
	"github.com/callboard/callboard/httpapi/v1/account"
	"github.com/callboard/callboard/httpapi/v1/agents"
	"github.com/callboard/callboard/httpapi/v1/calls"
	"github.com/callboard/callboard/httpapi/v1/campaigns"
	"github.com/callboard/callboard/httpapi/v1/events"
	"github.com/callboard/callboard/httpapi/v1/messaging"
	"github.com/callboard/callboard/httpapi/v1/operator"
	"github.com/callboard/callboard/httpapi/v1/telephony"
)

// Server serves the API, the OAuth endpoints and the dashboard.
type Server struct {
	*router.Router

	cfg      Config
	services Services
	document *document
	access   *middleware.Access
	issuer   *token.Issuer
	cluster  *cluster.Cluster
	serve    fasthttp.RequestHandler // the handler of the routes, without the wrapper that guard adds
	life     func() context.Context  // the context of open connections
	endLive  context.CancelFunc      // ends event streams and WebSockets
	end      context.CancelFunc
	closed   atomic.Bool // the server accepts no connections
	stopped  atomic.Bool // requests on open connections are refused

	respondNotFoundPage fiber.Handler // answers browsers that open an unknown address
}

// bodyWorkspaces implements router.Workspaces, the data that request bodies are validated against.
type bodyWorkspaces struct {
	middleware.Workspaces
	Numbers
}

// New returns a server. It panics if a route is missing from the permission table, which is a programming error.
func New(cfg Config, services Services) *Server {
	cfg = cfg.withDefaults()
	documents := sharedDocuments()
	base, end := context.WithCancel(context.Background())
	live, endLive := context.WithCancel(base)
	s := &Server{
		cfg: cfg, services: services, document: documents.document(cfg.Version, cfg.PublicURL), issuer: token.NewIssuer(cfg.PublicURL, services.SigningKeys),
		life: func() context.Context { return live }, endLive: endLive, end: end,
	}
	s.cluster = cluster.New(cluster.Config{
		Shards: cfg.Shards, Nodes: cfg.Nodes, Version: cfg.Version, Services: services.Cluster,
		Requests: func(w *domain.Workspace) int { return s.access.Limits.RequestsLastMinute(w) },
	})
	s.access = middleware.NewAccess(base, middleware.Config{
		Log: cfg.Log, Registry: documents.Registry, Issuer: s.issuer, Services: services.Access, ShardMoves: cfg.ShardMoves, AcceptForwarded: s.cluster.AcceptForwarded,
	})
	s.Router = router.New(documents.Registry, router.Config{
		App: s.newApp(), Log: cfg.Log, PublicURL: cfg.PublicURL, JSONLimit: cfg.JSONLimit, WriteTimeout: cfg.WriteTimeout,
		Access: s.access, RateLimits: s.access.Limits, Idempotency: middleware.NewIdempotency(services.Replies, cfg.Log), Forwarder: s.cluster, AuditLog: s.access.Audit,
		Workspaces: bodyWorkspaces{services.Access.Workspaces, services.Numbers},
		Context:    func(v *router.Request) context.Context { return router.WithRequest(base, v) },
	})
	s.wrapConnections(s.App.Server())
	s.App.Use(s.runInContext, s.access.Origins.Preflight)
	s.registerRoutes()
	s.App.Handler() // builds the routes now, because several listeners are served
	return s
}

func (s *Server) newApp() *fiber.App {
	cfg := &s.cfg
	return fiber.New(fiber.Config{
		AppName:                      "callboard",
		Immutable:                    true, // strings remain valid after their request
		StrictRouting:                true,
		CaseSensitive:                true,
		StreamRequestBody:            true,
		BodyLimit:                    int(min(cfg.UploadLimit, 1<<31-1)),
		DisablePreParseMultipartForm: true,
		ReadTimeout:                  cfg.ReadTimeout,
		WriteTimeout:                 cfg.WriteTimeout,
		IdleTimeout:                  cfg.IdleTimeout,
		ReadBufferSize:               2 * middleware.MaxHeaderSection, // room for a slightly too large header section, so that the client is known
		Concurrency:                  cfg.MaxConnections,
		DisableStartupMessage:        true,
		DisableDefaultContentType:    true,
		ErrorHandler:                 func(c *fiber.Ctx, err error) error { return s.respondError(c, err) },
		JSONEncoder:                  domain.EncodeJSON,
		JSONDecoder:                  domain.DecodeJSON,
	})
}

// wrapConnections installs the handler that wraps all requests, and the handler of connection state changes.
func (s *Server) wrapConnections(server *fasthttp.Server) {
	s.serve = server.Handler
	server.Handler = s.guard(s.serve)
	server.CloseOnShutdown = true
	server.ConnState = func(c net.Conn, state fasthttp.ConnState) {
		if own, ok := c.(interface{ NetConn() net.Conn }); ok {
			c = own.NetConn()
		}
		if between, ok := c.(forward.IdleTracker); ok {
			between.SetIdle(state == fasthttp.StateNew || state == fasthttp.StateIdle)
		}
	}
}

// registerRoutes registers all routes. For the OpenAPI document it runs on a server without services.
func (s *Server) registerRoutes() {
	s.cluster.Register(s.Router)
	live.Register(s.life(), s.Router, live.Config{ // before GET /v1/events/{id}, whose pattern also matches /v1/events/stream
		Access: s.access, Heartbeat: s.cfg.Heartbeat, EventStreams: s.cfg.EventStreams, Services: s.services.Live,
	})
	campaigns.Register(s.Router, s.services.Campaigns)
	account.Register(s.Router, s.services.Account, s.issuer, s.access.Limits)
	calls.Register(s.Router, s.services.Calls)
	agents.Register(s.Router, s.services.Agents, s.cfg.Speech)
	messaging.Register(s.Router, s.services.Messaging)
	telephony.Register(s.Router, s.services.Telephony)
	oauth.Register(s.Router, s.access, s.issuer, s.services.OAuth)
	operator.Register(s.Router, s.services.Operator, s.cluster)
	events.Register(s.Router, s.services.Events)
	s.registerHealth()
	s.registerDocument()
	s.respondNotFoundPage = dashboard.Register(s.Router, dashboard.Config{Access: s.access, Sessions: s.services.Sessions, ServeAPI: s.serve, BeginExchange: s.beginExchange})
}

// Serve serves requests until Shutdown. If Config has a certificate, Serve uses TLS on the listener.
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

// ServeNodes serves requests that other nodes forward, until Shutdown. The listener comes from forward.ConnRouter.
func (s *Server) ServeNodes(ln net.Listener) error {
	if s.closed.Load() {
		return ln.Close()
	}
	return s.App.Server().Serve(listener{ln})
}

// SearchAlerts requests from the other shards the results of alert rules for their workspaces.
func (s *Server) SearchAlerts(ctx context.Context, rules []*domain.AlertRule) alert.PeerFindings {
	return s.cluster.SearchAlerts(ctx, rules)
}

// Shutdown stops accepting connections and waits until running requests have ended or ctx ends. Then it closes the
// remaining connections.
func (s *Server) Shutdown(ctx context.Context) error {
	s.closed.Store(true)
	s.endLive()
	err := s.App.ShutdownWithContext(ctx)
	s.stopped.Store(true)
	s.end()
	s.access.Limits.WriteCounts(context.WithoutCancel(ctx))
	return err
}
