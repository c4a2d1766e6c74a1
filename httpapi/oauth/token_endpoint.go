package oauth

import (
	"context"
	"errors"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/access"
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/httpapi/token"
	"github.com/callboard/callboard/service/oauth"
	"github.com/callboard/callboard/service/record"
)

// AccessToken is the response of the token endpoint (RFC 6749 §5.1).
type AccessToken struct {
	AccessToken string `json:"access_token" doc:"A JWT. Send it as Authorization: Bearer."`
	TokenType   string `json:"token_type" enum:"Bearer"`
	ExpiresIn   int    `json:"expires_in" doc:"Lifetime in seconds."`
	Scope       string `json:"scope" doc:"Granted permissions, separated by spaces."`
	Refresh     string `json:"refresh_token,omitempty" doc:"Gets the next access token and the next refresh token, once. A second use ends the grant."`
}

// registerTokens registers the routes that issue, revoke and introspect tokens.
func (s *Server) registerTokens() {
	s.registerForm(router.Operation{
		Path: "/oauth/token", ID: "getOAuthToken", Summary: "Get an access token",
		Description: "A form with grant_type authorization_code (code, redirect_uri, code_verifier), refresh_token (refresh_token, scope) or client_credentials (scope). " +
			"The client authenticates by client_id and client_secret in the form, or by Basic authentication. A public client sends its client_id. " +
			"Errors follow RFC 6749. plan_required without the enterprise plan.",
	}, map[string]string{ //nolint:gosec // descriptions of form fields
		"grant_type": "authorization_code, refresh_token or client_credentials.", "scope": "Permissions separated by spaces. Default: all available permissions.",
		"code": "Authorization code from the redirect, valid once.", "redirect_uri": "The redirect_uri of the authorization request.", "code_verifier": "PKCE verifier of code_challenge.",
		"refresh_token": "The latest refresh token, valid once.",
	}, router.SchemaOf[AccessToken](s.API), s.issueToken)
	s.registerForm(router.Operation{
		Path: "/oauth/revoke", ID: "revokeOAuthToken", Summary: "Revoke a token (RFC 7009)",
		Description: "Also 200 for an invalid token and for a token of another client.",
	}, map[string]string{"token": "The token.", "token_type_hint": "Not needed."}, &huma.Schema{Type: huma.TypeObject}, s.revokeToken)
	s.registerForm(router.Operation{
		Path: "/oauth/introspect", ID: "introspectOAuthToken", Summary: "Get the state of a token (RFC 7662)",
	}, map[string]string{"token": "The token.", "token_type_hint": "Not needed."}, router.SchemaOf[Introspection](s.API), s.introspect)
}

// issueToken serves the token endpoint.
func (s *Server) issueToken(c *fiber.Ctx, f *clientForm) (any, error) {
	g := domain.GrantType(f.value("grant_type"))
	switch {
	case g == "":
		return nil, domain.Errorf(domain.OAuthInvalidRequest, "grant_type is required.")
	case g != domain.GrantCode && g != domain.GrantRefresh && g != domain.GrantCredentials:
		return nil, domain.Errorf(domain.OAuthUnsupportedGrant, "grant_type is authorization_code, refresh_token or client_credentials.")
	case !f.client.AllowsGrant(g):
		return nil, domain.Errorf(domain.OAuthUnauthorizedClient, "The client may not get tokens in this way.")
	}
	if g == domain.GrantCredentials {
		rights, err := access.ParseScope(f.value("scope"), f.client.Scopes)
		if err != nil {
			return nil, err
		}
		return s.signAccessToken(c.UserContext(), f.client, oauth.IssuedTokens{Rights: rights}, "token.issued")
	}
	action := "token.issued"
	if g == domain.GrantRefresh {
		action = "token.refreshed"
	}
	v := router.RequestOf(c.UserContext())
	ctx := s.audit.WithAuditEntry(c.UserContext(), v.Principal, clientAuditAction(v, f.client, action))
	granted, err := s.redeem(ctx, f, g)
	if err != nil {
		s.noteReuse(ctx, f.client, err)
		return nil, s.countRefusal(c, err)
	}
	return s.signAccessToken(ctx, f.client, granted, action)
}

// redeem exchanges an authorization code or a refresh token for the tokens of its grant. Both can be used once.
func (s *Server) redeem(ctx context.Context, f *clientForm, g domain.GrantType) (oauth.IssuedTokens, error) {
	if g == domain.GrantRefresh {
		if f.value("refresh_token") == "" {
			return oauth.IssuedTokens{}, domain.Errorf(domain.OAuthInvalidRequest, "refresh_token is required.")
		}
		return s.grants.RenewGrant(ctx, f.client, f.value("refresh_token"), f.value("scope"))
	}
	for _, name := range []string{"code", "redirect_uri"} {
		if f.value(name) == "" {
			return oauth.IssuedTokens{}, domain.Errorf(domain.OAuthInvalidRequest, "%s is required.", name)
		}
	}
	return s.grants.RedeemCode(ctx, f.client, f.value("code"), f.value("redirect_uri"), f.value("code_verifier"))
}

// noteReuse writes an audit entry if err reports the second use of a code or a refresh token.
func (s *Server) noteReuse(ctx context.Context, client *domain.OAuthClient, err error) {
	var e *domain.Error
	if !errors.As(err, &e) || e.Extra["reused"] == nil {
		return
	}
	v := router.RequestOf(ctx)
	s.audit.Record(ctx, v.Principal, clientAuditAction(v, client, "token.reused"))
}

// signAccessToken signs an access token for a grant. It writes an audit entry unless the change of the grant has
// committed one.
func (s *Server) signAccessToken(ctx context.Context, client *domain.OAuthClient, g oauth.IssuedTokens, action string) (*AccessToken, error) {
	claims := token.AccessClaims(s.issuer.Name, g.UserID, g.GrantID, client, g.Rights, domain.AccessTokenLifetime, time.Now())
	claims.SignInKeyID = g.SignInKeyID
	signed, err := s.issuer.Sign(ctx, claims)
	if err != nil {
		return nil, err
	}
	v := router.RequestOf(ctx)
	v.Principal.UserID = g.UserID
	s.audit.Record(ctx, v.Principal, clientAuditAction(v, client, action))
	return &AccessToken{
		AccessToken: signed, TokenType: "Bearer", ExpiresIn: int(claims.ExpiresAt.Sub(claims.IssuedAt.Time).Seconds()), Scope: access.FormatScope(g.Rights), Refresh: g.Refresh,
	}, nil
}

// clientAuditAction returns the audit entry for an action of an OAuth client.
func clientAuditAction(v *router.Request, client *domain.OAuthClient, action string) record.AuditAction {
	act := v.AuditAction("auth", action)
	act.Resource = domain.Resource{Type: "oauth_client", ID: client.ID}
	return act
}
