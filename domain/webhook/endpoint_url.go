package webhook

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/access"
)

// Limits of the URL and the secret of an endpoint.
const (
	maxURL    = 2048
	minSecret = 8
	maxSecret = 256
	maxHost   = 253
	maxLabel  = 63
)

// CheckSecret adds a problem if a secret has an invalid length or contains control characters.
func CheckSecret(param, secret string, p *domain.Problems) {
	if len(secret) < minSecret || len(secret) > maxSecret {
		p.Add(param, domain.CodeValidation, "a secret must have %d to %d bytes", minSecret, maxSecret)
		return
	}
	if !utf8.ValidString(secret) || strings.ContainsFunc(secret, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		p.Add(param, domain.CodeValidation, "a secret must not contain control characters")
	}
}

// Target is the host and port to which the URL of an endpoint leads.
type Target struct {
	Host string
	Addr netip.Addr // if the host is an address
	Port uint16
}

// ParseURL validates the URL of an endpoint as far as possible without name resolution. The URL must be HTTPS, with a
// plain host and without credentials and fragment. egress must allow the port and the address. The error is a
// *domain.Error with invalid_url.
func ParseURL(text string, egress access.Egress) (Target, error) {
	if len(text) > maxURL {
		return Target{}, newURLError("the URL is longer than %d bytes", maxURL)
	}
	if strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '\\' || r == utf8.RuneError }) {
		return Target{}, newURLError("the URL holds spaces or control characters")
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Opaque != "":
		return Target{}, newURLError("this is not a URL")
	case u.Scheme != "https":
		return Target{}, newURLError("the URL must begin with https://")
	case u.User != nil:
		return Target{}, newURLError("the URL must not hold credentials")
	case strings.Contains(text, "#"):
		return Target{}, newURLError("the URL must not hold a fragment")
	}
	t := Target{Host: u.Hostname(), Port: 443}
	if strings.HasSuffix(u.Host, ":") || u.Port() != "" {
		port, bad := strconv.ParseUint(u.Port(), 10, 16)
		if bad != nil || port == 0 {
			return Target{}, newURLError("the port must be 1 to 65535")
		}
		t.Port = uint16(port)
	}
	if t.Addr, err = netip.ParseAddr(t.Host); err == nil {
		if egress.CheckAddress(netip.AddrPortFrom(t.Addr, t.Port)) != nil {
			return Target{}, newURLError("this address may not be reached from here")
		}
		return t, nil
	}
	t.Addr = netip.Addr{}
	if !isHostName(t.Host) {
		return Target{}, newURLError("the host is not a host name; names beyond ASCII are written in their xn-- form")
	}
	if !egress.AllowsPort(t.Port) {
		return Target{}, newURLError("port %d may not be reached from here", t.Port)
	}
	return t, nil
}

// isHostName reports whether a host is a plain name. Names with a numeric last label are rejected, because
// resolvers read them as addresses (127.1, 0x7f000001).
func isHostName(host string) bool {
	host = strings.TrimSuffix(host, ".")
	if host == "" || len(host) > maxHost {
		return false
	}
	labels := strings.Split(host, ".")
	for _, l := range labels {
		if l == "" || len(l) > maxLabel || l[0] == '-' || l[len(l)-1] == '-' {
			return false
		}
		for _, c := range []byte(l) {
			letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
			if !letter && (c < '0' || c > '9') && c != '-' && c != '_' {
				return false
			}
		}
	}
	last := strings.ToLower(labels[len(labels)-1])
	if strings.HasPrefix(last, "0x") {
		return false
	}
	return strings.Trim(last, "0123456789") != ""
}

func newURLError(format string, args ...any) error {
	e := domain.Errorf(domain.CodeInvalidURL, format, args...)
	e.Param = "url"
	return e
}
