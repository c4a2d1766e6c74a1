package router

import (
	"github.com/callboard/callboard/domain"
)

// CredentialKind says which credentials a route takes. It is a property of each
// route's registration.
type CredentialKind int

const (
	// AnyCredential means that the route creates nothing that grants access or sends data to an
	// address, or its effect ends with the request.
	AnyCredential CredentialKind = iota
	// KeyOrSession means that the route creates or changes a resource that grants access or
	// sends data to an address, and that exists longer than a JWT or an OAuth token.
	KeyOrSession
	// KeyOnly is as KeyOrSession, and the resource ends with the API key.
	KeyOnly
	// JWTOnly means that the route renews the JWT of the request.
	JWTOnly
)

// Refuse returns an error where the route does not take the credential of a
// principal: insufficient_permissions with required.
func (k CredentialKind) Refuse(p domain.Principal) error {
	switch {
	case k == KeyOrSession && p.UsesAccessToken():
		return domain.Errorf(domain.CodeInsufficientPermissions, "What this creates or changes outlives a token. Use an API key or a dashboard session.").With("required", "api_key")
	case k == KeyOnly && (p.KeyID == "" || p.UsesAccessToken()):
		return domain.Errorf(domain.CodeInsufficientPermissions, "This takes an API key, not a token.").With("required", "api_key")
	case k == JWTOnly && (!p.UsesAccessToken() || p.ClientID != ""):
		return domain.Errorf(domain.CodeInsufficientPermissions, "This takes the token itself, as /v1/auth/token gave it.").With("required", "token")
	}
	return nil
}

// describe is the description of a route with its credentials in front.
func (k CredentialKind) describe(about string) string {
	text := map[CredentialKind]string{KeyOrSession: "Needs an API key or a dashboard session.", KeyOnly: "Needs an API key."}[k]
	if text != "" && about != "" {
		text += " "
	}
	return text + about
}
