package domain

import (
	"slices"
	"time"
)

// GrantType is a way in which a client gets tokens (RFC 6749).
type GrantType string

// The ways that there are.
const (
	GrantCode        GrantType = "authorization_code"
	GrantRefresh     GrantType = "refresh_token"
	GrantCredentials GrantType = "client_credentials"
)

// Values are the OAuth grant types.
func (GrantType) Values() []string {
	return values(GrantCode, GrantRefresh, GrantCredentials)
}

// OAuthClient is a program of somebody else's that may ask for tokens. Only a
// keyed hash of its secret is kept.
type OAuthClient struct {
	Meta
	Provenance
	Name         string       `json:"name"`
	Scopes       []Permission `json:"scopes"` // the most that it can be given
	GrantTypes   []GrantType  `json:"grant_types"`
	RedirectURIs []string     `json:"redirect_uris"`
	Public       bool         `json:"public"` // it can keep no secret and has none
	Last4        string       `json:"last4,omitempty"`
	Hash         string       `json:"hash,omitempty"`        // hex HMAC-SHA-256; never shown
	AllowedIPs   []string     `json:"allowed_ips,omitempty"` // it authenticates from these addresses only; empty: from all
}

// Key names the row.
func (c *OAuthClient) Key() Key { return Key{"oauth_client", c.WorkspaceID, c.ID} }

// Indexes: by environment.
func (c *OAuthClient) Indexes() []string { return []string{envIndex(c.Environment)} }

// Sort is by age.
func (c *OAuthClient) Sort() string { return c.ID }

// AllowsGrant says whether the client may get tokens in a way.
func (c *OAuthClient) AllowsGrant(g GrantType) bool { return slices.Contains(c.GrantTypes, g) }

// OAuthRevocation refuses the access tokens of one grant, or a single one,
// until the last of them has expired.
type OAuthRevocation struct {
	Meta            // ID: a grant's, or a token's jti
	Until time.Time `json:"until"`
}

// Key names the row.
func (r *OAuthRevocation) Key() Key { return Key{"oauth_revocation", r.WorkspaceID, r.ID} }

// Indexes: all, for the start and for the sweep.
func (r *OAuthRevocation) Indexes() []string { return []string{"all"} }

// Sort is by the end.
func (r *OAuthRevocation) Sort() string { return sortTime(r.Until) + r.ID }

// OAuthSortKey is where the rows begin that still hold at a time, among
// those that sort by their end.
func OAuthSortKey(now time.Time) string { return sortTime(now) }

// sortTime spells a time so that later ones sort after.
func sortTime(t time.Time) string { return t.UTC().Format("20060102T150405.000") }

// The errors of OAuth 2.0 (RFC 6749 §4.1.2.1, §5.2), in its own words.
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

// How long codes and what comes of them hold. A code that was used is known
// for CodeMemory, so that its second use is noticed.
const (
	OAuthCodeLifetime    = time.Minute
	OAuthCodeRetention   = 24 * time.Hour
	AccessTokenLifetime  = time.Hour
	RefreshTokenIdleTime = 30 * 24 * time.Hour
	RefreshTokenLifetime = 180 * 24 * time.Hour
)

// OAuthCode is what a user's consent gives to a client, to be exchanged once
// (RFC 6749 §4.1.2). Its id is a keyed hash of its text.
type OAuthCode struct {
	Meta
	Provenance               // of the session in which the user consented
	ClientID    string       `json:"client_id"`
	UserID      string       `json:"user_id"`
	RedirectURI string       `json:"redirect_uri"`
	Challenge   string       `json:"challenge,omitempty"` // by S256; "": none
	Scopes      []Permission `json:"scopes"`
	Until       time.Time    `json:"until"`
	GrantID     string       `json:"grant_id,omitempty"` // what it was exchanged for; "": not yet
}

// Key names the row.
func (c *OAuthCode) Key() Key { return Key{"oauth_code", c.WorkspaceID, c.ID} }

// Indexes: all, for the sweep.
func (c *OAuthCode) Indexes() []string { return []string{"all"} }

// Sort is by the end.
func (c *OAuthCode) Sort() string { return sortTime(c.Until) + c.ID }

// OAuthGrant is what a user has given to a client: a line of refresh tokens, of
// which the one of the current generation is good.
type OAuthGrant struct {
	Meta
	Provenance               // of the session in which the user consented
	ClientID    string       `json:"client_id"`
	UserID      string       `json:"user_id"`
	Scopes      []Permission `json:"scopes"`
	Generation  int          `json:"generation"`
	RefreshedAt time.Time    `json:"refreshed_at"`
	RevokedAt   *time.Time   `json:"revoked_at,omitempty"`
}

// Key names the row.
func (g *OAuthGrant) Key() Key { return Key{"oauth_grant", g.WorkspaceID, g.ID} }

// Indexes: all, for the sweep.
func (g *OAuthGrant) Indexes() []string { return []string{"all"} }

// Sort is by age.
func (g *OAuthGrant) Sort() string { return g.ID }

// ExpiresAt is when the grant ends unless it is used.
func (g *OAuthGrant) ExpiresAt() time.Time {
	idle, last := g.RefreshedAt.Add(RefreshTokenIdleTime), g.CreatedAt.Add(RefreshTokenLifetime)
	if idle.Before(last) {
		return idle
	}
	return last
}
