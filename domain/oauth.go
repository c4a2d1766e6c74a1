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

// OAuthClient is a program of somebody else's that may ask for tokens. Only a
// keyed hash of its secret is kept.
type OAuthClient struct {
	Meta
	Name         string       `json:"name"`
	Scopes       []Permission `json:"scopes"` // the most that it can be given
	GrantTypes   []GrantType  `json:"grant_types"`
	RedirectURIs []string     `json:"redirect_uris"`
	Public       bool         `json:"public"` // it can keep no secret and has none
	Last4        string       `json:"last4,omitempty"`
	Hash         string       `json:"hash,omitempty"` // hex HMAC-SHA-256; never shown
	CreatedBy    string       `json:"created_by"`     // the API key that made it
}

// Key names the row.
func (c *OAuthClient) Key() Key { return Key{"oauth_client", c.WorkspaceID, c.ID} }

// Indexes: by environment.
func (c *OAuthClient) Indexes() []string { return []string{envIndex(c.Environment)} }

// Sort is by age.
func (c *OAuthClient) Sort() string { return c.ID }

// May says whether the client may get tokens in a way.
func (c *OAuthClient) May(g GrantType) bool { return slices.Contains(c.GrantTypes, g) }

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

// OAuthSortedBefore is where the revocations begin that still hold at a time.
func OAuthSortedBefore(now time.Time) string { return sortTime(now) }

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
