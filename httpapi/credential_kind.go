package httpapi

import (
	"github.com/callboard/callboard/domain"
)

// credentialKind says which credentials a route takes. It is a property of each
// route's registration.
type credentialKind int

const (
	// anyCredential: the route creates nothing that grants access or sends data to an
	// address, or its effect ends with the request.
	anyCredential credentialKind = iota
	// keyOrSession: the route creates or changes a resource that grants access or
	// sends data to an address, and that exists longer than a JWT or an OAuth token.
	keyOrSession
	// keyOnly: as keyOrSession, and the resource ends with the API key.
	keyOnly
	// jwtOnly: the route renews the JWT of the request.
	jwtOnly
)

// refuse returns an error where the route does not take the credential of a
// principal: insufficient_permissions with required.
func (k credentialKind) refuse(p domain.Principal) error {
	switch {
	case k == keyOrSession && p.UsesAccessToken():
		return domain.Errorf(domain.CodeInsufficientPermissions, "What this creates or changes outlives a token. Use an API key or a dashboard session.").With("required", "api_key")
	case k == keyOnly && (p.KeyID == "" || p.UsesAccessToken()):
		return domain.Errorf(domain.CodeInsufficientPermissions, "This takes an API key, not a token.").With("required", "api_key")
	case k == jwtOnly && (!p.UsesAccessToken() || p.ClientID != ""):
		return domain.Errorf(domain.CodeInsufficientPermissions, "This takes the token itself, as /v1/auth/token gave it.").With("required", "token")
	}
	return nil
}

// describe is the description of a route with its credentials in front.
func (k credentialKind) describe(about string) string {
	text := map[credentialKind]string{keyOrSession: "Needs an API key or a dashboard session.", keyOnly: "Needs an API key."}[k]
	if text != "" && about != "" {
		text += " "
	}
	return text + about
}
