package httpapi

import (
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/router"
)

// signInTag marks the pages by which people sign in and out.

func (s *Server) signInRoutes() {
	const tag = router.SignInTag
	token := func(h *huma.Operation) {
		h.Parameters = append(h.Parameters, &huma.Param{Name: "token", In: "query", Description: "What the link holds.", Schema: &huma.Schema{Type: huma.TypeString}})
	}
	nothing := func(*huma.Operation) {}
	s.person(router.Operation{Method: http.MethodGet, Path: signInPath, ID: "openSignInLink", Tag: tag, Summary: "Open a sign-in link", Description: "For browsers. Only the button on the page uses the link up."}, token, s.openLink)
	s.person(router.Operation{Method: http.MethodPost, Path: signInPath, ID: "signIn", Tag: tag, Summary: "Sign in", Description: "For the page itself: a form with token. The answer sets the cookie of the session."}, nothing, s.signIn)
	s.person(router.Operation{Method: http.MethodPost, Path: signOutPath, ID: "signOut", Tag: tag, Summary: "Sign out", Description: "For pages of the service."}, nothing, s.signOut)
}

// openLink shows a button: what fetches links ahead of people uses none up.
func (s *Server) openLink(c *fiber.Ctx) error {
	values, err := pairs(string(c.Request().URI().QueryString()))
	if err != nil {
		return s.refusedPage(c, err)
	}
	if err = s.CountFailure(c, router.RequestOf(c.UserContext())); err != nil {
		return err
	}
	data := struct {
		frame
		Token string
	}{titled("Sign in to Callboard"), values.Get("token")}
	return s.show(c, http.StatusOK, "sign-in", data, "")
}

func (s *Server) signIn(c *fiber.Ctx) error {
	values, err := formOf(c)
	if err != nil {
		return s.refusedPage(c, err)
	}
	v := router.RequestOf(c.UserContext())
	if err = s.CountFailure(c, v); err != nil {
		return err
	}
	if !s.ownPage(c) {
		return s.say(c, http.StatusForbidden, "This page is out of date", "Open the sign-in link again.")
	}
	cookie, u, err := s.services.Users.SignIn(c.UserContext(), values.Get("token"), v.IP, v.UserAgent)
	if u != nil {
		v.Principal = domain.Principal{WorkspaceID: u.WorkspaceID, Environment: u.Environment, UserID: u.ID}
	}
	switch code := domain.CodeOf(err); {
	case code == domain.CodeIPNotAllowed:
		s.denied(c.UserContext(), v, code)
		return s.say(c, http.StatusForbidden, "This link signs nobody in", "You are not allowed to sign in from this address.")
	case code == domain.CodeInvalidLink || code == domain.CodeExpiredLink:
		s.denied(c.UserContext(), v, code)
		c.Set(fiber.HeaderWWWAuthenticate, "Bearer")
		return s.say(c, http.StatusUnauthorized, "This link signs nobody in", "It was used before, is too old, or is none. Ask for another.")
	case err != nil:
		return err
	}
	s.setCookie(c, cookie, time.Now().Add(domain.SessionLife))
	return s.say(c, http.StatusOK, "You are signed in", "Welcome, "+u.Name+". Go back to the program that sent you here.")
}

func (s *Server) setCookie(c *fiber.Ctx, text string, until time.Time) {
	c.Cookie(&fiber.Cookie{Name: cookieName, Value: text, Path: "/", Expires: until, Secure: true, HTTPOnly: true, SameSite: fiber.CookieSameSiteLaxMode})
}

func (s *Server) signOut(c *fiber.Ctx) error {
	if !s.ownPage(c) {
		return s.say(c, http.StatusForbidden, "This page is out of date", "Load it again.")
	}
	u, session, err := s.signedIn(c)
	if err == nil {
		p := domain.Principal{WorkspaceID: u.WorkspaceID, Environment: u.Environment, UserID: u.ID}
		err = s.services.Users.EndSession(c.UserContext(), p, u.ID, session.ID, func(*domain.User) error { return nil })
	}
	if code := domain.CodeOf(err); err != nil && code != domain.CodeAuthenticationRequired && code != domain.CodeNotFound {
		return err
	}
	if err = s.CountFailure(c, router.RequestOf(c.UserContext())); err != nil {
		return err
	}
	s.setCookie(c, "", time.Unix(1, 0))
	return s.say(c, http.StatusOK, "You are signed out", "Close this page.")
}
