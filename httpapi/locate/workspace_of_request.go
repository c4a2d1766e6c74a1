// Package locate finds the workspace of a request before the request is authenticated, to find the node that runs it.
//
// The package trusts the workspace that the credential names. If that workspace is wrong, the shard refuses the
// request.
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

// maxForm is the maximum size in bytes of a form that is parsed. The API refuses longer forms.
const maxForm = 16 << 10

// cookieName is the name of the session cookie.
const cookieName = "__Host-callboard"

// Owner says which workspace a request belongs to. With the zero value, any shard can handle the request.
type Owner struct {
	Workspace string // the workspace of the request
	ID        string // id of a credential whose workspace the Directory knows
}

// NeedsForm reports whether OwnerOf needs the body of a request.
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

// OwnerOf returns the owner of a request. form is the body of the request if NeedsForm is true.
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
	case !strings.HasPrefix(path, "/v1/"): // a route of the dashboard or another page
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
	return Owner{Workspace: canonicalWorkspace(access.LinkTokenWorkspace(parameter(r.URL.RawQuery, "token")))}
}

// ownerOfBearer returns the owner of the API key or token in an Authorization header.
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

// clientOfBasic returns the OAuth client id in a Basic Authorization header (RFC 6749 §2.3.1).
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

// canonicalWorkspace returns a workspace id in its canonical spelling, "" for an invalid id.
func canonicalWorkspace(id string) string {
	good, err := domain.ParseID(domain.PrefixWorkspace, id)
	if err != nil {
		return ""
	}
	return good
}

// workspaceOfSecret returns the workspace id that begins a secret, "" if there is none.
func workspaceOfSecret(secret string) string {
	w, _, _ := access.SplitWorkspaceSecret(secret)
	return w
}

// parameter returns the first value of a parameter in a query or a form, "" if there is none.
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
