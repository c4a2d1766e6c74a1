package middleware

import (
	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/router"
)

// SessionCookie is the name of a user's session cookie.
const SessionCookie = "__Host-callboard"

// SignedInUser returns the user and the session of a request's cookie, and counts the request against the rate limits.
// Errors: authentication_required, rate_limit_exceeded.
func (a *Access) SignedInUser(c *fiber.Ctx) (*domain.User, *domain.Session, error) {
	u, session, err := a.UserOfSession(c, false)
	if err != nil {
		return nil, nil, err
	}
	return u, session, a.Limits.CountRequest(c, router.RequestOf(c.UserContext()).Principal)
}

// UserOfSession returns the user and the session of a request's cookie without counting the request. watching means that
// the request is an automatic update of an open page. Error: authentication_required.
func (a *Access) UserOfSession(c *fiber.Ctx, watching bool) (*domain.User, *domain.Session, error) {
	v := router.RequestOf(c.UserContext())
	u, session, err := a.sessions.AuthenticateSession(c.UserContext(), c.Cookies(SessionCookie), v.IP, watching)
	if u != nil {
		v.Principal = domain.Principal{WorkspaceID: u.WorkspaceID, Environment: session.EnvironmentFor(u), UserID: u.ID}
	}
	switch code := domain.CodeOf(err); {
	case code == domain.CodeIPNotAllowed:
		a.Audit.NoteFailure(c.UserContext(), v, code)
		return nil, nil, domain.Errorf(domain.CodeAuthenticationRequired, "You are not signed in.")
	case err != nil:
		return nil, nil, err
	}
	router.ExchangeOf(c.Context()).Authenticated = true
	return u, session, nil
}
