package httpapi

import (
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/access"
	"github.com/callboard/callboard/httpapi/connstate"
	"github.com/callboard/callboard/httpapi/dashboard"
	"github.com/callboard/callboard/httpapi/forward"
	"github.com/callboard/callboard/httpapi/limit"
	"github.com/callboard/callboard/httpapi/router"
)

// newBoard reads the dashboard's templates, once for all servers of a process.
var newBoard = sync.OnceValue(dashboard.New) //nolint:gochecknoglobals // never changed

// boardRoutes are the dashboard. Its pages ask the API as everybody else does,
// without leaving the process: see docs/adr/0070.
func (s *Server) boardRoutes() {
	board := newBoard()
	for _, r := range dashboard.Routes() {
		s.App.Add(r.Method, r.Path, func(c *fiber.Ctx) error { return s.board(c, board, r) })
	}
	s.App.Get("/assets/:name", func(c *fiber.Ctx) error {
		content, kind := dashboard.Asset(c.Params("name"))
		if content == nil {
			return fiber.ErrNotFound
		}
		c.Set(fiber.HeaderContentType, kind)
		c.Set(fiber.HeaderCacheControl, "public, max-age=300")
		return c.Send(content)
	})
}

// board answers one request for a page or by a button of one.
func (s *Server) board(c *fiber.Ctx, board *dashboard.Dashboard, r dashboard.Route) error {
	v := router.RequestOf(c.UserContext())
	u, session, err := s.visitor(c, r)
	if domain.CodeOf(err) == domain.CodeAuthenticationRequired {
		return s.nobody(c, board, r)
	}
	if err != nil {
		return s.excuse(c, board, r, err)
	}
	if r.Method != http.MethodGet && !s.ownPage(c) {
		return s.say(c, http.StatusForbidden, "This page is out of date", "Load it again.")
	}
	if !plainName(c.Params("id")) || !plainName(c.Params("verb")) || r.Operator && !s.operates(c, u, session) {
		if watches(c) { // a page that was left open is loaded anew, which says it
			c.Set("HX-Refresh", "true")
		}
		return s.say(c, http.StatusNotFound, "There is no such page", "Go back to the overview.")
	}
	rights := u.Role.Permissions()
	v.Principal, v.Cookie = domain.Principal{
		WorkspaceID: u.WorkspaceID, Environment: u.Environment, UserID: u.ID, Permissions: rights,
		Operator: r.Operator, InPerson: true, // an operator on the operator's page alone
		SignInKeyID: session.CreatedBy.KeyID(),
	}, c.Cookies(cookieName)
	fresh := session.Fresh(time.Now())
	if r.Again && !fresh {
		return s.lost(c, board, r, http.StatusForbidden, "Sign in once more", "This makes a credential, so it takes a sign-in of the last 15 minutes. Open another sign-in link, then come back. Nothing was made.")
	}
	w, err := s.Workspace(c.UserContext(), v.Principal)
	if err != nil {
		return s.excuse(c, board, r, err)
	}
	query, err := url.ParseQuery(string(c.Request().URI().QueryString()))
	if err != nil {
		return s.excuse(c, board, r, domain.Errorf(domain.CodeInvalidRequest, "The query cannot be read."))
	}
	asked := make(map[string]bool) // what is asked once more is waited for, and counts for nothing
	req := &dashboard.Request{
		Method: r.Method, Path: c.Path(),
		ID: c.Params("id"), Verb: c.Params("verb"), Query: query, Part: query.Get("part"),
		Visitor: dashboard.Visitor{
			Name: u.Name, Role: string(u.Role), Workspace: w.Name, Test: session.Environment == domain.Test, Fresh: fresh, Operator: session.Operates(u),
			Rights: func(right string) bool { return access.Covers(rights, domain.Permission(right)) },
		},
		API: func(method, path, contentType, once string, body io.Reader) (int, []byte) {
			name := method + " " + path + " " + once
			again := once != "" && asked[name]
			asked[name] = true
			return s.inside(c, v, again, method, path, contentType, once, body)
		},
		Ended: c.UserContext().Done, Gone: func() bool { return connstate.PeerClosed(c.Context().Conn()) },
	}
	switch {
	case r.Upload:
		req.ContentType, req.Body = c.Get(fiber.HeaderContentType), router.BodyOf(c)
	case r.Method != http.MethodGet && c.Request().Header.ContentLength() != 0:
		if req.Form, err = pageForm(c, longestForm(r), math.MaxInt); err != nil {
			if domain.CodeOf(err) != domain.OAuthInvalidRequest {
				return s.excuse(c, board, r, err)
			}
			return s.refusedPage(c, err)
		}
		router.ExchangeOf(c.Context()).Form = req.Form
	}
	page := board.Serve(r, req)
	if page.Fault != nil {
		return s.excuse(c, board, r, page.Fault)
	}
	return s.paint(c, page)
}

