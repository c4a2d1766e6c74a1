package dashboard

import (
	"io"
	"math"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/access"
	"github.com/callboard/callboard/httpapi/connstate"
	"github.com/callboard/callboard/httpapi/middleware"
	"github.com/callboard/callboard/httpapi/pages"
	"github.com/callboard/callboard/httpapi/router"
)

// sharedDashboard returns the dashboard that all servers of a process use.
var sharedDashboard = sync.OnceValue(New) //nolint:gochecknoglobals // never changed

// Prepare parses the page templates before the first server needs them, so that the server starts faster.
func Prepare() { sharedDashboard() }

// Config configures the handlers of the dashboard.
type Config struct {
	Access   *middleware.Access
	Sessions Sessions
	// ServeAPI runs an API request within the process.
	ServeAPI fasthttp.RequestHandler
	// BeginExchange returns the Exchange of an API request. body is the request body, nil if there is none.
	BeginExchange func(rc *fasthttp.RequestCtx, body io.Reader) *router.Exchange
}

// handler serves the dashboard requests of browsers.
type handler struct {
	*router.Router
	Config

	dashboard *Dashboard
}

// Register registers the routes of the dashboard. Its pages send API requests within the process, as docs/adr/0070
// explains. It returns the handler of unknown addresses.
func Register(r *router.Router, cfg Config) (notFound fiber.Handler) {
	s := &handler{Router: r, Config: cfg, dashboard: sharedDashboard()}
	for _, route := range Routes() {
		s.App.Add(route.Method, route.Path, func(c *fiber.Ctx) error { return s.servePage(c, route) })
	}
	s.App.Get("/assets/:name", func(c *fiber.Ctx) error {
		a := FindAsset(c.Params("name"))
		if a == nil {
			return fiber.ErrNotFound
		}
		c.Set(fiber.HeaderContentType, a.Type)
		c.Set(fiber.HeaderCacheControl, "public, max-age=31536000, immutable")
		return sendCompressed(c, a.Content, a.Gzip)
	})
	s.App.Post("/theme", s.setTheme)
	s.App.Post("/environment", s.setEnvironment)
	return s.serveNotFound
}

// serveNotFound answers a browser that opens an unknown address.
func (s *handler) serveNotFound(c *fiber.Ctx) error {
	r := Route{Method: http.MethodGet}
	u, session, err := s.authenticateVisitor(c, r)
	switch {
	case domain.CodeOf(err) == domain.CodeAuthenticationRequired:
		return pages.RespondMessage(c, http.StatusNotFound, "Page not found", "There is no page at this address.")
	case err != nil:
		return s.respondError(c, r, err)
	}
	return s.respondNotFound(c, u, session)
}

// servePage answers a browser's request for a dashboard page or a form action.
func (s *handler) servePage(c *fiber.Ctx, r Route) error {
	v := router.RequestOf(c.UserContext())
	u, session, err := s.authenticateVisitor(c, r)
	if domain.CodeOf(err) == domain.CodeAuthenticationRequired {
		return s.respondSignedOut(c, r)
	}
	if err != nil {
		return s.respondError(c, r, err)
	}
	if r.Method != http.MethodGet && !pages.IsSameOrigin(c, s.PublicURL) {
		return pages.RespondMessage(c, http.StatusForbidden, "This page has expired", "Reload it.")
	}
	if !isPathSegment(c.Params("id")) || !isPathSegment(c.Params("verb")) || r.Operator && !s.isOperator(c, u, session) {
		if isPageUpdate(c) { // the browser reloads the page, which then shows the message
			c.Set("HX-Refresh", "true")
		}
		return s.respondNotFound(c, u, session)
	}
	rights := u.Role.Permissions()
	v.Principal, v.Cookie = domain.Principal{
		WorkspaceID: u.WorkspaceID, Environment: session.EnvironmentFor(u), UserID: u.ID, Permissions: rights,
		Operator: r.Operator, UsesSession: true, // operator permissions apply on the operator's page only
		SignInKeyID: session.CreatedBy.KeyID(),
	}, c.Cookies(middleware.SessionCookie)
	if r.NeedsRecentSignIn && !session.IsFresh(time.Now()) {
		return s.respondUnsent(c, r, http.StatusForbidden, "Sign in again", "Creating a credential needs a sign-in within the last 15 minutes. Open a new sign-in link, then come back. Nothing was created.")
	}
	w, err := s.Workspace(c.UserContext(), v.Principal)
	if err != nil {
		return s.respondError(c, r, err)
	}
	if r.Needs != "" && !access.Covers(rights, domain.Permission(r.Needs)) {
		return s.respondForbidden(c, visitorOf(c, u, session, w))
	}
	query, err := url.ParseQuery(string(c.Request().URI().QueryString()))
	if err != nil {
		return s.respondError(c, r, domain.Errorf(domain.CodeInvalidRequest, "The query is invalid."))
	}
	sent := make(map[string]bool) // requests that the page has sent; a repeated request does not count against the limits
	req := &Request{
		Method: r.Method, Path: c.Path(),
		ID: c.Params("id"), Verb: c.Params("verb"), Query: query, Part: query.Get("part"), Dialog: c.Get(dialogHeader) != "", Schemas: s.Registry,
		Visitor: visitorOf(c, u, session, w),
		API: func(method, path, contentType, idempotencyKey string, body io.Reader) (int, []byte) {
			name := method + " " + path + " " + idempotencyKey
			repeated := idempotencyKey != "" && sent[name]
			sent[name] = true
			return s.requestAPI(c, v, repeated, method, path, contentType, idempotencyKey, body)
		},
		Ended: c.UserContext().Done, Gone: func() bool { return connstate.PeerClosed(c.Context().Conn()) },
	}
	switch {
	case r.Upload:
		req.ContentType, req.Body = c.Get(fiber.HeaderContentType), router.BodyOf(c)
	case r.Method != http.MethodGet && c.Request().Header.ContentLength() != 0:
		if req.Form, err = readPageForm(c, maxForm(r), math.MaxInt); err != nil {
			if domain.CodeOf(err) != domain.OAuthInvalidRequest {
				return s.respondError(c, r, err)
			}
			return s.respondInvalidForm(c)
		}
		router.ExchangeOf(c.Context()).Form = req.Form
	}
	page := s.dashboard.Serve(r, req)
	switch {
	case page.Fault != nil:
		return s.respondError(c, r, page.Fault)
	case page.Download != "":
		return s.download(c, r, v, page.Download)
	}
	return respondPage(c, page)
}

