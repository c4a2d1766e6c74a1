package httpapi

import (
	"github.com/callboard/callboard/domain"
)

// credentialKind says which credentials a route takes. It is a property of each
// route's registration.
type credentialKind int

const (
	// anyCredential: what the route does ends with the request, or carries no
	// rights and no addresses.
	anyCredential credentialKind = iota
	// keyOrSession: what the route creates or changes lets somebody in or sends
	// data somewhere, and outlives a JWT or an OAuth token.
	keyOrSession
	// keyOnly: as keyOrSession, and what the route creates hangs on the API key.
	keyOnly
	// jwtOnly: the route renews the JWT that it is called with.
	jwtOnly
)

// refuse says why the credential of a principal does not open a route; nil: it does.
func (k credentialKind) refuse(p domain.Principal) error {
	switch {
	case k == keyOrSession && p.HasToken():
		return domain.Errorf(domain.CodeInsufficientPermissions, "What this creates or changes outlives a token. Use an API key or a dashboard session.").With("required", "api_key")
	case k == keyOnly && (p.KeyID == "" || p.HasToken()):
		return domain.Errorf(domain.CodeInsufficientPermissions, "This takes an API key, not a token.").With("required", "api_key")
	case k == jwtOnly && (!p.HasToken() || p.ClientID != ""):
		return domain.Errorf(domain.CodeInsufficientPermissions, "This takes the token itself, as /v1/auth/token gave it.").With("required", "token")
	}
	return nil
}

// describe puts in front of a route's description which credentials it takes.
func (k credentialKind) describe(about string) string {
	text := map[credentialKind]string{keyOrSession: "Needs an API key or a dashboard session.", keyOnly: "Needs an API key."}[k]
	if text != "" && about != "" {
		text += " "
	}
	return text + about
}
