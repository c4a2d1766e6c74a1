package dashboard

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/pages"
)

// Cookies with the preferences of a browser. A script of the pages sets the time zone.
const (
	themeCookie      = "theme" // light or dark; missing: that of the system
	zoneCookie       = "zone"  // name of a time zone, URL-encoded
	preferenceMaxAge = 365 * 24 * time.Hour
)

// dialogHeader marks a request of a confirmation that the browser shows in a dialog, and its response.
const dialogHeader = "X-Dialog"

// Sessions changes the sessions of users.
type Sessions interface {
	// SwitchEnvironment changes the environment that the dashboard shows in a session of a user.
	SwitchEnvironment(ctx context.Context, u *domain.User, id string, env domain.Environment) error
}

// themeOf returns the theme in a cookie.
func themeOf(cookie string) string {
	if cookie == "light" || cookie == "dark" {
		return cookie
	}
	return ""
}

// zoneOf returns the time zone in a cookie, UTC if it names none.
func zoneOf(cookie string) *time.Location {
	name, err := url.QueryUnescape(cookie)
	if err != nil || name == "" || name == "Local" {
		return time.UTC
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return time.UTC
	}
	return zone
}

// setTheme stores the theme that a form selects and returns to the page.
func (s *handler) setTheme(c *fiber.Ctx) error {
	form, err := pages.ReadForm(c)
	if err != nil {
		return s.respondInvalidForm(c)
	}
	cookie := &fiber.Cookie{Name: themeCookie, Value: themeOf(form.Get("theme")), Path: "/", SameSite: fiber.CookieSameSiteLaxMode, Expires: time.Now().Add(preferenceMaxAge)}
	if cookie.Value == "" {
		cookie.Expires = time.Unix(0, 0)
	}
	c.Cookie(cookie)
	return c.Redirect(pages.OwnPath(form.Get("next")), http.StatusSeeOther)
}

// setEnvironment switches the session between the live and the test environment.
func (s *handler) setEnvironment(c *fiber.Ctx) error {
	r := Route{Method: http.MethodPost, Path: "/environment"}
	u, session, err := s.authenticateVisitor(c, r)
	if domain.CodeOf(err) == domain.CodeAuthenticationRequired {
		return s.respondSignedOut(c, r)
	}
	if err != nil {
		return s.respondError(c, r, err)
	}
	if !pages.IsSameOrigin(c, s.PublicURL) {
		return pages.RespondMessage(c, http.StatusForbidden, "This page has expired", "Reload it.")
	}
	form, err := pages.ReadForm(c)
	if err != nil {
		return s.respondInvalidForm(c)
	}
	env := domain.Environment(form.Get("environment"))
	if env != domain.Live && env != domain.Test {
		return s.respondInvalidForm(c)
	}
	if err = s.Sessions.SwitchEnvironment(c.UserContext(), u, session.ID, env); err != nil {
		return s.respondError(c, r, err)
	}
	return c.Redirect(listOfPath(pages.OwnPath(form.Get("next"))), http.StatusSeeOther)
}

// listOfPath returns the list to which a page belongs, because one environment has none of the resources of the other.
func listOfPath(path string) string {
	if at := pageOfPath(path); at != "" {
		return at
	}
	return "/"
}
