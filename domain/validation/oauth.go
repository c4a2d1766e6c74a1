package validation

import (
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/access"
)

// Limits of the fields of OAuth clients.
const (
	MaxRedirects = 10
	MaxRedirect  = 500
)

// redirectHost matches the host and port of a redirect URI. It is strict, because the host appears in HTTP headers.
var redirectHost = regexp.MustCompile(`^([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?$`)

// Client returns all problems with an OAuth client. It sets omitted grant types to authorization_code and refresh_token
// if the client has a redirect URI, and to client_credentials otherwise.
func Client(c *domain.OAuthClient) domain.Problems {
	var p domain.Problems
	Text(&p, "name", c.Name, true, MaxName)
	Metadata(&p, c.Metadata)
	access.CheckPermissions("scopes", c.Scopes, &p)
	for i, uri := range atMost(&p, "redirect_uris", c.RedirectURIs, MaxRedirects) {
		Redirect(&p, indexedParam("redirect_uris", i), uri)
		if slices.Contains(c.RedirectURIs[:i], uri) {
			p.Add(indexedParam("redirect_uris", i), domain.CodeValidation, "stands in the list twice")
		}
	}
	c.RedirectURIs = orEmpty(c.RedirectURIs)
	if len(c.GrantTypes) == 0 {
		c.GrantTypes = []domain.GrantType{domain.GrantCredentials}
		if len(c.RedirectURIs) > 0 {
			c.GrantTypes = []domain.GrantType{domain.GrantCode, domain.GrantRefresh}
		}
	}
	for i, g := range c.GrantTypes {
		checkOneOf(&p, indexedParam("grant_types", i), string(g), string(domain.GrantCode), string(domain.GrantRefresh), string(domain.GrantCredentials))
	}
	slices.Sort(c.GrantTypes)
	c.GrantTypes = slices.Compact(c.GrantTypes)
	switch {
	case c.AllowsGrant(domain.GrantCode) != (len(c.RedirectURIs) > 0):
		p.Add("redirect_uris", domain.CodeValidation, "go with the grant type authorization_code: both or neither")
	case c.AllowsGrant(domain.GrantRefresh) && !c.AllowsGrant(domain.GrantCode):
		p.Add("grant_types", domain.CodeValidation, "refresh_token goes with authorization_code")
	case c.AllowsGrant(domain.GrantCredentials) && c.Public:
		p.Add("grant_types", domain.CodeValidation, "client_credentials needs a secret, and a public client has none")
	}
	return p
}

// Redirect adds the problems with a redirect URI. The URI must be absolute and https (http for loopback hosts only),
// without user, fragment and wildcards. Authorization requests must repeat it literally.
func Redirect(p *domain.Problems, param, uri string) {
	if uri == "" || len(uri) > MaxRedirect || strings.ContainsFunc(uri, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`"<>\^{|}`+"`*", r) }) {
		p.Add(param, domain.CodeValidation, "must be a URI of at most %d characters", MaxRedirect)
		return
	}
	u, err := url.Parse(uri)
	switch {
	case err != nil || !u.IsAbs() || u.Opaque != "" || !redirectHost.MatchString(u.Host):
		p.Add(param, domain.CodeValidation, "is no absolute URI such as https://app.example.com/callback")
	case strings.Contains(uri, "#"):
		p.Add(param, domain.CodeValidation, "must have no fragment")
	case u.User != nil:
		p.Add(param, domain.CodeValidation, "must name no user")
	case u.Scheme == "http" && !isLoopbackHost(u.Hostname()), u.Scheme != "http" && u.Scheme != "https":
		p.Add(param, domain.CodeValidation, "must be https, or http on this machine (127.0.0.1, [::1], localhost)")
	}
}

func isLoopbackHost(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && a.IsLoopback()
}
