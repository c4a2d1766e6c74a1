// Package oauth serves the OAuth 2.0 authorization server and the pages by which users sign in.
package oauth

import (
	"context"
	"net/netip"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/middleware"
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/httpapi/token"
	"github.com/callboard/callboard/service/oauth"
)

// Services are the services that the authorization server uses.
type Services struct {
	Clients  Clients
	Grants   Grants
	Sessions Sessions
	Audit    middleware.Audit
}

// Clients manages the OAuth clients of all workspaces.
type Clients interface {
	// CheckOAuthPlan returns plan_required if the plan of the workspace does not include OAuth.
	CheckOAuthPlan(workspace string) error
	// FindClient returns a client of any workspace by its id, before the client is authenticated. It returns nil for an
	// unknown id and reads from memory only.
	FindClient(ctx context.Context, id string) (*domain.OAuthClient, error)
	// IsClientSecret reports whether secret is the secret of the client. It takes the same time for every client and for
	// a nil client.
	IsClientSecret(c *domain.OAuthClient, secret string) bool
	// RevokeOAuth makes the access tokens of a grant invalid before it returns. id is the id of the grant, or the jti of a
	// single token. until is the time at which the tokens expire.
	RevokeOAuth(ctx context.Context, c *domain.OAuthClient, id string, until time.Time) error
}

// Grants manages the permissions that users have given to OAuth clients.
type Grants interface {
	// IssueCode stores the consent of a user and returns its authorization code.
	IssueCode(ctx context.Context, c *domain.OAuthCode) (string, error)
	// RedeemCode exchanges an authorization code for tokens, RenewGrant a refresh token. Both can be used once. Errors:
	// invalid_grant, invalid_scope. After a second use the grant is revoked and the error has the extra field reused.
	RedeemCode(ctx context.Context, client *domain.OAuthClient, text, redirect, verifier string) (oauth.IssuedTokens, error)
	RenewGrant(ctx context.Context, client *domain.OAuthClient, text, scope string) (oauth.IssuedTokens, error)
	// IntrospectToken returns the grant of a refresh token and the time at which the token expires. Error: invalid_grant.
	IntrospectToken(ctx context.Context, client *domain.OAuthClient, text string) (oauth.IssuedTokens, time.Time, error)
	// RevokeGrant makes all tokens of a client's grant invalid before it returns.
	RevokeGrant(ctx context.Context, client *domain.OAuthClient, id string) error
}

// Sessions starts and ends the browser sessions of users.
type Sessions interface {
	// SignIn redeems a sign-in link and returns the cookie of a session. Errors:
	// invalid_link, expired_link, ip_not_allowed.
	SignIn(ctx context.Context, text string, from netip.Addr, agent string) (cookie string, u *domain.User, err error)
	// EndSession ends a session of a user. It first calls may and returns its error without ending the session.
	EndSession(ctx context.Context, p domain.Principal, userID, id string, may func(*domain.User) error) error
}

// Server serves the OAuth endpoints and the sign-in pages.
type Server struct {
	*router.Router

	access    *middleware.Access
	issuer    *token.Issuer
	publicURL string // base URL of links in responses; "": links are relative
	clients   Clients
	grants    Grants
	sessions  Sessions
	audit     middleware.Audit
}

// Register registers the routes of the authorization server and of the sign-in pages.
func Register(r *router.Router, access *middleware.Access, issuer *token.Issuer, services Services) {
	s := &Server{
		Router: r, access: access, issuer: issuer, publicURL: r.PublicURL,
		clients: services.Clients, grants: services.Grants, sessions: services.Sessions, audit: services.Audit,
	}
	s.registerMetadata()
	s.registerAuthorization()
	s.registerTokens()
	s.registerSignIn()
}
