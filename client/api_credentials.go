// Code generated from the OpenAPI document of the service. DO NOT EDIT.

package client

import (
	"context"
	"time"
)

// GetJWKS: Get the public keys that verify tokens.
//
// GET /.well-known/jwks.json
func (c *Client) GetJWKS(ctx context.Context, options ...Option) (*JWKS, error) {
	return send[JWKS](ctx, c, "GET", "/.well-known/jwks.json", nil, nil, options)
}

// RefreshToken: Refresh a JWT before it expires.
//
// POST /v1/auth/refresh
//
// Send the JWT as credential. The new JWT has the same lifetime, but ends at most 24 hours after the first one was issued.
func (c *Client) RefreshToken(ctx context.Context, options ...Option) (*Token, error) {
	return send[Token](ctx, c, "POST", "/v1/auth/refresh", nil, nil, options)
}

// IssueToken: Issue a JWT for one of your users.
//
// POST /v1/auth/token
//
// Needs an API key. The token is valid for the workspace and environment of the key and ends with the key. The allowed_ips of the key do not apply to the token.
func (c *Client) IssueToken(ctx context.Context, body *NewToken, options ...Option) (*Token, error) {
	return send[Token](ctx, c, "POST", "/v1/auth/token", nil, asJSON(body), options)
}

// JWK is part of a response.
type JWK struct {
	// Signature algorithm. One of EdDSA.
	Alg string `json:"alg"`
	// Curve. One of Ed25519.
	Crv string `json:"crv"`
	// Key id, as in the header of tokens.
	Kid string `json:"kid"`
	// Key type. One of OKP.
	Kty string `json:"kty"`
	// Key use. One of sig.
	Use string `json:"use"`
	// Public key in base64url.
	X string `json:"x"`
}

// JWKS is part of a response.
type JWKS struct {
	// Public keys of all valid tokens.
	Keys []JWK `json:"keys"`
}

// NewToken is part of a request.
type NewToken struct {
	// Lifetime in seconds, 60 to 86400. Default: 3600.
	ExpiresIn *int64 `json:"expires_in,omitempty"`
	// At most the permissions of the API key.
	Permissions []string `json:"permissions"`
	// Your id of the user. It becomes the claim sub.
	UserID string `json:"user_id"`
}

// Token is part of a response.
type Token struct {
	// Time of expiry.
	ExpiresAt time.Time `json:"expires_at"`
	// Lifetime in seconds.
	ExpiresIn int64 `json:"expires_in"`
	// Permissions of the token.
	Permissions []string `json:"permissions"`
	// The JWT. Send it as Authorization: Bearer.
	Token string `json:"token"`
	// Always Bearer. One of Bearer.
	TokenType string `json:"token_type"`
	// The workspace of the resource.
	WorkspaceID string `json:"workspace_id"`
}
