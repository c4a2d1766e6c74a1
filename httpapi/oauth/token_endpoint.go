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
	AccessToken string `json:"access_token" doc:"A JWT: Authorization: Bearer."`
	TokenType   string `json:"token_type" enum:"Bearer"`
	ExpiresIn   int    `json:"expires_in" doc:"Seconds."`
	Scope       string `json:"scope" doc:"What was given: permissions parted by spaces."`
	Refresh     string `json:"refresh_token,omitempty" doc:"For the next access token, once; with that comes the next refresh token. Used twice it ends the grant."`
}

// registerTokens registers the endpoints that take a form of a client.
func (s *Server) registerTokens() {
	s.registerForm(router.Operation{
		Path: "/oauth/token", ID: "getOAuthToken", Summary: "Get an access token",
		Description: "A form with grant_type = authorization_code (code, redirect_uri, code_verifier), refresh_token (refresh_token, scope) or client_credentials (scope). " +
			"The client proves itself by client_id and client_secret in the form, or by Basic; a public one names its client_id. " +
			"Errors are those of RFC 6749; below the plan enterprise plan_required.",
	}, map[string]string{ //nolint:gosec // what fields mean
		"grant_type": "authorization_code, refresh_token or client_credentials.", "scope": "Permissions parted by spaces; all that can be had unless said.",
		"code": "From the redirect; once.", "redirect_uri": "As it was when the code was asked for.", "code_verifier": "What the code_challenge was made of.",
		"refresh_token": "The last one that was given; once.",
	}, router.SchemaOf[AccessToken](s.API), s.issueToken)
	s.registerForm(router.Operation{
		Path: "/oauth/revoke", ID: "revokeOAuthToken", Summary: "Give a token back (RFC 7009)",
		Description: "Also 200 where the token is none of the client's, or holds no more.",
	}, map[string]string{"token": "The token.", "token_type_hint": "Not needed."}, &huma.Schema{Type: huma.TypeObject}, s.revokeToken)
	s.registerForm(router.Operation{
		Path: "/oauth/introspect", ID: "introspectOAuthToken", Summary: "Ask after a token of one's own (RFC 7662)",
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
	ctx := s.audit.WithAuditEntry(c.UserContext(), v.Principal, clientAct(v, f.client, action))
	granted, err := s.redeem(ctx, f, g)
	if err != nil {
		s.noteReuse(ctx, f.client, err)
		return nil, s.countRefusal(c, err)
	}
	return s.signAccessToken(ctx, f.client, granted, action)
}

// redeem returns the grant of a code or of a refresh token. Both can be used once.
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

// noteReuse records the second use of a code or a refresh token.
func (s *Server) noteReuse(ctx context.Context, client *domain.OAuthClient, err error) {
	var e *domain.Error
	if !errors.As(err, &e) || e.Extra["reused"] == nil {
		return
	}
	v := router.RequestOf(ctx)
	s.audit.Record(ctx, v.Principal, clientAct(v, client, "token.reused"))
}

// signAccessToken signs an access token and records it, unless the change of the grant
// has recorded it.
func (s *Server) signAccessToken(ctx context.Context, client *domain.OAuthClient, g oauth.IssuedTokens, action string) (*AccessToken, error) {
	claims := token.AccessClaims(s.issuer.Name, g.UserID, g.GrantID, client, g.Rights, domain.AccessTokenLifetime, time.Now())
	claims.SignInKeyID = g.SignInKeyID
	signed, err := s.issuer.Sign(ctx, claims)
	if err != nil {
		return nil, err
	}
	v := router.RequestOf(ctx)
	v.Principal.UserID = g.UserID
	s.audit.Record(ctx, v.Principal, clientAct(v, client, action))
	return &AccessToken{
		AccessToken: signed, TokenType: "Bearer", ExpiresIn: int(claims.ExpiresAt.Sub(claims.IssuedAt.Time).Seconds()), Scope: access.FormatScope(g.Rights), Refresh: g.Refresh,
	}, nil
}

// clientAct returns the audit entry of an action of an OAuth client.
func clientAct(v *router.Request, client *domain.OAuthClient, action string) record.AuditAction {
	act := v.AuditAction("auth", action)
	act.Resource = domain.Resource{Type: "oauth_client", ID: client.ID}
	return act
}