// operates says whether the operator's page is there for somebody. Who presses
// its buttons without being one is in the audit log.
func (s *Server) operates(c *fiber.Ctx, u *domain.User, session *domain.Session) bool {
	is := session.Operates(u)
	if !is && c.Method() != http.MethodGet {
		s.denied(c.UserContext(), router.RequestOf(c.UserContext()), domain.CodeOperatorRequired)
	}
	return is
}

// nobody answers who is not signed in.
func (s *Server) nobody(c *fiber.Ctx, board *dashboard.Dashboard, r dashboard.Route) error {
	v := router.RequestOf(c.UserContext())
	if c.Get("HX-Request") == "true" { // a page that was left open: it is loaded anew, which asks for nothing more
		if limited := tell(c, s.polls.Take(neighbourhood(v.IP), strikeRule(), time.Now())); limited != nil {
			return s.limited(c, limited) // apart from what keeps people from signing in, and as narrow
		}
		c.Set("HX-Refresh", "true")
		return s.paint(c, board.SignedOut())
	}
	if limited := s.CountFailure(c, v); limited != nil {
		return s.limited(c, limited)
	}
	c.Set(fiber.HeaderWWWAuthenticate, "Bearer")
	if form := s.formOf(c, r); form != nil { // of a session that ended while somebody typed
		return s.paint(c, board.Keep(dashboard.Lost{
			Status: http.StatusUnauthorized, Title: "You are not signed in any more", Text: "The session has ended. Nothing was done with what you sent.", Path: c.Path(), Form: form,
		}))
	}
	return s.paint(c, board.SignedOut())
}

// formOf is what a page of ours has sent, nil where there is nothing to hand
// back: a form that another page sends is never shown as one of ours.
func (s *Server) formOf(c *fiber.Ctx, r dashboard.Route) url.Values {
	if r.Method == http.MethodGet || r.Upload || c.Request().Header.ContentLength() == 0 || !s.ownPage(c) || !plainName(c.Params("id")) || !plainName(c.Params("verb")) {
		return nil
	}
	if form := router.ExchangeOf(c.Context()).Form; form != nil {
		return form
	}
	most, fields := longestForm(r), math.MaxInt
	if router.RequestOf(c.UserContext()).Principal.UserID == "" { // anybody can say that a page of ours has sent it
		most, fields = min(most, strangeForm), strangeFields
	}
	form, err := pageForm(c, most, fields)
	if err != nil || len(form) == 0 {
		return nil
	}
	return form
}

// lost says why there is no page, and hands back the form that was sent.
func (s *Server) lost(c *fiber.Ctx, board *dashboard.Dashboard, r dashboard.Route, status int, title, text string) error {
	if form := s.formOf(c, r); form != nil {
		return s.paint(c, board.Keep(dashboard.Lost{Status: status, Title: title, Text: text, Path: c.Path(), Form: form}))
	}
	return s.say(c, status, title, text)
}

// limited says that too much was asked for. What was sent is not even read:
// whoever asks too often costs nothing more.
func (s *Server) limited(c *fiber.Ctx, err error) error {
	f := s.Failure(c.UserContext(), err)
	for k, values := range f.GetHeaders() {
		c.Set(k, values[0])
	}
	return s.say(c, f.Status, "This page is not to be had now", f.Error())
}

// strangeForm and strangeFields bound the form that is handed back to whoever
// is not signed in: in bytes, and in fields.
const (
	strangeForm   = 256 << 10
	strangeFields = 100
)

// longForm bounds the form of a page that sends a pathway, or a conversation.
const longForm = 4 << 20

// longestForm is how many bytes a page may send.
func longestForm(r dashboard.Route) int64 {
	if r.Long {
		return longForm
	}
	return formLimit
}

// pageForm is what a page sends, of so many bytes and fields. Boxes that are
// ticked have one name.
func pageForm(c *fiber.Ctx, most int64, fields int) (url.Values, error) {
	text, err := formText(c, most)
	if err != nil {
		return nil, err
	}
	if strings.Count(text, "&") >= fields {
		return nil, domain.Errorf(domain.OAuthInvalidRequest, "The form has more than %d fields.", fields)
	}
	values, err := url.ParseQuery(text)
	if err != nil {
		return nil, domain.Errorf(domain.OAuthInvalidRequest, "The form cannot be read.")
	}
	return values, nil
}

