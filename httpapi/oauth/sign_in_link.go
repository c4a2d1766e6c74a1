package oauth

import (
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/middleware"
	"github.com/callboard/callboard/httpapi/pages"
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/httpapi/v1/account"
)

const signOutPath = "/sign-out"

// registerSignIn registers the pages by which users sign in and out.
func (s *Server) registerSignIn() {
	const tag = router.SignInTag
	token := func(h *huma.Operation) {
		h.Parameters = append(h.Parameters, &huma.Param{Name: "token", In: "query", Description: "The token of the link.", Schema: &huma.Schema{Type: huma.TypeString}})
	}
	nothing := func(*huma.Operation) {}
	pages.Register(s.Router, router.Operation{Method: http.MethodGet, Path: account.SignInPath, ID: "openSignInLink", Tag: tag, Summary: "Open a sign-in link", Description: "For browsers. Only the button on the page uses the link."}, token, s.openSignInLink)
	pages.Register(s.Router, router.Operation{Method: http.MethodPost, Path: account.SignInPath, ID: "signIn", Tag: tag, Summary: "Sign in", Description: "For the sign-in page: a form with token. The response sets the session cookie."}, nothing, s.signIn)
	pages.Register(s.Router, router.Operation{Method: http.MethodPost, Path: signOutPath, ID: "signOut", Tag: tag, Summary: "Sign out", Description: "For pages of the service only."}, nothing, s.signOut)
}

// openSignInLink shows a page with a button that redeems the link. Programs that fetch links in advance thus do not
// redeem them.
func (s *Server) openSignInLink(c *fiber.Ctx) error {
	values, err := pages.ParseFields(string(c.Request().URI().QueryString()))
	if err != nil {
		return s.respondInvalidForm(c, err)
	}
	if err = s.access.Limits.CountFailure(c, router.RequestOf(c.UserContext())); err != nil {
		return err
	}
	data := struct {
		pages.Frame
		Token string
	}{pages.NewFrame("Sign in to Callboard"), values.Get("token")}
	return pages.Respond(c, http.StatusOK, "sign-in", data, "")
}

func (s *Server) signIn(c *fiber.Ctx) error {
	values, err := pages.ReadForm(c)
	if err != nil {
		return s.respondInvalidForm(c, err)
	}
	v := router.RequestOf(c.UserContext())
	if err = s.access.Limits.CountFailure(c, v); err != nil {
		return err
	}
	if !pages.IsSameOrigin(c, s.publicURL) {
		return pages.RespondMessage(c, http.StatusForbidden, "This page has expired", "Open the sign-in link again.")
	}
	cookie, u, err := s.sessions.SignIn(c.UserContext(), values.Get("token"), v.IP, v.UserAgent)
	if u != nil {
		v.Principal = domain.Principal{WorkspaceID: u.WorkspaceID, Environment: u.Environment, UserID: u.ID}
	}
	switch code := domain.CodeOf(err); {
	case code == domain.CodeIPNotAllowed:
		s.access.Audit.NoteFailure(c.UserContext(), v, code)
		return pages.RespondMessage(c, http.StatusForbidden, "Sign-in failed", "You are not allowed to sign in from this address.")
	case code == domain.CodeInvalidLink || code == domain.CodeExpiredLink:
		s.access.Audit.NoteFailure(c.UserContext(), v, code)
		c.Set(fiber.HeaderWWWAuthenticate, "Bearer")
		return pages.RespondMessage(c, http.StatusUnauthorized, "Sign-in failed", "The link was used, has expired or is invalid. Ask for a new one.")
	case err != nil:
		return err
	}
	setSessionCookie(c, cookie, time.Now().Add(domain.SessionLifetime))
	return c.Redirect(pages.TakeRememberedPage(c), http.StatusSeeOther)
}

func setSessionCookie(c *fiber.Ctx, text string, until time.Time) {
	c.Cookie(&fiber.Cookie{Name: middleware.SessionCookie, Value: text, Path: "/", Expires: until, Secure: true, HTTPOnly: true, SameSite: fiber.CookieSameSiteLaxMode})
}

func (s *Server) signOut(c *fiber.Ctx) error {
	if !pages.IsSameOrigin(c, s.publicURL) {
		return pages.RespondMessage(c, http.StatusForbidden, "This page has expired", "Reload it.")
	}
	u, session, err := s.access.SignedInUser(c)
	if err == nil {
		p := domain.Principal{WorkspaceID: u.WorkspaceID, Environment: u.Environment, UserID: u.ID}
		err = s.sessions.EndSession(c.UserContext(), p, u.ID, session.ID, func(*domain.User) error { return nil })
	}
	if code := domain.CodeOf(err); err != nil && code != domain.CodeAuthenticationRequired && code != domain.CodeNotFound {
		return err
	}
	if err = s.access.Limits.CountFailure(c, router.RequestOf(c.UserContext())); err != nil {
		return err
	}
	setSessionCookie(c, "", time.Unix(1, 0))
	return pages.RespondMessage(c, http.StatusOK, "You are signed out", "You can close this page.")
}

// respondInvalidForm answers a page form that cannot be read. The request counts against the rate limit of its address.
func (s *Server) respondInvalidForm(c *fiber.Ctx, err error) error {
	err = s.countRefusal(c, err)
	if domain.CodeOf(err) == domain.OAuthInvalidRequest {
		return pages.RespondMessage(c, http.StatusBadRequest, "Invalid form", "Go back to the site that sent you here and start again.")
	}
	return err
}
