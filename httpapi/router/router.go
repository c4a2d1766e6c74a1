package router

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/validation"
)

// Router registers the operations of one server and runs their handlers. Handlers respond, stream and decode merge
// patches with it.
type Router struct {
	*Registry // shared by all routers of the process

	registering  bool           // routes are added to the Registry and not served
	App          *fiber.App     // the application that serves the routes
	handlers     map[string]any // handlers of JSON routes, by route
	Log          *slog.Logger
	PublicURL    string // base URL of links in responses; "": links are relative
	JSONLimit    int64  // maximum size of a JSON body in bytes
	writeTimeout time.Duration
	access       Access
	limits       RateLimits
	idempotency  Idempotency
	forwarder    Forwarder
	audit        AuditLog
	workspaces   Workspaces
	Context      func(*Request) context.Context // returns a context that ends with the server
}

// Config configures a Router. All fields except PublicURL are required.
type Config struct {
	App          *fiber.App
	Log          *slog.Logger
	PublicURL    string        // base URL of links in responses; "": links are relative
	JSONLimit    int64         // maximum size of a JSON body in bytes
	WriteTimeout time.Duration // for each part of a streamed response
	Access       Access
	RateLimits   RateLimits
	Idempotency  Idempotency
	Forwarder    Forwarder
	AuditLog     AuditLog
	Workspaces   Workspaces
	// Context returns a context for work that may outlive its request. The context ends with the server.
	Context func(*Request) context.Context
}

// New returns the router of a server.
func New(b *Registry, cfg Config) *Router {
	return &Router{
		Registry: b, App: cfg.App, handlers: make(map[string]any), Log: cfg.Log, PublicURL: cfg.PublicURL, JSONLimit: cfg.JSONLimit,
		writeTimeout: cfg.WriteTimeout, access: cfg.Access, limits: cfg.RateLimits, idempotency: cfg.Idempotency, forwarder: cfg.Forwarder, audit: cfg.AuditLog,
		workspaces: cfg.Workspaces, Context: cfg.Context,
	}
}

// Access checks which requests may use a route.
type Access interface {
	// Admit authenticates a request, counts it against the rate limits and checks its permissions. It sets the principal
	// of the request.
	Admit(c *fiber.Ctx, r AccessRule, route string) error
	// WatchCredential returns a context that ends once the credential of the request is invalid. cancel stops the
	// checks.
	WatchCredential(ctx context.Context, v *Request) (_ context.Context, cancel context.CancelFunc)
}

// RateLimits counts requests of routes that check access themselves instead of by Access.Admit.
type RateLimits interface {
	// CountRequest counts a request against the rate limits of its workspace and its user.
	CountRequest(c *fiber.Ctx, p domain.Principal) error
	// CountFailure counts a request without a valid credential against the rate limit of its address.
	CountFailure(c *fiber.Ctx, v *Request) error
}

// Idempotency runs a request at most once per Idempotency-Key.
type Idempotency interface {
	// RunOnce runs a request whose body was read before.
	RunOnce(c *fiber.Ctx, body []byte, run func())
	// RunStreamOnce runs a request whose handler reads the body itself.
	RunStreamOnce(c *fiber.Ctx, run func() error) error
}

// Forwarder sends requests to the node that owns their shard.
type Forwarder interface {
	// Forward answers a request with the response of another node. It returns false if this node must handle the
	// request.
	Forward(c *fiber.Ctx, route string, body []byte) (bool, error)
}

// AuditLog writes audit entries for the use of routes.
type AuditLog interface {
	// RecordWithChange adds the audit entry of a request to its context. The change that the handler makes then commits
	// the entry in the same transaction.
	RecordWithChange(c *fiber.Ctx, r AccessRule)
	// RecordResponse writes the audit entry of a successful request, unless the handler's change has committed it.
	RecordResponse(c *fiber.Ctx, r AccessRule)
}

// Workspaces returns the data that request bodies are validated against.
type Workspaces interface {
	// Workspace returns the workspace of a principal. It reads from memory only.
	Workspace(ctx context.Context, p domain.Principal) (*domain.Workspace, error)
	// CallerIDs returns the numbers that calls of the workspace may show as caller ID.
	CallerIDs(ctx context.Context, p domain.Principal) ([]string, error)
}

// Workspace returns the workspace of a principal.
func (s *Router) Workspace(ctx context.Context, p domain.Principal) (*domain.Workspace, error) {
	return s.workspaces.Workspace(ctx, p)
}

// CallerIDs returns the numbers that calls of a principal may show as caller ID.
func (s *Router) CallerIDs(ctx context.Context, p domain.Principal) ([]string, error) {
	return s.workspaces.CallerIDs(ctx, p)
}

// Admit authenticates a request, counts it against the rate limits and checks its permissions.
func (s *Router) Admit(c *fiber.Ctx, rule AccessRule, route string) error {
	return s.access.Admit(c, rule, route)
}

// CountRequest counts a request that Admit has not counted against the rate limits.
func (s *Router) CountRequest(c *fiber.Ctx, p domain.Principal) error {
	return s.limits.CountRequest(c, p)
}

// CountFailure counts a request without a valid credential against the rate limit of its address.
func (s *Router) CountFailure(c *fiber.Ctx, v *Request) error { return s.limits.CountFailure(c, v) }

// RunStreamOnce runs a request at most once per Idempotency-Key. The handler run reads the body itself.
func (s *Router) RunStreamOnce(c *fiber.Ctx, run func() error) error {
	return s.idempotency.RunStreamOnce(c, run)
}

// serveJSON serves a JSON route with the handler that huma has created for it.
func (s *Router) serveJSON(op Operation) {
	path := fiberPath(op.Path)
	s.App.Add(op.Method, path, s.jsonHandlers[op.Method+" "+path])
	if op.Method == http.MethodGet {
		s.App.Add(http.MethodHead, path, s.jsonHandlers[http.MethodHead+" "+path])
	}
}

// ValidationLimits returns the limits and caller IDs of a workspace for the validation of campaigns and calls.
func ValidationLimits(ctx context.Context, s Workspaces, p domain.Principal) (validation.Limits, error) {
	w, err := s.Workspace(ctx, p)
	if err != nil {
		return validation.Limits{}, err
	}
	ids, err := s.CallerIDs(ctx, p)
	if err != nil {
		return validation.Limits{}, err
	}
	return validation.Limits{
		Limits: w.Limits, DefaultCountry: w.DefaultCountry, DefaultDNC: w.DefaultDNC,
		CallerIDs: ids, Test: p.Environment == domain.Test, Now: time.Now().UTC(),
	}, nil
}
