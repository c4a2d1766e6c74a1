// Code generated from the OpenAPI document of the service. DO NOT EDIT.

package client

import (
	"context"
	"time"
)

// GetJWKS: Get the keys that tokens are signed with.
//
// GET /.well-known/jwks.json
func (c *Client) GetJWKS(ctx context.Context, options ...Option) (*JWKS, error) {
	return send[JWKS](ctx, c, "GET", "/.well-known/jwks.json", nil, nil, options)
}

// RefreshToken: Refresh a JWT before it expires.
//
// POST /v1/auth/refresh
//
// Send the JWT itself. The next one lives as long as the first did, but never beyond 24 hours after that was issued.
func (c *Client) RefreshToken(ctx context.Context, options ...Option) (*Token, error) {
	return send[Token](ctx, c, "POST", "/v1/auth/refresh", nil, nil, options)
}

// IssueToken: Issue a JWT for a user of yours.
//
// POST /v1/auth/token
//
// Needs an API key. The token is for the key's workspace and environment and dies with the key; the key's allowed_ips do not bind it.
func (c *Client) IssueToken(ctx context.Context, body *NewToken, options ...Option) (*Token, error) {
	return send[Token](ctx, c, "POST", "/v1/auth/token", nil, asJSON(body), options)
}

// JWK is an answer of the service, or a part of one.
type JWK struct {
	// How it signs. One of EdDSA.
	Alg string `json:"alg"`
	// Its curve. One of Ed25519.
	Crv string `json:"crv"`
	// Its name, as tokens carry it.
	Kid string `json:"kid"`
	// The kind of key. One of OKP.
	Kty string `json:"kty"`
	// What it is for. One of sig.
	Use string `json:"use"`
	// The public key, base64url.
	X string `json:"x"`
}

// JWKS is an answer of the service, or a part of one.
type JWKS struct {
	// All keys whose tokens may still hold.
	Keys []JWK `json:"keys"`
}

// NewToken is sent to the service.
type NewToken struct {
	// Seconds, 60 to 86400; 3600 unless said.
	ExpiresIn *int64 `json:"expires_in,omitempty"`
	// Not more than the API key holds.
	Permissions []string `json:"permissions"`
	// Whom the token is for: its sub.
	UserID string `json:"user_id"`
}

// Token is an answer of the service, or a part of one.
type Token struct {
	// When it ends.
	ExpiresAt time.Time `json:"expires_at"`
	// Seconds.
	ExpiresIn int64 `json:"expires_in"`
	// What it may do.
	Permissions []string `json:"permissions"`
	// The JWT: send it as Authorization: Bearer.
	Token string `json:"token"`
	// Always Bearer. One of Bearer.
	TokenType string `json:"token_type"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}
