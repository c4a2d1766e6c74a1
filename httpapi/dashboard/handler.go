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

// shared returns the dashboard of all servers of a process.
var shared = sync.OnceValue(New) //nolint:gochecknoglobals // never changed

// Prepare reads the templates: the first server is made faster after it.
func Prepare() { shared() }

// Config sets the handlers of a dashboard up.
type Config struct {
	Access *middleware.Access
	// ServeAPI runs a request to the API within the process.
	ServeAPI fasthttp.RequestHandler
	// BeginExchange returns the exchange of a request to ServeAPI with this body; nil: the
	// request has none.
	BeginExchange func(rc *fasthttp.RequestCtx, body io.Reader) *router.Exchange
}

// handler serves the requests of browsers.
type handler struct {
	*router.Router
	Config

	dashboard *Dashboard
}

// Register registers the routes of the dashboard. Its pages are clients of the API within
// the process: see docs/adr/0070.
func Register(r *router.Router, cfg Config) {
	s := &handler{Router: r, Config: cfg, dashboard: shared()}
	for _, route := range Routes() {
		s.App.Add(route.Method, route.Path, func(c *fiber.Ctx) error { return s.servePage(c, route) })
	}
	s.App.Get("/assets/:name", func(c *fiber.Ctx) error {
		content, kind := Asset(c.Params("name"))
		if content == nil {
			return fiber.ErrNotFound
		}
		c.Set(fiber.HeaderContentType, kind)
		c.Set(fiber.HeaderCacheControl, "public, max-age=300")
		return c.Send(content)
	})
}

// servePage answers a request for a page, or of a button on a page.
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
		return pages.RespondMessage(c, http.StatusForbidden, "This page is out of date", "Load it again.")
	}
	if !isPathSegment(c.Params("id")) || !isPathSegment(c.Params("verb")) || r.Operator && !s.isOperator(c, u, session) {
		if isPageUpdate(c) { // the browser loads the open page again, which shows the message
			c.Set("HX-Refresh", "true")
		}
		return pages.RespondMessage(c, http.StatusNotFound, "There is no such page", "Go back to the overview.")
	}
	rights := u.Role.Permissions()
	v.Principal, v.Cookie = domain.Principal{
		WorkspaceID: u.WorkspaceID, Environment: u.Environment, UserID: u.ID, Permissions: rights,
		Operator: r.Operator, UsesSession: true, // operator permissions hold on the operator's page only
		SignInKeyID: session.CreatedBy.KeyID(),
	}, c.Cookies(middleware.SessionCookie)
	fresh := session.IsFresh(time.Now())
	if r.Again && !fresh {
		return s.respondLost(c, r, http.StatusForbidden, "Sign in once more", "This makes a credential, so it takes a sign-in of the last 15 minutes. Open another sign-in link, then come back. Nothing was made.")
	}
	w, err := s.Workspace(c.UserContext(), v.Principal)
	if err != nil {
		return s.respondError(c, r, err)
	}
	query, err := url.ParseQuery(string(c.Request().URI().QueryString()))
	if err != nil {
		return s.respondError(c, r, domain.Errorf(domain.CodeInvalidRequest, "The query cannot be read."))
	}
	sent := make(map[string]bool) // a repeated request is not counted
	req := &Request{
		Method: r.Method, Path: c.Path(),
		ID: c.Params("id"), Verb: c.Params("verb"), Query: query, Part: query.Get("part"),
		Visitor: Visitor{
			Name: u.Name, Role: string(u.Role), Workspace: w.Name, Test: session.Environment == domain.Test, Fresh: fresh, Operator: session.IsOperator(u),
			Rights: func(right string) bool { return access.Covers(rights, domain.Permission(right)) },
		},
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
	if page.Fault != nil {
		return s.respondError(c, r, page.Fault)
	}
	return respondPage(c, page)
}

// isOperator says whether a user may use the operator's page. The audit log records other
// users of its buttons.
func (s *handler) isOperator(c *fiber.Ctx, u *domain.User, session *domain.Session) bool {
	is := session.IsOperator(u)
	if !is && c.Method() != http.MethodGet {
		s.Access.Audit.NoteFailure(c.UserContext(), router.RequestOf(c.UserContext()), domain.CodeOperatorRequired)
	}
	return is
}

// respondSignedOut answers a request without a session.
func (s *handler) respondSignedOut(c *fiber.Ctx, r Route) error {
	v := router.RequestOf(c.UserContext())
	if c.Get("HX-Request") == "true" { // the browser loads the open page again, without further updates
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
	if form := s.sentForm(c, r); form != nil { // the session has ended since the form was opened
		return respondPage(c, s.dashboard.KeepForm(LostForm{
			Status: http.StatusUnauthorized, Title: "You are not signed in any more", Text: "The session has ended. Nothing was done with what you sent.", Path: c.Path(), Form: form,
		}))
	}
	return respondPage(c, s.dashboard.SignedOut())
}

// respondLost answers with an error message and returns the form that was sent.
func (s *handler) respondLost(c *fiber.Ctx, r Route, status int, title, text string) error {
	if form := s.sentForm(c, r); form != nil {
		return respondPage(c, s.dashboard.KeepForm(LostForm{Status: status, Title: title, Text: text, Path: c.Path(), Form: form}))
	}
	return pages.RespondMessage(c, status, title, text)
}

// respondLimited answers a request over a rate limit, without reading its form.
func (s *handler) respondLimited(c *fiber.Ctx, err error) error {
	f := s.Failure(c.UserContext(), err)
	for k, values := range f.GetHeaders() {
		c.Set(k, values[0])
	}
	return pages.RespondMessage(c, f.Status, "This page is not to be had now", f.Error())
}

// isPageUpdate says whether a request is an automatic update of an open page.
func isPageUpdate(c *fiber.Ctx) bool {
	return c.Method() == http.MethodGet && c.Get("HX-Request") == "true"
}

// authenticateVisitor returns the user and the session of a request, and counts it.
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

// respondError answers with an error as a page, and returns the form that was sent.
func (s *handler) respondError(c *fiber.Ctx, r Route, err error) error {
	f := s.Failure(c.UserContext(), err)
	for k, values := range f.GetHeaders() {
		c.Set(k, values[0])
	}
	return s.respondLost(c, r, f.Status, "This page is not to be had now", f.Error())
}

// isPathSegment says whether a part of a path is safe as a segment of another path.
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
	c.Set(fiber.HeaderContentType, fiber.MIMETextHTMLCharsetUTF8)
	c.Set(fiber.HeaderContentSecurityPolicy, Policy)
	c.Set(fiber.HeaderReferrerPolicy, "same-origin") // browsers leave the origin out of forms without any
	return c.Status(r.Status).Send(r.Body)
}

// respondInvalidForm answers a form that cannot be read, and counts it against its address.
func (s *handler) respondInvalidForm(c *fiber.Ctx) error {
	if limited := s.Access.Limits.CountFailure(c, router.RequestOf(c.UserContext())); limited != nil {
		return limited
	}
	return pages.RespondMessage(c, http.StatusBadRequest, "This form is not good", "Go back to where you came from and begin again.")
}
