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

// maxForm bounds the form that is looked into, in bytes: the front door takes
// no longer one.
const maxForm = 16 << 10

// cookieName is that of sessions.
const cookieName = "__Host-callboard"

// Owner is what a request says. The zero value is nothing: the request is for
// the house, or refused.
type Owner struct {
	Workspace string // whom it is for
	ID        string // of a credential whose workspace the Directory knows
}

// NeedsForm says whether Of needs the body of a request.
func NeedsForm(r *http.Request) bool {
	if r.Method != http.MethodPost {
		return false
	}
	switch r.URL.Path {
	case "/oauth/token", "/oauth/revoke", "/oauth/introspect", "/oauth/authorize", "/sign-in":
		return true
	}
	return false
}

// OwnerOf looks at a request. form is its body where Form says that it is needed.
func OwnerOf(r *http.Request, form []byte) Owner {
	if len(form) > maxForm {
		form = nil
	}
	authorization := r.Header.Get("Authorization")
	switch path := r.URL.Path; {
	case path == "/oauth/authorize" && r.Method != http.MethodPost:
		return ownerOfClient(parameter(r.URL.RawQuery, "client_id"))
	case path == "/oauth/authorize":
		return ownerOfClient(parameter(string(form), "client_id"))
	case path == "/oauth/token" || path == "/oauth/revoke" || path == "/oauth/introspect":
		if authorization != "" {
			return ownerOfClient(clientOfBasic(authorization))
		}
		return ownerOfClient(parameter(string(form), "client_id"))
	case path == "/sign-in" && r.Method != http.MethodPost:
		return Owner{Workspace: workspaceOfSecret(parameter(r.URL.RawQuery, "token"))}
	case path == "/sign-in":
		return Owner{Workspace: workspaceOfSecret(parameter(string(form), "token"))}
	case !strings.HasPrefix(path, "/v1/"): // pages
		if c, err := r.Cookie(cookieName); err == nil {
			return Owner{Workspace: workspaceOfSecret(c.Value)}
		}
		return ownerOfBearer(authorization)
	case authorization != "":
		return ownerOfBearer(authorization)
	}
	if ticket := parameter(r.URL.RawQuery, "ticket"); ticket != "" {
		return Owner{Workspace: workspaceOfSecret(ticket)}
	}
	return Owner{Workspace: canonicalWorkspace(access.LinkWorkspace(parameter(r.URL.RawQuery, "token")))}
}

// ownerOfBearer is whose API key or token stands in a header.
func ownerOfBearer(authorization string) Owner {
	scheme, text, _ := strings.Cut(authorization, " ")
	if text = strings.TrimSpace(text); !strings.EqualFold(scheme, "Bearer") || text == "" {
		return Owner{}
	}
	if token.IsJWT(text) {
		return Owner{Workspace: canonicalWorkspace(token.UnverifiedWorkspace(text))}
	}
	key, err := access.ParseKey(text)
	if err != nil {
		return Owner{}
	}
	return Owner{ID: key.ID}
}

// clientOfBasic is the client that names itself in a header (RFC 6749 §2.3.1).
func clientOfBasic(authorization string) string {
	scheme, text, _ := strings.Cut(authorization, " ")
	raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil || !strings.EqualFold(scheme, "Basic") {
		return ""
	}
	id, _, _ := strings.Cut(string(raw), ":")
	id, _ = url.QueryUnescape(id)
	return id
}

func ownerOfClient(id string) Owner {
	good, err := domain.ParseID(domain.PrefixClient, id)
	if err != nil {
		return Owner{}
	}
	return Owner{ID: good}
}

// canonicalWorkspace is an id in its canonical spelling; "": it is none of a workspace.
func canonicalWorkspace(id string) string {
	good, err := domain.ParseID(domain.PrefixWorkspace, id)
	if err != nil {
		return ""
	}
	return good
}

// workspaceOfSecret is the workspace in which a secret is kept; "": it says none.
func workspaceOfSecret(secret string) string {
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
