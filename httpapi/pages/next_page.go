package pages

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
)

// nextPageCookie holds the page that a browser asked for before its user was signed in.
const nextPageCookie = "__Host-next"

// nextPageLifetime is how long a browser remembers the page that it asked for.
const nextPageLifetime = 15 * time.Minute

// OwnPath returns a path of this service that a form, a cookie or a link names, "/" for any other address.
func OwnPath(path string) string {
	u, err := url.Parse(path)
	if err != nil || !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") || strings.ContainsAny(path, "\\\r\n") || u.Host != "" {
		return "/"
	}
	return path
}

// RememberPage makes the browser remember the requested page, which TakeRememberedPage returns after the sign-in.
func RememberPage(c *fiber.Ctx) {
	if c.Method() != http.MethodGet || len(c.OriginalURL()) > 2000 {
		return
	}
	setNextPage(c, url.QueryEscape(c.OriginalURL()), time.Now().Add(nextPageLifetime))
}

// TakeRememberedPage returns the page that the browser asked for before the sign-in, "/" if there is none.
func TakeRememberedPage(c *fiber.Ctx) string {
	path, err := url.QueryUnescape(c.Cookies(nextPageCookie))
	if err != nil || path == "" {
		return "/"
	}
	setNextPage(c, "", time.Unix(0, 0))
	return OwnPath(path)
}

func setNextPage(c *fiber.Ctx, value string, until time.Time) {
	c.Cookie(&fiber.Cookie{Name: nextPageCookie, Value: value, Path: "/", Expires: until, Secure: true, HTTPOnly: true, SameSite: fiber.CookieSameSiteLaxMode})
}
