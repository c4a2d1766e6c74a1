package account

import (
	"context"
	"net/http"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/access"
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/httpapi/token"
)

// NewToken is the request body that asks for a JWT for a user.
type NewToken struct {
	UserID      string              `json:"user_id" doc:"Your id of the user. It becomes the claim sub." example:"user-17"`
	Permissions []domain.Permission `json:"permissions" nullable:"false" doc:"At most the permissions of the API key."`
	ExpiresIn   *int                `json:"expires_in,omitempty" doc:"Lifetime in seconds, 60 to 86400. Default: 3600."`
}

// Token is the response with a new JWT and the values of its claims.
type Token struct {
	Token       string              `json:"token"`
	TokenType   string              `json:"token_type" enum:"Bearer"`
	ExpiresAt   time.Time           `json:"expires_at"`
	ExpiresIn   int                 `json:"expires_in" doc:"Lifetime in seconds."`
	Permissions []domain.Permission `json:"permissions"`
	WorkspaceID string              `json:"workspace_id"`
}

// JWK is the public part of a signing key (RFC 8037).
type JWK struct {
	KeyType string `json:"kty" enum:"OKP"`
	Curve   string `json:"crv" enum:"Ed25519"`
	Use     string `json:"use" enum:"sig"`
	Alg     string `json:"alg" enum:"EdDSA"`
	KeyID   string `json:"kid"`
	X       string `json:"x"`
}

// JWKS is the set of public keys with which all valid tokens can be verified.
type JWKS struct {
	Keys []JWK `json:"keys"`
}

// tokenHandlers serves the operations that issue and refresh JWTs.
type tokenHandlers struct {
	*router.Router

	issuer *token.Issuer
}

// registerTokens registers the routes that issue and refresh JWTs and return the public keys.
func registerTokens(r *router.Router, issuer *token.Issuer) {
	s := &tokenHandlers{Router: r, issuer: issuer}
	const tag = "Credentials"
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: "/v1/auth/token", ID: "issueToken", Credential: router.KeyOnly, Tag: tag, Summary: "Issue a JWT for one of your users",
		Description: "The token is valid for the workspace and environment of the key and ends with the key. The allowed_ips of the key do not apply to the token.",
	}, s.issueToken)
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: "/v1/auth/refresh", ID: "refreshToken", Credential: router.JWTOnly, Tag: tag, Summary: "Refresh a JWT before it expires",
		Description: "Send the JWT as credential. The new JWT has the same lifetime, but ends at most 24 hours after the first one was issued.",
	}, s.refreshToken)
	router.Add(s.Router, router.Operation{
		Method: http.MethodGet, Path: "/.well-known/jwks.json", ID: "getJWKS", Tag: tag, Public: true, Summary: "Get the public keys that verify tokens",
	}, func(ctx context.Context, _ domain.Principal, _ *struct{}) (*router.CachedResponse[JWKS], error) {
		keys, err := s.issuer.Keys.EnsureSigningKeys(ctx, token.NewKey)
		if err != nil {
			return nil, err
		}
		out := JWKS{Keys: []JWK{}}
		for _, k := range keys.Verifying {
			out.Keys = append(out.Keys, JWK{KeyType: "OKP", Curve: "Ed25519", Use: "sig", Alg: "EdDSA", KeyID: k.ID, X: k.Public})
		}
		return &router.CachedResponse[JWKS]{Control: "public, max-age=300", Body: out}, nil
	})
}

func (s *tokenHandlers) issueToken(ctx context.Context, p domain.Principal, in *struct{ Body NewToken }) (*router.Response[Token], error) {
	b := &in.Body
	var ps domain.Problems
	if b.UserID == "" || len(b.UserID) > router.MaxUserID {
		ps.Add("user_id", domain.CodeValidation, "must have 1 to %d characters", router.MaxUserID)
	}
	access.CheckPermissions("permissions", b.Permissions, &ps)
	lifetime := token.DefaultLifetime
	if b.ExpiresIn != nil {
		lifetime = time.Duration(min(max(*b.ExpiresIn, -1), 1<<31)) * time.Second
		if lifetime < token.MinLifetime || lifetime > token.MaxLifetime {
			ps.Add("expires_in", domain.CodeValidation, "must be %d to %d seconds", int(token.MinLifetime.Seconds()), int(token.MaxLifetime.Seconds()))
		}
	}
	if err := ps.Err(); err != nil {
		return nil, err
	}
	if !access.IsSubset(b.Permissions, p.Permissions) {
		return nil, domain.Errorf(domain.CodeInsufficientPermissions, "A token cannot have more permissions than its API key.").With("required", b.Permissions)
	}
	router.SetResourceID(ctx, p.KeyID)
	return s.respondToken(ctx, token.UserClaims(s.issuer.Name, b.UserID, p, b.Permissions, lifetime, time.Now()))
}

func (s *tokenHandlers) refreshToken(ctx context.Context, p domain.Principal, _ *struct{}) (*router.Response[Token], error) {
	router.SetResourceID(ctx, p.KeyID)
	return s.respondToken(ctx, token.RefreshedClaims(*router.RequestOf(ctx).Claims, time.Now()))
}

// respondToken signs a token with the given claims and answers with it.
func (s *tokenHandlers) respondToken(ctx context.Context, c token.Claims) (*router.Response[Token], error) {
	text, err := s.issuer.Sign(ctx, c)
	if err != nil {
		return nil, err
	}
	return router.Respond(Token{
		Token: text, TokenType: "Bearer", ExpiresAt: c.ExpiresAt.UTC(), ExpiresIn: int(c.ExpiresAt.Sub(c.IssuedAt.Time).Seconds()),
		Permissions: c.Permissions, WorkspaceID: c.WorkspaceID,
	}, nil)
}