// pollRule bounds how often the pages of a user ask for their changing parts,
// which count for nothing else: nobody is kept from a button by watching.
func pollRule() limit.Rule { return limit.Rule{N: 600, Window: time.Minute} }

// operatorRule bounds what an operator asks of the operator's page, apart from
// what the workspace asks for: a noisy one keeps nobody from stopping it.
func operatorRule() limit.Rule { return limit.Rule{N: 300, Window: time.Minute} }

// watches says whether a page asks for a part of itself that changes.
func watches(c *fiber.Ctx) bool {
	return c.Method() == http.MethodGet && c.Get("HX-Request") == "true"
}

// visitor is who sits at the browser.
func (s *Server) visitor(c *fiber.Ctx, r dashboard.Route) (*domain.User, *domain.Session, error) {
	watching := watches(c)
	u, session, err := s.whoSits(c, watching)
	switch {
	case err != nil:
		return nil, nil, err
	case watching:
	case r.Operator && session.Operates(u):
		return u, session, tell(c, s.operators.Take(u.WorkspaceID+" "+u.ID, operatorRule(), time.Now()))
	default:
		return u, session, s.CountRequest(c, router.RequestOf(c.UserContext()).Principal)
	}
	return u, session, tell(c, s.polls.Take(u.WorkspaceID+" "+u.ID, pollRule(), time.Now()))
}

// excuse says in words for people why there is no page.
func (s *Server) excuse(c *fiber.Ctx, board *dashboard.Dashboard, r dashboard.Route, err error) error {
	f := s.Failure(c.UserContext(), err)
	for k, values := range f.GetHeaders() {
		c.Set(k, values[0])
	}
	return s.lost(c, board, r, f.Status, "This page is not to be had now", f.Error())
}

// plainName says whether a piece of a path may stand in another: nothing in it
// leads elsewhere.
func plainName(s string) bool {
	for _, b := range []byte(s) {
		if b != '_' && b != '-' && (b < '0' || b > '9') && (b < 'A' || b > 'Z') && (b < 'a' || b > 'z') {
			return false
		}
	}
	return true
}

func (s *Server) paint(c *fiber.Ctx, r dashboard.Response) error {
	if r.Location != "" {
		return c.Redirect(r.Location, r.Status)
	}
	c.Set(fiber.HeaderContentType, fiber.MIMETextHTMLCharsetUTF8)
	c.Set(fiber.HeaderContentSecurityPolicy, dashboard.Policy)
	c.Set(fiber.HeaderReferrerPolicy, "same-origin") // browsers leave the origin out of forms without any
	return c.Status(r.Status).Send(r.Body)
}

// inside asks a route of the API in the name of a visit, as a request of its
// own that never was on the wire: rights, validation, audit and errors are
// those of the route, and so are the limits of what changes something, unless
// it is asked for again.
func (s *Server) inside(c *fiber.Ctx, v *router.Request, again bool, method, path, contentType, once string, content io.Reader) (status int, answer []byte) {
	var rc fasthttp.RequestCtx
	rc.Init2(c.Context().Conn(), nil, false)
	req := &rc.Request
	req.Header.SetMethod(method)
	req.SetRequestURI(path)
	req.Header.SetHostBytes(c.Request().Host())
	if contentType != "" {
		req.Header.SetContentType(contentType)
	}
	if once != "" {
		req.Header.Set(router.IdempotencyHeader, once)
	}
	if content != nil {
		req.Header.SetContentLength(-1)
		if sized, ok := content.(interface{ Len() int }); ok {
			req.Header.SetContentLength(sized.Len())
		}
	}
	t := s.begun(&rc, content)
	t.PageRequest, t.Repeated = v, again
	s.routed(&rc)
	status = rc.Response.StatusCode()
	switch outer := router.ExchangeOf(c.Context()); {
	case method != http.MethodGet && status < http.StatusBadRequest:
		outer.Wrote = true
		c.Response().Header.Del(forward.NotActive)
	case !outer.Wrote && len(rc.Response.Header.Peek(forward.NotActive)) > 0: // nothing was done: the page's request goes to another node
		c.Set(forward.NotActive, "1")
	case len(rc.Response.Header.Peek(forward.NotActive)) > 0:
		s.Log.Warn("request refused: another node is about to have the workspace, and a part of the page's work is done", slog.String("request_id", t.Request.RequestID))
	}
	return status, append([]byte(nil), rc.Response.Body()...)
}
