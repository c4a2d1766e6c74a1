package validation

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/callboard/callboard/domain"
)

// Limits of the fields of a tool.
const (
	MaxDescription  = 2000
	MaxHeaders      = 32
	MaxHeaderValue  = 4096
	maxToolBody     = 16 << 10
	minToolTimeout  = 100
	maxToolTimeout  = 60_000
	stdToolTimeout  = 10_000
	defaultToolVerb = "POST"
)

var (
	toolName   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,63}$`)
	headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$")
)

// ToolDefaults sets the omitted fields of a tool to their defaults.
func ToolDefaults(t *domain.Tool) {
	if t.Parameters == nil {
		t.Parameters = map[string]any{"type": "object", "properties": map[string]any{}}
	}
	if h := t.HTTP; h != nil {
		if h.Method == "" {
			h.Method = defaultToolVerb
		}
		if h.TimeoutMs == 0 {
			h.TimeoutMs = stdToolTimeout
		}
	}
}

// Tool returns all problems with a tool whose defaults are set.
func Tool(t *domain.Tool) domain.Problems {
	var p domain.Problems
	switch {
	case t.Name == "":
		p.Add("name", domain.CodeValidation, "is required")
	case !toolName.MatchString(t.Name):
		p.Add("name", domain.CodeValidation, "%q is not a valid name: letters, digits, _ and -, 64 at most, not beginning with a digit", shorten(t.Name))
	}
	Prose(&p, "description", t.Description, MaxDescription)
	Metadata(&p, t.Metadata)
	ArgumentSchema(&p, "parameters", t.Parameters)
	if (t.HTTP == nil) == (t.MCP == nil) {
		p.Add("http", domain.CodeValidation, "one of http and mcp is required")
		return p
	}
	if h := t.HTTP; h != nil {
		checkOneOf(&p, "http.method", h.Method, "GET", "POST", "PUT", "PATCH", "DELETE")
		HTTPS(&p, "http.url", h.URL)
		checkHeaders(&p, "http.headers", h.Headers)
		checkObject(&p, "http.body", h.Body, maxToolBody)
		if slices.Contains([]string{"GET", "DELETE"}, h.Method) && len(h.Body) > 0 {
			p.Add("http.body", domain.CodeValidation, "%s has no body; the arguments are sent in the URL", h.Method)
		}
		checkBetween(&p, "http.timeout_ms", h.TimeoutMs, minToolTimeout, maxToolTimeout)
		return p
	}
	HTTPS(&p, "mcp.url", t.MCP.URL)
	checkHeaders(&p, "mcp.headers", t.MCP.Headers)
	return p
}

// checkHeaders adds the problems with HTTP headers that cannot be sent. Messages do not quote header values, because
// they are secret.
func checkHeaders(p *domain.Problems, param string, all map[string]string) {
	if len(all) > MaxHeaders {
		p.Add(param, domain.CodeValidation, "has %d entries; %d at most", len(all), MaxHeaders)
		return
	}
	seen := make(map[string]bool)
	for _, name := range sortedKeys(all) {
		low := strings.ToLower(name)
		switch low {
		case "host", "connection", "content-length", "transfer-encoding", "te", "trailer", "upgrade", "proxy-connection", "keep-alive":
			p.Add(param, domain.CodeValidation, "%q is set by the connection itself", shorten(name))
		}
		switch {
		case !headerName.MatchString(name):
			p.Add(param, domain.CodeValidation, "%q is not a header name", shorten(name))
		case seen[low]:
			p.Add(param, domain.CodeValidation, "%q is listed twice", shorten(name))
		}
		seen[low] = true
		Text(p, param+"."+shorten(name), all[name], true, MaxHeaderValue)
	}
}

// IsSameHost reports whether two URLs have the same scheme and host, so that secrets for the first URL may be sent to
// the second.
func IsSameHost(a, b string) bool {
	x, err := url.Parse(a)
	y, other := url.Parse(b)
	return err == nil && other == nil && x.Scheme == y.Scheme && strings.EqualFold(x.Host, y.Host)
}
