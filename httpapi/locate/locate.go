// Package locate finds out which workspace a request is for, and with that which
// shard of the work, before anybody has looked whether it may be done. It reads
// what the credential says itself and believes it: whoever says something wrong
// is led to a seat that refuses it.
package locate

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/access"
	"github.com/callboard/callboard/httpapi/token"
)

// formMost bounds the form that is looked into, in bytes: the front door takes
// no longer one.
const formMost = 16 << 10

// cookieName is that of sessions.
const cookieName = "__Host-callboard"

// Found is what a request says. The zero value is nothing: the request is for
// the house, or refused.
type Found struct {
	Workspace string // whom it is for
	ID        string // of a credential whose workspace the Directory knows
}

// Form says whether Of needs the body of a request.
func Form(r *http.Request) bool {
	if r.Method != http.MethodPost {
		return false
	}
	switch r.URL.Path {
	case "/oauth/token", "/oauth/revoke", "/oauth/introspect", "/oauth/authorize", "/sign-in":
		return true
	}
	return false
}

// Of looks at a request. form is its body where Form says that it is needed.
func Of(r *http.Request, form []byte) Found {
	if len(form) > formMost {
		form = nil
	}
	authorization := r.Header.Get("Authorization")
	switch path := r.URL.Path; {
	case path == "/oauth/authorize" && r.Method != http.MethodPost:
		return client(parameter(r.URL.RawQuery, "client_id"))
	case path == "/oauth/authorize":
		return client(parameter(string(form), "client_id"))
	case path == "/oauth/token" || path == "/oauth/revoke" || path == "/oauth/introspect":
		if authorization != "" {
			return client(basic(authorization))
		}
		return client(parameter(string(form), "client_id"))
	case path == "/sign-in" && r.Method != http.MethodPost:
		return Found{Workspace: placed(parameter(r.URL.RawQuery, "token"))}
	case path == "/sign-in":
		return Found{Workspace: placed(parameter(string(form), "token"))}
	case !strings.HasPrefix(path, "/v1/"): // pages
		if c, err := r.Cookie(cookieName); err == nil {
			return Found{Workspace: placed(c.Value)}
		}
		return bearer(authorization)
	case authorization != "":
		return bearer(authorization)
	}
	if ticket := parameter(r.URL.RawQuery, "ticket"); ticket != "" {
		return Found{Workspace: placed(ticket)}
	}
	return Found{Workspace: workspace(access.LinkWorkspace(parameter(r.URL.RawQuery, "token")))}
}

// bearer is whose API key or token stands in a header.
func bearer(authorization string) Found {
	scheme, text, _ := strings.Cut(authorization, " ")
	if text = strings.TrimSpace(text); !strings.EqualFold(scheme, "Bearer") || text == "" {
		return Found{}
	}
	if token.Looks(text) {
		return Found{Workspace: workspace(token.Workspace(text))}
	}
	key, err := access.ParseKey(text)
	if err != nil {
		return Found{}
	}
	return Found{ID: key.ID}
}

// basic is the client that names itself in a header (RFC 6749 §2.3.1).
func basic(authorization string) string {
	scheme, text, _ := strings.Cut(authorization, " ")
	raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil || !strings.EqualFold(scheme, "Basic") {
		return ""
	}
	id, _, _ := strings.Cut(string(raw), ":")
	id, _ = url.QueryUnescape(id)
	return id
}

func client(id string) Found {
	good, err := domain.ParseID(domain.PrefixClient, id)
	if err != nil {
		return Found{}
	}
	return Found{ID: good}
}

// workspace is an id in its canonical spelling; "": it is none of a workspace.
func workspace(id string) string {
	good, err := domain.ParseID(domain.PrefixWorkspace, id)
	if err != nil {
		return ""
	}
	return good
}

// placed is the workspace in which a secret is kept; "": it says none.
func placed(secret string) string {
	w, _, _ := access.PlaceOf(secret)
	return w
}

// parameter is the first of a name in a query or a form; "": there is none.
func parameter(text, name string) string {
	if text == "" {
		return ""
	}
	for pair := range strings.SplitSeq(text, "&") {
		key, value, _ := strings.Cut(pair, "=")
		if key != name {
			if !strings.ContainsRune(key, '%') {
				continue
			}
			if key, _ = url.QueryUnescape(key); key != name {
				continue
			}
		}
		value, _ = url.QueryUnescape(value)
		return value
	}
	return ""
}
