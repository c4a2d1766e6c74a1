package domain

import (
	"slices"
	"time"
)

// GrantType is an OAuth 2.0 grant type (RFC 6749).
type GrantType string

// The supported grant types.
const (
	GrantCode        GrantType = "authorization_code"
	GrantRefresh     GrantType = "refresh_token"
	GrantCredentials GrantType = "client_credentials"
)

// Values returns the OAuth grant types.
func (GrantType) Values() []string {
	return values(GrantCode, GrantRefresh, GrantCredentials)
}

// OAuthClient is a third-party application that may request tokens. Only a keyed hash of its secret is stored.
type OAuthClient struct {
	Meta
	Provenance
	Name         string       `json:"name"`
	Scopes       []Permission `json:"scopes"` // maximum scopes of its tokens
	GrantTypes   []GrantType  `json:"grant_types"`
	RedirectURIs []string     `json:"redirect_uris"`
	Public       bool         `json:"public"` // public client without a secret
	Last4        string       `json:"last4,omitempty"`
	Hash         string       `json:"hash,omitempty"`        // HMAC-SHA-256 in hex; never shown
	AllowedIPs   []string     `json:"allowed_ips,omitempty"` // addresses from which the client may authenticate; empty: all
}

// Key returns the key of the OAuth client in the store.
func (c *OAuthClient) Key() Key { return Key{"oauth_client", c.WorkspaceID, c.ID} }

// Indexes returns the index of all OAuth clients in the environment.
func (c *OAuthClient) Indexes() []string { return []string{envIndex(c.Environment)} }

// Sort returns the ID, which sorts by creation time.
func (c *OAuthClient) Sort() string { return c.ID }

// AllowsGrant reports whether the client may use a grant type.
func (c *OAuthClient) AllowsGrant(g GrantType) bool { return slices.Contains(c.GrantTypes, g) }

// OAuthRevocation revokes a single access token, or all access tokens of one grant. It exists until the last of these
// tokens has expired.
type OAuthRevocation struct {
	Meta            // ID of a grant, or jti of a token
	Until time.Time `json:"until"`
}

// Key returns the key of the revocation in the store.
func (r *OAuthRevocation) Key() Key { return Key{"oauth_revocation", r.WorkspaceID, r.ID} }

// Indexes returns one index of all revocations.
func (r *OAuthRevocation) Indexes() []string { return []string{"all"} }

// Sort returns a sort key that orders revocations by their expiry time.
func (r *OAuthRevocation) Sort() string { return sortTime(r.Until) + r.ID }

// OAuthSortKey returns the sort key of a time, for queries of records that are sorted by their expiry time.
func OAuthSortKey(now time.Time) string { return sortTime(now) }

// sortTime formats a time so that the text order is the order in time.
func sortTime(t time.Time) string { return t.UTC().Format("20060102T150405.000") }

// The error codes of OAuth 2.0 (RFC 6749 §4.1.2.1, §5.2).
const (
	OAuthInvalidRequest       Code = "invalid_request"
	OAuthInvalidClient        Code = "invalid_client"
	OAuthInvalidGrant         Code = "invalid_grant"
	OAuthInvalidScope         Code = "invalid_scope"
	OAuthUnauthorizedClient   Code = "unauthorized_client"
	OAuthUnsupportedGrant     Code = "unsupported_grant_type"
	OAuthUnsupportedResponse  Code = "unsupported_response_type"
	OAuthAccessDenied         Code = "access_denied"
	OAuthUnsupportedTokenType Code = "unsupported_token_type"
)

// Lifetimes of OAuth codes and tokens. A used code is stored for OAuthCodeRetention, so that a second use is
// detected (RFC 6749 §4.1.2).
const (
	OAuthCodeLifetime    = time.Minute
	OAuthCodeRetention   = 24 * time.Hour
	AccessTokenLifetime  = time.Hour
	RefreshTokenIdleTime = 30 * 24 * time.Hour
	RefreshTokenLifetime = 180 * 24 * time.Hour
)

// OAuthCode is an authorization code that a user's consent gives to a client. It can be exchanged once (RFC 6749
// §4.1.2). Its ID is a keyed hash of the code.
type OAuthCode struct {
	Meta
	Provenance               // creator of the session in which the user consented
	ClientID    string       `json:"client_id"`
	UserID      string       `json:"user_id"`
	RedirectURI string       `json:"redirect_uri"`
	Challenge   string       `json:"challenge,omitempty"` // PKCE challenge with S256; empty: none
	Scopes      []Permission `json:"scopes"`
	Until       time.Time    `json:"until"`
	GrantID     string       `json:"grant_id,omitempty"` // grant for which the code was exchanged; empty: not used
}

// Key returns the key of the authorization code in the store.
func (c *OAuthCode) Key() Key { return Key{"oauth_code", c.WorkspaceID, c.ID} }

// Indexes returns the index of all codes, by which a periodic task deletes expired codes.
func (c *OAuthCode) Indexes() []string { return []string{"all"} }

// Sort returns a sort key that orders codes by their expiry time.
func (c *OAuthCode) Sort() string { return sortTime(c.Until) + c.ID }

// OAuthGrant is the access that a user gave to a client. It consists of a series of refresh tokens, of which only the
// newest is valid.
type OAuthGrant struct {
	Meta
	Provenance               // creator of the session in which the user consented
	ClientID    string       `json:"client_id"`
	UserID      string       `json:"user_id"`
	Scopes      []Permission `json:"scopes"`
	Generation  int          `json:"generation"`
	RefreshedAt time.Time    `json:"refreshed_at"`
	RevokedAt   *time.Time   `json:"revoked_at,omitempty"`
}

// Key returns the key of the grant in the store.
func (g *OAuthGrant) Key() Key { return Key{"oauth_grant", g.WorkspaceID, g.ID} }

// Indexes returns the index of all grants, by which a periodic task deletes expired grants.
func (g *OAuthGrant) Indexes() []string { return []string{"all"} }

// Sort returns the ID, which sorts by creation time.
func (g *OAuthGrant) Sort() string { return g.ID }

// ExpiresAt returns the time at which the grant expires if its refresh token is not used again.
func (g *OAuthGrant) ExpiresAt() time.Time {
	idle, last := g.RefreshedAt.Add(RefreshTokenIdleTime), g.CreatedAt.Add(RefreshTokenLifetime)
	if idle.Before(last) {
		return idle
	}
	return last
}