// respondForbidden answers a user whose role does not permit a page or an action. The audit log names tried actions.
func (s *handler) respondForbidden(c *fiber.Ctx, visitor Visitor) error {
	if c.Method() != http.MethodGet {
		s.Access.Audit.NoteFailure(c.UserContext(), router.RequestOf(c.UserContext()), domain.CodeInsufficientPermissions)
	}
	return respondPage(c, s.dashboard.Forbidden(c.Path(), visitor))
}

// respondNotFound answers a signed-in user with the page for an unknown address.
func (s *handler) respondNotFound(c *fiber.Ctx, u *domain.User, session *domain.Session) error {
	w, err := s.Workspace(c.UserContext(), domain.Principal{WorkspaceID: u.WorkspaceID, Environment: session.EnvironmentFor(u)})
	if err != nil {
		return s.respondError(c, Route{Method: http.MethodGet}, err)
	}
	return respondPage(c, s.dashboard.NotFound(c.Path(), visitorOf(c, u, session, w)))
}

// visitorOf returns what pages know of the signed-in user.
func visitorOf(c *fiber.Ctx, u *domain.User, session *domain.Session, w *domain.Workspace) Visitor {
	rights := u.Role.Permissions()
	return Visitor{
		Name: u.Name, Role: string(u.Role), Workspace: w.Name, Test: session.EnvironmentFor(u) == domain.Test, TestOnly: u.Environment == domain.Test, Fresh: session.IsFresh(time.Now()), Operator: session.IsOperator(u),
		Theme: themeOf(c.Cookies(themeCookie)), Zone: zoneOf(c.Cookies(zoneCookie)),
		Rights: func(right string) bool { return access.Covers(rights, domain.Permission(right)) },
	}
}

// isOperator reports whether a user may use the operator's page. It writes an audit entry if a user who may not use
// the page submits a form of it.
func (s *handler) isOperator(c *fiber.Ctx, u *domain.User, session *domain.Session) bool {
	is := session.IsOperator(u)
	if !is && c.Method() != http.MethodGet {
		s.Access.Audit.NoteFailure(c.UserContext(), router.RequestOf(c.UserContext()), domain.CodeOperatorRequired)
	}
	return is
}

// respondSignedOut answers a request without a session with the sign-in page. If the request has a form, the page
// offers to submit the form again.
func (s *handler) respondSignedOut(c *fiber.Ctx, r Route) error {
	v := router.RequestOf(c.UserContext())
	if c.Get("HX-Request") == "true" { // the browser reloads the page and stops its updates
		if limited := s.Access.Limits.CountSignedOutUpdate(c, v); limited != nil {
			return s.respondLimited(c, limited)
		}
		c.Set("HX-Refresh", "true")
		return respondPage(c, s.dashboard.SignedOut())
	}
	if limited := s.Access.Limits.CountFailure(c, v); limited != nil {
		return s.respondLimited(c, limited)
	}
	c.Set(fiber.HeaderWWWAuthenticate, "Bearer")
	if form := s.sentForm(c, r); form != nil { // the session has expired since the form was opened
		return respondPage(c, s.dashboard.RenderUnsentForm(UnsentForm{
			Status: http.StatusUnauthorized, Title: "Your session has ended", Text: "The form was not processed.", Path: c.Path(), Form: form,
		}))
	}
	pages.RememberPage(c)
	return respondPage(c, s.dashboard.SignedOut())
}

