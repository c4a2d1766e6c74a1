package router

import (
	"github.com/callboard/callboard/domain"
)

// CredentialKind says which kinds of credentials a route accepts. Each Operation has one.
type CredentialKind int

const (
	// AnyCredential is for routes that create neither a credential nor a lasting destination of data, such as a webhook.
	AnyCredential CredentialKind = iota
	// KeyOrSession is for routes that create or change a resource that grants access or receives data. Such a
	// resource outlives a JWT or an OAuth token, so tokens are refused.
	KeyOrSession
	// KeyOnly is for routes that create a resource which ends with the API key that created it.
	KeyOnly
	// JWTOnly is for the route that renews a JWT. The request must have that JWT as its credential.
	JWTOnly
)

// Refuse returns insufficient_permissions if the route does not accept the principal's kind of credential. The field
// required of the error names the accepted kind.
func (k CredentialKind) Refuse(p domain.Principal) error {
	switch {
	case k == KeyOrSession && p.UsesAccessToken():
		return domain.Errorf(domain.CodeInsufficientPermissions, "This resource outlives a token: use an API key or a dashboard session.").With("required", "api_key")
	case k == KeyOnly && (p.KeyID == "" || p.UsesAccessToken()):
		return domain.Errorf(domain.CodeInsufficientPermissions, "This operation needs an API key, not a token.").With("required", "api_key")
	case k == JWTOnly && (!p.UsesAccessToken() || p.ClientID != ""):
		return domain.Errorf(domain.CodeInsufficientPermissions, "This operation needs the token itself, as issued by /v1/auth/token.").With("required", "token")
	}
	return nil
}

// describe adds a sentence about the accepted credentials to the description of an operation.
func (k CredentialKind) describe(about string) string {
	text := map[CredentialKind]string{KeyOrSession: "Needs an API key or a dashboard session.", KeyOnly: "Needs an API key."}[k]
	if text != "" && about != "" {
		text += " "
	}
	return text + about
}