// respondUnsent answers with an error message and, if a form was submitted, its values, so that the user can submit it
// again.
func (s *handler) respondUnsent(c *fiber.Ctx, r Route, status int, title, text string) error {
	if form := s.sentForm(c, r); form != nil {
		return respondPage(c, s.dashboard.RenderUnsentForm(UnsentForm{Status: status, Title: title, Text: text, Path: c.Path(), Form: form}))
	}
	return pages.RespondMessage(c, status, title, text)
}

// respondLimited answers a request that exceeds a rate limit. It does not read the form of the request.
func (s *handler) respondLimited(c *fiber.Ctx, err error) error {
	f := s.Failure(c.UserContext(), err)
	for k, values := range f.GetHeaders() {
		c.Set(k, values[0])
	}
	return pages.RespondMessage(c, f.Status, "This page is unavailable", f.Error())
}

// isPageUpdate reports whether a request is an automatic update of an open page.
func isPageUpdate(c *fiber.Ctx) bool {
	return c.Method() == http.MethodGet && c.Get("HX-Request") == "true"
}

// authenticateVisitor returns the user and the session of a request, and counts the request against the rate limits.
func (s *handler) authenticateVisitor(c *fiber.Ctx, r Route) (*domain.User, *domain.Session, error) {
	watching := isPageUpdate(c)
	u, session, err := s.Access.UserOfSession(c, watching)
	switch {
	case err != nil:
		return nil, nil, err
	case watching:
	case r.Operator && session.IsOperator(u):
		return u, session, s.Access.Limits.CountOperatorPage(c, u)
	default:
		return u, session, s.Access.Limits.CountRequest(c, router.RequestOf(c.UserContext()).Principal)
	}
	return u, session, s.Access.Limits.CountPageUpdate(c, u)
}

// respondError answers with an error page. If a form was submitted, the page contains its values.
func (s *handler) respondError(c *fiber.Ctx, r Route, err error) error {
	f := s.Failure(c.UserContext(), err)
	for k, values := range f.GetHeaders() {
		c.Set(k, values[0])
	}
	return s.respondUnsent(c, r, f.Status, "This page is unavailable", f.Error())
}

// isPathSegment reports whether a text can be inserted as a segment of an API path without changing the path.
func isPathSegment(s string) bool {
	for _, b := range []byte(s) {
		if b != '_' && b != '-' && (b < '0' || b > '9') && (b < 'A' || b > 'Z') && (b < 'a' || b > 'z') {
			return false
		}
	}
	return true
}

func respondPage(c *fiber.Ctx, r Response) error {
	if r.Location != "" {
		return c.Redirect(r.Location, r.Status)
	}
	if r.Dialog {
		c.Set(dialogHeader, "yes")
	}
	c.Set(fiber.HeaderContentType, fiber.MIMETextHTMLCharsetUTF8)
	c.Set(fiber.HeaderContentSecurityPolicy, Policy)
	c.Set(fiber.HeaderReferrerPolicy, "same-origin") // with no-referrer, browsers omit the Origin header of forms
	c.Status(r.Status)
	return sendCompressed(c, r.Body, nil)
}

// minCompressed is the size in bytes from which a response is compressed.
const minCompressed = 1400

// sendCompressed sends content, compressed if the browser accepts it. compressed is the content in gzip form, nil if it is
// not known yet.
func sendCompressed(c *fiber.Ctx, content, compressed []byte) error {
	if len(content) < minCompressed || c.AcceptsEncodings("gzip") == "" {
		return c.Send(content)
	}
	if compressed == nil {
		compressed = fasthttp.AppendGzipBytesLevel(nil, content, fasthttp.CompressBestSpeed)
	}
	c.Set(fiber.HeaderContentEncoding, "gzip")
	c.Vary(fiber.HeaderAcceptEncoding)
	return c.Send(compressed)
}

// respondInvalidForm answers a form that cannot be parsed. The request counts against the rate limit of its address.
func (s *handler) respondInvalidForm(c *fiber.Ctx) error {
	if limited := s.Access.Limits.CountFailure(c, router.RequestOf(c.UserContext())); limited != nil {
		return limited
	}
	return pages.RespondMessage(c, http.StatusBadRequest, "Invalid form", "Go back to the site that sent you here and start again.")
}
